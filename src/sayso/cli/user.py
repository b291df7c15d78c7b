"""`sayso user`: who may sign in to the web inbox."""

from __future__ import annotations

from sayso.agent_guard import refuse_agents
from sayso.cli import declared
from sayso.cli.asks_in_words import moment
from sayso.cli.program import settings
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import tr, translated
from sayso.desks import open_desks
from sayso.text import iso_time


@declared.group()
def command() -> None:
    """Manage who may sign in to the web inbox.

    \b
    Example:
      sayso user add ada
      sayso web --link --user ada
      sayso user revoke ada
    """


@command.command()
@declared.argument("name")
def add(name: str) -> None:
    """Let a person in, or let them in again after they were revoked.

    \b
    Example:
      sayso user add ada
    """
    with open_desks(settings()) as desks:
        refuse_agents(desks, "add users")
        desks.accounts.add_user(name)
    say(tr("{name} may sign in. `sayso web --link --user {name}` prints a link for them.", name=name))


@command.reader(name="list")
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def show(as_json: bool) -> None:
    """Show everyone who may sign in, and who no longer may.

    \b
    Example:
      sayso user list --json
    """
    with open_desks(settings()) as desks:
        users, refused = desks.accounts.users(), desks.accounts.refusals()
    if as_json:
        put_json(
            [
                {"name": user.name, "since": iso_time(user.created_at), "revoked_at": iso_time(user.revoked_at)}
                for user in users
            ]
        )
    elif users:
        rows = [(user.name, moment(user.created_at), moment(user.revoked_at)) for user in users]
        put(table(("NAME", "SINCE", "REVOKED"), rows))
    else:
        say(tr("There are no users yet. `sayso web` adds you; `sayso user add NAME` adds others."))
    for each in refused:
        wanted, why = translated(each.wanted), translated(each.why)
        say(tr("Refused at {when}: an agent tried to {wanted} ({why}).", when=moment(each.at), wanted=wanted, why=why))


@command.command()
@declared.argument("name")
def revoke(name: str) -> None:
    """Shut a person out at once, and their agents.

    Their sessions, links and API tokens end, and so do the tokens of their agents.

    \b
    Example:
      sayso user revoke ada
    """
    with open_desks(settings()) as desks:
        refuse_agents(desks, "shut anybody out")
        desks.accounts.revoke_user(name)
    say(tr("{name} is shut out, from now on.", name=name))
