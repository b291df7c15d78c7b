"""The relay as PromptManager has it: an agent's MCP server posts a question, a browser answers, the server polls.

An MCP server comes in by the stream token of a run that is on, and from this machine only; a browser by its session.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sayso import untrusted_json
from sayso.agents import relay_file
from sayso.agents.model import Run
from sayso.agents.relay_file import is_token
from sayso.asks import asked_pictures
from sayso.asks.model import Ask, Asker, State
from sayso.branches import branch_of
from sayso.clock import now_ms
from sayso.config import Config
from sayso.dialects import relay as dialect
from sayso.errors import AlreadySettled
from sayso.processes import name_of
from sayso.records import replace
from sayso.running.folder import read_runner
from sayso.web.fields import read_body, read_strangers_body
from sayso.web.relayed import Relayed, RelayedQuestions
from sayso.web.security import is_loopback
from sayso.web.sessions import CSRF_HEADER, required_browser
from sayso.web.site import site_of

LONGEST_HOLD = 60.0
"""Seconds that a poll can be held open."""
STEP = 1.0
"""Seconds after which a held poll looks whether anyone still listens."""

_JSON = "application/json"
_LONGEST_NAME = 100
_TOLD_AS_ANSWER = (State.ANSWERED, State.REJECTED, State.DECLINED, State.CANCELLED)
_NO_STREAM = "There is no active stream with this token in this project."
_NO_QUESTION = "There is no open question in this stream: it was answered, timed out, or a newer one took its place."


class Relay:
    """The three routes. Work with them inside `running()`."""

    def __init__(self, config: Config) -> None:
        self._config, self._questions = config, RelayedQuestions(config)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        return (
            Route("/claude/relay-question", self.relay_question, methods=["POST"]),
            Route("/claude/submit-answer", self.submit_answer, methods=["POST"]),
            Route("/claude/poll-answer", self.poll_answer, methods=["GET"]),
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._questions.running()

    async def relay_question(self, request: Request) -> Response:
        """An agent's question, from its MCP server."""
        _check_local(request)
        read = read_strangers_body
        if named := request.query_params.get("streamToken"):
            await self._run(request, named)
            read = read_body
        body = await _read_json(request, read)
        run = await self._run(request, body.get("streamToken"))
        self._check_csrf(request, run)
        seconds = run.project.options.ask_user_timeout or self._config.mcp_ask_user_timeout // 1000
        asker = await self._questions.do(_asker, run)
        new = dialect.read_question(body, asker, self._config, seconds * 1000)
        # A path would be one of this process's: its own server has read what it names.
        new = await self._questions.do(asked_pictures.read, new, None)
        ask = await self._questions.open(run, new, request.headers.get(relay_file.PUT_HEADER, "")[:_LONGEST_NAME])
        return JSONResponse({"status": "ok", "ask": ask.id})

    async def submit_answer(self, request: Request) -> Response:
        """The answer of the person in whose project the agent works. With the id of an `ask` it is to that question,
        or to none."""
        visitor = await required_browser(request)
        visitor.check_form(request.headers.get(CSRF_HEADER, ""))
        body = await _read_json(request, read_body)
        run = await self._run(request, body.get("streamToken"))
        if run.user != visitor.user:
            raise HTTPException(403, _NO_STREAM)
        ask = await self._open_question(run, body.get("ask"))
        answer = dialect.read_answer(ask.questions[0], body)
        site = site_of(request)
        settler = replace(visitor.settler, attempt=visitor.attempt(body.get("attempt")))
        settled = await site.do(site.desk.answer, ask.id, [answer], settler)
        await site.do(site.desk.keep_draft, ask.id, visitor.user, "")
        late = settled.outcome is not None and settled.outcome.late
        return JSONResponse({"status": "late" if late else "ok", "ask": ask.id})

    async def poll_answer(self, request: Request) -> Response:
        """The answer for the MCP server: once, and 202 before and after. With `wait` the poll is held open; with the id
        of an `ask` it is about that question, and every end of it is told."""
        _check_local(request)
        run = await self._run(request, request.query_params.get("streamToken"))
        self._check_csrf(request, run)
        named = request.query_params.get("ask", "")
        relayed = await self._questions.find(run, named)
        if relayed is None or request.method == "HEAD":
            return _waiting()
        await self._hold(request, relayed, _seconds(request))
        if not relayed.ended.is_set() or await request.is_disconnected():
            return _waiting()
        return self._told(relayed) if named else await self._told_once(relayed)

    # Polls

    async def _hold(self, request: Request, relayed: Relayed, seconds: float) -> None:
        """Wait for the end, as long as the poller wants to and is there."""
        while seconds > 0 and not relayed.ended.is_set() and not self._questions.stopping.is_set():
            await self._questions.wait(relayed, min(STEP, seconds))
            seconds -= STEP
            if await request.is_disconnected():
                return

    def _told(self, relayed: Relayed) -> Response:
        """For a poller that names its question, which is told again where the first time was lost on the way."""
        if relayed.told is not None:
            return JSONResponse(relayed.told)
        if relayed.ask.state is State.PENDING:
            return _waiting()
        # From now on the same question is another one, though the store is told only once it was handed out.
        relayed.told = dialect.end_data(relayed.ask)
        return JSONResponse(relayed.told, background=BackgroundTask(self._questions.delivered, relayed))

    async def _told_once(self, relayed: Relayed) -> Response:
        ask = relayed.ask
        if relayed.told is not None or ask.state not in _TOLD_AS_ANSWER:
            return _waiting()
        told = dialect.plain_end_data(ask)
        # Taken before anything else can happen: two polls at once must not both have it.
        relayed.told = dialect.end_data(ask)
        await self._questions.delivered(relayed)
        return JSONResponse(told)

    # Who may

    async def _run(self, request: Request, token: object) -> Run:
        """The run that is on, by its stream's token and its project."""
        if not is_token(token):
            raise HTTPException(403, "streamToken is not a UUID.")
        run = await self._questions.do(self._questions.runs.active, str(token))
        if run is None or request.query_params.get("p") != str(run.project.id):
            raise HTTPException(403, _NO_STREAM)
        return run

    def _check_csrf(self, request: Request, run: Run) -> None:
        """An MCP server need not show the `csrfToken` of its file; one that does must have the right one."""
        given = request.headers.get(CSRF_HEADER)
        if given is not None and not hmac.compare_digest(given.encode(), self._questions.csrf_token(run).encode()):
            raise HTTPException(403, f"{CSRF_HEADER} is not the csrfToken of this stream.")

    async def _open_question(self, run: Run, question_id: object) -> Ask:
        """What an answer is to: the newest question. One that names another came too late."""
        ask = await self._questions.newest(run)
        stale = question_id is not None and ask is not None and question_id != ask.id
        if ask is None or stale or not ask.state.answerable or dialect.is_over(ask, now_ms()):
            raise AlreadySettled(f"{_NO_QUESTION} Your answer was not used.")
        return ask


