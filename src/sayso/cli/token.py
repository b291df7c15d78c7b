"""`sayso token`: which agents may connect over HTTP."""

from __future__ import annotations

from pathlib import Path

import click

from sayso.accounts import AgentToken
from sayso.agent_guard import refuse_agents
from sayso.cli.program import settings
from sayso.cli.shared import project_name
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import mark, tr
from sayso.desks import open_desks
from sayso.text import iso_time, one_line


@click.group()
def command() -> None:
    """Manage which agents may connect over HTTP.

    \b
    Example:
      sayso token add builder --project ~/shop
      sayso token add ada-laptop --user ada
      sayso token revoke builder
    """


@command.command()
@click.argument("name")
@click.option("--project", type=click.Path(path_type=Path), metavar="DIR", help="The project this agent works in.")
@click.option("--user", metavar="USER", default="", help="Its questions are for this user alone.")
@click.option("--json", "as_json", is_flag=True, help="Print the token as JSON.")
def add(name: str, project: Path | None, user: str, as_json: bool) -> None:
    """Make a token for an agent. It is shown this once.

    \b
    Example:
      sayso token add ci --project /srv/shop
    """
    with open_desks(settings()) as desks:
        refuse_agents(desks, "make tokens for agents")
        secret = desks.accounts.add_token(name, project=project_name(project) or "", user=user)
    if as_json:
        put_json({"name": name, "token": secret})
        return
    put(secret)
    said = mark(
        "The agent sends it as `Authorization: Bearer …`. It is not shown again; `sayso token revoke {name}` ends it."
    )
    say(tr(said, name=name))


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def show(as_json: bool) -> None:
    """Show the tokens, without their secrets.

    \b
    Example:
      sayso token list
    """
    with open_desks(settings()) as desks:
        tokens = desks.accounts.tokens()
    if as_json:
        put_json([_data(token) for token in tokens])
    elif tokens:
        put(table(("NAME", "USER", "PROJECT", "SINCE", "REVOKED"), [_row(token) for token in tokens]))
    else:
        say(tr("There are no tokens yet. `sayso token add NAME` makes one."))


@command.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Shut an agent out at once.

    \b
    Example:
      sayso token revoke ci
    """
    with open_desks(settings()) as desks:
        desks.accounts.revoke_token(name)
    say(tr("The token {name} is of no use from now on.", name=name))


def _data(token: AgentToken) -> dict[str, str | None]:
    return {
        "name": token.name,
        "user": token.user or None,
        "project": token.project or None,
        "since": iso_time(token.created_at),
        "revoked_at": iso_time(token.revoked_at),
    }


def _row(token: AgentToken) -> tuple[str, ...]:
    since, revoked = iso_time(token.created_at) or "", iso_time(token.revoked_at) or "-"
    return token.name, token.user or tr("anyone"), one_line(token.project, 60) or "-", since, revoked
