"""`sayso agents`: the agents at work, and what each of them does or waits for."""

from __future__ import annotations

from typing import Any

from sayso.asks.model import Ask
from sayso.cli import declared
from sayso.cli.asks_in_words import headline, short_place, status
from sayso.cli.program import settings
from sayso.cli.shared import say_what_only_shows
from sayso.cli.terminal import bold, put, put_json, say, table
from sayso.cli.texts import tr, translated
from sayso.clock import now_ms
from sayso.desks import Desks, open_desks
from sayso.operations.operation import Operation
from sayso.roster import AgentAtWork, find_agent, of_agent
from sayso.text import age, iso_time, one_line

HEADER = ("AGENT", "SINCE", "CLIENT", "PROJECT", "BRANCH", "DOING")
_MAY_MISS = (4, 1, 2, 3)
"""The columns that a narrow terminal does without, in this order: branch, since when, client, project."""
MOST = 20
"""What is shown of an agent's past."""


@declared.reader()
@declared.argument("name", metavar="[AGENT]", required=False)
@declared.option("--json", "as_json", is_flag=True, help="Print everything about each agent as JSON.")
def command(name: str | None, as_json: bool) -> None:
    """Show the agents at work, those that wait for you first.

    With AGENT, its name or the beginning of its id: what it asks, what it runs, and what it has asked and run before.

    \b
    Example:
      sayso agents
      sayso agents 91bc4f
    """
    with open_desks(settings(), only_looks=True) as desks:
        say_what_only_shows(desks)
        desks.asks.release_the_dead()
        desks.operations.end_the_dead()
        agents = desks.agents_at_work()
        if name is not None:
            _show(desks, find_agent(agents, name), as_json)
        elif as_json:
            put_json([_data(desks, agent) for agent in agents])
        elif agents:
            put(table(HEADER, [_row(desks, agent) for agent in agents], may_miss=_MAY_MISS))
            say("\n" + tr("What one of them asked and ran: sayso agents {name}", name=agents[0].name))
        else:
            say(tr("No agent is at work. It is listed once it has asked, run or wanted something."))


def doing(desks: Desks, agent: AgentAtWork) -> str:
    """What it waits for, runs, or was last seen at, in one line."""
    if agent.asks:
        more = agent.open - 1
        told = tr("waits for you: {what}") if agent.waits else tr("left open: {what}")
        what = headline(agent.asks[0])
        return told.format(what=tr("{first} (+{more} more)", first=what, more=more) if more else what)
    if agent.commands:
        return tr("runs {command}", command=_words(desks, agent.commands[0]))
    return tr("last: {what}", what=agent.doing) if agent.doing else tr("at work")


def _row(desks: Desks, agent: AgentAtWork) -> tuple[str, ...]:
    asker = agent.asker
    return (
        one_line(agent.name, 12),
        translated(age(now_ms() - agent.since)),
        one_line(asker.client, 20) or "-",
        short_place(asker.project) or "-",
        one_line(asker.branch, 24) or "-",
        doing(desks, agent),
    )


def _words(desks: Desks, operation: Operation) -> str:
    return one_line(desks.reader.words(operation), 120) or one_line(operation.tool, 120)


def _past(desks: Desks, agent: AgentAtWork) -> tuple[list[Ask], list[Operation]]:
    asks = desks.asks.ended_of(agent.asker, agent.since, most=MOST)
    commands = desks.operations.ended_of(agent.asker, agent.since, most=MOST)
    return of_agent(asks, agent.id), of_agent(commands, agent.id)


def _show(desks: Desks, agent: AgentAtWork, as_json: bool) -> None:
    asks, commands = _past(desks, agent)
    if as_json:
        from sayso.dialects.asks_as_data import ask_data
        from sayso.dialects.operations_as_data import operation_data

        past = {
            "history": [ask_data(ask) for ask in asks],
            "ran": [operation_data(each, desks.reader.words(each)) for each in commands],
        }
        put_json(_data(desks, agent) | past)
        return
    put(table(HEADER, [_row(desks, agent)], may_miss=_MAY_MISS))
    sections = {
        tr("It asks"): [(ask.id[:8], translated(status(ask)), headline(ask)) for ask in agent.asks],
        tr("It runs"): [_command_row(desks, each) for each in agent.commands],
        tr("It asked before"): [(ask.id[:8], translated(status(ask)), headline(ask)) for ask in asks],
        tr("It ran before"): [_command_row(desks, each) for each in commands],
    }
    for title, rows in sections.items():
        if rows:
            put(f"\n{bold(title)}\n" + table(("ID", "STATUS", ""), rows))


def _command_row(desks: Desks, operation: Operation) -> tuple[str, str, str]:
    return operation.id[:8], translated(operation.state.value.replace("_", " ")), _words(desks, operation)


def _data(desks: Desks, agent: AgentAtWork) -> dict[str, Any]:
    from sayso.dialects.asks_as_data import ask_data
    from sayso.dialects.operations_as_data import operation_data

    asker = agent.asker
    return {
        "id": agent.id,
        "name": agent.name,
        "client": asker.client,
        "version": asker.version,
        "project": asker.project,
        "branch": asker.branch,
        "host": asker.host,
        "process": asker.pid or None,
        "session": asker.session,
        "since": iso_time(agent.since),
        "seen_at": iso_time(agent.seen_at),
        "waits": agent.waits,
        "doing": agent.doing,
        "asks": [ask_data(ask) for ask in agent.asks],
        "commands": [operation_data(each, desks.reader.words(each)) for each in agent.commands],
    }
