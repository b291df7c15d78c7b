"""Text that agents and people wrote, made safe and readable for a terminal, a message or a line of JSON."""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Iterable
from typing import Any

_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Unicode's Default_Ignorable_Code_Point, without what turns text around.
_IGNORABLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Separators of lines and annotations, and letters and signs that are blank: programs disagree about their widths.
_BLANK = "\u2028\u2029\u2800\ufff9-\ufffb\U00016fe4\U0001d159"
# Signs that change how others are drawn, most without a width of their own, and what each font draws as it likes.
_FORMAT = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010ffff"
_INVISIBLE = _IGNORABLE + _BLANK + _FORMAT + _PRIVATE
_UNSAFE = f"[{_CONTROL}{_BIDI}{_INVISIBLE}\ud800-\udfff]"
_ODD_BLANK = r"[^\S \t\n]"
_LIKE_SPELT = r"<(?=U\+[0-9A-F]{4,6}>)"
_UNSAFE_IN_JSON = f"[\x7f-\x9f{_BIDI}{_INVISIBLE}\ud800-\udfff]"
FROM_THE_RIGHT = (
    r"(?:[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff][\u0300-\u036f]*)+"
)
"""An expression for letters and digits of scripts that are read from the right, with the marks on them."""
_JOINER, _AS_EMOJI, _KEYCAP = "\u200d", "\ufe0f", "\u20e3"
_EARLY_EMOJI = tuple("©®‼⁉〰")


def printable(text: str) -> str:
    """The text with everything that could drive or deceive a terminal spelt out. Newlines and tabs stay."""
    text = text.replace("\r\n", "\n")
    return text if _is_plain(text) else re.sub(_UNSAFE, _spelt, text)


def _is_plain(text: str) -> bool:
    """Whether it is seen at a glance that nothing in it has to be spelt out: what finds that takes long to compile."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def exact(text: str) -> str:
    """The same with no byte left out, and no two texts alike: also what ends a line in another way than by a newline is
    spelt out, and so is the `<` of what only looks like something spelt out."""
    return re.sub(f"{_UNSAFE}|{_LIKE_SPELT}", _spelt, text)


def exact_words(text: str) -> str:
    """The same of a command or a name, in which a blank other than the plain one ends no word, and looks as if it
    did."""
    return re.sub(f"{_UNSAFE}|{_LIKE_SPELT}|{_ODD_BLANK}", _spelt, text)


def is_read_from_the_right(text: str) -> bool:
    """Whether some of it is: many programs then show what stands between such letters the other way round."""
    return not text.isascii() and re.search(FROM_THE_RIGHT, text) is not None


def isolated(text: str) -> str:
    """The words of others for a sentence of ours on a page: read from their own side, and nothing beside them moves."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if is_read_from_the_right(text) else text


def exact_diff(diff: str) -> str:
    """The same of a diff, in which also blanks that change are seen: the last one at the end of a changed line, and
    every one but the plain space in lines that differ in nothing else."""
    lines = exact(diff).split("\n")
    removed, added = ({"".join(line[1:].split()) for line in lines if line.startswith(mark)} for mark in "-+")
    return "\n".join(_blanks_seen(line, removed & added) if line[:1] in ("-", "+") else line for line in lines)


def one_line(text: str, width: int = 80) -> str:
    """The text as one safe line of at most `width` cells' worth of characters."""
    start = text[: width * 8]
    flat = " ".join(printable(start).split())
    whole = len(flat) <= width and (len(start) == len(text) or not text[len(start) :].strip())
    return flat if whole else flat[: max(width - 1, 0)] + "…"


def heading(text: str, width: int) -> str:
    """The same for what is not one line: it is seen where each of them ends, so that no two read as one."""
    return one_line(re.sub(r"[ \t\r]*\n\s*", " ↵ ", text[: width * 8].strip()) + text[width * 8 :], width)


def quoted(value: object, width: int = 60) -> str:
    """A value as it is named in an error: JSON, safe, cut to size."""
    shown = json_line(value)
    return shown if len(shown) <= width else shown[:width] + "…"


def json_line(value: object) -> str:
    """One line of JSON that a terminal can show: nothing lost, nothing that drives it."""
    return _shown_json(json.dumps(value, ensure_ascii=False, default=str))


