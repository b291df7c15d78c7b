"""Draws the pictures of the terminal inbox in the documentation from the real thing: agents ask, the program runs in
tmux, keys are pressed, and what is on the screen becomes an SVG.

python -m scripts.screenshot_tui                 docs/images/terminal*.svg
"""

from __future__ import annotations

import io
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.color import parse_rgb_hex
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker, Kind, NewAsk, Option, Question
from sayso.config import load
from sayso.store import open_store

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SIZE = (104, 26)
WAIT = 30.0
COLOURS = ["202734", "ff7b72", "8bd49c", "e5b567", "82b1ff", "c792ea", "7fd1c7", "e3e8f0"]
THEME = TerminalTheme((18, 22, 30), (227, 232, 240), [parse_rgb_hex(colour) for colour in COLOURS])

ASKS = (
    NewAsk(
        tool="ask_user",
        asker=Asker(client="opencode", project="/srv/www", host="web1"),
        questions=(Question(id="q", text="The certificate expires on Friday. Renew it now?", kind=Kind.CONFIRM),),
    ),
    NewAsk(
        tool="ask_user",
        asker=Asker(client="codex", project="/home/ada/shop", host="laptop"),
        title="Release 2.4",
        timeout_ms=600_000,
        questions=(Question(id="q", text="What should the release notes say about the *new* search?"),),
    ),
    NewAsk(
        tool="ask_user",
        asker=Asker(client="claude-code", project="/home/ada/src/orders", host="atlas"),
        questions=(
            Question(
                id="db",
                title="Database",
                text="Which **database** should the service use? The schema has a `jsonb` column:\n\n"
                "```sql\nCREATE TABLE orders (\n    id bigint PRIMARY KEY,\n    body jsonb NOT NULL\n);\n```",
                kind=Kind.SELECT,
                options=(
                    Option(id="p", label="PostgreSQL", description="The team runs a server already.", recommended=True),
                    Option(id="s", label="SQLite", description="A file beside the program: one writer at a time."),
                    Option(id="d", label="DuckDB", description="Quick at reports, slow at single rows."),
                ),
            ),
            Question(
                id="where",
                title="Regions",
                text="Where should it run?",
                kind=Kind.MULTI_SELECT,
                options=(Option(id="f", label="Frankfurt", recommended=True), Option(id="d", label="Dublin")),
            ),
            Question(id="drop", title="Clean up", text="May I drop the old table?", kind=Kind.CONFIRM),
        ),
    ),
)


class Screen:
    """The program in a tmux server of its own."""

    def __init__(self, folder: Path) -> None:
        self._name = f"sayso-picture-{os.getpid()}"
        given = {
            "HOME": str(folder),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
            "LC_ALL": "C.UTF-8",
            "TERM": "tmux-256color",
            "COLORTERM": "truecolor",
            "SAYSO_STATE_DIR": str(folder / "state"),
            "SAYSO_THEME": "dark",
        }
        assigned = " ".join(f"{name}='{value}'" for name, value in given.items())
        size = ["-x", str(SIZE[0]), "-y", str(SIZE[1])]
        self._tmux("-f", os.devnull, "new-session", "-d", *size, f"exec env -i {assigned} sayso")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=WAIT).stdout

    def press(self, *keys: str) -> None:
        for key in keys:
            self._tmux("send-keys", key)

    def shows(self, text: str) -> None:
        """Wait until this is on the screen, and the screen has come to rest."""
        end, before = time.monotonic() + WAIT, ""
        while time.monotonic() < end:
            now = self._tmux("capture-pane", "-p", "-e")
            if text in self._tmux("capture-pane", "-p") and now == before:
                return
            before = now
            select.select([], [], [], 0.3)
        raise TimeoutError(f"{text!r} is not on\n{before}")

    def draw(self, name: str) -> None:
        console = Console(record=True, width=SIZE[0], file=io.StringIO(), force_terminal=True, color_system="truecolor")
        for line in AnsiDecoder().decode(self._tmux("capture-pane", "-p", "-e", "-N").rstrip("\n")):
            console.print(line, no_wrap=True, crop=False)
        svg = console.export_svg(title="sayso", theme=THEME)
        # Nothing is fetched from elsewhere to show a picture of ours.
        (IMAGES / name).write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S), encoding="utf-8")

    def close(self) -> None:
        self._tmux("kill-server")


@contextmanager
def asked(folder: Path) -> Iterator[None]:
    """Three agents that wait."""
    store = open_store(load(environ={"HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state")}, cwd=folder))
    for new in ASKS:
        AskDesk(store).hold(new)
    yield
    store.close()


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sayso-picture-", dir="/tmp") as folder, asked(Path(folder)):
        screen = Screen(Path(folder))
        try:
            screen.shows("CREATE TABLE orders")
            screen.draw("terminal-inbox.svg")
            screen.press("Enter")
            screen.shows("choose one")
            screen.press("Space")
            screen.shows("(*) 1. PostgreSQL")
            screen.draw("terminal.svg")
        finally:
            screen.close()


if __name__ == "__main__":
    main()
