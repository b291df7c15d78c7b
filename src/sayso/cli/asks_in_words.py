"""How an ask reads in a terminal: a headline, where it stands, its questions, what became of it. All of it safe."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from sayso.asks import words
from sayso.asks.model import CLIENT_FORM, ITS_CALL, Answer, Ask, Asker, Attachment, Event, Kind, Option, Question, State
from sayso.asks.truth import Listening, listening, session_of, stops_waiting_at
from sayso.cli.terminal import bold, dim
from sayso.cli.texts import mark, tr, translated
from sayso.clock import now_ms
from sayso.text import age, file_size, one_line, printable

MOST_CHARACTERS = 4_000
MOST_LINES = 60
_SHORT_PLACE = 30
_HOW = {
    Kind.TEXT: mark("in your own words"),
    Kind.SELECT: mark("choose one, or use your own words"),
    Kind.MULTI_SELECT: mark("choose any, or use your own words"),
    Kind.CONFIRM: mark("yes or no"),
}
MEANINGS = {
    "waiting": mark("the agent waits for the answer"),
    "in its form": mark(
        "the agent's client shows it in a form of its own; an answer from here arrives once that is closed"
    ),
    "at work": mark("the agent went on without waiting; it gets the answer when it comes back for it"),
    "not waiting": mark("no call of the agent waits now; it gets the answer when it asks the same again"),
    "timed out": mark("can still be answered"),
}
"""What the states of an open ask mean for the person."""


WAITS_FOR_SAY_SO = mark("the agent waits for your say-so")


def called(ask: Ask) -> str:
    agent, where = one_line(ask.asker.client, 20) or tr("an agent"), short_place(ask.asker.project)
    return tr("{agent} in {where}", agent=agent, where=where) if where else agent


def headline(ask: Ask) -> str:
    """The ask in one line: its title and how many questions it has, or its first question and how many more."""
    if not ask.questions:
        return tr("(its texts were not kept)")
    first = words.headline(ask, 120)
    more = len(ask.questions) - 1
    if more and ask.title.strip():
        return tr("{title} ({n} questions)", title=first, n=len(ask.questions))
    return tr("{first} (+{more} more)", first=first, more=more) if more else first


def status(ask: Ask) -> str:
    """Where the ask stands, in a word or two; MEANINGS explains those of open ones."""
    if ask.state.answerable:
        return listening(ask).value
    from sayso.permissions.verdict import verdict_of  # open asks have none

    verdict = verdict_of(ask)
    return verdict.word if verdict else ask.state.value.replace("_", " ")


def place(project: str) -> str:
    """A folder, shortened by the home folder."""
    home = str(Path.home())
    short = "~" + project[len(home) :] if project == home or project.startswith(home + "/") else project
    return one_line(short, 400)


def short_place(project: str) -> str:
    """The end of it, which tells folders apart."""
    shown = place(project)
    return shown if len(shown) <= _SHORT_PLACE else "…" + shown[1 - _SHORT_PLACE :]


def ago(milliseconds: int) -> str:
    spoken = age(now_ms() - milliseconds)
    return tr("now") if spoken == "now" else tr("{span} ago", span=spoken)


def moment(milliseconds: int | None) -> str:
    """A time by the person's own clock, or that there was none."""
    if milliseconds is None:
        return "-"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(milliseconds / 1000))


def block(text: str, indent: str) -> str:
    """A text of any length and content as indented lines; what is cut is said."""
    lines = printable(text[:MOST_CHARACTERS]).split("\n")
    kept = "\n".join(lines[:MOST_LINES])
    left = len(text) - min(len(text), MOST_CHARACTERS)
    if left:
        kept += tr("\n… ({n} more characters; --json shows all)", n=f"{left:,}")
    elif len(lines) > MOST_LINES:
        kept += tr("\n… ({n} more lines; --json shows all)", n=f"{len(lines) - MOST_LINES:,}")
    return "\n".join(f"{indent}{line}" for line in kept.split("\n"))


def described(ask: Ask) -> str:
    """Everything about one ask, to be read."""
    parts = [_facts(ask), *(_question_blocks(ask) if ask.wanted is None else [_action_block(ask)])]
    if ask.outcome or not ask.state.answerable:
        parts.append(_end(ask))
    return "\n\n".join(parts)


def _action_block(ask: Ask) -> str:
    from sayso.cli.action_card import action_card  # a question has no action

    return "\n".join(action_card(ask))


def asked_by(ask: Ask) -> str:
    """Who wants to be allowed something, before what it is is shown."""
    return tr("{agent} wants to do this:", agent=bold(_who(ask.asker)))


def _question_blocks(ask: Ask) -> list[str]:
    return [question_block(number, question) for number, question in enumerate(ask.questions, 1)]


def question_block(number: int, question: Question) -> str:
    """One question with its numbered options."""
    lines = [bold(_after(f"{number}. ", question.text)), *_hints(question)]
    for position, option in enumerate(question.choices, start=1):
        if question.kind is not Kind.CONFIRM:
            lines += _option_lines(position, option)
    return "\n".join(lines)


def answer_lines(question: Question, answer: Answer | None) -> list[str]:
    """What was said to one question."""
    if answer is None or answer.skipped:
        return [tr("(skipped)")]
    chosen = [option.label for option in question.choices if option.id in answer.chosen]
    lines = [_after("", translated(label) if question.kind is Kind.CONFIRM else label) for label in chosen]
    if answer.text is not None:
        lines.append(_after(tr("own words: ") if question.choices else "", answer.text))
    lines += [_after(tr("note: "), answer.note)] if answer.note else []
    return [*lines, *(tr("attached: {file}", file=attachment_words(each)) for each in answer.attachments)]


