"""Which language the terminal inbox speaks."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.tui.texts.english import Texts
from sayso.tui.texts.german import German

LANGUAGES: Mapping[str, Texts] = {"en": Texts(), "de": German()}

__all__ = ["LANGUAGES", "Texts", "texts_for"]


def texts_for(language: str, environ: Mapping[str, str]) -> Texts:
    """The texts of a language, or with `auto` of the one the environment asks for; English where there is none."""
    if language == "auto":
        wanted = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
        language = wanted.partition("_")[0].partition(".")[0].lower()
    return LANGUAGES.get(language, LANGUAGES["en"])
