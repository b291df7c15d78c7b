"""Late answers for the agent whose client runs `sayso hook`: what is owed to it, told once.

Imported at every step of an agent, so it imports little: no click, nothing of MCP. Whatever goes wrong, the agent is
neither kept waiting nor failed, and the answer stays for the next step.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Ask, Asker
from sayso.config import load
from sayso.desks import open_desks
from sayso.processes import ancestry, this_host

CLIENT = "claude-code"
PATIENCE = 3.0
"""Seconds after which it gives up: an agent waits for it at every step."""

MOST_CHARACTERS = 9_000
"""What the client takes at once; more it would put aside."""

_INTRODUCTION = "Answers to questions that were asked with sayso earlier have arrived. Each is told here once.\n\n"
_TOO_LONG = "A long answer to a question of yours has arrived. Call get_answers with ask_id {ask_id} to receive it."


def run() -> None:
    """Read the event that a client hands to its hooks, and print what there is to tell."""
    limit = threading.Timer(PATIENCE, os._exit, (0,))
    limit.daemon = True
    limit.start()
    with suppress(Exception):  # nothing may keep the agent from its work
        hand_over(_event())


def _event() -> Mapping[str, Any]:
    found = untrusted_json.loads(sys.stdin.buffer.read() or b"{}")
    return found if isinstance(found, dict) else {}


def hand_over(event: Mapping[str, Any]) -> None:
    """Print what is owed to this agent. It counts as delivered once it is written."""
    config = load(cwd=Path(event["cwd"]) if event.get("cwd") else None)
    if not config.store and not config.database.exists():
        return
    with open_desks(config) as desks:
        desk = desks.asks
        session = str(event.get("session_id") or "")
        asker = Asker(client=CLIENT, session=session, project=config.project_name, host=this_host())
        owed = [ask for ask in desk.undelivered(asker, is_kin=_is_our_client) if _is_settled(ask)]
        of_others = desk.of_other_sessions(owed, asker, is_kin=_is_our_client)
        _tell(
            desk,
            config.attachments_dir,
            _fitting(owed),
            of_others,
            str(event.get("hook_event_name") or "UserPromptSubmit"),
        )


def _tell(desk: AskDesk, files: Path, asks: list[Ask], of_others: Set[str], event: str) -> None:
    held = list(_taken(desk, asks))
    if not held:
        return
    from sayso.asks.handed_files import with_files
    from sayso.dialects.get_answers import render

    text = _INTRODUCTION + render([with_files(desk, files, one.ask) for one in held], of_others).text
    if len(text) > MOST_CHARACTERS:
        _put(event, _TOO_LONG.format(ask_id=held[0].ask.id))
        desk.release(held[0], "too long for a hook")
        return
    _put(event, text)
    for one in held:
        desk.delivered(one)


def _taken(desk: AskDesk, asks: list[Ask]) -> Iterator[Held]:
    """Those that are ours to tell: another step of the agent, or a call of its, may have been faster."""
    for ask in asks:
        if held := desk.attach(ask.id):
            if held.ask.delivered:
                desk.release(held, "it was handed over meanwhile")
            else:
                yield held


def _put(event: str, text: str) -> None:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}), flush=True)


def _is_settled(ask: Ask) -> bool:
    return not ask.state.answerable


def _is_our_client(asker: Asker) -> bool:
    """Whether the one who asked runs this hook, by whatever name it calls the session now."""
    # Only now: at most steps there is nothing to hand over, and each import costs the agent time.
    from sayso.agent_guard import kinship

    return bool(kinship(asker, os.environ, ancestry()))


def _fitting(asks: list[Ask]) -> list[Ask]:
    """As many as the client takes at once, one at least. The rest comes at the next step."""
    fitting: list[Ask] = []
    room = MOST_CHARACTERS
    for ask in asks:
        room -= 2 * sum(map(len, ask.words())) + 200
        if fitting and room < 0:
            break
        fitting.append(ask)
    return fitting
