"""What would be lost if the inbox ended now, because the store takes nothing, and a last try to have it taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress

from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, answer, from_json, keep_merged
from sayso.asks.model import Ask
from sayso.errors import NotYours, StoreError, StoreFull
from sayso.text import one_line
from sayso.tui.shared import Shared, UnsavedDraft

_LONGEST = 10_000
"""Characters of one entry that are told: it stands nowhere else any more."""


async def keep_unsaved(shared: Shared) -> None:
    """Keep now what could not be kept before."""
    unsaved, person = dict(shared.board.unsaved), shared.config.person
    with suppress(NotYours, StoreError):
        shared.board.saved(await shared.link.enter(lambda desk: keep_each(desk, person, unsaved)))


def keep_each(desk: AskDesk, person: str, drafts: Mapping[str, UnsavedDraft]) -> dict[str, UnsavedDraft]:
    """Keep these drafts, beside what the person has entered elsewhere since. Those that could be kept."""
    kept = dict[str, UnsavedDraft]()
    for ask_id, draft in drafts.items():
        # One may be too large for a disk that is nearly full. Nothing else is if the store is away.
        with suppress(StoreFull):
            ask = draft.ask
            keep_merged(desk, person, ask, from_json(ask, draft.over), from_json(ask, draft.body))
            kept[ask_id] = draft
    return kept


def unsaved_asks(shared: Shared) -> dict[str, Ask]:
    """What something was entered or answered for that is only here, by id."""
    board = shared.board
    going = {ask_id: held.ask for ask_id, held in board.outgoing.items()}
    return {ask_id: draft.ask for ask_id, draft in board.unsaved.items() if draft.body} | going


def losses(shared: Shared, unsent: Set[str]) -> list[str]:
    """All that was entered and is only here, a line each; and of these answers, those that were not sent."""
    texts, board = shared.texts, shared.board
    told = [
        (texts.not_sent_but_kept if ask_id not in board.unsaved else texts.lost).format(
            what=_entry(shared, ask_id, ask)
        )
        for ask_id, ask in unsaved_asks(shared).items()
        if (ask_id in board.unsaved and board.unsaved[ask_id].body) or ask_id in unsent
    ]
    return [one_line(each, _LONGEST) for each in told]


def _entry(shared: Shared, ask_id: str, ask: Ask) -> str:
    unsaved, held = shared.board.unsaved.get(ask_id), shared.board.outgoing.get(ask_id)
    draft = held.draft if held else from_json(ask, unsaved.body if unsaved else "")
    return f"{shared.wording.headline(ask)}: {' · '.join(_words(shared, ask, draft))}"


def _words(shared: Shared, ask: Ask, draft: Draft) -> Sequence[str]:
    said = [
        line
        for question in ask.questions
        for line in shared.wording.answer_lines(question, answer(question, draft.of(question)))
    ]
    return [*said, *filter(None, (draft.reason, draft.unclear, draft.edit))]
