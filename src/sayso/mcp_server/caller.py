"""Who is calling: what a request tells of the client, its session and its process."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from mcp.server.context import ServerRequestContext

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.processes import ProcessName, name_of

Context = ServerRequestContext[Any, Any]


def described(ctx: Context) -> Asker:
    """What a request itself tells: which client it is, and its name for the conversation."""
    info = ctx.session.client_params.client_info if ctx.session.client_params else None
    return Asker(
        client=_kept(info.name) if info else "",
        version=_kept(info.version) if info else "",
        session=_kept(str((ctx.meta or {}).get("threadId") or "")),
    )


def on_stdio(config: Config) -> Callable[[Context], Asker]:
    """The agent behind requests on stdio: our parent process is its client."""

    def asker_of(ctx: Context) -> Asker:
        asker, parent = described(ctx), _parent()
        return replace(
            asker,
            session=asker.session or _kept(os.environ.get("CLAUDE_CODE_SESSION_ID", "")),
            project=config.project_name,
            host=socket.gethostname(),
            pid=parent.pid if parent else 0,
            started=parent.started if parent else "",
        )

    return asker_of


@cache
def _parent() -> ProcessName | None:
    """Looked up once: after the client's death the parent would be another process."""
    return name_of(os.getppid())


def _kept(text: str) -> str:
    """A name from outside, fit for a column: PostgreSQL takes no NUL, and nobody needs a long one."""
    return text.replace("\x00", "")[:200]
