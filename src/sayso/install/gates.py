"""What brings a client's prompts into the inbox, as a whole file of ours: a hook of Copilot, a plugin of opencode.
Clients that take a hook in their settings file have it from `hooks.py`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sayso.install.grants import MARK, FilePart
from sayso.install.hooks import PROMPT_SECONDS, gate_line
from sayso.install.notation import at, parsed
from sayso.install.part import Part

_PLUGIN = Path(__file__).with_name("opencode_plugin.js")
_PROGRAM = re.compile(r"^const GATE = (\[.*\])$", re.M)


class GateSetUp(Part, Protocol):
    """What makes a client start a gate for its prompts."""

    def command(self, text: str) -> str | None:
        """What starts the gate, by the text of the file."""
        ...


class CopilotGate(FilePart):
    """A file of hooks of Copilot."""

    def command(self, text: str) -> str | None:
        found = at(parsed("json", text), ("hooks", "permissionRequest")) if self.is_in(text) else None
        commands = [hook.get("bash") for hook in found if isinstance(hook, dict)] if isinstance(found, list) else []
        return next((command for command in commands if isinstance(command, str)), None)


class OpencodeGate(FilePart):
    """A plugin of opencode."""

    def command(self, text: str) -> str | None:
        found = _PROGRAM.search(text) if self.is_in(text) else None
        return shlex.join(json.loads(found[1])) if found else None


def copilot_gate(path: Path, program: Sequence[str]) -> CopilotGate:
    command = {"type": "command", "bash": gate_line(program, "copilot")}
    # Without a limit of ours it gives up after 30 seconds.
    hook = {**command, "timeoutSec": PROMPT_SECONDS, "comment": MARK}
    text = json.dumps({"version": 1, "hooks": {"permissionRequest": [hook]}}, indent=2)
    return CopilotGate(path=path, text=f"{text}\n")


def opencode_gate(path: Path, program: Sequence[str]) -> OpencodeGate:
    words = json.dumps([*program, "gate", "opencode"])
    text = _PLUGIN.read_text("utf-8").replace("{mark}", MARK).replace("{program}", words)
    return OpencodeGate(path=path, text=text)
