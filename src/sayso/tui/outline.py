"""A whole ask as text to read: for the preview beside the inbox, for the history, and for copying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from sayso.asks.crowds import Crowd
from sayso.asks.model import CLIENT_FORM, Answer, Ask, Event, Option, Question, State
from sayso.asks.words import with_previews
from sayso.records import replace
from sayso.text import one_line, printable
from sayso.tui.markdown import Block, blocks, cut
from sayso.tui.one_key import keys_for
from sayso.tui.shared import Shared
from sayso.tui.wording import WIDEST_TAB

_MOST_QUESTION = 2_000
_MOST_OPTIONS = 30
_MOST_ANSWER = 4_000


def question_blocks(shared: Shared, question: Question, option: Option | None = None) -> Iterator[Block]:
    """A question's text, with what this option would look like, and a last line that says what was left out."""
    part = cut(with_previews(replace(question, options=(option,) if option else ()), WIDEST_TAB))
    yield from blocks(part.text)
    if part.left_out:
        told = shared.texts.cut.format(n=f"{part.left_out:,}", key=shared.keys.shown("whole"))
        yield Block(content=Content.styled(told, "$mark"))


def preview(shared: Shared, ask: Ask) -> list[Block]:
    """What an ask is, before it is opened."""
    found = list(_head(shared, ask))
    if ask.wanted is not None:
        return [*found, *_card_blocks(shared, ask)]
    for place, question in enumerate(ask.questions):
        found += _numbered(shared, place, question)
        keys = {chosen: key for key, chosen in keys_for(ask).items()}
        for option in question.choices[:_MOST_OPTIONS]:
            found.append(_option(shared, question, option, keys.get(option.id, "-")))
        if len(question.choices) > _MOST_OPTIONS:
            found.append(_line("…", tight=True))
    return found


def crowd_preview(shared: Shared, crowd: Crowd, asks: Sequence[Ask]) -> list[Block]:
    """What an agent has open that has much open."""
    found = list(_head(shared, replace(crowd.newest, title=shared.wording.how_many(crowd))))
    found.append(_line(shared.texts.crowd_about.format(key=shared.keys.shown("open"))))
    for place, ask in enumerate(asks[:_MOST_OPTIONS]):
        told = Content(shared.wording.headline(ask))
        found.append(Block(content=told, first=" - ", rest="   ", tight=place > 0))
    return [*found, _line("…", tight=True)] if len(asks) > _MOST_OPTIONS else found


def record(shared: Shared, ask: Ask, events: Sequence[Event]) -> list[Block]:
    """What became of an ask: what was asked, what was said, by whom and where, and all that happened to it."""
    wording = shared.wording
    found = list(_head(shared, ask))
    found.append(_line(f"{wording.settled_by(ask)}, {wording.when(ask.ended_at)}", "bold"))
    if ask.outcome and ask.outcome.why:
        reason = one_line(ask.outcome.why, _MOST_ANSWER)
        found.append(_line(shared.texts.history_reason.format(reason=reason), tight=True))
    if ask.outcome and ask.outcome.noted:
        found.append(_line(f"{shared.translated(ask.outcome.noted)}.", tight=True))
    found.append(_line(_delivery(shared, ask), "$muted", tight=True))
    if not ask.questions:
        found.append(_line(shared.texts.history_wiped, "$muted"))
    found += _card_blocks(shared, ask)
    found += _edit_blocks(shared, ask)
    for place, question in enumerate(ask.questions if ask.wanted is None else ()):
        found += _numbered(shared, place, question)
        if ask.state is State.ANSWERED:
            found += _said(shared, question, ask.answer(question.id))
            found += _not_chosen(shared, question, ask.answer(question.id))
    found.append(_line(shared.texts.history_events, "bold"))
    found += [_line(event_line(shared, event), "$muted", tight=True) for event in events]
    return found


def event_line(shared: Shared, event: Event) -> str:
    """One thing that happened: when, what, by whom."""
    texts = shared.texts
    kinds = ("opened", "attended", "unattended", "resumed", "delivered", "refused", "noted")
    words = {name: getattr(texts, name) for name in kinds}
    words |= {"allowed": texts.permission_allowed, "denied": texts.permission_denied}
    what = words.get(event.kind) or shared.wording.state(event.after)
    who = f" {shared.wording.said_by(event.person, event.surface)}" if event.person else ""
    if event.surface == CLIENT_FORM:
        who = f" {texts.by_its_form}"
    return f"{shared.wording.when(event.at)}  {what}{who}"


