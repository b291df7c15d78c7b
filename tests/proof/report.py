"""The score of a proof: the sum of its audited epochs, and its row in `docs/reliability.md`."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.proof.ground import Ground

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- runs -->", "<!-- /runs -->"
COLUMNS = (
    "date",
    "seed",
    "store",
    "asks",
    "permissions",
    "commands",
    "kills",
    "other faults",
    "asks a second",
    "problems",
)


@dataclass(kw_only=True)
class Score:
    """What there was, and what is wrong with it."""

    asks: int = 0
    answers: int = 0
    permissions: int = 0
    commands: int = 0
    servers: int = 0
    seconds: float = 0.0
    problems: int = 0
    found: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def kills(self) -> int:
        return sum(times for kind, times in self.faults.items() if kind.endswith("killed"))

    def __str__(self) -> str:
        done = ", ".join(f"{kind} {times}" for kind, times in self.faults.most_common())
        found = "\n".join(f"- {problem}" for problem in self.found) or "Nothing is wrong."
        rate = self.asks / self.seconds if self.seconds else 0
        counted = f"{self.asks:,} asks in {self.seconds:,.0f} s ({rate:.0f}/s), {self.answers:,} answers, "
        counted += f"{self.permissions:,} permissions, {self.commands:,} commands, {self.servers:,} servers"
        return f"{counted}; {self.faults.total():,} faults ({done}).\n{found}"


def score(folder: Path) -> Score:
    """Of all epochs that were audited."""
    total = Score()
    for file in sorted((folder / "epochs").glob("*/audit.json")):
        audited, ended = json.loads(file.read_text()), json.loads((file.parent / "ended.json").read_text())
        for name in ("asks", "answers", "permissions", "commands"):
            setattr(total, name, getattr(total, name) + audited["counts"].get(name, 0))
        total.servers += ended["counts"].get("servers", 0)
        total.seconds += ended["seconds"]
        total.faults.update(ended["faults"])
        total.problems += len(audited["problems"])
        total.found += [f"epoch {int(file.parent.name)}: {problem}" for problem in audited["problems"]]
    return total


def publish(ground: Ground) -> None:
    """Put the score into the table, in the place of an earlier one of the same proof."""
    text, found, told = PAGE.read_text(), score(ground.folder), ground.told
    counts = (found.asks, found.permissions, found.commands, found.kills, found.faults.total() - found.kills)
    rate, problems = f"{found.asks / max(found.seconds, 1):.0f}", str(found.problems or "none")
    row = _row(
        date.today().isoformat(), str(told.seed), told.store, *(f"{count:,}" for count in counts), rate, problems
    )
    table = re.search(f"{BEGIN}(.*?){END}", text, re.DOTALL)
    assert table, f"{PAGE} has no {BEGIN}"
    rows = [line for line in table[1].strip().splitlines()[2:] if f"| {told.seed} | {told.store} |" not in line]
    new = "\n".join([_row(*COLUMNS), "|" + "---|" * len(COLUMNS), *rows, row])
    PAGE.write_text(text.replace(table[0], f"{BEGIN}\n\n{new}\n\n{END}"))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
