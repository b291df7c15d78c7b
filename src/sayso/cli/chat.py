"""`sayso chat`: chats in which people are asked and answer."""

from __future__ import annotations

import sys

from sayso.agent_guard import refuse_agents
from sayso.chats.desk import CODE_LIFE
from sayso.chats.model import NAME, ChatAccess, ChatKind, ChatLink
from sayso.cli import declared
from sayso.cli.asks_in_words import moment
from sayso.cli.program import settings
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import mark, tr, translated
from sayso.desks import Desks, open_desks
from sayso.errors import NotFound
from sayso.text import iso_time, one_line

KINDS = declared.one_of([kind.value for kind in ChatKind])
_PROMPTS = {
    (ChatKind.TELEGRAM, "token"): mark("The token of your bot, as @BotFather gave it to you: "),
    (ChatKind.NTFY, "token"): mark("An access token of that server, or nothing where it wants none: "),
    (ChatKind.SLACK, "bot_token"): mark("The bot token of your app (xoxb-…): "),
    (ChatKind.SLACK, "app_token"): mark("Its app-level token for Socket Mode (xapp-…): "),
}


@declared.group()
def command() -> None:
    """Be asked in a chat, and answer there.

    `sayso web` has to run. Nothing is sent anywhere until you add a chat and link yourself in it.

    \b
    Example:
      sayso chat add telegram
      sayso chat link telegram
      sayso chat list
    """


@command.command()
@declared.argument("chat", type=KINDS, metavar="CHAT")
@declared.option("--server", metavar="URL", default="", help="A server of your own, where the chat has such.")
def add(chat: str, server: str) -> None:
    """Add a chat, or give it another token.

    Its token is asked for, or read from standard input; it is never an argument, which others could see. Sayso tries
    it at once.

    \b
    Example:
      sayso chat add telegram
      sayso chat add telegram < token.txt
      sayso chat add ntfy --server https://ntfy.example.org
    """
    import asyncio

    from sayso.chats.linking import SECRETS, add_chat

    kind = ChatKind(chat)
    with open_desks(settings()) as desks:
        refuse_agents(desks, "add chats")
        given = {name: _secret(kind, name) for name in SECRETS[kind]}
        name = asyncio.run(add_chat(desks.chats, kind, given, server))
    said = mark("{label} is added: Sayso is {name} there. Now link yourself: sayso chat link {chat}")
    say(tr(said, label=kind.label, name=name, chat=chat))


