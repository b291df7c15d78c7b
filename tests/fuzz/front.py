"""The front of a stdio server under fire, in this process: it must keep all that it heard, and answer only what it
knows."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence

from sayso.mcp_server.front import Front
from sayso.mcp_server.prepared import Prepared
from sayso.mcp_server.replay import Replay


class Ready(Prepared):
    """Has an answer to every question, so that every question is answered."""

    def __init__(self) -> None:
        super().__init__(os.devnull, "", "", ())

    def answer(self, depends_on: str) -> bytes | None:
        return json.dumps({"about": depends_on}).encode()


def fire(sent: Sequence[bytes]) -> None:
    """Send this to a front and hang up. What it answered is whole; what it heard goes on to the SDK as it came."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    front = Front((theirs_in, theirs_out), [Ready()])
    writer = threading.Thread(target=_write, args=(ours_out, sent), daemon=True)
    answers: list[bytes] = []
    reader = threading.Thread(target=lambda: answers.extend(_lines(ours_in)), daemon=True)
    writer.start()
    reader.start()
    try:
        front.meet()
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
        writer.join()
        reader.join()
        os.close(ours_in)
    assert b"".join(sent).startswith(front.heard)
    assert answers == [line for _, line in front.answered]
    _replay(front, answers)


def _replay(front: Front, answers: Sequence[bytes]) -> None:
    """The SDK's own answers to the same questions are known to have been given, each once."""
    replay = Replay(front.answered)
    for line in front.heard.split(b"\n"):
        replay.hear(line)
    for (question, _), line in zip(front.answered, answers, strict=True):
        assert json.loads(line)["id"] == question.request_id
        assert not replay.lets_pass(question.request_id, line)


def _write(fd: int, sent: Sequence[bytes]) -> None:
    try:
        for piece in sent:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(fd, rest) :]
    except BrokenPipeError:
        # It is the SDK's turn, which would read on.
        return
    finally:
        os.close(fd)


def _lines(fd: int) -> list[bytes]:
    heard = b""
    while chunk := os.read(fd, 65_536):
        heard += chunk
    return heard.splitlines(keepends=True)
