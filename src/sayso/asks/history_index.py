"""The search in the history by an index, the same for both stores.

The asks that have ended stand in blocks, in the order in which they ended. For each block it is kept which of its asks
have which one, two or three letters in a row. A search looks up the rarest letters of what is wanted, and reads only
the asks that have all of them. What is in no block is read through, so everything is found, however much is indexed.
Blocks that have stood for a while are merged, so that few are looked at however long the history is.

Whatever is deleted, wiped or answered late takes its whole block out of the index (`table.py`), at once and with every
letter; it is made anew when the index next grows. So no text stays here longer than its ask has it.
"""

from __future__ import annotations

import struct
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import zip_longest
from operator import or_

from sayso.clock import FAR_FUTURE
from sayso.records import record
from sayso.store import Row, Transaction

BLOCK = 2048
"""Asks in a block, at most; a merged one takes the place of several."""
_BATCHES = (16, 112, 1 << 30)
"""How many blocks are looked at together: the newest first, because what is common is found in them."""
_MOST_GRAMS = 6_000
"""Of one ask. One with more of them is read at every search."""
_FEW, _MANY = 1 / 32, 1 / 4
"""Of a block: up to so many members are kept one by one, others as a bit for each ask; more say nothing at all."""
_LOOKED_UP, _ASKED, _FETCHED = 4, 9, 16
"""How many of a word's n-grams it is looked up by, how many a query asks for with project and person, and how many asks
are fetched at once."""

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
class HistoryBlock:
    number: int
    """Of its first unit."""
    units: int
    """Blocks of the usual size in whose place it stands; the numbers up to the next block's are its own too."""
    after: Place
    last: Place

    @property
    def size(self) -> int:
        return self.units * BLOCK

    def follows(self, other: HistoryBlock) -> bool:
        """Whether nothing lies between them."""
        return self.after == other.last


def find(tx: Transaction, wanted: Wanted, before: Place, most: int) -> list[Row]:
    """The newest asks that ended before that one and are wanted."""
    blocks = finished_blocks(tx) if wanted.narrow else []
    tx.look_up()
    if not blocks:
        return _read_through(tx, wanted, OLDEST, before, most)
    found: list[Row] = []
    end = before
    for run in _in_batches(blocks):
        if len(found) < most and _following(run[-1].last) < end:
            # What lies between this and what was looked at already is in no block.
            found += _read_through(tx, wanted, run[-1].last, end, most - len(found))
        if len(found) < most and run[0].after < end:
            found += _looked_up(tx, wanted, run, end, most - len(found))
        end = min(end, _following(run[0].after))
        if len(found) >= most:
            return found
    return found if end <= _following(OLDEST) else found + _read_through(tx, wanted, OLDEST, end, most - len(found))


def _following(place: Place) -> Place:
    """What comes before this is that place and all before it."""
    return place[0], f"{place[1]}~"


def _read_through(tx: Transaction, wanted: Wanted, after: Place, before: Place, most: int) -> list[Row]:
    return tx.all("history", **wanted.parameters, **_between(after, before), most=most)


def _between(after: Place, before: Place) -> dict[str, object]:
    return {"after_time": after[0], "after_id": after[1], "before_time": before[0], "before_id": before[1]}


def _in_batches(blocks: Sequence[HistoryBlock]) -> Iterator[Sequence[HistoryBlock]]:
    """Runs of blocks that follow each other without a gap, newest first, each from old to new."""
    batch: list[HistoryBlock] = []
    sizes = iter(_BATCHES)
    size = next(sizes)
    for block in reversed(blocks):
        if batch and (not batch[-1].follows(block) or len(batch) >= size):
            size = next(sizes, size) if len(batch) >= size else size
            yield batch[::-1]
            batch = []
        batch.append(block)
    if batch:
        yield batch[::-1]


def _looked_up(tx: Transaction, wanted: Wanted, run: Sequence[HistoryBlock], before: Place, most: int) -> list[Row]:
    run = [block for block in run if block.after < before]
    members = _members(tx, wanted, run)
    places = {block.number + unit: block for block in run for unit in range(block.units)}
    found: list[Row] = []
    waiting: list[int] = []
    for block in reversed(run):
        bits = members[block.number]
        if bits.bit_count() > block.size * _MANY:
            found += _fetched(tx, wanted, places, before, waiting)
            waiting = []
            found += _read_through(tx, wanted, block.after, min(before, _following(block.last)), most)
            bits = 0
        for number in _numbers(bits, block.number):
            waiting.append(number)
            if len(waiting) == _FETCHED:
                found += _fetched(tx, wanted, places, before, waiting)
                waiting = []
                if len(found) >= most:
                    break
        if len(found) >= most:
            return found[:most]
    return (found + _fetched(tx, wanted, places, before, waiting))[:most]


