"""The measuring programs start what they measure: a change of ours must not leave them with nothing to measure."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from bench import commands, talk_crowd, web


def test_the_server_whose_commands_are_measured_runs_its_tool() -> None:
    measured = commands.end_to_end(1)
    assert {way: len(runs) for way, runs in measured.items()} == dict.fromkeys(measured, 1)


def test_the_page_that_is_measured_listens_where_it_says(tmp_path: Path) -> None:
    with web.sayso_web(tmp_path) as (_, _, port):
        socket.create_connection(("127.0.0.1", port), timeout=30).close()


def test_every_line_of_every_agent_of_a_crowd_is_measured_on_its_way_to_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(talk_crowd, "SETTLE", 0.0)
    monkeypatch.setattr(talk_crowd, "PACE", 0.01)
    crowd = talk_crowd.Crowd(conversations=2, lines=3)
    measured = talk_crowd.measure(crowd, rounds=1)
    assert {name: len(figures.late_ms) for name, figures in measured.items()} == {"bare stream": 6, "Sayso": 6}
    assert measured["Sayso"].runners_mb >= 0
    assert "| a line to the event stream, Sayso" in talk_crowd.shown(crowd, measured)
