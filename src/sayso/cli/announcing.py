"""Has the terminal tell whoever watches `sayso list --watch` in it that something new is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from sayso.asks.model import Ask
from sayso.asks.quorum import is_asked
from sayso.cli.asks_in_words import called, headline
from sayso.config import Config
from sayso.tui.signals import Signals, terminal_behind_tmux


class Announcer:
    """Knows which asks it has seen. Those that were there at its first look are no news."""

    def __init__(self, config: Config, signals: Signals) -> None:
        self._config, self._signals = config, signals
        self._seen: set[str] | None = None

    def look(self, asks: Sequence[Ask]) -> None:
        new = [ask for ask in asks if self._seen is not None and ask.id not in self._seen]
        new = [ask for ask in new if is_asked(ask, self._config.person)]
        self._seen = {ask.id for ask in asks}
        if new:
            newest = max(new, key=lambda ask: ask.created_at)
            self._signals.tell(f"Sayso: {called(newest)}", headline(newest))


def announcing(config: Config) -> Callable[[Sequence[Ask]], None]:
    """What is done with each look at the asks: nothing, unless a person's terminal shows what is printed."""
    if not sys.stdout.isatty():
        return lambda _: None
    return Announcer(config, Signals(config, os.environ, _write, terminal_behind_tmux)).look


def _write(sequence: str) -> None:
    sys.stdout.write(sequence)
    sys.stdout.flush()
