"""What many tests share: a user of their own, a PostgreSQL, and stores of every kind to run the same tests on."""

from __future__ import annotations

import gc
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain, groupby
from pathlib import Path

import pytest
from hypothesis import settings
from tests import memory, new_stores
from tests.asks.samples import FakeClock
from tests.postgres import Server, shared_server
from tests.reruns import Reruns

from sayso.asks.desk import AskDesk
from sayso.store import Store
from sayso.store.postgres import PostgresStore
from sayso.store.sqlite import SqliteStore

# A busy machine is no fault of the program's: nothing here fails by the clock on the wall.
settings.register_profile("sayso", deadline=None, print_blob=True)
settings.load_profile("sayso")

LONGEST_FIRST = (
    "tests/proof/",
    # A person's time to read passes there, and hardly anything is computed meanwhile: others can do that.
    "tests/e2e/terminal/",
    "tests/e2e/browser/",
    "tests/e2e/talk/",
    "tests/e2e/http/",
    "tests/web/",
    "tests/e2e/",
    "tests/tui/",
    "tests/cli/",
    "tests/mcp_server/",
    "tests/test_",
)

WAITING = ("tests/e2e/ask/", "tests/e2e/relay/")
"""Where tests wait for limits to pass. Their files come between others, so that something is computed meanwhile;"""
TOGETHER = ("tests/e2e/browser/", "tests/e2e/talk/")
"""but not between these: whoever leaves such a folder closes its browser."""
_BETWEEN = 3
"""How many others come between two of them."""

NEVER_TRIED_AGAIN = tuple(
    f"tests/{folder}/" for folder in ("agents", "asks", "mcp_server", "operations", "running", "store")
)


def pytest_configure(config: pytest.Config) -> None:
    # Until all tests have been read, hardly anything goes.
    gc.disable()
    memory.use()
    config.pluginmanager.register(Reruns(never_in=NEVER_TRIED_AGAIN))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured for people to see."""
    told = [about for report in terminalreporter.getreports("passed") for about in report.user_properties]
    for name, value in told:
        terminalreporter.write_line(f"{name}: {value}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins early, so that in the end no worker has to be waited for."""
    items.sort(key=_turn)
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    waiting = deque(tests for tests in files if tests[0].nodeid.startswith(WAITING))
    others = [tests for tests in files if not tests[0].nodeid.startswith(WAITING)]
    items.clear()
    for place, tests in enumerate(others):
        items += tests
        if waiting and place % _BETWEEN == 0 and not tests[0].nodeid.startswith(TOGETHER):
            items += waiting.popleft()
    items += chain.from_iterable(waiting)


def pytest_collection_finish() -> None:
    """What was read of six thousand tests stays to the end: Python need not look through it for what has gone."""
    gc.freeze()
    gc.enable()


def _turn(item: pytest.Item) -> int:
    folders = enumerate(LONGEST_FIRST)
    return next((turn for turn, folder in folders if item.nodeid.startswith(folder)), len(LONGEST_FIRST))


@pytest.fixture(autouse=True)
def _user_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes what belongs to the person who runs it."""
    for name in list(os.environ):
        if name.startswith(("SAYSO_", "CLAUDE", "XDG_", "PG", "MAKE", "MFLAGS")) or name == "ASK_USER_CONFIG":
            monkeypatch.delenv(name)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg-config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg-cache"))


@pytest.fixture(autouse=True)
def _new_stores_are_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    new_stores.copy_them(monkeypatch)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One PostgreSQL server for the whole run, however many processes run it."""
    base = tmp_path_factory.getbasetemp()
    with shared_server(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as server:
        yield server


@pytest.fixture(scope="session")
def restartable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Another server, which a test may stop and must start again."""
    with shared_server(tmp_path_factory.mktemp("restartable")) as server:
        yield server


@pytest.fixture(scope="session")
def _database(postgres: Server) -> Iterator[str]:
    with postgres.new_database() as address:
        yield address


@pytest.fixture
def postgres_address(postgres: Server, _database: str) -> str:
    """The address of an empty database."""
    postgres.empty(_database)
    return _database


OpenStore = Callable[[], Store]
"""Opens the same store once more, as another process would."""


def die(store: Store, seen_by: Store) -> None:
    """Close a store as the end of its process does, and be dead to another: a server notices a moment later."""
    process, deadline = store.bell().process, time.monotonic() + 120
    store.close()
    while seen_by.bell().alive([process]):
        assert time.monotonic() < deadline


@pytest.fixture
def open_sqlite(tmp_path: Path) -> Iterator[OpenStore]:
    with ExitStack() as opened:
        yield lambda: _closing(opened, SqliteStore(tmp_path / "state" / "sayso.db"))


@pytest.fixture
def open_postgres(postgres_address: str) -> Iterator[OpenStore]:
    with ExitStack() as opened:
        yield lambda: _closing(opened, PostgresStore(postgres_address))


@pytest.fixture(params=["sqlite", "postgres"])
def open_shared(request: pytest.FixtureRequest) -> OpenStore:
    """A store that several processes can share, of each kind."""
    opener: OpenStore = request.getfixturevalue(f"open_{request.param}")
    return opener


@pytest.fixture
def store(open_shared: OpenStore) -> Store:
    """A store of each kind that people have."""
    return open_shared()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def desk(store: Store, clock: FakeClock) -> AskDesk:
    return AskDesk(store, clock=clock)


def _closing(opened: ExitStack, store: Store) -> Store:
    opened.callback(store.close)
    return store
