"""The permission desk: an allow is for one exact action, and nothing else in the program can say it."""

from __future__ import annotations

import pytest
from tests.asks.samples import AGENT, ANNA, BEN

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Kind, NewAsk, Option, Question, Settler, State
from sayso.errors import AlreadySettled, InvalidInput
from sayso.permissions.action import Action, ActionKind, AllowScope, action_of, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.ruled import LEFT_TO_PEOPLE
from sayso.permissions.verdict import Decision, verdict_of
from sayso.records import replace
from sayso.store import Store

PUSH = Action(kind=ActionKind.SHELL, tool="Bash", folder="/srv/shop", data={"input": {"command": "git push"}})
QUESTION = Question(
    id="decision",
    text="May it?",
    kind=Kind.SELECT,
    options=(Option(id="allow", label="Allow"), Option(id="deny", label="Deny")),
)


@pytest.fixture
def permissions(desk: AskDesk) -> PermissionDesk:
    return PermissionDesk(desk)


def wanted(desk: AskDesk, action: Action = PUSH, *, takes_changes: bool = False) -> Ask:
    new = NewAsk(tool="approve", title="Allow it?", questions=(QUESTION,), asker=AGENT)
    scopes = (AllowScope.ONCE, AllowScope.SESSION)
    return desk.hold(asking(new, action, scopes, takes_changes=takes_changes)).ask


def test_an_allow_names_the_action_that_was_shown(desk: AskDesk, permissions: PermissionDesk) -> None:
    ask = wanted(desk)
    for digest in ("", "0" * 64, ask.digest[:-1], replace(PUSH, folder="/").digest):
        with pytest.raises(InvalidInput, match="is not the digest of what the agent wants"):
            permissions.allow(ask.id, digest, ANNA)
    assert desk.get(ask.id).state is State.PENDING
    allowed = permissions.allow(ask.id, PUSH.digest, ANNA, AllowScope.SESSION)
    verdict = verdict_of(desk.get(ask.id))
    assert verdict
    assert verdict.allows(PUSH)
    assert (verdict.person, verdict.surface, verdict.scope) == (ANNA.person, ANNA.surface, AllowScope.SESSION)
    assert verdict.at == allowed.ended_at
    assert (desk.events(ask.id)[-1].kind, desk.events(ask.id)[-1].detail) == ("allowed", PUSH.digest)


def test_nothing_can_be_allowed_whose_digest_is_not_that_of_what_is_wanted(
    desk: AskDesk, permissions: PermissionDesk
) -> None:
    new = NewAsk(tool="approve", title="Allow it?", questions=(QUESTION,), asker=AGENT)
    other = replace(PUSH, folder="/").digest
    ask = desk.hold(replace(asking(new, PUSH), digest=other)).ask
    for digest in (other, PUSH.digest):
        with pytest.raises(InvalidInput, match="is not the digest of what the agent wants"):
            permissions.allow(ask.id, digest, ANNA)
    assert desk.get(ask.id).state is State.PENDING


@pytest.mark.parametrize(
    "other",
    [{"session": "b"}, {"client": "b"}, {"host": "b"}, {"pid": 4243}, {"started": "18"}, {"run": "b"}],
    ids=lambda other: next(iter(other)),
)
def test_an_allow_for_a_session_holds_while_it_is_the_same_run_of_the_same_process(
    desk: AskDesk, permissions: PermissionDesk, other: dict[str, object]
) -> None:
    ask = wanted(desk)
    permissions.allow(ask.id, ask.digest, ANNA, AllowScope.SESSION)
    assert permissions.allow_again(PUSH, AGENT, LEFT_TO_PEOPLE)
    assert not permissions.allow_again(PUSH, replace(AGENT, **other), LEFT_TO_PEOPLE)


