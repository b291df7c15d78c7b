"""How a chat is added and how somebody says in it who they are: for the command line and the settings page alike."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.bridge import in_thread
from sayso.chats.desk import ChatDesk
from sayso.chats.kinds import opened
from sayso.chats.model import NAME, Button, ChatAccess, ChatKind, ChatLink, ChatMessage
from sayso.chats.topics import REPLIES, new_topic, server_of
from sayso.errors import InvalidInput, Problem
from sayso.records import record

SECRETS: Mapping[ChatKind, tuple[str, ...]] = {
    ChatKind.TELEGRAM: ("token",),
    ChatKind.NTFY: ("token",),
    ChatKind.SLACK: ("bot_token", "app_token"),
}
"""What a chat has to be given, by the names of its access."""


@record
class Invitation:
    """What somebody needs to link themselves: a code to send there, an address to open, or both."""

    code: str
    address: str
    name: str
    """Who Sayso is in that chat."""


async def add_chat(desk: ChatDesk, kind: ChatKind, secrets: Mapping[str, str], server: str = "") -> str:
    """Have a chat from now on, if one gets in by this. Who Sayso is there."""
    access = _access(kind, secrets, server)
    if kind is ChatKind.NTFY:
        # What was sent names the topic of before, so that stays.
        before = next((chat.access for chat in await in_thread(desk.all) if chat.kind is kind), {})
        access[REPLIES] = before.get(REPLIES) or new_topic("replies")
    async with opened(kind, access) as adapter:
        name = await adapter.who()
    await in_thread(desk.add, kind, {**access, NAME: name})
    return name


def _access(kind: ChatKind, secrets: Mapping[str, str], server: str) -> dict[str, str]:
    problems = [
        Problem(path=name, text="is empty, or has blanks in it. Give it as it was shown to you.")
        for name in SECRETS[kind]
        if not _is_secret(secrets.get(name, ""), least=0 if kind is ChatKind.NTFY else 1)
    ]
    if server and not server.startswith(("https://", "http://")):
        problems.append(Problem(path="server", text=f"is {server!r}; it must be an http:// or https:// address."))
    if problems:
        raise InvalidInput(problems)
    return {**secrets, **({"server": server.rstrip("/")} if server else {})}


def _is_secret(text: str, least: int) -> bool:
    return text.isascii() and least <= len(text.split()) <= 1 and text == text.strip()


async def invite(desk: ChatDesk, kind: ChatKind, user: str) -> Invitation:
    """A way for this user to link themselves, once."""
    chat = await in_thread(desk.get, kind)
    if kind is ChatKind.NTFY:
        return await _invite_by_ntfy(desk, chat, user)
    code = await in_thread(desk.make_code, kind, user)
    name = chat.access.get(NAME, "")
    bot = name.removeprefix("@") if kind is ChatKind.TELEGRAM else ""
    address = f"https://t.me/{bot}?start={code.replace('-', '')}" if bot else ""
    return Invitation(code=code, address=address, name=name)


async def _invite_by_ntfy(desk: ChatDesk, chat: ChatAccess, user: str) -> Invitation:
    """Nobody has a name there, so each person gets a topic of their own: who presses what is sent to it is there."""
    topic = new_topic("asks")
    token = await in_thread(desk.make_token, chat.kind, user, topic)
    said = f"Press to be asked here as {user}. Whoever else knows this topic reads along."
    button = Button(label="Link this device", token=token)
    async with opened(chat.kind, chat.access) as adapter:
        await adapter.send(topic, ChatMessage(heading="Sayso", body=said, buttons=(button,)))
    return Invitation(code="", address=f"{server_of(chat.access)}/{topic}", name=chat.access.get(NAME, ""))


async def send_test(chat: ChatAccess, link: ChatLink) -> None:
    """Send somebody a message that asks for nothing."""
    async with opened(chat.kind, chat.access) as adapter:
        await adapter.send(link.room, ChatMessage(heading="Sayso", body=f"This reaches {link.user}. Nothing is asked."))
