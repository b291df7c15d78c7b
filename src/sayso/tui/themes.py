"""The colours: dark, light, high contrast, the terminal's own, and those that people know from their editors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from textual.theme import Theme

from sayso.config import Config
from sayso.files import replace_file
from sayso.tui.palettes import PALETTES

_DARK = {
    "muted": "#8b96a8",
    "mark": "#e5b567",
    "code": "#c3d4ef",
    "code-keyword": "#c792ea",
    "code-string": "#a5d6a7",
    "code-number": "#f2ae6b",
    "code-comment": "#8a97ac",
    "code-name": "#82b1ff",
    "code-background": "#202734",
    "cursor-background": "#2c3a54",
    "cursor-foreground": "#ffffff",
    "border": "#82b1ff",
    "border-blurred": "#3d4860",
}
_LIGHT = {
    "muted": "#5b6472",
    "mark": "#8a5a00",
    "code": "#24344d",
    "code-keyword": "#7b2fa3",
    "code-string": "#22692a",
    "code-number": "#9a4b00",
    "code-comment": "#5a6371",
    "code-name": "#1d4fa8",
    "code-background": "#eceff4",
    "cursor-background": "#d5e2f7",
    "cursor-foreground": "#000000",
    "border": "#1d4fa8",
    "border-blurred": "#b4bccb",
}
_CONTRAST = {
    "muted": "#ffffff",
    "mark": "#ffff00",
    "code": "#ffffff",
    "code-keyword": "#ffff00",
    "code-string": "#00ff00",
    "code-number": "#00ffff",
    "code-comment": "#ffffff",
    "code-name": "#ffffff",
    "code-background": "#000000",
    "cursor-background": "#ffff00",
    "cursor-foreground": "#000000",
    "border": "#ffffff",
    "border-blurred": "#ffffff",
}
_TERMINAL = {
    "muted": "ansi_default",
    "mark": "ansi_yellow",
    "code": "ansi_cyan",
    "code-keyword": "ansi_magenta",
    "code-string": "ansi_green",
    "code-number": "ansi_yellow",
    "code-comment": "ansi_default",
    "code-name": "ansi_blue",
    "code-background": "ansi_default",
    "cursor-background": "ansi_blue",
    "cursor-foreground": "ansi_bright_white",
    "ansi-background": "ansi_black",
    "ansi-foreground": "ansi_white",
    "border": "ansi_blue",
    "border-blurred": "ansi_default",
    "screen-selection-background": "ansi_blue",
    "screen-selection-foreground": "ansi_bright_white",
    "input-cursor-background": "ansi_default",
    "input-cursor-foreground": "ansi_default",
    "input-cursor-text-style": "reverse",
    "input-selection-background": "ansi_blue",
    "input-selection-foreground": "ansi_bright_white",
    "block-cursor-background": "ansi_blue",
    "block-cursor-foreground": "ansi_bright_white",
}

THEMES: Mapping[str, Theme] = {
    "dark": Theme(
        name="sayso-dark",
        primary="#82b1ff",
        secondary="#7fd1c7",
        accent="#7fd1c7",
        warning="#e5b567",
        error="#ff7b72",
        success="#8bd49c",
        foreground="#e3e8f0",
        background="#12161e",
        surface="#1a202b",
        panel="#202734",
        dark=True,
        variables=_DARK,
    ),
    "light": Theme(
        name="sayso-light",
        primary="#1d4fa8",
        secondary="#0b6b61",
        accent="#0b6b61",
        warning="#8a5a00",
        error="#b3261e",
        success="#22692a",
        foreground="#1a1e26",
        background="#ffffff",
        surface="#f3f5f9",
        panel="#e7ebf2",
        dark=False,
        variables=_LIGHT,
    ),
    "contrast": Theme(
        name="sayso-contrast",
        primary="#ffffff",
        secondary="#00ffff",
        accent="#00ffff",
        warning="#ffff00",
        error="#ff6060",
        success="#00ff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        dark=True,
        variables=_CONTRAST,
    ),
    "terminal": Theme(
        name="sayso-terminal",
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_cyan",
        accent="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        dark=True,
        variables=_TERMINAL,
    ),
    **PALETTES,
}


def remembered_theme(config: Config) -> str:
    """The name of the theme that the settings say; where they leave it open, of the one that was last chosen."""
    if config.theme != "auto":
        return config.theme
    with suppress(OSError, UnicodeDecodeError):
        chosen = config.theme_file.read_text("utf-8")
        if chosen in THEMES:
            return chosen
    return "auto"


def remember_theme(config: Config, name: str) -> None:
    """Note it for the next time. Where that cannot be written, it was chosen for this time."""
    with suppress(OSError):
        replace_file(config.theme_file, name.encode())


def theme_for(setting: str, environ: Mapping[str, str]) -> Theme:
    """The theme of a setting. `auto` goes by what the terminal tells of its background; NO_COLOR allows no colour."""
    if "NO_COLOR" in environ:
        return THEMES["terminal"]
    if setting != "auto":
        return THEMES[setting]
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return THEMES["light" if background in ("7", "15") else "dark"]
