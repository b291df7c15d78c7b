"""All rules that hold at one place, and what they say about the use of a tool.

The strictest that matches wins, whatever file it is in: deny, then ask, then allow. Nothing matches: ask. Doubt asks.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator
from functools import cached_property

from sayso.config import SANDBOXES
from sayso.records import record, replace
from sayso.rules.levels import RuleLevel
from sayso.rules.pattern import About, Pattern
from sayso.rules.rule import Effect, Rule, RulesFault, RulesFile
from sayso.rules.starred import Paths
from sayso.rules.use import Command, ToolUse, UsedPath

_WHEREVER = (RuleLevel.MACHINE, RuleLevel.PERSON)
"""Whose rules are about whichever project."""
_LISTING = frozenset(("Glob", "LS"))
"""Tools that show the names of files and nothing in them."""

NO_RULE = "no rule is about it"
FAULTY = "the rules are not used, because a file of them has an error"
HIDDEN = "it may touch files that a rule is about, without naming them"
MENTIONED = "it names a file that a rule is about"
FROM_ABOVE = "a rule is about it as seen from a folder that its project lies in"
NO_SANDBOX = "the rule that allows it wants a sandbox that this would not run in"


@record
class Circumstances:
    """Where and for whom rules are asked."""

    project: str
    """The real folder."""
    agent: str = ""
    sandbox: str = SANDBOXES[0]
    """What all of the action certainly runs in."""


@record
class Ruling:
    """What the rules say about one action. `rules` are those that decided, with the `patterns` of theirs that fit."""

    effect: Effect
    why: str = ""
    rules: tuple[Rule, ...] = ()
    patterns: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    """Those of the files that the rules are in."""
    faults: tuple[RulesFault, ...] = ()

    @property
    def is_denied(self) -> bool:
        return self.effect is Effect.DENY

    @property
    def is_in_doubt(self) -> bool:
        """Whether something kept a rule from deciding; else there is none about it."""
        return self.effect is Effect.ASK and not self.rules and self.why != NO_RULE

    @property
    def is_demanded(self) -> bool:
        """Whether somebody wants this to be asked, who is not only not sure."""
        return self.effect is Effect.ASK and bool(self.rules or self.faults)

    @property
    def because(self) -> str:
        """What the person who wrote the rule says about it."""
        return " ".join(dict.fromkeys(rule.because for rule in self.rules if rule.because))

    @property
    def demanding(self) -> tuple[Rule, ...]:
        """Those of its rules that say who has to agree, how many, or until when."""
        return tuple(rule for rule in self.rules if not rule.approvers.is_anyone)


@record
class _Entry:
    place: int
    rule: Rule
    pattern: Pattern


class _Index:
    """Patterns by what they can be about, so that a thousand of them cost as little as ten."""

    def __init__(self) -> None:
        self.named: dict[str, list[_Entry]] = {}
        self.paths: dict[str, list[_Entry]] = {}
        self.any_path: dict[str, Paths] = {}
        self.starred: list[_Entry] = []
        self.programs: dict[tuple[str, str], list[_Entry]] = {}

    def add(self, entry: _Entry) -> None:
        pattern = entry.pattern
        if "*" in pattern.name:
            self.starred.append(entry)
        elif pattern.about is About.WORDS:
            self.programs.setdefault((pattern.name, pattern.first_word), []).append(entry)
        elif pattern.about is About.PATH:
            self.paths.setdefault(pattern.name, []).append(entry)
        else:
            self.named.setdefault(pattern.name, []).append(entry)

    def _about_paths(self, name: str, ways: Iterable[str]) -> Iterator[_Entry]:
        entries = self.paths.get(name)
        if not entries:
            return
        if name not in self.any_path:
            self.any_path[name] = _any_of(entries)
        found = {number for way in ways for number in self.any_path[name].fitting(way)}
        yield from (entries[number] for number in sorted(found))

    def candidates(self, use: ToolUse, names: Iterable[str], commands: Iterable[Command]) -> list[_Entry]:
        """Those that may be about it, in the order in which they were written."""
        names = list(names)
        ways = [way for path in use.paths for way in (path.named, path.real) if way]
        programs = {"", *(words[0].split()[0].lower() for words in commands if words and words[0].split())}
        found = [entry for name in names for entry in self.named.get(name, ())]
        found += [entry for name in names for program in programs for entry in self.programs.get((name, program), ())]
        for name in names:
            found += self._about_paths(name, ways)
        if use.possible:
            found += self._about_possible(use)
        return sorted((*found, *self.starred), key=lambda entry: entry.place)

    def _about_possible(self, use: ToolUse) -> Iterator[_Entry]:
        """Those about files that may be read or changed, by whatever name of a tool they are meant."""
        ways = [way for path in use.possible for way in (path.named, path.real) if way]
        for name in self.paths:
            yield from self._about_paths(name, ways)


def _any_of(entries: Iterable[_Entry]) -> Paths:
    """What each of them can be about, and what is below: one look for however many there are."""
    return Paths((entry.pattern.wherever for entry in entries), below=True, in_any_case=True)


class RuleBook:
    """The rules of some files, each of which was read already."""

    def __init__(self, files: Iterable[RulesFile]) -> None:
        self.files = tuple(files)
        self.faults: tuple[RulesFault, ...] = tuple(fault for file in self.files for fault in file.faults)
        self._hashes = {file.file: file.hash for file in self.files}
        self._index = {effect: _Index() for effect in Effect}
        self._guarding: list[_Entry] = []
        """Patterns of paths that are denied or asked for."""
        for place, rule in enumerate(self.rules):
            for pattern in rule.patterns:
                entry = _Entry(place=place, rule=rule, pattern=pattern)
                self._index[rule.effect].add(entry)
                if pattern.about is About.PATH and rule.effect is not Effect.ALLOW:
                    self._guarding.append(entry)

    def with_file(self, file: RulesFile) -> RuleBook:
        """The same rules, and those of one more."""
        return RuleBook((*self.files, file))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Those that count: of files without a fault, and as far as each is trusted."""
        return tuple(rule for file in self.files if not file.faults for rule in _trusted_rules(file))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is decided or asked because of it."""
        return not self.rules and not self.faults

    @property
    def is_strict(self) -> bool:
        """Whether it may deny something, or ask where nobody else would."""
        return bool(self.faults) or any(rule.effect is not Effect.ALLOW for rule in self.rules)

    def judge(self, use: ToolUse, where: Circumstances) -> Ruling:
        if found := self._concerned(Effect.DENY, use, where):
            return self._ruling(Effect.DENY, found[:1], "")
        found = self._concerned(Effect.ASK, use, where)
        if self.faults:
            return replace(self._ruling(Effect.ASK, found, FAULTY), faults=self.faults)
        if found:
            return self._ruling(Effect.ASK, found, "")
        if doubt := next(iter((*use.doubts, *self._path_doubts(use, where))), ""):
            return Ruling(effect=Effect.ASK, why=doubt)
        return self._allowing(use, where)

    def _concerned(self, effect: Effect, use: ToolUse, where: Circumstances) -> list[_Entry]:
        """The first pattern of each rule that is about it: what several rules demand is demanded together."""
        found: dict[int, _Entry] = {}
        for entry in self._index[effect].candidates(use, use.strict_names, use.forms):
            if entry.place not in found and _may_hold(entry.rule, where) and _concerns(entry, use):
                found[entry.place] = entry
        return list(found.values())

    def _path_doubts(self, use: ToolUse, where: Circumstances) -> Iterator[str]:
        if use.hides_paths and any(_may_hold(entry.rule, where) for entry in self._guarding):
            yield HIDDEN
        if use.searches and any(self._may_find(entry, use, where) for entry in self._guarding):
            yield HIDDEN
        if use.reads_below and any(
            _may_hold(each.rule, where) and each.pattern.is_of_reading for each in self._guarding
        ):
            yield HIDDEN
        guarded = [path for path in use.mentioned if self._may_guard(path)]
        if guarded and any(
            entry.pattern.concerns_path(path)
            for entry in self._guarding
            if _may_hold(entry.rule, where)
            for path in guarded
        ):
            yield MENTIONED
        if self._is_meant_from_above(use, where):
            yield FROM_ABOVE

    def _may_find(self, entry: _Entry, use: ToolUse, where: Circumstances) -> bool:
        """Whether a search may come to what a pattern is about: to its contents, or for one that only lists, to its
        name."""
        names = use.strict_names & _LISTING or use.strict_names
        if not _may_hold(entry.rule, where) or not entry.pattern.is_of(names):
            return False
        above = _folders_above(where.project) if entry.rule.level in _WHEREVER else ()
        return any(entry.pattern.may_be_below(replace(path, around=(*path.around, *above))) for path in use.paths)

    def _is_meant_from_above(self, use: ToolUse, where: Circumstances) -> bool:
        """An agent can be started in a folder within what a person takes for the project, and make a repository there.
        A project's own file says by where it lies what its patterns are about."""
        above = _folders_above(where.project)
        return any(
            not any(_covers_path(exception, seen) for exception in entry.rule.exceptions)
            for path in ((*use.paths, *use.possible, *use.mentioned) if above else ())
            if self._may_guard(path)
            for entry in self._guarding
            if entry.rule.level in _WHEREVER and _may_hold(entry.rule, where)
            if path not in use.paths or entry.pattern.is_of(use.strict_names)
            for top in above
            if entry.pattern.concerns_path(seen := replace(path, project=top, folder=top, around=()))
        )

    def _may_guard(self, path: UsedPath) -> bool:
        """Whether any of the guarding patterns can be about the path: one look for however many there are."""
        return any(self._guarded.fits(way) for way in (path.named, path.real) if way)

    @cached_property
    def _guarded(self) -> Paths:
        return _any_of(self._guarding)

    def _allowing(self, use: ToolUse, where: Circumstances) -> Ruling:
        candidates = self._index[Effect.ALLOW].candidates(use, use.names, use.commands)
        held = [entry for entry in candidates if _holds(entry.rule, where)]
        found: list[_Entry] = []
        for words in use.commands or ((),):
            entry = next((entry for entry in held if _allows(entry, use, words)), None)
            if entry is None:
                in_a_sandbox = any(entry.rule.when.sandbox and _allows(entry, use, words) for entry in candidates)
                return Ruling(effect=Effect.ASK, why=NO_SANDBOX if in_a_sandbox else NO_RULE)
            found.append(entry)
        return self._ruling(Effect.ALLOW, found, "")

    def _ruling(self, effect: Effect, entries: list[_Entry], why: str) -> Ruling:
        rules = tuple({entry.place: entry.rule for entry in entries}.values())
        patterns = tuple(dict.fromkeys(entry.pattern.text for entry in entries))
        hashes = tuple(dict.fromkeys(self._hashes.get(rule.file, "") for rule in rules))
        return Ruling(effect=effect, why=why, rules=rules, patterns=patterns, hashes=hashes)


