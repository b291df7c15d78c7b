"""Where the paths in an input really lead, when a link is on the way: who agrees to the one has to see the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice

MOST_TEXTS = 1_000
"""Of an input that holds more, the first are looked at."""
LONGEST = 4_096
"""Characters. No system takes a longer path."""


def links_in(given: object, folder: str | os.PathLike[str]) -> dict[str, str]:
    """The texts of an input that lead elsewhere than they say, as paths from this folder, each with where to. What is
    not there yet counts too: it may be made below a link."""
    top = os.path.abspath(folder)
    real_top = os.path.realpath(top)
    texts = islice(_texts_in(given), MOST_TEXTS)
    return {text: real for text in dict.fromkeys(texts) if (real := _elsewhere(text, top, real_top))}


def _texts_in(given: object) -> Iterator[str]:
    """All that may name a file. No level is a call: there may be many."""
    rest = [given]
    while rest:
        each = rest.pop()
        if isinstance(each, str):
            if 0 < len(each) <= LONGEST and "\n" not in each and "\0" not in each:
                yield each
        elif isinstance(each, Mapping):
            rest += reversed([*each.values()])
        elif isinstance(each, list):
            rest += reversed(each)


def _elsewhere(text: str, top: str, real_top: str) -> str:
    """Where it leads; empty where that is what it says. How the folder itself is reached makes no difference."""
    path = os.path.join(top, os.path.expanduser(text))
    said = os.path.normpath(path)
    if said == top or said.startswith(f"{top}{os.sep}"):
        said = os.path.normpath(real_top + said[len(top) :])
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):  # such as half a letter, which is in no file's name
        return ""
    return "" if real == said else real
