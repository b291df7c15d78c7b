"""What `sayso install --list` shows: every client that Sayso knows, and what each has of it on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sayso.cli.connecting import this_server
from sayso.cli.terminal import put, put_json, table
from sayso.cli.texts import mark, tr
from sayso.doctor.connections import gate_command
from sayso.errors import CannotEdit
from sayso.install.machine import Machine
from sayso.install.registration import Registration
from sayso.install.targets import Scope, Target

HEADER = (mark("client"), mark("here"), mark("connected"), mark("prompts in your inbox"))
_BESIDE, _AWAY = mark("beside its own"), mark("while you are away")


def clients_here(machine: Machine, targets: Sequence[Target]) -> list[dict[str, Any]]:
    """`program_found` is None for a client that can be here without one on PATH, `prompts` for one whose own
    prompts cannot be brought into the inbox."""
    return [
        {
            "client": target.key,
            "here": target.is_used(machine),
            "program_found": None if target.is_an_app or not target.programs else not target.lacks_program(machine),
            "connected": _is_connected(target, machine),
            "prompts": gate_command(target, machine) is not None if target.gate else None,
        }
        for target in targets
    ]


def put_clients(machine: Machine, targets: Sequence[Target]) -> None:
    rows = [
        (found["client"], *_here_and_connected(found), _prompts(target, found["prompts"]))
        for target, found in zip(targets, clients_here(machine, targets), strict=True)
    ]
    put(table(HEADER, rows))


def put_clients_as_json(machine: Machine, targets: Sequence[Target]) -> None:
    put_json({"clients": clients_here(machine, targets)})


def _is_connected(target: Target, machine: Machine) -> bool | None:
    """None where its file cannot be read."""
    try:
        piece = Registration(target=target, scope=Scope.USER, machine=machine, server=this_server())
        registered = piece.registered()
    except CannotEdit:
        return None
    return registered is not None and not registered.is_disabled


def _here_and_connected(found: Mapping[str, Any]) -> tuple[str, str]:
    if found["connected"] and found["program_found"] is False:
        return "", tr("entry written, program not found")
    return _yes(found["here"]), _yes(found["connected"])


def _yes(value: bool | None) -> str:
    return "?" if value is None else tr("yes") if value else ""


def _prompts(target: Target, is_there: bool | None) -> str:
    if not target.gate:
        return "-"
    return tr(_BESIDE if target.gate.stays_open else _AWAY) if is_there else ""