def _trusted_rules(file: RulesFile) -> Iterator[Rule]:
    """A file that is not trusted can only make things harder: it allows nothing, and names nobody who would see what is
    asked and decide on it."""
    for rule in file.rules:
        if file.trusted:
            yield rule
        elif rule.effect is not Effect.ALLOW:
            nobody = replace(rule.approvers, names=(), escalate_after_ms=None, escalate_to=())
            yield replace(rule, approvers=nobody)


def matches(rule: Rule, use: ToolUse) -> bool:
    """Whether a rule is about this use, wherever it holds: what the examples of a rule are tried by."""
    if rule.effect is not Effect.ALLOW:
        return any(_concerns(_Entry(place=0, rule=rule, pattern=pattern), use) for pattern in rule.patterns)
    entries = [_Entry(place=0, rule=rule, pattern=pattern) for pattern in rule.patterns]
    return not use.doubts and all(
        any(_allows(entry, use, words) for entry in entries) for words in use.commands or ((),)
    )


def _folders_above(project: str) -> tuple[str, ...]:
    """The folders that a project lies in, up to the home that it is in."""
    home, found, above = os.path.realpath(os.path.expanduser("~")), list[str](), os.path.dirname(project)
    while above not in ("", "/", home) and not home.startswith(f"{above}/"):
        found.append(above)
        above = os.path.dirname(above)
    return tuple(found)


