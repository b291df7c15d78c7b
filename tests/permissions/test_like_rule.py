"""A rule that a person makes of one action: it allows that one now, and the like of it from then on."""

from __future__ import annotations

import os
import stat
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import DAY, FakeClock, living
from tests.permissions.test_desk import QUESTION

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, NewAsk, Settler, State
from sayso.asks.quorum import quorum_of
from sayso.chain import LogKind
from sayso.config import Config, load
from sayso.desks import Desks, open_desks
from sayso.errors import AlreadySettled, InvalidInput
from sayso.permissions.action import Action, ActionKind, AllowScope, asking, scopes_of
from sayso.permissions.hindsight import hindsight
from sayso.permissions.like_rule import LikeRule, RuleReach
from sayso.permissions.like_view import look_at
from sayso.permissions.ruled import LEFT_TO_PEOPLE
from sayso.records import replace
from sayso.rules.adding import NewRule, made_ready
from sayso.store.sqlite import SqliteStore

EVERYWHERE, PROJECT, SESSION = RuleReach.EVERYWHERE, RuleReach.PROJECT, RuleReach.SESSION


@pytest.fixture
def config(tmp_path: Path) -> Config:
    folder = tmp_path / "shop"
    folder.mkdir()
    return load(cwd=folder)


@pytest.fixture
def desks(config: Config) -> Iterator[Desks]:
    with open_desks(config) as opened:
        yield opened


@pytest.fixture
def me(config: Config) -> Settler:
    return Settler(person=config.person, surface="browser")


def asker(config: Config, session: str = "s-1", project: str = "") -> Asker:
    return living(session=session, project=project or str(config.project))


def shell(config: Config, line: str) -> Action:
    return Action(kind=ActionKind.SHELL, tool="Bash", folder=str(config.project), data={"input": {"command": line}})


def asked(desks: Desks, action: Action, who: Asker, scopes: tuple[AllowScope, ...] = (AllowScope.ONCE,)) -> Ask:
    new = NewAsk(tool="approve", title="Allow it?", questions=(QUESTION,), asker=who)
    return desks.asks.hold(asking(new, action, scopes, takes_changes=True)).ask


def put(desks: Desks, line: str, **who: str) -> Ask:
    return asked(desks, shell(desks.config, line), asker(desks.config, **who))


def is_allowed(desks: Desks, line: str, **who: str) -> bool:
    ruled = desks.permissions.by_rules(shell(desks.config, line), asker(desks.config, **who))
    return ruled.allowed is not None


def test_it_is_allowed_once_and_the_rule_holds_from_the_next_action_on(desks: Desks, me: Settler) -> None:
    ask = put(desks, "npm test -- --watch")
    offer = desks.permissions.likes.offer(ask, me.person)
    assert offer.texts == ("Bash(npm test -- --watch)", "Bash(npm test *)")
    assert offer.reaches == (SESSION, PROJECT, EVERYWHERE)
    assert not is_allowed(desks, "npm test")
    allowed = desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text=offer.texts[1], reach=EVERYWHERE))
    assert (allowed.state, allowed.outcome and allowed.outcome.scope) == (State.ANSWERED, "once")
    assert is_allowed(desks, "npm test")
    assert not is_allowed(desks, "npm publish")
    kinds = [entry.event.kind for entry in desks.log.find(ask.id).entries]
    assert kinds == [LogKind.ASKED, LogKind.ALLOWED, LogKind.RULE_ADDED]
    added = desks.log.find(ask.id).entries[-1].event
    assert (added.rule, added.person, added.surface, added.scope) == (
        "Bash(npm test *)",
        me.person,
        "browser",
        "everywhere",
    )
    assert desks.log.check().whole
    assert LogKind.RULE_ADDED in [outcome.entry.event.kind for outcome in desks.log.outcomes()]


def test_comments_and_order_of_the_file_stay_and_the_rule_says_where_it_comes_from(
    desks: Desks, config: Config, me: Settler
) -> None:
    before = '# mine\n[[rule]]  # first\ndeny = ["Bash(rm *)"]'
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text(before)
    ask = put(desks, "git status")
    desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(git status *)", reach=PROJECT))
    text = config.user_rules.read_text()
    assert text.startswith(before + "\n")
    assert f"for Bash: git status (ask {ask.id[:8]})" in text
    assert tomllib.loads(text)["rule"][1] == {
        "allow": ["Bash(git status *)"],
        "when": {"project": os.path.realpath(config.project)},
    }
    assert not list(config.user_rules.parent.glob(".*"))


