"""What an operation's folder says of its process, and what any process may do about it: look, wait, cancel.

The runner alone writes the folder. Nothing here needs the server that started the command.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Literal

from sayso import process_table
from sayso.records import record
from sayso.running import record as files
from sayso.running import tree
from sayso.running.capture import STREAMS
from sayso.running.record import NOT_WHOLE, RUNNER_FILE, STATUS_FILE

Reason = Literal["exit", "cancelled", "timed_out", "spawn_failed", "lost"]

LONG_SECONDS = 3600.0


@record
class Captured:
    """What came of one stream: bytes seen and bytes kept, and why storing stopped, if it had to."""

    seen: int = 0
    kept: int = 0
    fault: str = ""

    @property
    def cut(self) -> int:
        """Bytes that were seen but are not on disk."""
        return self.seen - self.kept


@record
class Status:
    """How a command ended. `signal` is set when a signal ended it; both it and `exit_code` are None if it never ran."""

    reason: Reason
    exit_code: int | None = None
    signal: int | None = None
    text: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    stdout: Captured = Captured()
    stderr: Captured = Captured()
    survivors: tuple[int, ...] = ()

    @property
    def ended_with(self) -> str:
        """Its exit code or the signal that ended it, in words; empty if it never ran."""
        if self.signal is not None:
            return f"signal {self.signal}"
        return f"exit code {self.exit_code}" if self.exit_code is not None else ""

    @property
    def never_ran(self) -> bool:
        """Whether it ended without having run, as far as its status says."""
        return self.reason in ("cancelled", "spawn_failed") and not self.ended_with

    @property
    def refused(self) -> bool:
        """Whether its runner found that it is not what was allowed."""
        return self.reason == "cancelled" and bool(self.text)

    @property
    def signal_name(self) -> str:
        """Such as SIGKILL; empty where no signal ended it, or one without a name."""
        from signal import Signals

        return Signals(self.signal).name if self.signal in set(Signals) else ""

    def captured(self, stream: str) -> Captured:
        return {"stdout": self.stdout, "stderr": self.stderr}[stream]


@record
class RunnerName:
    """Which process runs the command: pid and start time name it for ever; its command's group, and the tree's mark."""

    pid: int
    started: str
    mark: str
    group: int = 0


@record
class DetachedProcess:
    """A process that outlives its server, as the store knows it. Times are milliseconds since 1970."""

    id: str
    host: str
    process: str
    """The process of Sayso that sees it through."""
    folder: Path
    """Where its runner leaves what it prints."""
    changed_at: int
    version: int = 1
    ended_at: int | None = None


def parse_status(text: bytes) -> Status:
    """A Status from what the runner wrote."""
    fields: dict[str, Any] = json.loads(text)
    for stream in STREAMS:
        fields[stream] = Captured(**fields.get(stream, {}))
    fields["survivors"] = tuple(fields["survivors"])
    return Status(**fields)


def read_status(folder: Path) -> Status | None:
    """How the command ended, or None while it has not."""
    try:
        return parse_status((folder / STATUS_FILE).read_bytes())
    except (FileNotFoundError, *NOT_WHOLE):
        return None


def read_runner(folder: Path) -> RunnerName | None:
    """Who runs the command, or None when it never started, or nobody can tell any more."""
    mark = tree.mark_of(str(folder))
    try:
        runner = RunnerName(**{"mark": mark, **json.loads(files.read_runner(str(folder)))})
    except (FileNotFoundError, *NOT_WHOLE):
        return None
    return None if runner.mark not in ("", mark) and _is_copied(folder, runner.mark) else runner


def _is_copied(folder: Path, mark: str) -> bool:
    """Whether this is a copy of the folder that the mark names, which is still there: its runner works for that one."""
    try:
        return not folder.samefile(mark)
    except OSError:
        return False


def has_begun(folder: Path) -> bool:
    """Whether a command was executed, however it ended: its runner names itself once it has started it."""
    return os.path.lexists(folder / RUNNER_FILE)


def is_running(folder: Path) -> bool:
    """Whether the command's runner is still at work."""
    runner = _at_work(folder)
    return runner is not None and process_table.is_running(runner.pid, runner.started)


