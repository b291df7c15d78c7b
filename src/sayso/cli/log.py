"""`sayso log`: what was allowed and denied, by whom, from where, and whether exactly that ran."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.asks.model import ITS_CALL
from sayso.chain import LogEntry, LogKind
from sayso.cli import declared
from sayso.cli.asks_in_words import moment, place
from sayso.cli.program import settings
from sayso.cli.shared import project_asked_for
from sayso.cli.terminal import bold, coloured, put, put_json, say, table
from sayso.cli.texts import plural, tr, translated
from sayso.clock import now_ms
from sayso.desks import open_desks
from sayso.errors import InvalidInput, Problem, SaysoError
from sayso.permissions.log import LoggedOutcome
from sayso.permissions.log_check import FaultFound, LogCheck
from sayso.permissions.log_stats import LogStats, stats_data, took_words
from sayso.permissions.log_words import (
    FAULTS,
    SINCE,
    WHAT,
    WITHOUT_ACTION,
    check_data,
    edited,
    outcome_data,
    permission_data,
    ran,
    rule_place,
    since_when,
    subject,
    what,
    why,
)
from sayso.text import one_line, quoted

if TYPE_CHECKING:
    import click

HEADER = ("ID", "WHEN", "VERDICT", "RAN", "BY", "ACTION")
_MAY_MISS = (3, 4, 1)
"""The columns that a narrow terminal does without, in this order: how it ran, by whom, when."""
COLOURS = {LogKind.ALLOWED: "green", LogKind.DENIED: "red"}
_OTHERS = "yellow"
_RULES = (LogKind.RULE_ADDED, LogKind.RULE_ENDED)
_MOST_OFFERED = 50
_HASH = re.compile("[0-9a-f]{16,64}")


@declared.reading_group()
@declared.option(
    "--since", default="", metavar="WHEN", help="Only what happened since then: a time back such as 7d, or a date."
)
@declared.option("--project", type=declared.PATH, metavar="DIR", help="Only what agents wanted there.")
@declared.option("--denied", is_flag=True, help="Only what was not allowed: denied, undecided, refused or too late.")
@declared.option(
    "--limit", type=declared.POSITIVE, metavar="N", default=50, show_default=True, help="At most this many."
)
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array of everything about each.")
def command(since: str, project: Path | None, denied: bool, limit: int, as_json: bool) -> None:
    """Show what was allowed and denied, and what ran, newest last.

    \b
    Example:
      sayso log --since 7d
      sayso log --denied --project .
      sayso log show 3f2a91bc
      sayso log stats
      sayso log verify
    """
    config = settings()
    here = project_asked_for(config, project)
    with open_desks(config, only_looks=True) as desks:
        found = desks.log.outcomes(since=_moment(since), project=here, only_refused=1 if denied else None, most=limit)
    if as_json:
        put_json([outcome_data(outcome) for outcome in reversed(found)])
    elif found:
        put(table(HEADER, [_row(outcome) for outcome in reversed(found)], may_miss=_MAY_MISS))
        say("\n" + tr("See one whole: sayso log show {id}", id=found[0].entry.event.ask[:8]))
    elif since or project or denied:
        say(tr("Nothing in the log matches."))
    else:
        say(tr("No permission has been asked for yet."))


def _complete(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The newest permissions whose id begins so."""
    from click.shell_completion import CompletionItem

    try:
        with open_desks(settings(), only_looks=True) as desks:
            found = desks.log.outcomes(most=_MOST_OFFERED)
    except SaysoError:
        return []
    titles = {outcome.entry.event.ask[:8]: outcome.entry.event.title for outcome in found}
    return [
        CompletionItem(id_, help=one_line(title, 60)) for id_, title in titles.items() if id_.startswith(incomplete)
    ]


@command.reader()
@declared.argument("ask_id", metavar="ID", shell_complete=_complete)
@declared.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def show(ask_id: str, as_json: bool) -> None:
    """Show all that happened with one permission, and the whole action.

    ID is the id that the log shows, or the beginning of it. Secrets are masked.

    \b
    Example:
      sayso log show 3f2a91bc
    """
    with open_desks(settings(), only_looks=True) as desks:
        logged = desks.log.find(ask_id)
    if as_json:
        put_json(permission_data(logged))
        return
    first = logged.entries[0].event
    put(bold(one_line(first.title, 200) or one_line(first.tool, 60)))
    put(f"  {one_line(first.client, 60) or '-'}  {place(first.project)}\n")
    for entry in logged.entries:
        put(f"  {_line(entry)}")
    from sayso.cli.action_card import action_lines, difference_lines

    for one in logged.actions:
        put("\n" + bold(tr("Action {digest}", digest=one.digest)))
        put("\n".join([*difference_lines(logged.actions[0].action, one.action), *action_lines(one.action)]))
    for digest in logged.lost:
        lost = tr("The action {digest} is no longer kept. See what else is missing: sayso log verify", digest=digest)
        put(f"\n{lost}")
    if not logged.actions and not logged.lost and first.kind not in WITHOUT_ACTION:
        put("\n" + tr("The action itself was not kept: your settings keep no history."))


