"""A clock that leaps ahead: nothing that is kept counts as old by it at once."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.asks.samples import ANNA, DAY, HOUR, RED, ask

from sayso.asks.desk import AskDesk, CleanedUp
from sayso.clock import now_ms
from sayso.config import load
from sayso.desks import Desks
from sayso.store import Store
from sayso.store.leaps import leapt

NOW = 1_800_000_000_000
YEAR = 365 * DAY


def test_a_clock_that_goes_on_as_clocks_do_is_believed(store: Store) -> None:
    assert [leapt(store, NOW + later) for later in (0, 1, HOUR, DAY, 3 * DAY, 5 * DAY)] == [0] * 6


def test_a_leap_counts_once_the_clock_has_said_so_for_a_day(store: Store) -> None:
    leapt(store, NOW)
    ahead = NOW + YEAR
    assert leapt(store, ahead) == YEAR
    assert leapt(store, ahead + 23 * HOUR) == YEAR + 23 * HOUR
    assert leapt(store, ahead + DAY) == 0
    assert leapt(store, ahead + 2 * DAY) == 0


def test_a_clock_that_is_set_right_again_was_never_believed(store: Store) -> None:
    leapt(store, NOW)
    assert leapt(store, NOW + YEAR) == YEAR
    assert leapt(store, NOW + HOUR) == 0, "another machine, or this one after a moment"
    assert leapt(store, NOW + YEAR + 2 * DAY) == YEAR + 2 * DAY - HOUR


def test_a_clock_that_is_set_back_is_believed_and_a_leap_is_counted_from_there(store: Store) -> None:
    leapt(store, NOW)
    assert leapt(store, NOW - YEAR) == 0
    assert leapt(store, NOW) == YEAR


def test_an_answer_that_nobody_has_fetched_outlives_a_leap_of_the_clock(store: Store, tmp_path: Path) -> None:
    now, before = now_ms(), now_ms() - YEAR
    leapt(store, before)
    desk = AskDesk(store, clock=lambda: before)
    answered, left = desk.leave(ask()), desk.leave(ask("Other?"))
    desk.answer(answered.id, RED, ANNA)
    desks = Desks(load(environ={"HOME": str(tmp_path)}, cwd=tmp_path), store)
    assert desks.clean_up(threading.Event()) == CleanedUp(expired=0, deleted=0)
    assert desks.asks.get(answered.id).outcome
    assert desks.asks.get(left.id).state.answerable
    leapt(store, before)
    leapt(store, now - DAY)
    assert desks.clean_up(threading.Event()) == CleanedUp(expired=1, deleted=1), "it was said for a day"
