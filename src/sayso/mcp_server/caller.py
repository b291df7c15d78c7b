"""Who is calling: what a request tells of the client, its session and its process."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from functools import cache
from typing import Any

from mcp.server.context import ServerRequestContext

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.processes import ProcessName, name_of

Context = ServerRequestContext[Any, Any]


def asker_of(ctx: Context, config: Config) -> Asker:
    """The agent behind a request on stdio: our parent process is its client."""
    parent = _parent()
    info = ctx.session.client_params.client_info if ctx.session.client_params else None
    return Asker(
        client=_kept(info.name) if info else "",
        version=_kept(info.version) if info else "",
        session=_session(ctx.meta or {}),
        project=str(config.project),
        host=socket.gethostname(),
        pid=parent.pid if parent else 0,
        started=parent.started if parent else "",
    )


@cache
def _parent() -> ProcessName | None:
    """Looked up once: after the client's death the parent would be another process."""
    return name_of(os.getppid())


def _session(meta: Mapping[str, Any]) -> str:
    """The client's own name for the conversation, where it tells it."""
    return _kept(str(meta.get("threadId") or os.environ.get("CLAUDE_CODE_SESSION_ID") or ""))


def _kept(text: str) -> str:
    """A name from outside, fit for a column: PostgreSQL takes no NUL, and nobody needs a long one."""
    return text.replace("\x00", "")[:200]
