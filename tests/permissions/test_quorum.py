"""Several people agree to one permission: nobody counts twice, nothing is allowed below what the rules need, and an
edit, a no, a time that is over or a yes taken back count as they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.asks.samples import AGENT
from tests.permissions.test_desk import PUSH, QUESTION

from sayso.accounts import Accounts
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, NewAsk, Settler, State
from sayso.asks.quorum import Demand, Quorum, deciders, next_escalation, yeses_of
from sayso.chain import LogKind
from sayso.cli.web import yourself
from sayso.config import Config, system_user
from sayso.errors import AlreadySettled, InvalidInput
from sayso.permissions.action import asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.permissions.parts import parts_of_asking
from sayso.permissions.rules_here import Rules
from sayso.permissions.verdict import Decision, allowed_by, verdict_of
from sayso.records import asdict, replace
from sayso.store import Store
from sayso.store.sqlite import SqliteStore

MINUTE = 60_000
TWO = Demand(rule="Bash(git push *)", place="/etc/sayso/rules.toml:3", people=("ada", "bo", "cy"), need=2)
OPEN = NewAsk(tool="approve", title="Allow it?", questions=(QUESTION,), asker=AGENT)


def by(person: str, account: str = "") -> Settler:
    return Settler(person=person, surface="page", account=account)


class Place:
    """A desk with a clock that a test moves."""

    def __init__(self, store: Store) -> None:
        self.store, self.now = store, 1_000_000
        self.asks = AskDesk(store, clock=lambda: self.now)
        self.desk = PermissionDesk(self.asks)

    def ask(self, *demands: Demand, whose: str = "dan", everyone: tuple[str, ...] = ()) -> Ask:
        quorum = Quorum(demands=demands or (TWO,), whose=whose, all_people=everyone)
        return self.asks.hold(asking(OPEN, PUSH, takes_changes=True, quorum=quorum)).ask

    def yes(self, ask: Ask, person: str) -> Ask:
        return self.desk.allow(ask.id, self.asks.get(ask.id).digest, by(person))

    def kinds(self, ask: Ask) -> list[tuple[LogKind, str]]:
        found = PermissionLog(self.store).find(ask.id).entries
        return [(entry.event.kind, entry.event.person) for entry in found]


def ask_by_rule(place: Place, folder: Path, demands: str, asker: Asker) -> Ask:
    """What this asker wants, where a rule demands that."""
    config = Config(project=folder, user_dir=folder, state_dir=folder)
    config.user_rules.write_text(f'[[rule]]\nask = ["Bash(git *)"]\n{demands}\n')
    quorum = PermissionDesk(place.asks, Rules(config)).by_rules(PUSH, asker).quorum
    return place.asks.hold(asking(OPEN, PUSH, quorum=quorum)).ask


@pytest.fixture
def place() -> Iterator[Place]:
    in_memory = SqliteStore.in_memory()
    yield Place(in_memory)
    in_memory.close()


def test_it_is_allowed_with_the_last_yes_that_is_needed_and_not_before(store: Store) -> None:
    place = Place(store)
    ask = place.ask()
    assert place.yes(ask, "ada").state is State.PENDING
    assert place.yes(ask, "ada").state is State.PENDING
    assert allowed_by(place.asks.get(ask.id)) is None
    allowed = place.yes(ask, "cy")
    verdict = verdict_of(allowed)
    assert verdict
    assert (verdict.allows(PUSH), verdict.person) == (True, "ada and cy")
    assert place.kinds(ask) == [
        (LogKind.ASKED, ""),
        (LogKind.AGREED, "ada"),
        (LogKind.AGREED, "cy"),
        (LogKind.ALLOWED, "ada and cy"),
    ]
    assert PermissionLog(place.store).check().whole


def test_a_yes_of_somebody_else_is_refused_with_who_can_and_recorded(place: Place) -> None:
    ask = place.ask()
    with pytest.raises(InvalidInput, match=r"eve cannot allow this\. It takes a yes of ada, bo, cy\."):
        place.yes(ask, "eve")
    assert yeses_of(place.asks.get(ask.id)) == ()
    assert place.kinds(ask)[-1] == (LogKind.REFUSED, "eve")


def test_a_no_of_one_ends_it_at_once(place: Place) -> None:
    ask = place.ask()
    place.yes(ask, "ada")
    place.desk.deny(ask.id, by("bo"), "not on a Friday")
    verdict = verdict_of(place.asks.get(ask.id))
    assert verdict
    assert (verdict.decision, verdict.person) == (Decision.DENIED, "bo")
    with pytest.raises(AlreadySettled):
        place.yes(ask, "cy")


def test_nobody_becomes_somebody_else_by_another_name_in_the_settings(place: Place) -> None:
    ask = place.ask()
    place.desk.allow(ask.id, ask.digest, by("ada", account="ada"))
    assert place.desk.allow(ask.id, ask.digest, by("bo", account="ada")).state is State.PENDING
    assert [yes.person for yes in yeses_of(place.asks.get(ask.id))] == ["ada"]


def test_the_one_whose_agent_it_is_does_not_count(place: Place) -> None:
    ask = place.ask(replace(TWO, not_asker=True), whose="ada")
    with pytest.raises(InvalidInput, match="it is their own agent"):
        place.yes(ask, "ada")
    place.yes(ask, "bo")
    assert place.yes(ask, "cy").state is State.ANSWERED
    nobodys = place.ask(replace(TWO, not_asker=True), whose="")
    for person in TWO.people:
        with pytest.raises(InvalidInput):
            place.yes(nobodys, person)
    assert "nobody knows whose agent this is" in parts_of_asking(nobodys)[0].text


def test_an_agent_whose_token_names_nobody_is_not_taken_for_that_of_the_systems_user(
    place: Place, tmp_path: Path
) -> None:
    ask = ask_by_rule(place, tmp_path, "not_asker = true", Asker(agent="laptop", project=str(tmp_path)))
    for person in (system_user(), "bo"):
        with pytest.raises(InvalidInput, match=f"{person} cannot allow this"):
            place.yes(ask, person)
    assert "nobody knows whose agent this is" in parts_of_asking(ask)[0].text


def test_one_person_with_a_name_on_the_page_and_another_to_the_system_counts_once(place: Place) -> None:
    assert yourself(Accounts(place.store), "ada of the page") == "ada.of.the.page"
    anyone = replace(TWO, people=())
    ask = place.ask(anyone)
    place.yes(ask, "ada.of.the.page")
    again = place.desk.allow(ask.id, ask.digest, by("whoever", system_user()))
    assert [yes.person for yes in yeses_of(again)] == ["ada.of.the.page"]
    assert not yeses_of(place.desk.take_back(ask.id, by("whoever", system_user())))
    own = place.ask(replace(anyone, not_asker=True, need=1), whose=system_user())
    with pytest.raises(InvalidInput, match="their own agent"):
        place.yes(own, "ada.of.the.page")
    assert place.yes(own, "bo").state is State.ANSWERED


def test_what_several_rules_demand_is_demanded_together(place: Place) -> None:
    ask = place.ask(TWO, Demand(rule="Bash", place="~/rules.toml:9", people=("eve",)))
    place.yes(ask, "ada")
    assert place.yes(ask, "bo").state is State.PENDING
    allowed = verdict_of(place.yes(ask, "eve"))
    assert allowed
    assert (allowed.allowed, allowed.person) == (True, "ada, bo and eve")


def test_a_yes_can_be_taken_back_until_it_is_decided(place: Place) -> None:
    ask = place.ask()
    place.yes(ask, "ada")
    place.desk.take_back(ask.id, by("ada"))
    with pytest.raises(InvalidInput, match="nothing to take back"):
        place.desk.take_back(ask.id, by("ada"))
    place.yes(ask, "bo")
    assert place.yes(ask, "ada").state is State.ANSWERED
    with pytest.raises(AlreadySettled):
        place.desk.take_back(ask.id, by("ada"))
    assert (LogKind.TAKEN_BACK, "ada") in place.kinds(ask)


def test_an_edit_starts_again_from_nobody_and_is_what_the_others_look_at(place: Place) -> None:
    ask = place.ask()
    place.yes(ask, "ada")
    dry = {"command": "git push --dry-run"}
    edited = place.desk.allow(ask.id, ask.digest, by("bo"), changed_input=dry)
    assert edited.digest != ask.digest
    assert [yes.person for yes in yeses_of(edited)] == ["bo"]
    assert deciders(edited) == ("ada", "bo", "cy")
    assert "bo has changed what the agent wanted" in parts_of_asking(edited)[0].text
    assert edited.wanted
    assert (edited.wanted["scopes"], edited.wanted["takes_changes"]) == (["once"], True)
    with pytest.raises(InvalidInput, match="is not the digest of what the agent wants"):
        place.desk.allow(ask.id, ask.digest, by("cy"))
    verdict = verdict_of(place.yes(ask, "cy"))
    assert verdict
    assert verdict.action
    assert (verdict.edited, verdict.action.data["input"], verdict.allows(PUSH)) == (True, dry, False)
    undone = place.ask()
    place.desk.allow(undone.id, undone.digest, by("bo"), changed_input=dry)
    again = place.desk.take_back(undone.id, by("bo"))
    assert (again.digest, again.title) == (undone.digest, undone.title)
    assert "has changed" not in parts_of_asking(again)[0].text
    place.yes(undone, "ada")
    verdict = verdict_of(place.yes(undone, "bo"))
    assert verdict
    assert (verdict.edited, verdict.allows(PUSH)) == (False, True)


def test_a_change_back_to_what_the_agent_wants_starts_again_from_nobody_too(place: Place) -> None:
    ask = place.ask()
    edited = place.desk.allow(ask.id, ask.digest, by("ada"), changed_input={"command": "git push --dry-run"})
    back = place.desk.allow(ask.id, edited.digest, by("bo"), changed_input=PUSH.data["input"])
    assert (back.state, back.digest) == (State.PENDING, PUSH.digest)
    assert [yes.person for yes in yeses_of(back)] == ["bo"]
    assert "Agreed: bo. Awaited: 1 more of ada, cy." in parts_of_asking(back)[0].text
    verdict = verdict_of(place.yes(ask, "cy"))
    assert verdict
    assert (verdict.allows(PUSH), verdict.person) == (True, "bo and cy")


def test_when_its_time_is_over_no_yes_counts_and_nobody_has_decided(place: Place) -> None:
    ask = place.ask(replace(TWO, timeout_ms=10 * MINUTE))
    place.yes(ask, "ada")
    place.now += 10 * MINUTE
    with pytest.raises(AlreadySettled, match="Its time was over"):
        place.yes(ask, "bo")
    place.asks.time_out(next(iter(place.asks.held_here().values())))
    verdict = verdict_of(place.asks.get(ask.id))
    assert verdict
    assert verdict.decision is Decision.UNDECIDED


def test_after_a_while_others_are_asked_as_well(place: Place) -> None:
    ask = place.ask(replace(TWO, escalate_after_ms=20 * MINUTE, escalate_to=("eve",)))
    held = next(iter(place.asks.held_here().values()))
    assert (deciders(ask), next_escalation(ask)) == (("ada", "bo", "cy"), place.now + 20 * MINUTE)
    assert "on also: eve." in parts_of_asking(ask)[0].text
    assert "on also" not in parts_of_asking(place.ask())[0].text
    assert place.asks.escalate(held)[1] is False
    with pytest.raises(InvalidInput):
        place.yes(ask, "eve")
    place.now += 20 * MINUTE
    escalated, more = place.asks.escalate(held)
    assert (more, deciders(escalated), next_escalation(escalated)) == (True, ("ada", "bo", "cy", "eve"), None)
    assert place.asks.escalate(held)[1] is False
    place.yes(ask, "eve")
    assert place.yes(ask, "ada").state is State.ANSWERED
    assert [kind for kind, _ in place.kinds(ask)].count(LogKind.ESCALATED) == 1


def test_who_is_asked_by_name_sees_what_somebody_elses_agent_wants(store: Store) -> None:
    place = Place(store)
    new = replace(OPEN, asker=replace(AGENT, owner="dan"))
    place.asks.hold(asking(new, PUSH, quorum=Quorum(demands=(TWO,), whose="dan")))
    assert [len(place.asks.inbox(person=person)) for person in ("dan", "ada", "eve", "a")] == [1, 1, 0, 0]
    place.desk.delegate("ada", "eve", place.now + MINUTE)
    assert len(place.asks.inbox(person="eve")) == 1


def test_a_stand_in_counts_for_the_one_who_is_away_once_and_not_for_others(place: Place) -> None:
    place.desk.delegate("ada", "eve", place.now + MINUTE)
    place.desk.delegate("eve", "fay", place.now + MINUTE)
    ask = place.ask()
    with pytest.raises(InvalidInput):
        place.yes(ask, "fay")
    place.yes(ask, "eve")
    assert place.kinds(ask)[-1] == (LogKind.AGREED, "eve for ada")
    assert place.yes(ask, "ada").state is State.PENDING
    verdict = verdict_of(place.yes(ask, "bo"))
    assert verdict
    assert (verdict.allowed, verdict.person) == (True, "ada and bo")
    later = place.ask()
    place.now += MINUTE
    with pytest.raises(InvalidInput):
        place.yes(later, "eve")
    assert place.desk.delegations() == []


def test_when_nobody_stands_in_any_more_is_logged_once(place: Place) -> None:
    def logged() -> list[str]:
        entries = [outcome.entry for outcome in PermissionLog(place.store).outcomes()]
        return [entry.event.title for entry in entries if entry.event.kind is LogKind.DELEGATED]

    place.desk.delegate("ada", "eve", place.now + MINUTE)
    assert [place.desk.end_delegation("ada") for _ in range(2)] == [True, False]
    assert logged() == ["Nobody decides for ada any more", "eve decides for ada"]


@pytest.mark.parametrize("revoked", ["ada", "eve"])
def test_nobody_stands_in_for_somebody_who_was_revoked_nor_the_other_way_round(place: Place, revoked: str) -> None:
    accounts = Accounts(place.store, clock=lambda: place.now)
    for name in ("ada", "eve"):
        accounts.add_user(name)
    place.desk.delegate("ada", "eve", place.now + MINUTE)
    ask = place.ask()
    accounts.revoke_user(revoked)
    accounts.add_user(revoked)
    with pytest.raises(InvalidInput):
        place.yes(ask, "eve")
    logged = [outcome.entry.event for outcome in PermissionLog(place.store).outcomes()]
    assert ("Nobody decides for ada any more", f"{revoked} was revoked") in [(each.title, each.why) for each in logged]


def test_a_stand_in_does_not_count_for_the_one_whose_agent_it_is(place: Place) -> None:
    place.desk.delegate("ada", "eve", place.now + MINUTE)
    ask = place.ask(replace(TWO, not_asker=True), whose="ada")
    with pytest.raises(InvalidInput):
        place.yes(ask, "eve")


def test_a_stand_in_does_not_count_for_them_either_where_the_page_knows_them_by_another_name(
    place: Place, tmp_path: Path
) -> None:
    own = yourself(Accounts(place.store), "ada of the page")
    place.desk.delegate(own, "eve", place.now + MINUTE)
    demands = f'approvers = ["{own}", "cy"]\nnot_asker = true'
    ask = ask_by_rule(place, tmp_path, demands, Asker(project=str(tmp_path)))
    with pytest.raises(InvalidInput, match=r"eve cannot allow this\. It takes a yes of cy\."):
        place.yes(ask, "eve")
    assert place.yes(ask, "cy").state is State.ANSWERED


def test_the_card_says_who_has_agreed_who_is_awaited_and_which_rule_says_so(place: Place) -> None:
    ask = place.ask(replace(TWO, timeout_ms=MINUTE))
    text = parts_of_asking(place.yes(ask, "ada"))[0].text
    for said in (
        "Must agree: 2 of ada, bo, cy. /etc/sayso/rules.toml:3 says so, for Bash(git push *).",
        "Agreed: ada. Awaited: 1 more of bo, cy.",
        "it is a no",
    ):
        assert said in text


def test_where_there_are_too_few_people_the_card_says_that_it_can_never_be_allowed(place: Place) -> None:
    alone = place.ask(everyone=("ada",))
    assert "There is one person here (ada), so this can never be allowed" in parts_of_asking(alone)[0].text
    place.yes(alone, "ada")
    assert place.asks.get(alone.id).state is State.PENDING
    enough = place.ask(everyone=("ada", "bo"))
    assert "never" not in parts_of_asking(enough)[0].text


def test_an_allow_that_not_enough_have_agreed_to_lets_nothing_be_done(place: Place) -> None:
    ask = place.ask()
    allowed = place.yes(ask, "ada"), place.yes(ask, "bo")
    outcome = allowed[1].outcome
    assert outcome
    assert allowed_by(allowed[1]) is not None
    to_another = [asdict(replace(yes, digest="0" * 64)) for yes in yeses_of(allowed[1])]
    for yeses in ([], to_another):
        forged = replace(allowed[1], wanted={**(ask.wanted or {}), "yeses": yeses})
        assert allowed_by(forged) is None


PEOPLE = ("ada", "bo", "cy", "dan", "eve")
someone = st.sampled_from(PEOPLE)


class Agreeing(RuleBasedStateMachine):
    """Yeses, noes and stand-ins in any order, beside a model that only counts."""

    @initialize(
        need=st.integers(1, 3),
        people=st.lists(someone, min_size=1, max_size=4, unique=True),
        whose=someone,
        not_asker=st.booleans(),
    )
    def begin(self, need: int, people: list[str], whose: str, not_asker: bool) -> None:
        self.store = SqliteStore.in_memory()
        self.place = Place(self.store)
        self.demand = replace(TWO, people=tuple(people), need=need, not_asker=not_asker)
        self.id = self.place.ask(self.demand, whose=whose).id
        self.out = {whose} if not_asker else set()
        self.agreed: dict[str, set[str]] = {}
        """Who has agreed, and the names that can count for."""
        self.away: dict[str, str] = {}
        self.denied = False

    @property
    def ask(self) -> Ask:
        return self.place.asks.get(self.id)

    @rule(person=someone)
    def say_yes(self, person: str) -> None:
        own = {person} & set(self.demand.people)
        others = {name for name, other in self.away.items() if other == person and name in self.demand.people}
        names = (own or others) - self.out if person not in self.out else set()
        open_before = self.ask.state is State.PENDING
        try:
            self.place.yes(self.ask, person)
        except AlreadySettled:
            assert not open_before
        except InvalidInput:
            assert not names
        else:
            assert names
            self.agreed.setdefault(person, names)

    @rule(person=someone)
    def say_no(self, person: str) -> None:
        if self.ask.state is State.PENDING and len(self.agreed) > 2:
            self.place.desk.deny(self.id, by(person))
            self.denied = True

    @rule(person=someone)
    def take_back(self, person: str) -> None:
        if self.ask.state is State.PENDING and person in self.agreed:
            self.place.desk.take_back(self.id, by(person))
            del self.agreed[person]

    @rule(person=someone, other=someone)
    def hand_over(self, person: str, other: str) -> None:
        if person != other:
            self.place.desk.delegate(person, other, self.place.now + MINUTE)
            self.away[person] = other

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()

    @invariant()
    def it_is_allowed_exactly_when_enough_have_agreed(self) -> None:
        if hasattr(self, "place") and not self.denied:
            assert (allowed_by(self.ask) is not None) is (_most(self.agreed) >= self.demand.need)


def _most(agreed: dict[str, set[str]]) -> int:
    """How many can sit, each in one place, each place taken once: tried in every way."""
    if not agreed:
        return 0
    (_, names), *rest = agreed.items()
    without = _most(dict(rest))
    return max([without, *(1 + _most({who: left - {name} for who, left in rest}) for name in names)])


TestAgreeing = Agreeing.TestCase
TestAgreeing.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
