"""Sessions from terminals in Talk: taken over in a copy, at the end of a turn, and handed back."""

from __future__ import annotations

import json
import signal
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.asks.samples import ask, living
from tests.e2e.browser.conftest import PHONE
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.shared_codex import shared_session
from tests.e2e.talk.stage import Stage, new_stage, process_of
from tests.trees.repositories import new_repository
from tests.web.house import USER

from sayso.agents.model import EventKind, RunState
from sayso.asks.model import Asker
from sayso.clock import now_ms
from sayso.desks import open_desks
from sayso.roster import agent_id
from sayso.running.folder import is_running
from sayso.text import iso_time

pytestmark = pytest.mark.usefixtures("read_quickly")

SAID: list[dict[str, Any]] = [
    {"type": "user", "message": {"content": "Fix <b>it</b>."}, "timestamp": "2026-01-01T10:00:00Z"},
    {
        "type": "assistant",
        "message": {"content": [{"type": "text", "text": "It is **fixed**."}], "stop_reason": "end_turn"},
    },
]
ASKED: dict[str, Any] = {"type": "user", "message": {"content": "And the tests?"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A page that is served by Ada, whose agents wait for the next message."""
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay")), person=USER, run_rest="60s") as stage:
        yield stage


class InTerminal:
    """A session of Claude Code in a terminal, as a hook has noted it and as its file tells it."""

    def __init__(self, stage: Stage, project: str, session: str = "", works_in: Path | None = None) -> None:
        self.session = session or str(uuid.uuid4())
        folder = stage.house.place.home / ".claude" / "projects" / project
        folder.mkdir(parents=True, exist_ok=True)
        self._file, self.memory = folder / f"{self.session}.jsonl", stage.house.place.home / f"{self.session}.txt"
        self.memory.write_text('"Fix it."\n')
        asker = living(session=self.session, project=str(works_in or stage.folder / project), branch="main")
        self.asker, self._place = asker, stage.house.place
        with closing(open_desks(self._place.config())) as desks:
            desks.roster.note_gate(asker, "")
        self.page = f"/agents/{agent_id(asker)}"

    def ends(self) -> None:
        with closing(open_desks(self._place.config())) as desks:
            desks.roster.note_end(self.asker)

    def says(self, *entries: dict[str, Any]) -> None:
        with self._file.open("a") as file:
            named = ({"uuid": str(uuid.uuid4()), **entry} for entry in entries)
            file.write("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in named))


def in_terminal(stage: Stage, project: str, *entries: dict[str, Any]) -> InTerminal:
    session = InTerminal(stage, project)
    session.says(*entries)
    return session


def taken_over(stage: Stage, session: InTerminal, *steps: str, shown: str = "") -> str:
    """The conversation that goes on from a session."""
    reply = stage.visitor().post(f"{session.page}/take", prompt="\n".join(steps), shown=shown)
    assert reply.status == 303, reply.text
    return reply.headers["location"].removeprefix("/talk/")


def notices(stage: Stage, conversation: str) -> list[str]:
    return [event.body["text"] for event in stage.events(stage.latest(conversation), EventKind.NOTICE)]


def test_a_session_is_taken_over_in_a_copy_and_stays_as_it_is(home: Stage) -> None:
    home.project("copied")
    session, visitor = in_terminal(home, "copied", *SAID), home.visitor()
    assert session.page.removeprefix("/") in visitor.get("/talk").text
    page = visitor.get(session.page).text
    assert "Fix &lt;b&gt;it&lt;/b&gt;." in page
    assert "It is <strong>fixed</strong>." in page
    assert "Take over" in page
    assert "is in the middle of a turn" not in page
    conversation = taken_over(home, session, "remember")
    run = home.ended(conversation)
    assert home.texts(run) == ['Before: ["Fix it."]']
    assert run.session not in ("", session.session)
    assert session.memory.read_text() == '"Fix it."\n'
    assert "Begun in a terminal" in visitor.get(f"/talk/{conversation}").text
    # From now on it is a conversation like any other, with one session and one process.
    visitor.go_on(conversation, "remember")
    again = home.ended(conversation)
    assert home.texts(again) == ['Before: ["Fix it.", "remember"]']
    assert (again.session, again.line) == (run.session, run.line)


def test_a_press_that_comes_twice_takes_over_once(home: Stage) -> None:
    home.project("pressed")
    session, visitor = in_terminal(home, "pressed", *SAID), home.visitor()
    form = {"prompt": "say Once", "attempt": "a-press"}
    first, second = (visitor.post(f"{session.page}/take", **form).headers["location"] for _ in range(2))
    assert first == second != "/talk", "the second leads where the first one did"
    assert home.texts(home.ended(first.removeprefix("/talk/"))) == ["Once"]


def test_a_turn_in_the_terminal_is_waited_for_also_by_the_next_server(home: Stage) -> None:
    home.project("busy")
    session, visitor = in_terminal(home, "busy", *SAID, ASKED), home.visitor()
    assert "in the middle of a turn" in visitor.get(session.page).text
    conversation = taken_over(home, session, "remember")
    home.until_true(lambda: any("in the middle of a turn" in text for text in notices(home, conversation)))
    page = visitor.get(f"/talk/{conversation}").text
    assert "Taking over" in page
    assert "data-between-turns disabled" in page
    refused = visitor.post(f"/talk/{conversation}/hand-back")
    assert (refused.status, "Not handed back." in refused.text, "Not sent." in refused.text) == (409, True, False)
    before = home.latest(conversation)
    home.house.web.stop(signal.SIGKILL)
    home.house.restart()
    home.until_true(lambda: home.latest(conversation).process != before.process)
    assert not home.latest(conversation).state.ended
    session.says({**ASKED, "message": {"content": "Never mind."}, "timestamp": iso_time(now_ms())}, SAID[-1])
    assert home.texts(home.ended(conversation)) == ['Before: ["Fix it."]']
    # The page has all that is in the copy, and apart from that what was said in the terminal since.
    session.says({**ASKED, "message": {"content": "Later."}, "timestamp": iso_time(now_ms() + 60_000)})
    talk = visitor.get(f"/talk/{conversation}").text.partition("<article")[2]
    copied, _, since = talk.partition("Said in the terminal since")
    assert ("Never mind." in copied, "Later." in copied, "Later." in since) == (True, False, True)
    assert sum("in the middle of a turn" in text for text in notices(home, conversation)) == 1


def test_what_the_terminal_asks_while_its_turn_is_waited_for_stands_in_the_conversation(home: Stage) -> None:
    home.project("asked")
    session, visitor = in_terminal(home, "asked", *SAID, ASKED), home.visitor()
    conversation = taken_over(home, session, "say Hello")
    with closing(open_desks(home.house.place.config())) as desks:
        others = [desks.asks.hold(ask("Which hut?", asker=Asker(client=f"agent-{number}"))) for number in range(101)]
        held = desks.asks.hold(ask("Which pier?", asker=session.asker))
        home.until_true(lambda: f'data-card="{held.ask.id}"' in visitor.get(f"/talk/{conversation}").text)
        page = visitor.get(f"/talk/{conversation}").text
        assert page.count(f'data-card="{held.ask.id}"') == 1
        assert "Which pier?" in page
        assert f'action="asks/{held.ask.id}"' in page
        assert 'class="at-work">Claude waits for you' in page
        for each in (held, *others):
            desks.asks.release(each, "over")
    session.says(SAID[-1])
    assert home.texts(home.ended(conversation)) == ["Hello"]


def test_conversations_from_one_terminal_name_each_other_and_so_does_its_page(home: Stage) -> None:
    home.project("twice")
    session, visitor = in_terminal(home, "twice", *SAID), home.visitor()
    first, second = taken_over(home, session, "say First"), taken_over(home, session, "say Second")
    for each in (first, second):
        home.ended(each)
    for here, other in ((first, second), (second, first)):
        article = visitor.get(f"/talk/{here}").text.partition("<article")[2]
        assert f'Taken over from the same terminal: <a href="talk/{other}"' in article
    before = visitor.get(session.page).text.partition("Taken over before: ")[2].partition("</p>")[0]
    assert before.index(second) < before.index(first), "the newest first"


def test_a_message_by_which_a_session_is_taken_over_while_it_is_being_taken_over_goes_there_too(home: Stage) -> None:
    home.project("again-at-work")
    session = in_terminal(home, "again-at-work", *SAID)
    conversation = taken_over(home, session, "say First")
    back = home.ended(conversation)
    assert home.visitor().post(f"/talk/{conversation}/hand-back").status == 303
    again = InTerminal(home, "again-at-work", back.session)
    again.says(*SAID, {**ASKED, "timestamp": iso_time(now_ms())})
    assert taken_over(home, again, "say Second") == conversation
    assert taken_over(home, again, "say Third") == conversation
    again.says({**SAID[-1], "timestamp": iso_time(now_ms())})
    home.until_true(lambda: home.latest(conversation).state.ended)
    said = [text for run in home.runs.turns(conversation, USER) for text in home.texts(run)]
    assert said == ["First", "Second", "Third"]


def test_a_session_that_ends_in_the_middle_of_its_turn_is_gone_on_from_and_that_is_told(home: Stage) -> None:
    home.project("broken-off")
    session = in_terminal(home, "broken-off", *SAID, ASKED)
    conversation = taken_over(home, session, "remember")
    home.until_true(lambda: any("in the middle of a turn" in text for text in notices(home, conversation)))
    session.ends()
    assert home.texts(home.ended(conversation)) == ['Before: ["Fix it."]']
    assert "ended in the middle of a turn" in notices(home, conversation)[1]


@pytest.mark.parametrize("how", ["stop", "interrupt"])
def test_who_stops_it_before_the_turn_is_over_has_sent_nothing(home: Stage, how: str) -> None:
    home.project(f"called-off-{how}")
    session, visitor = in_terminal(home, f"called-off-{how}", *SAID, ASKED), home.visitor()
    conversation = taken_over(home, session, "remember")
    home.until_true(lambda: any("in the middle of a turn" in text for text in notices(home, conversation)))
    assert visitor.post(f"/talk/{conversation}/{how}").status == 303
    run = home.ended(conversation)
    assert run.state is RunState.STOPPED
    assert run.ending
    assert run.ending.message.startswith("Not taken over")
    assert not home.events(run, EventKind.STARTED)
    # A next message is another try.
    session.says(SAID[-1])
    visitor.go_on(conversation, "remember")
    assert home.texts(home.ended(conversation)) == ['Before: ["Fix it."]']


def test_a_conversation_is_handed_back_with_its_command_and_goes_on_here_in_a_copy(home: Stage, tmp_path: Path) -> None:
    visitor, go = home.visitor(), tmp_path / "go"
    conversation = visitor.start(home.project("handed back"), f"wait {go}", "say Done")
    refused = visitor.post(f"/talk/{conversation}/hand-back")
    assert (refused.status, "still at work" in refused.text) == (409, True)
    go.touch()
    run = home.ended(conversation)
    agent = process_of(run)
    assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
    assert not agent.is_running()
    page = visitor.get(f"/talk/{conversation}").text
    assert "Handed back." in page
    assert f"cd &#39;{run.directory}&#39; &amp;&amp; claude --resume {run.session}" in page
    memory = home.house.place.home / f"{run.session}.txt"
    with memory.open("a") as file:
        file.write('"In the terminal"\n')
    visitor.go_on(conversation, "remember")
    after = home.ended(conversation)
    (text,) = home.texts(after)
    assert text.endswith('"In the terminal"]')
    assert after.session != run.session
    assert memory.read_text().endswith('"In the terminal"\n')
    assert "Handed back." not in visitor.get(f"/talk/{conversation}").text


def test_nobody_else_reads_or_takes_over_a_session_and_none_without_a_project(home: Stage) -> None:
    home.project("others", owner="eve")
    session = in_terminal(home, "others", *SAID)
    eve, ada = home.visitor("eve"), home.visitor()
    assert "It is" not in eve.get(session.page).text
    assert eve.post(f"{session.page}/take", prompt="say Mine").status == 422
    page = ada.get(session.page).text
    assert f"sayso project add {home.folder / 'others'}" in page
    assert "Take over" not in page
    assert ada.post(f"{session.page}/take", prompt="say Mine").status == 422
    home.project("others")
    assert ada.post(f"{session.page}/take", prompt="  ").status == 422
    assert not [run for run in home.runs.open_of(USER) if run.project.name == "others"]


def test_taken_over_without_a_message_its_agent_is_there_before_the_first_one(home: Stage) -> None:
    home.project("silent")
    session, visitor = in_terminal(home, "silent", *SAID), home.visitor()
    conversation = taken_over(home, session)
    rest = home.ended(conversation)
    page = visitor.get(f"/talk/{conversation}").text
    assert "Taken over from the terminal." in page
    assert "Ready for your next message" in page
    assert '<h1 dir="auto">Fix &lt;b&gt;it&lt;/b&gt;.</h1>' in page
    agent = home.until(lambda: process_of(rest) if (rest.folder / "runner.json").exists() else None)
    visitor.go_on(conversation, "remember")
    run = home.ended(conversation)
    assert (home.texts(run), run.line, process_of(run)) == (['Before: ["Fix it."]'], rest.line, agent)
    assert home.events(run, EventKind.COMMANDS), "it was greeted"
    assert run.session not in ("", session.session)


def test_what_was_taken_over_and_nothing_said_to_can_be_handed_back_and_taken_again(home: Stage) -> None:
    home.project("changed my mind")
    session, visitor = in_terminal(home, "changed my mind", *SAID), home.visitor()
    conversation = taken_over(home, session)
    agent = process_of(home.ended(conversation))
    assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
    assert not agent.is_running()
    assert "Nothing was said here" in visitor.get(f"/talk/{conversation}").text
    session.says(ASKED, SAID[-1])
    assert taken_over(home, session, "remember") == conversation
    run = home.ended(conversation)
    assert home.texts(run) == ['Before: ["Fix it."]']
    assert [event.body["by_person"] for event in home.events(run, EventKind.ELSEWHERE)] == [True, False]


def test_a_message_that_comes_while_the_turn_in_the_terminal_goes_on_is_sent_after_it(home: Stage) -> None:
    home.project("impatient")
    session, visitor = in_terminal(home, "impatient", *SAID, ASKED), home.visitor()
    conversation = taken_over(home, session)
    home.until_true(lambda: any("in the middle of a turn" in text for text in notices(home, conversation)))
    visitor.go_on(conversation, "remember")
    home.house.web.stop(signal.SIGKILL)
    home.house.restart()
    session.says(SAID[-1])
    run = home.ended(conversation)
    assert (run.turn, home.texts(run)) == (1, ['Before: ["Fix it."]'])
    assert home.events(run, EventKind.TAKEN)


def test_a_copy_ends_with_the_step_that_was_shown_and_what_was_said_since_is_told(home: Stage, tmp_path: Path) -> None:
    home.project("exact")
    first, last = ({**entry, "uuid": str(uuid.uuid4())} for entry in SAID)
    session, visitor, told = in_terminal(home, "exact", first, last), home.visitor(), tmp_path / "told"
    assert f'name="shown" value="{last["uuid"]}"' in visitor.get(session.page).text
    # Between the look and the press, somebody writes in the terminal.
    session.says({**ASKED, "uuid": str(uuid.uuid4())})
    conversation = taken_over(home, session, f"environment {told}", shown=last["uuid"])
    run = home.ended(conversation)
    assert ["--resume-session-at", last["uuid"]] == json.loads(told.read_text())["argv"][-2:]
    assert not [text for text in notices(home, conversation) if "in the middle of a turn" in text]
    before, _, since = visitor.get(f"/talk/{conversation}").text.partition("Said in the terminal since")
    assert ("It is <strong>fixed</strong>." in before, "And the tests?" in since) == (True, True)
    assert run.choices.copied_to == last["uuid"]


def test_what_was_said_in_the_terminal_after_a_hand_back_is_told_when_it_goes_on_here(home: Stage) -> None:
    home.project("there and back")
    visitor = home.visitor()
    conversation = visitor.start(home.project("there and back"), "say Done")
    run = home.ended(conversation)
    mine = InTerminal(home, "there and back", run.session)
    mine.says({**SAID[0], "uuid": "u-1"}, {**SAID[1], "uuid": "u-2"})
    assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
    mine.says(
        {**ASKED, "uuid": "u-3"},
        {**SAID[1], "uuid": "u-4", "message": {"content": "They pass.", "stop_reason": "end_turn"}},
    )
    # Taken over on the session's own page, it is the same conversation that goes on.
    assert taken_over(home, mine, "remember") == conversation
    after = home.ended(conversation)
    told = [(event.body["by_person"], event.body["text"]) for event in home.events(after, EventKind.ELSEWHERE)]
    assert told == [(True, "And the tests?"), (False, "They pass.")]
    assert after.choices.copied_to == "u-4"
    page = visitor.get(f"/talk/{conversation}").text.partition("data-turns")[2]
    assert "in the terminal" in page
    assert page.index("And the tests?") < page.index("They pass.") < page.index("</bdi>remember"), "as it was said"


def test_a_conversation_in_a_worktree_that_was_handed_back_is_taken_over_again_where_it_stands(home: Stage) -> None:
    project, visitor = home.project("treed"), home.visitor()
    (home.folder / "treed").rmdir()
    new_repository(home.folder / "treed", shop_py="one\n")
    reply = visitor.post("/talk", project=str(project), prompt="say Done", worktree="1")
    conversation = reply.headers["location"].removeprefix("/talk/")
    run = home.ended(conversation)
    mine = InTerminal(home, "treed", run.session, run.directory)
    mine.says({**SAID[0], "uuid": "w-1"}, {**SAID[1], "uuid": "w-2"})
    assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
    mine.says({**ASKED, "uuid": "w-3"}, {**SAID[1], "uuid": "w-4"})
    assert taken_over(home, mine, "say Here again") == conversation
    assert home.texts(home.ended(conversation)) == ["Here again"]


def test_where_a_conversation_was_begun_is_told_after_it_was_handed_back_too(home: Stage) -> None:
    home.project("begun there")
    session, visitor = in_terminal(home, "begun there", SAID[0], {**SAID[1], "uuid": "b-1"}), home.visitor()
    conversation = taken_over(home, session, "say Here", shown="b-1")
    home.ended(conversation)
    assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
    assert "It is <strong>fixed</strong>." in visitor.get(f"/talk/{conversation}").text
    visitor.go_on(conversation, "say Here again")
    home.ended(conversation)
    page = visitor.get(f"/talk/{conversation}").text
    assert page.count("Begun in a terminal") == page.count("It is <strong>fixed</strong>.") == 1


def test_what_is_said_in_the_terminal_after_a_hand_back_appears_as_it_is_said(home: Stage, sign_in: SignIn) -> None:
    visitor, other = home.visitor(), sign_in("/talk", to=home, **PHONE)
    conversation = visitor.start(home.project("seen from here"), "say Done")
    mine = InTerminal(home, "seen from here", home.ended(conversation).session)
    mine.says({**SAID[0], "uuid": "s-1"}, {**SAID[1], "uuid": "s-2"})
    other.goto(f"/talk/{conversation}")
    assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
    # Handed back by one browser, another one that has it open says so, with what is said there from then on.
    expect(other.locator(".handed-back")).to_contain_text("claude --resume")
    mine.says({**ASKED, "uuid": "s-3"})
    since = other.locator(".since-back")
    expect(since).to_contain_text("And the tests?")
    other.get_by_label("Go on", exact=True).fill("Half written")
    since.locator("summary").tap()
    mine.says({**SAID[1], "uuid": "s-4", "message": {"content": "They <i>pass</i>.", "stop_reason": "end_turn"}})
    expect(since).to_contain_text("They <i>pass</i>.")
    expect(since).not_to_have_attribute("open", "")
    expect(other.get_by_label("Go on", exact=True)).to_have_value("Half written")
    visitor.go_on(conversation, "say Here again")
    expect(other.locator("#turn-2 .spoken").last).to_have_text("Here again")
    earlier = other.locator("#turn-2 [data-earlier] > div")
    expect(earlier).to_contain_text(["And the tests?", "They <i>pass</i>."])
    expect(other.locator(".handed-back, .since-back")).to_have_count(0)


def test_what_is_said_in_the_terminal_after_a_takeover_appears_apart_as_it_is_said(home: Stage) -> None:
    home.project("apart")
    session = in_terminal(home, "apart", SAID[0], {**SAID[1], "uuid": "a-1"})
    conversation = taken_over(home, session, "remember", shown="a-1")
    home.ended(conversation)
    with home.visitor().stream(f"/talk/{conversation}/events?after=1.0") as told:
        began = (message["began"] for message in told if message["type"] == "beside")
        assert "Said in the terminal since" not in next(began)
        session.says({**ASKED, "uuid": "a-2"})
        assert "And the tests?" in next(began).partition("Said in the terminal since")[2]
    assert "And the tests?" not in home.visitor("eve").get(f"/talk/{conversation}").text


def test_the_row_of_a_session_says_what_is_said_in_it_as_its_file_grows(home: Stage) -> None:
    home.project("listed")
    session = in_terminal(home, "listed", *SAID)
    name = session.page.removeprefix("/agents/")
    with home.visitor().stream("/events") as told:
        rows = (message["rows"][name] for message in told if name in message.get("rows", {}))
        assert any("It is fixed." in row for row in rows)
        session.says({**ASKED, "message": {"content": "And the <i>nets</i>?"}})
        assert any("At work" in row and "And the &lt;i&gt;nets&lt;/i&gt;?" in row for row in rows)


def test_the_page_of_a_session_follows_it_as_its_file_grows(home: Stage) -> None:
    home.project("followed")
    session, visitor = in_terminal(home, "followed", *SAID), home.visitor()
    with visitor.stream(f"{session.page}/events") as told:
        assert "It is <strong>fixed</strong>." in next(told)["html"]
        session.says({**ASKED, "uuid": "u-9"})
        news = next(told)
        assert ("And the tests?" in news["html"], "in the middle of a turn" in news["html"], news["step"]) == (
            True,
            True,
            "",
        )
        session.says({**SAID[-1], "uuid": "u-10"})
        assert next(told)["step"] == "u-10"
    assert home.visitor("eve").get(f"{session.page}/events").status == 404


def test_on_a_phone_the_session_grows_under_ones_eyes_and_what_is_half_written_stays(
    home: Stage, sign_in: SignIn
) -> None:
    home.project("phone")
    session = in_terminal(home, "phone", *SAID)
    page = sign_in(session.page, to=home, **PHONE)
    page.get_by_label("Go on here").fill("Half written")
    session.says(ASKED)
    expect(page.locator(".session-state")).to_contain_text("in the middle of a turn")
    expect(page.locator("[data-shown-step]")).to_have_value("")
    session.says({**SAID[-1], "uuid": "u-20", "message": {"content": "They <i>pass</i>.", "stop_reason": "end_turn"}})
    expect(page.locator(".in-terminal")).to_contain_text("They <i>pass</i>.")
    expect(page.locator("[data-shown-step]")).to_have_value("u-20")
    page.reload()
    expect(page.get_by_label("Go on here")).to_have_value("Half written")
    page.get_by_label("Go on here").fill("")
    page.get_by_role("button", name="Take over").tap()
    expect(page.get_by_text("Ready for your next message")).to_be_visible()
    expect(page.locator(".from-terminal")).to_contain_text("They <i>pass</i>.")
    page.get_by_label("Go on", exact=True).fill("remember")
    page.get_by_role("button", name="Send", exact=True).tap()
    expect(page.locator("#turn-2 .spoken")).to_have_text('Before: ["Fix it."]')


def test_a_session_of_codex_on_a_shared_server_is_joined_and_both_see_what_either_says(home: Stage) -> None:
    home.project("shared", agent="codex")
    visitor = home.visitor()
    with shared_session(home, "shared") as (terminal, page):
        terminal.is_told("Count the boats.")
        terminal.says("Seven.")
        terminal.ends()
        assert "takes part in this very session" in visitor.get(page).text
        reply = visitor.post(f"{page}/take", prompt="")
        conversation = reply.headers["location"].removeprefix("/talk/")
        # From another browser, before its agent is there: one session has one conversation.
        other = home.visitor().post(f"{page}/take", prompt="")
        assert other.headers["location"] == reply.headers["location"]
        first = home.ended(conversation)
        assert (first.session, first.ending and first.ending.message) == (terminal.name, "")
        assert "Seven." in visitor.get(f"/talk/{conversation}").text
        # From here, to the terminal.
        visitor.go_on(conversation, "And the nets?")
        home.until_true(lambda: len(terminal.messages) == 1)
        terminal.says("None.")
        terminal.ends()
        mine = home.ended(conversation)
        assert (mine.turn, home.texts(mine), home.events(mine, EventKind.ELSEWHERE)) == (2, ["None."], [])
        # From the terminal, to here: a turn that nobody here began, steered and interrupted from here.
        terminal.is_told("Paint the hull.")
        theirs = home.until(lambda: run if (run := home.latest(conversation)).turn == 3 else None)
        home.until_true(lambda: bool(home.events(theirs, EventKind.ELSEWHERE)))
        visitor.go_on(conversation, "In blue.")
        home.until_true(lambda: len(terminal.messages) == 2)
        assert terminal.messages[-1]["expectedTurnId"] == "turn-3"
        assert "Stop Codex" not in visitor.get(f"/talk/{conversation}").text
        # Stop is no more than that for what belongs to a terminal.
        visitor.post(f"/talk/{conversation}/stop")
        assert home.ended(conversation).state is RunState.STOPPED
        assert [event.body["text"] for event in home.events(theirs, EventKind.ELSEWHERE)] == ["Paint the hull."]
        # Handed back, it goes on in the terminal; the next message joins it again and tells what was said meanwhile.
        assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
        assert "goes on in the terminal that it was shared with" in visitor.get(f"/talk/{conversation}").text
        terminal.is_told("In green, then.")
        terminal.says("Green it is.")
        terminal.ends()
        assert visitor.post(f"{page}/take", prompt="Well done.").headers["location"] == f"/talk/{conversation}"
        home.until_true(lambda: len(terminal.messages) == 4)
        terminal.says("Thank you.")
        terminal.ends()
        again = home.ended(conversation)
        meanwhile = [event.body["text"] for event in home.events(again, EventKind.ELSEWHERE)]
        assert (again.session, meanwhile, home.texts(again)) == (
            terminal.name,
            ["In green, then.", "Green it is."],
            ["Thank you."],
        )


def test_nothing_of_a_shared_session_is_told_twice_whenever_it_is_joined_and_whatever_ends_its_server(
    home: Stage,
) -> None:
    home.project("told once", agent="codex")
    visitor = home.visitor()
    with shared_session(home, "told once") as (terminal, page):
        terminal.is_told("Count the gulls.")
        terminal.says("Nine.")
        terminal.ends()
        terminal.is_told("Count the crabs.")
        # In the middle of that turn: it is told with the turn, above the message that steers it, and not before.
        conversation = visitor.post(f"{page}/take", prompt="Quickly.").headers["location"].removeprefix("/talk/")
        home.until_true(lambda: len(terminal.messages) == 1)
        terminal.says("Four.")
        terminal.ends()
        home.ended(conversation)
        shown = visitor.get(f"/talk/{conversation}").text.partition("<article")[2]
        assert [shown.count(text) for text in ("Count the gulls.", "Nine.", "Count the crabs.")] == [1, 1, 1]
        assert shown.index("Nine.") < shown.index("Count the crabs.") < shown.index("</bdi>Quickly.")
        assert visitor.post(f"/talk/{conversation}/hand-back").status == 303
        terminal.is_told("Feed them.")
        terminal.says("Fed.")
        terminal.ends()
        visitor.go_on(conversation, "Well done.")
        home.until_true(lambda: len(terminal.messages) == 2)
        terminal.says("Thanks.")
        terminal.ends()
        assert [event.body["text"] for event in home.events(home.ended(conversation), EventKind.ELSEWHERE)] == [
            "Feed them.",
            "Fed.",
        ]
        terminal.is_told("Go home.")
        theirs = home.until(lambda: run if (run := home.latest(conversation)).turn == 3 else None)
        terminal.says("Gone.")
        terminal.ends()
        assert home.ended(conversation).id == theirs.id
        process_of(theirs).kill()
    home.until_true(lambda: not is_running(theirs.folder))
    visitor.go_on(conversation, "Still there?")
    copied = home.ended(conversation)
    assert "goes on here in a copy" in notices(home, conversation)[0]
    assert home.events(copied, EventKind.ELSEWHERE) == []
