"""Runs one real MCP client program and the server under test, for plain synchronous tests.

The program is a process of its own around one client library (`driver_mcp2.py`, `driver_ts1.mjs`, ...); it starts
the server just as that library does, or goes to one that runs. Here is only the remote control, and every wait in it
has an end.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from tests.e2e.clients.events import (
    DECLINE,
    CallCancelled,
    CallFailed,
    CallResult,
    ClientError,
    ClientGone,
    Connected,
    Elicitation,
    Event,
    Json,
    Progress,
    Reply,
)
from tests.e2e.clients.install import command_for
from tests.e2e.clients.kinds import ClientKind
from tests.e2e.clients.process import GRACE, driver_process, is_gone, stand_by, wait_until

WAIT = 60.0
START_SECONDS = 90.0
"""A program, its library and the server all start before a client has connected: busy machines take long over that."""
PATIENCE_MS = 600_000
"""A call's own limit, unless a test is about it: that of the TypeScript libraries, 60 s, a busy machine may need."""

FORMS: Json = {"form": {}, "url": {}}
"""The declaration of elicitation that every client can make."""


@dataclass(frozen=True, kw_only=True)
class ServerCommand:
    """How the client starts the server. `env` is added to the few variables the library passes on by itself."""

    command: str
    args: Sequence[str] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """Where a server is that runs already, and what every request to it carries."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)


class ClientProgram:
    """One client program. Use it as a context manager: leaving ends the session and the server.

    The program itself stands by for the next of its kind, unless a test did to it what it may not have got over.
    """

    def __init__(self, kind: ClientKind, folder: Path) -> None:
        """`folder` takes what the server writes to its standard error."""
        folder.mkdir(parents=True, exist_ok=True)
        self.kind = kind
        self._server_stderr = folder / "server.stderr"
        self._server: psutil.Process | None = None
        self._connected: Connected | None = None
        self._closed = False
        self._harmed = False
        self._process = driver_process(command_for(kind.library))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and not self._harmed and self._left_in_order():
            stand_by(self._process)
        else:
            if error is not None:
                error.add_note(f"{self.kind.id}: {self._said()}")
            self._process.stop([self._server] if self._server else [])

    def _left_in_order(self) -> bool:
        """Close the session, if there is one. Whether nothing is left of it."""
        try:
            if self._connected is not None and not self._closed:
                self.close(timeout=GRACE)
        except (ClientError, TimeoutError):
            return False
        return wait_until(lambda: not self._process.children(), GRACE)

    # The session

    def connect(
        self,
        server: ServerCommand | ServerAddress,
        *,
        name: str = "sayso-tests",
        version: str = "1.0",
        elicitation: Json | None = FORMS,
        replies: Sequence[Reply] = (),
        default_reply: Reply = DECLINE,
        log_level: str | None = None,
        timeout: float = START_SECONDS,
    ) -> Connected:
        """Start the server, or go to it, and shake hands. `elicitation` is the declared capability, None for none at
        all; `log_level` asks for log messages in the modern era, where none come unasked."""
        self._harmed = True
        value = self._ask(
            "connect",
            timeout,
            server=self._described(server),
            client={"name": name, "version": version},
            mode=self.kind.mode,
            elicitation=elicitation,
            log_level=log_level,
            **_policy(replies, default_reply),
        )
        if isinstance(server, ServerCommand):
            self._server = self._process.children()[0]
        self._connected = Connected(
            protocol_version=value["protocolVersion"],
            server_info=value["serverInfo"],
            capabilities=value["capabilities"],
            instructions=value["instructions"],
        )
        self._harmed = False
        return self._connected

    def _described(self, server: ServerCommand | ServerAddress) -> Json:
        if isinstance(server, ServerAddress):
            return {"url": server.url, "headers": server.headers}
        return {
            "command": server.command,
            "args": list(server.args),
            "env": server.env,
            "cwd": str(server.cwd),
            "stderr": str(self._server_stderr),
        }

    @property
    def connected(self) -> Connected:
        """What `connect` returned."""
        if self._connected is None:
            raise ClientError("the client has not connected")
        return self._connected

    def list_tools(self, *, timeout: float = WAIT) -> list[Json]:
        """The full definitions, asked from the server again."""
        tools: list[Json] = self._ask("list_tools", timeout)
        return tools

    def watch_tools(self, *, timeout: float = WAIT) -> None:
        """Have `tools_changed` events from here on: a subscription in the modern era, nothing to do before it."""
        self._harmed = True
        self._ask("watch_tools", timeout)

    def close(self, *, timeout: float = WAIT) -> None:
        """Say goodbye as the library does."""
        self._send("close")
        self.wait_event(lambda event: event.kind == "closed", timeout=timeout)
        self._closed = True

    # Calls

    def call_start(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        timeout_ms: int = PATIENCE_MS,
        progress: bool = False,
        extend_on_progress: bool = False,
        meta: Json | None = None,
    ) -> str:
        """Send a call and return its key."""
        return self._send(
            "call",
            name=name,
            arguments=arguments or {},
            timeout_ms=timeout_ms,
            progress=progress,
            extend_on_progress=extend_on_progress,
            meta=meta,
        )

    def wait_result(self, key: str, *, timeout: float = WAIT) -> CallResult:
        """The call's result. Raises CallFailed for a protocol error, CallCancelled after `cancel`."""
        value = self._outcome(key, timeout)
        return CallResult(
            content=value["content"],
            structured=value.get("structuredContent"),
            is_error=value.get("isError", False),
            meta=value.get("_meta"),
        )

    def call(self, name: str, arguments: Json | None = None, *, timeout: float = WAIT) -> CallResult:
        """Send a call and wait for it."""
        return self.wait_result(self.call_start(name, arguments), timeout=timeout)

    def cancel(self, key: str) -> None:
        """Cancel a call the way the library does it; `wait_result` then raises CallCancelled."""
        self._ask("cancel", WAIT, key=key)

    def progress_of(self, key: str) -> list[Progress]:
        """What the call's progress callback has heard up to now."""
        heard = [event.fields for event in self.events("progress") if event.about(key)]
        return [Progress(progress=one["progress"], total=one.get("total"), message=one.get("message")) for one in heard]

    def wait_progress(self, key: str, *, timeout: float = WAIT) -> None:
        """Until the call's progress callback is called, once more than has been waited for."""
        self.wait_event(lambda event: event.kind == "progress" and event.about(key), timeout=timeout)

    # Forms

    def answer_with(self, *replies: Reply, default: Reply = DECLINE) -> None:
        """From now on, give these replies in turn, then the default."""
        self._ask("replies", WAIT, **_policy(replies, default))

    def wait_elicitation(self, *, timeout: float = WAIT) -> Elicitation:
        """The next form the client was asked to show."""
        event = self.wait_event(lambda event: event.kind == "elicitation", timeout=timeout)
        params = event.fields["params"]
        return Elicitation(
            form=event.fields["form"],
            message=params["message"],
            mode=params.get("mode", "form"),
            schema=params.get("requestedSchema"),
            url=params.get("url"),
        )

    def reply(self, form: str, reply: Reply) -> None:
        """Answer a form that is held open."""
        self._ask("reply", WAIT, form=form, reply=reply.as_json())

    def wait_withdrawn(self, form: str, *, timeout: float = WAIT) -> None:
        """Until the library takes the form back: the server withdrew it, or the call or the connection ended."""
        self.wait_event(lambda event: event.kind == "withdrawn" and event.about(form), timeout=timeout)

    # Events, and the server process

    def wait_event(self, predicate: Callable[[Event], bool], *, timeout: float = WAIT) -> Event:
        """The first event that fits and was not waited for before."""
        try:
            return self._process.log.take(predicate, timeout)
        except (ClientGone, TimeoutError) as error:
            raise type(error)(f"{self.kind.id}: {error}\n{self._said()}") from None

    def events(self, kind: str) -> list[Event]:
        """Every event of this kind up to now."""
        return self._process.log.all(kind)

    @property
    def server(self) -> psutil.Process:
        """The process the client started."""
        if self._server is None:
            raise ClientError("the client has not connected")
        return self._server

    @property
    def server_stderr(self) -> str:
        """What the server has written to its standard error."""
        return self._server_stderr.read_text() if self._server_stderr.exists() else ""

    def wait_server_stderr(self, text: str, *, timeout: float = WAIT) -> None:
        """Until the server has written this to its standard error."""
        if not wait_until(lambda: text in self.server_stderr, timeout):
            raise TimeoutError(f"{self.kind.id}: the server never wrote {text!r}\n{self._said()}")

    def wait_server_exit(self, *, timeout: float = WAIT) -> None:
        """Until the server process is gone."""
        if not wait_until(lambda: is_gone(self.server), timeout):
            raise TimeoutError(f"{self.kind.id}: the server is still there\n{self._said()}")

    # Going wrong

    def kill_server(self) -> None:
        """SIGKILL the server under the client's hands."""
        self._harmed = True
        self.server.kill()

    def vanish(self) -> None:
        """SIGKILL the client: the pipes break without a goodbye. The server may live on; `server` still names it."""
        self._harmed = True
        self._process.kill()

    def go_silent(self) -> None:
        """Stop the client: the pipes stay open, but nothing is read, answered or sent until `wake`."""
        self._harmed = True
        self._process.signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let a silent client go on."""
        self._process.signal(signal.SIGCONT)

    # The line to the program

    def _send(self, do: str, **fields: Any) -> str:
        key = self._process.new_key(do)
        self._process.send({**fields, "do": do, "id": key})
        return key

    def _ask(self, do: str, timeout: float, **fields: Any) -> Any:
        return self._outcome(self._send(do, **fields), timeout)

    def _outcome(self, key: str, timeout: float) -> Any:
        ended = self.wait_event(lambda event: event.kind in ("done", "failed") and event.about(key), timeout=timeout)
        if ended.kind == "done":
            return ended.fields["value"]
        error = ended.fields["error"]
        failure = CallCancelled if ended.fields["cancelled"] else CallFailed
        raise failure(error["code"], error["message"], error["data"])

    def _said(self) -> str:
        client, server = self._process.stderr[-2000:], self.server_stderr[-2000:]
        return f"client stderr: {client or '(nothing)'}\nserver stderr: {server or '(nothing)'}"


def _policy(replies: Sequence[Reply], default: Reply) -> Json:
    return {"replies": [reply.as_json() for reply in replies], "default_reply": default.as_json()}
