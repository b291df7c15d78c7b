"""Telling the person that a question waits when no surface shows it: their desktop, a command, a webhook, apprise.

Who is away is told at once, who is typing in the agent's own terminal only when they have stopped. Bursts become one
message. A failure is logged and never delays an ask. Answers are never part of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sayso import desktop
from sayso.asks.crowds import FEW, Quiet
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, State
from sayso.asks.quorum import is_asked
from sayso.asks.waiting import Waiting
from sayso.asks.words import headline as about
from sayso.asks.words import who_asks
from sayso.bridge import Patience, Rings, Threads, listening
from sayso.clock import now_ms
from sayso.config import Config, system_user
from sayso.errors import NotificationFailed, SaysoError
from sayso.presence import PresenceDesk
from sayso.store.bell import Bell
from sayso.terminals import terminal_of

if TYPE_CHECKING:
    import urllib.request

logger = logging.getLogger(__name__)

BURST = 0.5
"""Seconds in which further questions join a message."""

PATIENCE = 20.0
"""Seconds that one way of telling may take."""

_CLOSING_SECONDS = 1.0
"""Seconds in which the pipe of a command that has ended is closed."""

MOST_LINES = 10
"""Questions that a message names; of more it says how many."""

MOST_SHOWN = 3
"""Questions that fit into a notification on a desktop."""

Way = Callable[[Sequence[Ask]], Awaitable[None]]


class Notifier:
    """Sends one message for all asks of a burst."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._asks: list[Ask] = []
        self._crowded: set[str] = set()
        self._quiet = Quiet(now_ms)

    @property
    def configured(self) -> bool:
        """Whether the person has said how they want to be told."""
        return bool(self._config.notify_command or self._config.notify_url or self._config.notify_apprise)

    @property
    def reaches(self) -> bool:
        """Whether there is any way to tell them, be it by itself."""
        return self.configured or has_desktop(self._config)

    async def tell_in_time(self, ask: Ask, waiting: Waiting, presence: PresenceDesk, bell: Callable[[], Bell]) -> None:
        """Tell of this ask when the person is to be told, unless a surface shows it or it has been settled by then."""
        if not self.reaches:
            return
        try:
            left = partial(waiting.do, seconds_left, ask.id, self._config, waiting.desk, presence)
            if not await is_to_be_told(left, await waiting.do(bell)):
                return
            now = await waiting.do(waiting.desk.get, ask.id)
            open_of_agent = await waiting.do(waiting.desk.open_of, now.asker)
        except SaysoError as error:
            logger.warning("Could not look who sees ask %s: %s", ask.id, error)
            return
        await self.tell(now, open_of_agent)

    async def tell(self, ask: Ask, open_of_agent: int) -> None:
        """Tell of this ask, together with those that open within a moment. An agent that has many open is told of once
        in a while, and nobody of what others have to decide."""
        if not is_asked(ask, self._config.person) and not is_asked(ask, system_user()):
            return
        self._asks.append(ask)
        (self._crowded.add if open_of_agent > FEW else self._crowded.discard)(ask.asker.crowd)
        if len(self._asks) > 1:
            return
        await asyncio.sleep(BURST)
        asks = self._quiet.worth_telling(self._asks, self._crowded)
        self._asks, self._crowded = [], set()
        if asks:
            await self._send(asks)

    async def tell_at_once(self, ask: Ask) -> None:
        """Tell of one that is over."""
        await self._send([ask])

    async def _send(self, asks: Sequence[Ask]) -> None:
        ways: list[Way] = [self._on_desktop, self._run_command, self._post, self._by_apprise]
        await asyncio.gather(*(self._try(way, asks) for way in ways))

    async def _try(self, way: Way, asks: Sequence[Ask]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await way(asks)
        except TimeoutError:
            logger.warning("A notification took longer than %.0f seconds and was given up", PATIENCE)
        except NotificationFailed as error:
            logger.warning("A notification failed: %s", error)

    async def _on_desktop(self, asks: Sequence[Ask]) -> None:
        if not has_desktop(self._config):
            return
        title, body = headline(asks), details_for_people(asks)
        try:
            await _apart(lambda: desktop.tell(title, body))
        except NotificationFailed as error:
            # Nobody has asked for it, so where it is not possible nobody is told that.
            logger.debug("%s", error)

    async def _run_command(self, asks: Sequence[Ask]) -> None:
        command = self._config.notify_command
        if not command:
            return
        environment = {**os.environ, "SAYSO_ASK_ID": asks[0].id, "SAYSO_COUNT": str(len(asks))}
        text = f"{headline(asks)}\n{details(asks)}\n".encode()
        try:
            code = await _run(command, text, environment)
        except OSError as error:
            raise NotificationFailed(f"notify_command {command[0]!r}: {error.strerror}") from error
        if code:
            raise NotificationFailed(f"notify_command {command[0]!r} ended with exit code {code}")

    async def _post(self, asks: Sequence[Ask]) -> None:
        if url := self._config.notify_url:
            request = _request(url, self._config.notify_format, headline(asks), self._body(asks), asks)
            await _apart(lambda: _post(request))

    async def _by_apprise(self, asks: Sequence[Ask]) -> None:
        if services := self._config.notify_apprise:
            title, body = headline(asks), self._body(asks)
            await _apart(lambda: _by_apprise(services, title, body))

    def _body(self, asks: Sequence[Ask]) -> str:
        """What leaves the machine: the questions' own words only where the person wants that."""
        if self._config.notify_details:
            return details(asks)
        is_open = any(ask.state.answerable for ask in asks)
        return "Open your inbox to answer: sayso" if is_open else "Look at what became of it: sayso history"


def has_desktop(config: Config) -> bool:
    """Whether this machine's desktop is to be told, and is there."""
    return config.notify_desktop and desktop.is_there()


async def is_to_be_told(left: Callable[[], Awaitable[float | None]], bell: Bell) -> bool:
    """Wait until the person is to be told of an ask; False when they need not be. `left` is `seconds_left`."""
    seconds = await left()
    if seconds:
        rings = Rings()
        async with listening(bell, rings.ring):
            while seconds:
                rung = rings.next
                if seconds := await left():
                    async with Patience(seconds):
                        await rung.wait()
    return seconds is not None


def seconds_left(ask_id: str, config: Config, desk: AskDesk, presence: PresenceDesk) -> float | None:
    """How long the person is left alone before they are told of an ask; None where it is settled, or on a surface."""
    ask = desk.get(ask_id)
    return seconds_left_alone(ask, config, desk, presence) if ask.state is State.PENDING else None


def seconds_left_alone(ask: Ask, config: Config, desk: AskDesk, presence: PresenceDesk) -> float | None:
    """The same for whatever became of the ask."""
    if presence.absence(ask.asker.owner or config.person):
        return 0
    if desk.is_looked_at(ask):
        return None
    return max(0, config.notify_after_typing - presence.still_for(terminal_here(ask.asker))) / 1000


def terminal_here(asker: Asker) -> str:
    """The terminal that an agent works in; empty where it has none, or is on another machine."""
    return terminal_of(asker.pid) if asker.pid and asker.host == socket.gethostname() else ""


def headline(asks: Sequence[Ask]) -> str:
    """`claude-code 1f3a5b in shop asks you something`, or how many do."""
    if len(asks) > 1:
        return f"{len(asks)} questions are waiting for you"
    who = who_asks(asks[0].asker)
    if asks[0].state.answerable:
        return f"{who} asks you something"
    return f"{who}: by its own record, its terminal was first"


def details_for_people(asks: Sequence[Ask]) -> str:
    """What is asked, without the ids that programs want."""
    lines = [about(ask, 120) for ask in asks[:MOST_SHOWN]]
    more = len(asks) - len(lines)
    return "\n".join([*lines, f"and {more} more"] if more else lines)


def details(asks: Sequence[Ask]) -> str:
    lines = [f"{ask.id[:8]}  {about(ask, 120)}" for ask in asks[:MOST_LINES]]
    more = len(asks) - len(lines)
    return "\n".join([*lines, f"and {more} more"] if more else lines)


async def _run(command: Sequence[str], text: bytes, environment: dict[str, str]) -> int:
    """Run a command to its end, or to ours. It need not read what it is given. What it prints is no answer, and goes
    where we tell of troubles."""
    pipe, errors = asyncio.subprocess.PIPE, 2
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=errors, env=environment)
    assert process.stdin
    try:
        await process.communicate(text)
        # That it was not read, some Pythons (3.11.2 is one) complain of, unless somebody asks how the pipe was closed.
        with suppress(OSError):
            async with Patience(_CLOSING_SECONDS):
                await asyncio.shield(process.stdin.wait_closed())
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode or 0


