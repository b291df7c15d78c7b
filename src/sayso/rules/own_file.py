"""The person's own file of rules as a text to edit: what is in it, the same without one rule, and another text in its
place, if nobody has changed it since it was read and that text has no fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sayso.errors import InvalidInput, Problem
from sayso.files import prepared_file
from sayso.records import replace
from sayso.rules.adding import NOT_WRITTEN, NOTE
from sayso.rules.files import MOST_BYTES, read_file
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import RULE_HEADER, read_rules
from sayso.rules.replacing import changing, replace_if_same
from sayso.rules.rule import Rule, RulesFault, RulesFile
from sayso.trust import content_hash

CHANGED = "Your file was changed meanwhile, so nothing was saved."
NOT_FOUND = "There is no rule on this line any more. Look for it in the text."
NOT_ALONE = "This rule cannot be taken out by itself. Take it out of the text yourself."
TOO_LONG = f"it has more than {MOST_BYTES:,} bytes."

_TABLE = re.compile(r"\s*(\[\[[^\[\]]+\]\]|\[[^\[\],]+\])\s*(#.*)?")
"""A line of a list may look like one; that is found out when the rest is read again."""
_PART_OF_RULE = re.compile(r"\s*\[\s*rule\s*\.")
_SAYS_NOTHING = re.compile(r"\s*(#.*)?")


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """The file as it is. `why_not` says why it cannot be edited as a text; empty where it can."""

    file: Path
    data: bytes
    read: RulesFile
    why_not: str = ""

    @property
    def hash(self) -> str:
        return content_hash(self.data)

    @property
    def text(self) -> str:
        """With plain line breaks, as fields of pages have them."""
        return self.data.decode("utf-8-sig", "replace").replace("\r\n", "\n")

    def as_data(self, text: str) -> bytes:
        """The text as it is written: a file whose lines end in the way of Windows keeps that."""
        ends = b"\r\n" in self.data and self.data.count(b"\n") == self.data.count(b"\r\n")
        return (text.replace("\n", "\r\n") if ends else text).encode()

    def with_text(self, text: str) -> RulesFile:
        """What those who read rules would make of it with this text."""
        data = self.as_data(text)
        if len(data) > MOST_BYTES:
            return RulesFile(
                file=self.file, level=RuleLevel.PERSON, faults=(RulesFault(file=self.file, text=TOO_LONG),)
            )
        return read_rules(data, self.file, RuleLevel.PERSON)


def read_own(file: Path) -> OwnFile:
    """A file that is not there is an empty one."""
    found = read_file(file, RuleLevel.PERSON)
    if found is None:
        return OwnFile(file=file, data=b"", read=RulesFile(file=file, level=RuleLevel.PERSON))
    read, data = found
    return OwnFile(file=file, data=data, read=read, why_not=_why_not(read, data))


def _why_not(read: RulesFile, data: bytes) -> str:
    if not read.hash:  # it was not even read as rules
        return read.faults[0].text
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return read.faults[0].text
    return ""


def without_rule(own: OwnFile, line: int) -> str:
    """Its text without the rule that begins on this line; all other rules and groups stay as they are."""
    lines = own.text.split("\n")
    if not 0 < line <= len(lines) or not RULE_HEADER.match(lines[line - 1]):
        raise _invalid(NOT_FOUND)
    first, end = line - 1, _end(lines, line)
    while first and lines[first - 1].startswith(f"# {NOTE}"):
        first -= 1
    before, after = lines[:first], lines[end:]
    while after and not after[0].strip() and not (before and before[-1].strip()):
        after = after[1:]
    text = "\n".join([*before, *after])
    then = own.with_text(text)
    others = [_anywhere(rule) for rule in own.read.rules if rule.line != line]
    if then.faults or [*map(_anywhere, then.rules)] != others or then.groups != own.read.groups:
        raise _invalid(NOT_ALONE)
    return text


def _anywhere(rule: Rule) -> Rule:
    """The rule without its line."""
    return replace(rule, line=0)


def _end(lines: list[str], line: int) -> int:
    """Where the rule that begins on this line has its end; comments and blanks behind it belong to what follows."""
    end = line
    for place in range(line, len(lines)):
        if _TABLE.fullmatch(lines[place]) and not _PART_OF_RULE.match(lines[place]):
            break
        if not _SAYS_NOTHING.fullmatch(lines[place]):
            end = place + 1
    return end


@contextmanager
def made_ready(own: OwnFile, text: str, state_dir: Path) -> Iterator[Callable[[], None]]:
    """The text beside the file, with everything in place but the last step, which is what is handed out. InvalidInput
    where it has a fault, or the file is not as it was read."""
    read = own.with_text(text)
    if read.faults:
        raise _invalid(str(read.faults[0]))
    with ExitStack() as stack:
        try:
            real = stack.enter_context(changing(own.file, state_dir))
            if read_own(own.file).hash != own.hash:
                raise _invalid(CHANGED)
            beside = stack.enter_context(prepared_file(real, own.as_data(text)))
        except OSError as error:
            raise _invalid(NOT_WRITTEN.format(why=error.strerror or error)) from None
        yield lambda: _put(real, beside, own.data)


def _put(real: Path, beside: Path, before: bytes) -> None:
    try:
        if not replace_if_same(real, beside, before):
            raise _invalid(CHANGED)
    except OSError as error:
        raise _invalid(NOT_WRITTEN.format(why=error.strerror or error)) from None


def _invalid(text: str) -> InvalidInput:
    return InvalidInput([Problem(path="rules", text=text)])
