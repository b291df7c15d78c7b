"""What every chat can do for Sayso: one small class for each, which knows its words and nothing of asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from sayso.chats.model import ChatKind, ChatMessage, ChatSaid, Pressed, Wrote
from sayso.chats.wording import ChatLimits

if TYPE_CHECKING:
    from sayso.chats.http import ChatHttp

Heard = Callable[[Pressed | Wrote], Awaitable[ChatSaid]]
"""Takes what came from a chat. Once it returns, the store has it; until then nothing may be acknowledged."""


UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What it raises to read something that has not the shape which the chat's documents give it. That is passed over, and
nothing of it is logged: kept, it would be in the way of all that comes after it."""


class ChatAdapter(ABC):
    """One chat. Every method raises ChatFailed where the chat is not there or refuses, ChatGone where the person is
    not."""

    kind: ClassVar[ChatKind]
    limits: ClassVar[ChatLimits]

    def __init__(self, access: Mapping[str, str], http: ChatHttp) -> None:
        self._access, self._http = access, http

    @abstractmethod
    async def who(self) -> str:
        """Who Sayso is there, by the name that people find it under. Also shows that the access is good."""

    @abstractmethod
    async def listen(self, heard: Heard, read_to: str) -> None:
        """Hand on what comes from there. Endless until cancelled, or until something fails."""

    @abstractmethod
    async def send(self, room: str, message: ChatMessage) -> str:
        """Send a message; the place by which it can be changed."""

    @abstractmethod
    async def change(self, room: str, place: str, message: ChatMessage) -> None:
        """Put another message in the place of one."""
