"""What is said in terminals beside a conversation, as one reader of it is told: read when its files have changed, and
told when that makes a difference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from sayso.agents.model import Run
from sayso.agents.takeover import Takeovers
from sayso.agents.terminal_sessions import stamp_of
from sayso.web.pages import fragment


@dataclass(frozen=True, kw_only=True)
class DrawnBeside:
    """Where it was taken over from, and where it was left to."""

    began: Markup
    left: Markup


class BesideReader:
    """Plain code that reads files."""

    def __init__(self, takeovers: Takeovers) -> None:
        self._takeovers = takeovers
        self._turns: tuple[object, ...] = ()
        self._stamp: tuple[object, ...] = ()
        self._drawn = DrawnBeside(began=Markup(""), left=Markup(""))
        self.files: list[Path] = []
        """Those that it was read from."""

    def changed(self, first: Run, latest: Run) -> DrawnBeside | None:
        """It as it is now; None where it is what was told last."""
        turns = (first.choices, latest.id, latest.choices, latest.session, latest.state.ended)
        if turns != self._turns or not self.files:
            self.files = self._takeovers.files_beside(first, latest)
        stamp = stamp_of(self.files)
        if (turns, stamp) == (self._turns, self._stamp):
            return None
        self._turns, self._stamp = turns, stamp
        drawn, self._drawn = self._drawn, self.whole(first, latest)
        return self._drawn if self._drawn != drawn else None

    def whole(self, first: Run, latest: Run) -> DrawnBeside:
        said = self._takeovers.beside(first, latest)
        began, left = (
            fragment(f"beside_{place}.html", said=said, latest=latest).strip() for place in ("began", "left")
        )
        return DrawnBeside(began=began, left=left)
