"""Where a proof happens: one folder with a whole machine in it, its store, and a folder of notes for each epoch.

All of it lasts, so that a proof can be gone on with later. Everything that belongs to the machine lies below `machine`,
and is known by that.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.e2e.stdio.folders import Folders
from tests.ports import lasting_port
from tests.postgres import Server

from sayso.accounts import Accounts
from sayso.agents.model import Options
from sayso.agents.projects import Projects
from sayso.store import open_store

STAND_IN = Path(__file__).parents[1] / "e2e" / "talk" / "claude.py"
"""The agent of Talk, which does what it is told, line by line."""
CLOCK = Path(__file__).parent / "clock"
AGENTS, REMOTE = 4, 2
"""How many agents have a server of their own, and how many come over HTTP."""
LIMITED = "agent-1"
"""The client whose calls may last for two seconds only."""
USER = "bob"
RECORDER = """#!/bin/sh
printf '%s %s\\n' "${{0##*/}}" "$1" >>"{folder}/now/ran"
"""
RUN, FREE, NEVER = "proof-run", "proof-free", "proof-never"
"""One program that notes what was run: what is asked for, what rules allow now and then, what they always deny."""
SETTINGS = {
    "max_open_asks": "1000000",
    "max_open_commands": "1000000",
    "command_grace": "200ms",
    "approve_timeout": "3s",
    "call_limits": f"{LIMITED}=2s",
    "form_reaction": "1ms",
    "claude_command": f"{sys.executable} {STAND_IN}",
    "most_runs": "100",
    "run_rest": "1ms",
}
_AGENT = """sh -c 'echo $$ >"$0"; exec "$@"' "$@"
exit $?
"""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a proof was told when it began: the same seed makes the same choices."""

    seed: int
    store: str = "sqlite"
    epoch_asks: int = 10_000
    asks_per_kill: int = 100
    talks: float = 0.03
    """How often somebody begins to talk instead of answering: each talk starts two programs."""


class Ground:
    """The folder of a proof."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = Told(**json.loads((folder / "told.json").read_text()))
        self.server = Server(folder / "postgres") if self.told.store == "postgres" else None
        store = {"store": self.server.address("sayso")} if self.server else {}
        relay = {"relay_dir": str(folder / "machine" / "relay")}
        self.place = Folders(folder / "machine", {**SETTINGS, **relay, **store})
        self.bin = self.place.folder / "bin"

    @classmethod
    def new(cls, folder: Path, told: Told) -> Ground:
        # PostgreSQL runs as somebody else where this is root's, and has to get through.
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        (folder / "told.json").write_text(json.dumps(asdict(told)))
        (folder / "machine").mkdir(mode=0o700)
        (folder / "epochs").mkdir(mode=0o700)
        ground = cls(folder)
        ground._set_up()
        return ground

    def _set_up(self) -> None:
        # Whoever only goes on with it does without.
        from tests.e2e.run.kit import background, waited_for, write_tool

        self.bin.mkdir()
        for name in (RUN, FREE, NEVER):
            program = self.bin / name
            program.write_text(RECORDER.format(folder=self.folder))
            program.chmod(0o700)
        (self.place.folder / "agent").write_text(_AGENT)
        background(self.place)
        waited_for(self.place)
        token = {"name": "token", "type": "string", "required": True}
        for name, fields in (("waited", {"synchronous": True}), ("later", {})):
            sub: dict[str, Any] = {"name": "default", "description": "Record.", "positional_args": [token], **fields}
            program = self.bin / RUN
            write_tool(
                self.place, name, command=str(program), schema_version=2, subcommand=[{**sub, "approve": "always"}]
            )
        for number in range(AGENTS):
            self.set_clock(number, 0)
        if self.server:
            self.server.folder.mkdir()
            self.server.create()
            self.server.start()
            self.server.make("sayso")
        self._make_known()
        if self.server:
            self.server.stop()

    def _make_known(self) -> None:
        """A person who signs in, and a token for agents."""
        store = open_store(self.place.config())
        try:
            accounts = Accounts(store)
            accounts.add_user(USER)
            session = accounts.redeem(accounts.make_link(USER))
            host, token = accounts.private_name(USER), accounts.add_token("remote", project="proof")
            project = Projects(store).add(USER, self.place.project, options=Options())
        finally:
            store.close()
        known = {"session": session, "token": token, "host": host, "port": lasting_port(), "project": project.id}
        file = self.folder / "known.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps(known))

    @cached_property
    def known(self) -> dict[str, Any]:
        """The secrets of the person and of the agents over HTTP, and where `sayso web` is."""
        read: dict[str, Any] = json.loads((self.folder / "known.json").read_text())
        return read

    @property
    def environment(self) -> dict[str, str]:
        env = self.place.environment
        return {**env, "PATH": os.pathsep.join([str(self.bin), env["PATH"]])}

    def clock(self, number: int) -> Path:
        return self.place.folder / f"clock{number}"

    def set_clock(self, number: int, ahead: int) -> None:
        with self.clock(number).open("wb") as file:
            file.write(struct.pack("q", ahead))

    @property
    def rules(self) -> Path:
        return self.place.home / ".config" / "sayso" / "rules.toml"

    # Epochs

    def epochs(self) -> list[Path]:
        return sorted((self.folder / "epochs").iterdir())

    def new_epoch(self) -> Path:
        number = int(self.epochs()[-1].name) + 1 if self.epochs() else 1
        epoch = self.folder / "epochs" / f"{number:06}"
        epoch.mkdir(mode=0o700)
        (epoch / "ran").touch(mode=0o600)
        now = self.folder / "now.new"
        now.symlink_to(epoch)
        now.rename(self.folder / "now")
        return epoch
