"""Who is calling: what a request tells of the client, its session and its process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from sayso import claude_sessions
from sayso.asks.model import Asker
from sayso.branches import branch_of
from sayso.clients import ENTRY_VARIABLE, SESSION_VARIABLE, conversation, entry_in, is_headless
from sayso.config import Config
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.run_link import RunLink
from sayso.processes import ProcessName, ancestry, leader_of, starter, this_host
from sayso.protocol.request import ClientInfo
from sayso.records import replace
from sayso.text import fit_for_column


def described(ctx: CallContext) -> Asker:
    """What a request itself tells: which client it is, and its name for the conversation."""
    return _described(ctx.client, ctx.meta)


def is_unattended(ctx: CallContext) -> bool:
    """Whether no person sits at the client, as far as it tells."""
    over_http = ctx.exchange is not None
    entry = entry_in(ctx.exchange.program) if over_http else os.environ.get(ENTRY_VARIABLE, "")
    return is_headless(ctx.meta, ctx.client.name, entry)


def on_stdio(config: Config, link: RunLink | None = None) -> Callable[[CallContext], Asker]:
    """The agent behind requests on stdio: our parent process is its client. In a run it asks the run's user."""

    def asker_of(ctx: CallContext) -> Asker:
        asker = beside_us(ctx.client, ctx.meta, config)
        return link.asker_in_run(asker) if link else asker

    return asker_of


def beside_us(client: ClientInfo, meta: Mapping[str, Any], config: Config) -> Asker:
    """The agent whose client is our parent process, outside of any run."""
    project = config.project_name
    return _at_home(_described(client, meta), project, _session(), branch_of(project))


def is_in_session(asker: Asker) -> bool:
    """Whether the client whose server this is still is in this asker's session: Claude Code leaves one by `/clear`."""
    return asker.client != claude_sessions.CLIENT or asker.session == _session()


def _session() -> str:
    """The session that our client is in, where it says so to all that it starts. Claude Code keeps this server when it
    goes on to another one, by `/clear` or `/resume`: in which it is now stands in a file of its own."""
    began_in = os.environ.get(SESSION_VARIABLE, "")
    return fit_for_column((began_in and claude_sessions.session_of(_line())) or began_in)


@lru_cache(maxsize=64)
def _at_home(asker: Asker, project: str, session: str, branch: str) -> Asker:
    """The same for every call of a conversation, as long as it stays on its branch, so made once."""
    parent = _parent()
    return replace(
        asker,
        session=asker.session or session,
        project=project,
        host=this_host(),
        pid=parent.pid if parent else 0,
        started=parent.started if parent else "",
        leader=_leader(),
        branch=branch,
    )


def _described(client: ClientInfo, meta: Mapping[str, Any]) -> Asker:
    return Asker(
        client=fit_for_column(client.name),
        version=fit_for_column(client.version),
        session=fit_for_column(conversation(meta)),
    )


@cache
def _parent() -> ProcessName | None:
    """Looked up once: after the client's death the parent would be another process."""
    return starter(os.getppid())


@cache
def _line() -> tuple[ProcessName, ...]:
    """Our client, behind a shell or a package runner if need be, and who has started it."""
    return ancestry()[1:]


@cache
def _leader() -> str:
    return leader_of(os.getppid())
