"""The search in the history by an index, the same for both stores.

The asks that have ended stand in blocks, in the order in which they ended. For each block it is kept which of its asks
have which one, two or three letters in a row. A search looks up the rarest letters of what is wanted, and reads only
the asks that have all of them. What is in no block is read through, so everything is found, however much is indexed.

Whatever is deleted, wiped or answered late takes its whole block out of the index (`table.py`), at once and with every
letter; it is made anew when the index next grows. So no text stays here longer than its ask has it.
"""

from __future__ import annotations

import threading
from binascii import a2b_base64, b2a_base64
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from sayso.clock import FAR_FUTURE
from sayso.errors import StoreError
from sayso.records import record
from sayso.store import Row, Store, Transaction

BLOCK = 2048
"""Asks in a block."""
LAG_MS = 600_000
"""What ended so lately is not indexed yet: on another machine a transaction that began before may not be over."""
_BATCHES = (16, 112, 1 << 30)
"""How many blocks are looked at together: the newest first, because what is common is found in them."""
_MOST_GRAMS = 6_000
"""Of one ask. One with more of them is read at every search."""
_FEW = 24
"""So many members are kept one by one, more of them as a bit for each ask of the block."""
_MANY = BLOCK // 4
"""So many say nothing about an ask that is wanted."""
_ALL = (1 << BLOCK) - 1
_LOOKED_UP, _ASKED, _FETCHED = 4, 9, 16
"""How many of its grams words are looked up by, how many a query asks for with project and person, and how many asks
are fetched at once."""
_STEP = 2_000
"""How many grams are kept in one transaction."""
_PAUSE = 0.1
"""Seconds between two blocks, for whoever wants to write."""

_LONG, _PROJECT, _OWNER, _DECIDER = "\x01", "\x02", "\x03", "\x04"
"""Letters that stand in no text: an ask that is too long, and to whom it belongs."""
_COMMON = " etaoinsrhldcumfpgwybvkxjqz"

Place = tuple[int, str]
"""Of an ask in the history: when it ended, and its id."""
NEWEST: Place = (FAR_FUTURE, "")
OLDEST: Place = (-1, "")


@record
class Wanted:
    """What is looked for in the history: words as `rows.searchable` makes them, and the pattern that finds them."""

    words: str
    pattern: str | None
    project: str | None
    person: str | None

    @property
    def narrow(self) -> bool:
        return bool(self.words) or self.project is not None or self.person is not None

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"pattern": self.pattern, "project": self.project, "person": self.person}


@record
class _Block:
    number: int
    after: Place
    last: Place


def find(tx: Transaction, wanted: Wanted, before: Place, most: int) -> list[Row]:
    """The newest asks that ended before that one and are wanted."""
    blocks = _blocks(tx) if wanted.narrow else []
    tx.look_up()
    if not blocks:
        return _read_through(tx, wanted, OLDEST, before, most)
    found: list[Row] = []
    end = before
    for run in _in_batches(blocks):
        if len(found) < most and run[-1].last < end:
            # What lies between this and what was looked at already is in no block.
            found += _read_through(tx, wanted, run[-1].last, end, most - len(found))
        if len(found) < most and run[0].after < end:
            found += _looked_up(tx, wanted, run, end, most - len(found))
        end = min(end, _following(run[0].after))
        if len(found) >= most:
            return found
    return found + _read_through(tx, wanted, OLDEST, end, most - len(found))


def _following(place: Place) -> Place:
    """What comes before this is that place and all before it."""
    return place[0], f"{place[1]}~"


def _read_through(tx: Transaction, wanted: Wanted, after: Place, before: Place, most: int) -> list[Row]:
    return tx.all("history", **wanted.parameters, **_between(after, before), most=most)


def _between(after: Place, before: Place) -> dict[str, object]:
    return {"after_time": after[0], "after_id": after[1], "before_time": before[0], "before_id": before[1]}


def _in_batches(blocks: Sequence[_Block]) -> Iterator[Sequence[_Block]]:
    """Runs of blocks that follow each other without a gap, newest first, each from old to new."""
    batch: list[_Block] = []
    sizes = iter(_BATCHES)
    size = next(sizes)
    for block in reversed(blocks):
        if batch and (batch[-1].after != block.last or len(batch) >= size):
            size = next(sizes, size) if len(batch) >= size else size
            yield batch[::-1]
            batch = []
        batch.append(block)
    if batch:
        yield batch[::-1]


def _looked_up(tx: Transaction, wanted: Wanted, run: Sequence[_Block], before: Place, most: int) -> list[Row]:
    run = [block for block in run if block.after < before]
    members = _members(tx, wanted, run)
    found: list[Row] = []
    waiting: list[int] = []
    for block in reversed(run):
        numbers = list(_numbers(members.get(block.number, 0), block.number))
        if len(numbers) > _MANY:
            found += _fetched(tx, wanted, run, before, waiting)
            waiting = []
            found += _read_through(tx, wanted, block.after, min(before, _following(block.last)), most)
        else:
            waiting += numbers
            if len(waiting) >= max(_FETCHED, most - len(found)):
                found += _fetched(tx, wanted, run, before, waiting)
                waiting = []
        if len(found) >= most:
            return found[:most]
    return (found + _fetched(tx, wanted, run, before, waiting))[:most]


