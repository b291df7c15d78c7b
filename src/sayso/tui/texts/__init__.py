"""Which language the terminal inbox speaks."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.language import chosen
from sayso.tui.texts.english import Texts
from sayso.tui.texts.german import German

LANGUAGES: Mapping[str, Texts] = {"en": Texts(), "de": German()}

__all__ = ["LANGUAGES", "Texts", "texts_for"]


def texts_for(language: str, environ: Mapping[str, str]) -> Texts:
    """The texts of a language, or with `auto` of the one the environment asks for; English where there is none."""
    return LANGUAGES[chosen(language, environ)]
