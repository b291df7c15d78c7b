"""What the two Python driver programs share: commands in and events out as lines of JSON, forms, calls in flight.

It knows no MCP library; a driver program brings its own as a `Session`. Runs outside the test process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, TextIO

import anyio
from anyio.abc import TaskGroup, TaskStatus

Json = dict[str, Any]


class OnProgress(Protocol):
    """What both libraries call with each progress notification."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


class Session(Protocol):
    """An MCP library's client, connected."""

    def describe(self) -> Json:
        """The negotiated protocol version, and what the server said of itself."""

    async def list_tools(self) -> list[Json]:
        """Every page, fresh from the server."""

    async def call(self, command: Json, on_progress: OnProgress | None) -> Json:
        """The tool's result as it came over the wire."""

    async def withdraw(self, key: str) -> None:
        """Tell the server, where the library does not do so by itself, that this call is being cancelled."""

    def watching_tools(self) -> AbstractAsyncContextManager[None]:
        """Be told of changed tools as long as this is open."""


OpenSession = Callable[[Json, "Driver"], AbstractAsyncContextManager[Session]]


def emit(event: str, **fields: Any) -> None:
    """One event for the test."""
    print(json.dumps({"event": event, **fields}), flush=True)


def server_stderr(command: Json) -> TextIO:
    """Where the server's standard error goes: a file, so that it outlives this program."""
    return Path(command["server"]["stderr"]).open("a")


def explained(failure: BaseException) -> Json:
    """An exception as code, message, data; the libraries wrap what happened in groups of one."""
    while isinstance(failure, BaseExceptionGroup) and len(failure.exceptions) == 1:
        failure = failure.exceptions[0]
    error = getattr(failure, "error", None)
    if error is None:
        return {"code": None, "message": f"{type(failure).__name__}: {failure}", "data": None}
    return {"code": error.code, "message": error.message, "data": error.data}


class Driver:
    """Carries out the test's commands, several at a time, on one session after another."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open_session = open_session
        self._session: Session | None = None
        self._closing = anyio.Event()
        self._calls: dict[str, anyio.CancelScope] = {}
        self._cancelled: set[str] = set()
        self._replies: list[Json] = []
        self._default_reply: Json = {"action": "decline"}
        self._held: dict[str, Json] = {}
        self._released: dict[str, anyio.Event] = {}
        self._forms = 0

    async def run(self) -> None:
        """Until the test closes our input: then the session, if any, is closed as the library does it."""
        async with anyio.create_task_group() as tasks:
            while line := await anyio.to_thread.run_sync(sys.stdin.readline):
                tasks.start_soon(self._carry_out, json.loads(line), tasks)
            tasks.cancel_scope.cancel()

    @property
    def session(self) -> Session:
        if self._session is None:
            raise RuntimeError("not connected")
        return self._session

    async def _carry_out(self, command: Json, tasks: TaskGroup) -> None:
        key = command["id"]
        try:
            match command["do"]:
                case "connect":
                    self._session, self._closing = None, anyio.Event()
                    self._take_replies(command)
                    await tasks.start(self._hold_session, command)
                    emit("done", id=key, value=self.session.describe())
                case "list_tools":
                    emit("done", id=key, value=await self.session.list_tools())
                case "watch_tools":
                    await tasks.start(self._hold_watch)
                    emit("done", id=key, value=None)
                case "call":
                    await self._call(key, command)
                case "cancel":
                    await self.session.withdraw(command["key"])
                    self._cancelled.add(command["key"])
                    self._calls[command["key"]].cancel()
                    emit("done", id=key, value=None)
                case "replies":
                    self._take_replies(command)
                    emit("done", id=key, value=None)
                case "reply":
                    self._held[command["form"]] = command["reply"]
                    self._released[command["form"]].set()
                    emit("done", id=key, value=None)
                case "close":
                    self._closing.set()
        except Exception as failure:
            emit("failed", id=key, cancelled=False, error=explained(failure))

    async def _hold_session(self, command: Json, *, task_status: TaskStatus[None]) -> None:
        try:
            async with self._open_session(command, self) as session:
                self._session = session
                task_status.started()
                await self._closing.wait()
        except Exception as failure:
            if self._session is None:
                raise
            emit("closed", error=explained(failure))
        else:
            emit("closed", error=None)
        # mcp 1 can leave calls waiting for ever when the connection ends.
        while self._calls:
            self._calls.popitem()[1].cancel()

    async def _hold_watch(self, *, task_status: TaskStatus[None]) -> None:
        async with self.session.watching_tools():
            task_status.started()
            await self._closing.wait()

    async def _call(self, key: str, command: Json) -> None:
        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            emit("progress", id=key, progress=progress, total=total, message=message)

        if command.get("extend_on_progress"):
            raise RuntimeError("this library cannot extend a request's time limit on progress")
        with anyio.CancelScope() as scope:
            self._calls[key] = scope
            result = await self.session.call(command, on_progress if command.get("progress") else None)
            emit("done", id=key, value=result)
        if scope.cancelled_caught:
            by_test = key in self._cancelled
            message = "cancelled" if by_test else "the library left the call waiting after the connection ended"
            emit("failed", id=key, cancelled=by_test, error={"code": None, "message": message, "data": None})

    def _take_replies(self, command: Json) -> None:
        self._replies = list(command["replies"])
        self._default_reply = command["default_reply"]

    async def answer(self, form: Json) -> Json:
        """The reply to one form: the next in the queue, or the default; held until the test says so."""
        self._forms += 1
        number = f"form-{self._forms}"
        reply = self._replies.pop(0) if self._replies else self._default_reply
        self._released[number] = anyio.Event()
        emit("elicitation", form=number, params=form)
        try:
            if reply["action"] == "hold":
                await self._released[number].wait()
                reply = self._held[number]
            await anyio.sleep(reply.get("after_ms", 0) / 1000)
        except anyio.get_cancelled_exc_class():
            emit("withdrawn", form=number)
            raise
        return reply


def drive(open_session: OpenSession) -> None:
    """Run a driver program."""
    anyio.run(Driver(open_session).run)
