"""The people of a proof: they see the inbox and settle what is in it, each a process that can be killed at any moment.

`python -m tests.proof.people FOLDER EPOCH NAME LIFE`. One settles at the desk, as fast as that goes, the other by the
API, the page's form and the command line, and now and then begins a conversation in Talk. Before somebody says
something it is noted, and again once they know what became of it. Each thing is said once in the whole proof, so that
every answer can be traced to the moment it was given.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.e2e.stdio.folders import PROGRAMS
from tests.proof.ground import USER, Ground
from tests.proof.notes import Notes

from sayso.accounts import Accounts
from sayso.asks.model import Answer, Ask, Settler
from sayso.desks import Desks, open_desks
from sayso.errors import AlreadySettled, InvalidInput, NotFound, SaysoError
from sayso.store import open_store

PEOPLE = ("ada", "bob")
AT_ONCE = 150
SLOW_SECONDS = 2.5
"""How long people leave a question open that is to be answered late."""
PAUSE = 0.1
SECONDS = 30.0
_COMMON = {"Connection": "close"}


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What somebody is about to say to an ask: `answer`, `reject`, `allow`, `deny`, or `mistake`, an allow of something
    else than what is wanted. `mark` is what they say with it."""

    ask: Ask
    what: str
    mark: str

    @property
    def digest(self) -> str:
        return self.ask.digest[::-1] if self.what == "mistake" else self.ask.digest


