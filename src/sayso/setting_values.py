"""How the value of a setting is read, whether it was written in a file, in the environment or as a flag.

A reader returns the value as the code uses it, or raises ValueError with words for what is allowed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
"""In milliseconds, as every time in a setting."""
_UNITS = {"ms": 1, "s": 1000, "m": MINUTE, "h": HOUR, "d": DAY}
_LONGEST = 36_500 * DAY


def duration(value: object) -> int:
    """Milliseconds from `"90s"`, `"10m"`, `"12h"`, `"7d"`, `"500ms"` or a number of seconds."""
    spelt = "" if isinstance(value, bool) else str(value).strip()
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?", spelt)
    milliseconds = float(match[1]) * _UNITS[match[2] or "s"] if match else 0
    if not 1 <= milliseconds <= _LONGEST:
        raise ValueError('a time such as "90s", "10m", "12h" or "7d", at most 100 years')
    return int(milliseconds)


def duration_or_none(value: object) -> int | None:
    return None if value == "none" else duration(value)


def answer_wait(value: object) -> int:
    """How long an agent that the web page runs may wait for an answer, as milliseconds."""
    allowed = 'a time from 30 to 900 seconds, such as 90 or "5m"'
    try:
        time = duration(value)
    except ValueError as error:
        raise ValueError(allowed) from error
    if not 30_000 <= time <= 900_000:
        raise ValueError(allowed)
    return time


class OneWord:
    """Reads one of these words."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def __call__(self, value: object) -> str:
        if value not in self.allowed:
            raise ValueError("one of " + ", ".join(self.allowed))
        return str(value)


def switch(value: object) -> bool:
    known = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if str(value).lower() not in known:
        raise ValueError("true or false")
    return known[str(value).lower()]


def words_for(read: Callable[[object], object]) -> Sequence[str]:
    """All that can be written for a setting that is read so, where these are a few words."""
    return read.allowed if isinstance(read, OneWord) else ("true", "false") if read is switch else ()


def whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value)) or not least <= int(str(value)) <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return int(str(value))

    return read


def limits(value: object) -> Mapping[str, int]:
    """Client names with a time each; `none` is 0, no limit. A table, which in the environment may be written as it is
    in a file or as `name=time,name=time`."""
    if isinstance(value, str):
        value = _as_in_a_file(value) if value.lstrip().startswith("{") else _pairs(value)
    if not isinstance(value, dict):
        raise ValueError(
            'a table of client names and times, such as {cursor = "4m", zed = "none"}, or cursor=4m,zed=none'
        )
    return {str(name).strip().lower(): duration_or_none(_stripped(time)) or 0 for name, time in value.items()}


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


_MANY_PARTS = r"""(?:\.[ \t]*+(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+){20}"""
"""A key of so many parts as nobody writes: what Python needs for one grows with the square of their number."""


def toml(text: str) -> dict[str, Any]:
    """What a text in TOML says. ValueError where it is none."""
    # Only now: most people have no such file, and a fast start is a feature.
    import tomllib

    if re.search(_MANY_PARTS, text):
        raise ValueError("it has a key of more than 20 parts")
    return tomllib.loads(text)


def _as_in_a_file(value: str) -> object:
    """A list or table in the environment that is written as it would be in a file; None for what is not."""
    if not value.lstrip().startswith(("{", "[")):
        return None
    try:
        return toml(f"value = {value}")["value"]
    except ValueError:
        return None


def _pairs(value: str) -> object:
    parts = [part for part in value.split(",") if part.strip()]
    return dict(part.split("=", 1) for part in parts) if all("=" in part for part in parts) else value


def words(value: object) -> tuple[str, ...]:
    """A list of texts, or one text with spaces between them."""
    parts = (_as_in_a_file(value) or value.split()) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError("a list of texts")
    return tuple(parts)


def web_address(value: object) -> str:
    if value and not text(value).startswith(("http://", "https://")):
        raise ValueError("an http:// or https:// address")
    return text(value)


def text(value: object) -> str:
    if not isinstance(value, str) or "\x00" in value or value != readable(value):
        raise ValueError("a text, in UTF-8 and without NUL")
    return value


def readable(value: str) -> str:
    """A text from the system as one that can be stored: bytes that are no UTF-8 are spelt out."""
    return value.encode(errors="surrogateescape").decode(errors="backslashreplace")


def path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\x00" in value:
        raise ValueError("a path")
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError as error:
        raise ValueError("a path of a user who exists") from error


def path_or_none(value: object) -> Path | None:
    return path(value) if value else None


def paths(value: object) -> tuple[Path, ...]:
    """A list of paths, or one text with the system's separator between them."""
    parts = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise ValueError("a list of paths")
    return tuple(path(part) for part in parts)


def patterns(value: object) -> tuple[str, ...]:
    """A list of regular expressions, or one text that is one."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part for part in parts):
        raise ValueError("a list of regular expressions")
    for part in parts:
        try:
            re.compile(part)
        except re.error as error:
            raise ValueError(f"a list of regular expressions; {part!r} is none ({error})") from error
    return tuple(parts)


def key_table(value: object) -> tuple[tuple[str, str], ...]:
    """Pairs of action and keys, from a table `{reject = "x", send = ["ctrl+s", "f10"]}` or `"reject=x; send=f10"`."""
    if isinstance(value, str):
        pairs = [pair.partition("=") for pair in value.split(";") if pair.strip()]
        value = _as_in_a_file(value) or {name.strip(): keys.strip() for name, _, keys in pairs}
    if not isinstance(value, Mapping):
        raise ValueError('a table such as reject = "x", send = ["ctrl+s", "f10"]')
    listed = {name: [keys] if isinstance(keys, str) else keys for name, keys in value.items()}
    for name, keys in listed.items():
        if not isinstance(keys, list) or not keys or not all(isinstance(key, str) and key.strip() for key in keys):
            raise ValueError(f'a table whose values are keys; {name} needs one such as "x" or ["ctrl+s", "f10"]')
    return tuple((name, ",".join(key.strip() for key in keys)) for name, keys in listed.items())
