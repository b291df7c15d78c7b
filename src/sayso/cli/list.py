"""`sayso list`: the asks that can be answered. What is done is in listing.py."""

from __future__ import annotations

from pathlib import Path

from sayso.cli import declared
from sayso.cli.listing import run


@declared.reader()
@declared.option("--project", type=declared.PATH, metavar="DIR", help="Only the asks of this project.")
@declared.option(
    "--limit",
    type=declared.POSITIVE,
    metavar="N",
    help="At most this many; else 100, and all with --json or --format.",
)
@declared.option("--all", "every_one", is_flag=True, help="Show all there are, each of an agent that has many too.")
@declared.option("--snoozed", is_flag=True, help="Show what you have put off instead, and when it comes back.")
@declared.option("--count", is_flag=True, help="Print how many there are.")
@declared.option("--format", "line", metavar="TEXT", help="Print a line like this for each ask.")
@declared.option("--watch", is_flag=True, help="Print it again whenever it changes, until Ctrl-C.")
@declared.option("--json", "form", flag_value="json", help="Print a JSON array of everything about each ask.")
def command(
    project: Path | None,
    limit: int | None,
    every_one: bool,
    snoozed: bool,
    count: bool,
    form: str | None,
    line: str | None,
    watch: bool,
) -> None:
    """Show the asks that can be answered.

    Those whose agents wait come first, each part oldest first. Of an agent that has many open, the first few are shown
    and the others counted; --all shows each. What you have snoozed is counted as well; --snoozed shows it.

    \b
    Example:
      sayso list
      sayso list --project . --json
      sayso list --count --watch                       for a status bar
      sayso list --format "{age} {client}: {question}"
    """
    # A number is JSON too.
    run(project, limit, every_one, snoozed, "count" if count else form, line, watch)
