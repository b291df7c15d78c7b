"""Hides what looks like a secret in text, with as many stars as it had characters, so that places stay where they are.

A guard against accidents: a secret in a form that no pattern knows is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sayso.config import Config

GROUP = "secret"
"""The group of a pattern that is hidden; without one, all that matches is."""

_NAMES = ("pass", "secret", "token", "key", "credential")
_NAMED = (
    r"(?i)(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
    r"[\"']?\s{0,4}[=:]\s{0,4}"
)
PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    # Private keys, whole. Nothing is wanted of what follows, so that nothing is tried twice: Python before 3.11.5 takes
    # a possessive repetition of a group for something else
    (("private key",), r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?P<secret>(?:[^-]|-(?!----)){1,20000})"),
    # Tokens that say what they are
    (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{30,255}"),
    (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{30,255}"),
    (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,64}"),
    (("sk-",), r"\bsk-[A-Za-z0-9_-]{20,255}"),
    (("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    (("aiza",), r"\bAIza[A-Za-z0-9_-]{35}"),
    (("npm_",), r"\bnpm_[A-Za-z0-9]{30,255}"),
    (("pypi-",), r"\bpypi-[A-Za-z0-9_-]{50,500}"),
    (("eyj",), r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{4,4000}"),
    # Passwords in addresses
    (("://",), r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@]{0,200}:(?P<secret>[^\s/?#@]{1,500})@"),
    # Headers
    (
        ("authorization:",),
        r"(?i)\b(?:proxy-)?authorization:\s{0,4}(?:bearer|basic|token|digest)?\s{0,4}(?P<secret>[^\s\"']{6,4000})",
    ),
    # Variables and fields named for what they hold
    (_NAMES, _NAMED + r"(?P<quote>[\"'])(?P<secret>[^\"'\n]{4,500})(?P=quote)"),
    (_NAMES, _NAMED + r"(?P<secret>[^\s\"'&,;]{6,500})"),
)
"""Each with what a text must hold, in small letters, to be worth a look: most output holds none of it."""


class Masks:
    """The patterns that hold here."""

    def __init__(self, patterns: Iterable[tuple[tuple[str, ...], str]]) -> None:
        self._patterns = list(patterns)

    def hide(self, text: str) -> str:
        """The text with every secret starred out; as long as before."""
        small = text.lower()
        for signs, pattern in self._patterns:
            if any(sign in small for sign in signs):
                # Only now, and kept by `re`: to compile all of them takes longer than to look at most texts.
                text = re.compile(pattern).sub(_starred, text)
        return text


def masks_of(config: Config) -> Masks:
    """Those that the settings want."""
    return default_masks(config.mask_patterns) if config.mask_output else Masks(())


def default_masks(further: Iterable[str] = ()) -> Masks:
    return Masks([*PATTERNS, *((("",), pattern) for pattern in further)])


def _starred(match: re.Match[str]) -> str:
    group: str | int = GROUP if GROUP in match.re.groupindex else 0
    begin, end = match.span(group)
    if begin < 0:
        return match[0]
    hidden = re.sub(r"[^\n]", "*", match.string[begin:end])
    return match.string[match.start() : begin] + hidden + match.string[end : match.end()]
