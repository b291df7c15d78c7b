"""Calls of `approve`: a permission is asked for in the inbox, Claude's own questions become ordinary asks.

Deny on doubt: whatever goes wrong is told as a denial that says why, and never as an allow.
"""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import anyio
import anyio.to_thread

from sayso.asks.desk import Held
from sayso.asks.model import Ask
from sayso.asks.waiting import Waiting
from sayso.dialects import approve as dialect
from sayso.dialects.approve import Permission
from sayso.errors import InvalidInput, SaysoError, WaitEnded
from sayso.mcp_server.ask import AskCalls
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.heartbeat import held_call
from sayso.mcp_server.replies import result
from sayso.permissions.edits import path_of
from sayso.protocol.results import ToolResult

logger = logging.getLogger(__name__)

NAME = dialect.NAME

MOST_BYTES = 1024 * 1024
"""The largest file that an edit is compared with."""


class ApproveCalls:
    """Serves `approve` of one server process, with which it forgets what was allowed for the rest of the run."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._asks = backend, AskCalls(backend, strict=True)
        self._allowed: set[str] = set()

    async def call(self, ctx: CallContext) -> ToolResult:
        try:
            permission = dialect.read(ctx.arguments)
            if permission.is_question:
                return await self._ask(ctx)
            return await self._permit(permission, ctx)
        except InvalidInput as error:
            return _denied(f"Sayso could not put this request to the user: {error}")
        except SaysoError as error:
            logger.error("A permission could not be asked for: %s", error)
            return _denied(f"Sayso could not ask the user: {error}")
        except Exception:
            # The top: a fault of ours must not leave a client to its own idea of what that means.
            logger.exception("A permission could not be asked for")
            return _denied("Sayso failed on this request; its log says why.")

    async def _ask(self, ctx: CallContext) -> ToolResult:
        """Claude's own questions: an ask like any other, whose answers go back as part of the tool's input."""
        told = await self._asks.call(dialect.question_tool(), ctx)
        if isinstance(told, ToolResult) and not told.is_error:
            # A client that reads the data first would find another form there than the one it wants.
            told.data = None
            return told
        texts = told.texts if isinstance(told, ToolResult) else []
        return _denied(" ".join(texts) or "The user could not be asked. Do not assume an answer.")

    async def _permit(self, permission: Permission, ctx: CallContext) -> ToolResult:
        await self._backend.find_run()
        asker = self._backend.asker_of(ctx)
        if permission.exact in self._allowed and not asker.agent:
            logger.info("Allowed %s again, as the user said", permission.tool)
            return result(dialect.allow(permission.given))
        before = await anyio.to_thread.run_sync(self._present_text, permission, ctx)
        new = await anyio.to_thread.run_sync(dialect.permission_ask, permission, asker, self._backend.config, before)
        waiting = await self._backend.waiting()
        held = await waiting.hold(new)
        ask = await self._decided(held, waiting, ctx)
        if dialect.is_for_the_rest(ask):
            self._allowed.add(permission.exact)
        self._backend.note_delivery(ctx, held)
        return result(dialect.decision(ask, permission))

    async def _decided(self, held: Held, waiting: Waiting, ctx: CallContext) -> Ask:
        """The ask once it has ended. Whatever ends this call before that ends the ask too."""
        backend = self._backend
        try:
            await backend.note_in_run(held.ask)
            backend.clean_up()
            backend.send_out(self._asks.notify(held.ask, waiting, after=0))
            return await self._outcome(held, waiting, ctx)
        except BaseException:
            await waiting.release(held, "the call that wanted it has ended")
            raise

    async def _outcome(self, held: Held, waiting: Waiting, ctx: CallContext) -> Ask:
        async with held_call(ctx, self._backend):
            return await waiting.outcome(held)
        raise WaitEnded("The server is stopping.")

    def _present_text(self, permission: Permission, ctx: CallContext) -> str | None:
        """The text of the file that an edit would change: empty where there is none, None where it is not known."""
        named = path_of(permission.tool, permission.given)
        if not named or self._backend.asker_of(ctx).agent:
            # An agent that came over HTTP means a file of its own machine.
            return None
        return _text_of(self._backend.folder_of(ctx) / named)


def _text_of(file: Path) -> str | None:
    try:
        about = file.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
            return None
        return file.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return None


def _denied(why: str) -> ToolResult:
    return result(dialect.deny(f"{why} It was not allowed."))
