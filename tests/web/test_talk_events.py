"""The streams of conversations: one look for all of them, and only those are read in which there is something new."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.asks.samples import AGENT, ANNA, RED, ask

from sayso.agents.desk import RunDesk
from sayso.agents.model import Ending, EventKind, NewEvent, NewRun, Options, Run, RunState
from sayso.agents.projects import Projects
from sayso.agents.takeover import Takeovers
from sayso.asks.happening import CALL_ENDED
from sayso.config import Config
from sayso.desks import Desks
from sayso.dialects.approve import Permission, ask_for, wanted_action
from sayso.records import replace
from sayso.store import Store
from sayso.web.beside_talk import BesideReader
from sayso.web.sessions import Visitor
from sayso.web.site import Site
from sayso.web.talk_events import Streams
from sayso.web.transcript import Transcript

pytestmark = pytest.mark.anyio
PATIENCE = 60


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class CountedTranscript(Transcript):
    """Counts how often it is read."""

    reads = 0

    def news(self) -> Iterator[bytes]:
        self.reads += 1
        yield from super().news()


class Reader:
    """One browser at one conversation."""

    def __init__(self, house: Talks, run: Run) -> None:
        beside = BesideReader(house.takeovers)
        self.transcript = CountedTranscript(
            house.runs, house.desks.asks, run.conversation, beside, user="ada", csrf="token"
        )
        self._stream = house.streams.stream(self.transcript, house.ada)

    async def hears(self, kind: str) -> dict[str, Any]:
        """The next message of a kind."""
        with anyio.fail_after(PATIENCE):
            async for message in self._stream:
                if b"data: {" in message:
                    data: dict[str, Any] = json.loads(message.partition(b"data: ")[2])
                    if data["type"] == kind:
                        return data
        raise AssertionError(f"no {kind} came")


class Talks:
    """Two conversations in one store, and the streams of one process."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.desks = Desks(Config(state_dir=folder), store)
        accounts = self.desks.accounts
        accounts.add_user("ada")
        secret = accounts.redeem(accounts.make_link("ada"))
        (session,) = accounts.sessions("ada")
        self.ada = Visitor(user="ada", csrf="token", secret=secret, session=session.id, surface="browser")
        self.runs = RunDesk(store, folder / "runs")
        self.projects = Projects(store)
        self.project = self.projects.add("ada", folder, options=Options())
        self.takeovers = Takeovers(self.desks.config, self.projects, self.desks.roster, self.desks.runs)
        self.streams = Streams(Site(self.desks), self.runs)

    def run(self, token: str) -> Run:
        return self.runs.open(NewRun(project=self.project, prompt="Do it", token=token), most=9)

    def says(self, run: Run, text: str) -> None:
        self.runs.append(run.id, NewEvent(kind=EventKind.TEXT, body={"text": text}))


@pytest.fixture
async def talks(tmp_path: Path, store: Store) -> AsyncIterator[Talks]:
    talks = Talks(tmp_path, store)
    async with talks.streams.running():
        yield talks


async def test_what_is_said_in_one_conversation_is_read_by_its_own_streams_alone(talks: Talks) -> None:
    one, other = talks.run("1"), talks.run("2")
    first, second, elsewhere = Reader(talks, one), Reader(talks, one), Reader(talks, other)
    for reader in (first, second, elsewhere):
        await reader.hears("status")
    for number in range(20):
        talks.says(one, f"Line {number}")
        for reader in (first, second):
            assert f"Line {number}" in (await reader.hears("text"))["html"]
    talks.says(other, "At last")
    assert "At last" in (await elsewhere.hears("text"))["html"]
    # Once as it began, once at the first look, once for its own line.
    assert elsewhere.transcript.reads <= 3
    assert first.transcript.reads >= 20


async def test_a_card_changes_whoever_settles_it_though_nothing_is_said(talks: Talks) -> None:
    run = talks.run("1")
    reader = Reader(talks, run)
    await reader.hears("status")
    asks = talks.desks.asks
    held = asks.hold(ask(asker=replace(AGENT, owner="ada", run=run.id)))
    talks.runs.note_ask(run.id, held.ask.id)
    assert (await reader.hears("ask"))["ask"] == held.ask.id
    assert "waits for you" in (await reader.hears("status"))["html"]
    asks.answer(held.ask.id, RED, ANNA)
    assert "Answer sent" in (await reader.hears("card"))["html"]
    talks.runs.queue.add(run, "And then?")
    assert "And then?" in (await reader.hears("queue"))["html"]


async def test_what_nobody_had_decided_when_its_agent_was_interrupted_is_told_as_neither_ended_nor_denied(
    talks: Talks,
) -> None:
    run, given = talks.run("1"), {"command": "make"}
    reader = Reader(talks, run)
    await reader.hears("status")
    asker, asks = replace(AGENT, owner="ada", run=run.id), talks.desks.asks
    action = wanted_action(Permission(tool="Bash", given=given), asker.project, None)
    talks.runs.append(run.id, NewEvent(kind=EventKind.TOOL, body={"id": "1", "name": "Bash", "input": given}))
    held = asks.hold(ask_for(action, asker, talks.desks.config))
    talks.runs.note_ask(run.id, held.ask.id)
    await reader.hears("ask")
    asks.release(held, CALL_ENDED)
    # Codex calls declined what an interruption has ended.
    refused = {"id": "1", "text": "", "error": True, "denied": True}
    talks.runs.append(run.id, NewEvent(kind=EventKind.TOOL_RESULT, body=refused))
    talks.runs.end(run.id, RunState.STOPPED, Ending(message="Interrupted."))
    state = (await reader.hears("tool_result"))["state"]
    (turn,) = reader.transcript.whole().turns
    page = "".join(turn.parts)
    for told in (state, page):
        assert "not decided" in told
        assert "denied" not in told
    assert "Claude was interrupted before anybody decided" in page


async def test_what_an_agent_tells_of_itself_is_offered_to_whoever_looks_already(talks: Talks, tmp_path: Path) -> None:
    folder = tmp_path / "gemini"
    folder.mkdir()
    gemini = talks.projects.add("ada", folder, options=Options(agent="gemini"))
    run = talks.runs.open(NewRun(project=gemini, prompt="Do it", token="1"), most=9)
    reader = Reader(talks, run)
    await reader.hears("status")
    told = {"models": ["pro"], "modes": [], "takes_pictures": True}
    talks.runs.append(run.id, NewEvent(kind=EventKind.OFFERS, body=told))
    offers = await reader.hears("offers")
    assert (offers["models"], offers["takes_pictures"]) == (["pro"], True)
    assert "bypassPermissions" not in offers["modes"]


async def test_all_streams_end_when_the_process_stops(tmp_path: Path, store: Store) -> None:
    talks = Talks(tmp_path, store)
    async with talks.streams.running():
        reader = Reader(talks, talks.run("1"))
        await reader.hears("status")
    with pytest.raises(AssertionError, match="no text came"):
        await reader.hears("text")


async def test_who_is_signed_out_elsewhere_hears_nothing_more_however_much_the_agent_says(talks: Talks) -> None:
    run = talks.run("1")
    reader = Reader(talks, run)
    await reader.hears("status")

    async def listen(lines: int) -> None:
        for number in range(lines):
            talks.says(run, f"Line {number}")
            await reader.hears("text")

    await listen(3)
    talks.desks.accounts.end_session(talks.ada.session, "ada")
    # One may have been on its way.
    with pytest.raises(AssertionError, match="no text came"):
        await listen(100)