def cancel(folder: Path) -> bool:
    """Tell the runner to end the command and all that descends from it; False when there is no runner to tell."""
    runner = _at_work(folder)
    return runner is not None and tree.terminate(runner.pid, runner.started)


def freeze(folder: Path) -> bool:
    """Halt the command and all that descends from it; says whether none of them can do anything now."""
    runner = _at_work(folder)
    return runner is None or tree.freeze(lambda: _run_by(runner))


def wait(folder: Path, timeout: float) -> Status | None:
    """How the command ended, as soon as it has; None when it still runs after `timeout` seconds."""
    runner = _at_work(folder)
    if runner and not tree.wait_gone(runner.pid, runner.started, timeout):
        return None
    return _end_of(folder)


def _at_work(folder: Path) -> RunnerName | None:
    """The runner, unless it has said how the command ended and is only leaving."""
    return None if (folder / STATUS_FILE).exists() else read_runner(folder)


def await_end(folder: Path) -> Status:
    """How the command ended, as soon as it has. Endless on purpose: it lasts as long as the command may."""
    while (status := wait(folder, LONG_SECONDS)) is None:
        pass
    return status


def _end_of(folder: Path) -> Status:
    """How the command of a runner that is gone ended; what a killed runner left behind is ended here."""
    status = read_status(folder)
    if status:
        return status
    text = "The runner of this command ended without a status: it was killed, or the machine was restarted."
    return Status(reason="lost", text=text, ended_at=time.time(), survivors=end_leftovers(folder))


def end_leftovers(folder: Path) -> tuple[int, ...]:
    """End what a runner that is gone left behind, also one that had not named itself yet; the pids of what cannot be
    ended."""
    if not folder.is_dir():
        return ()  # nothing was ever begun, and looking at all processes takes its time
    from sayso.running.command import KILL_ROUND_SECONDS, KILL_SECONDS  # few runners leave anything

    def found() -> list[process_table.Process]:
        # What comes before the command has a runner of its own, in a folder below, which may still be there.
        read = map(read_runner, (folder, *_folders_in(folder)))
        runners, mark = [runner for runner in read if runner], tree.mark_of(str(folder))
        # Marks of folders below begin with this one. Only those that earlier versions gave do not.
        marks = [mark, *(runner.mark for runner in runners if not runner.mark.startswith(mark))]
        below = [process for runner in runners for process in _below(runner)]
        return below + [process for each in marks for process in _marked(each)]

    tree.freeze(found)
    give_up = time.monotonic() + KILL_SECONDS
    while left := found():
        if time.monotonic() > give_up:
            return tuple(process.pid for process in left)
        tree.kill(left)
        for process in left:
            tree.wait_gone(process.pid, process.started, KILL_ROUND_SECONDS)
    return ()


def _folders_in(folder: Path) -> list[Path]:
    try:
        return [each for each in folder.iterdir() if each.is_dir()]
    except FileNotFoundError:
        return []  # another process has cleared away after it meanwhile


def _run_by(runner: RunnerName) -> list[process_table.Process]:
    """The command and what descends from it, whether its runner is still there or not."""
    return _below(runner) + _marked(runner.mark)


def _below(runner: RunnerName) -> list[process_table.Process]:
    if process_table.is_running(runner.pid, runner.started):
        return tree.descendants(runner.pid)
    return _with_descendants(_of_its_group(runner))


def _marked(mark: str) -> list[process_table.Process]:
    return _with_descendants(tree.marked(mark))


def _of_its_group(runner: RunnerName) -> list[process_table.Process]:
    """Those that the command has started in its own group, with or without the mark. The numbers of a session and of a
    group are not given away while either has anybody; both together name no other's."""
    there = process_table.find(runner.pid)
    if there and there.started != runner.started:
        return []
    group = [each for each in process_table.everyone() if each.group == runner.group and not each.zombie]
    return [each for each in group if _session(each.pid) == runner.pid]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _with_descendants(found: list[process_table.Process]) -> list[process_table.Process]:
    return found + [child for process in found for child in tree.descendants(process.pid)]
