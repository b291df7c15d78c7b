"""Who asks from this machine: one of its processes, in a project on it."""

from __future__ import annotations

from sayso.asks.model import Asker
from sayso.branches import branch_of
from sayso.processes import ProcessName, leader_of, this_host
from sayso.text import fit_for_column


def asker_here(
    process: ProcessName | None, project: str, *, client: str, version: str = "", session: str = ""
) -> Asker:
    """A session of a client, of which this process is the one that lives as long. None where nothing can be known of
    it."""
    return Asker(
        client=client,
        version=fit_for_column(version),
        session=fit_for_column(session),
        project=project,
        host=this_host(),
        pid=process.pid if process else 0,
        started=process.started if process else "",
        leader=leader_of(process.pid) if process else "",
        branch=branch_of(project),
    )
