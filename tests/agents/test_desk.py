"""The desk of runs on every kind of store: who owns what, what may be at once, and events in their order."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from tests.asks.samples import FakeClock
from tests.conftest import OpenStore, die

from sayso.accounts import Accounts
from sayso.agents.desk import RunDesk
from sayso.agents.model import (
    Ending,
    EventKind,
    NewEvent,
    NewRun,
    Options,
    Picture,
    Project,
    Run,
    RunChoices,
    RunState,
    Saying,
    Spoken,
)
from sayso.agents.projects import Projects
from sayso.agents.queue import MOST_QUEUED
from sayso.errors import CalledOff, InvalidInput, NotFound, RunGoesOn, TooManyRuns
from sayso.records import replace
from sayso.store import Store

TOKEN = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def runs(store: Store, tmp_path: Path, clock: FakeClock) -> RunDesk:
    return RunDesk(store, tmp_path / "runs", clock=clock)


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Project:
    Accounts(store).add_user("ada")
    return Projects(store).add("ada", tmp_path, options=Options(ask_user_timeout=90))


def new_run(project: Project, conversation: str = "", prompt: str = "Do it", token: str = "") -> NewRun:
    return NewRun(project=project, prompt=prompt, token=token or str(uuid.uuid4()), conversation=conversation)


def text(words: str, kind: EventKind = EventKind.TEXT) -> NewEvent:
    return NewEvent(kind=kind, body={"text": words})


def done(runs: RunDesk, run: Run) -> Run:
    return runs.end(run.id, RunState.COMPLETED, Ending(cost_usd=0.5, turns=2, exit_code=0))


def test_a_conversation_is_handed_back_only_between_two_turns_and_with_a_session(
    runs: RunDesk, project: Project
) -> None:
    first = runs.open(new_run(project), most=9)
    with pytest.raises(RunGoesOn):
        runs.hand_back(first)
    first = done(runs, first)
    with pytest.raises(NotFound):
        runs.hand_back(first)
    second = done(runs, runs.note_session(runs.open(new_run(project, first.conversation), most=9).id, "s-1"))
    with pytest.raises(RunGoesOn):
        runs.hand_back(first)
    assert not second.is_handed_back
    back = runs.hand_back(second)
    assert (back.is_handed_back, back.to_copy) == (True, "s-1")
    third = runs.open(new_run(project, first.conversation), most=9)
    assert (third.is_handed_back, third.to_copy) == (True, "s-1")
    third = runs.note_session(third.id, "s-2")
    assert (third.is_handed_back, third.to_copy) == (False, "")


def test_a_turn_that_only_takes_over_rests_at_once_unless_something_was_said(runs: RunDesk, project: Project) -> None:
    new = replace(new_run(project, prompt=""), choices=RunChoices(copies="s-1", copied_to="step-9"))
    silent, spoken = (runs.open(replace(new, token=str(uuid.uuid4())), most=9) for _ in range(2))
    assert (silent.only_takes_over, silent.to_copy, silent.said, silent.untaken) == (True, "s-1", 1, 0)
    assert runs.rest_if_silent(silent.id).state is RunState.COMPLETED
    said = runs.say(spoken.id, Spoken(what=Saying.MESSAGE, text="Go on"), by="ada")
    assert not runs.rest_if_silent(spoken.id).state.ended
    assert [(number, each.text) for number, each in runs.to_be_said(said, after=0)] == [(2, "Go on")]
    # What was not yet said anything to is still the session of its terminal.
    back = runs.hand_back(runs.get(silent.id), last_step="step-11")
    assert (back.is_handed_back, back.session, back.choices.copied_to) == (True, "s-1", "step-11")
    found = runs.latest_in_session("s-1", "ada")
    assert (found and found.id, runs.latest_in_session("s-1", "eve"), runs.latest_in_session("", "ada")) == (
        silent.id,
        None,
        None,
    )
    again = runs.open(new_run(project, silent.conversation), most=9)
    told = runs.go_on_from(again.id, text("Meanwhile", EventKind.ELSEWHERE), copied_to="step-12")
    assert (told.choices.copied_to, len(runs.events_of(again.id, EventKind.ELSEWHERE))) == ("step-12", 1)


def test_a_conversation_that_joins_a_session_is_known_by_it_and_copies_nothing(runs: RunDesk, project: Project) -> None:
    choices = RunChoices(joins="s-1", server="/run/codex.sock")
    first = runs.open(replace(new_run(project), choices=choices), most=9)
    other = runs.open(new_run(project), most=9)
    assert [run.id for run in runs.joined_to("s-1")] == [first.id]
    back = runs.hand_back(done(runs, runs.note_session(first.id, "s-1")))
    assert (back.is_handed_back, back.to_copy) == (True, "")
    second = runs.open(new_run(project, first.conversation), most=9)
    assert (second.is_handed_back, second.to_copy, second.choices.joins) == (False, "", "s-1")
    assert other.choices.joins == ""


def test_a_run_is_found_by_its_token_while_it_is_on_and_by_none_afterwards(runs: RunDesk, project: Project) -> None:
    run = runs.open(new_run(project, token=TOKEN, prompt="All\x00 of it \ud83d\ude00"), most=3)
    found = runs.active(TOKEN)
    assert found == run
    assert (run.user, run.project.options.ask_user_timeout) == ("ada", 90)
    ended = done(runs, run)
    assert (ended.state, ended.token, ended.ending) == (
        RunState.COMPLETED,
        "",
        Ending(cost_usd=0.5, turns=2, exit_code=0),
    )
    assert runs.active(TOKEN) is None
    assert runs.active("") is None
    assert runs.get(run.id).token == ""
    # What has ended stays as it is.
    assert runs.end(run.id, RunState.LOST, Ending()).state is RunState.COMPLETED
    assert runs.want_stopped(run.id, "ada").stopped_by == ""


def test_one_conversation_of_a_project_takes_part_in_a_session_that_is_shared(runs: RunDesk, project: Project) -> None:
    session = str(uuid.uuid4())
    shared = replace(new_run(project), choices=RunChoices(joins=session, server="/run/codex.sock"))
    first = runs.open(shared, most=9)
    assert first.session == session
    with pytest.raises(RunGoesOn, match="takes part in this session already"):
        runs.open(replace(shared, token=str(uuid.uuid4())), most=9)
    done(runs, first)
    again = runs.open(replace(shared, conversation=first.conversation, token=str(uuid.uuid4())), most=9)
    assert (again.conversation, again.turn) == (first.conversation, 2)
    assert [each.id for each in runs.taken_over_from(session, "ada")] == [first.conversation]
    assert runs.taken_over_from(session, "grace") == []


def test_a_user_has_only_so_many_runs_and_a_conversation_one_at_a_time(runs: RunDesk, project: Project) -> None:
    first = runs.open(new_run(project), most=1)
    with pytest.raises(TooManyRuns, match="1 of your agents are at work"):
        runs.open(new_run(project), most=1)
    with pytest.raises(RunGoesOn, match="still at work"):
        runs.open(new_run(project, first.conversation), most=2)
    runs.note_session(first.id, "session-1")
    done(runs, first)
    second = runs.open(new_run(project, first.conversation), most=1)
    assert (second.turn, second.session, second.conversation) == (2, "session-1", first.id)
    with pytest.raises(NotFound):
        runs.open(new_run(project, "f" * 24), most=9)


def test_what_is_said_to_an_agent_is_numbered_kept_and_has_its_effect_once(runs: RunDesk, project: Project) -> None:
    run = runs.open(new_run(project, prompt="Begin"), most=1)
    runs.say(run.id, Spoken(what=Saying.MODE, text="plan"), by="ada")
    for _ in range(2):
        with suppress(CalledOff):
            runs.say(run.id, Spoken(what=Saying.MESSAGE, text="And this"), by="ada", attempt="one")
    now = runs.get(run.id)
    assert (now.said, now.untaken, now.options.permission_mode) == (3, 2, "plan")
    said = [(1, "message", "Begin"), (2, "mode", "plan"), (3, "message", "And this")]
    assert [(number, each.what, each.text) for number, each in runs.said(now, after=0)] == said
    assert [number for number, _ in runs.said(now, after=2)] == [3]
    done(runs, now)
    runs.choose(run.id, Spoken(what=Saying.MODEL, text="opus"))
    # The next turn of the same process counts on; one that gets a process of its own after all begins anew.
    second = runs.open(replace(new_run(project, run.id, prompt="Go on"), line=run.id), most=1)
    assert (second.line, second.said, second.folder) == (run.id, 4, now.folder)
    assert second.choices == RunChoices(model="opus", permission_mode="plan")
    runs.say(second.id, Spoken(what=Saying.MESSAGE, text="Quick"), by="ada")
    alone = runs.start_line(second.id, token=TOKEN)
    assert (alone.line, alone.token, alone.said, alone.untaken, alone.seen) == (second.id, TOKEN, 2, 2, 0)
    assert [(number, each.text) for number, each in runs.said(alone, after=0)] == [(1, "Go on"), (2, "Quick")]


def test_of_many_who_start_at_once_only_so_many_do(open_shared: OpenStore, tmp_path: Path) -> None:
    store = open_shared()
    Accounts(store).add_user("ada")
    project = Projects(store).add("ada", tmp_path, options=Options())
    stores = [store, open_shared()]
    gate = threading.Barrier(8)

    def start(number: int) -> bool:
        gate.wait(10)
        try:
            RunDesk(stores[number % 2], tmp_path).open(new_run(project), most=3)
        except TooManyRuns:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(start, range(8))) == 3


def test_events_keep_their_order_whoever_adds_them(open_shared: OpenStore, tmp_path: Path) -> None:
    store = open_shared()
    Accounts(store).add_user("ada")
    project = Projects(store).add("ada", tmp_path, options=Options())
    one, other = RunDesk(store, tmp_path), RunDesk(open_shared(), tmp_path)
    run = one.open(new_run(project), most=1)

    def add(runs: RunDesk) -> None:
        for number in range(20):
            runs.append(run.id, text(str(number), EventKind.NOTICE), text("again", EventKind.NOTICE))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, (one, other)))
    events = one.events(run.id, most=1000)
    assert [event.seq for event in events] == list(range(1, 81))
    assert [event.seq for event in one.events(run.id, after=78)] == [79, 80]


def test_a_whole_text_takes_the_place_of_its_parts_and_nothing_is_taken_in_twice(
    runs: RunDesk, project: Project
) -> None:
    run = runs.open(new_run(project), most=1)
    runs.take_in(run.id, [text("Hel", EventKind.DELTA)], seen=10)
    runs.take_in(run.id, [text("lo", EventKind.DELTA), text("ls", EventKind.NOTICE)], seen=20)
    assert [event.body["text"] for event in runs.events(run.id)] == ["Hel", "lo", "ls"]
    runs.take_in(run.id, [text("Hello")], seen=30)
    assert [(event.seq, event.body["text"]) for event in runs.events(run.id)] == [(3, "ls"), (4, "Hello")]
    assert runs.get(run.id).seen == 30
    with pytest.raises(NotFound):
        runs.append("0" * 24, text("nobody there"))


def test_conversations_are_their_owners_alone_and_go_when_they_are_old(
    runs: RunDesk, project: Project, clock: FakeClock, store: Store
) -> None:
    first = done(runs, runs.open(new_run(project, prompt="First"), most=3))
    clock.now += 1000
    other = done(runs, runs.open(new_run(project, prompt="Other"), most=3))
    clock.now += 1000
    again = runs.open(new_run(project, first.conversation, prompt="Again"), most=3)
    listed = runs.conversations("ada")
    assert [(each.first_prompt, each.latest.prompt) for each in listed] == [("First", "Again"), ("Other", "Other")]
    assert [each.id for each in runs.conversations("ada", before=again)] == [other.id]
    assert runs.conversations("bob") == []
    with pytest.raises(NotFound):
        runs.turns(first.conversation, "bob")
    assert [run.turn for run in runs.turns(first.conversation, "ada")] == [1, 2]
    clock.now += 10_000
    # The first turn is old, but its conversation goes on.
    assert runs.collect(5000, threading.Event()) == 1
    assert [each.id for each in runs.conversations("ada")] == [first.conversation]


def test_what_a_dead_process_followed_is_taken_over_once(open_shared: OpenStore, tmp_path: Path) -> None:
    gone, mine, other = open_shared(), open_shared(), open_shared()
    Accounts(gone).add_user("ada")
    project = Projects(gone).add("ada", tmp_path, options=Options())
    run = RunDesk(gone, tmp_path).open(new_run(project), most=1)
    runs = RunDesk(mine, tmp_path)
    assert runs.adopt_orphans() == []
    die(gone, mine)
    (taken,) = runs.adopt_orphans()
    assert (taken.id, taken.process) == (run.id, mine.bell().process)
    assert RunDesk(other, tmp_path).adopt_orphans() == []
    # Whoever was taken for dead and is not cannot take in what is another's now.
    with pytest.raises(NotFound):
        RunDesk(other, tmp_path).take_in(run.id, [text("twice")], seen=5)


def test_projects_are_their_owners_alone(store: Store, project: Project, tmp_path: Path) -> None:
    projects = Projects(store)
    assert projects.of("ada", project.id) == project
    for owner, number in (("bob", project.id), ("ada", 99)):
        with pytest.raises(NotFound):
            projects.of(owner, number)
    changed = projects.add("ada", tmp_path, name="Shop", options=Options(ask_user=False))
    assert (changed.id, changed.name, changed.options.ask_user) == (project.id, "Shop", False)
    projects.remove(project.id)
    assert projects.all() == []
    with pytest.raises(NotFound):
        projects.remove(project.id)
    assert projects.add("ada", tmp_path, options=Options()).id == project.id


@pytest.mark.requirement("P-73")
def test_a_wait_outside_its_bounds_and_a_directory_that_is_not_there_are_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        Projects(store).add("ada", tmp_path / "nowhere", options=Options(ask_user_timeout=901))
    assert [problem.path for problem in refused.value.problems] == ["directory", "ask_user_timeout"]


def test_a_queued_message_is_taken_once_as_it_reads_then_and_the_others_follow_the_new_turn(
    runs: RunDesk, project: Project
) -> None:
    run = runs.open(new_run(project), most=1)
    for words in ("First", "Second"):
        runs.queue.add(run, words)
    first, second = runs.queue.of(run.conversation)
    runs.queue.change(run, first.id, "First, in other words")
    assert runs.queue.due() == []
    done(runs, run)
    assert [message.text for message in runs.queue.due()] == ["First, in other words"]
    begun = runs.open(replace(new_run(project, run.conversation, prompt=""), queued=first.id), most=1)
    assert begun.prompt == "First, in other words"
    with pytest.raises(NotFound, match="does not wait any more"):
        runs.queue.remove(begun, first.id)
    with pytest.raises(NotFound):
        runs.queue.change(begun, first.id, "Too late")
    done(runs, begun)
    with pytest.raises(NotFound):
        runs.open(replace(new_run(project, run.conversation, prompt=""), queued=first.id), most=1)
    assert [message.id for message in runs.queue.due()] == [second.id]


@pytest.mark.parametrize("state", [RunState.STOPPED, RunState.FAILED, RunState.LOST])
def test_what_was_to_follow_a_turn_that_did_not_end_by_itself_waits_for_the_person(
    runs: RunDesk, project: Project, state: RunState
) -> None:
    run = runs.open(new_run(project), most=1)
    runs.queue.add(run, "Then this")
    (message,) = runs.queue.of(run.conversation)
    assert not message.is_held(run)
    assert message.is_held(runs.end(run.id, state, Ending()))
    # Nor does it follow another turn, until they say so.
    later = runs.open(new_run(project, run.conversation), most=1)
    assert message.is_held(later)
    runs.queue.change(later, message.id, "Then this, still")
    done(runs, later)
    assert [each.text for each in runs.queue.due()] == ["Then this, still"]


def test_a_queued_message_can_be_said_to_the_agent_at_work_and_only_so_many_wait(
    runs: RunDesk, project: Project
) -> None:
    run = runs.open(new_run(project), most=1)
    runs.queue.add(run, "Now after all", attempt="once")
    with pytest.raises(CalledOff):
        runs.queue.add(run, "Now after all", attempt="once")
    (message,) = runs.queue.of(run.conversation)
    runs.say(run.id, Spoken(what=Saying.MESSAGE), by="ada", queued=message.id)
    assert [event.body["text"] for event in runs.events_of(run.id, EventKind.SAID)] == ["Now after all"]
    with pytest.raises(NotFound):
        runs.say(run.id, Spoken(what=Saying.MESSAGE), by="ada", queued=message.id)
    for number in range(MOST_QUEUED):
        runs.queue.add(run, str(number))
    with pytest.raises(InvalidInput, match="20 messages wait already"):
        runs.queue.add(run, "One too many")


def test_a_conversation_has_another_stamp_after_whatever_is_new_in_it_and_the_same_after_news_of_others(
    runs: RunDesk, project: Project
) -> None:
    run, other = (runs.open(new_run(project), most=9) for _ in range(2))
    stamps = [runs.stamps([run.id])[run.id]]

    def is_new() -> bool:
        stamps.append(runs.stamps([other.id, run.id])[run.id])
        return stamps[-1] not in stamps[:-1]

    runs.take_in(run.id, [text("Half", EventKind.DELTA)], seen=4)
    assert is_new()
    runs.take_in(run.id, [text("Half of it")], seen=9)
    assert is_new()
    runs.say(run.id, Spoken(what=Saying.MODE, text="plan"), by="ada")
    assert is_new()
    runs.queue.add(run, "Later")
    assert is_new()
    (message,) = runs.queue.of(run.conversation)
    runs.queue.change(run, message.id, "Never")
    assert is_new()
    runs.queue.remove(run, message.id)
    runs.take_in(other.id, [text("News")], seen=4)
    runs.queue.add(other, "Later")
    assert not is_new(), "as it was before anything was queued"
    done(runs, run)
    assert is_new()
    again = runs.open(new_run(project, run.conversation), most=9)
    assert is_new()
    assert stamps[-1].latest == again.id
    assert runs.stamps(["nothing"])["nothing"].latest == ""


def test_the_last_thing_that_was_said_or_done_in_a_turn_is_found_behind_what_tells_nothing(
    runs: RunDesk, project: Project
) -> None:
    first, second = (runs.open(new_run(project), most=9) for _ in range(2))
    assert runs.last_said_or_done([first.id]) == {}
    tool = NewEvent(kind=EventKind.TOOL, body={"id": "1", "name": "Bash", "input": {"command": "make"}})
    usage = NewEvent(kind=EventKind.USAGE, body={"used": 1})
    runs.take_in(first.id, [text("Look"), tool, usage, text("Ha", EventKind.DELTA)], seen=4)
    runs.append(second.id, text("Done"), text("Noted", EventKind.NOTICE))
    found = runs.last_said_or_done([first.id, second.id])
    assert [found[run.id].body for run in (first, second)] == [tool.body, {"text": "Done"}]
    (listed,) = [each for each in runs.conversations("ada") if each.id == first.id]
    assert listed.events == 4


def test_a_conversation_has_a_name_is_put_away_and_found_again(
    runs: RunDesk, project: Project, clock: FakeClock
) -> None:
    ids = {}
    for prompt in ("Fix the Çeşme page", "Write the release notes"):
        clock.forward(1)
        ids[prompt] = done(runs, runs.open(new_run(project, prompt=prompt), most=1)).conversation
    fixed, notes = ids.values()
    assert [each.id for each in runs.conversations("ada")] == [notes, fixed]
    before = runs.conversation_versions("ada", most=10)
    runs.marks.name(fixed, "  Turkish \0names ")
    assert runs.conversation_versions("ada", most=10) != before
    runs.marks.archive(fixed)
    assert [each.id for each in runs.conversations("ada")] == [notes]
    assert [each.marks.title for each in runs.archived("ada")] == ["Turkish \0names"]
    for words in (["ÇEŞME"], ["turkish", "fix"], ["names"]):
        assert [each.id for each in runs.search("ada", words)] == [fixed]
    assert runs.search("ada", ["turkish", "notes"]) == runs.search("bob", ["notes"]) == []
    # Whoever goes on with it has it in the list again.
    clock.forward(1)
    on = runs.open(new_run(project, fixed, prompt="Go on"), most=1)
    runs.say(on.id, Spoken(what=Saying.MESSAGE, text="Mind the Umlaut"), by="ada")
    runs.say(on.id, Spoken(what=Saying.MODEL, text="opus"), by="ada")
    assert [each.id for each in runs.search("ada", ["umlaut", "ÇEŞME"])] == [fixed]
    assert runs.search("ada", ["opus"]) == runs.search("bob", ["umlaut"]) == []
    assert [each.id for each in runs.conversations("ada")] == [fixed, notes]
    assert [each.id for each in runs.search("ada", ["go on"])] == [fixed]


def test_a_search_finds_what_was_said_in_the_oldest_of_very_many_turns(
    runs: RunDesk, project: Project, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.agents.desk._SEARCHED_AT_ONCE", 2)
    first = runs.open(new_run(project, prompt="Mow the lawn"), most=1)
    runs.say(first.id, Spoken(what=Saying.MESSAGE, text="Mind the fence"), by="ada")
    done(runs, first)
    for _ in range(5):
        clock.forward(1)
        done(runs, runs.open(new_run(project, prompt="Rake the leaves"), most=1))
    clock.forward(1)
    done(runs, runs.open(new_run(project, first.conversation, prompt="Go on"), most=1))
    for words in (["lawn"], ["fence", "on"], ["mow", "fence", "go"]):
        assert [each.id for each in runs.search("ada", words)] == [first.conversation]
    assert len(runs.search("ada", ["rake"])) == 5
    assert runs.search("ada", ["rake", "fence"]) == []


def test_what_has_ended_since_it_was_last_seen_is_unread(runs: RunDesk, project: Project, clock: FakeClock) -> None:
    run = runs.open(new_run(project), most=1)
    runs.marks.see(run.conversation)
    clock.forward(1)
    assert not runs.conversations("ada")[0].is_unread
    done(runs, run)
    assert runs.conversations("ada")[0].is_unread
    runs.marks.see(run.conversation)
    assert not runs.conversations("ada")[0].is_unread


def test_pictures_are_kept_apart_from_events_and_said_with_their_message(runs: RunDesk, project: Project) -> None:
    first, second = Picture(media="image/png", data=b"\x00\xff"), Picture(media="image/gif", data=b"GIF89a")
    run = runs.open(replace(new_run(project), pictures=(first, second)), most=1)
    runs.say(run.id, Spoken(what=Saying.MESSAGE, text="Only words"), by="ada")
    runs.say(run.id, Spoken(what=Saying.MESSAGE, text="More", pictures=(second,)), by="ada")
    run = runs.get(run.id)
    told = [(number, each.text, each.pictures) for number, each in runs.to_be_said(run, after=0)]
    assert told == [(1, "Do it", (first, second)), (2, "Only words", ()), (3, "More", (second,))]
    assert [number for number, _ in runs.to_be_said(run, after=2)] == [3]
    assert [event.body.get("pictures") for event in runs.events(run.id)] == [2, None, 1]
    with pytest.raises(NotFound):
        runs.picture(run.id, 1, 2)


def test_pictures_of_a_queued_message_go_with_it_whenever_and_however_it_is_sent(
    runs: RunDesk, project: Project
) -> None:
    picture = Picture(media="image/gif", data=b"GIF89a\x00")
    run = runs.open(new_run(project), most=1)
    for words in ("Now", "Later", "Never"):
        runs.queue.add(run, words, pictures=(picture, picture))
    now, later, never = runs.queue.of(run.conversation)
    assert (now.pictures, later.pictures) == (2, 2)
    runs.say(run.id, Spoken(what=Saying.MESSAGE, text="Now, in other words"), by="ada", queued=now.id)
    told = runs.to_be_said(runs.get(run.id), after=1)
    assert [(each.text, each.pictures) for _, each in told] == [("Now, in other words", (picture, picture))]
    runs.queue.remove(run, never.id)
    done(runs, run)
    begun = runs.open(replace(new_run(project, run.conversation, prompt=""), queued=later.id), most=1)
    ((_, said),) = runs.to_be_said(begun, after=begun.said - 1)
    assert (said.text, said.pictures) == ("Later", (picture, picture))
    assert runs.queue.of(run.conversation) == []