def test_a_new_file_is_the_persons_alone_and_a_link_stays_a_link(desks: Desks, config: Config, me: Settler) -> None:
    kept = config.user_rules.parent.parent / "dotfiles.toml"
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.symlink_to(kept)
    ask = put(desks, "git status")
    desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(git status)", reach=EVERYWHERE))
    assert config.user_rules.is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert is_allowed(desks, "git status")


def test_a_rule_for_a_project_holds_in_no_other(desks: Desks, me: Settler, tmp_path: Path) -> None:
    ask = put(desks, "npm test")
    desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(npm test)", reach=PROJECT))
    assert is_allowed(desks, "npm test")
    assert not is_allowed(desks, "npm test", project=str(tmp_path))


def test_a_rule_for_a_session_is_in_no_file_and_holds_for_no_other_until_it_is_ended(
    desks: Desks, config: Config, me: Settler
) -> None:
    ask = put(desks, "npm test")
    desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(npm test *)", reach=SESSION))
    assert not config.user_rules.exists()
    assert is_allowed(desks, "npm test -- --again")
    assert not is_allowed(desks, "npm test", session="s-2")
    later = replace(asker(config), started="another process")
    assert desks.permissions.by_rules(shell(config, "npm test"), later).allowed is None
    (rule,) = desks.session_rules()
    assert (rule.patterns, rule.session, rule.ask) == (("Bash(npm test *)",), "s-1", ask.id)
    assert desks.permissions.end_session_rule(rule, me)
    assert not desks.permissions.end_session_rule(rule, me)
    assert not is_allowed(desks, "npm test")
    assert desks.session_rules() == []
    assert desks.log.find(ask.id).entries[-1].event.kind is LogKind.RULE_ENDED


def test_a_rule_for_a_session_that_goes_on_and_on_is_asked_for_again_after_a_month(config: Config, me: Settler) -> None:
    clock, store = FakeClock(), SqliteStore.in_memory()
    with Desks(config, store) as desks:
        desks.asks = AskDesk(store, clock=clock)
        ask = put(desks, "npm test")
        desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(npm test)", reach=SESSION))
        clock.forward(29 * DAY)
        assert is_allowed(desks, "npm test")
        assert len(desks.session_rules(clock)) == 1
        clock.forward(2 * DAY)
        assert not is_allowed(desks, "npm test")
        assert desks.session_rules(clock) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "one pattern on each line"),
        ("Bash(git push *)", "does not allow what the agent wants to do here.$"),
        ("Bash(npm *)", "A star stands for no word or option that decides what is run"),
        ("Bash(npm test *)\nBash(rm *)", "has nothing to do with"),
        ("Bash(npm test", "this is no rule"),
        ("Bash(* test)", "would allow any program"),
        ("Bash", "would allow every use of Bash"),
        ("Bash(*)", "would allow every use of Bash"),
        ("*", "would allow every use of"),
        ("Bash(npm te\u200bst *)", "cannot be seen"),
        ('Bash(npm test *)"]\n[[rule]]\nallow=["Bash(rm *)', "this is no rule"),
    ],
)
def test_a_rule_that_is_not_what_it_is_given_for_decides_nothing(
    desks: Desks, config: Config, me: Settler, text: str, why: str
) -> None:
    ask = put(desks, "npm test")
    with pytest.raises(InvalidInput, match=why):
        desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text=text, reach=EVERYWHERE))
    assert desks.asks.get(ask.id).state is State.PENDING
    assert not config.user_rules.exists()
    assert desks.log.find(ask.id).entries[-1].event.kind is LogKind.REFUSED


def test_a_rule_that_denies_or_asks_has_the_last_word_and_is_named(desks: Desks, config: Config, me: Settler) -> None:
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    for effect, said in (("deny", "a rule denies it"), ("ask", "wants this to be asked")):
        config.user_rules.write_text(f'[[rule]]\n{effect} = ["Bash(npm *)"]\n')
        ask = put(desks, "npm test")
        with pytest.raises(InvalidInput, match=rf"{said}.*Bash\(npm \*\) \(.*rules.toml:1\)"):
            desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(npm test)", reach=EVERYWHERE))
        assert desks.asks.get(ask.id).state is State.PENDING