def spelt_out(text: str) -> str:
    """The whole text on one line: as it is, or as JSON where something in it would not be seen for what it is."""
    safe = json_line(text)
    return text if text.isprintable() and safe == f'"{text}"' else safe


def json_block(value: object) -> str:
    """The same, indented for people."""
    return _shown_json(json.dumps(value, ensure_ascii=False, default=str, indent=2))


def _shown_json(text: str) -> str:
    return text if _is_plain(text) else re.sub(_UNSAFE_IN_JSON, _escaped, text)


def most_cells(character: str) -> int:
    """The most columns that a terminal may give a character: they differ in signs, emoji and marks that take room."""
    if character == _AS_EMOJI:
        return 1
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me"):
        return 0
    wide = unicodedata.east_asian_width(character) in "WF" or character > "\U0001efff"
    return 2 if wide or (kind == "No" and character > "\u2fff") else 1


def file_size(size: int) -> str:
    """How large a file is, as people say it."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:,.1f} kB" if size < 1_000_000 else f"{size / 1e6:,.1f} MB"


def counted(number: int, thing: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def closest(given: str, known: Iterable[str]) -> str:
    """The known word that is most like the given one; nothing when none is close."""
    import difflib  # only for those who made a mistake

    folded = {word.lower(): word for word in known}
    near = difflib.get_close_matches(given.lower(), folded, n=1)
    return folded[near[0]] if near else ""


def did_you_mean(given: str, known: Iterable[str], otherwise: str = "") -> str:
    """`Did you mean list?` for a word that is not known, with the nearest that is; else what is said otherwise."""
    near = closest(given, known)
    return f"Did you mean {near}?" if near else otherwise


def fit_for_column(name: str) -> str:
    """A name from outside as a store takes it: PostgreSQL takes no NUL, none takes half a character, and nobody needs a
    long one."""
    return name.replace("\x00", "").encode(errors="replace").decode()[:200]


def iso_time(milliseconds: int | None) -> str | None:
    """RFC 3339 in UTC, to the millisecond."""
    if milliseconds is None:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"


def utc_minute(milliseconds: int) -> str:
    """A moment for those whose time zone is not known."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(milliseconds / 1000))


def age(milliseconds: int) -> str:
    """A span of time as people say it: `now`, `5s`, `3m`, `2h`, `4d`."""
    seconds = max(milliseconds, 0) // 1000
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return "now"


def lasting(milliseconds: int) -> str:
    """How long something takes, for those who watch it: `0.4 s`, `12 s`, `3 m 20 s`, `1 h 5 m`, `20 d 3 h`."""
    seconds = max(milliseconds, 0) // 1000
    if seconds < 10 and milliseconds % 1000:
        return f"{max(milliseconds, 0) / 1000:.1f} s"
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} m {seconds % 60} s"
    if seconds < 2 * 86_400:
        return f"{seconds // 3600} h {seconds % 3600 // 60} m"
    return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"


def _blanks_seen(line: str, on_both_sides: set[str]) -> str:
    only_blanks_differ = "".join(line[1:].split()) in on_both_sides
    return re.sub(r"[^\S ]|\s$" if only_blanks_differ else r"\s$", _spelt, line)


def _spelt(match: re.Match[str]) -> str:
    if _is_in_emoji(match):
        return match.group()
    return f"<U+{ord(match.group()):04X}>"


def _is_in_emoji(match: re.Match[str]) -> bool:
    """Two signs make others an emoji: one between two of them, and one after one. Anywhere else they only hide."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    if match.group() == _JOINER:
        return (before == _AS_EMOJI or _may_be_emoji(before)) and _may_be_emoji(after)
    return match.group() == _AS_EMOJI and (after == _KEYCAP or _may_be_emoji(before))


def _may_be_emoji(character: str) -> bool:
    return character in _EARLY_EMOJI or (character > "\u2121" and unicodedata.category(character) in ("So", "Sm", "Sk"))


def _escaped(match: re.Match[str]) -> str:
    if _is_in_emoji(match):
        return match.group()
    encoded: Any = json.dumps(match.group())
    return str(encoded)[1:-1]


def words_about(wanted: str, why: str) -> str:
    """The words of a no that reach the agent apart from it. Several things may be asked at once: they say which."""
    return f"About `{one_line(wanted, 200)}`: {why}" if wanted.strip() else why
