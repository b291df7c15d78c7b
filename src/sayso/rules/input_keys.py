"""What the keys of a tool's input say about what stands under them, where nobody has told. Spelt in whatever way:
`filePath`, `file_path`, `FILE-PATH`."""

from __future__ import annotations

import re
from functools import lru_cache

from sayso.records import record
from sayso.rules.programs import named

_LONGEST = 64


_FILES = re.compile(
    r"(?<!pro)(?:path|file|filename|folder|directory|dir|notebook|cwd|target|destination|dest|dst)s?$|^(?:path|file)(?!$).*(?:name|uri|url)$"
)
_PERHAPS_FILES = re.compile(r"(?:uri|url|source|src|location|from|to|output|root|name|change)s?$")
"""Keys, in small letters alone, under which a file may be named. Under the second it has to look like one."""
_OF_FILES = named("path file filename filepath folder directory dir pathspec pathname")
"""Words of keys that name files wherever they stand in it: `files_to_read`, `pathInRepo`."""
_OF_PERHAPS = named(
    "out image attachment document doc config template worktree repository repo href link glob include "
    "artifact asset resource"
)
_ABOUT_FILES = named(
    "content text data body type mode size count id format encoding mime description hash sha checksum extension ext "
    "limit depth"
)
"""Last words of keys that say something else of a file than where it is."""
_TEXTS = named("text title topic description message comment summary heading subject")
_FOLDERS = re.compile(
    r"(?:folder|directory|dir|cwd|root|base|workspace|project|repo|path|location|target|parent|repository|worktree|dirname)$"
)
_SEVERAL_FOLDERS = re.compile(r"(?:folder|directory|dir|workspace|project|repo|repository|worktree)$")
"""The same of one in the plural. Paths and targets are more often many files."""
_LINES = named("command cmd commandline script shell bash sh zsh run exec argv")
_PROGRAMS = _LINES | {"program", "executable", "binary"}
_WORDS = named("args arguments input code sourcecode expression python javascript js program")
_ARGUMENTS = named("args arg argv arguments argument subcommand params parameters options flags")
_SEARCHED = named("include glob fileglob filepattern pathpattern")
_AS_TEXTS = named(
    "arg args argv argument arguments param params parameter parameters input json payload kwargs request data body "
    "option options variable variables"
)
_SELECTING = named("target element selector ref")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@record
class KeyMeaning:
    names_files: bool = False
    may_name_files: bool = False
    """The same, where what stands there looks like a file."""
    is_folder: bool = False
    """Whether what stands beside it may be meant from there."""
    is_line: bool = False
    """Whether it may be for a shell."""
    is_program: bool = False
    is_arguments: bool = False
    has_words: bool = False
    is_searched: bool = False
    """Whether stars stand for files."""
    is_as_text: bool = False
    """Whether there may be an object that is written as a text."""
    is_text: bool = False
    """Whether there is nothing but a text. It may still be a patch."""
    selects: bool = False
    """Whether it may pick something that is no file: a part of a page, a state of a repository."""


NO_KEY = KeyMeaning()


def meaning(key: str) -> KeyMeaning:
    return _meaning(key if len(key) <= 2 * _LONGEST else f"{key[:_LONGEST]}_{key[-_LONGEST:]}")


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word.removesuffix("s") if len(word) > 2 else word


@lru_cache(2048)
def _meaning(key: str) -> KeyMeaning:
    letters = re.sub(r"[^a-z]", "", key.lower())
    words = [each.lower() for each in _WORD.findall(key)] or [""]
    single, one = [_singular(each) for each in words], _singular(letters)
    known = {letters, one}
    last = {words[-1], single[-1], *known}
    is_about = single[-1] in _ABOUT_FILES
    names_files = any(map(_FILES.search, known)) or (not is_about and not _OF_FILES.isdisjoint((*words, *single)))
    perhaps = letters == "saveas" or not _OF_PERHAPS.isdisjoint(single)
    is_line = not _LINES.isdisjoint(last)
    return KeyMeaning(
        names_files=names_files,
        may_name_files=names_files or any(map(_PERHAPS_FILES.search, known)) or (perhaps and not is_about),
        is_folder=bool(_FOLDERS.search(letters) or _SEVERAL_FOLDERS.search(one)) or letters == "in",
        is_line=is_line,
        is_program=not _PROGRAMS.isdisjoint(last),
        is_arguments=not _ARGUMENTS.isdisjoint(known),
        has_words=is_line or not (_WORDS | _ARGUMENTS).isdisjoint(known),
        is_searched=not _SEARCHED.isdisjoint(known),
        is_as_text=not _AS_TEXTS.isdisjoint((*known, *words, *single)),
        is_text=not _TEXTS.isdisjoint(known),
        selects=not _SELECTING.isdisjoint(last),
    )
