"""The process of an adapter: one wait for Talk, the agent, the bell and signals. It ends with the first of Talk and the
agent, and takes the other along.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from sayso.adapters import line
from sayso.adapters.adapter import Adapter, AdapterOrder
from sayso.adapters.agent_process import AgentProcess
from sayso.adapters.held_prompts import HeldPrompts
from sayso.adapters.rpc import Json, Rpc
from sayso.gates.watch import ENDING, WakePipe
from sayso.running.program import in_short

if TYPE_CHECKING:
    from sayso.adapters.shared_agent import SharedAgent

AGENT_ENDED, TALK_ENDED = "its agent has ended", "its conversation was let go of"
_TALK_IN, _TALK_OUT = 0, 1
_CHUNK = 1 << 16


def serve(kind: type[Adapter], order: AdapterOrder) -> int:
    """Start the agent and see its conversation through. The exit status of this process, which is the agent's."""
    talk = line.TalkLine(_write)
    try:
        process = _joined(order.socket) if order.socket else AgentProcess(order.command)
    except (OSError, ValueError) as error:
        way = "joined in its terminal" if order.socket else "started"
        why = str(error) if order.socket else in_short(str(error))
        talk.ended(f"{order.label} could not be {way}: {why}{'' if order.socket else f' {order.install}'}")
        return 1
    return AdapterProcess(kind, order, talk, process).run()


def _joined(socket: str) -> SharedAgent:
    from sayso.adapters.shared_agent import SharedAgent  # those with an agent of their own need no sockets

    return SharedAgent(Path(socket))


def _write(data: bytes) -> None:
    """The runner reads all that comes, whoever else is there."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(_TALK_OUT, rest) :]


class AdapterProcess:
    def __init__(
        self, kind: type[Adapter], order: AdapterOrder, talk: line.TalkLine, process: AgentProcess | SharedAgent
    ) -> None:
        self._process = process
        self._wake = WakePipe()
        self._prompts = HeldPrompts(self._wake.ring, asks=order.asks)
        self._adapter = kind(order, talk, Rpc(self._send), self._prompts, process.pid)
        self._talk = talk
        self._told_to_end = False
        self._part = b""

    def run(self) -> int:
        """Endless: until Talk has no more to say, the agent ends, or this process is told to."""
        for number in ENDING:
            signal.signal(number, self._note_signal)
        try:
            self._adapter.begin()
            while not (self._told_to_end or self._process.has_ended or self._adapter.has_failed):
                self._turn()
        except OSError as error:
            self._talk.ended(str(error.strerror or error))
            self._adapter.has_failed = True
        finally:
            left_by = self._process.has_ended
            self._prompts.close(AGENT_ENDED if left_by else TALK_ENDED)
            status = self._process.end()
        if self._adapter.has_failed:
            return 1
        return _as_it_ended(status) if left_by else 0

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._told_to_end = True
        self._wake.ring()

    def _turn(self) -> None:
        ready = self._wait()
        if self._wake.fd in ready:
            self._wake.clear()
        if _TALK_IN in ready:
            for said in self._said():
                self._adapter.say(said)
        if self._process.input in ready:
            self._process.flush()
        if self._process.output in ready:
            for heard in self._process.read():
                self._adapter.take(heard)
        self._prompts.look()
        self._adapter.look()

    def _wait(self) -> set[int]:
        poll = select.poll()
        for fd in (self._wake.fd, _TALK_IN, self._process.output):
            poll.register(fd, select.POLLIN)
        if self._process.wants_room:
            poll.register(self._process.input, select.POLLOUT)
        rests = [rest for rest in (self._prompts.rest(), self._adapter.rest()) if rest is not None]
        return {fd for fd, _ in poll.poll(min(rests) * 1000 if rests else None)}

    def _said(self) -> Iterator[line.PersonSaid]:
        data = os.read(_TALK_IN, _CHUNK)
        self._told_to_end = self._told_to_end or not data
        *whole, self._part = (self._part + data).split(b"\n")
        for each in filter(bytes.strip, whole):
            try:
                yield line.read(each)
            except ValueError as error:
                print(f"sayso: {error}", file=sys.stderr)

    def _send(self, message: Json) -> bool:
        return self._process.send(json.dumps(message).encode() + b"\n")


def _as_it_ended(status: int) -> int:
    """The agent's exit code. Where a signal ended it, the same ends this process."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    return code
