"""How much one agent may have open: it is counted, and where there is much room, not each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.asks.samples import AGENT, ask

from sayso.asks import quota
from sayso.asks.desk import AskDesk
from sayso.errors import TooManyOpen
from sayso.records import replace
from sayso.store.sqlite import SqliteStore, SqliteTransaction

MOST = 3000
ASKER = replace(AGENT, agent="a-token")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was counted; a count is believed for longer than the test takes."""
    seen, all_of = list[str](), SqliteTransaction.all

    def noted(self: SqliteTransaction, query: str, /, **parameters: object) -> object:
        if query == "open_asks_of":
            seen.append(query)
        return all_of(self, query, **parameters)

    monkeypatch.setattr(SqliteTransaction, "all", noted)
    monkeypatch.setattr(quota, "_BELIEVED_SECONDS", 600.0)
    return seen


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore.in_memory()) as store:
        yield store


def put(desk: AskDesk, number: int) -> None:
    desk.leave(ask(f"Question {number}?", asker=ASKER))


def test_a_count_that_leaves_much_room_is_believed_for_a_thousandth_of_it(
    store: SqliteStore, counted: list[str]
) -> None:
    desk = AskDesk(store, most_open=MOST)
    for number, count in enumerate((1, 1, 1, 1, 2, 2, 2, 3)):
        put(desk, number)
        assert len(counted) == count


def test_a_count_is_believed_only_for_a_moment(
    store: SqliteStore, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota, "_BELIEVED_SECONDS", 0.0)
    desk = AskDesk(store, most_open=MOST)
    for number in range(3):
        put(desk, number)
    assert len(counted) == 3


def test_nobody_gets_beyond_the_most_by_asking_for_one_agent_through_several_desks(
    store: SqliteStore, counted: list[str]
) -> None:
    most = 1020
    desks = [AskDesk(store, most_open=most) for _ in range(4)]
    for number in range(most):
        put(desks[number % 4], number)
    for desk in desks:
        with pytest.raises(TooManyOpen, match=f"You have {most} questions open, and {most} is the most"):
            put(desk, most)
