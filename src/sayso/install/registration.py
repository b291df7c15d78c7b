"""Registering Sayso with a client: by the client's own command where it is there, else in the client's file."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.install import entry, files
from sayso.install.entry import Registered, ServerProgram
from sayso.install.ledger import Ledger
from sayso.install.machine import Machine
from sayso.install.notation import at, parsed, with_entry, without_entry
from sayso.install.part import Done, PartPreview, about, add, begin, finish, look, take_back, write_in
from sayso.install.targets import OwnCommand, Scope, Target

PATIENCE = 60.0
"""Seconds that a client's own command may take."""


@dataclass(frozen=True, kw_only=True)
class EntryPart:
    """Sayso's entry in a client's file."""

    target: Target
    path: Path
    server: ServerProgram

    @property
    def steps(self) -> tuple[str, ...]:
        return (*self.target.table, self.server.name)

    def wanted(self) -> dict[str, Any]:
        return entry.written(self.target.shape, self.server, self.target.known_as)

    def found(self, text: str) -> Any:
        return at(parsed(self.target.notation, text), self.steps)

    def is_in(self, text: str) -> bool:
        return self.found(text) is not None

    def added(self, text: str) -> str:
        found = self.found(text)
        if entry.is_there(found, self.wanted()):
            return text
        return with_entry(self.target.notation, text, self.steps, entry.merged(found, self.wanted()))

    def removed(self, text: str, made: int) -> str:
        return without_entry(self.target.notation, text, self.steps, made)

    def makes(self, text: str) -> int:
        data = parsed(self.target.notation, text)
        return sum(at(data, self.steps[:length]) is None for length in range(1, len(self.steps)))


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One client in one scope, on this machine."""

    target: Target
    scope: Scope
    machine: Machine
    server: ServerProgram

    @property
    def part(self) -> EntryPart:
        file = self.target.file(self.machine, self.scope)
        return EntryPart(target=self.target, path=file, server=self.server)

    @property
    def own(self) -> OwnCommand | None:
        """The client's own command, where it can do this here."""
        own = self.target.own
        return own if own and self.scope in own.scopes and self.machine.which(own.program) else None

    def own_words(self) -> list[str]:
        assert self.own is not None
        return self.own.add(self.server, self.scope, self._env())

    def look(self) -> PartPreview:
        return look(self.part)

    def add(self, ledger: Ledger) -> Done:
        """Register. What the client's own command cannot say, such as the time limit, is added to the file."""
        seen = self.look()
        if not seen.is_needed or not self.own:
            return add(self.part, ledger)
        with about(self.part.path):
            note = begin(self.part, seen, ledger)
        if seen.was_in:
            self._run(self.own.remove(self.server, self.scope, {}))
        self._run(self.own_words())
        write_in(self.part)
        ledger.put(self.part.path, finish(note, self.part.path))
        return Done.CHANGED if seen.was_in else Done.ADDED

    def remove(self, ledger: Ledger) -> Done:
        """Take the entry back: the file as it was, or the client's own command, or our entry cut out."""
        if self.own and not self._is_as_we_left_it(ledger) and self.look().was_in:
            self._run(self.own.remove(self.server, self.scope, {}))
            took = take_back(self.part, ledger)
            return Done.REMOVED if took is Done.ABSENT else took
        return take_back(self.part, ledger)

    def registered(self) -> Registered | None:
        """What the client's file says; CannotEdit where it cannot be read."""
        with about(self.part.path):
            text = files.as_text(files.content(self.part.path)).removeprefix(files.BOM)
            return entry.read_back(self.target.shape, self.server.name, self.part.found(text))

    def _is_as_we_left_it(self, ledger: Ledger) -> bool:
        record = ledger.get(self.part.path)
        return record is not None and record.after == files.fingerprint(files.content(self.part.path))

    def _env(self) -> dict[str, str]:
        return entry.environment(self.target.shape, self.server, self.target.known_as)

    def _run(self, words: Sequence[str]) -> None:
        """Run the client's command. Whatever comes of it, the file is checked afterwards and corrected."""
        program = self.machine.which(words[0])
        assert program is not None
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [program, *words[1:]],
                cwd=self.machine.project,
                env=dict(self.machine.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
