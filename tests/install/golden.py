"""The golden files of each client: how its configuration looks before and after.

`python -m tests.install.golden` writes what comes out now, to be looked at.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sayso.install.entry import ServerProgram
from sayso.install.ledger import Ledger
from sayso.install.machine import Machine
from sayso.install.registration import Registration
from sayso.install.targets import TARGETS, Scope, Target

GOLDEN = Path(__file__).parent / "golden"
SERVER = ServerProgram(name="sayso", command="/opt/sayso/bin/sayso")


def before(target: Target, start: str) -> bytes | None:
    """The file at the start; none where the client has never been given a server."""
    file = GOLDEN / target.key / f"{start}.before"
    return file.read_bytes() if file.exists() else None


def after(target: Target, start: str) -> bytes:
    return (GOLDEN / target.key / f"{start}.after").read_bytes()


def machine(folder: Path) -> Machine:
    """A machine without any client's own command."""
    (folder / "project").mkdir()
    return Machine(home=folder, project=folder / "project", system="linux", environ={"PATH": ""})


def registration(
    target: Target, on: Machine, scope: Scope = Scope.USER, server: ServerProgram = SERVER
) -> Registration:
    return Registration(target=target, scope=scope, machine=on, server=server)


def main() -> None:
    for target in TARGETS:
        for start in ("empty", "ordinary"):
            with tempfile.TemporaryDirectory() as folder:
                piece = registration(target, machine(Path(folder)))
                if (data := before(target, start)) is not None:
                    piece.part.path.parent.mkdir(parents=True, exist_ok=True)
                    piece.part.path.write_bytes(data)
                piece.add(Ledger(Path(folder) / "ledger.json"))
                (GOLDEN / target.key / f"{start}.after").write_bytes(piece.part.path.read_bytes())


if __name__ == "__main__":
    main()
