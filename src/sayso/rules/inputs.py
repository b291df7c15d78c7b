"""Which files the input of a tool may be about, where nobody has told what the tool makes of it.

It finds too much rather than too little: what is found can only deny or ask. No file is read here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from sayso.records import record, replace

MOST_VALUES = 5_000
"""Values of one input that are looked at. With more, no rule allows it."""
_MOST_NAMES = 500
_MOST_FOLDERS = 16
"""From which one value may be meant."""
_LONGEST = 100_000
"""Letters of a value. No file has so long a name, but programs take dots and slashes out of it first."""

_FILES = re.compile(
    r"(?<!pro)(?:path|file|filename|folder|directory|dir|notebook|cwd|target|destination|dest|dst)s?$|^(?:path|file)(?!$).*(?:name|uri|url)$"
)
_PERHAPS_FILES = re.compile(r"(?:uri|url|source|src|location|from|to|output|root|name|change)s?$")
"""Keys, in small letters alone, under which a file may be named. Under the second it has to look like one."""
_FOLDERS = re.compile(r"(?:folder|directory|dir|cwd|root|base|workspace|project|repo|path)$")
_LINES = re.compile(r"^(?:command|cmd|commandline|script|shell)s?$")
_WORDS = re.compile(
    r"^(?:command|cmd|commandline|script|shell|args|argv|arguments|input|code|sourcecode|program|expression|python|javascript|js)s?$"
)
"""Keys under which there may be a line for a shell, and those for what else may be made of words."""
_SEARCHED = re.compile(r"^(?:include|glob|fileglob|filepattern|pathpattern)s?$")
"""Keys under which stars stand for files."""
_AS_TEXT = re.compile(r"^(?:args|argv|arguments|params|parameters|input|toolinput|json|payload|kwargs)$")
"""Keys under which there may be an object that is written as a text."""
_ADDRESS = re.compile(r"(?i)(?:https?|wss?|ftps?|mailto|data|git|ssh):")
_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.-]+:(?://[^/]*)?(?=/)|file:")
_PATCHED = re.compile(
    r"(?:\*\*\*\s*(?:(?:Add|Update|Delete|Create|Rename|Replace)\s+File|Move\s+(?:to|from))\s*:|Index:"
    r"|---|\+\+\+|diff\s+--git|(?:rename|copy)\s+(?:from|to))\s*(?P<named>\S.*)",
    re.IGNORECASE,
)
"""A line of a patch that names a file."""
_BLANKS = " \t\r\n\v\f\x85\xa0\u180e\u200b\u2028\u2029\u3000\ufeff"
_AROUND = f"{_BLANKS}\"'`<>()"
_PLACE = re.compile(r"(?:(?::\d+){1,2}(?:-\d+)?|#.*)$")
"""The lines of a file that are meant, after its name."""
_LIST = re.compile(r"[\n,;:]|\s+")
_WORD_ENDS = re.compile(r"[\s;|&<>()\"'`,={}\[\]@]+")


@record
class NamedFiles:
    """`files` are named as such. `mentioned` are values that would be files if the tool took them for such."""

    files: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Those of a line for a shell, or of a program, that look like files."""
    lines: tuple[str, ...] = ()
    """What may be lines for a shell."""
    searches: bool = False
    """Whether it may find files by stars."""
    is_whole: bool = True
    """Whether all of the input was looked at."""


@record
class _Value:
    """`key` is the one under which it stands, and `above` the one under which that does, in small letters alone."""

    value: Any
    key: str = ""
    above: str = ""
    folders: tuple[str, ...] = ()
    """What stands beside it, or beside what it is in, and may be the folder from which it is meant."""


def named_files(given: Mapping[str, Any], texts: Container[str] = ()) -> NamedFiles:
    """`texts` are the keys of what is known to be nothing but text."""
    found = _Found()
    rest = [_Value(value=given)]
    for _ in range(MOST_VALUES):
        if not rest:
            break
        each = rest.pop()
        if isinstance(each.value, Mapping):
            rest += _below(each, texts, found)
        elif isinstance(each.value, list):
            rest += [replace(each, value=inner) for inner in each.value]
        elif isinstance(each.value, str) and each.value:
            if _AS_TEXT.search(each.key) and (inner := _object_in(each.value)) is not None:
                rest.append(replace(each, value=inner))
            found.look_at(each.value, each)
    return NamedFiles(
        files=tuple(found.files)[:_MOST_NAMES],
        mentioned=tuple(name for name in found.mentioned if name not in found.files)[:MOST_VALUES],
        words=tuple(found.words)[:MOST_VALUES],
        lines=tuple(found.lines),
        searches=found.searches,
        is_whole=not rest
        and not found.has_more
        and len(found.files) <= _MOST_NAMES
        and len(found.mentioned) <= MOST_VALUES,
    )


