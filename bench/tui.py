"""How quick the terminal inbox is, in a real terminal, beside a bare Textual app that shows one line.

Every figure is also a ratio to the bare app's on the same machine in the same minutes, so that machines can be
compared. Usage: python -m bench.tui
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from bench.tables import ratio, setting, table

from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker, Kind, NewAsk, Option, Question
from sayso.config import load
from sayso.records import replace
from sayso.store import open_store

ROUNDS = 7
KEYS = 30
PENDING = 1_000
AGENTS = 30
LOOKED_FOR = ("407", "318", "256", "189")
"""What the filter is given. Each digit that is typed or taken back brings another question to the top."""
CALM = 0.02
"""Seconds of a processor in one second: not much is being done."""
IDLE_SECONDS = 5.0
WAIT = 60.0

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    count = 0
    def compose(self):
        yield Static("bare is ready")
    def on_key(self, event):
        self.count += 1
        self.query_one(Static).update(f"bare has seen {self.count}")
Bare().run()
"""
SAYSO = "from sayso.cli import main; main()"


class Pty:
    """A program on a terminal of its own; what it writes is read as it comes."""

    def __init__(self, code: str, environment: dict[str, str]) -> None:
        self.began = time.perf_counter()
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.execve(sys.executable, [sys.executable, "-c", code], environment)
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def until(self, *wanted: bytes) -> float:
        """The moment when all of this had been written."""
        seen, limit = bytearray(), time.perf_counter() + WAIT
        while time.perf_counter() < limit:
            if select.select([self._end], [], [], 1.0)[0]:
                seen += os.read(self._end, 65536)
                if all(part in seen for part in wanted):
                    return time.perf_counter()
        raise TimeoutError(f"{wanted!r} was not written: {bytes(seen[-500:])!r}")

    def type(self, key: bytes) -> None:
        os.write(self._end, key)

    def press(self, key: bytes, *wanted: bytes) -> float:
        """Seconds from a key to its effect on the screen."""
        self.rest()
        began = time.perf_counter()
        self.type(key)
        return self.until(*wanted) - began

    def rest(self) -> None:
        """Read on until nothing comes any more."""
        while select.select([self._end], [], [], 0.15)[0]:
            os.read(self._end, 65536)

    def idle_cpu(self) -> float:
        """Part of a processor that it uses while nothing happens, once it has done what it put off."""
        self.rest()
        limit = time.perf_counter() + WAIT
        while self._cpu_during(1.0) > CALM and time.perf_counter() < limit:
            pass
        return self._cpu_during(IDLE_SECONDS) / IDLE_SECONDS

    def _cpu_during(self, seconds: float) -> float:
        """Seconds of a processor that it uses in this time."""
        process = psutil.Process(self.pid)
        before = process.cpu_times()
        limit = time.perf_counter() + seconds
        while (left := limit - time.perf_counter()) > 0:
            if select.select([self._end], [], [], left)[0]:
                os.read(self._end, 65536)
        after = process.cpu_times()
        return max(0.0, after.user + after.system - before.user - before.system)

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._end)


def start_seconds(code: str, environment: dict[str, str], *wanted: bytes) -> float:
    program = Pty(code, environment)
    try:
        return program.until(*wanted) - program.began
    finally:
        program.close()


def bare_figures(environment: dict[str, str]) -> tuple[list[float], float]:
    """Key presses to redraw, and idle use, of the bare app."""
    program = Pty(BARE, environment)
    try:
        program.until(b"bare is ready")
        keys = [program.press(b"x", f"seen {number}".encode()) for number in range(1, KEYS + 1)]
        return keys, program.idle_cpu()
    finally:
        program.close()


def of_many_agents(desk: AskDesk) -> None:
    """As many asks as there are, of so many agents: each of these is one row that opens."""
    for number in range(PENDING):
        name = f"agent-{number % AGENTS:02}"
        asker = Asker(client=name, project=f"/{name}", host="h", pid=1 + number % AGENTS, started="1")
        desk.leave(replace(asked(number), asker=asker))


def crowded_figures(environment: dict[str, str]) -> dict[str, float]:
    """What an inbox takes that many agents have filled before it is opened, in a store of its own."""
    environment = {**environment, "SAYSO_STATE_DIR": f"{environment['HOME']}/crowded"}
    store = open_store(load(environ=environment, cwd=Path(environment["HOME"])))
    of_many_agents(AskDesk(store))
    store.close()
    starts, keys = [], []
    for _ in range(ROUNDS):
        program = Pty(SAYSO, environment)
        try:
            starts.append(program.until(b"[+]") - program.began)
            program.rest()
            keys += [program.press(b"\x1b[B", b"> ") for _ in range(3)]
        finally:
            program.close()
    many = f"{PENDING:,} of {AGENTS} agents"
    return {f"start, {many}": statistics.median(starts), f"key to redraw, {many}": statistics.median(keys)}


