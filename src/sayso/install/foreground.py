"""Claude Code in a terminal moves a call that takes two minutes to the background, and then presents the person's
answer to its model as something that is no user input. A variable in its settings prevents that, for all servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.errors import CannotEdit
from sayso.install import in_jsonc
from sayso.install.notation import at, parsed

VARIABLE = "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"
NEVER = "0"
_STEPS = ("env", VARIABLE)


@dataclass(frozen=True, kw_only=True)
class ForegroundPart:
    """The variable in a settings file of Claude Code. Any value that is there already is the person's, and stays."""

    path: Path

    def is_in(self, text: str) -> bool:
        return bool(value(text) == NEVER)

    def added(self, text: str) -> str:
        if value(text) is not None:
            return text
        try:
            return in_jsonc.put(text, _STEPS, NEVER)
        except ValueError as error:
            raise CannotEdit(f'cannot take a variable: {error}. Fix its "env" and run this again.') from error

    def removed(self, text: str, made: int) -> str:
        left = in_jsonc.drop(text, _STEPS)
        return in_jsonc.drop(left, _STEPS[:1]) if at(parsed("json", left), _STEPS[:1]) == {} else left

    def makes(self, text: str) -> int:
        return 0


def value(text: str) -> Any:
    """What the settings say; None where they say nothing."""
    return at(parsed("json", text), _STEPS)