def attachment_words(attachment: Attachment) -> str:
    """A picture or file in a line."""
    return f"{one_line(attachment.name, 100)} ({attachment.media}, {file_size(attachment.size)})"


def event_line(event: Event) -> str:
    """One event: when, what, from which state to which, by whom, from where, why."""
    after = translated(event.after)
    states = f"{translated(event.before or 'new')} → {after}" if event.before != event.after else after
    by = tr(" by {person}", person=one_line(event.person, 60)) if event.person and event.surface != ITS_CALL else ""
    where = f" {translated(words.place(event.surface, 60))}" if event.surface else ""
    if event.surface == CLIENT_FORM:
        where = tr(" through the client's own form")
    why = f" ({translated(one_line(event.detail, 200))})" if event.detail else ""
    return f"{moment(event.at)}  {translated(event.kind)}: {states}{by}{where}{why}"


def _facts(ask: Ask) -> str:
    standing = status(ask)
    meaning, until = WAITS_FOR_SAY_SO if _waits_for_say_so(ask) else MEANINGS.get(standing), stops_waiting_at(ask)
    facts = {
        tr("Status"): f"{translated(standing)}: {tr(meaning)}" if meaning else translated(standing),
        tr("Asked"): f"{moment(ask.created_at)} ({ago(ask.created_at)})",
        tr("From"): _who(ask.asker),
        tr("Call"): tr("{call} of {tool}", call=ask.call_id, tool=one_line(ask.tool, 60)),
        tr("Title"): one_line(ask.title, 200),
        tr("Digest"): ask.digest,
        tr("Limit"): tr("waits until {when}", when=moment(until)) if until else "",
    }
    lines = [f"  {name:<8}{value}" for name, value in facts.items() if value]
    return "\n".join([f"{bold(tr('Ask'))} {ask.id}", *lines])


def _waits_for_say_so(ask: Ask) -> bool:
    return ask.is_permission and ask.state.answerable and listening(ask) is Listening.WAITING


def _who(asker: Asker) -> str:
    parts = [
        " ".join(filter(None, (one_line(asker.client, 60) or tr("an agent"), one_line(asker.version, 30)))),
        tr("in {place}", place=place(asker.project)) if asker.project else "",
        tr("branch {branch}", branch=one_line(asker.branch, 60)) if asker.branch else "",
        tr("on {host}", host=one_line(asker.host, 60)) if asker.host else "",
        tr("session {name}", name=session_of(asker)) if asker.session else "",
        tr("process {pid}", pid=asker.pid) if asker.pid else "",
    ]
    return ", ".join(filter(None, parts))


def _hints(question: Question) -> Iterator[str]:
    how = tr(_HOW[question.kind]) + ("" if question.required else tr("; optional"))
    title = f"{' '.join(block(question.title, '').split())}: " if question.title else ""
    yield dim(f"   {title}{how}")
    if question.placeholder:
        yield _after(tr("   for example: "), question.placeholder)


def _option_lines(number: int, option: Option) -> Iterator[str]:
    yield _after(f"   {number}) ", option.name) + (tr(" (recommended)") if option.recommended else "")
    if option.description:
        yield dim(block(option.description, " " * 6))
    if option.picture:
        yield tr("      picture: {file}", file=attachment_words(option.picture))
    if option.preview.strip():
        yield block(option.preview, " " * 8)


def _end(ask: Ask) -> str:
    import textwrap

    lines = [_outcome_line(ask)]
    if ask.state is State.ANSWERED and not ask.is_permission:
        for number, question in enumerate(ask.questions, start=1):
            said = "\n".join(answer_lines(question, ask.answer(question.id)))
            lines.append(f"  {number}. " + textwrap.indent(said, "     ").lstrip())
    if reason := reason_of(ask):
        lines.append(_after(tr("  Reason: "), reason))
    if noted := noted_of(ask):
        lines.append(_after("  ", f"{noted}."))
    from sayso.cli.action_card import edited_lines

    return "\n".join([*lines, *edited_lines(ask)])


def reason_of(ask: Ask) -> str:
    """Why it ended so: what happened instead, or what a person said, which is told as they said it."""
    if ask.outcome is None or (ask.state is State.ANSWERED and not ask.is_permission):
        return ""
    void = "" if ask.lapsed else ask.outcome.void
    return translated(ask.withdrawn or void) or ask.outcome.reason


def noted_of(ask: Ask) -> str:
    """What its client's own record says besides."""
    return translated(ask.outcome.noted) if ask.outcome else ""


def _outcome_line(ask: Ask) -> str:
    ended = moment(ask.ended_at or ask.changed_at)
    by = ""
    if ask.outcome and not ask.let_go:
        person, surface = one_line(ask.outcome.person, 60), one_line(ask.outcome.surface, 60)
        where = translated(words.place(surface, 60))
        by = tr(" by {person} {place}", person=person or tr("someone"), place=where)
        if surface == CLIENT_FORM:
            by = tr(" through {client}'s own form", client=one_line(ask.asker.client, 60) or tr("the client"))
    late = tr(", after the wait had timed out") if ask.outcome and ask.outcome.late else ""
    got = tr("The agent has not fetched it yet.")
    if ask.lapsed:
        got = tr("The agent did not fetch it in time, so it had no effect.")
    elif ask.delivered_at:
        got = tr("The agent got it {when}.", when=moment(ask.delivered_at))
    if ask.withdrawn or ask.let_go or ask.outcome is None:
        got = tr("Its call had ended before anybody decided.") if ask.abandoned else ""
    return f"{bold(translated(status(ask)).capitalize())}{by}, {ended}{late}. {got}".rstrip()


def _after(start: str, text: str) -> str:
    """The text's block with its first line behind `start`."""
    return start + block(text, " " * len(start))[len(start) :]