async def _apart(work: Callable[[], None]) -> None:
    """Do slow work in a thread that neither a cancelled task nor an ending process waits for."""
    thread = Threads(1, "sayso-notify")
    try:
        await thread.look(work)
    finally:
        thread.close()


def _request(url: str, form: str, title: str, body: str, asks: Sequence[Ask]) -> urllib.request.Request:
    """As plain text for ntfy, which makes a message of it; as JSON with a `text` for everything else."""
    # Only now: most people have no such address, and every agent's server has this module.
    import urllib.request

    if form == "ntfy" or (form == "auto" and "ntfy" in (urlsplit(url).hostname or "")):
        from email.header import Header

        name = title if title.isascii() else Header(title, "utf-8").encode(maxlinelen=0)
        data, headers = body.encode(), {"Title": name, "Tags": "question"}
    else:
        payload = {"text": f"{title}\n{body}", "title": title, "asks": [ask.id for ask in asks]}
        data, headers = json.dumps(payload).encode(), {"Content-Type": "application/json"}
    return urllib.request.Request(url, data=data, headers=headers, method="POST")  # noqa: S310


def _post(request: urllib.request.Request) -> None:
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    try:
        with urllib.request.urlopen(request, timeout=PATIENCE / 2) as reply:  # noqa: S310
            reply.read(1)
    except (urllib.error.URLError, HTTPException, OSError, ValueError) as error:
        # The address itself may be the secret.
        raise NotificationFailed(f"notify_url at {request.host}: {error or type(error).__name__}") from error


def _by_apprise(services: Sequence[str], title: str, body: str) -> None:
    try:
        apprise: Any = import_module("apprise")
    except ImportError as error:
        raise NotificationFailed(
            "notify_apprise needs one more package: install Sayso again, with '.[apprise]' for the dot"
        ) from error
    sender = apprise.Apprise()
    for service in services:
        if not sender.add(service):
            raise NotificationFailed("notify_apprise holds an address that apprise does not know")
    try:
        delivered = sender.notify(title=title, body=body)
    except Exception as error:  # each service is a program of somebody else's
        raise NotificationFailed(f"apprise failed with {type(error).__name__}") from error
    if not delivered:
        raise NotificationFailed("apprise could not deliver the message to every service")
