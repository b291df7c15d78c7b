"""A client whose hook asks for permissions: one `sayso gate` for each prompt, and what was allowed is done."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import time
from contextlib import suppress
from itertools import count

from tests.e2e.stdio.folders import PROGRAMS
from tests.proof.agent import HANGS, Agent, run, wanted
from tests.proof.ground import Ground
from tests.proof.lines import ended

PAUSE = 0.5
"""Seconds between two prompts, on average: each costs the start of a program."""


class Gates:
    """One client, whose prompts come one after the other."""

    def __init__(self, ground: Ground, epoch: int, noting: Agent, log: int) -> None:
        self.open: subprocess.Popen[bytes] | None = None
        self._ground, self._epoch, self._noting, self._log = ground, epoch, noting, log
        self._chance = random.Random(f"{ground.told.seed} {epoch} gates")

    async def work(self) -> None:
        for number in count(1):
            if self._noting.over:
                return
            await self._prompt(f"{self._epoch}.gate.{number}")
            await asyncio.sleep(self._chance.uniform(0, 2 * PAUSE))

    async def _prompt(self, name: str) -> None:
        token, program = wanted(self._chance, name)
        command, begun = f"{program} {token}", time.monotonic()
        gate = self._gate(command)
        assert gate.stdin is not None
        assert gate.stdout is not None
        self.open = gate
        with suppress(BrokenPipeError):
            gate.stdin.write(self._event(command))
            gate.stdin.close()
        try:
            # What it prints fits into a pipe.
            await ended(gate, HANGS)
            said = gate.stdout.read()
        except TimeoutError:
            self._noting.note_hang(command)
            return
        finally:
            self.open = None
            gate.stdout.close()
        self._noting.counted("permissions")
        told = json.loads(said)["hookSpecificOutput"]["decision"] if said else {}
        behavior = told.get("behavior", "unknown")
        self._noting.note_verdict(token, program, behavior, begun, told.get("message", ""))
        if behavior == "allow":
            await run(self._ground, command)

    def _gate(self, command: str) -> subprocess.Popen[bytes]:
        # Without a terminal there is nobody else who could decide.
        who = {"CLAUDE_PID": str(os.getpid()), "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
        return subprocess.Popen(
            [PROGRAMS / "sayso", "gate", "claude-code"],
            cwd=self._ground.place.project,
            env={**self._ground.environment, **who},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )

    def _event(self, command: str) -> bytes:
        """What the hook is handed."""
        event = {
            "hook_event_name": "PermissionRequest",
            "session_id": "proof",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "cwd": str(self._ground.place.project),
        }
        return json.dumps(event).encode()
