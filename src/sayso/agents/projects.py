"""The projects in which the web page may start agents: registered from the command line of their machine, or from the
page where its owner has allowed a folder for that (`project_places.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sayso.agents import rows
from sayso.agents.acp import PROGRAMS
from sayso.agents.model import LONGEST_WAIT, SHORTEST_WAIT, Options, Project
from sayso.clock import now_ms
from sayso.errors import InvalidInput, NotFound, Problem
from sayso.processes import this_host
from sayso.store import Store, Transaction


class Projects:
    """The projects of one machine in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._host = this_host()

    def add(self, owner: str, directory: Path, *, name: str = "", options: Options) -> Project:
        """Register a directory for its owner, or change the options it was registered with."""
        _check(directory, options)
        place = {"owner": owner, "host": self._host, "directory": str(directory)}

        def work(tx: Transaction) -> Project:
            kept = json.dumps(rows.options_data(options))
            tx.run("add_project", **place, name=name or directory.name or str(directory), options=kept, now=now_ms())
            row = tx.one("project_at", **place)
            assert row is not None
            return rows.read_project(row)

        return self._store.write(work)

    def add_new(self, owner: str, directory: Path, *, options: Options) -> Project:
        """Register a directory that is no project of theirs; how agents run in one that is, stays as it is."""
        for known in self.all(owner):
            if known.directory == directory and known.options == options:
                return known  # added by a press of before, of which no reply came
            if known.directory == directory:
                text = f"is {str(directory)!r}, which is your project {known.name!r} already. Choose another."
                raise InvalidInput([Problem(path="folder", text=text)])
        return self.add(owner, directory, options=options)

    def all(self, owner: str | None = None) -> list[Project]:
        """The projects on this machine, of one owner or of everyone."""
        found = self._store.all("projects", host=self._host, owner=owner)
        return [rows.read_project(row) for row in found]

    def of(self, owner: str, project_id: int) -> Project:
        """A project that this user may use here. Those of others are not found, as if they were not there."""
        for project in self.all(owner):
            if project.id == project_id:
                return project
        raise NotFound(f"There is no project {project_id} of yours here. `sayso project list` shows them.")

    def remove(self, project_id: int) -> None:
        """Let no more agents be started in it. Its conversations stay until they are old."""
        if not self._store.write(lambda tx: tx.run("remove_project", id=project_id, now=now_ms())):
            raise NotFound(f"There is no project {project_id}. `sayso project list` shows them.")


def _check(directory: Path, options: Options) -> None:
    problems = []
    if not directory.is_dir():
        problems.append(Problem(path="directory", text=f"{str(directory)!r} is not an existing directory."))
    wait = options.ask_user_timeout
    if wait is not None and not SHORTEST_WAIT <= wait <= LONGEST_WAIT:
        text = f"is {wait}; it must be from {SHORTEST_WAIT} to {LONGEST_WAIT} seconds."
        problems.append(Problem(path="ask_user_timeout", text=text))
    problems += _check_agent(options)
    if problems:
        raise InvalidInput(problems)


def _check_agent(options: Options) -> Iterator[Problem]:
    program = PROGRAMS.get(options.agent)
    if program is None:
        if options.command:
            text = f"is only for agents that speak ACP. For {options.agent}, set {options.agent}_command."
            yield Problem(path="command", text=text)
        return
    if not options.command and not program.command:
        yield Problem(path="command", text="is missing. Say what starts the agent, such as 'gemini --acp'.")
    known = [mode for mode in program.modes if mode]
    if options.permission_mode and known and options.permission_mode not in known:
        text = f"is {options.permission_mode!r}; {program.label} has {', '.join(known)}."
        yield Problem(path="permission_mode", text=text)
