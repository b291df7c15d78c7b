"""Reading a file of rules: what it says, or everything that is wrong with it, each fault with its line and key.

Its examples are tried as well. A file with a fault gives no rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sayso.config import SANDBOXES
from sayso.rules.book import matches
from sayso.rules.levels import RuleLevel
from sayso.rules.pattern import About, Pattern, pattern
from sayso.rules.rule import Approvers, Effect, Rule, RulesFault, RulesFile, When
from sayso.setting_values import duration, toml
from sayso.text import did_you_mean, quoted
from sayso.trust import content_hash

T = TypeVar("T")

_KEYS = (
    *Effect,
    *("except", "because", "match", "not_match", "when"),
    *("approvers", "need", "not_asker", "timeout", "escalate"),
)
_ONLY_ASKING = ("approvers", "need", "not_asker", "timeout", "escalate")
_TOP = ("groups", "rule")
RULE_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]")
_MOST_PATTERNS, _MOST_EXAMPLES, _LONGEST_EXAMPLE = 1_000, 200, 2_000
_MOST_LETTERS = 100_000
"""Of a project's file, which anybody may have written: it is read before an action, and nobody should wait for it."""
_MOST_FAULTS = 50
_EXAMPLE_FOLDER = "/project"


def read_rules(data: bytes, file: Path, level: RuleLevel) -> RulesFile:
    """What the file says."""
    reading = _Reading(file, level)
    try:
        reading.text = data.decode("utf-8-sig")
        said = toml(reading.text)
    except UnicodeDecodeError:
        reading.fault("it is no UTF-8 text. Save it as UTF-8.")
    except (ValueError, RecursionError) as error:
        reading.fault(f"it is no valid TOML: {error}.", _line_in(str(error)) or reading.text.count("\n") + 1)
    else:
        reading.read(said)
    faults = tuple(reading.faults)
    return RulesFile(
        file=file,
        level=level,
        hash=content_hash(data),
        rules=() if faults else tuple(reading.rules),
        faults=faults,
        groups=reading.groups,
    )


class _Reading:
    def __init__(self, file: Path, level: RuleLevel) -> None:
        self.file, self.level, self.text = file, level, ""
        self.rules: list[Rule] = []
        self.faults: list[RulesFault] = []
        self.groups: dict[str, tuple[str, ...]] = {}

    def fault(self, text: str, line: int = 0, key: str = "") -> None:
        self.faults.append(RulesFault(file=self.file, text=text, line=line, key=key))

    def read(self, said: Mapping[str, Any]) -> None:
        lines = self.text.splitlines()
        for key in sorted(said.keys() - set(_TOP))[:_MOST_FAULTS]:
            hint = did_you_mean(key, _TOP, "There are `groups` and `[[rule]]`.")
            self.fault(f"this key is not known. {hint}", _line_of(lines, key), key)
        groups, rules = said.get("groups", {}), said.get("rule", [])
        if isinstance(groups, Mapping):
            self._read_groups(groups, lines)
        else:
            self.fault("it must be a table of names and lists.", _line_of(lines, "groups"), "groups")
        if not isinstance(rules, list) or not all(isinstance(each, Mapping) for each in rules):
            self.fault("rules are written as [[rule]].", _line_of(lines, "rule"), "rule")
            return
        if self.level is RuleLevel.PROJECT and (too_many := _beyond_limits(rules)):
            self.fault(too_many)
            return
        begins = [number for number, line in enumerate(lines, start=1) if RULE_HEADER.match(line)]
        known = begins if len(begins) == len(rules) else [0] * len(rules)
        for begin, end, raw in zip(known, [*known[1:], len(lines) + 1], rules, strict=False):
            _RuleReading(self, raw, begin, lines[begin - 1 : end - 1] if begin else []).read()

    def _read_groups(self, groups: Mapping[str, Any], lines: list[str]) -> None:
        for name, people in groups.items():
            if len(self.faults) >= _MOST_FAULTS:
                break
            if not _is_texts(people):
                self.fault("it must be a list of names.", _line_of(lines, name), f"groups.{name}")
            elif within := next((each for each in people if each.startswith("@")), ""):
                text = f"{quoted(within)} is a group. Name the people that are in it."
                self.fault(text, _line_of(lines, name), f"groups.{name}")
            else:
                self.groups[name] = tuple(people)


