"""The measuring programs start what they measure: a change of ours must not leave them with nothing to measure."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from bench import commands, web


def test_the_server_whose_commands_are_measured_runs_its_tool() -> None:
    measured = asyncio.run(commands.end_to_end(1))
    assert {way: len(runs) for way, runs in measured.items()} == dict.fromkeys(measured, 1)


def test_the_page_that_is_measured_listens_where_it_says(tmp_path: Path) -> None:
    with web.sayso_web(tmp_path) as (_, _, port):
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
