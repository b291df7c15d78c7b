"""What a person is told of who looks at no inbox, however much waits for them already."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.asks.samples import COLOUR
from tests.conftest import OpenStore

from sayso.asks.desk import Held
from sayso.asks.model import Asker, NewAsk
from sayso.clock import now_ms
from sayso.config import load
from sayso.desks import Desks
from sayso.newly_asked import MOST_ASKS, NewlyAsked


class Watched:
    """A store with many agents, and whoever looks what ada is to be told of."""

    def __init__(self, desks: Desks) -> None:
        self.desks = desks
        self._looks = NewlyAsked("here", desks.config, desks.asks, desks.presence, desks.claim)

    def hold(self, number: int, owner: str = "") -> Held:
        """One agent of many asks, and waits."""
        asker = Asker(client=f"agent-{number}", project=f"/home/ada/{number}", owner=owner)
        return self.desks.asks.hold(NewAsk(tool="ask_user", questions=(COLOUR,), asker=asker))

    def told(self, since: int) -> tuple[list[str], float]:
        news = self._looks.look("ada", "", since, looks=False)
        return [ask.id for ask in news.asks], news.wait


@pytest.fixture
def watched(open_shared: OpenStore, tmp_path: Path) -> Watched:
    config = load(environ={"SAYSO_STATE_DIR": str(tmp_path), "SAYSO_NOTIFY_AFTER_TYPING": "1ms"}, cwd=tmp_path)
    return Watched(Desks(config, open_shared()))


def test_the_newest_question_is_told_however_many_agents_wait_already(watched: Watched) -> None:
    before = [watched.hold(number).ask for number in range(MOST_ASKS + 1)]
    since = before[-1].created_at + 1
    while now_ms() < since:
        pass
    assert watched.told(since) == ([], 0.0)
    new = watched.hold(MOST_ASKS + 1, owner="ada").ask
    watched.hold(MOST_ASKS + 2, owner="ben")
    assert watched.told(since) == ([new.id], 0.0)
    assert watched.told(since) == ([], 0.0)


def test_of_very_many_new_questions_each_is_told_once_the_newest_first(watched: Watched) -> None:
    held = [watched.hold(number).ask for number in range(MOST_ASKS + 10)]
    asked = sorted(held, key=lambda ask: (ask.created_at, ask.id))
    first, wait = watched.told(0)
    assert set(first) == {ask.id for ask in asked[-MOST_ASKS:]}
    assert 0 < wait <= 1
    second, wait = watched.told(0)
    assert (set(second), wait) == ({ask.id for ask in asked[:10]}, 0.0)