# One pattern of a rule


def _concerns(entry: _Entry, use: ToolUse) -> bool:
    """Whether it may be meant, and is certainly not excepted."""
    pattern, exceptions = entry.pattern, entry.rule.exceptions
    if not pattern.concerns(use):
        return False
    if not exceptions or use.doubts:
        return True
    match pattern.about:
        case About.WORDS:
            concerned = [words for words in use.forms if pattern.concerns_command(words)]
            return not all(_excepted(exceptions, use, words) for words in concerned)
        case About.NOTHING if use.commands:
            return not all(_excepted(exceptions, use, words) for words in use.commands)
    if pattern.about is About.PATH and use.possible:
        touched = [path for path in (*use.paths, *use.possible) if pattern.concerns_path(path)]
        return not all(any(_covers_path(exception, path) for exception in exceptions) for path in touched)
    return not any(exception.covers(use) for exception in exceptions)


def _covers_path(exception: Pattern, path: UsedPath) -> bool:
    return exception.about is About.PATH and exception.covers_path(path)


def _excepted(exceptions: Iterable[Pattern], use: ToolUse, words: Command) -> bool:
    return any(exception.name in use.strict_names and exception.means(words) for exception in exceptions)


def _allows(entry: _Entry, use: ToolUse, words: Command) -> bool:
    """Whether this command of the use, or all of it where it has none, is certainly meant, and not excepted."""
    fits = entry.pattern.covers_command(use, words) if words else entry.pattern.covers(use)
    written = use.is_plain or not entry.rule.when.plain or not words
    return fits and written and not any(_excepts(exception, use, words) for exception in entry.rule.exceptions)


def _excepts(exception: Pattern, use: ToolUse, words: Command) -> bool:
    if words and exception.about is About.WORDS:
        return exception.concerns_command(words)
    return exception.concerns(use)


# When


def _holds(rule: Rule, where: Circumstances) -> bool:
    """Whether it certainly holds here."""
    when = rule.when
    kept = not when.sandbox or SANDBOXES.index(where.sandbox) >= SANDBOXES.index(when.sandbox)
    return kept and _may_hold(rule, where) and (not when.agents or where.agent in when.agents)


def _may_hold(rule: Rule, where: Circumstances) -> bool:
    """The same where nothing is known of the agent, or of a sandbox."""
    when = rule.when
    here = not when.projects or any(
        where.project == folder or where.project.startswith(f"{folder.rstrip('/')}/") for folder in when.projects
    )
    return here and (not when.agents or not where.agent or where.agent in when.agents)
