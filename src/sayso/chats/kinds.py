"""The chats there are, each imported when it is first wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sayso.chats.model import ChatKind
from sayso.errors import ChatFailed

if TYPE_CHECKING:
    from sayso.chats.adapter import ChatAdapter

NEEDS_PACKAGE = "Chats need one more package. Install Sayso again, with '.[chats]' in place of the dot."


def can_chat() -> bool:
    return find_spec("aiohttp") is not None


@asynccontextmanager
async def opened(kind: ChatKind, access: Mapping[str, str]) -> AsyncIterator[ChatAdapter]:
    """A chat that can be spoken with."""
    if not can_chat():
        raise ChatFailed(NEEDS_PACKAGE)
    import aiohttp

    from sayso.chats.http import ChatHttp

    # Proxies as the environment has them; no cookies, because nobody is to be known by one.
    async with aiohttp.ClientSession(trust_env=True, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield adapter_of(kind)(access, ChatHttp(kind.label, session))


def adapter_of(kind: ChatKind) -> type[ChatAdapter]:
    match kind:
        case ChatKind.TELEGRAM:
            from sayso.chats.telegram import Telegram

            return Telegram
        case ChatKind.NTFY:
            from sayso.chats.ntfy import Ntfy

            return Ntfy
        case ChatKind.SLACK:
            from sayso.chats.slack import Slack

            return Slack