@command.command()
@declared.argument("chat", type=KINDS, metavar="CHAT")
@declared.option("--user", metavar="NAME", help="Who is linked. By default you.")
@declared.option("--json", "as_json", is_flag=True, help="Print code and address as JSON.")
def link(chat: str, user: str | None, as_json: bool) -> None:
    """Link yourself, so that you are asked there.

    It prints a code that you send to Sayso in the chat, or with ntfy a topic to subscribe to. It works once, for a
    quarter of an hour.

    \b
    Example:
      sayso chat link telegram
      sayso chat link telegram --user ada
    """
    import asyncio

    from sayso.chats.linking import invite
    from sayso.cli.web import yourself

    kind, config = ChatKind(chat), settings()
    with open_desks(config) as desks:
        refuse_agents(desks, "link somebody to a chat")
        name = user or yourself(desks.accounts, config.person)
        found = asyncio.run(invite(desks.chats, kind, name))
    if as_json:
        put_json({"chat": chat, "user": name, "code": found.code, "address": found.address or None})
        return
    if found.code:
        put(found.code)
        say(tr("Send this code to {name} in {label}, in a private chat.", name=found.name, label=kind.label))
        if found.address:
            say(tr("Or open: {address}", address=found.address))
    else:
        put(found.address)
        say(tr("Subscribe to this topic in the ntfy app, and press the button of the message that is there."))
    said = mark("It links {name}, once, within {minutes} minutes. `sayso web` has to run.")
    say(tr(said, name=name, minutes=CODE_LIFE // 60_000))


@command.reader(name="list")
@declared.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(as_json: bool) -> None:
    """Show the chats and who is linked in them.

    \b
    Example:
      sayso chat list --json
    """
    with open_desks(settings()) as desks:
        chats, links = desks.chats.all(), desks.chats.links()
        held = {chat.kind: desks.chats.is_held(chat) for chat in chats}
    if as_json:
        put_json([_data(chat, links, held[chat.kind]) for chat in chats])
        return
    if not chats:
        say(tr("There are no chats yet. `sayso chat add telegram` adds one."))
        return
    for chat in chats:
        where = chat.access.get(NAME) or chat.kind.label
        say(f"{chat.kind.label} ({one_line(where, 60)}): {_standing(chat, held[chat.kind])}")
    if links:
        put(table(("ID", "CHAT", "USER", "THERE", "SINCE"), [_row(each) for each in links]))
    else:
        say(tr("Nobody is linked yet. `sayso chat link CHAT` makes a code."))


@command.command()
@declared.argument("link_id", metavar="ID")
def unlink(link_id: str) -> None:
    """End a link: that person is asked and answers there no more.

    \b
    Example:
      sayso chat unlink 5f1c
    """
    with open_desks(settings()) as desks:
        refuse_agents(desks, "unlink somebody from a chat")
        found = _link(desks, link_id)
        desks.chats.unlink(found.id)
    say(tr("{user} is not linked to {label} any more.", user=found.user, label=found.kind.label))


@command.command()
@declared.argument("chat", type=KINDS, metavar="CHAT")
def remove(chat: str) -> None:
    """Forget a chat, its token and everyone who is linked there.

    \b
    Example:
      sayso chat remove telegram
    """
    kind = ChatKind(chat)
    with open_desks(settings()) as desks:
        refuse_agents(desks, "remove chats")
        desks.chats.remove(kind)
    say(tr("{label} is forgotten.", label=kind.label))


@command.command()
@declared.argument("link_id", metavar="[ID]", required=False)
def test(link_id: str | None) -> None:
    """Send those who are linked a message that asks for nothing.

    \b
    Example:
      sayso chat test
      sayso chat test 5f1c
    """
    import asyncio

    from sayso.chats.linking import send_test

    with open_desks(settings()) as desks:
        refuse_agents(desks, "send messages to people in chats")
        links = [_link(desks, link_id)] if link_id else desks.chats.links()
        if not links:
            raise NotFound("Nobody is linked to a chat. `sayso chat link CHAT` makes a code.")
        for each in links:
            asyncio.run(send_test(desks.chats.get(each.kind), each))
            say(tr("{label} took a message for {user}.", label=each.kind.label, user=each.user))


def _secret(kind: ChatKind, name: str) -> str:
    if sys.stdin and sys.stdin.isatty():
        from getpass import getpass

        return getpass(tr(_PROMPTS[kind, name]), stream=sys.stderr).strip()
    return sys.stdin.readline().strip() if sys.stdin else ""


def _link(desks: Desks, short: str) -> ChatLink:
    found = [each for each in desks.chats.links() if each.id.startswith(short.lower())]
    if len(found) != 1:
        raise NotFound(f"{short!r} names no one link to a chat. `sayso chat list` shows their ids.")
    return found[0]


def _standing(chat: ChatAccess, held: bool) -> str:
    if chat.trouble:
        return translated(chat.trouble)
    return tr("at work") if held else tr("not at work: no `sayso web` runs")


def _row(each: ChatLink) -> tuple[str, ...]:
    return each.id[:8], each.kind.label, each.user, one_line(each.label, 40) or "-", moment(each.created_at)


def _data(chat: ChatAccess, links: list[ChatLink], held: bool) -> dict[str, object]:
    linked = [
        {"id": each.id, "user": each.user, "there": each.label, "since": iso_time(each.created_at)}
        for each in links
        if each.kind is chat.kind
    ]
    name = chat.access.get(NAME) or None
    return {"chat": chat.kind, "name": name, "at_work": held, "trouble": chat.trouble or None, "links": linked}
