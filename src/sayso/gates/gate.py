"""One prompt of a client, from its hook to the inbox and back.

The inbox and the client's own prompt are open at the same time, and the first verdict wins. Whatever goes wrong here is
no decision: nothing is printed, and the client's own prompt goes on as if there were no gate. What a rule denies stays
denied.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sayso import untrusted_json
from sayso.config import load
from sayso.desks import Desks, open_desks
from sayso.errors import StoreError
from sayso.gates.asker import asker_of, project_of
from sayso.gates.client import GateClient, OwnPrompt, Prompt, Trail
from sayso.gates.prompts import AskedPrompt, asked, is_seen_there
from sayso.gates.watch import Watch

if TYPE_CHECKING:
    from sayso.gates.afterwards import ToldVerdict
    from sayso.gates.open_prompt import OpenPrompt


def serve(client: GateClient) -> None:
    """Read the event that the client hands to its hook, and print the verdict, if there is one."""
    with Watch() as watch:
        text = sys.stdin.buffer.read() or b"{}"
        try:
            event = untrusted_json.loads(text)
            is_for_us = isinstance(event, dict) and not client.stands_back(event, os.environ)
            told = _decide(client, event, watch) if is_for_us else None
        except Exception:
            # A fault of ours must not open what a rule has closed.
            from sayso.gates.unreadable import denied

            if verdict := denied(client, text):
                _write(verdict)
                return
            raise
    if told:
        told.follow()


def _decide(client: GateClient, event: Mapping[str, Any], watch: Watch) -> ToldVerdict | None:
    """A verdict of which it is to be seen whether it counted."""
    prompt = client.read(event, os.environ)
    trail = client.trail(event, prompt)
    config = load(cwd=project_of(prompt.folder))
    with open_desks(config) as desks:
        opened = _ask(client, prompt, trail, desks, watch)
    if not (opened and opened.told and trail and trail.path.is_file() and prompt.own_prompt is OwnPrompt.BESIDE):
        return None
    from sayso.gates.afterwards import ToldVerdict  # only now: a gate that waits is smaller without

    return ToldVerdict(opened.ask, client.title, opened.told, trail, config)


def _ask(client: GateClient, prompt: Prompt, trail: Trail | None, desks: Desks, watch: Watch) -> OpenPrompt | None:
    """The prompt that stood in the inbox, once it no longer does; None where it never did."""
    asker = asker_of(client, prompt, desks.config)
    question = asked(prompt, asker, desks.config, desks)
    if verdict := question.decided_before():
        _write(client.told(verdict, prompt))
        note_at_work(desks, question)
        return None
    if is_seen_there(prompt, question.new, desks):
        note_at_work(desks, question)
        return None
    if watch.told_to_end:
        return None
    from sayso.gates.held_prompt import HeldPrompt  # what need not be asked does without
    from sayso.gates.open_prompt import OpenPrompt

    opened = OpenPrompt(client.title, client.name, question, desks.asks.hold(question.new), desks)
    note_at_work(desks, question)
    watch.also({asker.pid, os.getppid()}, sys.stdout.fileno(), trail.path if trail else None)
    HeldPrompt(client, prompt, opened, trail, desks, watch).hold_on(lambda told: _write(client.told(told, prompt)))
    return opened


def _write(told: Mapping[str, Any]) -> bool:
    """Whether somebody was there to take it."""
    rest = memoryview(json.dumps(told).encode())
    try:
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]
    except OSError:
        return False
    return True


def note_at_work(desks: Desks, question: AskedPrompt) -> None:
    """Have it known what this agent is at."""
    with suppress(StoreError):
        desks.roster.note_gate(question.new.asker, question.doing)
