"""How an ask looks in a chat, and what is said there. Plain text: what agents wrote is spelt out, never marked up.

What does not fit whole, or cannot be answered there, is only announced, with the way to it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from sayso.asks import words
from sayso.asks.draft import Draft
from sayso.asks.model import CLIENT_FORM, Ask, State
from sayso.asks.words import headline, who_wants
from sayso.chats import questions
from sayso.chats.model import Button, ChatMessage
from sayso.chats.questions import ChatQuestion
from sayso.permissions.action import AllowScope, action_of, scopes_of
from sayso.permissions.parts import parts_of, parts_of_asking
from sayso.permissions.verdict import Decision, verdict_of
from sayso.records import replace
from sayso.text import exact, one_line

ALLOW, SURE, BACK, DENY = "a", "y", "b", "n"
"""The choices of the buttons of a permission."""
_NAME, _LABEL = 40, 80
WIDTH, MOST_ROWS, MOST_EMPTY = 40, 60, 3
"""Of a phone: letters in a row, the rows of two screens, and the most empty ones after which one looks for more."""
LONGEST_HINT = "😀" * 200
"""What a message has room for, whatever becomes of it: more than any hint says, in letters of the largest size."""
_BAR = "│"

NOTHING_ENTERED = Draft()
TOO_LONG_TO_SEND = (
    "Your answers are too long to be shown here in one piece. Nothing is sent: they are kept in your inbox."
)
_NOT_HERE = "It cannot be shown whole here."
LOOK_AGAIN = "Look at it once more. Allow exactly this?"


@dataclass(frozen=True, kw_only=True)
class ChatLimits:
    """What can be said in a chat."""

    fits: Callable[[ChatMessage], bool]
    most_options: int
    takes_words: bool = True
    """Whether people can write an answer there."""
    allows: bool = True
    """Whether the chat vouches for who presses, so that something may be allowed there."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """An ask as a message, before its buttons are sealed: each label with its choice."""

    message: ChatMessage
    choices: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    """Of the action that all of it shows; empty where it shows none, or not all."""
    whole: bool = True
    """Whether it shows all of the ask, so that it can be answered there."""

    def sealed(self, seal: Callable[[str], str]) -> ChatMessage:
        pressed = tuple(Button(label=label, token=seal(choice)) for label, choice in self.choices)
        given = self.message
        return ChatMessage(
            heading=given.heading,
            body=given.body,
            exact=given.exact,
            hint=given.hint,
            buttons=(*pressed, *given.buttons),
            quiet=given.quiet,
        )


def drawn(
    ask: Ask, limits: ChatLimits, address: str, *, confirming: bool = False, draft: Draft = NOTHING_ENTERED
) -> Drawn:
    """An open ask, and what its person has entered so far. `address` is where its page is, if people can get there
    from anywhere."""
    if ask.is_permission:
        whole = _permission(ask, limits, address, confirming)
    elif questions.is_gone_through(ask):
        whole = _step(ask, limits, address, draft)
    else:
        whole = _question(ask, limits, address)
    return whole or _announced(ask, address)


def _announced(ask: Ask, address: str) -> Drawn:
    """Who asks, the beginning, and the way to it."""
    open_it = f"Open it to {_to_do(ask)}."
    where_it_runs = f"Where Sayso runs: {_command(ask)}. With the setting web_url, a link stands here."
    hint = f"{_NOT_HERE} {open_it if address else where_it_runs}"
    body = exact(headline(ask, 200))
    message = ChatMessage(heading=who_wants(ask), body=body, hint=hint, buttons=_open(address))
    return Drawn(message=message, whole=False)


def _is_seen(message: ChatMessage, limits: ChatLimits) -> bool:
    """Whether all of it fits, whichever hint it gets, and is before the eyes of who scrolls a phone once: on few enough
    rows, none of them behind a gap that passes for the end."""
    if not limits.fits(replace(message, hint=LONGEST_HINT)):
        return False
    rows = [row for line in message.body.split("\n") for row in _wrapped(line)]
    gaps = (len(list(run)) for is_empty, run in groupby(rows, _is_empty) if is_empty)
    return len(rows) <= MOST_ROWS and max(gaps, default=0) <= MOST_EMPTY


def _wrapped(line: str) -> Iterator[str]:
    """The rows of a line, in which each wide letter stands twice."""
    cells = "".join(letter * (1 + (unicodedata.east_asian_width(letter) in "WF")) for letter in line.expandtabs())
    return (cells[place : place + WIDTH] for place in range(0, max(len(cells), 1), WIDTH))


def _is_empty(row: str) -> bool:
    return not row.replace(_BAR, "").strip()


def settled(ask: Ask, limits: ChatLimits, user: str, surface: str) -> ChatMessage:
    """The same once nothing can be decided any more: what became of it, and by whom."""
    before = (_announced(ask, "") if questions.is_gone_through(ask) else drawn(ask, limits, "")).message
    return ChatMessage(
        heading=before.heading, body=before.body, exact=before.exact, hint=became(ask, user, surface), quiet=True
    )


def changed(ask: Ask) -> ChatMessage:
    """In the place of what is asked in another form now."""
    return ChatMessage(heading=who_wants(ask), hint="It has changed since. It is asked again below.", quiet=True)


def gone() -> ChatMessage:
    """In the place of an ask that was deleted."""
    return ChatMessage(heading="This is settled.", quiet=True)


def became(ask: Ask, user: str, surface: str) -> str:
    """What became of it: by whom and where, and what was pressed in this very chat. No other words of an answer."""
    outcome, verdict = ask.outcome, verdict_of(ask)
    if outcome is None or ask.withdrawn or ask.let_go or (verdict and verdict.decision is Decision.UNDECIDED):
        return _of_nobody(ask)
    if outcome.surface == CLIENT_FORM:
        by = "in the agent's own form"
    else:
        who = "you" if outcome.person == user else one_line(outcome.person, _NAME) or "someone"
        by = f"by {who} {words.place(outcome.surface, _NAME)}"
    word = verdict.word if verdict else ask.state.value.replace("_", " ")
    pressed = _chosen(ask) if outcome.surface == surface and outcome.person == user else ""
    return f"{word.capitalize()} {by}{f': {pressed}' if pressed else ''}."


def _chosen(ask: Ask) -> str:
    """The option that was pressed; what was typed stands in the chat already."""
    only = ask.questions[0] if len(ask.questions) == 1 and not ask.is_permission else None
    answer = ask.answer(only.id) if only else None
    picked = [option for option in only.choices if answer and option.id in answer.chosen] if only else []
    return one_line(picked[0].label, _LABEL) if len(picked) == 1 else ""


def _of_nobody(ask: Ask) -> str:
    match ask.state:
        case State.EXPIRED if ask.abandoned:
            return "The agent stopped waiting before anybody decided."
        case State.EXPIRED:
            return "Nobody answered, and it expired."
        case State.SUPERSEDED:
            return "A newer question took the place of this one."
        case State.CANCELLED if ask.let_go:
            return f"Nobody had decided: {ask.withdrawn or 'the call ended'}."
        case _:
            return "The agent does not want to know any more."


def _question(ask: Ask, limits: ChatLimits, address: str) -> Drawn | None:
    """A question that is answered by one press or in a few words; None where it is no such."""
    return _asking(ask, questions.whole(ask, limits.most_options, limits.takes_words), limits, address)


def _step(ask: Ask, limits: ChatLimits, address: str, draft: Draft) -> Drawn | None:
    """Where a person is in an ask that is gone through; None where a chat cannot show every question of it."""
    if not limits.takes_words:
        return None
    if not all(_asking(ask, each, limits, address) for each in questions.steps(ask, limits.most_options)):
        return None
    found = questions.step(ask, draft, limits.most_options)
    return _asking(ask, found, limits, address) or _too_long(ask, address)


def _asking(ask: Ask, found: ChatQuestion | None, limits: ChatLimits, address: str) -> Drawn | None:
    """A question as a message; None where it is not seen whole."""
    if found is None:
        return None
    message = ChatMessage(heading=who_wants(ask), body=found.body, hint=found.hint, buttons=_open(address))
    return Drawn(message=message, choices=found.choices) if _is_seen(message, limits) else None


def _too_long(ask: Ask, address: str) -> Drawn:
    """At the end of an ask whose answers cannot be shown in one piece. They are where its page and terminal have
    them."""
    hint = TOO_LONG_TO_SEND if address else f"{TOO_LONG_TO_SEND} {_command(ask)}"
    message = ChatMessage(heading=who_wants(ask), body=exact(headline(ask, 200)), hint=hint, buttons=_open(address))
    return Drawn(message=message, choices=questions.changes(ask))


def _permission(ask: Ask, limits: ChatLimits, address: str, confirming: bool) -> Drawn | None:
    """All of an action, with the two presses that allow it; None where an allow means more than this one time, or it is
    not seen whole."""
    action = action_of(ask)
    if action is None or not limits.allows or AllowScope.ONCE not in scopes_of(ask):
        return None
    parts = [*parts_of(action), *parts_of_asking(ask)]
    body = "\n".join(line for part in parts for line in (part.label, *_barred(part.text)))
    choices = (("Yes, allow it", SURE), ("Back", BACK)) if confirming else (("Allow…", ALLOW), ("Deny", DENY))
    hint = LOOK_AGAIN if confirming else ""
    message = ChatMessage(heading=who_wants(ask), body=body, exact=True, hint=hint, buttons=_open(address))
    return Drawn(message=message, choices=choices, digest=action.digest) if _is_seen(message, limits) else None


def _barred(text: str) -> Iterator[str]:
    """Each line behind a bar, so that nothing in it passes for a part of ours."""
    return (f"{_BAR} {line}" for line in text.split("\n")) if text else iter([_BAR])


def _to_do(ask: Ask) -> str:
    return "see all of it and decide" if ask.is_permission else "answer"


def _command(ask: Ask) -> str:
    return f"sayso {'allow' if ask.wanted is not None else 'answer'} {ask.id[:8]}"


def _open(address: str) -> tuple[Button, ...]:
    return (Button(label="Open", url=address),) if address else ()
