"""What the command line says to a person, in their language.

Texts stay in the code that says them, in English, marked by `tr`, `plural` or `mark`. What lower layers say is
translated where it is shown, by `translated`. The German for all of it is `german.json`, read only when German is
wanted; what is missing there is said in English, and a hole `{name!t}` is filled with a text that is itself in there.
Nothing that programs read goes through here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.clients import IN_A_SHELL
from sayso.config import language_setting
from sayso.errors import told
from sayso.language import chosen

if TYPE_CHECKING:
    from string import Formatter

_LEAST = 10
"""Characters that a template must have of its own to know a finished text by."""
_LONGEST = 2_000
"""Characters of a finished text that is looked for: trying templates on a long one could take for ever."""
_HOLE = re.compile(r"\{(\w+)(?:!t)?\}")


def tr(text: str, /, **values: object) -> str:
    """The text in the person's language, with its `{names}` filled in."""
    spoken = catalogue().get(text, text)
    return _filled(spoken, values) if values else spoken


def plural(number: int, one: str, many: str, /, **values: object) -> str:
    """`one` for a single thing, `many` with the number as `{n}` for others."""
    return tr(one if number == 1 else many, n=number, **values)


def mark(text: str) -> str:
    """The text as it is: it is translated later, when it is shown."""
    return text


def translated(text: str) -> str:
    """A finished text of a lower layer in the person's language, found by its template; as it is where none fits."""
    if not catalogue() or len(text) > _LONGEST:
        return text
    if text in catalogue():
        return catalogue()[text]
    for english in _templates():
        if text.startswith(english.partition("{")[0]) and (found := _pattern(english).fullmatch(text)):
            return _filled(catalogue()[english], found.groupdict())
    return text


def explained(error: Exception) -> str:
    """What an error says, in the person's language."""
    return told(error, translated)


@cache
def language() -> str:
    """The language of this process. In a shell of an agent it is the one that models are told everything in."""
    if any(os.environ.get(name) for name in IN_A_SHELL):
        return "en"
    return chosen(language_setting(os.environ), os.environ)


@cache
def catalogue() -> Mapping[str, str]:
    """English texts and what they are in the person's language; empty where that is English."""
    if language() != "de":
        return {}
    return {english: german for texts in german_texts().values() for english, german in texts.items()}


def german_texts() -> dict[str, dict[str, str]]:
    """English texts and their German, by what they are about."""
    texts: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("german.json").read_text("utf-8"))
    return texts


def _filled(spoken: str, values: Mapping[str, object]) -> str:
    """With its holes filled; `{name!t}`, which only translations have, takes a text that is to be translated itself."""
    return _filling().vformat(spoken, (), values) if catalogue() else spoken.format_map(values)


@cache
def _filling() -> Formatter:
    from string import Formatter  # which takes its time

    class Filling(Formatter):
        def convert_field(self, value: Any, conversion: str | None) -> Any:
            return translated(str(value)) if conversion == "t" else super().convert_field(value, conversion)

    return Filling()


@cache
def _templates() -> list[str]:
    """The texts with holes, those first that say the most before the first hole, and then in all."""
    own = {text: len(_HOLE.sub("", text)) for text in catalogue() if _HOLE.search(text)}
    known = (text for text, size in own.items() if size >= _LEAST)
    return sorted(known, key=lambda text: (text.index("{"), own[text]), reverse=True)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts, seen = _HOLE.split(template), set[str]()
    for place in range(1, len(parts), 2):
        name = parts[place]
        parts[place] = f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
        seen.add(name)
    parts[::2] = map(re.escape, parts[::2])
    return re.compile("".join(parts), re.DOTALL)
