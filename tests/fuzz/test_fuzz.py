"""Whatever is sent, nothing crashes, hangs or grows, and what makes sense is answered afterwards.
`python -m tests.fuzz` goes on for longer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.e2e.stdio.harness import Place, new_place
from tests.fuzz import early, inside, junk, stdio, web

from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
BROKEN, BULK = 300, 50_000
"""Connections that break, and bytes that come with the request on each."""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with new_place(ask_timeout="1s", ask_user_timeout="30s", log_level="error") as place:
        yield place


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[stdio.Target]:
    target = stdio.Target(place)
    yield target
    assert target.end() == 0


@pytest.fixture(scope="module")
def site() -> Iterator[web.Target]:
    # Not where the server on stdio is: whoever started that is an agent there, and may not serve the page.
    with new_place(ask_timeout="1s", ask_user_timeout="30s", log_level="error") as place:
        target = web.Target(place)
        yield target
        target.end()


@settings(max_examples=60, suppress_health_check=SLOW)
@given(junk.pieces())
def test_a_server_on_stdio_answers_after_any_junk(server: stdio.Target, sent: list[bytes]) -> None:
    server.fire(sent)


def test_a_notification_that_looks_like_a_request_is_passed_over(server: stdio.Target) -> None:
    """That nothing was logged of it is seen when the server ends."""
    for told in (
        b'{"method":"tools/call","params":{"name":"ask_user","requestState":5}}',
        b'{"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
    ):
        server.fire([b'{"jsonrpc":"2.0",' + told[1:] + b"\n"])


@settings(max_examples=80, suppress_health_check=SLOW)
@given(junk.pieces())
def test_the_first_answers_of_a_server_are_whole_and_the_rest_is_left_as_it_came(sent: list[bytes]) -> None:
    early.fire(sent)


def test_a_greeting_at_the_very_depth_that_python_can_follow_is_answered() -> None:
    """Some depths can just be read, but not told apart any more."""
    for depth in range(900, 1000):
        nest = b'{"a":' * depth + b"1" + b"}" * depth
        early.fire([b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":' + nest + b"}\n"])


@settings(max_examples=60, suppress_health_check=SLOW)
@given(web.shots())
def test_a_web_server_is_well_after_any_request(site: web.Target, shot: web.Shot) -> None:
    site.fire(shot)


def test_connections_that_break_leave_nothing_behind_in_a_web_server(site: web.Target) -> None:
    """Whatever came with a request is gone with its connection, not a while later."""
    request = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: x=" + b"x" * BULK + b"\r\n\r\n"
    for _ in range(BROKEN):
        site.break_off(request)
    before = site.memory()
    for _ in range(BROKEN):
        site.break_off(request)
    assert site.health() == 200
    assert site.memory() - before < BROKEN * BULK / 4


@settings(max_examples=40, suppress_health_check=SLOW)
@given(inside.tool_files())
def test_any_tool_file_is_a_tool_or_named_faults_and_read_alike_in_both_ways(
    example: tuple[str, dict[str, object]],
) -> None:
    inside.read_tool_file(example)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(inside.streams())
def test_whatever_agents_print_is_understood_or_passed_over(example: tuple[list[Any], list[Any], list[Any]]) -> None:
    inside.hear(example)


def test_nothing_that_a_client_hands_to_its_hook_is_allowed_unless_a_rule_says_so(tmp_path: Path) -> None:
    with inside.hooks(tmp_path) as hand_over:

        @settings(max_examples=60, suppress_health_check=SLOW)
        @given(inside.events())
        def check(example: tuple[str, Any]) -> None:
            hand_over(example)

        check()


@pytest.mark.parametrize("text", inside.RULES)
def test_the_rules_that_are_spoilt_are_sound_before(text: str) -> None:
    assert read_rules(text.encode(), Path("rules.toml"), RuleLevel.PERSON).faults == ()
