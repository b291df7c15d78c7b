"""Who is told by push, of what, and once: a real store and sender, and a push service that is played."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.asks.samples import ANNA, BLUE, COLOUR
from tests.asks.samples import ask as new_ask
from tests.conftest import OpenStore
from tests.e2e.clients.process import wait_until
from tests.permissions.test_desk import PUSH, wanted
from tests.push.service import WAIT, PlayedBrowser, PushService, push_service, sender_of

from sayso.agents.model import Ending, NewRun, Options, RunState
from sayso.asks.mark import mark
from sayso.asks.model import Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.asks.quorum import Demand, Quorum
from sayso.clock import now_ms
from sayso.config import load
from sayso.desks import Desks
from sayso.permissions.action import asking
from sayso.push import sending, subscriptions
from sayso.records import replace
from sayso.store import Store
from sayso.web import pusher as pusher_module
from sayso.web.conversations import Conversations
from sayso.web.pusher import Pusher
from sayso.web.site import Site
from sayso.wishes import NewsKind, Wishes

YES_NO = Question(id="1", text="Ship it?", kind=Kind.CONFIRM)
Work = Callable[[], None]


class Office:
    """A store with one person in it, ada, whose browser is told things by one server or several."""

    def __init__(self, store: Store, service: PushService, state: Path) -> None:
        self.store, self.service, self.browser = store, service, PlayedBrowser()
        config = load(environ={"SAYSO_STATE_DIR": str(state), "SAYSO_NOTIFY_AFTER_TYPING": "1ms"}, cwd=state)
        self.desks = Desks(config, store)
        self.desk, self.pushes = self.desks.asks, self.desks.pushes
        self.looking: set[str] = set()
        self.session = self.sign_in("ada")
        self.subscribe()

    def sign_in(self, name: str) -> str:
        accounts = self.desks.accounts
        accounts.add_user(name)
        session = accounts.session(accounts.redeem(accounts.make_link(name)))
        assert session
        return session.id

    def subscribe(self, name: str = "ada", session: str = "") -> None:
        browser = self.browser
        self.pushes.forget(self.service.endpoint(name))
        # The played service has no address that a browser would give us.
        values = {"endpoint": self.service.endpoint(name), "p256dh": browser.p256dh, "auth": browser.auth}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sayso.push.subscriptions.may_be_called", bool)
            self.pushes.subscribe(session or self.session, **values, zone="Europe/Berlin")

    def pusher(self) -> Pusher:
        site = Site(self.desks)
        pusher = Pusher(site, Conversations(self.desks.runs, self.desk), self.looking.__contains__)
        pusher.reach = self.service.reach
        return pusher

    def while_running(self, work: Work, servers: int = 1) -> None:
        async def run() -> None:
            async with AsyncExitStack() as stack:
                for _ in range(servers):
                    await stack.enter_async_context(self.pusher().running())
                await asyncio.to_thread(work)

        asyncio.run(run())

    def ask(self, question: Question = YES_NO, *, owner: str = "", session: str = "") -> Ask:
        asker = Asker(client="codex", project="/home/ada/shop", owner=owner, session=session)
        return self.desk.leave(NewAsk(tool="ask_user", questions=(question,), asker=asker))

    def next_title(self) -> str:
        return str(self.service.next_data(self.browser)["title"])

    def next_body(self) -> str:
        return str(self.service.next_data(self.browser)["body"])


@pytest.fixture
def service() -> Iterator[PushService]:
    with push_service() as service:
        yield service


@pytest.fixture
def office(open_sqlite: OpenStore, service: PushService, tmp_path: Path) -> Office:
    return Office(open_sqlite(), service, tmp_path)


def test_a_question_reaches_the_push_service_and_only_the_browser_can_read_it(office: Office) -> None:
    def work() -> None:
        ask = office.ask()
        pushed = office.service.next()
        assert pushed.path == "/push/ada"
        assert pushed.headers["content-encoding"] == "aes128gcm"
        assert (pushed.headers["ttl"], pushed.headers["urgency"]) == ("86400", "high")
        assert len(pushed.headers["topic"]) == 32
        assert ask.id not in pushed.headers["topic"]
        assert sender_of(pushed)["aud"] == f"https://localhost:{office.service.port}"
        told = json.loads(office.browser.decrypted(pushed.body))
        assert told == {
            "tag": ask.id,
            "title": "codex in shop asks",
            "body": "Ship it?",
            "path": f"asks/{ask.id}",
            "shown": mark(ask),
            "options": ["Yes", "No"],
            "waiting": 1,
        }

    office.while_running(work)


def test_a_settled_question_has_its_notification_closed(office: Office) -> None:
    def work() -> None:
        ask = office.desk.leave(new_ask("Which?"))
        first = office.service.next()
        office.desk.answer(ask.id, BLUE, ANNA)
        second = office.service.next()
        told = json.loads(office.browser.decrypted(second.body))
        assert (told["tag"], told["settled"], told["waiting"]) == (ask.id, True, 0)
        assert second.headers["topic"] == first.headers["topic"]

    office.while_running(work)


def test_what_was_put_off_is_told_again_once_when_it_is_back(office: Office) -> None:
    def work() -> None:
        ask = office.ask()
        first = office.service.next()
        office.desk.snooze(ask.id, "ada", now_ms() + 300)
        again = office.service.next()
        told = json.loads(office.browser.decrypted(again.body))
        assert (told["tag"], told["body"]) == (ask.id, "Ship it?")
        assert again.headers["topic"] == first.headers["topic"]
        # Put off once more, and back with the news that its agent has stopped waiting.
        office.desk.snooze(ask.id, "ada", now_ms() + 3_600_000)
        office.desk.change(lambda table: table.change(replace(ask, state=State.TIMED_OUT), ask, kind="timed_out"))
        assert json.loads(office.browser.decrypted(office.service.next().body))["tag"] == ask.id
        # What they look at when it comes back, or have put back themselves, they know.
        office.looking.add("ada")
        office.desk.snooze(ask.id, "ada", now_ms() + 100)
        (snoozed,) = office.desk.snoozed("ada")
        key = f"push ada {ask.id} {snoozed.until}"
        assert wait_until(lambda: office.store.read(lambda tx: tx.one("claimed", key=key)) is not None, 20)
        office.looking.clear()
        office.desk.snooze(ask.id, "ada", now_ms() + 3_600_000)
        office.desk.wake(ask.id, "ada")
        other = office.desk.leave(new_ask("Which?"))
        assert json.loads(office.browser.decrypted(office.service.next().body))["tag"] == other.id

    office.while_running(work)


def test_whoever_looks_is_told_nothing_unless_they_said_that_they_are_away(office: Office) -> None:
    def work() -> None:
        office.looking.add("ada")
        seen = office.ask(replace(YES_NO, text="Seen?"))
        assert wait_until(lambda: _is_claimed(office, f"push ada {seen.id}"), WAIT)
        office.desks.presence.go_away("ada", "tests")
        office.ask(replace(YES_NO, text="Away?"))
        assert office.next_body() == "Away?"

    office.while_running(work)


def _is_claimed(office: Office, key: str) -> bool:
    """Whether a server has looked at it."""
    return office.store.read(lambda tx: tx.one("claimed", key=key)) is not None


def test_two_servers_on_one_store_tell_it_once(open_shared: OpenStore, service: PushService, tmp_path: Path) -> None:
    office = Office(open_shared(), service, tmp_path)

    def work() -> None:
        for number in range(5):
            office.ask(replace(YES_NO, text=f"Number {number}?"), session=f"s{number}")
        assert sorted(office.next_body() for _ in range(5)) == [f"Number {number}?" for number in range(5)]
        office.ask(replace(YES_NO, text="The last?"))
        assert office.next_body() == "The last?"

    office.while_running(work, servers=3)


def test_a_browser_is_told_what_it_wishes(office: Office) -> None:
    office.pushes.wish(office.session, Wishes(kinds=(NewsKind.PERMISSION,), not_from=("secret",)))

    def work() -> None:
        office.ask()
        permission = wanted(office.desk)
        told = office.service.next_data(office.browser)
        assert (told["tag"], told["options"]) == (permission.id, [])
        assert told["title"].endswith("wants a permission")

    office.while_running(work)


def test_a_project_that_is_left_out_is_not_told_of(office: Office) -> None:
    office.pushes.wish(office.session, Wishes(not_from=("shop",)))

    def work() -> None:
        office.ask()
        office.desk.leave(NewAsk(tool="ask_user", questions=(YES_NO,), asker=Asker(project="/home/ada/bank")))
        assert office.next_title() == "An agent in bank asks"

    office.while_running(work)


def test_what_others_have_to_answer_is_not_told(office: Office) -> None:
    def work() -> None:
        office.ask(replace(YES_NO, text="For grace?"), owner="grace")
        asker = Asker(client="codex", project="/home/ada/shop", owner="ada")
        new = NewAsk(tool="approve", questions=(YES_NO,), asker=asker)
        by_grace = Demand(rule="Bash", place="rules.toml:1", people=("grace",))
        office.desk.hold(asking(new, PUSH, quorum=Quorum(demands=(by_grace,))))
        office.ask(replace(YES_NO, text="For ada?"), owner="ada")
        assert office.next_body() == "For ada?"

    office.while_running(work)


def test_a_browser_is_told_what_its_last_person_is_told_and_nobody_before(office: Office) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sayso.push.subscriptions.may_be_called", bool)
        for session in (office.session, office.sign_in("bo")):
            office.pushes.subscribe(session, "https://push/1", office.browser.p256dh, office.browser.auth, "")
    assert [each.user for each in office.pushes.all() if each.endpoint == "https://push/1"] == ["bo"]


def test_a_turn_in_talk_that_ends_or_fails_is_told_and_one_that_was_stopped_is_not(office: Office) -> None:
    project = office.desks.projects.add("ada", office.desks.config.state_dir, name="shop", options=Options())
    runs = office.desks.runs

    def turn(prompt: str, state: RunState) -> None:
        run = runs.open(NewRun(project=project, prompt=prompt, token=prompt), most=9)
        runs.end(run.id, state, Ending())

    def work() -> None:
        turn("Stop this", RunState.STOPPED)
        turn("Mend the shop", RunState.COMPLETED)
        told = office.service.next_data(office.browser)
        assert told["title"] == "Claude in shop is done"
        assert told["body"] == "Mend the shop"
        turn("Break it", RunState.FAILED)
        assert office.next_title() == "Claude in shop failed"

    office.while_running(work)


def test_a_service_that_is_busy_is_asked_again_and_a_browser_that_is_gone_is_forgotten(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pusher_module, "FIRST_WAIT", 0.01)
    office.service.says += [(503, ""), (429, "0"), (201, ""), (410, "")]

    def work() -> None:
        office.ask()
        assert [office.next_body() for _ in range(3)] == ["Ship it?"] * 3
        assert len(office.pushes.all()) == 1
        office.ask(replace(YES_NO, text="Anybody?"))
        assert office.next_body() == "Anybody?"
        assert wait_until(lambda: not office.pushes.all(), WAIT)

    office.while_running(work)


def test_who_is_signed_out_while_a_message_waits_to_be_sent_again_does_not_get_it(office: Office) -> None:
    office.service.says += [(429, "1")]
    office.subscribe("bo", office.sign_in("bo"))

    def work() -> None:
        office.ask(owner="ada")
        assert office.service.next().path == "/push/ada"
        office.desks.accounts.end_session(office.session, "ada")
        # Sent again later than the other would be.
        office.service.says += [(429, "2"), (201, "")]
        office.ask(replace(YES_NO, text="The next?"), owner="bo")
        assert [office.service.next().path for _ in range(2)] == ["/push/bo"] * 2

    office.while_running(work)


@pytest.fixture
def held(office: Office, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, threading.Event]]:
    """Browsers, by name, whose push service does not reply while the test lasts."""
    monkeypatch.setattr(pusher_module, "SENDERS", 3)
    monkeypatch.setattr(sending, "PATIENCE", 10 * WAIT)
    gate = threading.Event()
    office.service.holds |= {f"held{number}": gate for number in range(4)}
    yield office.service.holds
    gate.set()


def test_one_person_whose_services_do_not_reply_takes_the_senders_of_nobody_else(
    office: Office, held: dict[str, threading.Event]
) -> None:
    for name in held:
        office.subscribe(name, office.sign_in("aaa"))

    def work() -> None:
        office.ask()
        assert office.service.next().path == "/push/ada"

    office.while_running(work)


def test_a_browser_whose_service_does_not_reply_delays_no_other_of_the_same_person(
    office: Office, held: dict[str, threading.Event]
) -> None:
    office.subscribe(next(iter(held)), office.sign_in("ada"))

    def work() -> None:
        for number in range(4):
            office.ask(replace(YES_NO, text=f"Number {number}?"), session=f"s{number}")
        assert sorted(office.next_body() for _ in range(4)) == [f"Number {number}?" for number in range(4)]

    office.while_running(work)


def test_what_goes_wrong_for_one_person_is_logged_once_and_the_others_are_told(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = {name: office.sign_in(name) for name in ("aaa", "bbb")}
    for name, session in sessions.items():
        office.subscribe(name, session)
    office.store.write(lambda tx: tx.run("put_push_wishes", session=sessions["bbb"], wishes="{}"))
    newest = Conversations.newest

    def fails(self: Conversations, user: str) -> object:
        return newest(self, user) if user == "ada" else 1 / 0

    monkeypatch.setattr(Conversations, "newest", fails)

    def work() -> None:
        for text in ("First?", "Second?"):
            office.ask(replace(YES_NO, text=text))
            assert office.next_body() == text

    office.while_running(work)
    ours = (pusher_module.logger.name, subscriptions.logger.name)
    logged = [record.getMessage() for record in caplog.records if record.name in ours]
    assert sorted(line.partition(":")[0] for line in logged) == [
        "Cannot look what to tell aaa",
        "What a browser of bbb wants to be told cannot be read",
    ]


def test_a_browser_that_was_signed_out_is_told_nothing(office: Office) -> None:
    office.desks.accounts.end_session(office.session, "ada")
    assert not office.pushes.all()
    office.session = office.sign_in("ada")
    office.subscribe("again")
    office.desks.accounts.revoke_user("ada")
    assert not office.pushes.all()


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (YES_NO, ["Yes", "No"]),
        (
            replace(COLOUR, title="", options=(Option(id="1", label="Red"), Option(id="2", label="Blue"))),
            ["Red", "Blue"],
        ),
        (COLOUR, []),  # one of them has more to say than its label
        (replace(YES_NO, text="Ship it? " * 40), []),
        (replace(YES_NO, text="Ship\nit?"), []),
        (replace(YES_NO, text="Ship \u202eit?"), []),
        (replace(YES_NO, id="approve"), []),
        (replace(COLOUR, options=tuple(Option(id=str(n), label=f"Number {n}") for n in range(4))), []),
        (replace(COLOUR, kind=Kind.TEXT, options=()), []),
    ],
)
def test_a_notification_answers_only_what_it_shows_whole(
    office: Office, question: Question, options: list[str]
) -> None:
    from sayso.web.push_messages import of_ask

    assert of_ask(office.ask(question)).data["options"] == options
    assert of_ask(wanted(office.desk)).data["options"] == []