def _fetched(tx: Transaction, wanted: Wanted, run: Sequence[_Block], before: Place, numbers: list[int]) -> list[Row]:
    """Those of these asks that are wanted. One that has ended anew since is found where it stands now."""
    rows = list[Row]()
    for begin in range(0, len(numbers), _FETCHED):
        part = numbers[begin : begin + _FETCHED]
        named = _named("number", part, _FETCHED)
        rows += tx.all("history_members", **named, **wanted.parameters, before_time=before[0], before_id=before[1])
    places = {block.number: block for block in run}
    standing = [row for row in rows if _stands_in(row, places[row["number"] // BLOCK])]
    return sorted(standing, key=_place, reverse=True)


def _stands_in(row: Row, block: _Block) -> bool:
    return block.after < _place(row) <= block.last


def _place(row: Row) -> Place:
    return row["ended_at"], row["id"]


def _members(tx: Transaction, wanted: Wanted, run: Sequence[_Block]) -> dict[int, int]:
    """For each block which of its asks may be wanted, as bits."""
    grams = rarest(wanted.words)
    all_of = [*grams, *([_PROJECT + wanted.project] if wanted.project is not None else [])]
    one_of = [] if wanted.person is None else [_OWNER, _OWNER + wanted.person, _DECIDER + wanted.person]
    asked = [*all_of, *one_of, *([_LONG] if grams else [])]
    named = _named("gram", asked, _ASKED)
    known: dict[int, dict[str, int]] = {block.number: {} for block in run}
    for row in tx.all("history_grams", oldest=run[0].last[0], newest=run[-1].last[0], **named):
        if row["block"] in known:
            known[row["block"]][row["gram"]] = _bits(row["members"])
    return {block: _meant(bits, grams, all_of[len(grams) :], one_of) for block, bits in known.items()}


def _named(what: str, values: Sequence[object], count: int) -> dict[str, object]:
    """So many parameters of a query, whether there are so many values or not."""
    letters = "abcdefghijklmnop"[:count]
    return {f"{what}_{letter}": value for letter, value in zip_longest(letters, values, fillvalue=values[-1])}


def _meant(bits: Mapping[str, int], grams: Iterable[str], all_of: Iterable[str], one_of: Sequence[str]) -> int:
    meant = _ALL
    for gram in grams:
        meant &= bits.get(gram, 0)
    meant |= bits.get(_LONG, 0)
    for gram in all_of:
        meant &= bits.get(gram, 0)
    if one_of:
        meant &= bits.get(one_of[0], 0) | bits.get(one_of[1], 0) | bits.get(one_of[2], 0)
    return meant


def _numbers(bits: int, block: int) -> Iterator[int]:
    """The asks of a block, newest first."""
    while bits:
        highest = bits.bit_length() - 1
        yield block * BLOCK + highest
        bits ^= 1 << highest


# Letters


def rarest(words: str) -> list[str]:
    """By which letters in a row these words are looked up."""
    size = min(len(words), 3)
    grams = {words[at : at + size] for at in range(len(words) - size + 1)} if words else set()
    return sorted(grams, key=lambda gram: (-sum(map(_rarity, gram)), gram))[:_LOOKED_UP]


def _rarity(letter: str) -> int:
    return _COMMON.find(letter) if letter in _COMMON else 20


def grams_of(row: Row) -> set[str]:
    """All by which an ask is found."""
    words: str = row["words"]
    grams = {words[at : at + size] for size in (1, 2, 3) for at in range(len(words) - size + 1)}
    if len(grams) > _MOST_GRAMS:
        grams = {_LONG}
    deciders = {_DECIDER + name for name in row["deciders"].split(",") if name}
    return grams | deciders | {_PROJECT + row["project"], _OWNER + row["owner"]}


def _kept(slots: Sequence[int]) -> str:
    if len(slots) > _MANY:
        return "*"
    if len(slots) <= _FEW:
        return ",".join(map(str, slots))
    return "#" + b2a_base64(sum(1 << slot for slot in slots).to_bytes(BLOCK // 8), newline=False).decode()


def _bits(kept: str) -> int:
    if kept == "*":
        return _ALL
    if kept.startswith("#"):
        return int.from_bytes(a2b_base64(kept[1:]))
    return sum(1 << int(slot) for slot in kept.split(","))


# Growing


def grow(store: Store, now: Callable[[], int], ending: threading.Event) -> int:
    """Index what is not indexed yet, a block at a time, until `ending` is set. How many blocks were made."""
    made = 0
    if store.all("unfinished_history_blocks"):
        store.write(_drop_unfinished)
    while not ending.is_set() and (gap := store.read(lambda tx: _next_gap(tx, now()))):
        if not _make_block(store, gap, ending):
            break  # for another time
        made += 1
        ending.wait(_PAUSE)
    return made


@record
class _Gap:
    """What is in no block, of all that ended after one place up to another: the first of its asks."""

    after: Place
    last: Place
    asks: Sequence[Row]

    @property
    def end(self) -> Place:
        return _place(self.asks[-1]) if len(self.asks) == BLOCK else self.last


def _next_gap(tx: Transaction, now: int) -> _Gap | None:
    blocks, lately = _blocks(tx), (now - LAG_MS, "")
    bounds = [OLDEST, *(block.last for block in blocks)], [*(block.after for block in blocks), lately]
    for after, last in zip(*bounds, strict=True):
        if after < last:
            asks = _asks_in(tx, after, last)
            # What is not enough for a block waits until it is; a hole between two blocks is filled with what there is.
            if len(asks) == BLOCK or last != lately:
                return _Gap(after=after, last=last, asks=asks)
    return None


def _asks_in(tx: Transaction, after: Place, last: Place) -> list[Row]:
    bounds = {"after_time": after[0], "after_id": after[1], "last_time": last[0], "last_id": last[1]}
    return tx.all("history_to_index", **bounds, most=BLOCK)


def _grams_of_block(asks: Sequence[Row]) -> list[tuple[str, str]]:
    members: defaultdict[str, list[int]] = defaultdict(list)
    for slot, row in enumerate(asks):
        for gram in grams_of(row):
            members[gram].append(slot)
    return sorted((gram, _kept(slots)) for gram, slots in members.items())


def _make_block(store: Store, gap: _Gap, ending: threading.Event) -> bool:
    """Keep a block, in steps so small that nobody waits for them. From the first one on, whatever changes in it drops
    it (`forget`), and so does another process that begins; then, or when it is to end, it is left for another time."""
    grams = _grams_of_block(gap.asks)
    try:
        block = store.write(lambda tx: _begun(tx, gap))
        for begin in range(0, len(grams), _STEP):
            part = grams[begin : begin + _STEP]
            if not block or ending.is_set() or not store.write(lambda tx: _put(tx, block, part)):  # noqa: B023
                return False
        return bool(block) and store.write(lambda tx: _finished(tx, block))
    except StoreError:
        return False  # another process makes the same one, or the store has other troubles


def _begun(tx: Transaction, gap: _Gap) -> int:
    """The number of a new block; 0 if something in it has changed meanwhile or another process was faster."""
    tx.wake_only()  # no process waits for an ask because of it
    blocks = _blocks(tx, finished=0)
    if any(block.after < gap.end and block.last > gap.after for block in blocks):
        return 0
    if _versions(_asks_in(tx, gap.after, gap.last)) != _versions(gap.asks):
        return 0
    block = max((each.number for each in blocks), default=0) + 1
    after, end = gap.after, gap.end
    row = {"block": block, "after_time": after[0], "after_id": after[1], "last_time": end[0], "last_id": end[1]}
    tx.put_rows("history_blocks", [{**row, "finished": 0}])
    slots = enumerate(gap.asks)
    tx.put_rows("history_members", ({"number": block * BLOCK + slot, "ask_id": ask["id"]} for slot, ask in slots))
    return block


def _put(tx: Transaction, block: int, grams: Sequence[tuple[str, str]]) -> bool:
    tx.wake_only()
    # A change, though to what it is already: whoever drops the block at the same moment waits for this, or this for it.
    if not tx.run("finish_history_block", block=block, finished=0):
        return False
    tx.put_rows("history_grams", ({"block": block, "gram": gram, "members": kept} for gram, kept in grams))
    return True


def _finished(tx: Transaction, block: int) -> bool:
    tx.wake_only()
    return bool(tx.run("finish_history_block", block=block, finished=1))


def _versions(asks: Sequence[Row]) -> list[tuple[str, int]]:
    return [(row["id"], row["version"]) for row in asks]


def _blocks(tx: Transaction, finished: int = 1) -> list[_Block]:
    """Those that are finished; with 0, the others too."""
    return [
        _Block(
            number=row["block"],
            after=(row["after_time"], row["after_id"]),
            last=(row["last_time"], row["last_id"]),
        )
        for row in tx.all("history_blocks", finished=finished)
    ]


# Forgetting


def _drop_unfinished(tx: Transaction) -> None:
    """What a process has begun that has ended since."""
    tx.wake_only()
    forget(tx, tx.all("unfinished_history_blocks"))


def forget(tx: Transaction, blocks: Iterable[Row]) -> None:
    """Drop these blocks, with all that was known of their asks."""
    for row in blocks:
        number = row["block"]
        tx.run("drop_history_block", block=number)
        tx.run("drop_history_grams", block=number)
        tx.run("drop_history_members", first=number * BLOCK, beyond=(number + 1) * BLOCK)
