"""Makes the blocks in which the history is searched (`history_index.py`), and merges those that have grown old."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from sayso.asks.history_index import (
    BLOCK,
    OLDEST,
    HistoryBlock,
    Place,
    block_of,
    drop,
    finished_blocks,
    grams_of,
    kept,
    kept_merged,
    place_of,
)
from sayso.errors import StoreError
from sayso.records import record
from sayso.store import Row, Store, Transaction

LAG_MS = 600_000
"""What ended so lately is not indexed yet: on another machine a transaction that began before may not be over."""
_MERGED = 16
"""How many blocks are merged into one, and how many of the newest are left alone: what is new still changes."""
_STEP = 2_000
"""How many grams are kept in one transaction."""
_PAUSE = 0.1
"""Seconds between two blocks, for whoever wants to write."""


def grow(store: Store, now: Callable[[], int], ending: threading.Event) -> int:
    """Index what is not indexed yet, a block at a time, and merge what is old, until `ending` is set. How many blocks
    were made of what was not indexed."""
    made = 0
    for row in store.all("unfinished_history_blocks"):  # what a process has begun, or put an end to, that ended since
        _drop(store, row["block"], row["units"])
    while not ending.is_set() and (gap := store.read(lambda tx: _next_gap(tx, now()))):
        if not _make_block(store, gap, ending):
            return made  # for another time
        made += 1
        ending.wait(_PAUSE)
    while not ending.is_set() and (old := _next_to_merge(store.read(finished_blocks))):
        if not _merge(store, old, ending):
            break
    return made


# What is not indexed yet


@record
class _Gap:
    """What is in no block, of all that ended after one place up to another: the first of its asks."""

    after: Place
    last: Place
    asks: Sequence[Row]

    @property
    def end(self) -> Place:
        return place_of(self.asks[-1]) if len(self.asks) == BLOCK else self.last


def _next_gap(tx: Transaction, now: int) -> _Gap | None:
    blocks, lately = finished_blocks(tx), (now - LAG_MS, "")
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


def _make_block(store: Store, gap: _Gap, ending: threading.Event) -> bool:
    grams = _grams_in(gap.asks)
    try:
        block = store.write(lambda tx: _begun(tx, gap))
        if not block or not _filled(store, block, grams, ending):
            return False
        return store.write(lambda tx: _marked(tx, block, finished=1))
    except StoreError:
        return False  # another process makes the same one, or the store has other troubles


def _grams_in(asks: Sequence[Row]) -> Iterator[tuple[str, str]]:
    slots: defaultdict[str, list[int]] = defaultdict(list)
    for slot, row in enumerate(asks):
        for gram in grams_of(row):
            slots[gram].append(slot)
    return ((gram, kept(slots[gram], BLOCK)) for gram in sorted(slots))


def _begun(tx: Transaction, gap: _Gap) -> int:
    """The number of a new block; 0 if something in it has changed meanwhile or another process was faster."""
    tx.wake_only()  # no process waits for an ask because of it
    blocks = _all_blocks(tx)
    if any(block.after < gap.end and block.last > gap.after for block in blocks):
        return 0
    if _versions(_asks_in(tx, gap.after, gap.last)) != _versions(gap.asks):
        return 0
    number = _free_number(blocks)
    _put_block(tx, HistoryBlock(number=number, units=1, after=gap.after, last=gap.end))
    slots = enumerate(gap.asks)
    tx.put_rows("history_members", ({"number": number * BLOCK + slot, "ask_id": ask["id"]} for slot, ask in slots))
    return number


def _versions(asks: Sequence[Row]) -> list[tuple[str, int]]:
    return [(row["id"], row["version"]) for row in asks]


# What is old


def _next_to_merge(blocks: Sequence[HistoryBlock]) -> Sequence[HistoryBlock]:
    """The oldest that follow each other; empty if there are not enough of them."""
    run: list[HistoryBlock] = []
    for block in blocks[:-_MERGED]:
        if block.units > 1 or (run and not block.follows(run[-1])):
            run = []
        if block.units == 1:
            run.append(block)
        if len(run) == _MERGED:
            return run
    return ()


def _merge(store: Store, old: Sequence[HistoryBlock], ending: threading.Event) -> bool:
    try:
        merged = store.write(lambda tx: _begun_merged(tx, old))
        for unit, block in enumerate(old):
            if not store.write(partial(_copied_members, block=block, merged=merged, unit=unit)):
                return False
        if not _filled(store, merged, _merged_grams(store, old), ending):
            return False
        if not store.write(lambda tx: _replaced(tx, old, merged)):
            return False
        for block in old:
            _drop(store, block.number, block.units)
            ending.wait(_PAUSE)
    except StoreError:
        return False
    return True


def _begun_merged(tx: Transaction, old: Sequence[HistoryBlock]) -> int:
    tx.wake_only()
    number = _free_number(_all_blocks(tx))
    _put_block(tx, HistoryBlock(number=number, units=len(old), after=old[0].after, last=old[-1].last))
    return number


def _copied_members(tx: Transaction, *, block: HistoryBlock, merged: int, unit: int) -> bool:
    if not _marked(tx, merged, finished=0):
        return False
    first, further = block.number * BLOCK, (merged + unit - block.number) * BLOCK
    tx.run("copy_history_members", first=first, beyond=first + BLOCK, further=further)
    return True


def _replaced(tx: Transaction, old: Sequence[HistoryBlock], merged: int) -> bool:
    """Whatever has changed in one of the old blocks has dropped it; then what came of them holds no longer."""
    standing = {block.number for block in finished_blocks(tx)}
    if any(block.number not in standing for block in old):
        return False
    return all(_marked(tx, block.number, finished=0) for block in old) and _marked(tx, merged, finished=1)


def _merged_grams(store: Store, old: Sequence[HistoryBlock]) -> Iterator[tuple[str, str]]:
    in_units: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for unit, block in enumerate(old):
        for row in store.all("grams_of_history_block", block=block.number):
            in_units[row["gram"]][unit] = row["members"]
    return ((gram, kept_merged(in_units[gram], len(old))) for gram in sorted(in_units))


# Blocks


def _all_blocks(tx: Transaction) -> list[HistoryBlock]:
    return [block_of(row) for row in tx.all("history_blocks", finished=0)]


def _free_number(blocks: Sequence[HistoryBlock]) -> int:
    return max((block.number + block.units for block in blocks), default=1)


def _put_block(tx: Transaction, block: HistoryBlock) -> None:
    times = {"after_time": block.after[0], "last_time": block.last[0]}
    ids = {"after_id": block.after[1], "last_id": block.last[1]}
    tx.put_rows("history_blocks", [{"block": block.number, "units": block.units, **times, **ids, "finished": 0}])


def _filled(store: Store, block: int, grams: Iterator[tuple[str, str]], ending: threading.Event) -> bool:
    """Keep what is known of a block, in steps so small that nobody waits for them. From the first one on, whatever
    changes in it drops it (`forget`), and so does another process that begins; then, or when it is to end, it is left
    for another time."""
    while part := list(islice(grams, _STEP)):
        if ending.is_set() or not store.write(lambda tx: _put(tx, block, part)):
            return False
    return True


def _put(tx: Transaction, block: int, grams: Sequence[tuple[str, str]]) -> bool:
    # A change, though to what it is already: whoever drops the block at the same moment waits for this, or this for it.
    if not _marked(tx, block, finished=0):
        return False
    tx.put_rows("history_grams", ({"block": block, "gram": gram, "members": kept} for gram, kept in grams))
    return True


def _marked(tx: Transaction, block: int, *, finished: int) -> bool:
    """Whether it is still there."""
    tx.wake_only()
    return bool(tx.run("finish_history_block", block=block, finished=finished))


def _drop(store: Store, number: int, units: int) -> None:
    def dropped(tx: Transaction) -> None:
        tx.wake_only()
        drop(tx, number, units)

    store.write(dropped)