class Person:
    """One life of one person."""

    def __init__(self, ground: Ground, epoch: Path, name: str, life: str) -> None:
        self.name, self._ground, self._epoch, self._life = name, ground, epoch, life
        self._notes = Notes(epoch / f"people-{name}-{life}.jsonl")
        self._chance = random.Random(f"{ground.told.seed} {epoch.name} {name} {life}")
        self._said = 0
        self._seen: dict[str, float] = {}
        self._page: Page | None = None

    def work(self) -> None:
        """Endless on purpose: whoever started it ends it."""
        with open_desks(self._ground.place.config()) as desks:
            while True:
                try:
                    self._look(desks)
                except SaysoError:
                    # The store is away: so is the inbox.
                    time.sleep(PAUSE)

    def _look(self, desks: Desks) -> None:
        bell = desks.bell()
        due = [ask for ask in desks.asks.inbox(most=AT_ONCE) if self._is_due(ask)]
        self._chance.shuffle(due)
        if self.name == "ada":
            # Some are left for others, and for another look.
            for ask in due:
                if self._chance.random() < 0.92:
                    self._settle(ask, "desk", lambda wish: _by_desk(desks, wish, self.name))
        elif due and self._is_to_talk():
            self._talk()
        elif due:
            surface = self._chance.choices(("api", "page", "cli"), (12, 3, 1))[0]
            by: dict[str, Callable[[Wish], bool | None]] = {
                "api": self._by_api,
                "page": self._by_page,
                "cli": self._by_cli,
            }
            self._settle(due[0], surface, by[surface])
        if not due:
            bell.wait(PAUSE)

    def _is_to_talk(self) -> bool:
        """At the first look of a life, and then now and then; where there is to be no talk at all, never."""
        talks = self._ground.told.talks
        return talks > 0 and (not self._said or self._chance.random() < talks)

    def _talk(self) -> None:
        """Begin a conversation with an agent of Talk, which asks something that is answered like all else."""
        if (self._epoch / "over").exists():
            return
        self._said += 1
        name = f"{int(self._epoch.name)}.talk.{self._life.replace('.', '')}x{self._said}"
        self._notes.add(t="talks", name=name)
        with suppress(OSError):
            self._page = self._page or Page(self._ground)
            steps = [f"say Begins {name}", f"ask {json.dumps({'question': f'plain {name}?'})}", f"say Ends {name}"]
            if self._page.begin(self._ground.known["project"], "\n".join(steps)):
                self._notes.add(t="talking", name=name)
                return
        self._page = None

    def _is_due(self, ask: Ask) -> bool:
        if ask.wanted is not None:
            return not re.search(r"\bi\.\d", ask.wanted["title"])
        if not ask.questions[0].text.startswith("slow"):
            return True
        return time.monotonic() - self._seen.setdefault(ask.id, time.monotonic()) > SLOW_SECONDS

    def _settle(self, ask: Ask, surface: str, by: Callable[[Wish], bool | None]) -> None:
        self._said += 1
        mark = f"{self.name}.{self._life}.{self._said}"
        chances = (
            {"answer": 8, "reject": 2} if ask.wanted is None else {"allow": 12, "deny": 6, "mistake": 1, "reject": 1}
        )
        wish = Wish(ask=ask, what=self._chance.choices(list(chances), list(chances.values()))[0], mark=mark)
        self._notes.add(t="says", ask=ask.id, mark=mark, what=wish.what, surface=surface, digest=wish.digest)
        self._notes.add(t="heard", mark=mark, heard=by(wish))

    # The dear ways

    def _by_cli(self, wish: Wish) -> bool | None:
        ask = wish.ask.id
        words = {
            "answer": ["answer", ask, wish.mark],
            "reject": ["reject", ask, "--reason", wish.mark],
            "deny": ["deny", ask, "--because", wish.mark],
        }.get(wish.what, ["allow", ask, "--digest", wish.digest])
        place = self._ground.place
        try:
            done = subprocess.run(
                [PROGRAMS / "sayso", *words],
                cwd=place.project,
                env=place.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0:
            return True
        return False if re.search("lready|no longer|over|nothing was|not the", done.stderr) else None

    def _by_api(self, wish: Wish) -> bool | None:
        answers = [{"question": wish.ask.questions[0].id, "text": wish.mark}] if wish.what == "answer" else []
        path, body = {
            "answer": ("answer", {"answers": answers}),
            "reject": ("reject", {"reason": wish.mark}),
            "deny": ("deny", {"because": wish.mark}),
        }.get(wish.what, ("allow", {"digest": wish.digest}))
        known = self._ground.known
        headers = {"Authorization": f"Bearer {known['session']}", "Content-Type": "application/json"}
        status, _ = _call(known["port"], "POST", f"/api/asks/{wish.ask.id}/{path}", json.dumps(body), headers)
        # Gone is an ask that has been deleted; a 422 says what is wrong with what was said.
        return {200: True, 404: False, 409: False, 422: False}.get(status)

    def _by_page(self, wish: Wish) -> bool | None:
        if wish.what in ("allow", "mistake"):
            return self._by_api(wish)
        try:
            self._page = self._page or Page(self._ground)
            return self._page.settle(wish)
        except OSError:
            self._page = None
            return None


class Page:
    """A browser's session, by HTTP alone."""

    def __init__(self, ground: Ground) -> None:
        store = open_store(ground.place.config())
        try:
            link = Accounts(store).make_link(USER)
        finally:
            store.close()
        self._port = ground.known["port"]
        self._headers = {"Host": f"{ground.known['host']}:{self._port}"}
        _, shown = _call(self._port, "GET", "/sign-in", "", self._headers)
        form = _cookies(shown)
        token = form.partition("=")[2]
        data = urlencode({"csrf": token, "link": link})
        status, signed_in = _call(self._port, "POST", "/sign-in", data, {**self._headers, **_FORM, "Cookie": form})
        if status != 303:
            raise OSError(f"no way in: {status}")
        self._headers["Cookie"] = _cookies(signed_in)

    def begin(self, project: int, prompt: str) -> bool:
        """Whether the page has taken it."""
        _, shown = _call(self._port, "GET", "/settings", "", self._headers)
        found = re.search(r'name="csrf" value="([^"]*)"', shown.text)
        form = urlencode({"csrf": found[1] if found else "", "project": project, "prompt": prompt})
        status, _ = _call(self._port, "POST", "/talk", form, {**self._headers, **_FORM})
        return status == 303

    def settle(self, wish: Wish) -> bool | None:
        path = f"/asks/{wish.ask.id}"
        status, shown = _call(self._port, "GET", path, "", self._headers)
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
        if status != 200:
            # Nothing was said.
            return False if status == 404 else None
        said = {
            "answer": {"q0": "own", "q0-own": wish.mark, "settle": "answer"},
            "reject": {"reason": wish.mark, "settle": "reject"},
            "deny": {"q0-note": wish.mark, "settle": "deny"},
        }[wish.what]
        status, _ = _call(self._port, "POST", path, urlencode({**hidden, **said}), {**self._headers, **_FORM})
        return {303: True, 409: False, 422: False}.get(status)


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Shown:
    headers: list[tuple[str, str]]
    text: str


def _cookies(shown: Shown) -> str:
    return "; ".join(value.partition(";")[0] for name, value in shown.headers if name.lower() == "set-cookie")


def _call(port: int, method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, Shown]:
    """The status, 0 where nobody knows."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request(method, path, body or None, {**_COMMON, **headers})
        reply = connection.getresponse()
        return reply.status, Shown(reply.getheaders(), reply.read().decode(errors="replace"))
    except (OSError, http.client.HTTPException):
        return 0, Shown([], "")
    finally:
        connection.close()


def _by_desk(desks: Desks, wish: Wish, name: str) -> bool | None:
    ask, by = wish.ask, Settler(person=name, surface="proof")
    work: dict[str, Callable[[], Any]] = {
        "answer": lambda: desks.asks.answer(ask.id, [Answer(question=ask.questions[0].id, text=wish.mark)], by),
        "reject": lambda: desks.asks.reject(ask.id, wish.mark, by),
        "deny": lambda: desks.permissions.deny(ask.id, by, wish.mark),
    }
    try:
        work.get(wish.what, lambda: desks.permissions.allow(ask.id, wish.digest, by))()
    except (AlreadySettled, NotFound, InvalidInput):
        return False
    except SaysoError:
        return None
    return True


def main(folder: str, epoch: str, name: str, life: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt):
        Person(Ground(Path(folder)), Path(epoch), name, life).work()


if __name__ == "__main__":
    main(*sys.argv[1:])
