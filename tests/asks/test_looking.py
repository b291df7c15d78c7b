"""What surfaces see: the inbox, the history, short ids, drafts, and who else is looking."""

from __future__ import annotations

import json

import pytest
from tests.asks.samples import AGENT, ANNA, BEN, RED, FakeClock, ask, own_text
from tests.conftest import OpenStore, die

from sayso.asks import rows
from sayso.asks.crowds import Crowd, fold, gather, without_crowds
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, State
from sayso.asks.quorum import may_see
from sayso.errors import AmbiguousId, NotFound
from sayso.records import replace
from sayso.store import Store, Transaction


def test_the_inbox_shows_what_can_be_answered_oldest_first(desk: AskDesk, clock: FakeClock) -> None:
    opened = _open(desk, clock, 5)
    desk.answer(opened[1].id, RED, ANNA)
    desk.reject(opened[3].id, "", ANNA)
    assert [one.id for one in desk.inbox()] == [opened[place].id for place in (0, 2, 4)]
    assert desk.inbox_size() == 3


def test_the_inbox_comes_in_pages_that_join_without_gap_or_double(desk: AskDesk, clock: FakeClock) -> None:
    opened = _open(desk, clock, 7)
    same_moment = [desk.leave(ask(f"At once {number}?")) for number in range(7)]
    pages: list[list[Ask]] = [desk.inbox(most=3)]
    while pages[-1]:
        pages.append(desk.inbox(after=pages[-1][-1], most=3))
    seen = [one.id for page in pages for one in page]
    assert [len(page) for page in pages] == [3, 3, 3, 3, 2, 0]
    assert seen[:6] == [one.id for one in opened[:6]]
    assert set(seen) == {one.id for one in opened + same_moment}
    assert len(seen) == len(set(seen))


def test_the_inbox_of_a_project_shows_its_asks_only(desk: AskDesk) -> None:
    here = desk.leave(ask())
    there = desk.leave(ask(asker=replace(AGENT, project="/elsewhere")))
    assert desk.inbox(project=AGENT.project) == [here]
    assert desk.inbox(project="/elsewhere") == [there]
    assert desk.inbox(project="/nowhere") == []


def test_an_ask_with_an_owner_is_shown_to_that_person_and_to_whoever_sees_all(desk: AskDesk, clock: FakeClock) -> None:
    hers = desk.leave(ask(asker=replace(AGENT, owner="anna")))
    clock.forward(1)
    anyones = desk.leave(ask("Anyone?"))
    assert [one.id for one in desk.inbox(person="anna")] == [hers.id, anyones.id]
    assert [one.id for one in desk.inbox(person="ben")] == [anyones.id]
    assert [one.id for one in desk.inbox()] == [hers.id, anyones.id]
    for one in (hers, anyones):
        clock.forward(1)
        desk.decline(one.id, ANNA)
    assert [one.id for one in desk.history(person="ben")] == [anyones.id]
    assert [one.id for one in desk.history()] == [anyones.id, hers.id]


def test_a_person_sees_in_pages_what_everybody_sees_less_what_is_not_theirs(desk: AskDesk, clock: FakeClock) -> None:
    named = {"action": {}, "title": "", "scopes": [], "quorum": {}}
    for number in range(48):
        clock.forward(number % 2)
        new = ask(f"Question {number}?", asker=replace(AGENT, owner=("", "anna", "ben")[number % 3]))
        if number % 4 == 0:
            deciders = (["anna"], ["joanna", "ben"], ["ben", "anna"])[number % 5 % 3]
            new = replace(new, wanted={**named, "deciders": deciders}, digest="d")
        (desk.hold if number % 5 == 0 else desk.leave)(new)
    everything = desk.inbox()
    assert len(everything) == 48
    for person in ("anna", "ben", "joanna", "nobody"):
        theirs = [one.id for one in everything if may_see(one, person)]
        assert [one.id for one in desk.inbox(person=person)] == theirs
        found = [page := desk.inbox(person=person, most=7)]
        while page:
            found.append(page := desk.inbox(person=person, after=page[-1], most=7))
        assert [one.id for page in found for one in page] == theirs


