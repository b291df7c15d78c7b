"""Commands as an agent's server has them on a store, for tests of what people see: this process sees them through, and
prints for them."""

from __future__ import annotations

from pathlib import Path

from sayso.asks.model import Asker
from sayso.clock import Clock, now_ms
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import NewOperation, Operation, new_id, step_id
from sayso.records import replace
from sayso.running.folder import Captured, Status
from sayso.store import Store

AGENT = Asker(client="claude-code", project="/home/ada/shop", host="buildbox")


class Works:
    """Opens, prints, ends."""

    def __init__(self, store: Store, folders: Path, clock: Clock = now_ms) -> None:
        self.desk = OperationDesk(store, folders, clock=clock)

    def run(self, *argv: str, tool: str = "npm_build", asker: Asker = AGENT, printed: str = "") -> Operation:
        """A command that runs and has printed this so far."""
        new = NewOperation(id=new_id(), tool=tool, argv=argv, cwd="/home/ada/shop", asker=asker)
        operation = self.desk.open_running(new)
        operation.folder.mkdir(parents=True)
        self.print(operation, printed)
        return operation

    def step(self, sequence: Operation, number: int, *argv: str, printed: str = "") -> Operation:
        new = NewOperation(
            id=step_id(sequence.id, number),
            tool=f"{sequence.tool}_{number}",
            argv=argv,
            cwd="/home/ada/shop",
            asker=sequence.asker,
            parent=sequence.id,
        )
        operation = self.desk.open_running(new)
        operation.folder.mkdir(parents=True)
        self.print(operation, printed)
        return operation

    def print(self, operation: Operation, text: str, stream: str = "stdout") -> None:
        with (operation.folder / stream).open("ab") as file:
            file.write(text.encode(errors="surrogateescape"))

    def end(self, operation: Operation, exit_code: int = 0, *, reason: str = "exit", text: str = "") -> Operation:
        sizes = {
            stream: Captured(seen=size, kept=size)
            for stream in ("stdout", "stderr")
            for size in [(operation.folder / stream).stat().st_size if (operation.folder / stream).exists() else 0]
        }
        status = Status(reason="exit", exit_code=exit_code, text=text)
        return self.desk.end(operation.id, replace(status, reason=reason, **sizes))

    def tidy(self) -> None:
        """End what a test has left running."""
        for operation in self.desk.under_way(most=1000):
            self.desk.end(operation.id, Status(reason="lost"))
