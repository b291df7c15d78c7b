"""Texts held against the regular expressions of tool files, for no longer than a moment: with some texts some of them
take years, and nothing else of a process runs meanwhile."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Sequence

_STEPS_AT_ONCE = 3_000_000
"""What is certainly done within a fraction of a second."""

_SECONDS = 3.0
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?|\)[*+{]|[*+{?|)]", re.DOTALL)
_ELSEWHERE = """
import json, re, sys
pattern, flags, texts = json.load(sys.stdin)
found = re.compile(pattern, flags)
print(json.dumps([bool(found.search(text)) for text in texts]))
"""


def matches(pattern: re.Pattern[str], texts: Sequence[str]) -> list[bool]:
    """In which of the texts it is found. A TimeoutError when that takes too long."""
    if sum(_most_steps(pattern.pattern, len(text)) for text in texts) <= _STEPS_AT_ONCE:
        return [bool(pattern.search(text)) for text in texts]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ELSEWHERE],
            input=json.dumps([pattern.pattern, pattern.flags, texts]).encode(),
            stdout=subprocess.PIPE,
            check=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"`{pattern.pattern}` took too long") from None
    found: list[bool] = json.loads(done.stdout)
    return found


def _most_steps(pattern: str, length: int) -> float:
    """No fewer than it takes in a text of this length, wherever in it the search begins. What repeats a group may take
    any number."""
    steps, ways = length + 1, 1
    for part in _PARTS.findall(pattern):
        if part.startswith(")") and part != ")":
            return math.inf
        if part in ("*", "+", "{"):
            steps *= length + 1
        elif part == "?":
            steps *= 2
        elif part == "|":
            ways += 1
        elif part == ")":
            steps, ways = steps * ways, 1
    return steps * ways
