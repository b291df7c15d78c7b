"""What another text of a person's rules would have changed of what was decided, and who may save it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import living
from tests.permissions.test_desk import QUESTION

from sayso.asks.model import Asker, NewAsk, Settler
from sayso.chain import LogKind
from sayso.config import Config, load
from sayso.desks import Desks, open_desks
from sayso.errors import InvalidInput, NotYours
from sayso.permissions.action import Action, ActionKind, asking
from sayso.permissions.hindsight import PastAction
from sayso.permissions.own_rules import EditedRules
from sayso.permissions.rules_change import RulesChange


@pytest.fixture
def config(tmp_path: Path) -> Config:
    folder = tmp_path / "shop"
    folder.mkdir()
    return load(cwd=folder)


@pytest.fixture
def desks(config: Config) -> Iterator[Desks]:
    config.user_rules.parent.mkdir(parents=True, exist_ok=True)
    with open_desks(config) as opened:
        yield opened


def shell(folder: Path, line: str) -> Action:
    return Action(kind=ActionKind.SHELL, tool="Bash", folder=str(folder), data={"input": {"command": line}})


def asker(config: Config, project: Path | None = None) -> Asker:
    return living(session="s-1", project=str(project or config.project))


def decided(desks: Desks, line: str, *, denied: str = "", project: Path | None = None) -> None:
    """By a rule, where there is one; else by a person."""
    action, who = shell(project or desks.config.project, line), asker(desks.config, project)
    ruled = desks.permissions.by_rules(action, who)
    if ruled.allowed or ruled.denied:
        return
    ask = desks.asks.hold(asking(NewAsk(tool="approve", title="?", questions=(QUESTION,), asker=who), action)).ask
    by = Settler(person=desks.config.person, surface="browser")
    if denied:
        desks.permissions.deny(ask.id, by, denied)
    else:
        desks.permissions.allow(ask.id, ask.digest, by)


def look(desks: Desks, text: str) -> EditedRules:
    rules = desks.permissions.own_rules
    return rules.look_at(rules.read(), text, desks.log.decided_actions(0))


def change(desks: Desks, text: str) -> RulesChange:
    found = look(desks, text).change
    assert found is not None
    return found


def lines(past: tuple[PastAction, ...]) -> list[str]:
    return [one.title.removeprefix("Bash: ") for one in past]


def allow(*patterns: str) -> str:
    return f"[[rule]]\nallow = {list(patterns)}\n"


def test_what_was_denied_and_would_be_allowed_is_told_apart_from_what_was_asked(desks: Desks) -> None:
    decided(desks, "git push", denied="not on a Friday")
    decided(desks, "git status")
    decided(desks, "git status")
    decided(desks, "make")
    found = change(desks, allow("Bash(git push *)", "Bash(git status *)"))
    assert lines(found.denied_allowed) == ["git push"]
    assert [(one.title, one.times, one.by_person) for one in found.allowed] == [("Bash: git status", 2, True)]
    assert found == RulesChange(denied_allowed=found.denied_allowed, allowed=found.allowed, looked_at=4)


def test_what_a_rule_denies_now_is_told_apart_by_what_would_become_of_it(desks: Desks, config: Config) -> None:
    config.user_rules.write_text('[[rule]]\ndeny = ["Bash(rm *)", "Bash(git push *)"]\n' + allow("Bash(make test *)"))
    for line in ("rm -rf build", "git push", "make test", "ls"):
        decided(desks, line)
    text = allow("Bash(rm -rf build)") + '[[rule]]\ndeny = ["Bash(ls *)"]\n'
    found = change(desks, text)
    assert lines(found.denied_allowed) == ["rm -rf build"]
    assert lines(found.no_longer_denied) == ["git push"]
    assert lines(found.asked) == ["make test"]
    assert lines(found.denied) == ["ls"]
    assert found.allowed == ()


def test_what_both_texts_say_alike_is_no_change_whatever_was_decided_then(desks: Desks, config: Config) -> None:
    decided(desks, "git status", denied="no")
    config.user_rules.write_text(allow("Bash(git status)"))
    found = change(desks, allow("Bash(git status *)", "Bash(make)"))
    assert found.is_nothing
    assert found.looked_at == 1


def test_other_people_who_have_to_agree_are_a_change(desks: Desks, config: Config) -> None:
    config.user_rules.write_text('[[rule]]\nask = ["Bash(deploy *)"]\n')
    decided(desks, "deploy now", denied="no")
    found = change(desks, '\n\n[[rule]]\nask = ["Bash(deploy *)"]\napprovers = ["ada", "bo"]\nneed = 2\n')
    assert lines(found.others_agree) == ["deploy now"]
    assert change(desks, '# moved\n\n[[rule]]\nask = ["Bash(deploy *)"]\n').is_nothing


def test_rules_of_the_project_and_what_no_rule_allows_count_as_they_would(
    desks: Desks, config: Config, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".sayso").mkdir(parents=True)
    (other / ".sayso" / "rules.toml").write_text('[[rule]]\nask = ["Bash(make *)"]\n')
    decided(desks, "make")
    decided(desks, "make", project=other)
    decided(desks, f"touch {config.user_rules}")
    found = change(desks, allow("Bash(make *)", "Bash(touch *)"))
    assert [one.times for one in found.allowed] == [1]
    only_there = allow("Bash(make *)") + f'when = {{ project = "{tmp_path / "elsewhere"}" }}\n'
    assert change(desks, only_there).is_nothing


def test_a_text_with_errors_names_them_and_changes_nothing(desks: Desks) -> None:
    decided(desks, "make")
    found = look(desks, '[[rule]]\nalow = ["Bash(make)"]\n')
    assert found.change is None
    assert [(fault.line, fault.key) for fault in found.faults] == [(2, "alow"), (1, "")]
    assert "Did you mean allow?" in found.faults[0].text


def test_it_is_saved_for_its_owner_alone_and_logged(desks: Desks, config: Config) -> None:
    rules, text = desks.permissions.own_rules, allow("Bash(make)")
    with pytest.raises(NotYours, match="Only"):
        rules.save(rules.read(), text, Settler(person="grace", surface="browser"))
    assert not config.user_rules.exists()
    rules.save(rules.read(), text, Settler(person=config.person, surface="browser"))
    assert config.user_rules.read_text() == text
    assert desks.permissions.by_rules(shell(config.project, "make"), asker(config)).allowed
    (logged,) = [one.entry.event for one in desks.log.outcomes() if one.entry.event.kind is LogKind.RULES_CHANGED]
    assert (logged.person, logged.surface, logged.rules_file) == (config.person, "browser", rules.read().hash)
    assert "0 rules before, 1 rule now" in logged.title
    assert desks.log.check().whole
    assert not desks.log.outcomes(only_refused=1)


def test_what_was_changed_meanwhile_is_neither_overwritten_nor_logged(desks: Desks, config: Config) -> None:
    rules = desks.permissions.own_rules
    own = rules.read()
    config.user_rules.write_text("# by hand\n")
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        rules.save(own, allow("Bash(make)"), Settler(person=config.person, surface="browser"))
    assert config.user_rules.read_text() == "# by hand\n"
    assert not desks.log.outcomes()
