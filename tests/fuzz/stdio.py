"""A server on stdio under fire: junk goes in, and after each piece of it a plain request must be answered."""

from __future__ import annotations

import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Sequence

import psutil
from tests.e2e.stdio.harness import Place
from tests.e2e.stdio.log import Log

PATIENCE = 30.0
MEMORY = 48e6
"""Bytes that a server may take more in the end than when it had warmed up: pages of memory come back late, if ever."""


class Target:
    """One real server, as a client starts it."""

    def __init__(self, place: Place) -> None:
        self._log = Log()
        self._process = subprocess.Popen(
            place.command("sayso").argv,
            cwd=place.project,
            env=place.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log.writer,
            bufsize=0,
        )
        self._log.close_our_end()
        self._rest = b""
        self._checks = 0

    def fire(self, junk: Sequence[bytes]) -> None:
        """Send this, then something sensible, and hear the answer to that."""
        self._checks += 1
        check = {"jsonrpc": "2.0", "id": f"check {self._checks}", "method": "ping"}
        self._write([*junk, b"\n" + json.dumps(check).encode() + b"\n"], f'"check {self._checks}"'.encode())

    def memory(self) -> int:
        """What the server holds for itself."""
        server = psutil.Process(self._process.pid).children()[0]
        return int(server.memory_full_info().uss)

    def end(self) -> int:
        """Close our end: the exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        code = self._process.wait(PATIENCE)
        self._process.stdout.close()
        with self._log:
            log = self._log.whole()
        assert "Traceback" not in log, log
        return code

    def kill(self) -> None:
        for process in psutil.Process(self._process.pid).children():
            process.kill()
        self._process.wait(PATIENCE)

    def _write(self, pieces: Sequence[bytes], wanted: bytes) -> None:
        """Write and read at the same time: a client that only writes stops a server that answers."""
        assert self._process.stdin is not None
        writer = threading.Thread(target=_write_all, args=(self._process.stdin.fileno(), pieces), daemon=True)
        writer.start()
        deadline = time.monotonic() + PATIENCE
        while not self._heard(wanted):
            self._read(deadline)
        writer.join(PATIENCE)

    def _heard(self, wanted: bytes) -> bool:
        """Whether the answer to the check has come. Every line must be one JSON object."""
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0", line
        return any(wanted in line for line in lines)

    def _read(self, deadline: float) -> None:
        assert self._process.stdout is not None
        left = max(0.0, deadline - time.monotonic())
        assert select.select([self._process.stdout], [], [], left)[0], f"the server hangs:\n{self._log.text}"
        chunk = os.read(self._process.stdout.fileno(), 1 << 20)
        assert chunk, f"the server ended:\n{self._log.text}"
        self._rest += chunk


def _write_all(fd: int, pieces: Sequence[bytes]) -> None:
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(fd, rest) :]
