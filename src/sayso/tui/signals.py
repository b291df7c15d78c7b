"""Telling the person through their terminal: notification sequences, the bell, the title. Bytes, and no widget."""

from __future__ import annotations

import base64
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from enum import Enum

from sayso.config import Config
from sayso.text import one_line

_LONGEST = 200
_PATIENCE = 5.0
"""Seconds that tmux may take."""
_BY_NAME = (
    ("kitty", "osc99"),
    ("foot", "osc777"),
    ("ghostty", "osc777"),
    ("wezterm", "osc777"),
    ("rxvt", "osc777"),
    ("iterm", "osc9"),
)
"""Which sequence a terminal understands best, by a part of the name it gives itself."""


class Signals:
    """Writes to the terminal what it can make of being told."""

    def __init__(
        self, config: Config, environ: Mapping[str, str], write: Callable[[str], None], outer: Callable[[], str]
    ) -> None:
        self._config, self._environ, self._write, self._outer = config, environ, write, outer
        self._in_tmux = bool(environ.get("TMUX"))
        self._titled: int | None = None

    def tell(self, title: str, body: str) -> None:
        """A notification, with the bell."""
        if self._config.terminal_notify != "off":
            self._write(self._through(notification(self._kind(), title, body)))
        if self._config.terminal_bell:
            self._write("\a")

    def title(self, waiting: int) -> None:
        """The terminal's title: how many asks are open."""
        if self._config.terminal_title and waiting != self._titled:
            self._titled = waiting
            self._write(f"\x1b]2;{f'({waiting}) ' if waiting else ''}Sayso\a")

    def take_title(self) -> None:
        """Have the terminal remember the title it had."""
        if self._config.terminal_title:
            self._write("\x1b[22;2t")

    def give_title_back(self) -> None:
        if self._config.terminal_title:
            self._write("\x1b[23;2t")

    def _kind(self) -> str:
        if self._config.terminal_notify != "auto":
            return self._config.terminal_notify
        return kind_for(self._outer() if self._in_tmux else " ".join(self._names()))

    def _names(self) -> list[str]:
        """What the environment tells of the terminal; LC_TERMINAL and TERM come along through SSH."""
        return [self._environ.get(name, "") for name in ("TERM", "TERM_PROGRAM", "LC_TERMINAL")]

    def _through(self, sequence: str) -> str:
        """As tmux hands it on to the terminal around it, if its `allow-passthrough` is on."""
        if not self._in_tmux:
            return sequence
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"


class TerminalState(Enum):
    """What becomes of what is drawn."""

    THERE = "there"
    HALTED = "halted"
    """It takes no more output for now."""
    GONE = "gone"


def terminal_state() -> TerminalState:
    """Whether anything drawn now comes anywhere."""
    if not hasattr(select, "poll"):
        return TerminalState.THERE
    looked = select.poll()
    looked.register(sys.__stdin__ or 0, select.POLLOUT)
    events = sum(event for _, event in looked.poll(0))
    if events & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
        return TerminalState.GONE
    return TerminalState.THERE if events else TerminalState.HALTED


def kind_for(terminal: str) -> str:
    """The sequence for a terminal; OSC 9, the oldest and most widely known, where it is not known."""
    return next((kind for name, kind in _BY_NAME if name in terminal.lower()), "osc9")


def notification(kind: str, title: str, body: str) -> str:
    """The sequence that shows a notification. The texts cannot end it early or say anything else with it."""
    title, body = one_line(title, _LONGEST), one_line(body, _LONGEST)
    match kind:
        case "osc99":
            head, rest = (base64.b64encode(part.encode()).decode() for part in (title, body))
            return f"\x1b]99;i=sayso:d=0:e=1;{head}\x1b\\\x1b]99;i=sayso:d=1:e=1:p=body;{rest}\x1b\\"
        case "osc777":
            return f"\x1b]777;notify;{title.replace(';', ',')};{body.replace(';', ',')}\x1b\\"
    return f"\x1b]9;{title}: {body}\x1b\\"


def terminal_behind_tmux() -> str:
    """What tmux knows of the terminal that shows this pane: its TERM and what it calls itself."""
    command = ["tmux", "display-message", "-p", "#{client_termname} #{client_termtype}"]
    found = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE, env=os.environ)
    return found.stdout.decode(errors="replace").strip()
