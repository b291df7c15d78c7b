"""Telling the person that a question waits when no surface shows it: a command of theirs, a webhook, apprise.

Bursts become one message. A failure is logged and never delays an ask. Answers are never part of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from sayso.asks.model import Ask
from sayso.config import Config
from sayso.errors import NotificationFailed
from sayso.text import one_line

logger = logging.getLogger(__name__)

BURST = 0.5
"""Seconds in which further questions join a message."""

PATIENCE = 20.0
"""Seconds that one way of telling may take."""


class Notifier:
    """Sends one message for all asks of a burst."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._asks: list[Ask] = []

    @property
    def configured(self) -> bool:
        return bool(self._config.notify_command or self._config.notify_url or self._config.notify_apprise)

    async def tell(self, ask: Ask) -> None:
        """Tell of this ask, together with those that open within a moment."""
        self._asks.append(ask)
        if len(self._asks) > 1:
            return
        await asyncio.sleep(BURST)
        asks, self._asks = self._asks, []
        ways = [self._run_command, self._post, self._by_apprise]
        await asyncio.gather(*(self._try(way, asks) for way in ways))

    async def _try(self, way: Any, asks: Sequence[Ask]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await way(asks)
        except TimeoutError:
            logger.warning("A notification took longer than %.0f seconds and was given up", PATIENCE)
        except NotificationFailed as error:
            logger.warning("A notification failed: %s", error)

    async def _run_command(self, asks: Sequence[Ask]) -> None:
        if not self._config.notify_command:
            return
        environment = {**os.environ, "SAYSO_ASK_ID": asks[0].id, "SAYSO_COUNT": str(len(asks))}
        text = f"{headline(asks)}\n{details(asks)}\n".encode()
        try:
            done = await anyio.run_process(
                self._config.notify_command, input=text, check=False, stdout=None, stderr=None, env=environment
            )
        except OSError as error:
            raise NotificationFailed(f"notify_command {self._config.notify_command[0]!r}: {error.strerror}") from error
        if done.returncode:
            raise NotificationFailed(f"notify_command ended with exit code {done.returncode}")

    async def _post(self, asks: Sequence[Ask]) -> None:
        if self._config.notify_url:
            await anyio.to_thread.run_sync(_post, self._config.notify_url, headline(asks), self._body(asks), asks)

    async def _by_apprise(self, asks: Sequence[Ask]) -> None:
        if self._config.notify_apprise:
            await anyio.to_thread.run_sync(_by_apprise, self._config.notify_apprise, headline(asks), self._body(asks))

    def _body(self, asks: Sequence[Ask]) -> str:
        """What leaves the machine: the questions' own words only where the person wants that."""
        return details(asks) if self._config.notify_details else "Open your inbox to answer: sayso"


def headline(asks: Sequence[Ask]) -> str:
    """`claude-code in shop asks you something`, or how many do."""
    if len(asks) > 1:
        return f"{len(asks)} questions are waiting for you"
    asker = asks[0].asker
    where = f" in {one_line(Path(asker.project).name, 40)}" if asker.project else ""
    return f"{one_line(asker.client, 40) or 'An agent'}{where} asks you something"


def details(asks: Sequence[Ask]) -> str:
    return "\n".join(f"{ask.id[:8]}  {one_line(_subject(ask), 120)}" for ask in asks)


def _subject(ask: Ask) -> str:
    return ask.title or ask.questions[0].text


def _post(url: str, title: str, body: str, asks: Sequence[Ask]) -> None:
    """As plain text to ntfy, which makes a message of it; as JSON with a `text` to everything else."""
    if "ntfy" in (urlsplit(url).hostname or ""):
        data, headers = body.encode(), {"Title": title.encode("ascii", "replace").decode(), "Tags": "question"}
    else:
        payload = {"text": f"{title}\n{body}", "title": title, "asks": [ask.id for ask in asks]}
        data, headers = json.dumps(payload).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data=data, headers=headers, method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE / 2) as reply:  # noqa: S310
            reply.read(1)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise NotificationFailed(f"notify_url {urlsplit(url).hostname}: {error}") from error


def _by_apprise(services: Sequence[str], title: str, body: str) -> None:
    try:
        apprise: Any = import_module("apprise")
    except ImportError as error:
        raise NotificationFailed("notify_apprise needs one more package: pip install 'sayso[apprise]'") from error
    sender = apprise.Apprise()
    for service in services:
        if not sender.add(service):
            raise NotificationFailed("notify_apprise holds an address that apprise does not know")
    if not sender.notify(title=title, body=body):
        raise NotificationFailed("apprise could not deliver the message to every service")
