"""`sayso list`: the asks that can be answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sayso.asks.crowds import Crowd, without_crowds
from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import Ask
from sayso.cli.asks_in_words import MEANINGS, headline, short_place, status
from sayso.cli.connecting import typed_here, ways_to_connect
from sayso.cli.presence_words import say_absence
from sayso.cli.program import settings
from sayso.cli.shared import MOST_OPEN, project_name
from sayso.cli.terminal import listed, put, put_json, say, table
from sayso.cli.texts import tr, translated
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import open_desks
from sayso.dialects.asks_as_data import ask_data
from sayso.text import age, one_line

HEADER = ("ID", "AGE", "STATUS", "CLIENT", "PROJECT", "QUESTION")
PAGE = 100


@click.command()
@click.option("--project", type=click.Path(path_type=Path), metavar="DIR", help="Only the asks of this project.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", default=PAGE, show_default=True, help="At most this many."
)
@click.option("--all", "every_one", is_flag=True, help="Show each ask of an agent that has many.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of everything about each ask.")
def command(project: Path | None, limit: int, every_one: bool, as_json: bool) -> None:
    """Show the asks that can be answered.

    Those whose agents wait come first, each part oldest first. Of an agent that has many open, the first few are shown
    and the others counted; --all shows each.

    \b
    Example:
      sayso list
      sayso list --project . --json
    """
    config = settings()
    asks, others = _open_asks(config, project_name(project), MOST_OPEN), list[Crowd]()
    if not as_json and not every_one:
        asks, others = without_crowds(asks)
    shown, more = asks[:limit], len(asks) > limit
    if as_json:
        put_json([ask_data(ask) for ask in shown])
    elif shown:
        put(inbox_table(shown))
        _say_crowds(others)
        _say_next_steps(shown, more)
    elif project:
        say(tr("No questions are waiting in {project}.", project=project))
    else:
        say(tr("No questions are waiting. `sayso history` shows those that ended."))


def show_inbox(config: Config) -> None:
    """What `sayso` alone shows: the inbox, or how to get something into it."""
    asks, others = without_crowds(_open_asks(config, None, MOST_OPEN))
    if asks:
        put(inbox_table(asks[:PAGE]))
        _say_crowds(others)
        _say_next_steps(asks[:PAGE], len(asks) > PAGE)
    else:
        steps = {f"{typed_here()} demo": tr("see it work with a sample agent"), **ways_to_connect()}
        put(f"{tr('No questions are waiting. To get some:')}\n\n{listed(steps)}")


def inbox_table(asks: Sequence[Ask]) -> str:
    others = Lookalikes(ask.asker for ask in asks)
    return table(HEADER, [_row(ask, others) for ask in asks])


def _open_asks(config: Config, project: str | None, most: int) -> list[Ask]:
    with open_desks(config) as desks:
        # Only then is it true who still waits.
        desks.asks.release_the_dead()
        say_absence(config, desks)
        return desks.asks.inbox(project=project, most=most)


def _called(ask: Ask) -> str:
    agent, where = one_line(ask.asker.client, 20) or tr("an agent"), short_place(ask.asker.project)
    return tr("{agent} in {where}", agent=agent, where=where) if where else agent


def _say_crowds(others: Sequence[Crowd]) -> None:
    for crowd in others:
        agent = _called(crowd.newest)
        say(tr("… and {size} more of {agent}: --all shows each.", size=crowd.size, agent=agent))


def _row(ask: Ask, others: Lookalikes) -> tuple[str, ...]:
    """Where agents of the same name are at work in the same project, each is told with its session and branch."""
    asker = ask.asker
    session, branch = others.session(asker), one_line(others.branch(asker), 30)
    return (
        ask.id[:8],
        translated(age(now_ms() - ask.created_at)),
        translated(status(ask)),
        " ".join(filter(None, (one_line(asker.client, 20) or "-", session))),
        (short_place(ask.asker.project) or "-") + (f" ({branch})" if branch else ""),
        headline(ask),
    )


def _say_next_steps(asks: Sequence[Ask], more: bool) -> None:
    if more:
        say(tr("… and more: --limit shows more than {n}.", n=len(asks)))
    say()
    found = {status(ask) for ask in asks}
    for word, meaning in MEANINGS.items():
        if word in found and word != "waiting":
            say(f"{translated(word)}: {tr(meaning)}.")
    for ask in asks:
        if ask.wanted is not None:
            say(tr("Decide one: sayso allow {id}, sayso deny {id}", id=ask.id[:8]))
            break
    for ask in asks:
        if ask.wanted is None:
            say(tr("Answer one: sayso answer {id}    See all of it: sayso show {id}", id=ask.id[:8]))
            break
