"""`sayso web` under fire: requests of all kinds on sockets of their own, and after each its health is asked for."""

from __future__ import annotations

import http.client
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psutil
from hypothesis import strategies as st
from tests.e2e.http.harness import Replica, new_token
from tests.e2e.stdio.harness import Place
from tests.fuzz import junk

from sayso.accounts import Accounts
from sayso.store import open_store

PATIENCE = 30.0
USER = "ada"
FORM = "application/x-www-form-urlencoded"
NO_ASK = "0" * 32
NO_TOKEN = "00000000-0000-4000-8000-000000000000"
PLACES = (
    "POST /mcp",
    "GET /mcp",
    "DELETE /mcp",
    "POST /mcp/",
    "GET /api/asks?limit={}",
    "GET /api/history?search={}",
    "GET /api/asks/{}",
    f"POST /api/asks/{NO_ASK}/answer",
    f"POST /api/asks/{NO_ASK}/reject",
    "GET /sign-in?link={}",
    "POST /sign-in",
    "POST /sign-out",
    "POST /claude/relay-question?p={}",
    f"GET /claude/poll-answer?p=1&streamToken={NO_TOKEN}&wait={{}}",
    "POST /claude/submit-answer?p=1",
    "GET /asks/{}",
    "POST /asks/{}/draft",
    "POST /talk",
    "GET /commands/{}",
    "GET /static/{}",
    "{} /mcp",
)


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One request, and whether it is one at all."""

    sent: bytes
    whole: bool


class Target:
    """One real web server and what lets one in."""

    def __init__(self, place: Place) -> None:
        self._secrets = {"agent": new_token(place, "fuzz"), "user": _session(place), "nobody": "nobody"}
        self._replica = Replica(place, "--user", USER)

    def fire(self, shot: Shot) -> int | None:
        """Send it, hear the status of what comes back, and see that the server is well."""
        sent = shot.sent
        for who, secret in self._secrets.items():
            sent = sent.replace(f"<{who}>".encode(), secret.encode())
        status = self._send(sent)
        assert status is None or status < 500 or status == 501, f"{status} came back for {sent[:2000]!r}\n{self.log}"
        assert self.health() == 200, self.log
        return status

    def break_off(self, sent: bytes) -> None:
        """Send it, hear what comes back, and break the connection as a client that crashes does."""
        with socket.create_connection(("127.0.0.1", self._replica.port), timeout=PATIENCE) as line:
            line.sendall(sent)
            assert line.recv(4096).startswith(b"HTTP/1.1 200")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def health(self) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self._replica.port, timeout=PATIENCE)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status
        finally:
            connection.close()

    def memory(self) -> int:
        return int(psutil.Process(self._replica.process.pid).memory_full_info().uss)

    @property
    def log(self) -> str:
        return self._replica.log

    def end(self) -> None:
        code = self._replica.stop()
        assert self._replica.process.stdout is not None
        self._replica.process.stdout.close()
        assert "Traceback" not in self.log, self.log
        assert code == 0, self.log

    def kill(self) -> None:
        self._replica.kill()

    def _send(self, sent: bytes) -> int | None:
        """The status, or None where the server hung up or had nothing to say to half a request."""
        with socket.create_connection(("127.0.0.1", self._replica.port), timeout=PATIENCE) as line:
            try:
                line.sendall(sent)
                line.shutdown(socket.SHUT_WR)
                head = line.recv(4096)
            except TimeoutError:
                raise
            except OSError:
                # It hung up, perhaps before all was sent.
                return None
        return int(head.split(b" ", 2)[1]) if head.startswith(b"HTTP/1.1 ") else None


def _session(place: Place) -> str:
    store = open_store(place.config())
    try:
        accounts = Accounts(store)
        accounts.add_user(USER)
        return accounts.redeem(accounts.make_link(USER))
    finally:
        store.close()


_words = st.text("abc 0123456789-_%&=;,+./\\\"'<>{}[]é€😀", max_size=20)
_headers: st.SearchStrategy[dict[str, str]] = st.fixed_dictionaries(
    {"Host": st.sampled_from(["127.0.0.1", "127.0.0.1", "127.0.0.1", "localhost:1", "evil.example", "", "[::1", "@"])},
    optional={
        "Authorization": st.sampled_from(["Bearer <agent>", "Bearer <user>", "Bearer <nobody>", "Basic x", "Bearer"]),
        "Content-Type": st.sampled_from(["application/json", FORM, "text/plain", "application/json; charset=x", ""]),
        "Accept": st.sampled_from(["application/json, text/event-stream", "*/*", "text/html", ""]),
        "MCP-Protocol-Version": st.sampled_from(["2025-06-18", "2026-07-28", "1999-01-01", ""]),
        "Mcp-Method": st.sampled_from(junk.METHODS),
        "Mcp-Name": st.sampled_from(junk.TOOLS),
        "Mcp-Session-Id": st.sampled_from(["x", "0" * 32, "é"]),
        "Origin": st.sampled_from(["http://127.0.0.1", "null", "http://evil.example", "http://[::1"]),
        "Cookie": st.sampled_from(["sayso_form_x=x", "=", "a=\x01", "sayso_form_xxxxxx=" + "x" * 5000]),
        "X-CSRF-Token": st.sampled_from(["x", "é", ""]),
        "Last-Event-ID": st.sampled_from(["1", "x", "9" * 400]),
    },
)


def _written(value: Any) -> bytes:
    return json.dumps(value).encode()


_answers = st.fixed_dictionaries({}, optional={"answers": junk.values, "reason": junk.values})
_relay = st.fixed_dictionaries(
    {},
    optional={"streamToken": st.just(NO_TOKEN) | junk.values, "question": junk.values, "options": junk.values},
)
_forms = st.dictionaries(st.sampled_from(["csrf", "link", "next"]), _words).map(
    lambda fields: "&".join(f"{name}={value}" for name, value in fields.items()).encode("utf-8", "replace")
)
_bodies = st.one_of(junk.lines, junk.requests.map(_written), _answers.map(_written), _relay.map(_written), _forms)


@st.composite
def shots(draw: st.DrawFn) -> Shot:
    """A request that is well-formed HTTP, or one that breaks off, lies about its length or is none."""
    words = draw(_words).encode()
    method, _, path = draw(st.sampled_from(PLACES)).encode().partition(b" ")
    headers, body = dict(draw(_headers)), draw(_bodies)
    lie = draw(st.integers(0, 9))
    length: Mapping[int, dict[str, str]] = {
        0: {"Content-Length": str(len(body) + 10)},
        1: {"Content-Length": draw(st.sampled_from(["-1", "x", "1e3", "9" * 30]))},
        2: {"Transfer-Encoding": "chunked"},
    }
    headers |= length.get(lie, {"Content-Length": str(len(body))})
    target = path.replace(b"{}", _quoted(words) if lie != 3 else words)
    first = method.replace(b"{}", words or b"X") + b" " + target + b" HTTP/1.1"
    sent = b"\r\n".join([first, *map(_line, headers.items()), b"", body])
    if lie == 4:
        sent = sent[: draw(st.integers(0, len(sent)))]
    return Shot(sent=sent, whole=lie > 4)


def _quoted(words: bytes) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in words)


def _line(header: tuple[str, str]) -> bytes:
    return f"{header[0]}: {header[1]}".encode()
