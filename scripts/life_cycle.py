"""Writes the table and the diagram of docs/life-cycle.md, from the steps that the store lets asks take. With --check it
only says whether they are up to date."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sayso.asks.life_cycle import STEPS, Move
from sayso.asks.model import State

PAGE = Path(__file__).parents[1] / "docs" / "life-cycle.md"
BEFORE = {tuple(State): "any", tuple(state for state in State if not state.answerable): "any that is over"}


def diagram() -> str:
    """The steps that lead to another state. What is merely noted of an ask is in the table."""
    lines = [f'    state "{state.replace("_", " ")}" as {state}' for state in State]
    lines.append("    [*] --> pending: opened")
    for before in State:
        for after in State:
            names = [step.name for step in STEPS if before in step.before and step.after is after is not before]
            lines += [f"    {before} --> {after}: {', '.join(dict.fromkeys(names)).replace('_', ' ')}"] if names else []
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def table() -> str:
    head = ["| step | taken by | of | in the state | becomes | |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [_row(step) for step in STEPS])


def _row(step: Move) -> str:
    before = BEFORE.get(step.before) or ", ".join(step.before)
    cells = (f"**{step.name}**", step.by, step.kind or "both", before, step.after or "stays", step.says)
    return f"| {' | '.join(cells)} |".replace("_", " ")


def written(text: str) -> str:
    for name, made in (("diagram", diagram()), ("table", table())):
        pattern = re.compile(rf"(<!-- {name} -->\n\n).*?(\n\n<!-- /{name} -->)", re.S)
        assert pattern.search(text), f"{PAGE} has no place for the {name}"
        text = pattern.sub(lambda found, made=made: f"{found[1]}{made}{found[2]}", text)  # type: ignore[misc]
    return text


def main() -> None:
    before = PAGE.read_text("utf-8")
    after = written(before)
    if "--check" in sys.argv:
        sys.exit(before != after and f"{PAGE.name} is not up to date: python scripts/life_cycle.py")
    PAGE.write_text(after, "utf-8")


if __name__ == "__main__":
    main()
