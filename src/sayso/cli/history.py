"""`sayso history`: the asks that ended."""

from __future__ import annotations

from pathlib import Path

from sayso.asks.model import Ask, State
from sayso.cli import declared
from sayso.cli.asks_in_words import answer_lines, headline, noted_of, reason_of, short_place, status
from sayso.cli.program import settings
from sayso.cli.shared import project_asked_for
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import tr, translated
from sayso.clock import now_ms
from sayso.desks import open_desks
from sayso.text import age, one_line

HEADER = ("ID", "ENDED", "OUTCOME", "CLIENT", "PROJECT", "QUESTION AND ANSWER")
_MAY_MISS = (4, 3, 2)
"""The columns that a narrow terminal does without, in this order: project, client, outcome."""


@declared.reader()
@declared.option("--search", default="", metavar="TEXT", help="Only those with this text in a question or an answer.")
@declared.option("--project", type=declared.PATH, metavar="DIR", help="Only the asks of this project.")
@declared.option(
    "--limit", type=declared.POSITIVE, metavar="N", default=20, show_default=True, help="At most this many."
)
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array of everything about each ask.")
def command(search: str, project: Path | None, limit: int, as_json: bool) -> None:
    """Show finished asks, newest first.

    \b
    Example:
      sayso history --limit 5
      sayso history --search postgres --json
    """
    config = settings()
    here = project_asked_for(config, project)
    with open_desks(config, only_looks=True) as desks:
        asks = desks.asks.history(project=here, search=search, most=limit)
    if as_json:
        from sayso.dialects.asks_as_data import ask_data

        put_json([ask_data(ask) for ask in asks])
    elif asks:
        put(table(HEADER, [_row(ask) for ask in asks], may_miss=_MAY_MISS))
    elif search or project:
        say(tr("No finished ask matches."))
    else:
        say(tr("No ask has ended yet. `sayso list` shows the open ones."))


def _row(ask: Ask) -> tuple[str, ...]:
    return (
        ask.id[:8],
        translated(age(now_ms() - (ask.ended_at or ask.changed_at))),
        translated(status(ask)),
        one_line(ask.asker.client, 20) or "-",
        short_place(ask.asker.project) or "-",
        f"{headline(ask)}{_in_short(ask)}",
    )


def _in_short(ask: Ask) -> str:
    """What came of it, on the same line."""
    noted = noted_of(ask)
    return _said(ask) + (f" ({one_line(noted, 160)})" if noted else "")


def _said(ask: Ask) -> str:
    if ask.state is State.ANSWERED and ask.questions and not ask.is_permission:
        said = "; ".join(", ".join(answer_lines(question, ask.answer(question.id))) for question in ask.questions)
        return f" → {one_line(said, 120)}"
    reason = reason_of(ask)
    return f" → {one_line(reason, 120)}" if reason else ""
