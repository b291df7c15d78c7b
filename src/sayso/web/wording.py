"""How an ask is told on a page: what it is about, who asks, where it stands, what became of it. Plain text only."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from sayso.asks import truth, words
from sayso.asks.crowds import Crowd, Folded
from sayso.asks.model import CLIENT_FORM, ITS_CALL, Answer, Ask, Asker, Event, Kind, Option, Question, State
from sayso.asks.sessions import Owned
from sayso.asks.truth import Handover, Listening, listening
from sayso.permissions.action import action_of, allowed_action
from sayso.permissions.verdict import Decision, verdict_of
from sayso.text import age, isolated, one_line, printable, utc_minute
from sayso.web.markdown import Heading, heading_of, plain_line

NAME_WIDTH = 48
MISSING = "This question needs an answer."
LABEL_CHARACTERS = 2_000
_NAMED = 4
"""How many options a row names."""
_UNITS = {"s": "second", "m": "minute", "h": "hour", "d": "day"}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where an ask stands: in a word or two, in which tone, and what that means for the person."""

    word: str
    tone: str
    meaning: str = ""


def headline(ask: Ask) -> str:
    """The ask in one line: its title, or the words of its first question."""
    return words.headline(ask, 200, plain_line) or "Its texts were not kept"


def subject(ask: Ask) -> str:
    """What an ask was about: of a permission the action, without the question whether to allow it."""
    action = allowed_action(ask, ask.outcome) if ask.outcome else action_of(ask)
    return action.title if action else headline(ask)


def question_in_heading(ask: Ask) -> Heading | None:
    """The one question that an ask is, where it can be the heading of its page; None where that has another."""
    if len(ask.questions) != 1 or ask.title.strip() or ask.is_permission:
        return None
    return heading_of(ask.questions[0].text)


def how_many(crowd: Crowd) -> str:
    """What an agent has open: `1,204 questions`."""
    return f"{crowd.size:,} {'question' if crowd.size == 1 else 'questions'}"


def how_many_found(count: int, most: int) -> str:
    """What somebody hears who searches and does not see the list."""
    if count > most:
        return f"The first {most} are shown."
    return f"{count} found." if count else "Nothing found."


def goes_on_with(inbox: Folded) -> str:
    """Where a person goes on: with a question that an agent waits for, rather not one of many; else with the first."""
    asks = [entry for entry in inbox.entries if isinstance(entry, Ask) and entry.attended]
    first = next(iter([*asks, *inbox.entries]), None)
    if first is None:
        return ""
    return f"crowds/{first.id}" if isinstance(first, Crowd) else f"asks/{first.id}"


def too_late(ask: Ask, user: str) -> str:
    """What somebody is told whose answer came after the end."""
    stands = standing(ask)
    if ask.outcome is None or ask.let_go:
        return stands.meaning or f"It is {stands.word.lower()}."
    return f"It was {stands.word.lower()} {settled_by(ask, user)} already."


def client(ask: Owned) -> str:
    return one_line(ask.asker.client, NAME_WIDTH) or "An agent"


def project(ask: Owned) -> str:
    return words.project_name(ask.asker, NAME_WIDTH)


def branch(ask: Owned) -> str:
    """What was checked out where it asked."""
    return one_line(ask.asker.branch, NAME_WIDTH)


def session(ask: Ask) -> str:
    """What tells this agent from others of the same name in the same project."""
    known = truth.session_of(ask.asker)
    return f"session {known}" if known else ""


def whereabouts(ask: Ask) -> list[tuple[str, str]]:
    """Everything that is known of who asks, and by which call."""
    call = {"Tool": ask.tool, "Call": ask.call_id, "Ask": ask.id}
    return [*about(ask.asker), *((name, one_line(value, 300)) for name, value in call.items() if value)]


def about(asker: Asker) -> list[tuple[str, str]]:
    """Everything that is known of an agent."""
    known = {
        "Agent": " ".join(filter(None, (asker.client, asker.version))),
        "Signed in as": asker.agent,
        "Project": asker.project,
        "Branch": asker.branch,
        "Machine": asker.host,
        "Process": str(asker.pid or ""),
        "Session": asker.session,
    }
    return [(name, one_line(value, 300)) for name, value in known.items() if value]


