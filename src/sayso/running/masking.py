"""Hides what looks like a secret in text, with as many stars as it had characters, so that places stay where they are.

A guard against accidents: a secret in a form that no pattern knows is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

GROUP = "secret"
"""The group of a pattern that is hidden; without one, all that matches is."""

_NAMED = (
    r"(?i)(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
    r"[\"']?\s{0,4}[=:]\s{0,4}"
)
PATTERNS = (
    # Private keys, whole
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?P<secret>[\s\S]{1,20000}?)(?:-----END|\Z)",
    # Tokens that say what they are
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{30,255}",
    r"\bgithub_pat_[A-Za-z0-9_]{30,255}",
    r"\bglpat-[A-Za-z0-9_-]{20,64}",
    r"\bsk-[A-Za-z0-9_-]{20,255}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\bnpm_[A-Za-z0-9]{30,255}",
    r"\bpypi-[A-Za-z0-9_-]{50,500}",
    r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{4,4000}",
    # Passwords in addresses
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@]{0,200}:(?P<secret>[^\s/?#@]{1,500})@",
    # Headers
    r"(?i)\b(?:proxy-)?authorization:\s{0,4}(?:bearer|basic|token|digest)?\s{0,4}(?P<secret>[^\s\"']{6,4000})",
    # Variables and fields named for what they hold
    _NAMED + r"(?P<quote>[\"'])(?P<secret>[^\"'\n]{4,500})(?P=quote)",
    _NAMED + r"(?P<secret>[^\s\"'&,;]{6,500})",
)


class Masks:
    """The patterns that hold here."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [re.compile(pattern) for pattern in patterns]

    def hide(self, text: str) -> str:
        """The text with every secret starred out; as long as before."""
        for pattern in self._patterns:
            text = pattern.sub(_starred, text)
        return text


def default_masks(further: Iterable[str] = ()) -> Masks:
    return Masks([*PATTERNS, *further])


def _starred(match: re.Match[str]) -> str:
    group: str | int = GROUP if GROUP in match.re.groupindex else 0
    begin, end = match.span(group)
    if begin < 0:
        return match[0]
    hidden = re.sub(r"[^\n]", "*", match.string[begin:end])
    return match.string[match.start() : begin] + hidden + match.string[end : match.end()]
