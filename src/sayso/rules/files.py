"""The files that rules are in, at three levels, read again when one of them changes.

The machine's owner's, the person's own, the project's: while that is not trusted, only what denies or asks counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sayso.config import Config
from sayso.files import read_regular
from sayso.ownership import written_by_others
from sayso.records import replace
from sayso.rules.book import RuleBook
from sayso.rules.levels import RuleLevel, projects_around, rules_places
from sayso.rules.rule import Effect, RulesFault, RulesFile

MOST_BYTES = 1024 * 1024
_NOTHING_THERE = (FileNotFoundError, NotADirectoryError)

_Look = tuple[str | int, ...] | None
"""How a file looks from outside: equal as long as it was not changed."""


class RuleFiles:
    """The rules of one person, for whichever project."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._books: dict[Path | None, tuple[list[_Look], RuleBook]] = {}

    def book(self, project: Path | None) -> RuleBook:
        """What holds in a project as things stand now; None for one that is on another machine."""
        places = rules_places(self._config, project)
        around = projects_around(project) if project else ()
        theirs = [path for each in around for path in (self._config.rules_of(each), self._config.trust.record(each))]
        watched = [*places.values(), *([self._config.trust.record(project)] if project else []), *theirs]
        looks = [_look(path) for path in watched]
        known = self._books.get(project)
        if known is None or known[0] != looks:
            known = looks, RuleBook([*self._read(places, project), *self._strict_around(around)])
            self._books[project] = known
        return known[1]

    def _read(self, places: dict[RuleLevel, Path], project: Path | None) -> list[RulesFile]:
        found = [read_file(path, level) for level, path in places.items()]
        return [self._as_trusted(*each, project) for each in found if each]

    def _strict_around(self, around: Iterable[Path]) -> Iterator[RulesFile]:
        """What the projects deny or ask that this one lies in. What they allow is for their own files, by their own
        top."""
        for project in around:
            if found := read_file(self._config.rules_of(project), RuleLevel.PROJECT):
                file = self._as_trusted(*found, project)
                yield replace(file, rules=tuple(rule for rule in file.rules if rule.effect is not Effect.ALLOW))

    def _as_trusted(self, file: RulesFile, data: bytes, project: Path | None) -> RulesFile:
        if file.level is not RuleLevel.PROJECT or project is None:
            return file
        return replace(file, trusted=self._config.trust.of(project).trusts(file.file, data))


def read_file(path: Path, level: RuleLevel) -> tuple[RulesFile, bytes] | None:
    """The file with what was in it; None where there is none."""
    try:
        data = read_regular(path, MOST_BYTES)
        place = written_by_others(path) if level is not RuleLevel.PROJECT else None
    except _NOTHING_THERE:
        return None
    except OSError as error:
        return _faulty(path, level, f"it cannot be read: {error.strerror or error}."), b""
    if len(data) > MOST_BYTES:
        return _faulty(path, level, f"it has more than {MOST_BYTES:,} bytes."), b""
    if place:
        text = f"somebody else can write {place}. Make it your own: chown and chmod go-w."
        return _faulty(path, level, text), data
    from sayso.rules.reading import read_rules  # only where there are some: what reads them is much

    return read_rules(data, path, level), data


def _faulty(path: Path, level: RuleLevel, text: str) -> RulesFile:
    return RulesFile(file=path, level=level, faults=(RulesFault(file=path, text=text),))


def _look(path: Path) -> _Look:
    try:
        seen, folder = os.stat(path), os.stat(path.parent)
    except OSError as error:
        return None if isinstance(error, _NOTHING_THERE) else (error.errno or 0,)
    return (
        str(path),
        seen.st_ino,
        seen.st_size,
        seen.st_mtime_ns,
        seen.st_ctime_ns,
        seen.st_mode,
        seen.st_uid,
        folder.st_mode,
    )
