"""What `sayso list` does, and `sayso` alone where it cannot draw. Imports little: people look often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from sayso.asks.crowds import Crowd, without_crowds
from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import Ask
from sayso.cli.asks_in_words import MEANINGS, called, headline, short_place, status
from sayso.cli.presence_words import say_absence
from sayso.cli.program import settings
from sayso.cli.shared import MOST_OPEN, project_asked_for, say_what_only_shows
from sayso.cli.snoozed import say_snoozed, snoozed_data
from sayso.cli.terminal import listed, put, put_json, put_lines, say, table
from sayso.cli.texts import tr, translated
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.errors import InvalidInput, Problem
from sayso.text import age, one_line

SNOOZED_HEADER = ("ID", "AGE", "BACK", "CLIENT", "PROJECT", "QUESTION")
HEADER = ("ID", "AGE", "STATUS", "CLIENT", "PROJECT", "QUESTION")
_MAY_MISS = (4, 3, 2)
"""The columns that a narrow terminal does without, in this order: project, client, status."""
_MOST_CROWDS = 5
"""Agents with many asks open that are told one by one."""
PAGE = 100
_EVERY_ONE = 1_000_000_000
"""What a program is given, which would not notice that something is left out."""
Draw = Callable[[Sequence[Ask]], str]
"""What is printed for some asks."""
Fewer = tuple[list[Ask], list[Crowd]]
"""The asks that are shown one by one, and those that are only counted."""


def run(
    project: Path | None,
    most: int | None,
    every_one: bool,
    snoozed: bool,
    form: str | None,
    line: str | None,
    watch: bool,
) -> None:
    """Print the open asks as the options say."""
    config = settings()
    here = project_asked_for(config, project)
    is_read_by_a_program = bool(form) or line is not None
    limit = most or (_EVERY_ONE if is_read_by_a_program or every_one else PAGE)
    if form and line is not None:
        raise InvalidInput([Problem(path="--format", text=f"give either this or --{form}, not both.")])
    if snoozed:
        _show_snoozed(config, here, limit, form, line or watch)
        return
    fewer = _all_of_them if every_one else without_crowds
    draw = _drawing(form, line, limit)  # before anything is said: it may be refused
    looked_at = _EVERY_ONE if is_read_by_a_program or every_one else MOST_OPEN
    if watch:
        _watch(config, here, looked_at, draw or (lambda asks: inbox_table(fewer(asks)[0][:limit])))
    asks = open_asks(config, here, looked_at)
    if form == "json":
        from sayso.dialects.asks_as_data import ask_data

        put_json([ask_data(ask) for ask in asks[:limit]])
    elif draw:
        put_lines(draw(asks))
    else:
        _show(asks, limit, fewer, project)


def _show_snoozed(config: Config, project: str | None, limit: int, form: str | None, other: object) -> None:
    if other or form == "count":
        raise InvalidInput([Problem(path="--snoozed", text="it goes with --project, --limit and --json alone.")])
    with open_desks(config, only_looks=True) as desks:
        found = [one for one in desks.asks.snoozed(config.person) if project in (None, one.ask.asker.project)]
    shown = found[:limit]
    if form == "json":
        put_json([snoozed_data(one) for one in shown])
    elif shown:
        from sayso.moments import local, told

        others, now = Lookalikes(one.ask.asker for one in shown), local(now_ms())
        rows = [_row(one.ask, others, told(local(one.until), now)) for one in shown]
        put(table(SNOOZED_HEADER, rows, may_miss=_MAY_MISS[:2]))
        say()
        say(tr("Put one back: sayso snooze {id} --end", id=shown[0].ask.id[:8]))
    else:
        say(tr("Nothing is snoozed."))


def _show(asks: Sequence[Ask], limit: int, fewer: Callable[[Sequence[Ask]], Fewer], project: Path | None) -> None:
    asks, others = fewer(asks)
    shown, more = asks[:limit], len(asks) > limit
    if shown:
        put(inbox_table(shown))
        _say_crowds(others)
        _say_next_steps(shown, more)
    elif project:
        say(tr("No questions are waiting in {project}.", project=project))
    else:
        say(tr("No questions are waiting. `sayso history` shows those that ended."))


def _drawing(form: str | None, line: str | None, limit: int) -> Draw | None:
    """What a program is told of the asks; None where a person reads."""
    if line is not None:
        from sayso.cli.status_lines import filled

        fill = filled(line)
        return lambda asks: fill(asks[:limit])
    if form == "json":
        from sayso.cli.status_lines import as_json_line

        return lambda asks: as_json_line(asks[:limit])
    return (lambda asks: str(len(asks))) if form == "count" else None


def _watch(config: Config, project: str | None, most: int, draw: Draw) -> NoReturn:
    from sayso.cli.announcing import announcing
    from sayso.cli.status_lines import watch

    with open_desks(config) as desks:
        announce = announcing(config)

        def look() -> str:
            asks = _look(desks, project, most)
            announce(asks)
            return draw(asks)

        watch(desks, look)


def _all_of_them(asks: Sequence[Ask]) -> Fewer:
    return list(asks), []


def show_inbox(config: Config) -> None:
    """What `sayso` alone shows: the inbox, or how to get something into it."""
    asks, others = without_crowds(open_asks(config, None))
    if asks:
        put(inbox_table(asks[:PAGE]))
        _say_crowds(others)
        _say_next_steps(asks[:PAGE], len(asks) > PAGE)
    else:
        from sayso.cli.connecting import typed_here, ways_to_connect

        steps = {f"{typed_here()} demo": tr("see it work with a sample agent"), **ways_to_connect()}
        put(f"{tr('No questions are waiting. To get some:')}\n\n{listed(steps)}")


def inbox_table(asks: Sequence[Ask]) -> str:
    others = Lookalikes(ask.asker for ask in asks)
    return table(HEADER, [_row(ask, others, translated(status(ask))) for ask in asks], may_miss=_MAY_MISS)


def open_asks(config: Config, project: str | None, most: int = MOST_OPEN) -> list[Ask]:
    """The open asks that the person has not put off, once they were told what they have, and whether they are away."""
    with open_desks(config, only_looks=True) as desks:
        say_what_only_shows(desks)
        say_absence(config, desks)
        say_snoozed(desks)
        return _look(desks, project, most)


def _look(desks: Desks, project: str | None, most: int) -> list[Ask]:
    # Only then is it true who still waits.
    desks.asks.release_the_dead()
    return desks.asks.inbox(project=project, awake_for=desks.config.person, most=most)


def _say_crowds(others: Sequence[Crowd]) -> None:
    """How many more each agent asks; where these would be a list of their own, how many all of them ask."""
    if len(others) > _MOST_CROWDS:
        more = sum(crowd.size for crowd in others)
        say(tr("… and {n} more of {agents} agents: --all shows each.", n=more, agents=len(others)))
        return
    for crowd in others:
        agent = called(crowd.newest)
        say(tr("… and {size} more of {agent}: --all shows each.", size=crowd.size, agent=agent))


def _row(ask: Ask, others: Lookalikes, stands: str) -> tuple[str, ...]:
    """Where agents of the same name are at work in the same project, each is told with its session and branch."""
    asker = ask.asker
    session, branch = others.session(asker), one_line(others.branch(asker), 30)
    return (
        ask.id[:8],
        translated(age(now_ms() - ask.created_at)),
        stands,
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
