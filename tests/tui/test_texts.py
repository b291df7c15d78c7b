"""The catalogue: English is complete, German translates all of it, and both take the same values."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

import sayso.tui
from sayso.permissions import quorum_words
from sayso.tui.texts import LANGUAGES, Texts, texts_for

SAME = {
    "do_editor",
    "do_stream",
    "in_another",
    "part_sandbox",
    *(f"theme_{name}" for name in ["nord", "gruvbox", "dracula", "solarized", "mocha"]),
}
"""Texts that happen to be the same in another language."""
NAMES = list(Texts.__annotations__)


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_every_text_is_translated_and_takes_the_same_values(language: str) -> None:
    english, other = Texts(), LANGUAGES[language]
    for name in NAMES:
        assert holes(getattr(english, name)) == holes(getattr(other, name)), name
    same = {name for name in NAMES if getattr(english, name) == getattr(other, name)}
    assert same <= SAME
    made_up = {name for name, text in vars(type(other)).items() if isinstance(text, str) and name[0] != "_"}
    assert made_up - set(NAMES) == set()


def test_who_has_to_agree_is_told_in_german_too() -> None:
    german = LANGUAGES["de"]
    told = {text: german.agreeing(text) for text in quorum_words.TEXTS}
    assert [text for text, other in told.items() if text == other or holes(text) != holes(other)] == []


def test_every_text_is_used() -> None:
    folder = Path(sayso.tui.__file__).parent
    code = "\n".join(file.read_text() for file in folder.glob("*.py"))
    made_up = ("do_", "state_", "theme_", "help_", "part_", "opened", "attended", "unattended", "delivered", "refused")
    unused = [name for name in NAMES if name not in code and not name.startswith(made_up)]
    assert unused == []


@pytest.mark.parametrize(
    ("setting", "environ", "language"),
    [
        ("auto", {}, "en"),
        ("auto", {"LANG": "de_AT.UTF-8"}, "de"),
        ("auto", {"LANG": "de_DE", "LC_ALL": "C.UTF-8"}, "en"),
        ("auto", {"LANG": "en_GB", "LC_MESSAGES": "de"}, "de"),
        ("auto", {"LANG": "fr_FR.UTF-8"}, "en"),
        ("en", {"LANG": "de_DE"}, "en"),
    ],
)
def test_the_language_follows_the_settings_and_the_environment(
    setting: str, environ: dict[str, str], language: str
) -> None:
    assert texts_for(setting, environ) is LANGUAGES[language]
