"""The search of the history finds the same with its index as without, and the index forgets what is gone."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from itertools import product

import pytest
from tests.asks.samples import ANNA, FakeClock, ask, own_text

from sayso.asks import history_index, history_indexer
from sayso.asks.desk import AskDesk, Retention
from sayso.asks.history_indexer import LAG_MS
from sayso.asks.model import Ask, Asker
from sayso.records import replace
from sayso.store import Row, Store, Transaction, tables

SMALL = 8
SYLLABLES = ["ka", "ko", "mi", "mo", "\u00fc", "\u00df", "!", "%_", "x", " "]
SEARCHES = [
    "",
    "k",
    "ka",
    "kam",
    "mo mi",
    "m",
    "\u00fc",
    "SS",
    "!",
    "%",
    "_x",
    "no such words",
    "kamoka",
    "\x01",
    "\x02/p",
]
INDEX = [table for table in tables() if table.startswith("history_")]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_index, "BLOCK", SMALL)
    monkeypatch.setattr(history_index, "_MANY", 3 / 8)
    monkeypatch.setattr(history_index, "_BATCHES", (1, 2, 100))
    monkeypatch.setattr(history_index, "_MOST_GRAMS", 150)
    monkeypatch.setattr(history_indexer, "BLOCK", SMALL)
    monkeypatch.setattr(history_indexer, "_MERGED", 2)
    monkeypatch.setattr(history_indexer, "_PAUSE", 0)
    monkeypatch.setattr(history_indexer, "_STEP", 20)


class History:
    """Asks that have ended, of many words, projects and people."""

    def __init__(self, desk: AskDesk, store: Store, clock: FakeClock) -> None:
        self.desk, self.store, self._clock = desk, store, clock
        self._chance, self._asked = random.Random(21), 0

    def grow(self, count: int) -> list[Ask]:
        return [self.add() for _ in range(count)]

    def add(self, words: str = "") -> Ask:
        chance = self._chance
        text = words or "".join(chance.choices(SYLLABLES, k=chance.choice([1, 3, 12, 40])))
        asker = Asker(client="an-agent", project=chance.choice(["/p", "/q"]), owner=chance.choice(["", "anna", "ben"]))
        self._asked += 1
        left = self.desk.leave(replace(ask(f"{text} {self._asked}?"), asker=asker))
        self._clock.now += chance.choice([0, 1, 1000])
        return self.desk.answer(left.id, own_text("".join(chance.choices(SYLLABLES, k=3)) + "."), ANNA)

    def index(self) -> int:
        self._clock.now += 2 * LAG_MS
        return self.desk.index_history()

    def found(self, *, every: int = 3) -> list[list[str]]:
        """What every search finds page by page: here one of everybody, there one of one project, or each of each."""
        ways = [(None, None, 9), ("/p", None, 100), (None, "ben", 9), ("/q", "nobody", 100), ("/nowhere", None, 100)]
        return [self._pages(search, *way) for search, way in list(product(SEARCHES, ways))[::every]]

    def _pages(self, search: str, project: str | None, person: str | None, most: int) -> list[str]:
        found, before = list[str](), None
        for _ in range(100):
            page = self.desk.history(search=search, project=project, person=person, before=before, most=most)
            found += [one.id for one in page]
            if len(page) < most:
                return found
            before = page[-1]
        raise AssertionError("it has no end")

    def letters(self) -> list[str]:
        return self.store.read(lambda tx: [row["gram"] for row in tx.rows("history_grams")])

    def units(self) -> list[int]:
        """How many blocks there are in each, from the oldest on."""
        return [row["units"] for row in self.store.read(lambda tx: tx.all("history_blocks", finished=0))]

    def is_empty(self) -> bool:
        return not self.store.read(lambda tx: [row for table in INDEX for row in tx.rows(table)])


@pytest.fixture
def history(desk: AskDesk, store: Store, clock: FakeClock) -> History:
    return History(desk, store, clock)


def test_the_same_is_found_with_the_index_half_of_it_and_none(history: History) -> None:
    history.grow(45)
    without = history.found(every=1)
    assert sum(map(len, without)) > 500
    assert history.index() == 5
    assert history.units() == [2, 1, 1, 1]
    assert history.found(every=1) == without
    left = history.grow(5)
    with_tail = history.found(every=1)
    history.index()
    assert history.found(every=1) == with_tail
    assert left[-1].id in with_tail[0]


def _of_middle(history: History) -> tuple[Ask, Ask]:
    asks = [*history.grow(15), history.add("The password is swordfish"), *history.grow(30)]
    assert history.index() == 5
    assert "swo" in history.letters()
    return asks[15], asks[16]


def _deleted(history: History, secret: Ask) -> None:
    history.desk.forget(secret.id, secret.tool)


def _wiped(history: History, secret: Ask) -> None:
    desk = AskDesk(history.store, keeps_history=lambda _: False, clock=history._clock)
    desk.lapse(secret.id)


@pytest.mark.parametrize("go", [_deleted, _wiped])
def test_nothing_of_what_is_deleted_or_wiped_stays_in_the_index(
    history: History, go: Callable[[History, Ask], None]
) -> None:
    secret, _ = _of_middle(history)
    go(history, secret)
    assert not {"swo", "wor", "ord", "rdf", "dfi"} & set(history.letters())
    assert history.desk.history(search="swordfish") == []
    found = history.found()
    history.index()
    assert history.found() == found
    assert not {"swo", "wor", "ord", "rdf", "dfi"} & set(history.letters())


def test_what_is_too_old_goes_from_the_index_in_the_same_moment(history: History) -> None:
    _of_middle(history)
    keep = Retention(ended=0, undelivered=0, unattended=10**12)
    history._clock.now += 1
    assert history.desk.clean_up(keep, threading.Event()).deleted == 46
    assert history.is_empty()


def test_what_ends_at_a_moment_that_is_indexed_already_is_found(history: History, clock: FakeClock) -> None:
    """The clock of another machine, or of this one before it was set, is behind."""
    asks = history.grow(40)
    assert history.index() == 5
    ended_at = asks[20].ended_at
    assert ended_at is not None
    clock.now = ended_at
    late = history.add("Quite another thing")
    assert late.id in {one.id for one in history.desk.history(search="another thing")}
    clock.now += 100 * LAG_MS
    found = history.found()
    assert history.index() == 2, "the one and the other half of what has become too large for one"
    assert history.found() == found


def test_what_ended_just_now_waits_to_be_indexed(history: History, desk: AskDesk) -> None:
    history.grow(20)
    assert desk.index_history() == 0


def test_two_who_index_at_once_make_each_block_once(history: History, store: Store, clock: FakeClock) -> None:
    history.grow(80)
    found = history.found()
    clock.now += 2 * LAG_MS
    threads = [threading.Thread(target=AskDesk(store, clock=clock).index_history) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    history.index()
    assert history.found() == found
    assert history.units() == [2, 2, 2, 2, 1, 1]
    members = store.read(lambda tx: [row["ask_id"] for row in tx.rows("history_members")])
    assert len(members) == len(set(members)) == 80


class _Killed(BaseException):
    pass


def _before_step(monkeypatch: pytest.MonkeyPatch, units: int, happens: Callable[[Transaction], object]) -> None:
    """Of those in which the first block of so many units is filled, the third."""
    put, steps = history_indexer._put, iter(range(1000))

    def then_put(tx: Transaction, block: int, grams: Sequence[tuple[str, str]]) -> bool:
        made = {row["block"]: row["units"] for row in tx.all("unfinished_history_blocks")}
        if made[block] == units and next(steps) == 2:
            happens(tx)
        return put(tx, block, grams)

    monkeypatch.setattr(history_indexer, "_put", then_put)


@pytest.mark.parametrize("units", [1, 2])
def test_a_block_that_nobody_finished_counts_for_nothing_and_is_made_anew(
    history: History, units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(tx: Transaction) -> None:
        raise _Killed

    history.grow(45)
    found = history.found()
    _before_step(monkeypatch, units, die)
    with pytest.raises(_Killed):
        history.index()
    assert history.letters()
    assert history.found() == found
    assert history.index() == (5 if units == 1 else 0)
    assert history.units() == [2, 1, 1, 1]
    assert history.found() == found


def test_what_changes_in_a_block_while_it_is_made_drops_it(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, *_ = [history.add("The password is swordfish"), *history.grow(10)]
    _before_step(monkeypatch, 1, lambda tx: _forget(tx, secret))
    assert history.index() == 0
    assert history.is_empty()
    assert history.index() == 1


def _forget(tx: Transaction, secret: Ask) -> None:
    history_index.forget(tx, "history_block_with", time=secret.ended_at, id=secret.id)


def test_what_changes_in_a_block_while_it_is_merged_drops_both(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, *_ = [history.add("The password is swordfish"), *history.grow(44)]
    found = history.found()
    _before_step(monkeypatch, 2, lambda tx: _forget(tx, secret))
    history.index()
    assert history.units() == [1, 1, 1, 1]
    assert "swo" not in history.letters()
    assert history.found() == found
    assert history.index() == 1
    assert history.units() == [2, 1, 1, 1]
    assert history.found() == found


def test_what_took_the_place_of_a_block_in_the_same_moment_is_dropped_with_it(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL one process can delete an ask while another merges the blocks around it."""
    secret, *_ = [history.add("The password is swordfish"), *history.grow(44)]
    history.index()
    assert history.units() == [2, 1, 1, 1]
    old = {"block": 99, "units": 1}

    class Late:
        """Looks on from before the merging."""

        def __init__(self, tx: Transaction) -> None:
            self._tx, self._first = tx, True

        def all(self, query: str, **which: object) -> Sequence[Row]:
            first, self._first = self._first, False
            return [old] if first else self._tx.all(query, **which)

        def run(self, query: str, **which: object) -> int:
            return self._tx.run(query, **which)

    history.store.write(lambda tx: _forget(Late(tx), secret))  # type: ignore[arg-type]
    assert history.units() == [1, 1, 1]
    assert "swo" not in history.letters()


def test_indexing_ends_when_it_is_told_to(history: History, desk: AskDesk, clock: FakeClock) -> None:
    history.grow(20)
    clock.now += 2 * LAG_MS
    ending = threading.Event()
    ending.set()
    assert desk.index_history(ending) == 0


@pytest.mark.parametrize("words", ["", "k", "ka", "kam", "kamomi"])
def test_words_are_looked_up_by_their_rarest_letters(words: str) -> None:
    grams = history_index.rarest(words)
    assert all(gram in words and len(gram) == min(3, len(words)) for gram in grams)
    assert bool(grams) is bool(words)
