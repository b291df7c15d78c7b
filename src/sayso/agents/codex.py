"""Codex by its `app-server`: how it is started. `adapters/codex.py` speaks with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sayso.agents.adapted import Adapted
from sayso.agents.agent import PersonLine
from sayso.agents.model import Run
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.trust import real


class Codex(Adapted):
    label = "Codex"
    install = "Install it with `npm install -g @openai/codex`, or set codex_command to where it is."
    reads = Used.CODEX
    keeps_out = True
    protocol = "codex"
    steers = True

    def spoken_with(self, run: Run) -> str:
        return "shared-codex" if run.choices.joins else self.protocol

    def order(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile]
    ) -> Mapping[str, object]:
        order = super().order(config, run, line, kept_out)
        if not run.choices.joins:
            return order
        # What it may do, and with which model, is for the terminal to say that has begun the session.
        return {**order, "session": run.choices.joins, "socket": run.choices.server, "model": "", "mode": ""}

    def command(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile]
    ) -> Sequence[str]:
        words = [*config.codex_command, "app-server"]
        words += ["-c", _untrusted(run.directory, run.project.directory)] if kept_out else []
        if line:
            first, *rest = line.command
            words += ["-c", f"mcp_servers.{line.server}.command={json.dumps(first)}"]
            words += ["-c", f"mcp_servers.{line.server}.args={json.dumps(rest)}"]
            # To ask the person needs no permission of theirs.
            tool = line.ask_tool.removeprefix(f"mcp__{line.server}__")
            words += ["-c", f'mcp_servers.{line.server}.tools.{tool}.approval_mode="approve"']
            # Codex gives its servers no environment but what it is told to hand on.
            words += ["-c", f'mcp_servers.{line.server}.env_vars=["ASK_USER_CONFIG","SAYSO_STATE_DIR","SAYSO_STORE"]']
        return words


def _untrusted(*folders: Path) -> str:
    """Overrules whatever trust Codex has in these folders and those above them. As tried with 0.166, only the whole
    table does that. A worktree has the trust of its repository as well."""
    places = {place: None for folder in map(real, folders) for place in (folder, *folder.parents)}
    levels = [f'{json.dumps(str(place))}={{trust_level="untrusted"}}' for place in places]
    return f"projects={{{','.join(levels)}}}"
