"""The table of settings in docs/configuration.md, made from the settings themselves.

`python -m tests.cli.settings_table` rewrites it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sayso.cli.config import shown
from sayso.config import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->\n"
_IN_WORDS = {"person": "your login name", "state_dir": "see below"}


def table() -> str:
    header = "| setting | default | environment | in a project | what it does |\n|---|---|---|---|---|\n"
    return header + "".join(f"{_row(name)}\n" for name in SETTINGS)


def documented() -> str:
    """The table as the page has it now."""
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


def _row(name: str) -> str:
    meta = SETTINGS[name].metadata
    may, about = "yes" if meta["anywhere"] else "no", meta["about"].replace("|", "\\|")
    return f"| `{name}` | {_default(name)} | `SAYSO_{name.upper()}` | {may} | {about} |"


def _default(name: str) -> str:
    if name in _IN_WORDS:
        return _IN_WORDS[name]
    item = SETTINGS[name]
    default: Any = item.default_factory() if callable(item.default_factory) else item.default
    value = shown(name, default)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "empty" if value in (None, "", (), [], {}) else f"`{value}`"


if __name__ == "__main__":
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.split(END)[1], encoding="utf-8")
