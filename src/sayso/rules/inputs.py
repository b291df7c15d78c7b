"""Which files the input of a tool may be about, where nobody has told what the tool makes of it.

It finds too much rather than too little: what is found can only deny or ask. No file is read here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from sayso.records import record

MOST_VALUES = 5_000
"""Values of one input that are looked at. With more, no rule allows it."""
_MOST_NAMES = 500
_MOST_FOLDERS = 4
_MOST_IN_FOLDERS = 200
_LONGEST = 4096

_FILES = re.compile(
    r"(?<!pro)(?:path|file|filename|folder|directory|dir|notebook|cwd)s?$|^(?:path|file)(?!$).*(?:name|uri|url)$"
)
_PERHAPS_FILES = re.compile(
    r"(?:uri|url|target|destination|dest|dst|source|src|location|from|to|output|root|name|change)s?$"
)
"""Keys, in small letters alone, under which a file may be named. Under the second it has to look like one."""
_FOLDERS = re.compile(r"(?:folder|directory|dir|cwd|root|base|workspace|project|repo|path)s?$")
_LINES = re.compile(r"^(?:command|cmd|commandline|script|shell)s?$")
_WORDS = re.compile(r"^(?:command|cmd|commandline|script|shell|args|argv|arguments|input)s?$")
"""Keys under which there may be a line for a shell, and those for what else may be made of words."""
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
_AROUND = " \t\r\n\v\f\x85\xa0\u180e\u200b\u2028\u2029\u3000\ufeff\"'`<>()"
_WORD_ENDS = re.compile(r"[\s;|&<>()\"'`,={}\[\]@]+")


@record
class NamedFiles:
    """`files` are named as such. `mentioned` are values that would be files if the tool took them for such."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Those of them from which others may be meant."""
    mentioned: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    """What may be lines for a shell."""
    is_whole: bool = True
    """Whether all of the input was looked at."""


def named_files(given: Mapping[str, Any], texts: Container[str] = ()) -> NamedFiles:
    """`texts` are the keys of what is known to be nothing but text."""
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    mentioned: dict[str, None] = {}
    lines: dict[str, None] = {}
    rest: list[tuple[str, str, Any]] = [("", "", given)]
    """Under which key each stands, and under which that does."""
    looked_at = 0
    while rest and looked_at < MOST_VALUES:
        looked_at += 1
        key, above, value = rest.pop()
        if isinstance(value, Mapping):
            for name, inner in value.items():
                if name in texts and isinstance(inner, str):
                    continue
                plain = re.sub(r"[^a-z]", "", name.lower())
                rest.append((plain, key if _may_name_files(key) else "", inner))
                if len(name) <= _LONGEST:
                    # Some have what becomes of each file under the name of that.
                    (files if _may_name_files(key) and _looks_like_file(name) else mentioned).update(spellings(name))
        elif isinstance(value, list):
            rest += [(key, above, inner) for inner in value]
        elif isinstance(value, str) and value:
            if _AS_TEXT.search(key) and (inner := _object_in(value)) is not None:
                rest.append((key, above, inner))
            for patched in _patched(value):
                files.update(spellings(patched))
            if _LINES.search(key):
                lines[value] = None
            if _WORDS.search(key):
                mentioned.update((word, None) for word in _WORD_ENDS.split(value[:_LONGEST]) if word)
            if len(value) > _LONGEST or "\n" in value.strip() or _ADDRESS.match(value.strip(_AROUND)):
                continue
            is_named = bool(_FILES.search(key)) or (
                (_may_name_files(key) or _may_name_files(above)) and _looks_like_file(value)
            )
            is_named = is_named or value.lower().lstrip(_AROUND).startswith("file:")
            (files if is_named else mentioned).update(spellings(value))
            if is_named and _FOLDERS.search(key):
                folders.update(spellings(value))
    is_whole = not rest and len(files) <= _MOST_NAMES and len(mentioned) <= MOST_VALUES
    if folders:
        is_whole = is_whole and len(folders) <= _MOST_FOLDERS and len(mentioned) <= _MOST_IN_FOLDERS
    return NamedFiles(
        files=tuple(files)[:_MOST_NAMES],
        folders=tuple(folders)[:_MOST_FOLDERS],
        mentioned=tuple(name for name in mentioned if name not in files)[:MOST_VALUES],
        lines=tuple(lines),
        is_whole=is_whole,
    )


def is_plain_name(name: str) -> bool:
    """Whether every program takes it for the same file: some leave blanks out, or take signs before others away."""
    return name == name.strip(_AROUND) and name.isprintable() and "\\" not in name and not _SCHEME.match(name)


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
