"""Calls of `question_ask` and `question_summary`: the client's form and nothing else, and the files it leaves."""

from __future__ import annotations

import json
import logging
import secrets
from pathlib import Path

from sayso.bridge import in_thread
from sayso.clock import now_ms, ticks_ms
from sayso.dialects import swissarmyhammer as dialect
from sayso.dialects.dialect import ToolReply
from sayso.errors import FormUnavailable, HistoryError, InvalidInput, ProtocolError, SaysoError, StoreError
from sayso.mcp_server import elicit
from sayso.mcp_server.ask import Result
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.caller import is_unattended
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.elicit import FormReply, Round
from sayso.mcp_server.forms import Form
from sayso.mcp_server.replies import failure, result
from sayso.protocol.messages import MISSING_CAPABILITY
from sayso.protocol.results import ToolResult

logger = logging.getLogger(__name__)


class QuestionCalls:
    """Serves the two tools of one server process."""

    def __init__(self, backend: Backend, *, otherwise: str = "") -> None:
        """`otherwise` is what an agent is told to do where its client shows no form."""
        self._backend, self._otherwise = backend, otherwise

    async def ask(self, ctx: CallContext) -> Result:
        """Ask in the client's form, without a time limit, and keep the answer."""
        if not ctx.client.shows_forms:
            return _no_form(ctx, self._otherwise)
        if is_unattended(ctx):
            return failure(FormUnavailable(f"Nobody sits at this client to see its form.{self._otherwise}"))
        try:
            question = dialect.read_question(ctx.arguments)
            form = Form(message=question, schema=dialect.form_schema(question))
            if not ctx.comes_again:
                begun, reply = ticks_ms(), await elicit.show(ctx, form)
                if reply.action == "accept" and self._is_too_fast(ticks_ms() - begun):
                    begun, reply = ticks_ms(), await elicit.show(ctx, elicit.once_more(form))
                return await self._take(ctx, question, reply, ticks_ms() - begun)
            return await self._modern(ctx, question, form)
        except InvalidInput as error:
            return _invalid(error)
        except SaysoError as error:
            return failure(error)

    async def summarize(self, ctx: CallContext) -> ToolResult:
        try:
            limit = dialect.read_limit(ctx.arguments)
        except InvalidInput as error:
            return _invalid(error)
        # Only now, as with all that few servers need.
        from sayso.asks import history

        summary = await in_thread(history.summarize, self._backend.folder_of(ctx), limit)
        data = {"summary": summary.text, "count": summary.count, "total": summary.total}
        return result(ToolReply(text=json.dumps(data, ensure_ascii=False), data=data))

    async def _modern(self, ctx: CallContext, question: str, form: Form) -> Result:
        came, reply = Round.of(ctx), elicit.brought_back(ctx)
        if came is None or reply is None:
            state = Round(ask=secrets.token_hex(16), at=now_ms())
            return elicit.input_required(state.sealed_later(), form)
        if not await self._first_time(came):
            taken = "This reply to the form has been taken already. question_summary has what was saved."
            return result(ToolReply(text=taken, data={"outcome": "failed"}, is_error=True))
        if reply.action == "accept" and came.count == 1 and self._is_too_fast(now_ms() - came.at):
            again = Round(ask=secrets.token_hex(16), at=now_ms(), count=2)
            return elicit.input_required(again.sealed_later(), elicit.once_more(form))
        return await self._take(ctx, question, reply, now_ms() - came.at)

    def _is_too_fast(self, after_ms: int) -> bool:
        return after_ms < self._backend.config.form_reaction

    async def _first_time(self, came: Round) -> bool:
        """Whether a reply comes for the first time. Where that cannot be known, a file too many is better than a lost
        answer."""
        try:
            return await self._backend.claim(f"question:{came.ask}")
        except StoreError as error:
            logger.warning("Could not see whether a reply was taken before: %s", error)
            return True

    async def _take(self, ctx: CallContext, question: str, reply: FormReply, after_ms: int) -> ToolResult:
        project = self._backend.folder_of(ctx)
        if self._is_too_fast(after_ms):
            return failure(FormUnavailable(f"{elicit.too_fast(reply, after_ms)}{self._otherwise}"))
        if reply.action != "accept":
            return _refused(reply)
        answer = reply.content.get("answer")
        if not isinstance(answer, str) or not answer.strip():
            return result(ToolReply(text="No answer provided", data={"outcome": "failed"}, is_error=True))
        from sayso.asks import history

        try:
            saved = await in_thread(history.save, project, question, answer)
        except HistoryError as error:
            # The person did answer; losing that because of a full disk would be worse than an odd result.
            return result(ToolReply(text=str(error), data={"answer": answer, "error": str(error)}, is_error=True))
        return result(_saved(answer, saved, project))


def _saved(answer: str, file: Path, project: Path) -> ToolReply:
    told = {"answer": answer, "saved_to": str(file.relative_to(project))}
    return ToolReply(text=json.dumps(told, ensure_ascii=False), data={"answer": answer, "saved_to": str(file)})


def _invalid(error: InvalidInput) -> ToolResult:
    return result(ToolReply(text=str(error), data={"outcome": "invalid"}, is_error=True))


def _refused(reply: FormReply) -> ToolResult:
    done = "declined" if reply.action == "decline" else "cancelled"
    text = f"The user {done} the question. Nothing was saved; do not assume an answer."
    return result(ToolReply(text=text, data={"outcome": done}))


def _no_form(ctx: CallContext, otherwise: str) -> ToolResult:
    told = f"{dialect.NO_FORM}{otherwise}"
    if ctx.comes_again:
        raise ProtocolError(MISSING_CAPABILITY, told, {"requiredCapabilities": {"elicitation": {}}})
    return result(ToolReply(text=told, data={"outcome": "failed"}, is_error=True))
