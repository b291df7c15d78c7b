"""What would be lost if the inbox ended now, because the store takes nothing, and a last try to have it taken."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import suppress

from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, answer, from_json
from sayso.asks.model import Ask
from sayso.errors import NotYours, StoreError
from sayso.text import one_line
from sayso.tui.shared import Shared

_LONGEST = 10_000
"""Characters of one entry that are told: it stands nowhere else any more."""


async def keep_unsaved(shared: Shared) -> None:
    """Keep now what could not be kept before."""
    board, person = shared.board, shared.config.person
    unsaved = dict(board.unsaved)

    def keep(desk: AskDesk) -> None:
        for ask_id, body in unsaved.items():
            desk.keep_draft(ask_id, person, body)

    with suppress(NotYours, StoreError):
        await shared.link.enter(keep)
        board.unsaved = {key: body for key, body in board.unsaved.items() if unsaved.get(key) != body}


def unsaved_asks(shared: Shared) -> dict[str, Ask | None]:
    """What something was entered or answered for that is only here, by id."""
    board = shared.board
    going = {ask_id: held.ask for ask_id, held in board.outgoing.items()}
    return {ask_id: board.find(ask_id) for ask_id, body in board.unsaved.items() if body} | going


def losses(shared: Shared, unsent: Set[str]) -> list[str]:
    """All that was entered and is only here, a line each; and of these answers, those that were not sent."""
    texts, board = shared.texts, shared.board
    told = [
        (texts.not_sent_but_kept if ask_id not in board.unsaved else texts.lost).format(
            what=_entry(shared, ask_id, ask)
        )
        for ask_id, ask in unsaved_asks(shared).items()
        if board.unsaved.get(ask_id) or ask_id in unsent
    ]
    return [one_line(each, _LONGEST) for each in told]


def _entry(shared: Shared, ask_id: str, ask: Ask | None) -> str:
    if ask is None:
        return ask_id
    body = shared.board.unsaved.get(ask_id)
    held = shared.board.outgoing.get(ask_id)
    draft = held.draft if held else from_json(ask, body or "")
    return f"{shared.wording.headline(ask)}: {' · '.join(_words(shared, ask, draft))}"


def _words(shared: Shared, ask: Ask, draft: Draft) -> Sequence[str]:
    said = [
        line
        for question in ask.questions
        for line in shared.wording.answer_lines(question, answer(question, draft.of(question)))
    ]
    return [*said, *filter(None, (draft.reason, draft.unclear, draft.edit))]
