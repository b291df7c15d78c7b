"""Which files the input of a tool may be about, where nobody has told what the tool makes of it.

It finds too much rather than too little: what is found can only deny or ask. No file is read here.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from sayso.records import record, replace
from sayso.rules.input_keys import NO_KEY, KeyMeaning, meaning
from sayso.rules.input_names import (
    AROUND,
    LONGEST_NAME,
    MOST_LETTERS,
    Spellings,
    is_address,
    is_coded,
    is_file_address,
    may_be_long_name,
    spellings,
)
from sayso.rules.patched import patched

MOST_VALUES = 5_000
"""Values of one input that are looked at, beside those under keys for files. With more, no rule allows it."""
_MOST_STEPS = 200_000
"""Values that are gone through to find those under keys for files."""
_MOST_KEYS = 10_000
_MOST_NAMES = 1_000
"""That are named as files; each is looked for on the disk."""
_MOST_FOLDERS = 16
"""From which one value may be meant."""
_MOST_LETTERS = 120_000
"""Of all names together: the longer they are, the longer they take to be looked for."""
_MOST_LOOKS = 15_000
_MOST_LINES = 200
_LONGEST = 100_000
"""Letters of all that is made of words."""

_SELECTOR = re.compile(r"\[[\w-]+(?:[~|^$*]?=[^\]]*)?\]|\s[>+~]\s|@\{\d+\}")
_LONGEST_SELECTOR = 500
_LIST = re.compile(r"[\n,;:|]|\s+")
_WORD_ENDS = re.compile(r"[\s;|&<>()\"'`,={}\[\]@]+")
_OFTEN_FILES = re.compile(r"(?i)path|file|folder|dir|notebook|cwd|target|dest|dst|ur[il]|source|src|root|name")


@record
class NamedFiles:
    """`files` are named as such. `mentioned` are values that would be files if the tool took them for such."""

    files: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Those that look like files, under whatever key, or in a line for a shell or a program."""
    lines: tuple[str, ...] = ()
    """What may be lines for a shell."""
    searches: bool = False
    """Whether it may find files by stars."""
    is_whole: bool = True
    """Whether all of the input was looked at."""


@record
class _Place:
    """Where a value stands."""

    key: KeyMeaning = NO_KEY
    is_below_files: bool = False
    """Whether a key above it says that files are named."""
    folders: tuple[str, ...] = ()
    """What stands beside it, or beside what it is in, and may be the folder from which it is meant."""


def named_files(given: Mapping[str, Any], texts: Container[str] = ()) -> NamedFiles:
    """`texts` are the keys of what is known to be nothing but text."""
    found = _Found()
    found.go_through(given, texts)
    return NamedFiles(
        files=tuple(found.files),
        mentioned=tuple(name for name in found.mentioned if name not in found.files),
        words=tuple(found.words),
        lines=tuple(found.lines),
        searches=found.searches,
        is_whole=not found.has_more,
    )


