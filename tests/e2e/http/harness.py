"""What the tests of MCP over HTTP stand on: real `sayso web` processes, agents with tokens, bare requests."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from tests import warm
from tests.e2e.stdio.harness import TOOL, WAIT, Person, Place
from tests.ports import lasting_port

from sayso.accounts import Accounts
from sayso.store import open_store

__all__ = [
    "ACCEPT",
    "MODERN",
    "TOOL",
    "WAIT",
    "Agent",
    "HandshakeSession",
    "Person",
    "Place",
    "Replica",
    "agent",
    "bearer",
    "connected",
    "message",
    "modern_call",
    "new_token",
    "new_tokens",
    "number",
    "replica",
    "result_of",
    "sign_in",
]

_SAYSO = Path(sys.executable).parent / "sayso"
START_SECONDS = 60.0
ACCEPT = "application/json, text/event-stream"
MODERN = "2026-07-28"


class Replica:
    """One `sayso web` process. Its log is kept in a file."""

    begin: Callable[..., subprocess.Popen[str]] = staticmethod(warm.start)

    def __init__(self, place: Place, *flags: str, port: int = 0) -> None:
        self._place, self._flags = place, flags
        self._log = Path(tempfile.mkstemp(prefix="web-", suffix=".log", dir=place.folder)[1])
        self._start(port or lasting_port())

    def _start(self, port: int) -> None:
        with self._log.open("a") as log:
            self.process = self.begin(
                [_SAYSO, "web", "--json", "--port", str(port), *self._flags],
                cwd=self._place.project,
                env=self._place.environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.page: str = _json_from(self.process.stdout)["page"]
        """Where people go, by a name that only browsers resolve."""
        self.port = int(re.findall(r"Sayso is at http://\S+?:(\d+)", self.log)[-1])
        # Whoever comes before it serves is kept waiting.
        assert httpx2.get(f"{self.address}/readyz", timeout=START_SECONDS).status_code == 200, self.log

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp(self) -> str:
        return f"{self.address}/mcp"

    def start_again(self) -> None:
        """On the same port, after it has ended."""
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._start(self.port)

    def stop(self) -> int:
        """Ask it to stop, as the system does, and give its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(WAIT)
        assert self.process.stdout is not None
        self.process.stdout.close()


_FAULT = re.compile(r"Traceback (?:.*\n)(?:[ \t].*\n)+\S.*")


@contextmanager
def replica(place: Place, *flags: str, of: type[Replica] = Replica) -> Iterator[Replica]:
    """A replica that, whatever is done to it, never fails on its own account."""
    running = of(place, *flags)
    try:
        yield running
    finally:
        running.kill()
    fault = _FAULT.search(running.log)
    assert fault is None, f"{running.log}\n{fault and fault[0][-400:]}"


def _json_from(stream: IO[str]) -> dict[str, Any]:
    """The first JSON object that the process prints."""
    text = ""
    while line := stream.readline():
        text += line
        if line.startswith("}"):
            read: dict[str, Any] = json.loads(text)
            return read
    raise AssertionError(f"it printed only {text!r}")


def new_token(place: Place, name: str, *, project: str = "", user: str = "") -> str:
    return new_tokens(place, [name], project=project, user=user)[0]


def new_tokens(place: Place, names: Iterable[str], *, project: str = "", user: str = "") -> list[str]:
    store = open_store(place.config())
    try:
        accounts = Accounts(store)
        if user:
            accounts.add_user(user)
        return [accounts.add_token(name, project=project, user=user) for name in names]
    finally:
        store.close()