def whole_text(shared: Shared, ask: Ask) -> str:
    """Everything an agent wrote, for a pager: nothing cut, nothing that drives a terminal."""
    parts = [printable(ask.title), shared.texts.asked_in.format(**_who(shared, ask))]
    if ask.wanted is not None:
        return "\n\n".join([*parts, _card_text(shared, ask)]) + "\n"
    for place, question in enumerate(ask.questions):
        parts.append(f"{place + 1}. {printable(with_previews(question))}")
        parts += [
            f"   - {printable(option.label)}\n     {printable(option.description)}" for option in question.choices
        ]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def copy_text(shared: Shared, ask: Ask, answers: Sequence[Answer]) -> str:
    """Questions and answers for the clipboard, as they were written."""
    given = {answer.question: answer for answer in answers}
    parts = [ask.title] if ask.title else []
    if ask.wanted is not None:
        parts.append(_card_text(shared, ask))
    for place, question in enumerate(ask.questions if ask.wanted is None else ()):
        parts.append(f"{place + 1}. {question.text}")
        answer = given.get(question.id, Answer(question=question.id))
        parts += [f"   → {line}" for line in shared.wording.answer_lines(question, answer)]
    if ask.outcome and ask.outcome.why:
        parts.append(shared.texts.history_reason.format(reason=ask.outcome.why))
    if ask.outcome and ask.outcome.noted:
        parts.append(f"{shared.translated(ask.outcome.noted)}.")
    return "\n".join(parts)


def _who(shared: Shared, ask: Ask) -> dict[str, str]:
    wording = shared.wording
    return {"client": wording.client(ask), "project": _where(ask), "host": wording.host(ask)}


def _where(ask: Ask) -> str:
    branch = one_line(ask.asker.branch, 80)
    return one_line(ask.asker.project, 200) + (f" ({branch})" if branch else "")


def _head(shared: Shared, ask: Ask) -> Iterator[Block]:
    if ask.title:
        yield _line(shared.wording.headline(ask), "bold", tight=True)
    apart = shared.wording.apart(ask, shared.board.lookalikes) if ask.state.answerable else []
    told = [shared.texts.asked_in.format(**_who(shared, ask)), *(part for part in apart if part)]
    yield _line(" · ".join(told), "$muted", tight=True)


def _numbered(shared: Shared, place: int, question: Question) -> list[Block]:
    """A question with its number before it."""
    part = cut(with_previews(question), _MOST_QUESTION)
    found = list(blocks(part.text)) + ([_line("…")] if part.left_out else [])
    number = f"{place + 1}. "
    first, *others = [
        replace(each, first=" " * len(number) + each.first, rest=" " * len(number) + each.rest) for each in found
    ]
    return [replace(first, first=number + first.first[len(number) :], tight=False), *others]


def _option(shared: Shared, question: Question, option: Option, sign: str) -> Block:
    parts: list[tuple[str, str]] = [(shared.wording.option(question, option.id), "")]
    if option.recommended:
        parts.append((f" ({shared.texts.recommended})", "$mark"))
    if option.description:
        parts.append((f": {one_line(option.description, 200)}", "$muted"))
    return Block(content=Content.assemble(*parts), first=f"   {sign} ", rest="     ", tight=True)


def _said(shared: Shared, question: Question, answer: Answer | None) -> Iterator[Block]:
    lines = shared.wording.answer_lines(question, answer) if answer else []
    for line in lines or [shared.texts.not_answered]:
        shown = printable(line[:_MOST_ANSWER])
        yield Block(
            content=Content.styled(shown, "$primary" if lines else "$muted"), first="   → ", rest="     ", tight=True
        )


def _not_chosen(shared: Shared, question: Question, answer: Answer | None) -> Iterator[Block]:
    chosen = answer.chosen if answer else ()
    others = [option.id for option in question.choices if option.id not in chosen]
    if others:
        named = ", ".join(shared.wording.option(question, each) for each in others[:_MOST_OPTIONS])
        more = ", …" if len(others) > _MOST_OPTIONS else ""
        told = shared.texts.not_chosen.format(options=named + more)
        yield Block(content=Content.styled(told, "$muted"), first="     ", rest="     ", tight=True)


def _delivery(shared: Shared, ask: Ask) -> str:
    if ask.lapsed:
        return shared.texts.history_lapsed
    if ask.delivered:
        return shared.texts.history_delivered.format(when=shared.wording.when(ask.delivered_at))
    return shared.texts.history_undelivered


def _line(text: str, style: str = "", *, tight: bool = False) -> Block:
    return Block(content=Content.styled(text, style), tight=tight)


def _card_blocks(shared: Shared, ask: Ask) -> list[Block]:
    from sayso.tui.action_card import action_blocks  # the inbox opens sooner without

    return action_blocks(shared, ask)


def _edit_blocks(shared: Shared, ask: Ask) -> list[Block]:
    from sayso.permissions.verdict import verdict_of
    from sayso.tui.action_card import edit_blocks

    verdict = verdict_of(ask)
    return edit_blocks(shared, ask, verdict.action) if verdict and verdict.edited and verdict.action else []


def _card_text(shared: Shared, ask: Ask) -> str:
    from sayso.tui.action_card import action_text

    return action_text(shared, ask)
