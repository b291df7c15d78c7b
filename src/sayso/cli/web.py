"""`sayso web`: the inbox in a browser, and the links and tokens that let people and scripts into it."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from functools import partial

import click

from sayso.accounts import LINK_LIFE, SESSION_LIFE, Accounts, user_name
from sayso.agent_guard import refuse_agents
from sayso.cli.program import settings
from sayso.cli.terminal import bold, draw_link, put, put_json, say, shown_or
from sayso.cli.texts import mark, plural, tr
from sayso.clock import MOST_APART, now_ms
from sayso.config import Config, system_user
from sayso.desks import Desks, open_desks
from sayso.errors import NotFound, SignInRefused
from sayso.log import set_up
from sayso.records import replace
from sayso.text import iso_time
from sayso.web_addresses import ServedAt, is_anybody_there, is_ours, noted, running

A_SCRIPT = "API token"
"""What the settings page calls a script that has one."""


@click.command()
@click.option("--host", metavar="HOST", help="Listen here instead of on loopback; lets other machines in.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="Listen on this port; 0 takes a free one.")
@click.option("--url", metavar="URL", help="The address people use, when it is behind a proxy.")
@click.option(
    "--tunnel",
    type=click.Choice(["tailscale", "cloudflared"]),
    help="Let your phone in from anywhere, through this program of yours; it ends with the inbox.",
)
@click.option(
    "--projects-in",
    metavar="DIR",
    multiple=True,
    help="Let you add projects below this folder from the page. Can be given several times.",
)
@click.option("--user", metavar="NAME", help="Who the link or token is for. By default you.")
@click.option("--link", "only", flag_value="link", help="Print another sign-in link, and serve nothing.")
@click.option("--api-token", "only", flag_value="token", help="Print a token for scripts, and serve nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the link or token as JSON.")
def command(
    host: str | None,
    port: int | None,
    url: str | None,
    tunnel: str | None,
    projects_in: tuple[str, ...],
    user: str | None,
    only: str | None,
    as_json: bool,
) -> None:
    """Serve the inbox to your browser, and the MCP tools over HTTP.

    It prints a link that signs one browser in, once, within a quarter of an hour. Other machines can reach it
    only with --host; put it behind TLS then. Ctrl-C stops it, and no question or answer is lost.

    \b
    Example:
      sayso web
      sayso web --link
      sayso web --projects-in ~/code
      sayso web --tunnel tailscale
      sayso web --host 0.0.0.0 --url https://inbox.example.org
      curl -H "Authorization: Bearer $(sayso web --api-token)" http://127.0.0.1:7297/api/asks
    """
    config = settings(web_host=host, web_port=port, web_url=url, projects_in=[*projects_in] or None)
    with open_desks(config) as desks:
        refuse_agents(desks, "make sign-in links or API tokens")
        accounts = desks.accounts
        name = user or user_name(config.person)
        # Whoever was revoked gets no link. All others are served though it was their account, or they were named.
        if only or not _is_revoked(accounts, name):
            name = user or yourself(accounts, config.person)
        if only == "token":
            _print_token(accounts, name, as_json)
        elif only == "link":
            accounts.private_name(name)  # who is not let in is told that, wherever a link would lead
            _print_link(accounts, name, _address(config, accounts, port, elsewhere=host or url), as_json)
        else:
            _serve(desks, accounts, name, tunnel, as_json)


def _serve(desks: Desks, accounts: Accounts, name: str, tunnel: str | None, as_json: bool) -> None:
    from sayso.cli import tunnelling
    from sayso.mcp_server.http import McpOverHttp
    from sayso.web import app, serve
    from sayso.web.security import people_at

    config = desks.config
    set_up(config.log_level, config.log_file)
    if tunnel:
        tunnelling.check(config)
    known = partial(is_ours, proves=accounts.proof)
    with (
        serve.listen(config.web_host, config.web_port, known) as listening,
        serve.for_agents(config, listening, known) as (inside, sockets),
        tunnelling.tunnel(tunnel, inside) if tunnel else nullcontext("") as reached,
    ):
        if reached:
            config = desks.config = replace(config, web_url=reached)
        address = serve.address(config, listening.getsockname()[1])
        mcp = McpOverHttp(desks)
        built = app.build(desks, address=inside, routes=mcp.routes, direct=mcp.direct, lifespans=[mcp.running])
        with noted(config, ServedAt(address=address, inside=inside, port=listening.getsockname()[1])):
            shut_out = _is_revoked(accounts, name)
            page = address if shut_out else people_at(address, accounts.private_name(name))
            say(tr("Sayso is at {page}    Ctrl-C stops it.", page=bold(page)))
            if tunnel:
                say(tr(tunnelling.PROGRAMS[tunnel].reach))
            if serve.is_exposed(config):
                say(
                    tr(
                        "Warning: {host} is reachable from other machines without TLS; anyone between can read along.\n"
                        "Put a proxy with TLS in front of it and give its address as --url.",
                        host=config.web_host,
                    )
                )
            _warn_of_clock(desks.clock_ahead())
            if serve.has_path(config):
                said = mark("Warning: {url} has a path, but the page works only at the top of a host.")
                say(tr(said, url=config.web_url))
            if shut_out:
                _print_no_link(name, address, as_json)
            elif not as_json and _is_journal():
                # Links are for those whom they are given to, and a journal has other readers.
                say(tr("A sign-in link is not written into the journal. `sayso web --link` makes one."))
            else:
                _print_link(accounts, name, address, as_json)
            serve.run(serve.serve(built, *sockets, hand_over=mcp.hand_over))
            if sys.stderr.isatty():
                say("")  # the terminal has shown the ^C on a line of its own
            _tell_of_agents(desks)


def _warn_of_clock(ahead: int) -> None:
    """Codes and links that one server has made would be too old at another, or good for too long."""
    seconds = abs(ahead) // 1000
    if ahead > MOST_APART:
        say(tr("Warning: This machine's clock is {n} s ahead of that of the store.", n=seconds))
    elif ahead < -MOST_APART:
        say(tr("Warning: This machine's clock is {n} s behind that of the store.", n=seconds))


def _tell_of_agents(desks: Desks) -> None:
    """Who goes on without this server."""

    if at_work := desks.runs.open_here():
        say(
            plural(
                len(at_work),
                "One agent goes on without the page. `sayso web` finds it again; `sayso project stop` stops it.",
                "{n} agents go on without the page. `sayso web` finds them again; `sayso project stop` stops them.",
            )
        )


def yourself(accounts: Accounts, person: str) -> str:
    """You as a user, added when you first come. Whoever was revoked stays so until they are added on purpose."""
    name = user_name(person)
    known = {user.name: user for user in accounts.users()}
    if name not in known:
        accounts.add_user(name)
    elif known[name].revoked_at is not None:
        raise SignInRefused(f"{name} was revoked. `sayso user add {name}` lets them in again; --user names another.")
    if name not in known or known[name].account != system_user():
        accounts.note_account(name, system_user())
    return name


def _is_revoked(accounts: Accounts, name: str) -> bool:
    return any(user.name == name and user.revoked_at is not None for user in accounts.users())


def _is_journal() -> bool:
    """Whether what is printed goes into systemd's journal, which tells its services where it listens."""
    kept = os.environ.get("JOURNAL_STREAM", "")
    try:
        found = os.fstat(1)
    except OSError:  # closed
        return False
    return kept == f"{found.st_dev}:{found.st_ino}"