def test_an_edit_counts_that_only_changes_what_kind_of_value_something_is(
    desk: AskDesk, permissions: PermissionDesk
) -> None:
    sums = replace(PUSH, kind=ActionKind.MCP, tool="mcp__sums__add", data={"input": {"given": {"dry": 1, "most": 2}}})
    ask, edit = wanted(desk, sums, takes_changes=True), {"given": {"dry": True, "most": 2.0}}
    permissions.allow(ask.id, ask.digest, ANNA, changed_input=edit)
    verdict = verdict_of(desk.get(ask.id))
    assert verdict
    assert verdict.edited
    assert verdict.action
    assert verdict.allows(verdict.action)
    assert str(verdict.action.data["input"]) == str(edit)


def test_no_answer_settles_a_permission(desk: AskDesk, permissions: PermissionDesk) -> None:
    ask = wanted(desk)
    with pytest.raises(InvalidInput, match="allow or deny it"):
        desk.answer(ask.id, [Answer(question="decision", chosen=("allow",))], ANNA)
    assert desk.get(ask.id).state is State.PENDING
    permissions.deny(ask.id, ANNA, "not on a Friday")
    verdict = verdict_of(desk.get(ask.id))
    assert verdict
    assert (verdict.decision, verdict.because) == (Decision.DENIED, "not on a Friday")


def test_a_verdict_that_comes_late_is_refused_and_recorded(desk: AskDesk, permissions: PermissionDesk) -> None:
    ask = wanted(desk)
    held = desk.held_here()
    desk.release(held[ask.wait.id if ask.wait else ""], "the call is over")
    with pytest.raises(AlreadySettled):
        permissions.allow(ask.id, ask.digest, ANNA)
    verdict = verdict_of(desk.get(ask.id))
    assert verdict
    assert verdict.decision is Decision.UNDECIDED
    last = desk.events(ask.id)[-1]
    assert (last.kind, last.person, last.detail.startswith("too late")) == ("refused", ANNA.person, True)
    other = wanted(desk)
    permissions.deny(other.id, BEN)
    with pytest.raises(AlreadySettled, match="Already denied in browser by ben"):
        permissions.allow(other.id, other.digest, ANNA)
    third = wanted(desk)
    permissions.note_decided_elsewhere(third.id, Settler(person="", surface="the terminal of Codex"), "allowed there")
    with pytest.raises(AlreadySettled, match="Already decided in the terminal of Codex, just now"):
        permissions.allow(third.id, third.digest, ANNA)


def test_a_person_can_allow_something_else_instead_and_that_is_what_is_recorded(
    desk: AskDesk, permissions: PermissionDesk
) -> None:
    ask = wanted(desk, takes_changes=True)
    dry = {"command": "git push --dry-run"}
    with pytest.raises(InvalidInput, match="not what your edit comes to now"):
        permissions.allow(ask.id, ask.digest, ANNA, changed_input=dry, edited_digest=ask.digest)
    permissions.allow(ask.id, ask.digest, ANNA, changed_input=dry)
    verdict = verdict_of(desk.get(ask.id))
    assert verdict
    assert (verdict.edited, verdict.word) == (True, "allowed as edited")
    assert verdict.action
    assert verdict.action.data["input"] == {"command": "git push --dry-run"}
    assert verdict.allows(verdict.action)
    assert not verdict.allows(PUSH)
    run = Action(kind=ActionKind.COMMAND, tool="git", folder="/", data={"argv": ["git"]})
    with pytest.raises(InvalidInput, match="cannot be changed here"):
        permissions.allow(wanted(desk, run).id, run.digest, ANNA, changed_input={"argv": []})
    with pytest.raises(InvalidInput, match="cannot be changed here"):
        permissions.allow(wanted(desk).id, PUSH.digest, ANNA, changed_input=dry)


def test_a_permission_whose_texts_are_forgotten_allows_nothing_more(store: Store) -> None:
    desk = AskDesk(store, keeps_history=lambda _: False)
    ask = wanted(desk)
    held = next(iter(desk.held_here().values()))
    PermissionDesk(desk).allow(ask.id, ask.digest, ANNA)
    desk.delivered(held)
    forgotten = desk.get(ask.id)
    assert forgotten.is_permission
    assert action_of(forgotten) is None
    assert "git push" not in str(forgotten)
