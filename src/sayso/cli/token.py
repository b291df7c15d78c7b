"""`sayso token`: which agents may connect over HTTP, by a token or because a person has let them sign in."""

from __future__ import annotations

from pathlib import Path

from sayso.accounts import AgentToken
from sayso.agent_guard import refuse_agents
from sayso.cli import declared
from sayso.cli.asks_in_words import moment
from sayso.cli.program import settings
from sayso.cli.shared import project_name
from sayso.cli.terminal import put, put_json, say, shown_or, table
from sayso.cli.texts import mark, tr
from sayso.connections import AgentConnection
from sayso.desks import open_desks
from sayso.text import iso_time, one_line


@declared.group()
def command() -> None:
    """Manage which agents may connect over HTTP.

    \b
    Example:
      sayso token add builder --project ~/shop
      sayso token add ada-laptop --user ada
      sayso token revoke builder
    """


@command.command()
@declared.argument("name")
@declared.option("--project", type=declared.PATH, metavar="DIR", help="The project this agent works in.")
@declared.option("--user", metavar="USER", default="", help="Its questions are for this user alone.")
@declared.option("--json", "as_json", is_flag=True, help="Print the token as JSON.")
def add(name: str, project: Path | None, user: str, as_json: bool) -> None:
    """Make a token for an agent. It is shown this once.

    \b
    Example:
      sayso token add ci --project /srv/shop
    """
    folder = project_name(project) or ""
    with open_desks(settings()) as desks:
        refuse_agents(desks, "make tokens for agents")
        secret = desks.accounts.add_token(name, project=folder, user=user)
        with shown_or(lambda: desks.accounts.take_back_token(secret)):
            put_json({"name": name, "token": secret}) if as_json else put(secret)
    if folder and not Path(folder).is_dir():
        # The agent may be on another machine.
        there = mark("There is no folder {folder} here: the token is for an agent that works in one elsewhere.")
        say(tr(there, folder=one_line(folder, 400)))
    if as_json:
        return
    said = mark(
        "The agent sends it as `Authorization: Bearer …`. It is not shown again; `sayso token revoke {name}` ends it."
    )
    say(tr(said, name=name))


@command.reader(name="list")
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def show(as_json: bool) -> None:
    """Show tokens, without their secrets, and agents that signed in.

    \b
    Example:
      sayso token list
    """
    with open_desks(settings()) as desks:
        tokens, connections = desks.accounts.tokens(), desks.connections.all()
    if as_json:
        put_json([*map(_data, tokens), *map(_connection_data, connections)])
    elif tokens or connections:
        rows = [*map(_row, tokens), *map(_connection_row, connections)]
        put(table(("NAME", "USER", "PROJECT", "BY", "SINCE", "REVOKED"), rows, may_miss=(4, 3, 2)))
    else:
        say(tr("There are no tokens yet. `sayso token add NAME` makes one."))


@command.command()
@declared.argument("name")
def revoke(name: str) -> None:
    """Shut an agent out at once, by its token or name.

    \b
    Example:
      sayso token revoke ci
      sayso token revoke 'claude-code#1f3a5b'
    """
    with open_desks(settings()) as desks:
        refuse_agents(desks, "shut anybody out")
        signed_in = [each for each in desks.connections.all() if each.agent == name]
        for each in signed_in:
            desks.connections.end(each.id, each.user)
        if not signed_in:
            desks.accounts.revoke_token(name)
    if signed_in:
        say(tr("{name} is let in no more. To come back, it has to sign in again.", name=name))
    else:
        say(tr("The token {name} is of no use from now on.", name=name))


def _data(token: AgentToken) -> dict[str, str | None]:
    return {
        "name": token.name,
        "by": "token",
        "user": token.user or None,
        "project": token.project or None,
        "since": iso_time(token.created_at),
        "revoked_at": iso_time(token.revoked_at),
    }


def _row(token: AgentToken) -> tuple[str, ...]:
    since, revoked = moment(token.created_at), moment(token.revoked_at)
    return token.name, token.user or tr("anyone"), one_line(token.project, 60) or "-", tr("token"), since, revoked


def _connection_data(connection: AgentConnection) -> dict[str, str | None]:
    return {
        "name": connection.agent,
        "by": "sign-in",
        "program": connection.client_name,
        "address": connection.resource,
        "user": connection.user,
        "project": None,
        "since": iso_time(connection.created_at),
        "seen_at": iso_time(connection.seen_at),
        "revoked_at": None,
    }


def _connection_row(connection: AgentConnection) -> tuple[str, ...]:
    return connection.agent, connection.user, "-", tr("sign-in"), moment(connection.created_at), "-"
