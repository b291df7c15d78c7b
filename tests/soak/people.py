"""The people of a soak: they see the inbox and settle what is in it, each on a surface of their own, often two at once.

Whatever somebody says is said once in the whole soak, so that every answer can be traced to the moment it was given.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.e2e.stdio.harness import Place
from tests.soak.plan import Manner

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Settler
from sayso.errors import AlreadySettled, NotFound, SaysoError
from sayso.store import open_store

PAUSE = 0.1
SLOW_SECONDS = 3.0
"""How long people leave a question open that is to be answered late."""

HTTP_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True)
class Said:
    """What somebody said to an ask. `heard` is None where they could not know whether it was taken."""

    ask: str
    person: str
    mark: str
    rejects: bool
    heard: bool | None


Settle = Callable[[Ask, str, bool], bool | None]


class Person:
    """One person. `surface` is how they settle: `desk`, `cli` or `api`."""

    def __init__(self, name: str, surface: str, place: Place, seed: int, web: Callable[[], tuple[int, str]]) -> None:
        self.name, self.said = name, list[Said]()
        self._place, self._web = place, web
        self._chance = random.Random(f"{seed} {name}")
        self._seen: dict[str, float] = {}
        self._settle: Settle = {"desk": self._by_desk, "cli": self._by_cli, "api": self._by_api}[surface]
        self._store = open_store(place.config())
        self.desk = AskDesk(self._store)

    def work(self, over: threading.Event) -> None:
        """Answer until everyone has what they wanted."""
        while not over.is_set():
            try:
                self.look()
            except SaysoError:
                # The store is away: so is the inbox.
                over.wait(PAUSE)
            over.wait(self._chance.uniform(0, PAUSE))

    def look(self) -> bool:
        """Settle one of the oldest asks; False if there is none that is due."""
        due = [ask for ask in self.desk.inbox(most=8) if self._is_due(ask)]
        if not due:
            return False
        ask = self._chance.choice(due)
        mark, rejects = f"{self.name} said {len(self.said)}", self._chance.random() < 0.2
        heard = self._settle(ask, mark, rejects)
        self.said.append(Said(ask=ask.id, person=self.name, mark=mark, rejects=rejects, heard=heard))
        return True

    def close(self) -> None:
        self._store.close()

    def _is_due(self, ask: Ask) -> bool:
        seen = self._seen.setdefault(ask.id, time.monotonic())
        slow = ask.questions[0].text.startswith(Manner.SLOW)
        return not slow or time.monotonic() - seen > SLOW_SECONDS

    def _by_desk(self, ask: Ask, mark: str, rejects: bool) -> bool | None:
        by = Settler(person=self.name, surface="test")
        try:
            if rejects:
                self.desk.reject(ask.id, mark, by)
            else:
                self.desk.answer(ask.id, [Answer(question=ask.questions[0].id, text=mark)], by)
        except (AlreadySettled, NotFound):
            return False
        except SaysoError:
            return None
        return True

    def _by_cli(self, ask: Ask, mark: str, rejects: bool) -> bool | None:
        try:
            done = self._place.run(*(["reject", ask.id, "--reason", mark] if rejects else ["answer", ask.id, mark]))
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0:
            return True
        return False if re.search("lready|no longer", done.stderr) else None

    def _by_api(self, ask: Ask, mark: str, rejects: bool) -> bool | None:
        port, token = self._web()
        answers = {"answers": [{"question": ask.questions[0].id, "text": mark}]}
        path, body = ("reject", {"reason": mark}) if rejects else ("answer", answers)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HTTP_SECONDS)
        try:
            connection.request("POST", f"/api/asks/{ask.id}/{path}", json.dumps(body), headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        assert status in (200, 409, 500, 503, 507), f"the API said {status} to {path}"
        return {200: True, 409: False}.get(status)
