"""Questions of runs, held by the web server for whoever polls for their answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.asks.samples import ANNA, RED, ask

from sayso.agents.desk import RunDesk
from sayso.agents.model import NewRun, Options, Run
from sayso.agents.projects import Projects
from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker
from sayso.config import Config, load
from sayso.dialects import relay as dialect
from sayso.records import replace
from sayso.store import Store, open_store
from sayso.web.relayed import RelayedQuestions

pytestmark = pytest.mark.anyio


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path), "SAYSO_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path)


@pytest.fixture
def store(config: Config) -> Iterator[Store]:
    with closing(open_store(config)) as store:
        yield store


@pytest.fixture
def run(store: Store, config: Config, tmp_path: Path) -> Run:
    project = Projects(store).add("ada", tmp_path, options=Options())
    return RunDesk(store, config.state_dir / "runs").open(NewRun(project=project, prompt="Do it", token="t"), most=1)


async def test_what_was_answered_while_no_server_was_there_is_handed_out_at_once(
    config: Config, store: Store, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    desk = AskDesk(store)
    put = replace(ask(asker=Asker(client="test", project="/p", run=run.id)), tool=dialect.TOOL, timeout_ms=600_000)
    held = desk.hold(put)
    desk.release(held, "its server ended")
    desk.answer(held.ask.id, RED, ANNA)
    questions = RelayedQuestions(config)
    with caplog.at_level(logging.WARNING):
        async with questions.running():
            relayed = await questions.find(run, held.ask.id)
            assert relayed
            assert relayed.ended.is_set()
            await questions.delivered(relayed)
            await asyncio.sleep(0)
    assert desk.get(held.ask.id).delivered
    assert not caplog.records
