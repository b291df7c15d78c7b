"""Adding a rule to the person's own file: at its end, with everything that stands there left as it is.

The new file is read by the rules' own reader before it counts, and lies ready on the disk before anything is decided
because of it. Whoever adds holds a lock, so that of two at once neither loses the other's rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sayso.errors import InvalidInput, Problem
from sayso.files import prepared_file
from sayso.rules.files import read_file
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules
from sayso.rules.replacing import changing, replace_if_same
from sayso.rules.rule import Rule, RulesFile
from sayso.text import one_line

NOTE = "Added on"
"""How the comment above a rule begins that was added here."""

FAULTY = "nothing can be added to your rules, because there is an error in them: {fault}"
NOT_A_RULE = "this is no rule: {fault}"
NOT_AT_THE_END = "nothing can be added at the end of {file}: {why}. Write the rule into it yourself."
NOT_WRITTEN = "your rules cannot be written: {why}."
ONLY_ALLOWED = "this one action was allowed, but there is no rule: your rules could not be written: {why}."


@dataclass(frozen=True, kw_only=True)
class NewRule:
    """A rule that allows. `project` is the folder that it holds in, empty for everywhere; `note` stands above it."""

    patterns: tuple[str, ...]
    project: str = ""
    note: str = ""

    @property
    def toml(self) -> str:
        patterns = ", ".join(map(_text, self.patterns))
        when = [f"when = {{ project = {_text(self.project)} }}"] if self.project else []
        note = [f"# {one_line(self.note, 300)}"] if self.note else []
        return "\n".join([*note, "[[rule]]", f"allow = [{patterns}]", *when, ""])


@dataclass(frozen=True, kw_only=True)
class ReadyRule:
    """A rule that lies ready: `put` makes it count."""

    rule: Rule
    hash: str
    put: Callable[[], None]


def as_rule(new: NewRule) -> Rule:
    """What those who read rules make of it. InvalidInput says what is wrong with it."""
    read = read_rules(new.toml.encode(), Path("rule"), RuleLevel.PERSON)
    if read.faults or len(read.rules) != 1:
        why = read.faults[0].text if read.faults else "it is more than one"
        raise _invalid(NOT_A_RULE.format(fault=why))
    return read.rules[0]


@contextmanager
def made_ready(file: Path, new: NewRule, state_dir: Path) -> Iterator[ReadyRule]:
    """The rule at the end of the file, with everything in place but the last step. Nobody else adds one meanwhile."""
    with ExitStack() as stack:
        try:
            ready = _ready(file, new, state_dir, stack)
        except OSError as error:
            raise _invalid(NOT_WRITTEN.format(why=error.strerror or error)) from None
        yield ready


def _ready(file: Path, new: NewRule, state_dir: Path, stack: ExitStack) -> ReadyRule:
    real = stack.enter_context(changing(file, state_dir))
    before, data = _as_it_is(file)
    text = _longer(data, new.toml)
    after = _checked(before, read_rules(text, file, RuleLevel.PERSON), new)
    beside = stack.enter_context(prepared_file(real, text))
    return ReadyRule(rule=after.rules[-1], hash=after.hash, put=lambda: _put(beside, real, data))


def _put(beside: Path, real: Path, before: bytes) -> None:
    try:
        if not replace_if_same(real, beside, before):
            raise _invalid(ONLY_ALLOWED.format(why="they were changed meanwhile"))
    except OSError as error:
        raise _invalid(ONLY_ALLOWED.format(why=error.strerror or error)) from None


def _as_it_is(file: Path) -> tuple[RulesFile, bytes]:
    found = read_file(file, RuleLevel.PERSON)
    if found is None:
        return RulesFile(file=file, level=RuleLevel.PERSON), b""
    if found[0].faults:
        raise _invalid(FAULTY.format(fault=found[0].faults[0]))
    return found


def _longer(data: bytes, toml: str) -> bytes:
    end = b"" if not data or data.endswith(b"\n") else b"\n"
    return data + end + (b"\n" if data else b"") + toml.encode()


def _checked(before: RulesFile, after: RulesFile, new: NewRule) -> RulesFile:
    """The file as it would be, if it says what it said and this one rule more."""
    if after.faults:
        raise _invalid(NOT_AT_THE_END.format(file=after.file, why=after.faults[0].text.rstrip(".")))
    said = [(rule.effect, rule.text, rule.when) for rule in after.rules]
    if said != [(rule.effect, rule.text, rule.when) for rule in (*before.rules, as_rule(new))]:
        raise _invalid(NOT_AT_THE_END.format(file=after.file, why="its other rules would not be the same"))
    return after


def _text(value: str) -> str:
    """As TOML writes it, which for what can be seen is as JSON does."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _invalid(text: str) -> InvalidInput:
    return InvalidInput([Problem(path="rule", text=text)])
