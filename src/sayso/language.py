"""Which language a person is spoken to in: the setting `language`, or what their environment says."""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("en", "de")


def chosen(setting: str, environ: Mapping[str, str]) -> str:
    """The language that is set, or with `auto` the one that the environment asks for; English where we have none."""
    if setting == "auto":
        wanted = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
        setting = wanted.partition("_")[0].partition(".")[0].lower()
    return setting if setting in LANGUAGES else LANGUAGES[0]