def standing(ask: Ask) -> Standing:
    """Where it stands, and what a person who answers must know."""
    agent = client(ask)
    match listening(ask) if ask.state.answerable else ask.state:
        case Listening.WAITING:
            what = "say-so" if ask.is_permission else "answer"
            return Standing(word="Waiting", tone="waiting", meaning=f"{agent} waits for your {what}.")
        case Listening.IN_FORM:
            return Standing(
                word="In its form",
                tone="waiting",
                meaning=f"{agent} shows this in a form of its own. You can answer here too: it gets your answer when "
                "that form is closed.",
            )
        case Listening.AT_WORK:
            return Standing(
                word="At work",
                tone="quiet",
                meaning=f"{agent} went on without waiting. It gets your answer when it comes back for it.",
            )
        case Listening.NOT_WAITING:
            return Standing(
                word="Not waiting",
                tone="quiet",
                meaning=f"{agent} is not waiting now. You can still answer: it gets your answer "
                f"{_when_asked_again(ask)}.",
            )
        case Listening.TIMED_OUT:
            return Standing(
                word="Timed out",
                tone="late",
                meaning=f"{agent}'s wait ran out. You can still answer, late: it gets your answer "
                f"{_when_asked_again(ask)}.",
            )
        case State.ANSWERED if decided := verdict_of(ask):
            return Standing(word=decided.word.capitalize(), tone="done" if decided.allowed else "refused")
        case State.ANSWERED:
            return Standing(word="Answered", tone="done")
        case State.CANCELLED if ask.let_go:
            meaning = f"Nobody had decided: {ask.withdrawn or 'the call ended'}."
            return Standing(word="Nobody decided", tone="quiet", meaning=meaning)
        case State.CANCELLED if ask.withdrawn:
            return Standing(word="Decided elsewhere" if ask.is_permission else "Withdrawn", tone="quiet")
        case State.SUPERSEDED:
            return Standing(word="Superseded", tone="quiet", meaning="A newer question took the place of this one.")
        case State.EXPIRED if ask.abandoned:
            meaning = f"{agent} ended or stopped waiting before anybody decided."
            return Standing(word="Nobody decided", tone="quiet", meaning=meaning)
        case State.EXPIRED:
            return Standing(
                word="Expired", tone="quiet", meaning="Nobody answered for so long that this question expired."
            )
    return Standing(word=ask.state.value.capitalize(), tone="refused")


def settled_by(ask: Ask, user: str) -> str:
    """Who ended it and where; empty where nobody did."""
    if ask.outcome is None or ask.let_go:
        return ""
    person = "you" if ask.outcome.person == user else one_line(ask.outcome.person, NAME_WIDTH) or "someone"
    late = ", after the agent's wait had run out" if ask.outcome.late else ""
    if ask.outcome.surface == CLIENT_FORM:
        return f"through {client(ask)}'s own form{late}"
    return f"by {person} {words.place(ask.outcome.surface, NAME_WIDTH)}{late}"


def handover(ask: Ask) -> str:
    """Whether the agent has the outcome; empty where there is none to tell it."""
    agent = client(ask)
    if ask.withdrawn or ask.let_go:
        return ""
    match truth.handover(ask):
        case Handover.RECEIVED:
            return f"{agent} received it."
        case Handover.NO_EFFECT if ask.outcome:
            return f"It had no effect: {one_line(ask.outcome.void, NAME_WIDTH)}."
        case Handover.ON_ITS_WAY:
            return f"Waiting for {agent} to fetch it."
        case Handover.AT_ITS_FORM:
            return f"{agent} still shows its own form. It gets this when that is closed."
        case Handover.TO_BE_FETCHED:
            return f"{agent} went on without waiting. It gets this when it comes back for it."
        case Handover.TOO_LATE:
            return f"{agent} had ended, and does not take a late yes or no."
    if ask.bound:
        return f"{agent} was not waiting for this any more, so it had no effect."
    return f"{agent} is not waiting now. It gets this {_when_asked_again(ask)}."


def _when_asked_again(ask: Ask) -> str:
    if truth.is_of_one_session(ask):
        return "when the session that asked does so again, or another once that one is known to have ended"
    return "when it asks the same again"


