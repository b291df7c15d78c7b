"""What the tests of the web inbox stand on: a machine with a real `sayso web` on it, agents' asks, HTTP by hand.

The tests make asks through a desk on the same store, in a process that is not the server's; that process holds the
waits as an agent's server would.
"""

from __future__ import annotations

import gzip
import http.client
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
from tests import warm
from tests.asks.samples import flood, never_twice
from tests.e2e.stdio.harness import Place, new_place
from tests.operations.works import Works
from tests.orphan import Orphan
from tests.ports import lasting_port

from sayso.accounts import Accounts
from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, Settler
from sayso.chats.desk import ChatDesk
from sayso.clock import now_ms
from sayso.push.subscriptions import PushDesk
from sayso.store import open_store
from sayso.store.bell import Bell
from sayso.waiting_room import WaitingRoom

WAIT = 60.0
"""Seconds after which anything that has not happened never will."""
USER = "ada"
BIN = Path(sys.executable).parent
_HOSTS = count()
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    text: str
    cookies: tuple[str, ...] = ()
    size: int = 0
    """Bytes of the body, as they were sent."""

    @property
    def data(self) -> Any:
        return json.loads(self.text)


class Web:
    """One `sayso web` process."""

    def __init__(
        self,
        place: Place,
        *flags: str,
        before: Sequence[str] = (),
        start: Callable[..., subprocess.Popen[str]] = warm.start,
    ) -> None:
        begin = subprocess.Popen if before else start
        self._process = begin(
            [*before, BIN / "sayso", "web", "--json", *flags],
            cwd=place.project,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._said: list[str] = []
        assert self._process.stderr is not None
        self._reader = threading.Thread(target=self._said.extend, args=(self._process.stderr,), daemon=True)
        self._reader.start()
        told = self._told()
        self.address: str = told["page"]
        """Where people go; the name is one that only browsers resolve."""
        self.for_programs: str = told["address"]
        self.link: str = told["link"]
        self.port = _port_of(self._process.pid)

    def _told(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        text = ""
        for line in self._process.stdout:
            text += line
            if line == "}\n":
                told: dict[str, Any] = json.loads(text)
                return told
        self._reader.join(WAIT)
        raise AssertionError("".join(self._said))

    @property
    def said(self) -> str:
        """What it wrote to stderr; all of it once it has ended."""
        return "".join(self._said)

    @property
    def host(self) -> str:
        """The Host header of people's browsers."""
        return self.address.partition("//")[2]

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it by a signal. Its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        code = self._process.wait(WAIT)
        self._reader.join(WAIT)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return code

    def call(
        self,
        method: str,
        path: str,
        *,
        form: Mapping[str, str] | None = None,
        data: object = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        cookie: str = "",
        host: str | None = None,
    ) -> Reply:
        """One request on a connection of its own, with exactly these headers."""
        sent = dict(headers or {})
        if form is not None:
            body, sent = urlencode(form).encode(), {**_FORM, **sent}
        if data is not None:
            body, sent = json.dumps(data).encode(), {"Content-Type": "application/json", **sent}
        if cookie:
            sent["Cookie"] = cookie
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host or self.host)
            if body is not None or method in ("POST", "PUT"):
                connection.putheader("Content-Length", str(len(body or b"")))
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            sent_back = reply.read()
            plain = gzip.decompress(sent_back) if reply.getheader("Content-Encoding") == "gzip" else sent_back
            return Reply(
                status=reply.status,
                headers={name.lower(): value for name, value in reply.getheaders()},
                text=plain.decode(errors="replace"),
                size=len(sent_back),
                cookies=tuple(value for name, value in reply.getheaders() if name.lower() == "set-cookie"),
            )
        finally:
            connection.close()


class House:
    """The machine: its store as the tests reach it, and its web inbox."""

    def __init__(self, place: Place, *flags: str, before: Sequence[str] = ()) -> None:
        self.place = place
        self._flags = flags
        self._store = open_store(place.config())
        self.desk, self.accounts = AskDesk(self._store, clock=never_twice(now_ms)), Accounts(self._store)
        self.pushes, self.chats = PushDesk(self._store), ChatDesk(self._store)
        self.works = Works(self._store, place.config().operations_dir)
        self.web = Web(place, "--port", str(lasting_port()), "--user", self._user(), *flags, before=before)

    def _user(self) -> str:
        self.accounts.add_user(USER)
        return USER

    def restart(self) -> None:
        """The same server once more, on the same port, and whatever agents the tests have started meanwhile."""
        self.web = Web(self.place, "--port", str(self.web.port), "--user", USER, *self._flags, start=Orphan)

    def close(self) -> None:
        self.web.stop()
        self._store.close()

    def tidy(self) -> None:
        """Settle what a test has left open."""
        for ask in self.desk.inbox(most=100_000):
            self.desk.cancel(ask.id, Settler(person="tests", surface="tests"))
        self.works.tidy()
        WaitingRoom(self._store).clear()

    def session(self, user: str = USER) -> str:
        """A session's secret, without a browser."""
        self.accounts.add_user(user)
        return self.accounts.redeem(self.accounts.make_link(user))

    def address_of(self, user: str = USER) -> str:
        """Where this person is let in: each has a name of their own, except where there is TLS or another machine."""
        return self.web.address.replace(self.accounts.private_name(USER), self.accounts.private_name(user))

    def host_of(self, user: str = USER) -> str:
        return self.address_of(user).partition("//")[2]

    @cached_property
    def cookie_name(self) -> str:
        """As the server calls it: learnt from a real sign-in."""
        shown = self.web.call("GET", "/sign-in")
        form = shown.cookies[0].split(";")[0]
        token, link = form.partition("=")[2], self.accounts.make_link(USER)
        signed_in = self.web.call("POST", "/sign-in", form={"csrf": token, "link": link}, cookie=form)
        assert signed_in.status == 303, signed_in.text
        return signed_in.cookies[0].partition("=")[0]

    def elsewhere(self, operation_id: str) -> None:
        """Make it look as if a command ran on another machine."""
        with closing(sqlite3.connect(self.place.database)) as connection, connection:
            connection.execute("UPDATE operations SET host = 'elsewhere' WHERE id = ?", (operation_id,))

    def bell(self) -> Bell:
        return self._store.bell()

    def hold(self, new: NewAsk) -> Held:
        """An ask that an agent waits for."""
        return self.desk.hold(new)

    def flood(self, asker: Asker, count: int) -> None:
        flood(self._store, asker, count)

    def ask(self, *questions: Question, **more: Any) -> Ask:
        return self.hold(new_ask(*questions, **more)).ask


def _port_of(pid: int) -> int:
    """Where a process listens, whatever address it tells people."""
    (port,) = {one.laddr.port for one in psutil.Process(pid).net_connections("tcp") if one.status == "LISTEN"}
    return int(port)


@contextmanager
def new_house(*flags: str, before: Sequence[str] = (), **settings: str) -> Iterator[House]:
    """`before` are words that run the program."""
    with new_place(**settings) as place:
        house = House(place, *flags, before=before)
        try:
            yield house
        finally:
            house.close()


def new_ask(*questions: Question, title: str = "", timeout_ms: int | None = None, asker: Asker | None = None) -> NewAsk:
    # Each from a machine of its own: the same questions of the same agent would be one ask.
    who = asker or Asker(client="claude-code", project="/home/ada/shop", host=f"host{next(_HOSTS)}")
    return NewAsk(tool="ask_user", questions=questions, asker=who, title=title, timeout_ms=timeout_ms)


def text(words: str = "What shall I call it?", **more: Any) -> Question:
    return Question(id=f"id of {words}", text=words, **more)


def select(words: str = "Which one?", *labels: str, **more: Any) -> Question:
    return Question(id=f"id of {words}", text=words, kind=Kind.SELECT, options=options(*labels), **more)


def multi_select(words: str = "Which ones?", *labels: str, **more: Any) -> Question:
    return Question(id=f"id of {words}", text=words, kind=Kind.MULTI_SELECT, options=options(*labels), **more)


def confirm(words: str = "May I?", **more: Any) -> Question:
    return Question(id=f"id of {words}", text=words, kind=Kind.CONFIRM, **more)


def options(*labels: str) -> tuple[Option, ...]:
    return tuple(
        Option(id=f"option {number}", label=label) for number, label in enumerate(labels or ("Red", "Green", "Blue"))
    )


def answers_of(ask: Ask) -> list[Answer]:
    assert ask.outcome is not None
    return list(ask.outcome.answers)
