"""What a notification says, and that bursts become one. Its ways out are tested end to end with the server."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from pathlib import Path

import pytest
from tests.asks.samples import ask as new_ask

from sayso import notify
from sayso.asks.crowds import FEW
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, Outcome, State
from sayso.config import SETTINGS, Config, load
from sayso.desks import open_desks
from sayso.notify import Notifier, details, headline
from sayso.records import replace
from sayso.store.sqlite import SqliteStore

PAGE = (Path(__file__).parents[1] / "docs" / "notifications.md").read_text(encoding="utf-8")


@pytest.fixture
def opened(tmp_path: Path) -> list[Ask]:
    """Three asks that are open."""
    store = SqliteStore(tmp_path / "state" / "sayso.db")
    desk = AskDesk(store)
    asks = [desk.leave(new_ask(f"Number {number}?", title="")) for number in range(3)]
    store.close()
    return asks


def config(**settings: str) -> Config:
    return load(environ={f"SAYSO_{name.upper()}": value for name, value in settings.items()})


@pytest.mark.finding("F-34")
def test_an_agent_that_has_many_open_is_told_of_once_in_a_while(opened: list[Ask], tmp_path: Path) -> None:
    said = tmp_path / "said"
    script = tmp_path / "append.py"
    script.write_text(f"import os; open({str(said)!r}, 'a').write(os.environ['SAYSO_ASK_ID'] + '\\n')")
    notifier = Notifier(config(notify_command=f"{sys.executable} {script}"))
    first, second, third = opened
    other = replace(third, id="another agent's", asker=Asker(client="calm", pid=8))

    async def tell() -> None:
        await notifier.tell(first, FEW + 1)
        await notifier.tell(second, FEW + 2)
        await notifier.tell(other, 1)
        await notifier.tell(third, FEW)

    asyncio.run(tell())
    assert said.read_text().splitlines() == [first.id, other.id, third.id]


def test_a_headline_names_who_asks_and_where(opened: list[Ask]) -> None:
    asker = Asker(client="claude-code\x1b[31m", project="/home/ada/shop")
    assert headline([replace(opened[0], asker=asker)]) == "claude-code<U+001B>[31m in shop asks you something"
    assert headline([replace(opened[0], asker=Asker())]) == "An agent asks you something"


def test_of_what_came_too_late_it_says_that_and_no_word_of_an_answer(opened: list[Ask]) -> None:
    over = replace(opened[0], state=State.CANCELLED, outcome=Outcome(reason="a secret"), asker=Asker(client="codex"))
    assert headline([over]) == "codex: by its own record, its terminal was first"
    assert "secret" not in details([over])


@pytest.mark.finding("F-70")
def test_two_sessions_of_one_client_in_one_project_are_told_apart(opened: list[Ask]) -> None:
    sessions = [
        Asker(client="claude-code", project="/home/ada/shop", session=f"a-{name}") for name in ("111111", "222222")
    ]
    assert [headline([replace(opened[0], asker=asker)]) for asker in sessions] == [
        "claude-code 111111 in shop asks you something",
        "claude-code 222222 in shop asks you something",
    ]
    assert headline(opened) == "3 questions are waiting for you"


def test_details_are_one_safe_line_per_ask_and_not_without_end(opened: list[Ask]) -> None:
    assert details(opened).splitlines() == [f"{ask.id[:8]}  Number {n}?" for n, ask in enumerate(opened)]
    many = details(opened * 5).splitlines()
    assert (len(many), many[-1]) == (notify.MOST_LINES + 1, "and 5 more")


def test_nothing_is_configured_by_itself() -> None:
    assert not Notifier(config()).configured
    for setting in ("notify_command", "notify_url", "notify_apprise"):
        assert Notifier(config(**{setting: "http://x"})).configured


def test_asks_of_one_moment_share_a_message_and_a_later_one_has_its_own(opened: list[Ask], tmp_path: Path) -> None:
    script = tmp_path / "append.py"
    script.write_text(f"import sys; open({str(tmp_path / 'said')!r}, 'a').write(sys.stdin.readline())")
    notifier = Notifier(config(notify_command=f"{sys.executable} {script}"))

    async def tell() -> None:
        await asyncio.gather(*(notifier.tell(ask, 1) for ask in opened))
        await notifier.tell(opened[0], 1)

    asyncio.run(tell())
    first, second = (tmp_path / "said").read_text().splitlines()
    assert first == "3 questions are waiting for you"
    assert second.endswith("asks you something")


def test_a_command_that_does_not_end_is_given_up_and_killed(
    opened: list[Ask], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notify, "PATIENCE", 0.2)
    asyncio.run(Notifier(config(notify_command="sleep 60")).tell(opened[0], 1))
    assert "took longer than 0 seconds and was given up" in caplog.text


def test_of_what_a_command_has_not_read_nobody_is_told() -> None:
    told: list[object] = []

    async def run() -> int:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        return await notify._run(["true"], b"x" * 1_000_000, dict(os.environ))

    assert asyncio.run(run()) == 0
    gc.collect()
    assert told == []


@pytest.mark.parametrize("name", [name for name in SETTINGS if name.startswith("notify_")])
def test_the_page_explains_every_setting(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_a_page_in_front_of_somebody_else_keeps_nobody_from_being_told(tmp_path: Path) -> None:
    with open_desks(config(state_dir=str(tmp_path), notify_after_typing="1ms")) as desks:
        mine = desks.asks.leave(replace(new_ask("Mine?"), asker=Asker(client="codex", owner="ada")))
        desks.asks.show_up("browser", "bo")
        assert notify.seconds_left(mine.id, desks.config, desks.asks, desks.presence) == 0
        desks.asks.show_up("browser", "ada", "bo")
        assert notify.seconds_left(mine.id, desks.config, desks.asks, desks.presence) is None
