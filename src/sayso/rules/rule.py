"""What a rule is: which uses of tools it is about, what is to become of them, and when it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from sayso.records import field, record
from sayso.rules.levels import RuleLevel
from sayso.rules.pattern import Pattern
from sayso.text import quoted


class Effect(StrEnum):
    """What becomes of an action. The strictest that matches wins."""

    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"


@record
class When:
    """Where and for whom a rule holds; an empty field holds everywhere."""

    projects: tuple[str, ...] = ()
    """Folders: those, and what is below them."""
    agents: tuple[str, ...] = ()
    sandbox: str = ""
    plain: bool = False
    """Only for shell lines that are nothing but commands in plain words."""


@record
class Approvers:
    """Who must agree to what a rule asks for: names of people, those of its groups among them. No names: anyone."""

    names: tuple[str, ...] = ()
    need: int = 1
    not_asker: bool = False
    timeout_ms: int | None = None
    escalate_after_ms: int | None = None
    escalate_to: tuple[str, ...] = ()

    @property
    def is_anyone(self) -> bool:
        """Whether it says no more than that somebody is asked."""
        return self == Approvers()


@record
class Rule:
    """One `[[rule]]` of a file. `line` is where it begins, 0 where that is not known."""

    effect: Effect
    patterns: tuple[Pattern, ...]
    exceptions: tuple[Pattern, ...] = ()
    because: str = ""
    when: When = field(default_factory=When)
    approvers: Approvers = field(default_factory=Approvers)
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    """Examples, which come out as they say: else its file would have a fault."""
    file: Path = Path()
    line: int = 0
    level: RuleLevel = RuleLevel.PERSON

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else str(self.file)

    @property
    def perhaps_not_meant(self) -> tuple[str, ...]:
        """What it denies or asks for under a name that agents' own tools do not have here, in a sentence each."""
        return tuple(
            f"{self.place}: {each.text} is about a tool called {each.name} in a tool file alone. "
            f"What agents do by their own is written {each.perhaps_meant}."
            for each in self.patterns
            if each.perhaps_meant and self.effect is not Effect.ALLOW
        )

    @property
    def text(self) -> str:
        """What it is about, as it is written."""
        return ", ".join(pattern.text for pattern in self.patterns)


@record
class RulesFault:
    """Something wrong in a file, by which none of it is used."""

    file: Path
    text: str
    line: int = 0
    key: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.key}: {self.text}" if self.key else f"{place}: {self.text}"


@record
class RulesFile:
    """One file as it was read: its rules, or what is wrong with it."""

    file: Path
    level: RuleLevel
    hash: str = ""
    rules: tuple[Rule, ...] = ()
    faults: tuple[RulesFault, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trusted: bool = True
    """Whether what it allows counts, and whom it names."""


def written_rule(effect: Effect, texts: Iterable[str], when: str = "") -> str:
    """A rule as it stands in a file."""
    lines = "".join(f"  {quoted(text, 1_000)},\n" for text in texts)
    return f"[[rule]]\n{effect.value} = [\n{lines}]\n{when}"