def test_what_a_person_makes_of_a_sessions_action_is_held_against_the_rules(
    desks: Desks, config: Config, me: Settler
) -> None:
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text(
        '[[rule]]\ndeny = ["Bash(rm *)"]\n\n[[rule]]\nask = ["Bash(deploy *)"]\napprovers = ["ada", "bo"]\nneed = 2\n'
    )
    ask = put(desks, "npm test")

    def allow(line: str, by: Settler = me) -> Ask:
        return desks.permissions.allow(ask.id, ask.digest, by, changed_input={"command": line})

    with pytest.raises(InvalidInput, match="denies this"):
        allow("rm -rf build")
    with pytest.raises(InvalidInput, match="ada"):
        allow("deploy shop")
    assert allow("npm test -- --silent").state is State.ANSWERED
    ask = put(desks, "npm start")
    assert allow("deploy shop", replace(me, person="ada")).state is State.PENDING


def test_what_the_rules_demand_of_an_edit_is_allowed_once_however_far_the_yes_was_to_go(
    desks: Desks, config: Config, me: Settler
) -> None:
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text(f'[[rule]]\nask = ["Bash(tf *)"]\napprovers = ["{me.person}"]\n')
    both = (AllowScope.ONCE, AllowScope.SESSION)
    ask = asked(desks, shell(config, "npm test"), asker(config), both)
    edit = {"command": "tf x"}
    allowed = desks.permissions.allow(ask.id, ask.digest, me, AllowScope.SESSION, changed_input=edit)
    assert (allowed.state, allowed.outcome and allowed.outcome.scope) == (State.ANSWERED, "once")
    assert allowed.outcome is not None
    assert "always" not in {option for answer in allowed.outcome.answers for option in answer.chosen}
    assert not desks.permissions.allow_again(shell(config, "tf x"), ask.asker, LEFT_TO_PEOPLE)


def test_when_an_edit_is_taken_back_what_was_demanded_of_it_goes_with_it(
    desks: Desks, config: Config, me: Settler
) -> None:
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text('[[rule]]\nask = ["Bash(tf *)"]\napprovers = ["ada", "bo"]\nneed = 2\n')
    ask = asked(desks, shell(config, "npm test"), asker(config), (AllowScope.ONCE, AllowScope.SESSION))
    ada, permissions = replace(me, person="ada"), desks.permissions
    for edit in ("tf x", "tf y"):
        now = desks.asks.get(ask.id)
        edited = permissions.allow(ask.id, now.digest, ada, changed_input={"command": edit})
        assert quorum_of(edited)
    again = permissions.take_back(ask.id, ada)
    assert (quorum_of(again), scopes_of(again)) == (None, scopes_of(ask))
    assert permissions.allow(ask.id, again.digest, me).state is State.ANSWERED


def test_what_an_editor_saves_meanwhile_is_not_overwritten(config: Config) -> None:
    theirs = '[[rule]]\ndeny = ["Bash(rm *)"]\n'
    with made_ready(config.user_rules, NewRule(patterns=("Bash(npm test)",)), config.state_dir) as ready:
        config.user_rules.write_text(theirs)
        with pytest.raises(InvalidInput, match="they were changed meanwhile"):
            ready.put()
    assert config.user_rules.read_text() == theirs


def test_nothing_is_added_to_a_file_with_an_error(desks: Desks, config: Config, me: Settler) -> None:
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text("[[rule]]\nalow = []\n")
    ask = put(desks, "npm test")
    with pytest.raises(InvalidInput, match=r"an error in them.*rules\.toml"):
        desks.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text="Bash(npm test)", reach=EVERYWHERE))
    assert desks.asks.get(ask.id).state is State.PENDING
    assert config.user_rules.read_text() == "[[rule]]\nalow = []\n"


def test_another_digest_or_one_who_was_late_adds_no_rule(desks: Desks, config: Config, me: Settler) -> None:
    ask, rule = put(desks, "npm test"), LikeRule(text="Bash(npm test)", reach=EVERYWHERE)
    with pytest.raises(InvalidInput, match="is not the digest"):
        desks.permissions.allow_like(ask.id, "0" * 64, me, rule)
    desks.permissions.deny(ask.id, me)
    with pytest.raises(AlreadySettled):
        desks.permissions.allow_like(ask.id, ask.digest, me, rule)
    assert not config.user_rules.exists()
    assert not list(config.user_rules.parent.glob(".*"))