def problem_of(ask: Ask, place: int, problem: str) -> str:
    """What is wrong with the answer to one question, told away from it."""
    if len(ask.questions) == 1:
        return problem
    name = question_name(ask, place)
    return f"{name} needs an answer." if problem == MISSING else f"{name}: {problem}"


def question_name(ask: Ask, place: int) -> str:
    """What one question of several is called away from it."""
    return one_line(ask.questions[place].title, NAME_WIDTH) or f"Question {place + 1}"


def label(option: Option) -> str:
    """An option's label, cut only where it is absurdly long."""
    return cut(option.name)


def cut(text: str, most: int = LABEL_CHARACTERS) -> str:
    shown = printable(text[:most]).strip()
    return f"{shown}… ({len(text) - most:,} more characters)" if len(text) > most else shown


def reading_side(question: Question) -> str:
    """From which side its options are read, as `dir` names it: from that of the question, or of all options, if all are
    read from the right. Each has the direction of its own words within that."""
    labels = [_direction(option.name) for option in question.choices]
    return "rtl" if _direction(plain_line(question.text)) == "rtl" or (labels and set(labels) == {"rtl"}) else "ltr"


def answering_side(question: Question) -> str:
    """The same of what is pressed: yes and no are our own words, and change places for nobody's."""
    return "ltr" if question.kind is Kind.CONFIRM else reading_side(question)


def _direction(text: str) -> str:
    """By the first letter that has one, as browsers see it."""
    sides = (unicodedata.bidirectional(character) for character in text)
    return next(("ltr" if side == "L" else "rtl" for side in sides if side in ("L", "R", "AL")), "ltr")


def chosen_labels(question: Question, answer: Answer) -> list[str]:
    return [label(option) for option in question.choices if option.id in answer.chosen]


def not_chosen(question: Question, answer: Answer | None) -> list[Option]:
    """What else could have been chosen."""
    return [option for option in question.choices if option.id not in (answer.chosen if answer else ())]


def why_not(ask: Ask) -> str:
    """What somebody said with a no, or why nobody could decide any more."""
    if ask.let_go:
        return ask.withdrawn
    if found := verdict_of(ask):
        return found.because if found.decision is Decision.DENIED else ""
    return ask.outcome.reason if ask.state is State.REJECTED and ask.outcome else ""


def passed_over(ask: Ask) -> str:
    """What else the one question of an ask offered, in short: `not chosen: Apple, Plum`; or nothing."""
    if len(ask.questions) != 1 or ask.is_permission:
        return ""
    (question,) = ask.questions
    left = [isolated(one_line(label(option), 40)) for option in not_chosen(question, ask.answer(question.id))]
    named = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
    if not named:
        return ""
    return f"not chosen: {named}" if ask.state is State.ANSWERED else f"offered: {named}"


def happened(event: Event) -> str:
    """One line of an ask's history."""
    what = {
        "opened": "Asked",
        "attended": "The agent waits again",
        "unattended": "The agent stopped waiting",
        "resumed": "The agent's session was resumed",
        "timed_out": "The agent's wait ran out",
        "delivered": "The agent received it",
        "refused": "An answer was refused",
    }.get(event.kind, event.kind.replace("_", " ").capitalize())
    by = f" by {one_line(event.person, NAME_WIDTH)}" if event.person and event.surface != ITS_CALL else ""
    where = f" {words.place(event.surface, NAME_WIDTH)}" if event.surface else ""
    if event.surface == CLIENT_FORM:
        where = " through the client's own form"
    why = f": {isolated(one_line(event.detail, 200))}" if event.detail else ""
    if event.kind in set(Decision):
        # Which action it was: of its digest, as much as people compare.
        why = f" ({one_line(event.detail[:12], 12)})" if event.detail else ""
    return what + by + where + why


def span(milliseconds: int) -> str:
    """A span of time in words: `3 minutes`."""
    short = age(milliseconds)
    if short == "now":
        return "a moment"
    count, unit = short[:-1], _UNITS[short[-1]]
    return f"{count} {unit}" if count == "1" else f"{count} {unit}s"


def moment(milliseconds: int) -> str:
    """A moment without a script that knows the reader's time zone: in UTC."""
    return utc_minute(milliseconds)
