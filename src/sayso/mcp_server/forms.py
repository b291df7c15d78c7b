"""An ask as a form of its client: which fields it has, what each says, and the answers read back from them.

Some clients show the fields in the order of their keys, others as they stand: here that is the same order. No key is a
bare number, because JavaScript would put those before all others. What a form may hold depends on the version of the
protocol: 2025-06-18 knows no multi-select.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayso.asks.model import Answer, Ask, Kind, Option, Question
from sayso.clients import known
from sayso.protocol.versions import MODERN, RICH_FORMS
from sayso.text import one_line

KEYS = "numbered"
"""How the fields are named. What was filled in under other names must not be read as if it were under these."""

_OTHER = Option(id="other", label="Other: in my own words")
_TICKED = "Take what I ticked"
_TICKED_AND_MORE = "Take what I ticked, and add my own words"
"""Boxes can be left alone by mistake, so several choices on old forms end with one that must be made."""

_LEFT_OUT = "Leave this out"
_OWN_WORDS = "Answer in my own words"

_LINE = 80
_WIDTH = 72
"""Characters of a line that a terminal of 80 columns shows of a form's message."""

_WANTED = {
    Kind.TEXT: "Your answer",
    Kind.CONFIRM: "Your answer",
    Kind.SELECT: "Your choice",
    Kind.MULTI_SELECT: "Your choices",
}


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the client is to show."""

    message: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class FormEntry:
    """One question in a form: what its field is called, what stands beside it, and what the message says of it."""

    question: Question
    key: str
    title: str
    beside: str = ""
    above: str = ""
    alone: bool = False

    @property
    def other(self) -> str:
        return f"{self.key}_other"

    @property
    def ticked(self) -> str:
        return f"{self.key}_ticked"

    @property
    def whether(self) -> str:
        """Where one says first whether one wants to write something."""
        return f"{self.key}_whether"

    @property
    def words(self) -> str:
        """Where own words are written."""
        return self.key if self.question.kind is Kind.TEXT else self.other

    def boxes(self) -> Iterator[tuple[str, Option]]:
        options = self.question.options
        return zip(_numbered(f"{self.key}_box", len(options)), options, strict=True)


def form_for(ask: Ask, version: str, client: str) -> Form | None:
    """The ask as a form, or None where a form could be accepted without anything filled in."""
    program = known(client)
    # From 2026-07-28 on a form is a round of its call, and no second one can follow in the same round.
    line, text_may_be_empty = program.form_line, program.leaves_text_empty or version >= MODERN
    properties: dict[str, Any] = {}
    required: list[str] = []
    entries = _entries(ask, line)
    for entry in entries:
        boxes = entry.question.kind is Kind.MULTI_SELECT and version < RICH_FORMS
        fields = _boxes(entry, version) if boxes else _fields(entry, version, line)
        properties |= fields if text_may_be_empty else _without_optional_text(entry, fields, version)
        if entry.question.required:
            required.append(entry.ticked if boxes else entry.key)
    if not required:
        return None
    message = _message(ask, entries)
    if program.form_lines:
        message = _within(program.form_lines, message, ask)
    return Form(message=message, schema={"type": "object", "properties": properties, "required": required})


def form_for_words(ask: Ask, content: Mapping[str, Any], client: str) -> Form | None:
    """A second form, where somebody chose to answer in their own words and has not written any yet."""
    entries = _entries(ask, known(client).form_line)
    wanted = [entry for entry in entries if _wants_words(entry, content) and not content.get(entry.words)]
    if not wanted:
        return None
    fields = {
        entry.words: {"type": "string", **_about("Your own words" if entry.alone else entry.title, entry.beside)}
        for entry in wanted
    }
    return Form(
        message=_message(ask, entries), schema={"type": "object", "properties": fields, "required": list(fields)}
    )


def _wants_words(entry: FormEntry, content: Mapping[str, Any]) -> bool:
    if content.get(entry.ticked) == _TICKED_AND_MORE or content.get(entry.whether) == _OWN_WORDS:
        return True
    chosen = content.get(entry.key)
    return entry.question.kind is Kind.SELECT and _option(entry.question, chosen) is _OTHER


def answers_from(ask: Ask, content: Mapping[str, Any]) -> list[Answer]:
    """What a person filled in. Whether it fits is for the desk to say."""
    return [_answer(entry, content) for entry in _entries(ask, None)]


def _numbered(prefix: str, count: int) -> list[str]:
    digits = len(str(count))
    return [f"{prefix}{number:0{digits}}" for number in range(1, count + 1)]


def _entries(ask: Ask, line: int | None) -> list[FormEntry]:
    keys = _numbered("q", len(ask.questions))
    if len(keys) == 1:
        return [_alone(ask, ask.questions[0], keys[0], line)]
    numbered = enumerate(zip(keys, ask.questions, strict=True), start=1)
    return [_among(question, key, f"Question {number}", line) for number, (key, question) in numbered]


def _alone(ask: Ask, question: Question, key: str, line: int | None) -> FormEntry:
    """The only question: the message is about it alone, so its field need not repeat it."""
    named = question.title not in ("", ask.title, question.text) and _fits(question.title, line)
    title = question.title if named else _WANTED[question.kind]
    above = "\n".join([question.text, *_meanings(question, line)])
    return FormEntry(question=question, key=key, title=title, above=above, alone=True)


def _among(question: Question, key: str, number: str, line: int | None) -> FormEntry:
    """One of several: what it says stands beside its field, or in the message where the client would cut it."""
    title = next((text for text in (question.title, question.text) if text and _fits(text, line)), number)
    text = [] if title == question.text else [question.text]
    meanings = _meanings(question, line)
    rest = "\n".join([*text, *meanings])
    if line is None or _fits(rest, line):
        return FormEntry(question=question, key=key, title=title, beside=rest)
    return FormEntry(question=question, key=key, title=title, above="\n".join([": ".join([title, *text]), *meanings]))


def _fits(text: str, line: int | None) -> bool:
    return "\n" not in text and len(text) <= (line or _LINE)


def _message(ask: Ask, entries: Sequence[FormEntry]) -> str:
    (first, *more) = (entry.above for entry in entries)
    if not more:
        return first if ask.title in ("", ask.questions[0].text) else f"{ask.title}\n\n{first}"
    title = ask.title or f"{len(entries)} questions from {ask.asker.client or 'the agent'}"
    return "\n\n".join(part for part in (title, first, *more) if part)


def _within(lines: int, message: str, ask: Ask) -> str:
    """The message for a client that cuts it: wrapped to what fits, or led by where it can be read whole."""
    wrapped = [part for line in message.split("\n") for part in textwrap.wrap(line, _WIDTH)]
    if len(wrapped) > lines:
        wrapped.insert(0, f"Shortened here. To read it whole: sayso show {ask.id[:8]}")
    return "\n".join(wrapped)


def _fields(entry: FormEntry, version: str, line: int | None) -> dict[str, Any]:
    about, question = _about(entry.title, entry.beside), entry.question
    if question.kind is Kind.TEXT:
        return {entry.key: {"type": "string", **about}}
    shown = _shown(question, line)
    if question.kind is Kind.MULTI_SELECT:
        items = {"anyOf": _titled(shown)}
        return {entry.key: {"type": "array", "items": items, **about}, entry.other: _own_words(entry)}
    choice = {entry.key: {"type": "string", **_choices(shown, version), **about}}
    return choice if question.kind is Kind.CONFIRM else {**choice, entry.other: _own_words(entry)}


def _boxes(entry: FormEntry, version: str) -> dict[str, Any]:
    """Several choices where the protocol knows only one: a box for each, and at the end that they are meant."""
    boxes = {
        key: {"type": "boolean", "default": False, **_about(_marked(option), _beside_box(entry, option))}
        for key, option in entry.boxes()
    }
    taken = {_TICKED: _TICKED}
    return {
        **boxes,
        entry.other: _own_words(entry),
        entry.ticked: {"type": "string", **_choices(taken, version), "title": entry.title},
    }


def _beside_box(entry: FormEntry, option: Option) -> str:
    """The question too: a client may show each field by itself."""
    return "" if entry.above else "\n".join(text for text in (entry.question.text, option.description) if text)


def _without_optional_text(entry: FormEntry, fields: Mapping[str, Any], version: str) -> dict[str, Any]:
    """The fields for a client that insists on every text: own words come in a second form, to those who want them."""
    if entry.question.kind is Kind.TEXT and not entry.question.required:
        choice = _choices({_LEFT_OUT: _LEFT_OUT, _OWN_WORDS: _OWN_WORDS}, version)
        return {entry.whether: {**fields[entry.key], **choice}}
    kept = {key: field for key, field in fields.items() if key != entry.other}
    if entry.ticked in kept:
        kept[entry.ticked] |= _choices({_TICKED: _TICKED, _TICKED_AND_MORE: _TICKED_AND_MORE}, version)
    return kept


def _about(title: str, beside: str) -> dict[str, str]:
    return {"title": title, "description": beside} if beside else {"title": title}


def _own_words(entry: FormEntry) -> dict[str, Any]:
    choices = "the choices" if entry.alone else f'the choices for "{entry.title}"'
    return {"type": "string", "title": _OTHER.label, "description": f"Only if none of {choices} fits."}


def _choices(shown: Mapping[str, str], version: str) -> dict[str, Any]:
    if version >= RICH_FORMS:
        return {"oneOf": _titled(shown)}
    return {"enum": list(shown), "enumNames": list(shown.values())}


def _titled(shown: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in shown.items()]


def _shown(question: Question, line: int | None) -> dict[str, str]:
    """What a form shows for each value. Numbered where the client would cut one, because the message has them whole."""
    named = {value: _marked(option, value) for value, option in _by_value(_offered(question)).items()}
    if not _is_cut(question, line):
        return named
    return {value: f"{number}. {one_line(name)}" for number, (value, name) in enumerate(named.items(), start=1)}


def _meanings(question: Question, line: int | None) -> list[str]:
    """What the options mean, which a form has no other place for."""
    if _is_cut(question, line):
        return [f"{number}. {_meaning(option)}" for number, option in enumerate(question.options, start=1)]
    return [f"- {_meaning(option)}" for option in question.options if option.description]


def _meaning(option: Option) -> str:
    return f"{option.label}: {option.description}" if option.description else option.label


def _is_cut(question: Question, line: int | None) -> bool:
    return line is not None and any(not _fits(option.label, line) for option in question.options)


def _by_value(options: Sequence[Option]) -> dict[str, Option]:
    """The options by what a form sends back for each: its label, because some clients show just that.
    Equal labels are numbered."""
    named: dict[str, Option] = {}
    for option in options:
        value, number = option.label, 1
        while value in named:
            number += 1
            value = f"{option.label} ({number})"
        named[value] = option
    return named


def _marked(option: Option, value: str = "") -> str:
    name = value or option.label
    return f"{name} (recommended)" if option.recommended and "recommended" not in option.label.lower() else name


def _offered(question: Question) -> tuple[Option, ...]:
    """What a form offers; where one is to be chosen, own words are one of the choices."""
    return (*question.options, _OTHER) if question.kind is Kind.SELECT else question.choices


def _answer(entry: FormEntry, content: Mapping[str, Any]) -> Answer:
    question, value, own = entry.question, content.get(entry.key), content.get(entry.other)
    text = own if isinstance(own, str) and own.strip() else None
    match question.kind:
        case Kind.TEXT:
            return Answer(question=question.id, text=value if isinstance(value, str) and value else None)
        case Kind.MULTI_SELECT:
            ticked = tuple(option.id for key, option in entry.boxes() if content.get(key) is True)
            chosen = tuple(_option_id(question, item) for item in value) if isinstance(value, list) else ticked
            return Answer(question=question.id, chosen=chosen, text=text)
    if value in (None, "") or _option(question, value) is _OTHER:
        return Answer(question=question.id, text=text)
    # A choice and own words together: the words are about the choice.
    return Answer(question=question.id, chosen=(_option_id(question, value),), note=text or "")


def _option(question: Question, value: object) -> Option | None:
    return _by_value(_offered(question)).get(str(value))


def _option_id(question: Question, value: object) -> str:
    """The id of the option that a form sent back; what is none stays as it is, for the desk to refuse."""
    option = _option(question, value)
    return option.id if option else str(value)