class Agent:
    """A real MCP client over HTTP. Calls run in a thread of its own and are futures here."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client = client
        self._portal = portal

    def ask(self, *questions: Mapping[str, Any]) -> Future[types.CallToolResult]:
        return self.call(TOOL, {"questions": list(questions)})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Future[types.CallToolResult]:
        """A call under way; cancelling the future cancels the call as the client does it."""
        return self._portal.start_task_soon(self.client.call_tool, tool, dict(arguments))

    def tools(self) -> list[types.Tool]:
        return self._portal.call(self.client.list_tools).tools


@asynccontextmanager
async def connected(
    address: str, token: str, mode: str = "auto", *, form: ElicitationFnT | None = None, name: str = "tester"
) -> AsyncIterator[Client]:
    """The SDK's client, for tests that are coroutines."""
    headers = {"Authorization": f"Bearer {token}"}
    # A connection for each request, so that a proxy can send each to another server.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT, limits=limits, verify=False) as http,
        Client(
            streamable_http_client(address, http_client=http, max_sse_event_size=None),
            mode=mode,
            elicitation_callback=form,
            client_info=types.Implementation(name=name, version="7"),
        ) as client,
    ):
        yield client


@contextmanager
def agent(
    address: str, token: str, mode: str = "auto", *, form: ElicitationFnT | None = None, name: str = "tester"
) -> Iterator[Agent]:
    with start_blocking_portal() as portal:
        connection = portal.wrap_async_context_manager(connected(address, token, mode, form=form, name=name))
        client = connection.__enter__()
        try:
            yield Agent(client, portal)
        finally:
            # Not told of a test's failure, which the client's task groups would wrap beyond recognition.
            connection.__exit__(None, None, None)


# Bare requests


def bearer(token: str, **more: str) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {"Accept": ACCEPT, "Authorization": f"Bearer {token}", **named}


def modern_call(tool: str, arguments: Mapping[str, Any], **params: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """The headers and the body of a call as 2026-07-28 wants them."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "7"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    body = {"name": tool, "arguments": dict(arguments), "_meta": meta, **params}
    return headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}


class HandshakeSession:
    """A handshake client's session, request by request."""

    def __init__(self, http: httpx2.Client, address: str, token: str, version: str = "2025-11-25") -> None:
        self._http, self._address, self._token = http, address, token
        client = {"name": "tester", "version": "7"}
        opened = self.post(
            "initialize", {"protocolVersion": version, "capabilities": {"elicitation": {}}, "clientInfo": client}
        )
        assert opened.status_code == 200, opened.text
        self.id = opened.headers["mcp-session-id"]
        self.version = result_of(opened)["protocolVersion"]
        assert self.post("notifications/initialized").status_code == 202

    id = ""
    version = ""

    @property
    def headers(self) -> dict[str, str]:
        headers = bearer(self._token)
        return {**headers, "Mcp-Session-Id": self.id, "MCP-Protocol-Version": self.version} if self.id else headers

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> httpx2.Response:
        return self._http.post(self._address, headers=self.headers, json=message(method, params))

    def stream(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """The response while it arrives; a context manager."""
        return self._http.stream("POST", self._address, headers=self.headers, json=message(method, params))


def sign_in(http: httpx2.Client, server: Replica, link: str) -> int:
    """Follow a sign-in link as a browser does; the status of what came back. The client keeps the cookies."""
    http.get(f"{server.address}/sign-in", headers=as_browser(link))
    token = next(value for name, value in http.cookies.items() if name.startswith("sayso_form_"))
    data = {"csrf": token, "link": link.partition("link=")[2]}
    return http.post(f"{server.address}/sign-in", data=data, headers=as_browser(link)).status_code


def as_browser(address: str) -> dict[str, str]:
    """The name by which a browser calls the server of a page."""
    return {"Host": urlsplit(address).netloc}


def message(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    told = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
    return told if method.startswith("notifications/") else {**told, "id": 1}


def result_of(response: httpx2.Response) -> dict[str, Any]:
    """The result in a response, be it JSON or a stream of events."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")][-1]
    told: dict[str, Any] = json.loads(text)
    assert "result" in told, told
    result: dict[str, Any] = told["result"]
    return result


def number(http: httpx2.Client, server: Replica, sample: str) -> float:
    """One of the server's numbers, as Prometheus reads it."""
    text = http.get(f"{server.address}/metrics").text
    return next((float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"{sample} ")), 0.0)