def _asker(run: Run) -> Asker:
    """The agent of a run. Its runner is the forebear of all its processes, none of which may answer for a person."""
    runner = read_runner(run.folder)
    process = name_of(runner.pid) if runner else None
    return Asker(
        client=run.agent,
        session=run.session,
        project=str(run.project.directory),
        host=run.host,
        pid=process.pid if process else 0,
        started=process.started if process else "",
        owner=run.user,
        run=run.id,
        branch=branch_of(str(run.directory)),
    )


def _check_local(request: Request) -> None:
    """Only programs on this machine, under its own names: a proxy before us lets nobody else in."""
    peer = request.client.host if request.client else None
    called = request.url.hostname
    if not is_loopback(peer) or not (is_loopback(called) or site_of(request).names.is_private(called)):
        raise HTTPException(403, "The relay is for programs on this machine only.")


def _seconds(request: Request) -> float:
    """How long a poll wants to be held open."""
    given = request.query_params.get("wait", "0")
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise HTTPException(422, f"wait is {given[:40]!r}; it must be a number of seconds from 0.")
    return min(seconds, LONGEST_HOLD)


async def _read_json(request: Request, read: Callable[[Request], Awaitable[bytes]]) -> Mapping[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise HTTPException(415, f"Send the body as {_JSON}.")
    try:
        body = untrusted_json.loads(await read(request))
    except ValueError:
        raise HTTPException(400, "The body is not valid JSON.") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    return body


def _waiting() -> Response:
    return JSONResponse(dialect.WAITING, 202)
