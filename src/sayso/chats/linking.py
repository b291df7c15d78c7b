"""How a chat is added and how somebody says in it who they are: for the command line and the settings page alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.bridge import in_thread
from sayso.chats.desk import ChatDesk
from sayso.chats.kinds import opened
from sayso.chats.model import ChatAccess, ChatKind, ChatLink, ChatMessage
from sayso.errors import InvalidInput, Problem

NAME = "name"
"""In the access of a chat: who Sayso is there."""
SECRETS: Mapping[ChatKind, tuple[str, ...]] = {ChatKind.TELEGRAM: ("token",)}
"""What a chat has to be given, by the names of its access."""


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """What somebody needs to link themselves: a code to send there, an address to open, or both."""

    code: str
    address: str
    name: str
    """Who Sayso is in that chat."""


async def add_chat(desk: ChatDesk, kind: ChatKind, secrets: Mapping[str, str], server: str = "") -> str:
    """Have a chat from now on, if one gets in by this. Who Sayso is there."""
    access = _access(kind, secrets, server)
    async with opened(kind, access) as adapter:
        name = await adapter.who()
    await in_thread(desk.add, kind, {**access, NAME: name})
    return name


def _access(kind: ChatKind, secrets: Mapping[str, str], server: str) -> dict[str, str]:
    problems = [
        Problem(path=name, text="is empty, or has blanks in it. Give it as it was shown to you.")
        for name in SECRETS[kind]
        if not secrets.get(name, "").isascii() or len(secrets.get(name, "").split()) != 1
    ]
    if server and not server.startswith(("https://", "http://")):
        problems.append(Problem(path="server", text=f"is {server!r}; it must be an http:// or https:// address."))
    if problems:
        raise InvalidInput(problems)
    return {**secrets, **({"server": server.rstrip("/")} if server else {})}


async def invite(desk: ChatDesk, kind: ChatKind, user: str) -> Invitation:
    """A way for this user to link themselves, once."""
    chat = await in_thread(desk.get, kind)
    code = await in_thread(desk.make_code, kind, user)
    name = chat.access.get(NAME, "")
    address = f"https://t.me/{name.removeprefix('@')}?start={code.replace('-', '')}" if name else ""
    return Invitation(code=code, address=address, name=name)


async def send_test(chat: ChatAccess, link: ChatLink) -> None:
    """Send somebody a message that asks for nothing."""
    async with opened(chat.kind, chat.access) as adapter:
        await adapter.send(link.room, ChatMessage(heading="Sayso", body=f"This reaches {link.user}. Nothing is asked."))
