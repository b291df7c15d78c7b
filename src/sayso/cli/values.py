"""From what a person typed to answers: which option a value names, which question a key names.

Nothing is guessed: a value that fits two options or all but fits one, or a key that fits two questions, is an error
that says how to be clear. A value that names no option is the person's own text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence

from sayso.asks.model import NO, YES, Answer, Ask, Kind, Option, Question, unmarked
from sayso.cli.texts import language, tr
from sayso.errors import InvalidInput, Problem, Problems
from sayso.text import quoted

STDIN = "-"
MOST_BYTES = 64 * 1024 * 1024
_NUMBER = re.compile(r"[0-9]{1,9}")
_NUMBERS = re.compile(r"\s*#?[0-9]{1,9}(?:\s+#?[0-9]{1,9})+\s*")
_NUMBERED = re.compile(r"#([0-9]{1,9})")
_LITERAL = re.compile(r'"(.+)"', re.DOTALL)
"""Own text that would otherwise be an option's number or label, or look like a slip of the pen."""
_LONGEST_SLIP = 100
_ALIKE = 0.8
Reading = Callable[[Question, str], tuple[str, Option | None]]
_WORDS_FOR = {"yes": YES, "y": YES, "true": YES, "1": YES, "no": NO, "n": NO, "false": NO, "2": NO}
"""The numbers are those under which lists show the two."""
_WORDS_IN = {"de": {"ja": YES, "nein": NO}}
"""No letter alone in another language: the j of a German yes lies beside the n of a no."""


def answers_from(ask: Ask, values: Sequence[str], pairs: Sequence[str]) -> list[Answer]:
    """The answers that the values of the only question, or `KEY=VALUE` pairs, stand for."""
    if values and pairs:
        raise _invalid("Give either VALUEs or -q KEY=VALUE, not both.")
    if values and len(ask.questions) != 1:
        keys = " ".join(f"-q {number}=VALUE" for number in range(1, len(ask.questions) + 1))
        raise _invalid(f"This ask has {len(ask.questions)} questions, so say which one is answered: {keys}.")
    given = [(ask.questions[0], value) for value in values] or [_pair(ask, pair) for pair in pairs]
    if sum(value == STDIN for _, value in given) > 1:
        raise _invalid(f"Only one value can be read from standard input ({STDIN}).")
    return _all_answers(ask, [(question, stdin_text() if value == STDIN else value) for question, value in given])


