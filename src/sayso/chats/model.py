"""What passes between Sayso and a chat: messages with buttons one way, presses and words the other."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from sayso.records import record
from sayso.wishes import Wishes

NAME = "name"
"""In the access of a chat: who Sayso is there."""


class ChatKind(StrEnum):
    TELEGRAM = "telegram"
    NTFY = "ntfy"
    SLACK = "slack"

    @property
    def label(self) -> str:
        """Its name as people write it, which is also how it stands in the record of an answer."""
        return "ntfy" if self is ChatKind.NTFY else self.value.capitalize()


@record
class ChatAccess:
    """How Sayso gets into a chat, and who is there for all processes of the store."""

    kind: ChatKind
    access: Mapping[str, str]
    """Addresses and secrets, by the names that its adapter has for them."""
    held_by: str
    read_to: str
    """How far what comes from there has been read, where the chat itself does not know that."""
    trouble: str
    """What is in the way just now, in words; empty where nothing is."""
    created_at: int


@record
class ChatLink:
    """That somebody in a chat is a user."""

    id: str
    kind: ChatKind
    account: str
    """Who they are there, by a name that nobody can choose."""
    room: str
    """Where they are written to."""
    label: str
    """What they call themselves there."""
    user: str
    system_account: str
    """Who they are to the system, where that is known."""
    wishes: Wishes
    created_at: int


@record
class SentMessage:
    """What was sent about an ask to one linked person."""

    id: str
    link: str
    ask: str
    shown: str
    """The mark of what was asked when it was sent."""
    digest: str
    """Of the action, where all of it was shown; empty otherwise."""
    place: str
    """What the chat calls it; empty while that is not known."""
    confirming_since: int | None
    """Since when it asks for the second of two presses that allow something."""
    created_at: int
    closed_at: int | None


@record
class Button:
    """One button. Pressed, it brings its token back, or opens an address."""

    label: str
    token: str = ""
    url: str = ""


@record
class ChatMessage:
    """One message as every chat can show it. All of it is plain text, and safe."""

    heading: str
    body: str = ""
    exact: bool = False
    """Whether the body is shown letter by letter, as a program's."""
    hint: str = ""
    buttons: tuple[Button, ...] = ()
    quiet: bool = False
    """Whether it need not make a sound."""


@record
class Pressed:
    """That somebody pressed a button."""

    id: str
    """Names this press for ever, also if it comes twice."""
    token: str
    account: str = ""
    room: str = ""
    place: str = ""
    read_to: str = ""
    """Up to where has been read once this has had its effect, where the chat does not know that itself."""


@record
class Wrote:
    """That somebody wrote something."""

    id: str
    account: str
    room: str
    text: str
    label: str = ""
    answers: str = ""
    """The place of the message that this replies to."""
    forwarded: bool = False
    private: bool = True
    """Whether nobody else reads what is said in that room."""


@record
class ChatSaid:
    """What somebody who pressed or wrote is told, and which message is to be drawn anew."""

    text: str
    message: str = ""
    room: str = ""
    """Where to say it, if the press itself did not tell."""
    shown: bool = False
    """Whether the message says it as well, once it is drawn anew."""
