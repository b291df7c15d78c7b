"""What the SDK answers once more is dropped, what it answers first is kept, and what it answers otherwise is told."""

from __future__ import annotations

import json

from sayso.mcp_server.opening import Question
from sayso.mcp_server.replay import MOST_LINES, Replay

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tester", "version": "7"}}


def line(request_id: int, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode()


def answer(request_id: int, result: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":{request_id},"result":{result}}}\n'.encode()


class Session:
    """A replay that has heard a handshake and a request for the tools."""

    def __init__(self, *told: tuple[int, str]) -> None:
        self.kept: list[bytes] = []
        self.others = 0
        early = [(Question(number, ""), answer(number, result)) for number, result in told]
        self.replay = Replay(early, lambda _, result: self.kept.append(result))
        self.replay.on_other_answer = self._note
        self.replay.hear(line(1, "initialize", **HELLO))
        self.replay.hear(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        self.replay.hear(line(2, "tools/list"))

    def _note(self) -> None:
        self.others += 1


def test_an_answer_that_the_client_has_is_dropped_once() -> None:
    session = Session((1, "{}"), (2, '{"tools":[]}'))
    assert not session.replay.lets_pass(1, answer(1, "{}"))
    assert not session.replay.lets_pass(2, answer(2, '{"tools":[]}'))
    assert session.replay.lets_pass(2, answer(2, "{}"))
    assert (session.kept, session.others) == ([], 0)


def test_an_answer_that_nobody_gave_passes_and_is_kept() -> None:
    session = Session((1, "{}"))
    assert not session.replay.lets_pass(1, answer(1, "{}"))
    assert not session.replay.over
    assert session.replay.lets_pass(2, answer(2, '{"tools":[]}'))
    assert session.kept == [b'{"tools":[]}']
    assert session.replay.over


def test_an_error_passes_and_is_not_kept() -> None:
    session = Session()
    assert session.replay.lets_pass(2, b'{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}\n')
    assert session.kept == []


def test_a_client_that_was_told_otherwise_is_told_of_the_change_and_the_truth_is_kept() -> None:
    session = Session((1, "{}"), (2, '{"tools":["old"]}'))
    assert not session.replay.lets_pass(2, answer(2, '{"tools":["new"]}'))
    assert (session.kept, session.others) == ([b'{"tools":["new"]}'], 1)


def test_other_answers_pass_untouched() -> None:
    session = Session((1, "{}"))
    assert session.replay.lets_pass(3, answer(3, "{}"))
    assert session.replay.lets_pass(None, b"{}\n")
    assert session.kept == []


def test_a_client_that_never_asks_for_its_tools_is_not_followed_for_ever() -> None:
    replay = Replay()
    for _ in range(MOST_LINES + 1):
        assert not replay.over
        replay.hear(b'{"jsonrpc":"2.0","method":"notifications/progress"}')
    assert replay.over