def stdin_text() -> str:
    """All of standard input as one text, without its last line break."""
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if sys.stdin else b""
    if len(data) > MOST_BYTES:
        raise _invalid(f"Standard input holds more than {MOST_BYTES:,} bytes. Shorten it.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _invalid(f"Standard input is not UTF-8 text (byte {error.start + 1}).") from None
    return text.removesuffix("\n").removesuffix("\r")


def answer_to(question: Question, values: Sequence[str]) -> Answer:
    """One question's answer; several values are for a multi-select only."""
    if len(values) > 1 and question.kind is not Kind.MULTI_SELECT:
        raise _invalid(f"takes one value, got {len(values)}. Put quotes around a value of several words.")
    if question.kind is Kind.TEXT:
        return Answer(question=question.id, text=values[0])
    return _answer(question, [_given(question, value, _meant) for value in values], "\n")


def answer_typed(question: Question, typed: str) -> Answer:
    """The answer that a line at a prompt stands for: there a bare number names an option, and commas part several, or
    blanks where there are numbers alone."""
    if question.kind is Kind.TEXT:
        return Answer(question=question.id, text=typed)
    whole = _given(question, typed, _typed)
    if question.kind is not Kind.MULTI_SELECT or whole[1]:
        return _answer(question, [whole], "")
    several = typed.split() if _NUMBERS.fullmatch(typed) else typed.split(",")
    parts = [_given(question, part.strip(), _typed) for part in several if part.strip()]
    # Where no part names an option, it was a sentence with commas in it.
    return _answer(question, parts if any(option for _, option in parts) else [whole], ", ")


def _answer(question: Question, named: Sequence[tuple[str, Option | None]], between: str) -> Answer:
    chosen = tuple(option.id for _, option in named if option)
    own = [text for text, option in named if option is None]
    return Answer(question=question.id, chosen=chosen, text=between.join(own) if own else None)


def _given(question: Question, value: str, read: Reading) -> tuple[str, Option | None]:
    """What a value means, in either way of giving it; own words that were probably meant for an option are refused."""
    text, option = read(question, value)
    if option is None and text == value:
        _refuse_slip(question, text, _HOW_TO_QUOTE[read])
    return text, option


def _typed(question: Question, typed: str) -> tuple[str, Option | None]:
    text, option = _meant(question, typed)
    if question.kind is Kind.CONFIRM or not _NUMBER.fullmatch(typed):
        return text, option
    number = int(typed)
    if option is None:
        return text, _numbered(question, number)
    if 1 <= number <= len(question.choices) and question.choices[number - 1] is not option:
        other = question.choices.index(option) + 1
        raise _invalid(f"{number} is a number and also the label of another option. Type #{number} or #{other}.")
    return text, option


def _meant(question: Question, value: str) -> tuple[str, Option | None]:
    """The option a value names: by `#2`, by its label, by its label in another case. Without one it is own text."""
    if (literal := _LITERAL.fullmatch(value)) and not _is_plain(question, literal[1]):
        return literal[1], None
    if number := _NUMBERED.fullmatch(value.strip()):
        return value, _numbered(question, int(number[1]))
    if question.kind is Kind.CONFIRM:
        return value, _yes_or_no(value)
    fitting = _labelled(question, value)
    if len(fitting) > 1:
        numbers = " or ".join(f"#{number}" for number, _ in fitting)
        raise _invalid(f"{quoted(value)} is the label of more than one option. Say which by its number: {numbers}.")
    return value, fitting[0][1] if fitting else None


def _is_plain(question: Question, text: str) -> bool:
    """Whether it is own text without quotes around it, too."""
    return not (
        text == "#" or _NUMBER.fullmatch(text.lstrip("#")) or _labelled(question, text) or _nearest(question, text)
    )


def _refuse_slip(question: Question, text: str, quotes: str) -> None:
    """Nobody can take an answer back, so what was probably meant for an option is not sent as own words."""
    typed, most = text.strip(), len(question.choices)
    if typed == "#":
        raise _invalid(f"# needs the number of an option, #1 to #{most}. To send just this, put {quotes}.")
    if _NUMBER.fullmatch(typed) and 1 <= int(typed) <= most:
        raise _invalid(f"an option is named by # and its number, here #{typed}. To send {typed} itself, put {quotes}.")
    if near := _nearest(question, text):
        number = question.choices.index(near) + 1
        raise _invalid(
            f"{quoted(text)} is no option, but close to {quoted(near.label)}. Give #{number} for that one; to send "
            f"your own words as they are, put {quotes}."
        )


_HOW_TO_QUOTE: Mapping[Reading, str] = {
    _meant: "double quotes inside the shell's: '\"...\"'",
    _typed: 'them in double quotes: "..."',
}


def _nearest(question: Question, text: str) -> Option | None:
    """The option whose label is begun, or all but hit, by the text."""
    import difflib  # only where own words are given in the place of an option

    typed = _unmarked(text)
    if not 0 < len(typed) < _LONGEST_SLIP:
        return None
    labels = {_unmarked(option.label): option for option in question.choices}
    begun = [label for label in labels if label.startswith(typed)]
    found = begun or difflib.get_close_matches(typed, labels, n=1, cutoff=_ALIKE)
    return labels[found[0]] if found else None


def _numbered(question: Question, number: int) -> Option:
    if not 1 <= number <= len(question.choices):
        raise _invalid(
            f"there is no option #{number}; its options are #1 to #{len(question.choices)}. "
            "To say the number itself, put it in double quotes."
        )
    return question.choices[number - 1]


def _labelled(question: Question, value: str) -> list[tuple[int, Option]]:
    """The options whose label the value is, by the strictest reading that fits any."""
    for read in (str, _folded, _unmarked):
        wanted = read(value)
        if fitting := [(place, item) for place, item in enumerate(question.choices, 1) if read(item.label) == wanted]:
            return fitting
    return []


def _folded(text: str) -> str:
    return text.strip().casefold()


def _unmarked(label: str) -> str:
    """The label without its own "(recommended)"."""
    return _folded(unmarked(label))


def _yes_or_no(value: str) -> Option:
    word = _folded(value)
    if option := _WORDS_FOR.get(word) or _WORDS_IN.get(language(), {}).get(word):
        return option
    raise _invalid(f"it takes yes or no (or y, n, true, false), not {quoted(value)}.")


def question_and_value(ask: Ask, given: str, option: str, name: str) -> tuple[Question, str]:
    """The question that something is for, and what it is: the only one, or that of `KEY=` before it."""
    return (ask.questions[0], given) if len(ask.questions) == 1 else _pair(ask, given, option, name)


def _pair(ask: Ask, pair: str, option: str = "-q", name: str = "VALUE") -> tuple[Question, str]:
    """The question and the value of `KEY=VALUE`. A key may itself hold an equals sign, so it is looked for."""
    found: dict[str, tuple[Question, str]] = {}
    for number, question in enumerate(ask.questions, start=1):
        for key in (question.id, str(number), f"#{number}"):
            if pair.startswith(f"{key}="):
                found[question.id] = (question, pair[len(key) + 1 :])
    if len(found) == 1:
        return next(iter(found.values()))
    known = ", ".join(f"#{number} ({quoted(question.id)})" for number, question in enumerate(ask.questions, start=1))
    shown = quoted(pair)
    text = f"{shown} names no question. Write KEY={name}; the keys are {known}."
    if found:
        text = f"{shown} fits more than one question. Write KEY={name}; the keys are {known}."
    raise InvalidInput([Problem(path=option, text=text)])


def _all_answers(ask: Ask, given: Sequence[tuple[Question, str]]) -> list[Answer]:
    problems, answers = Problems(), []
    for number, question in enumerate(ask.questions, start=1):
        values = [value for asked, value in given if asked is question]
        try:
            answers += [answer_to(question, values)] if values else []
        except InvalidInput as error:
            for problem in error.problems:
                problems.add(tr("question {number}", number=number), problem.text)
    problems.check()
    return answers


def _invalid(text: str) -> InvalidInput:
    return InvalidInput([Problem(path="", text=text)])
