"""docs/terminal.md tells of every key and every setting of the terminal inbox.

Run as a program, this file writes the table of keys into the page: python -m tests.tui.test_documentation
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.config import SETTINGS
from sayso.tui.keys import DEFAULTS, shown_key
from sayso.tui.texts import Texts

PAGE = Path(__file__).parents[2] / "docs" / "terminal.md"
BEGIN, END = "|---|---|---|---|\n", "<!-- /keys -->"
PLACES = {
    "everywhere": "everywhere",
    "lists": "lists",
    "pages": "lists",
    "inbox": "inbox",
    "answer": "answering",
    "field": "while typing",
    "history": "history",
    "commands": "commands",
    "agents": "agents",
    "dialog": "dialogs",
    "attaching": "attaching a file",
    "helping": "in the help",
    "sure": "dialogs",
}


def key_table() -> str:
    rows = []
    for context, keys in DEFAULTS.items():
        for key in keys:
            shown = " ".join(f"`{shown_key(each)}`" for each in key.keys.split(","))
            rows.append(f"| {PLACES[context]} | `{key.name}` | {shown} | {getattr(Texts(), f'do_{key.name}')} |\n")
    return "".join(rows)


def page_with_table() -> str:
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return head + BEGIN + key_table() + END + rest.partition(END)[2]


def test_the_page_lists_every_key() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with_table()


@pytest.mark.parametrize("name", [name for name in SETTINGS if name.startswith("terminal_")] + ["theme", "language"])
def test_the_page_tells_of_every_setting_of_the_terminal(name: str) -> None:
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")


def test_every_name_of_a_key_is_bound_once_in_each_place() -> None:
    for keys in DEFAULTS.values():
        names = [key.name for key in keys]
        assert len(names) == len(set(names))


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), encoding="utf-8")
