"""How long a line that an agent prints takes to a reader of the page's event stream, beside the least that it takes.

The least is a bare Starlette application that sends what the same agent prints, line by line, as server-sent events.
Both agents are at work at the same time and say a line when their file is there, taking turns. No questions are asked.
"""

from __future__ import annotations

import http.client
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.talk import messages
from tests.e2e.talk.stage import new_stage

from bench import bare_stream

PATIENCE = 60.0


def to_the_stream(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds per line, through Sayso and through the bare application."""
    with tempfile.TemporaryDirectory() as folder, new_stage(relay_dir=f"{folder}/relay") as stage:
        ours, bare = Path(folder, "ours"), Path(folder, "bare")
        visitor, project = stage.visitor(), stage.project("plain", ask_user=False)
        conversation = visitor.start(project, *_script(ours, rounds))
        said = (m for m in messages(stage, visitor, conversation) if m["type"] == "text")
        with _bare_lines(_script(bare, rounds), folder) as lines:
            spoken = (line for line in lines if json.loads(line).get("type") == "assistant")
            pairs = [(_timed(ours, n, said), _timed(bare, n, spoken)) for n in range(rounds)]
        stage.ended(conversation)
    # The first lines also wait for the agents to start.
    return [pair[0] for pair in pairs[1:]], [pair[1] for pair in pairs[1:]]


def _script(folder: Path, rounds: int) -> list[str]:
    folder.mkdir()
    return [step for n in range(rounds) for step in (f"wait {folder / str(n)}", f"say Line {n}")]


def _timed(folder: Path, number: int, lines: Iterator[object]) -> float:
    begun = time.perf_counter()
    (folder / str(number)).touch()
    next(lines)
    return time.perf_counter() - begun


@contextmanager
def _bare_lines(script: Sequence[str], home: str) -> Iterator[Iterator[bytes]]:
    """What an agent prints, as a reader of the bare application gets it."""
    with bare_stream.serving(home) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("POST", "/", "\n".join(script))
        reply = connection.getresponse()
        yield (line[6:] for line in iter(reply.readline, b"") if line.startswith(b"data: "))
        connection.close()
