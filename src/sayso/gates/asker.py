"""Who asks through a gate: the same agent, in the same session, as through the MCP server of that session."""

from __future__ import annotations

from pathlib import Path

from sayso.asks.model import Asker
from sayso.branches import branch_of, top_of_repository
from sayso.config import Config
from sayso.gates.client import GateClient, Prompt
from sayso.processes import ProcessName, ancestry, leader_of, starter, this_host
from sayso.text import fit_for_column


def asker_of(client: GateClient, prompt: Prompt, config: Config) -> Asker:
    return session_of(client.name, prompt.version, prompt.session, client_process(prompt.process), config)


def client_process(pid: int) -> ProcessName | None:
    """The client that has started us, by what it says of itself. A shell or a package runner may be in between."""
    line = ancestry()[1:]
    said = next((each for each in line if each.pid == pid), None)
    return said or (starter(line[0].pid) if line else None)


def session_of(client: str, version: str, session: str, process: ProcessName | None, config: Config) -> Asker:
    """The session of a client, of which this process is the one that lives as long."""
    return Asker(
        client=client,
        version=fit_for_column(version),
        session=fit_for_column(session),
        project=config.project_name,
        host=this_host(),
        pid=process.pid if process else 0,
        started=process.started if process else "",
        leader=leader_of(process.pid) if process else "",
        branch=branch_of(config.project_name),
    )


def project_of(folder: Path) -> Path:
    """Where the client says nothing of the project: an agent that has changed to a folder in it is still at work there,
    and the same rules hold."""
    return Path(top_of_repository(str(folder.resolve())) or folder)