@pytest.mark.finding("F-34")
def test_an_agent_with_many_open_is_one_entry_wherever_its_asks_stand(desk: AskDesk, clock: FakeClock) -> None:
    noisy, calm = AGENT, replace(AGENT, client="calm", pid=2)
    left = _open(desk, clock, 3, calm)
    noise = [*_open(desk, clock, 6, noisy), desk.hold(ask("Noise that is waited for?", asker=noisy)).ask]
    clock.forward(1)
    noise.append(desk.hold(ask("More noise?", asker=noisy)).ask)
    clock.forward(1)
    honest = desk.hold(ask("Honest?", asker=calm)).ask
    crowd, *others = desk.folded().entries
    assert isinstance(crowd, Crowd)
    assert (crowd.size, crowd.attended, crowd.newest) == (8, 2, noise[-1])
    assert [one.id for one in others] == [honest.id, *(one.id for one in left)]
    assert {one.id for one in desk.inbox(of=crowd.newest.asker)} == {one.id for one in noise}
    assert crowd == gather(noise)
    assert fold(desk.inbox()) == desk.folded().entries
    first = desk.folded(most=2)
    assert [one.id for one in first.entries] == [crowd.id, honest.id, left[0].id]
    rest = desk.folded(after=first.last, most=2)
    assert ([one.id for one in rest.entries], rest.last) == ([one.id for one in left[1:]], None)
    for one in noise[:3]:
        desk.reject(one.id, "", ANNA)
    assert len(desk.folded().entries) == 4 + 5
    assert fold(desk.inbox()) == desk.folded().entries
    few = desk.crowd(crowd.id)
    assert few is not None
    assert few.size == 5
    assert desk.crowd("0" * 16) is None


@pytest.mark.finding("F-34")
def test_a_permission_is_never_folded_away(desk: AskDesk, clock: FakeClock) -> None:
    _open(desk, clock, 6, AGENT)
    permission = desk.hold(replace(ask("May I?", asker=AGENT), bound=True)).ask
    wanted, crowd = desk.folded().entries
    assert wanted == permission
    assert isinstance(crowd, Crowd)
    assert crowd.size == 6
    assert [one.id for one in fold(desk.inbox())] == [permission.id, crowd.id]
    assert permission in without_crowds(desk.inbox())[0]
    assert permission not in desk.inbox(of=AGENT)


@pytest.mark.finding("F-34")
def test_one_process_is_a_crowd_for_each_of_its_clients_and_projects(desk: AskDesk, clock: FakeClock) -> None:
    one, other = replace(AGENT, project="/billing"), replace(AGENT, project="/blog")
    _open(desk, clock, 6, one)
    _open(desk, clock, 7, other)
    _open(desk, clock, 2, replace(AGENT, client="cursor"))
    first, second, *few = desk.folded().entries
    assert isinstance(first, Crowd)
    assert isinstance(second, Crowd)
    assert (first.newest.asker, first.size) == (one, 6)
    assert (second.newest.asker, second.size) == (other, 7)
    assert len(few) == 2
    assert fold(desk.inbox()) == desk.folded().entries
    assert len(desk.inbox(of=other)) == 7


@pytest.mark.finding("F-34")
def test_only_what_a_person_may_see_is_counted_for_them(desk: AskDesk, clock: FakeClock) -> None:
    _open(desk, clock, 4, replace(AGENT, owner="anna"))
    _open(desk, clock, 4, AGENT)
    (of_anna,) = desk.folded(person="anna").entries
    assert isinstance(of_anna, Crowd)
    assert of_anna.size == 8
    assert len(desk.folded(person="ben").entries) == 4


