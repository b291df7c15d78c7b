"""Who asks through a gate: the same agent, in the same session, as through the MCP server of that session."""

from __future__ import annotations

import os.path
from pathlib import Path

from sayso.asks.askers import asker_here
from sayso.asks.model import Asker
from sayso.branches import top_of_repository
from sayso.config import Config
from sayso.gates.client import GateClient, Prompt
from sayso.processes import ProcessName, ancestry, starter


def asker_of(client: GateClient, prompt: Prompt, config: Config) -> Asker:
    process = client_process(prompt.process)
    return asker_here(process, config.project_name, client=client.name, version=prompt.version, session=prompt.session)


def client_process(pid: int) -> ProcessName | None:
    """The client that has started us, by what it says of itself. A shell or a package runner may be in between."""
    line = ancestry()[1:]
    said = next((each for each in line if each.pid == pid), None)
    return said or (starter(line[0].pid) if line else None)


def project_of(folder: Path) -> Path:
    """Where the client says nothing of the project: an agent that has changed to a folder in it is still at work there,
    and the same rules hold."""
    return Path(top_of_repository(real_folder(folder)) or folder)


def real_folder(folder: Path) -> str:
    """The one behind its links, or as it is named where nobody may follow them."""
    try:
        return str(folder.resolve())
    except (OSError, RuntimeError):
        return os.path.abspath(folder)