def _beyond_limits(rules: list[Mapping[str, Any]]) -> str:
    """Why so much is not read; empty where it is."""

    def given(*keys: str) -> list[object]:
        return [each for rule in rules for key in keys if isinstance(rule.get(key), list) for each in rule[key]]

    examples = given("match", "not_match")
    patterns = given(*Effect, "except")
    if len(patterns) > _MOST_PATTERNS or len(examples) > _MOST_EXAMPLES or len(rules) > _MOST_PATTERNS:
        return f"it has more than {_MOST_PATTERNS:,} patterns or {_MOST_EXAMPLES} examples. Leave some out."
    if sum(len(each) for each in patterns if isinstance(each, str)) > _MOST_LETTERS:
        return f"its patterns have more than {_MOST_LETTERS:,} letters. Leave some out."
    if any(isinstance(each, str) and len(each) > _LONGEST_EXAMPLE for each in examples):
        return f"an example has more than {_LONGEST_EXAMPLE:,} characters. Give a shorter one."
    return ""


class _RuleReading:
    """One rule of a file. Every fault is found, not only the first."""

    def __init__(self, whole: _Reading, raw: Mapping[str, Any], line: int, lines: list[str]) -> None:
        self._whole, self._raw, self._line, self._lines = whole, raw, line, lines
        self._failed = False

    def read(self) -> None:
        for key in sorted(self._raw.keys() - set(_KEYS))[:_MOST_FAULTS]:
            self._fault(
                key, f"this key is not known. {did_you_mean(key, _KEYS, 'Known are ' + ', '.join(_KEYS) + '.')}"
            )
        effect = self._effect()
        patterns = self._patterns(effect) if effect else ()
        rule = Rule(
            effect=effect or Effect.ASK,
            patterns=patterns,
            exceptions=self._patterns("except"),
            because=self._value("because", _text, ""),
            when=self._value("when", _when, When()),
            approvers=self._approvers(effect),
            match=self._examples("match"),
            not_match=self._examples("not_match"),
            file=self._whole.file,
            line=self._line,
            level=self._whole.level,
        )
        wide = [each.text for each in patterns if effect is Effect.ALLOW and _is_of_any_program(each)]
        if effect and wide:
            self._fault(effect, f"{quoted(wide[0])} would allow any program. Name the program first.")
        if not self._failed:
            self._try_examples(rule)
            self._whole.rules.append(rule)

    def _effect(self) -> Effect | None:
        given = [effect for effect in Effect if effect in self._raw]
        if len(given) != 1:
            self._fault("", "a rule has exactly one of allow, ask and deny.")
        return given[0] if len(given) == 1 else None

    def _patterns(self, key: str) -> tuple[Pattern, ...]:
        given = self._raw.get(key, [])
        if not _is_texts(given) or (key in self._raw and not given):
            self._fault(key, 'it must be a list of texts such as ["Bash(git status *)"].')
            return ()
        found = []
        for text in given:
            try:
                found.append(pattern(text))
            except ValueError as error:
                self._fault(key, f"{quoted(text)} cannot be understood: {error}.")
        return tuple(found)

    def _approvers(self, effect: Effect | None) -> Approvers:
        for key in _ONLY_ASKING:
            if key in self._raw and effect is not Effect.ASK:
                self._fault(key, "only a rule that asks can have it.")
        nobody: tuple[int | None, tuple[str, ...]] = (None, ())
        escalate = self._value("escalate", _escalation, nobody)
        return Approvers(
            names=self._people("approvers", self._value("approvers", _names, ())),
            need=self._value("need", _need, 1),
            not_asker=self._value("not_asker", _switch, False),
            timeout_ms=self._value("timeout", duration, None),
            escalate_after_ms=escalate[0],
            escalate_to=self._people("escalate", escalate[1]),
        )

    def _people(self, key: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names, with the people of each group in its place. A group without people stands for itself: nobody has
        such a name, and no names at all would mean anyone."""
        found: dict[str, None] = {}
        for name in names:
            if not name.startswith("@"):
                found[name] = None
            elif name[1:] in self._whole.groups:
                found.update(dict.fromkeys(self._whole.groups[name[1:]] or (name,)))
            else:
                self._fault(key, f"there is no group {quoted(name[1:])} in this file.")
        return tuple(found)

    def _value(self, key: str, read: Callable[[Any], T], default: T) -> T:
        if key not in self._raw:
            return default
        try:
            return read(self._raw[key])
        except ValueError as error:
            self._fault(key, f"it is {quoted(self._raw[key])}; it must be {error}.")
            return default

    def _examples(self, key: str) -> tuple[str, ...]:
        given = self._raw.get(key, [])
        if not _is_texts(given):
            self._fault(key, 'it must be a list of texts such as ["Bash(git status)"].')
            return ()
        return tuple(given)

    def _try_examples(self, rule: Rule) -> None:
        if not rule.match and not rule.not_match:
            return
        from sayso.rules.uses import Ground, example, use_of  # what takes actions apart is long, and examples are rare

        on_paper = Ground(leads_to=os.path.normpath)
        for key, wanted, texts in (("match", True, rule.match), ("not_match", False, rule.not_match)):
            for text in texts:
                try:
                    found = matches(rule, use_of(example(text, _EXAMPLE_FOLDER), on_paper))
                except ValueError as error:
                    self._fault(key, f"{quoted(text)} cannot be understood: {error}.")
                    continue
                if found is not wanted:
                    said = "does not match this rule" if wanted else "matches this rule"
                    self._fault(key, f"{quoted(text)} {said}.")

    def _fault(self, key: str, text: str) -> None:
        self._failed = True
        if len(self._whole.faults) >= _MOST_FAULTS:
            return
        line = _line_of(self._lines, key) if key else 0
        self._whole.fault(text, self._line + line - 1 if line else self._line, key)


def _is_of_any_program(given: Pattern) -> bool:
    return given.about is About.WORDS and given.spec.startswith("*")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)


def _line_of(lines: list[str], key: str) -> int:
    """Where a key is written; 0 where that is not found."""
    begins = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
    return next((number for number, line in enumerate(lines, start=1) if begins.match(line)), 0)


def _line_in(error: str) -> int:
    found = re.search(r"line (\d+)", error)
    return int(found[1]) if found else 0


# Values


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _need(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
        raise ValueError("a whole number from 1 to 100")
    return value


def _names(value: Any) -> tuple[str, ...]:
    if not _is_texts(value) or not value:
        raise ValueError('a list of names and groups, such as ["user-a", "@release"]')
    return tuple(value)


def _escalation(value: Any) -> tuple[int | None, tuple[str, ...]]:
    if not isinstance(value, Mapping) or set(value) != {"after", "to"}:
        raise ValueError('a table such as { after = "20m", to = ["@oncall"] }')
    return duration(value["after"]), _names(value["to"])


def _when(value: Any) -> When:
    allowed = 'a table with some of project, agent, sandbox and plain, such as { project = "~/shop" }'
    if not isinstance(value, Mapping) or not value or value.keys() - {"project", "agent", "sandbox", "plain"}:
        raise ValueError(allowed)
    sandbox = value.get("sandbox", "")
    if sandbox not in ("", *SANDBOXES):
        raise ValueError(f"{allowed}, and a sandbox one of {', '.join(SANDBOXES)}")
    return When(
        projects=tuple(_folders(value.get("project", []))),
        agents=tuple(_listed(value.get("agent", []))),
        sandbox=sandbox,
        plain=_plain(value.get("plain", False)),
    )


def _plain(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false, for plain")
    return value


def _listed(value: Any) -> list[str]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) and each for each in listed):
        raise ValueError("a text, or a list of texts, for project and agent")
    return listed


def _folders(value: Any) -> Iterator[str]:
    for folder in _listed(value):
        if not folder.startswith(("/", "~")):
            raise ValueError("a folder from the root or from your home, for project: /srv/shop or ~/shop")
        yield os.path.realpath(os.path.expanduser(folder))