@command.reader()
@declared.option(
    "--since",
    default="7d",
    show_default=True,
    metavar="WHEN",
    help="Only what happened since then: a time back such as 7d, or a date.",
)
@declared.option("--json", "as_json", is_flag=True, help="Print the numbers as one JSON object.")
def stats(since: str, as_json: bool) -> None:
    """Show how often you were asked, and how it was decided.

    \b
    Example:
      sayso log stats
      sayso log stats --since 30d --json
    """
    with open_desks(settings(), only_looks=True) as desks:
        found = desks.log.stats(_moment(since), now_ms())
    if as_json:
        put_json(stats_data(found))
        return
    for label, told in _numbers(found):
        put(f"{label:<36} {told}")
    if found.asked and not found.rules:
        say("\n" + tr("Rules can decide the routine: sayso rules suggest"))


def _numbers(found: LogStats) -> Iterator[tuple[str, str]]:
    hours = tr("{n} an hour; {most} in the busiest", n=f"{found.an_hour:.1f}", most=found.busiest_hour)
    yield tr("People were asked"), f"{found.asked} ({hours})"
    yield tr("Rules decided"), str(found.rules)
    yield tr("People allowed"), str(found.allowed)
    yield tr("  without opening it"), str(found.unopened)
    yield tr("People denied"), str(found.denied)
    yield tr("Nobody decided"), str(found.undecided)
    yield tr("Time to decide, half of them within"), took_words(found.median_ms)
    yield tr("Time to decide, 9 of 10 within"), took_words(found.slow_ms)


@command.reader()
@declared.option("--noted", default="", metavar="HASH", help="Also that the entry is there whose hash begins so.")
@declared.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def verify(noted: str, as_json: bool) -> None:
    """Check that nothing was changed in the log or taken out of it.

    Exits with 1 if anything was.

    \b
    Example:
      sayso log verify
      sayso log verify --noted 5d41402abc4b2a76
    """
    if noted and not _HASH.fullmatch(noted):
        text = tr("it takes a hash, or its first 16 characters or more; not {given}.", given=quoted(noted))
        raise InvalidInput([Problem(path="--noted", text=text)])
    with open_desks(settings(), only_looks=True) as desks:
        found = desks.log.check(noted)
    if as_json:
        put_json(check_data(found))
    else:
        _put_check(found)
    sys.exit(0 if found.whole else 1)


def _put_check(found: LogCheck) -> None:
    if not found.whole:
        put(_coloured(tr("The log is broken."), LogKind.DENIED))
        for fault in found.faults:
            put(f"  {_fault(fault)}")
    elif found.since is None:
        put(tr("The log is empty."))
    else:
        counted = plural(found.rows, "1 entry", "{n} entries")
        put(tr("The log is whole: {entries} since {when}.", entries=counted, when=moment(found.since)))
        put(tr("The newest has the hash {hash}.", hash=found.hash))


def _fault(fault: FaultFound) -> str:
    missing = tr(WHAT[fault.missing]) if fault.missing else ""
    return tr(FAULTS[fault.fault], **{**vars(fault), "missing": missing})


def _row(outcome: LoggedOutcome) -> tuple[str, ...]:
    event = outcome.entry.event
    because = f" → {one_line(translated(why(outcome)), 120)}" if why(outcome) else ""
    return (
        event.ask[:8],
        _when(event.at),
        _coloured(tr(what(outcome.entry)), event.kind),
        _ran(outcome),
        _by(outcome.entry) or "-",
        f"{one_line(subject(outcome.entry), 120)}{because}",
    )


def _ran(outcome: LoggedOutcome) -> str:
    times = f" ×{outcome.ran}" if outcome.ran > 1 else ""
    others = f", {plural(outcome.others, '1 other', '{n} others')}" if outcome.others else ""
    return f"{translated(ran(outcome))}{times}{others}" or "-"


def _by(entry: LogEntry) -> str:
    event = entry.event
    if event.surface == ITS_CALL:
        return ""  # nobody decided
    return ", ".join(filter(None, (one_line(event.person or event.rule, 20), translated(one_line(event.surface, 20)))))


def _line(entry: LogEntry) -> str:
    """One entry: when, what, by whom, from where, how far, as which operation, why."""
    event = entry.event
    facts = [
        one_line(subject(entry), 300) if event.kind in _RULES else "",
        _by(entry),
        translated(event.scope) if event.scope not in ("", "once") else "",
        one_line(rule_place(entry), 300),
        tr("operation {id}", id=event.operation) if event.operation else "",
        tr("digest {digest}", digest=event.digest[:16]) if event.digest else "",
        tr("edited: {parts}", parts=", ".join(edited(entry))) if edited(entry) else "",
        translated(one_line(event.why, 300)),
    ]
    return f"{moment(event.at)}  {_coloured(tr(what(entry)), event.kind)}  {'; '.join(filter(None, facts))}"


def _coloured(text: str, kind: LogKind) -> str:
    return coloured(text, COLOURS.get(kind, _OTHERS))


def _when(at: int) -> str:
    """By the person's own clock, as short as it can be told."""
    then = time.localtime(at / 1000)
    this_year = then.tm_year == time.localtime(now_ms() / 1000).tm_year
    return time.strftime("%m-%d %H:%M" if this_year else "%Y-%m-%d", then)


def _moment(since: str) -> int:
    if (moment_meant := since_when(since, now_ms())) is None:
        raise InvalidInput([Problem(path="--since", text=tr(SINCE, given=quoted(since)))])
    return moment_meant