def test_of_two_at_once_neither_loses_the_others_rule(desks: Desks, config: Config, me: Settler) -> None:
    lines = [f"make target-{number}" for number in range(6)]
    asks = [put(desks, line) for line in lines]

    def allow(ask: Ask, line: str) -> None:
        with open_desks(config) as own:
            own.permissions.allow_like(ask.id, ask.digest, me, LikeRule(text=f"Bash({line})", reach=EVERYWHERE))

    threads = [threading.Thread(target=allow, args=each) for each in zip(asks, lines, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    rules = tomllib.loads(config.user_rules.read_text())["rule"]
    assert sorted(rule["allow"][0] for rule in rules) == [f"Bash({line})" for line in lines]


def test_who_is_not_the_person_of_this_account_changes_none_of_its_files(desks: Desks, config: Config) -> None:
    ask, ben = put(desks, "npm test"), Settler(person="ben-of-the-team", surface="browser")
    assert desks.permissions.likes.offer(ask, ben.person).reaches == (SESSION,)
    with pytest.raises(InvalidInput, match="it can hold for: session"):
        desks.permissions.allow_like(ask.id, ask.digest, ben, LikeRule(text="Bash(npm test)", reach=EVERYWHERE))


def test_no_rule_is_offered_for_what_none_can_allow(desks: Desks, config: Config, me: Settler) -> None:
    offers = desks.permissions.likes.offer
    assert (
        "another machine"
        in offers(asked(desks, shell(config, "ls"), Asker(agent="t", project="/x")), me.person).why_not
    )
    assert offers(put(desks, "ls > x"), me.person).why_not
    whole = asked(desks, shell(config, "ls"), asker(config), (AllowScope.TOOL,))
    assert "every call of the tool already" in offers(whole, me.person).why_not
    nameless = asked(desks, shell(config, "ls"), asker(config, session=""))
    assert offers(nameless, me.person).reaches == (PROJECT, EVERYWHERE)
    assert "somebody else’s account" in offers(nameless, "ben-of-the-team").why_not


def test_hindsight_tells_what_the_rule_would_have_matched_and_what_not(
    desks: Desks, config: Config, me: Settler
) -> None:
    for line, allow in (("npm test", True), ("npm test", True), ("npm test -- --all", False), ("npm run x", True)):
        past = put(desks, line)
        if allow:
            desks.permissions.allow(past.id, past.digest, me)
        else:
            desks.permissions.deny(past.id, me)
    decided = desks.log.decided_actions(0)
    action, here = shell(config, "npm test -- --watch"), str(config.project)
    is_asked = desks.permissions.likes.is_asked
    seen = hindsight(LikeRule(text="Bash(npm test *)", reach=PROJECT), action, here, decided, is_asked)
    assert [(each.title, each.times, each.by_person) for each in seen.allowed] == [("Bash: npm test", 2, True)]
    assert [each.title for each in seen.denied] == ["Bash: npm test -- --all"]
    assert [each.title for each in seen.others] == ["Bash: npm run x"]
    assert seen.count == 3
    elsewhere = hindsight(LikeRule(text="Bash(npm test *)", reach=PROJECT), action, "/elsewhere", decided, is_asked)
    assert elsewhere.count == 0
    assert hindsight(LikeRule(text="Bash(npm", reach=EVERYWHERE), action, here, decided, is_asked).count == 0


def test_what_another_rule_decides_by_now_is_not_told_as_still_asked(desks: Desks, config: Config, me: Settler) -> None:
    for line in ("git push origin main", "git push --force", "git fetch --all"):
        past = put(desks, line)
        desks.permissions.allow(past.id, past.digest, me)
    ask = put(desks, "git fetch origin")
    rule = LikeRule(text="Bash(git fetch origin)", reach=EVERYWHERE)

    def still_asked() -> list[str]:
        return [each.title for each in look_at(desks.permissions, desks.log, ask, me.person, rule).seen.others]

    assert still_asked() == ["Bash: git fetch --all", "Bash: git push --force", "Bash: git push origin main"]
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    config.user_rules.write_text(
        '[[rule]]\nallow = ["Bash(git push *)"]\n[[rule]]\ndeny = ["Bash(git push --force *)"]\n'
    )
    assert still_asked() == ["Bash: git fetch --all"]
