"""What the web server does for one call or one change, counted: looks at the store, and rows made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import httpx2
import pytest
from tests.e2e.http.harness import ACCEPT, modern_call
from tests.web.house import USER, new_ask, text

from sayso.accounts import Accounts
from sayso.agents.desk import RunDesk
from sayso.agents.projects import Projects
from sayso.agents.takeover import Takeovers
from sayso.asks.crowds import Entry
from sayso.asks.desk import AskDesk
from sayso.config import Config, load
from sayso.desks import Desks
from sayso.mcp_server.http import McpOverHttp
from sayso.mcp_server.offer import Offer
from sayso.protocol.request import ClientInfo
from sayso.roster import Roster
from sayso.store import Row, Transaction
from sayso.store.sqlite import SqliteStore
from sayso.web.app import build
from sayso.web.boards import Drawing
from sayso.web.conversations import Conversations
from sayso.web.events import News
from sayso.web.glances import Glances
from sayso.web.pages import row
from sayso.web.sessions import Visitor
from sayso.web.site import Site

WAIT = 60.0
P = ParamSpec("P")
T = TypeVar("T")


class CountedStore(SqliteStore):
    """Counts the looks at it, by whichever connection."""

    def __init__(self, file: Path, bell_dir: Path | None = None, looks: list[None] | None = None) -> None:
        self._looks: list[None] = [] if looks is None else looks
        super().__init__(file, bell_dir)

    @property
    def reads(self) -> int:
        return len(self._looks)

    def read(self, work: Callable[[Transaction], T]) -> T:
        self._looks.append(None)
        return super().read(work)

    def all(self, query: str, /, **parameters: object) -> list[Row]:
        self._looks.append(None)
        return super().all(query, **parameters)

    def _another(self) -> SqliteStore:
        assert self._file
        return CountedStore(self._file, looks=self._looks)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path), "SAYSO_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path)


@asynccontextmanager
async def agent(config: Config, store: SqliteStore) -> AsyncIterator[httpx2.AsyncClient]:
    """An agent of the whole application, in this process."""
    mcp = McpOverHttp(Desks(config, store))
    app = build(Desks(config, store), address="", routes=mcp.routes, lifespans=[mcp.running])
    bearer = {"Authorization": f"Bearer {Accounts(store).add_token('counted')}", "Accept": ACCEPT}
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1", headers=bearer, timeout=WAIT
        ) as client,
    ):
        yield client


async def call(client: httpx2.AsyncClient, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    headers, body = modern_call(tool, arguments)
    reply = await client.post("/mcp", headers=headers, json=body)
    assert reply.status_code == 200, reply.text
    told: dict[str, Any] = reply.json()["result"]
    return told


def test_a_call_for_answers_looks_at_the_token_and_at_what_is_owed_and_at_nothing_else(config: Config) -> None:
    async def count() -> int:
        store = CountedStore(config.state_dir / "sayso.db")
        async with agent(config, store) as client:
            await call(client, "get_answers", {})
            counted = []
            for _ in range(10):
                before = store.reads
                await call(client, "get_answers", {})
                counted.append(store.reads - before)
        store.close()
        # The watchers beside the calls may look now and then, too.
        return min(counted)

    assert asyncio.run(count()) == 2


def test_a_call_with_arguments_does_not_list_all_tools_first(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    listings: list[ClientInfo] = []
    listed = Offer.listed

    def counted(offer: Offer, client: ClientInfo) -> dict[str, Any]:
        listings.append(client)
        return listed(offer, client)

    monkeypatch.setattr(Offer, "listed", counted)

    async def refused() -> dict[str, Any]:
        store = SqliteStore(config.state_dir / "sayso.db")
        async with agent(config, store) as client:
            told = await call(client, "ask_user_questions", {"questions": "none"})
        store.close()
        return told

    assert asyncio.run(refused())["isError"]
    assert listings == []


class CountedSite(Site):
    """Counts the trips to a thread."""

    trips = 0

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.trips += 1
        return await super().do(work, *args, **kwargs)


def test_one_trip_to_a_thread_and_one_drawing_of_an_ask_serve_all_streams(config: Config) -> None:
    drawn: list[str] = []

    def draw(ask: Entry, user: str) -> str:
        drawn.append(ask.id)
        return row(ask, user)

    async def count() -> tuple[int, int]:
        store, agents = CountedStore(config.state_dir / "sayso.db"), SqliteStore(config.state_dir / "sayso.db")
        site = CountedSite(Desks(config, store))
        site.accounts.add_user(USER)
        conversations = Conversations(RunDesk(store, config.runs_dir), site.desk)
        drawing = Drawing(ask=draw, command=lambda _: "", conversation=lambda _: "", agent=lambda _: "")
        takeovers = Takeovers(config, Projects(store), Roster(store), RunDesk(store, config.runs_dir))
        news = News(site, conversations, Glances(takeovers), drawing)
        secret = site.accounts.redeem(site.accounts.make_link(USER))
        (session,) = site.accounts.sessions(USER)
        visitor = Visitor(user=USER, csrf="", secret=secret, session=session.id, surface="browser")
        async with news.running(), asyncio.timeout(WAIT):
            streams = [news.stream(visitor) for _ in range(20)]
            for stream in streams:
                await until(stream, b"event: commands")
            trips, reads = site.trips, store.reads
            for number in range(5):
                await asyncio.to_thread(AskDesk(agents).hold, new_ask(text(f"Does everyone see number {number}?")))
                for stream in streams:
                    await until(stream, f"Does everyone see number {number}?".encode())
            counted = site.trips - trips, store.reads - reads
        store.close()
        agents.close()
        return counted

    trips, reads = asyncio.run(count())
    assert len(drawn) == 5
    # How often it looks is up to the machine; but each trip looks at several things. The last may be under way.
    assert 2 * (trips - 1) <= reads


async def until(stream: AsyncIterator[bytes], wanted: bytes) -> None:
    async for event in stream:
        if wanted in event:
            return