def frames(environment: dict[str, str]) -> dict[str, list[float]]:
    """Each key to what it brings about, of an inbox with many questions that is scrolled and filtered."""
    environment = {**environment, "SAYSO_STATE_DIR": f"{environment['HOME']}/long"}
    store = open_store(load(environ=environment, cwd=Path(environment["HOME"])))
    desk = AskDesk(store)
    for number in range(PENDING):
        desk.leave(asked(number))
    store.close()
    program = Pty(SAYSO, environment)
    try:
        program.until(_newest_with(""))
        program.idle_cpu()
        pages = [program.press(b"\x1b[6~", b"> ") for _ in range(KEYS)]
        program.press(b"\x1b[H", _newest_with(""))
        letters = [program.press(b"/", b"words in project")]
        for word in LOOKED_FOR:
            steps = [(word[at - 1], word[:at]) for at in range(1, len(word) + 1)]
            steps += [("\x7f", word[:at]) for at in reversed(range(len(word)))]
            letters += [program.press(key.encode(), _newest_with(typed)) for key, typed in steps]
        return {"Page Down": pages, "letter of a filter": letters}
    finally:
        program.close()


def _newest_with(digits: str) -> bytes:
    """The question that is at the top where these are looked for."""
    return next(name for number in reversed(range(PENDING)) if digits.encode() in (name := b"Question %04d?" % number))


def asked(number: int) -> NewAsk:
    options = (Option(id="a", label="First"), Option(id="b", label="Second", recommended=True))
    question = Question(id="q", text=f"Question {number:04}?", kind=Kind.SELECT, options=options)
    return NewAsk(tool="ask_user", questions=(question,), asker=Asker(client="bench", project="/p", host="h"))


def inbox_figures(environment: dict[str, str], desk: AskDesk) -> dict[str, float]:
    """What the inbox takes with few and with many asks."""
    program = Pty(SAYSO, environment)
    try:
        program.until(b"No questions.")
        figures = {"idle, empty": program.idle_cpu(), "ask to visible": _ask_to_visible(program, desk, 0)}
        for number in range(100, PENDING):
            desk.leave(asked(number))
        program.rest()
        figures["ask to visible, 1,000 pending"] = _ask_to_visible(program, desk, PENDING)
        figures["key to redraw, 1,000 pending"] = statistics.median(_keys(program))
        figures["idle, 1,000 pending"] = program.idle_cpu()
        return figures
    finally:
        program.close()


def _ask_to_visible(program: Pty, desk: AskDesk, first: int) -> float:
    """From the moment before an agent asks to the question on the screen."""
    found = []
    for number in range(first, first + KEYS):
        # The list stays where one reads it; at its top, what is new comes into view.
        program.type(b"\x1b[H")
        program.rest()
        began = time.perf_counter()
        desk.hold(replace(asked(number)))
        found.append(program.until(f"Question {number:04}?".encode()) - began)
    return statistics.median(found)


def _keys(program: Pty) -> list[float]:
    """One row down each: the cursor's sign is redrawn."""
    return [program.press(b"\x1b[B", b"> ") for _ in range(KEYS)]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sayso-bench-", dir="/tmp") as folder:
        environment = {
            "HOME": folder,
            "PATH": os.environ.get("PATH", os.defpath),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "SAYSO_STATE_DIR": str(Path(folder) / "state"),
            "SAYSO_TERMINAL_NOTIFY": "off",
        }
        store = open_store(load(environ=environment, cwd=Path(folder)))
        measure(environment, AskDesk(store))
        store.close()


def measure(environment: dict[str, str], desk: AskDesk) -> None:
    starts = _interleaved(
        lambda: start_seconds(BARE, environment, b"bare is ready"),
        lambda: start_seconds(SAYSO, environment, b"No questions."),
    )
    bare_keys, bare_idle = bare_figures(environment)
    bare_key = statistics.median(bare_keys)
    figures = inbox_figures(environment, desk)
    opened = crowded_figures(environment)
    rows = [_row("start to first screen", starts[1], starts[0])]
    rows += [_row(name, taken, starts[0] if "start" in name else bare_key) for name, taken in opened.items()]
    for name in ("ask to visible", "ask to visible, 1,000 pending", "key to redraw, 1,000 pending"):
        rows.append(_row(name, figures[name], bare_key))
    for name, taken in frames(environment).items():
        rows.append(_row(f"{name}, {PENDING:,} pending", statistics.median(taken), bare_key))
        rows.append(_row(f"{name}, the longest of {len(taken)}", max(taken), max(bare_keys)))
    for name in ("idle, empty", "idle, 1,000 pending"):
        rows.append([name, f"{figures[name]:.2%}", f"{bare_idle:.2%}", "-"])
    print(f"{setting()}\n\n{table(['', 'Sayso', 'bare app', 'ratio'], rows)}\n")
    print("The bare app's figure beside asks and keys is its own key press to redraw, beside the longest its longest")
    print(f"of {KEYS}; idle is the share of one core.")


def _interleaved(*measures: Callable[[], float]) -> Sequence[float]:
    """The median of each, measured in turns so that a busy minute is shared by all."""
    found = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*found, strict=True)]


def _row(name: str, ours: float, bare: float) -> list[str]:
    return [name, f"{ours * 1000:.1f} ms", f"{bare * 1000:.1f} ms", ratio(ours, bare)]


if __name__ == "__main__":
    main()
