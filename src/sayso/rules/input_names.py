"""The names by which programs may know one file: folded, decoded, taken out of an address. No file is looked at."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator

from sayso.records import record

LONGEST_NAME = 4096
"""Letters of a name that a system opens. Programs take dots and slashes out of longer ones first."""
_MOST_SPELLINGS = 48
MOST_LETTERS = 600_000
"""Of all spellings of the values of one input."""

_ADDRESS = re.compile(r"(?i)(?:https?|wss?|ftps?|mailto|data|git|ssh):")
_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.-]+:(?://[^/]*)?(?=/)|file:")
_SCHEMES = re.compile(r"(?i)[a-z][a-z0-9+.-]+:(?=[a-z][a-z0-9+.-]+:)")
"""An address in an address, such as `jar:file:`."""
_BLANKS = " \t\r\n\v\f\x85\xa0\u180e\u200b\u2028\u2029\u3000\ufeff"
AROUND = f"{_BLANKS}\"'`<>()"
"""What those leave out who find a name in a text."""
_PLACE = re.compile(r"(?::\d+){1,2}(?:-\d+)?$")
"""The lines of a file that are meant, after its name."""
_LONGEST_PLACE = 32
_SIMPLE = re.compile(r"[A-Za-z0-9_./+~-]+")
_CODED = re.compile(r"[A-Za-z0-9+/=_-]+")
"""Contents as base64: no name in it is shorter than all of it."""


@record
class Spellings:
    names: dict[str, None]
    is_whole: bool = True
    """Whether there is none that was left out for its length."""
    letters: int = 0
    """Of what was read to find them."""


def spellings(value: str) -> Spellings:
    """The name as it stands, and as those take it who leave blanks and quotes out, know addresses of files, or decode
    what they are given, one after the other."""
    if len(value) <= LONGEST_NAME and _SIMPLE.fullmatch(value):
        return Spellings(names={value: None})
    found, rest, letters = {value: None}, [value], 0
    for each in rest:
        letters += len(each)
        if len(rest) > _MOST_SPELLINGS or letters > MOST_LETTERS:
            break
        for other in _readings(each):
            if other and other not in found:
                found[other] = None
                rest.append(other)
    folded = [_folded(name) for name in found if "\n" not in name]
    names = {name: None for name in folded if 0 < len(name) <= LONGEST_NAME}
    is_whole = len(names) == len(set(folded)) and len(rest) <= _MOST_SPELLINGS and letters <= MOST_LETTERS
    return Spellings(names=names, is_whole=is_whole, letters=letters)


def is_plain_name(name: str) -> bool:
    """Whether every program takes it for the same file: some leave blanks out, or take signs before others away."""
    return name == name.strip(_BLANKS) and name.isprintable() and "\\" not in name and not _SCHEME.match(name)


def is_file_address(value: str) -> bool:
    """Whether it is one for those who leave out what cannot be seen."""
    begins = "".join(filter(str.isprintable, value[:200].strip(AROUND)))
    in_another = _SCHEMES.match(begins) and (":/" in begins or "file:" in begins.lower())
    return bool(_SCHEME.match(begins) or in_another) and not is_address(begins)


def is_address(value: str) -> bool:
    """Whether it is one of the net, and is none of a file if it is taken for the name of one."""
    return bool(_ADDRESS.match(value)) and ".." not in value


def may_be_long_name(value: str) -> bool:
    """Whether a program may find a name in it, however long it is: it is no text, and no contents."""
    is_text = re.search(r"\s", value) or value.startswith(("{", "[", "<"))
    return is_file_address(value) or not (is_text or is_coded(value) or is_address(value))


def is_coded(value: str) -> bool:
    return bool(_CODED.fullmatch(value))


def _folded(name: str) -> str:
    """Without what a program takes out, where no system would open it as it stands."""
    return name if len(name) <= LONGEST_NAME else os.path.normpath(name)


def _readings(text: str) -> Iterator[str]:
    from urllib.parse import unquote  # only now: most inputs have nothing of the kind

    bare = text.strip(AROUND)
    yield bare
    if scheme := _SCHEME.match(bare):
        rest = bare[scheme.end() :]
        yield from (rest.partition("#")[0].partition("?")[0], rest)
    if bare[:7].lower() == "file://":
        # Some take that away and look from where they are.
        yield from (bare[7:], bare[7:].lstrip("/"))
    if scheme := _SCHEMES.match(bare):
        yield bare[scheme.end() :]
    if "!/" in bare:
        yield bare.partition("!/")[0]
    if not bare.isprintable():
        yield from ("".join(filter(str.isprintable, bare)), bare.partition("\0")[0])
    if place := _PLACE.search(bare[-_LONGEST_PLACE:]):
        yield bare.removesuffix(place[0])
    if "#" in bare:
        yield bare.partition("#")[0]
    if bare.startswith("@"):
        yield bare[1:]
    if "\\" in bare:
        yield bare.replace("\\", "/")
        yield "\\".join(part.replace("\\", "") for part in bare.split("\\\\"))
    if "%" in bare:
        yield unquote(bare)
