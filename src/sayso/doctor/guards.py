"""The servers of clients that are behind a guard: which they are, and whether their guard can be started."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from sayso.doctor.finding import Finding, fault, ok
from sayso.errors import CannotEdit
from sayso.install.guarding import GuardedEntry, guarded_in
from sayso.install.machine import Machine
from sayso.install.targets import TARGETS, Scope
from sayso.text import spelt_out


def guards(machine: Machine) -> Iterator[Finding]:
    for target in TARGETS:
        for scope in Scope:
            try:
                found = list(guarded_in(target, scope, machine)) if target.takes(scope) else []
            except CannotEdit:  # told with the client's own entry
                continue
            yield from (_finding(entry, scope, machine) for entry in found)


def _finding(entry: GuardedEntry, scope: Scope, machine: Machine) -> Finding:
    key, name, program = entry.target.key, spelt_out(entry.steps[-1]), entry.guard[-5]
    title = f"{entry.target.title} ({scope})"
    if shutil.which(program, path=machine.environ.get("PATH")):
        return ok(key, f"{title}: {name} is behind a gate")
    flag = " --project" if scope is Scope.PROJECT else ""
    again = f"sayso uninstall {key}{flag} --guard {name}, then sayso install {key}{flag} --guard {name}"
    return fault(key, f"{title}: the gate of {name} is {spelt_out(program)}, which is not there.", again)