def _fetched(
    tx: Transaction, wanted: Wanted, places: Mapping[int, HistoryBlock], before: Place, numbers: list[int]
) -> list[Row]:
    """Those of these asks that are wanted. One that has ended anew since is found where it stands now."""
    if not numbers:
        return []
    named = _named("number", numbers, _FETCHED)
    rows = tx.all("history_members", **named, **wanted.parameters, before_time=before[0], before_id=before[1])
    standing = [row for row in rows if _stands_in(row, places[row["number"] // BLOCK])]
    return sorted(standing, key=place_of, reverse=True)


def _stands_in(row: Row, block: HistoryBlock) -> bool:
    return block.after < place_of(row) <= block.last


def place_of(row: Row) -> Place:
    return row["ended_at"], row["id"]


def _members(tx: Transaction, wanted: Wanted, run: Sequence[HistoryBlock]) -> dict[int, int]:
    """For each block which of its asks may be wanted, as bits."""
    grams = rarest(wanted.words)
    all_of = [*grams, *([_PROJECT + wanted.project] if wanted.project is not None else [])]
    one_of = [] if wanted.person is None else [_OWNER, _OWNER + wanted.person, _DECIDER + wanted.person]
    asked = [*all_of, *one_of, *([_LONG] if grams else [])]
    named = _named("gram", asked, _ASKED)
    known: dict[int, dict[str, str]] = {block.number: {} for block in run}
    for row in tx.all("history_grams", oldest=run[0].last[0], newest=run[-1].last[0], **named):
        if row["block"] in known:
            known[row["block"]][row["gram"]] = row["members"]
    narrow = all_of[len(grams) :]
    return {block.number: _meant(known[block.number], block.size, grams, narrow, one_of) for block in run}


def _named(what: str, values: Sequence[object], count: int) -> dict[str, object]:
    """So many parameters of a query, whether there are so many values or not."""
    letters = "abcdefghijklmnop"[:count]
    return {f"{what}_{letter}": value for letter, value in zip_longest(letters, values, fillvalue=values[-1])}


def _meant(
    kept: Mapping[str, str], size: int, grams: Iterable[str], all_of: Iterable[str], one_of: Sequence[str]
) -> int:
    def having(gram: str) -> int:
        return _number(_bits(kept.get(gram, ""), size))

    meant = _in_all([kept.get(gram, "") for gram in grams], size) | having(_LONG)
    for gram in all_of:
        meant = meant and meant & having(gram)
    if one_of and meant:
        meant &= reduce(or_, map(having, one_of))
    return meant


def _in_all(members: Iterable[str], size: int) -> int:
    """Which asks of a block are in all of these, as bits."""
    bits, slots = (1 << size) - 1, None
    # What takes fewer letters is quicker to read, and often leaves nothing. Those kept one by one come first.
    for kept in sorted(members, key=len):
        if kept.startswith(("#", "*")):
            bits &= _number(_bits(kept, size))
        else:
            slots = set(_listed(kept)) if slots is None else slots.intersection(_listed(kept))
            if not slots:
                return 0
    return bits if slots is None else bits & _number(_as_bits(slots, size))


def _number(bits: bytes) -> int:
    return int.from_bytes(bits, "little")


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


def kept(slots: Sequence[int], size: int) -> str:
    """How these members of a block of that size are kept, from the first to the last."""
    if len(slots) > size * _MANY:
        return "*"
    if len(slots) > max(1, size * _FEW):
        return "#" + _as_text(_as_bits(slots, size))
    return "." + _as_text(struct.pack(f"<{len(slots)}H", *slots))


def kept_merged(units: Mapping[int, str], count: int) -> str:
    """The same for so many blocks that become one; by number, how each of them that has any kept its members."""
    if all(kept.startswith(".") for kept in units.values()):
        return kept([unit * BLOCK + slot for unit in sorted(units) for slot in _listed(units[unit])], count * BLOCK)
    none = bytes(BLOCK // 8)
    bits = b"".join(_bits(units[unit], BLOCK) if unit in units else none for unit in range(count))
    return "*" if int.from_bytes(bits).bit_count() > count * BLOCK * _MANY else "#" + _as_text(bits)


def _bits(kept: str, size: int) -> bytes:
    """A bit for each ask of a block of that size, for what was kept so; all, where it says nothing."""
    if kept == "*":
        return b"\xff" * (size // 8)
    return a2b_base64(kept[1:]) if kept.startswith("#") else _as_bits(_listed(kept), size)


def _listed(kept: str) -> Sequence[int]:
    listed = a2b_base64(kept[1:])
    return struct.unpack(f"<{len(listed) // 2}H", listed)


def _as_bits(slots: Iterable[int], size: int) -> bytes:
    bits = bytearray(size // 8)
    for slot in slots:
        bits[slot >> 3] |= 1 << (slot & 7)
    return bytes(bits)


def _as_text(members: bytes) -> str:
    return b2a_base64(members, newline=False).decode()


# Blocks


def finished_blocks(tx: Transaction) -> list[HistoryBlock]:
    return [block_of(row) for row in tx.all("history_blocks", finished=1)]


def block_of(row: Row) -> HistoryBlock:
    return HistoryBlock(
        number=row["block"],
        units=row["units"],
        after=(row["after_time"], row["after_id"]),
        last=(row["last_time"], row["last_id"]),
    )


def forget(tx: Transaction, query: str, **which: object) -> None:
    """Drop the blocks that the query finds, with all that was known of their asks, and those that have come in their
    place by then."""
    while rows := tx.all(query, **which):
        for row in sorted(
            rows, key=lambda row: row["block"]
        ):  # in the order in which they are merged: no two wait in a ring
            drop(tx, row["block"], row["units"])


def drop(tx: Transaction, number: int, units: int) -> None:
    tx.run("drop_history_block", block=number)
    tx.run("drop_history_grams", block=number)
    tx.run("drop_history_members", first=number * BLOCK, beyond=(number + units) * BLOCK)