def _below(each: _Value, texts: Container[str], found: _Found) -> Iterator[_Value]:
    inside = {name: value for name, value in each.value.items() if name not in texts or not isinstance(value, str)}
    keys = {name: re.sub(r"[^a-z]", "", name.lower()) for name in inside}
    beside = [
        spelt
        for name, value in inside.items()
        if isinstance(value, str) and 0 < len(value) <= _LONGEST and _FOLDERS.search(keys[name])
        for spelt in spellings(value)
    ]
    folders = tuple(dict.fromkeys((*each.folders, *beside)))
    found.has_more = found.has_more or len(folders) > _MOST_FOLDERS
    above = each.key if _may_name_files(each.key) else ""
    for name, value in inside.items():
        # Some have what becomes of each file under the name of that.
        found.add(name, each, is_named=_may_name_files(each.key) and _looks_like_file(name))
        yield _Value(value=value, key=keys[name], above=above, folders=folders[:_MOST_FOLDERS])


class _Found:
    def __init__(self) -> None:
        self.files, self.mentioned = dict[str, None](), dict[str, None]()
        self.words, self.lines = dict[str, None](), dict[str, None]()
        self.has_more = self.searches = False

    def look_at(self, value: str, each: _Value) -> None:
        key, bare = each.key, value.strip(_AROUND)
        for patched in _patched(value):
            self.add(patched, each, is_named=True)
        if len(value) > _LONGEST:
            self.has_more = self.has_more or bool(_FILES.search(key) or _WORDS.search(key))
            return
        if _LINES.search(key):
            self.lines[value] = None
        if _WORDS.search(key):
            words = [word for word in _WORD_ENDS.split(value) if word]
            self.mentioned.update(dict.fromkeys(words))
            self.words.update(dict.fromkeys(filter(_looks_like_file, words)))
        self.searches = self.searches or (bool(_SEARCHED.search(key)) and bool(set(value) & set("*?[{")))
        if _FILES.search(key):
            # It may be a list of several.
            for name in dict.fromkeys((value, *_LIST.split(bare))):
                self.add(name, each, is_named=True)
        elif "\n" not in bare and (".." in bare or not _ADDRESS.match(bare)):
            is_named = (_may_name_files(key) or _may_name_files(each.above)) and _looks_like_file(bare)
            self.add(value, each, is_named=is_named or bare.lower().startswith("file:"))

    def add(self, name: str, each: _Value, *, is_named: bool) -> None:
        if not name or len(name) > _LONGEST:
            return
        names = spellings(name)
        if each.folders:
            below = [spelt for spelt in names if not spelt.startswith(("/", "~"))]
            names |= dict.fromkeys(f"{folder}/{spelt}" for folder in each.folders for spelt in below if spelt != folder)
        (self.files if is_named else self.mentioned).update(names)


def is_plain_name(name: str) -> bool:
    """Whether every program takes it for the same file: some leave blanks out, or take signs before others away."""
    return name == name.strip(_BLANKS) and name.isprintable() and "\\" not in name and not _SCHEME.match(name)


def _may_name_files(key: str) -> bool:
    return bool(_FILES.search(key) or _PERHAPS_FILES.search(key))


def _looks_like_file(value: str) -> bool:
    return bool(re.search(r"[/~]|\.\w", value)) and len(value) <= _LONGEST


def spellings(value: str) -> dict[str, None]:
    """The name as it stands, and as those take it who leave blanks and quotes out, or know addresses of files."""
    from urllib.parse import unquote  # only now: most inputs have nothing of the kind

    found = dict.fromkeys((value, bare := value.strip(_AROUND)))
    if scheme := _SCHEME.match(bare):
        found[unquote(bare[scheme.end() :].partition("#")[0].partition("?")[0])] = None
        found[unquote(bare[scheme.end() :])] = None
    if (shown := "".join(filter(str.isprintable, bare))) != bare:
        found[shown] = found[bare.partition("\0")[0]] = None
    if place := _PLACE.search(bare):
        found[bare[: place.start()]] = None
    if bare.startswith("@"):
        found[bare[1:]] = None
    if "\\" in bare:
        found[bare.replace("\\", "/")] = None
        found[re.sub(r"\\(.)", r"\1", bare)] = None
    if "%" in bare:
        found[unquote(bare)] = None
    return {name: None for name in found if name and "\n" not in name}


def _patched(text: str) -> Iterator[str]:
    """The files that a patch names, with and without the `a/` and `b/` of git's."""
    if "\n" not in text:
        return
    for line in re.split(r"[\n\r]", text):
        found = _PATCHED.match(line.lstrip(_AROUND)) if line[:64].strip(_AROUND)[:1] in tuple("*Iidrc-+DRC") else None
        if not found or len(line) > _LONGEST:
            continue
        named = found["named"].partition("\t")[0].strip(_AROUND)
        for name in (named, *(named.split(" ") if line.lstrip().startswith("diff") else ())):
            if name and name != "/dev/null":
                yield from (name, re.sub(r"^[a-z]/", "", name))


def _object_in(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    from sayso import untrusted_json

    try:
        return untrusted_json.loads(text)
    except ValueError:
        return None
