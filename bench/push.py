"""From an ask to its push at the service that a browser subscribed to, beside the same bytes posted there by hand.

Both take turns in one run. The service is on loopback, and speaks TLS as the real ones do.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from bench.tables import print_ways
from tests.push.service import PlayedBrowser, PushService, push_service

from sayso.asks.model import Asker, Kind, NewAsk, Question, Settler
from sayso.config import load
from sayso.desks import Desks, open_desks
from sayso.push import subscriptions
from sayso.push.sending import post
from sayso.web.conversations import Conversations
from sayso.web.pusher import Pusher
from sayso.web.site import Site

PERSON = Settler(person="ada", surface="bench")


async def measured(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each ask until its push had come, and of each post by hand."""
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as name, push_service() as service:
        config = load(environ={"SAYSO_STATE_DIR": f"{name}/state"}, cwd=Path(name))
        with open_desks(config) as desks, open_desks(config) as agents:
            _subscribe(desks, service)
            pusher = Pusher(Site(desks), Conversations(desks.runs, desks.asks), lambda _: False)
            pusher.reach = service.reach
            async with pusher.running():
                return await asyncio.to_thread(_take_turns, rounds, agents, service)


def _take_turns(rounds: int, agents: Desks, service: PushService) -> tuple[list[float], list[float]]:
    pushes, posts = [], []
    for number in range(rounds):
        question = Question(id="1", text=f"Ship number {number}?", kind=Kind.CONFIRM)
        began = time.perf_counter()
        ask = agents.asks.leave(NewAsk(tool="ask_user", questions=(question,), asker=Asker(client="bench")))
        body = service.next().body
        pushes.append(time.perf_counter() - began)
        agents.asks.reject(ask.id, "", PERSON)
        service.next()  # that it is settled
        began = time.perf_counter()
        post(service.endpoint("by-hand"), {"Content-Encoding": "aes128gcm"}, body, service.reach)
        posts.append(time.perf_counter() - began)
        service.next()
    return pushes, posts


def _subscribe(desks: Desks, service: PushService) -> None:
    accounts, browser = desks.accounts, PlayedBrowser()
    accounts.add_user("ada")
    session = accounts.session(accounts.redeem(accounts.make_link("ada")))
    assert session
    with patch.object(subscriptions, "may_be_called", bool):  # the service is on this machine
        desks.pushes.subscribe(session.id, service.endpoint("ada"), browser.p256dh, browser.auth, "")


def main() -> None:
    print_ways(__doc__ or "", measured, "ask made to push at its service", "the same bytes posted there by hand")


if __name__ == "__main__":
    os.environ.pop("SAYSO_STORE", None)
    main()