def _print_no_link(name: str, address: str, as_json: bool) -> None:
    if as_json:
        put_json({"address": address, "page": address, "link": None, "user": name, "expires_at": None})
        sys.stdout.flush()
    said = mark("{name} was revoked, so no link is made for them. `sayso web --link --user NAME` makes one for others.")
    say(tr(said, name=name))


def _print_link(accounts: Accounts, name: str, address: str, as_json: bool) -> None:
    from sayso.web.security import people_at

    page = people_at(address, accounts.private_name(name))
    way_in = f"/sign-in?link={accounts.make_link(name)}"
    link = page + way_in
    if as_json:
        expires = iso_time(now_ms() + LINK_LIFE)
        put_json({"address": address, "page": page, "link": link, "user": name, "expires_at": expires})
        sys.stdout.flush()
        return
    minutes = LINK_LIFE // 60_000
    say(tr("\nSign in as {name}. This works once, within {n} minutes:\n", name=name, n=minutes))
    put(f"  {link}")
    say()
    if page != address:
        say(tr("If your browser does not find that address, this is the same link:") + f"\n\n  {address}{way_in}\n")
    draw_link(link)
    sys.stdout.flush()


def _print_token(accounts: Accounts, name: str, as_json: bool) -> None:
    token = accounts.redeem(accounts.make_link(name), device=A_SCRIPT)
    expires = iso_time(now_ms() + SESSION_LIFE)
    with shown_or(lambda: accounts.sign_out(token)):
        put_json({"token": token, "user": name, "expires_at": expires}) if as_json else put(token)
    if as_json:
        return
    said = mark("Acts as {name} until {when}. It is not shown again; the settings page ends it.")
    say(tr(said, name=name, when=expires))


def _address(config: Config, accounts: Accounts, port: int | None, elsewhere: str | None) -> str:
    """Where a link leads: to an inbox that is served, the last one or that on this port; else to where the settings, or
    words just given, say that one is. Whoever gets a link can sign in, so somebody else must not be there."""
    from sayso.web import serve

    everywhere = running(config, accounts.proof)
    here = [served for served in everywhere if port in (None, served.port)]
    if others := [served for served in everywhere if served not in here[:1]]:
        ways = ", ".join(f"{served.address} (--port {served.port})" for served in others)
        say(tr("Also served, and linked to by its port: {addresses}", addresses=ways))
    if here and not elsewhere and not config.web_url:
        return here[0].address
    address = serve.address(config, config.web_port)
    if config.web_url and not _is_somebody_elses(address, accounts):
        if not here:
            say(tr("No web inbox seems to be running here. Start it with `sayso web`."))
        return address
    if not config.web_url and is_ours(address, accounts.proof):
        return address
    raise NotFound(
        f"No web inbox of this store answers at {address}, so no link to it was made. `sayso web` starts one."
    )


def _is_somebody_elses(address: str, accounts: Accounts) -> bool:
    """Whether something listens there on this machine that is not ours. Of other machines, and of ways to them that
    begin at another one's loopback, whoever has set the address knows more."""
    from sayso.web.security import is_plain_loopback

    return is_plain_loopback(address) and is_anybody_there(address) and not is_ours(address, accounts.proof)
