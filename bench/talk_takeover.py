"""Talk: how fast a session of the real Claude Code is taken over from a terminal, and handed back.

A real `sayso web` and a scripted model on loopback. The agent is started by the press, and the first message comes as
long after it as somebody needs to write one. A start of Claude alone, in the same copy of the same session, is measured
in turn with each takeover, so that whatever else the machine does hits both alike. Fetches Claude Code into the cache
of the tests. Usage: python -m bench.talk_takeover [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.tables import setting, table
from bench.talk import spread
from tests.asks.samples import living
from tests.e2e.programs.fetch import programs
from tests.e2e.programs.model import Model, say
from tests.e2e.talk.stage import Stage, new_stage
from tests.web.house import USER

from sayso.desks import open_desks
from sayso.roster import agent_id

SECONDS = 120
QUIET = ("DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
STREAMS = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
ALONE = "start of Claude alone, to the model's request"
TAPPED, FIRST = "Take over, to the page on which one writes", "first message, to the model's request"
NEXT, BACK = "next message, to the model's request", "Hand back, to the page with the command"
WRITING = 6.0
"""Seconds between the press and the first message."""


class Terminal:
    """A session that was begun in a terminal and rests."""

    def __init__(self, stage: Stage, claude: Sequence[str], model: Model) -> None:
        stage.project("shop")
        self._stage, self._claude, self._model = stage, claude, model
        self._folder, self._env = stage.folder / "shop", dict(stage.house.place.environment)
        begin = [*claude, "-p", "Begin."]
        nothing = subprocess.DEVNULL
        subprocess.run(
            begin, cwd=self._folder, env=self._env, stdin=nothing, stdout=nothing, check=True, timeout=SECONDS
        )
        (file,) = stage.house.place.home.glob(".claude/projects/*/*.jsonl")
        self._session = file.stem
        asker = living(session=self._session, project=str(self._folder))
        with closing(open_desks(stage.house.place.config())) as desks:
            desks.roster.note_gate(asker, "")
        self._page, self._visitor = f"/agents/{agent_id(asker)}/take", stage.visitor()

    def alone(self) -> float:
        words = [*self._claude, *STREAMS, "--resume", self._session, "--fork-session"]
        message = {"type": "user", "message": {"role": "user", "content": "Go on."}, "parent_tool_use_id": None}
        requests, begun = len(self._model.requests), time.monotonic()
        with subprocess.Popen(
            words, cwd=self._folder, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            assert process.stdin
            process.stdin.write(json.dumps({**message, "session_id": ""}).encode() + b"\n")
            process.stdin.flush()
            late = self._until_asked(requests, begun)
            process.stdin.close()
        return late

    def round(self) -> dict[str, float]:
        """Milliseconds of each step: taken over, written to again, handed back."""
        self._visitor.csrf  # noqa: B018 - what a page has that is open already
        requests, begun = len(self._model.requests), time.monotonic()
        reply = self._visitor.post(self._page, prompt="")
        assert reply.status == 303, reply.text
        conversation = reply.headers["location"].removeprefix("/talk/")
        assert "data-compose" in self._visitor.get(f"/talk/{conversation}").text
        late = {TAPPED: _since(begun)}
        time.sleep(WRITING)
        begun = time.monotonic()
        self._visitor.go_on(conversation, "Go on.")
        late[FIRST] = self._until_asked(requests, begun)
        self._stage.ended(conversation)
        requests, begun = len(self._model.requests), time.monotonic()
        self._visitor.go_on(conversation, "And on.")
        late[NEXT] = self._until_asked(requests, begun)
        self._stage.ended(conversation)
        begun = time.monotonic()
        assert self._visitor.post(f"/talk/{conversation}/hand-back").status == 303
        assert "claude --resume" in self._visitor.get(f"/talk/{conversation}").text
        return {**late, BACK: _since(begun)}

    def _until_asked(self, requests: int, begun: float) -> float:
        while len(self._model.requests) == requests:
            assert time.monotonic() - begun < SECONDS
            time.sleep(0.002)
        return _since(begun)


def _since(begun: float) -> float:
    return (time.monotonic() - begun) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    with Model(lambda _: say("Done.")).serving() as model, tempfile.TemporaryDirectory() as relay:
        claude = ["env", f"ANTHROPIC_BASE_URL={model.url}", "ANTHROPIC_API_KEY=sk-none", *QUIET]
        claude.append(str(Path(programs()) / "claude"))
        with new_stage(relay_dir=relay, claude_command=" ".join(claude), person=USER, run_rest="1h") as stage:
            terminal = Terminal(stage, claude, model)
            terminal.round()  # the first one finds nothing warm
            found = [{ALONE: terminal.alone(), **terminal.round()} for _ in range(rounds)]
    rows = [spread(name, [each[name] for each in found]) for name in found[0]]
    print(f"{setting()}\n\n{table(['from a terminal and back', 'p50 ms', 'p95 ms', 'most ms', 'times'], rows)}")


if __name__ == "__main__":
    main()