@pytest.mark.finding("F-34")
def test_an_ask_that_another_session_has_taken_over_counts_for_that_one(desk: AskDesk, clock: FakeClock) -> None:
    left = _open(desk, clock, 6, AGENT)
    heir = replace(AGENT, pid=99)
    for one in left:
        desk.attach(one.id, asker=heir)
    (crowd,) = desk.folded().entries
    assert isinstance(crowd, Crowd)
    assert crowd.name == heir.crowd
    assert (desk.open_of(AGENT), desk.open_of(heir)) == (0, 6)


def test_who_has_asked_what_is_open_is_known_by_processes_of_one_machine(desk: AskDesk) -> None:
    here = replace(AGENT, host="here", pid=7, started="1")
    token = replace(here, agent="token", pid=8)
    late = replace(here, pid=9)
    askers = (here, here, token, late, replace(here, pid=0), replace(here, host="there"), replace(here, pid=10))
    asks = [desk.leave(ask(f"Number {number}?", asker=asker)) for number, asker in enumerate(askers)]
    desk.answer(asks[-1].id, RED, ANNA)
    desk.time_out(desk.hold(ask("Number 3?", asker=late, timeout_ms=1)))
    assert desk.open_askers("here") == {here, token, late}
    assert desk.open_askers("nowhere") == set()


def test_the_asks_are_counted_by_state(desk: AskDesk, clock: FakeClock) -> None:
    assert set(desk.sizes().values()) == {0}
    opened = _open(desk, clock, 4)
    desk.answer(opened[0].id, RED, ANNA)
    held = desk.hold(ask("Timed out?", timeout_ms=1))
    desk.time_out(held)
    counted = desk.sizes()
    assert (counted[State.PENDING], counted[State.ANSWERED], counted[State.TIMED_OUT]) == (3, 1, 1)
    assert sum(counted.values()) == 5


def test_the_history_shows_what_ended_newest_first_in_pages(desk: AskDesk, clock: FakeClock) -> None:
    opened = _open(desk, clock, 5)
    for one in opened[:4]:
        clock.forward(10)
        desk.answer(one.id, RED, ANNA)
    first = desk.history(most=3)
    rest = desk.history(before=first[-1], most=3)
    assert [one.id for one in first + rest] == [one.id for one in opened[3::-1]]
    assert desk.history(project="/nowhere") == []


@pytest.mark.parametrize(
    "search",
    [
        "which COLOUR",
        "paint the shop",
        'said "maybe"',
        "back\\slash",
        "100%",
        "snake_case",
        "!",
        "ÜBER",
        "straße",
        "STRASSE",
        "two lines",
        "Red",
        "warm",
    ],
)
def test_the_history_is_searched_by_the_words_people_read_and_wrote(desk: AskDesk, search: str) -> None:
    wanted = desk.leave(ask('Which colour, he said "maybe"?', title="Paint the shop"))
    desk.answer(wanted.id, own_text("back\\slash 100% snake_case! über die Straße\ntwo\n  lines"), ANNA)
    other = desk.leave(replace(ask("Unlike?"), questions=()))
    desk.reject(other.id, "", ANNA)
    assert [one.id for one in desk.history(search=search)] == [wanted.id]


@pytest.mark.parametrize("search", ["question", "chosen", "null", "{", "snake-case", "100$", "anna", "an-agent"])
def test_the_history_is_not_searched_by_how_it_is_stored(desk: AskDesk, search: str) -> None:
    left = desk.leave(ask("Which colour?"))
    desk.answer(left.id, own_text("1000 snake_case"), ANNA)
    assert desk.history(search=search) == []


def test_the_history_finds_the_reason_of_a_rejection(desk: AskDesk) -> None:
    left = desk.leave(ask())
    desk.reject(left.id, "Ask me on Monday", ANNA)
    assert [one.id for one in desk.history(search="monday")] == [left.id]


def test_an_ask_is_found_by_the_beginning_of_its_id_in_any_spelling(desk: AskDesk) -> None:
    left = desk.leave(ask())
    spelt = f"{left.id[:8]}-{left.id[8:12]}".upper()
    assert desk.find(left.id) == desk.find(left.id[:8]) == desk.find(spelt) == left


