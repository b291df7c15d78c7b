"""`get_answers`: for an agent that comes back for what it asked earlier."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sayso.asks.model import Ask, State
from sayso.dialects import fields
from sayso.dialects.dialect import Arguments, ToolReply
from sayso.dialects.outcomes import answers_as_words, is_wiped, outcome_data, refusal_words, whose_words
from sayso.errors import Problems
from sayso.text import iso_time

if TYPE_CHECKING:
    from sayso.asks.desk import Owed

_ANOTHER = "Another session, not you,"
_GO_ON = "Only if you go on with its work is this for you."
_NOT_YET = "Not answered yet, still open. Do not assume an answer. To hold on for one, call get_answers with wait true:"
_NOT_YET_OF_ANOTHER = (
    "Another session, which has ended, asked these, and nobody has answered yet. Only if you go on with its work: to "
    "hold on for one, call get_answers with wait true and its ask_id:"
)
NOTHING = "You have no open questions and no answers waiting."
NOTHING_KNOWN = (
    "Questions that were asked with your token, by you or in another conversation, are open or have answers waiting. "
    "Your client does not name its conversation, so which of them are yours is not known: for one that you asked, call "
    "get_answers with its ask_id. Do not assume an answer."
)
"""For an agent that nothing tells from others with its token."""
_TOLD_BEFORE = (
    "Earlier calls have returned the answers to these. If you have not seen one, because its call was interrupted, "
    "call get_answers with its ask_id:"
)
_AWAITED = (
    "Not answered yet, and another call waits for it. The answer comes as the result of that call, not here: do not "
    "assume one, do not ask again:"
)


@dataclass(frozen=True, kw_only=True)
class WantedAnswers:
    """Which answers a call wants, and whether it holds on for them."""

    ask_id: str | None
    wait: bool


def read(arguments: Arguments) -> WantedAnswers:
    problems = Problems()
    ask_id = fields.text(problems, arguments, ["ask_id"], "", required=False)
    if ask_id and not re.fullmatch(r"[0-9a-fA-F-]{32,36}", ask_id):
        problems.add("ask_id", f"expected the whole id from a pending result, got {fields.given(ask_id)}.")
    wait = fields.boolean(problems, arguments, "wait", "", default=False)
    problems.check()
    return WantedAnswers(ask_id=ask_id.lower().replace("-", "") or None, wait=wait)


def mention(owed: Owed) -> Iterator[str]:
    """That answers wait for an agent, for the reply of another tool."""
    if own := [ask for ask in owed.late if ask.id not in owed.of_others]:
        yield f"Answers to earlier questions of yours have arrived ({_ids(own)}). Call get_answers to receive them."
    if others := [ask for ask in owed.late if ask.id in owed.of_others]:
        yield (
            f"Answers to questions of another session, which has ended, have arrived ({_ids(others)}). Only if you go "
            "on with its work: call get_answers to receive them."
        )
    if owed.perhaps:
        yield (
            f"Answers to questions that were asked with your token, by you or in another conversation, have arrived "
            f"({_ids(owed.perhaps)}). Only if you asked one of them: call get_answers with its ask_id."
        )


def _ids(asks: Sequence[Ask]) -> str:
    return ", ".join(ask.id for ask in asks)


def render(
    asks: Sequence[Ask],
    of_others: Set[str] = frozenset(),
    awaited: Set[str] = frozenset(),
    told_before: Sequence[Ask] = (),
    nothing: str = NOTHING,
) -> ToolReply:
    """What there is: settled asks with their answers, open ones by name. Those of another session are told apart: a yes
    to its question is not one to this agent's. So are those that another call waits for: whoever heard nothing of them
    would ask again. Where there is none, `nothing` is said, and `told_before` are named: calls have returned them, and
    its client may have dropped them."""
    settled = [ask for ask in asks if not ask.state.answerable]
    open_ = [ask for ask in asks if ask.state.answerable]
    unanswered = _unanswered(open_, of_others, awaited)
    before = [nothing, *_listed(_TOLD_BEFORE, told_before)]
    data: dict[str, Any] = {
        # Some clients give the model only this: it must know whose answers these are, and what has none.
        "message": _words(settled, unanswered, partial(_told_beside_answers, of_others=of_others), before),
        "answers": [{**outcome_data(ask), "wiped": True} if is_wiped(ask) else outcome_data(ask) for ask in settled],
        "pending": [outcome_data(ask) for ask in open_],
    }
    return ToolReply(text=_words(settled, unanswered, partial(_told, of_others=of_others), before), data=data)


def _words(settled: Sequence[Ask], unanswered: Sequence[str], told: Callable[[Ask], str], before: Sequence[str]) -> str:
    words = [*(f"{_name(ask)}\n{told(ask)}" for ask in settled), *unanswered]
    return "\n\n".join(words or before)


def _unanswered(asks: Sequence[Ask], of_others: Set[str], awaited: Set[str]) -> list[str]:
    free = [ask for ask in asks if ask.id not in awaited]
    return [
        *_listed(_NOT_YET, [ask for ask in free if ask.id not in of_others]),
        *_listed(_NOT_YET_OF_ANOTHER, [ask for ask in free if ask.id in of_others]),
        *_listed(_AWAITED, [ask for ask in asks if ask.id in awaited]),
    ]


def _listed(heading: str, asks: Sequence[Ask]) -> list[str]:
    return ["\n".join([heading, *(_name(ask) for ask in asks)])] if asks else []


def _name(ask: Ask) -> str:
    return f"[{ask.id}] {ask.title or (ask.questions[0].text if ask.questions else '')}".rstrip()


def _told(ask: Ask, of_others: Set[str]) -> str:
    if is_wiped(ask):
        return "Handed over to you before. Its texts were wiped then, because no history is kept here."
    told = (
        f"Here are the user's answers:\n{answers_as_words(ask)}" if ask.state is State.ANSWERED else refusal_words(ask)
    )
    asked = f"{_ANOTHER} asked this" if ask.id in of_others else "Asked"
    caution = f" {_GO_ON}" if ask.id in of_others else ""
    return f"{asked} at {iso_time(ask.created_at)}, settled at {iso_time(ask.ended_at)}.{caution} {told}"


def _told_beside_answers(ask: Ask, of_others: Set[str]) -> str:
    if ask.state is not State.ANSWERED or is_wiped(ask):
        return _told(ask, of_others)
    whose = whose_words(ask.outcome.surface if ask.outcome else "")
    return f"{_ANOTHER} asked this. {_GO_ON} {whose}" if ask.id in of_others else whose