class _Names(dict[str, None]):
    """Some names, and no more than there is room for."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._letters = most, 0

    def take(self, names: Iterable[str]) -> bool:
        """Whether there was room for all of them."""
        for name in names:
            if name in self:
                continue
            self._letters += len(name)
            if len(self) >= self._most or self._letters > _MOST_LETTERS:
                return False
            self[name] = None
        return True


class _Found:
    def __init__(self) -> None:
        self.files, self.mentioned, self.words = (
            _Names(_MOST_NAMES),
            _Names(MOST_VALUES + _MOST_NAMES),
            _Names(MOST_VALUES),
        )
        self.lines = dict[str, None]()
        self.has_more = self.searches = False
        self._keys = self._letters = self._read = self._looks = 0
        self._rest, self._later = deque[tuple[Any, _Place]](), list[tuple[str, _Place]]()

    def go_through(self, given: Mapping[str, Any], texts: Container[str]) -> None:
        """What stands under keys for files first: nothing that is put beside it keeps it from being found."""
        self._rest.append((given, _Place()))
        steps = 0
        while self._rest and steps < _MOST_STEPS:
            value, place = self._rest.popleft()
            inside = self._below(value, place, texts) if isinstance(value, Mapping) else self._in_list(value, place)
            for each in inside:
                self._take(*each)
                steps += 1
            steps += 1
        self.has_more |= bool(self._rest)
        for text, place in self._later:
            self._look_at(text, place)

    def _take(self, value: Any, place: _Place) -> None:
        if isinstance(value, (Mapping, list)):
            self._rest.append((value, place))
        elif not isinstance(value, str) or not value:
            return
        elif place.key.names_files:
            self._look_at(value, place)
        elif len(self._later) < MOST_VALUES:
            self._later.append((value, place))
        else:
            self.has_more = True
        if isinstance(value, str) and place.key.is_as_text and (inner := _object_in(value)) is not None:
            self._rest.append((inner, place))

    def _in_list(self, values: list[Any], place: _Place) -> Iterator[tuple[Any, _Place]]:
        self.has_more |= len(values) > _MOST_STEPS
        if place.key.names_files or place.is_below_files:
            # Some have a list of the parts of one name.
            parts = [each for each in values[:_MOST_FOLDERS] if isinstance(each, str) and len(each) < LONGEST_NAME]
            self.words.take(["/".join(parts)] if parts and len(values) <= _MOST_FOLDERS else ())
        one_word = place
        if place.key.is_line and len(values) > 1 and (line := _line_of(values)):
            self._add_line(line)
            one_word = replace(place, key=replace(place.key, is_line=False))
        for value in values[:_MOST_STEPS]:
            is_word = isinstance(value, str) and len(value.split(maxsplit=1)) == 1
            yield value, one_word if is_word else place

    def _below(self, given: Mapping[str, Any], at: _Place, texts: Container[str]) -> Iterator[tuple[Any, _Place]]:
        names = [name for name, value in given.items() if name not in texts or not isinstance(value, str)]
        if len(names) > MOST_VALUES:
            names.sort(key=lambda name: not _OFTEN_FILES.search(name))
        self._keys += len(names)
        if self._keys > _MOST_KEYS:
            self.has_more = True
            names = names[: max(0, len(names) + _MOST_KEYS - self._keys)]
        keys = {name: meaning(name) for name in names}
        beside = (each for name in names if keys[name].is_folder for each in _texts_in(given[name]))
        known = dict[str, None]()
        for each in chain(beside, at.folders):
            known.update(self._spelt(each).names)
            if len(known) > _MOST_FOLDERS:
                self.has_more = True
                break
        folders = tuple(known)[:_MOST_FOLDERS]
        is_below = at.key.may_name_files or at.is_below_files
        self._note_commands({name: given[name] for name in names}, keys)
        here = replace(at, folders=folders)
        for name in names:
            if is_below or not name.isidentifier():
                # Some have what becomes of each file under the name of that.
                self._add(name, here, is_named=is_below and _looks_like_file(name))
            yield given[name], _Place(key=keys[name], is_below_files=is_below, folders=folders)

    def _note_commands(self, given: Mapping[str, Any], keys: Mapping[str, KeyMeaning]) -> None:
        """A program with the arguments beside it."""
        programs = [line for name, key in keys.items() if key.is_program and (line := _line_of(given[name]))]
        arguments = [name for name, key in keys.items() if key.is_arguments] if programs else []
        self.has_more |= max(len(programs), len(arguments)) > _MOST_FOLDERS and bool(arguments)
        for name in arguments[:_MOST_FOLDERS]:
            for program in programs[:_MOST_FOLDERS]:
                self._add_line(f"{program} {_line_of(given[name])}")

    def _add_line(self, line: str) -> None:
        self._letters += len(line)
        if len(self.lines) < _MOST_LINES and self._letters <= _LONGEST:
            self.lines[line] = None
        else:
            self.has_more = True

    def _look_at(self, value: str, place: _Place) -> None:
        key, bare = place.key, value.strip(AROUND)
        for count, (name, is_named) in enumerate(patched(value)):
            if count == MOST_VALUES or not self._add(name, place, is_named=is_named):
                self.has_more = True
                break
        if key.is_text:
            return
        if key.is_line:
            self._add_line(value)
        if key.has_words:
            self._add_words(value, place)
        if key.is_searched and set(value) & set("*?[{"):
            self.searches = True
            return
        selects = key.selects and len(value) <= _LONGEST_SELECTOR and "/" not in value and _SELECTOR.search(value)
        # Where a file is guarded it may still be a name with stars.
        self.searches |= bool(selects) and key.names_files
        if key.names_files and not selects:
            self._add_names(value, bare, place)
        elif ("\n" not in bare or is_file_address(bare)) and not is_address(bare):
            is_named = (key.may_name_files or place.is_below_files) and _looks_like_file(bare)
            self._add(value, place, is_named=is_named or is_file_address(bare))

    def _add_names(self, value: str, bare: str, place: _Place) -> None:
        """It may be a list of several."""
        if "\n" not in bare or len(bare) <= LONGEST_NAME:
            self._add(value, place, is_named=True)
        start = 0
        for found in _LIST.finditer(bare):
            if not self._add(bare[start : found.start()], place, is_named=True):
                return
            start = found.end()
        self._add(bare[start:] if start else "", place, is_named=True)

    def _add_words(self, value: str, place: _Place) -> None:
        if len(value) > _LONGEST:
            self.has_more = True
            return
        words = list(dict.fromkeys(word for word in _WORD_ENDS.split(value) if word))
        below = (
            f"{folder}/{word}" for folder in place.folders for word in words if not word.startswith(("/", "~", "-"))
        )
        looking = filter(_looks_like_file, words)
        self.has_more |= not (self.mentioned.take(words) and self.words.take(chain(looking, below)))

    def _spelt(self, name: str) -> Spellings:
        if self._read > MOST_LETTERS:
            self.has_more = True
            return Spellings(names={name: None} if len(name) <= LONGEST_NAME else {}, is_whole=False)
        spelt = spellings(name)
        self._read += spelt.letters
        return spelt

    def _add(self, name: str, place: _Place, *, is_named: bool) -> bool:
        """Whether there is room for more."""
        if not name:
            return True
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            self.has_more = True
            return False
        spelt = self._spelt(name)
        if not spelt.is_whole:
            told = place.key.names_files or (place.key.may_name_files and not is_coded(name))
            self.has_more |= told or may_be_long_name(name)
        below = [each for each in spelt.names if not each.startswith(("/", "~"))]
        joined = (f"{folder}/{each}" for folder in place.folders for each in below if each != folder)
        has_room = (self.files if is_named else self.mentioned).take(chain(spelt.names, joined))
        if not is_named and not re.search(r"\s", name) and _looks_like_file(name):
            parts = (part for each in spelt.names for part in re.split("[=:]", each)[1:])
            has_room = self.words.take(chain(spelt.names, filter(_looks_like_file, parts))) and has_room
        self.has_more |= not has_room
        return has_room


def _looks_like_file(value: str) -> bool:
    return bool(re.search(r"[/~\\%]|\.\w", value))


def _texts_in(value: Any) -> Iterator[str]:
    """It, or what is in it: a folder may be told as a list, or as an object."""
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else (value,)
    yield from (each for each in islice(inside, _MOST_FOLDERS + 1) if isinstance(each, str) and each)


def _line_of(value: Any) -> str:
    """A line for a shell: as it stands, or of words."""
    if isinstance(value, str):
        return value
    is_words = isinstance(value, list) and all(isinstance(each, (str, int, float)) for each in value)
    return shlex.join(map(str, value)) if is_words else ""


def _object_in(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    from sayso import untrusted_json

    try:
        return untrusted_json.loads(text)
    except ValueError:
        return None