def test_an_id_that_fits_several_names_them(desk: AskDesk) -> None:
    ids = [desk.leave(ask(f"Question {number}?")).id for number in range(40)]
    first = next(digit for digit in "0123456789abcdef" if sum(one.startswith(digit) for one in ids) > 1)
    with pytest.raises(AmbiguousId) as raised:
        desk.find(first)
    assert all(one in str(raised.value) for one in sorted(one for one in ids if one.startswith(first))[:10])


@pytest.mark.parametrize("given", ["", "-", "xyz", "%", "g", "deadbeef", "deadbeef" * 5])
def test_an_id_that_fits_nothing_is_not_found(desk: AskDesk, given: str) -> None:
    with pytest.raises(NotFound):
        desk.find(given)


def test_a_draft_is_kept_for_each_person_until_it_is_emptied(desk: AskDesk) -> None:
    left = desk.leave(ask())
    desk.keep_draft(left.id, "anna", "half a sen")
    desk.keep_draft(left.id, "anna", "half a sentence")
    desk.keep_draft(left.id, "ben", "other")
    assert desk.draft(left.id, "anna") == "half a sentence"
    assert desk.draft(left.id, "ben") == "other"
    desk.keep_draft(left.id, "anna", "")
    assert desk.draft(left.id, "anna") == ""
    assert desk.draft(left.id, "ben") == "other"


def test_a_draft_for_an_ask_that_is_gone_is_dropped_in_silence(desk: AskDesk) -> None:
    desk.keep_draft("f00d", "anna", "too late")
    assert desk.draft("f00d", "anna") == ""


def test_open_surfaces_are_those_of_living_processes(open_shared: OpenStore) -> None:
    dying, living, looking = open_shared(), open_shared(), AskDesk(open_shared())
    AskDesk(dying).show_up("terminal", "anna")
    AskDesk(living).show_up("browser", "ben")
    assert set(looking.open_surfaces()) == {ANNA, BEN}
    die(dying, living)
    assert looking.open_surfaces() == [BEN]
    AskDesk(living).go_away()
    assert looking.open_surfaces() == []


def test_a_surface_that_shows_up_twice_is_one(desk: AskDesk) -> None:
    desk.show_up("terminal", "anna")
    desk.show_up("browser", "ben")
    assert desk.open_surfaces() == [BEN]


def test_a_page_counts_for_those_who_look_at_it_and_have_the_ask_before_them(desk: AskDesk) -> None:
    everybodys, annas = desk.leave(ask("All?")), desk.leave(ask("Anna?", asker=replace(AGENT, owner="anna")))
    desk.show_up("browser", "ben", "cy")
    assert [each.person for each in desk.open_surfaces()] == ["ben", "cy"]
    assert (desk.is_looked_at(everybodys), desk.is_looked_at(annas)) == (True, False)
    desk.show_up("browser", "anna", "cy")
    assert desk.is_looked_at(annas)
    desk.show_up("terminal", "ben")
    assert desk.is_looked_at(annas), "a terminal shows all that is in the store"


def _open(desk: AskDesk, clock: FakeClock, count: int, asker: Asker = AGENT) -> list[Ask]:
    opened: list[Ask] = []
    for number in range(count):
        clock.forward(1)
        opened.append(desk.leave(ask(f"Question {number}?", asker=asker)))
    clock.forward(1)
    return opened


def test_what_a_newer_program_says_of_an_asker_is_left_out(store: Store, clock: FakeClock) -> None:
    desk = AskDesk(store, clock=clock)
    left = desk.leave(ask())

    def add_a_field(tx: Transaction) -> None:
        row = tx.one("ask_by_id", id=left.id)
        assert row is not None
        body = json.loads(row["body"])
        body["asker"]["mood"] = "calm"
        tx.run("change_ask", **{**rows.changes(left), "body": json.dumps(body)}, version=left.version)

    store.write(add_a_field)
    assert desk.get(left.id).asker == left.asker
