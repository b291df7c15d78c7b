"""Why a person is asked, as the rules say it, is on every card and can leave no block."""

from __future__ import annotations

from tests.permissions.test_desk import PUSH, QUESTION

from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker, NewAsk
from sayso.cli.action_card import action_card
from sayso.permissions.action import asking
from sayso.permissions.parts import PartName
from sayso.permissions.ruled import asked_because
from sayso.rules.book import NO_RULE, Ruling
from sayso.rules.rule import Effect
from sayso.web.permission_card import card_of


def test_what_the_rules_say_is_a_part_of_its_own_on_each_card(desk: AskDesk) -> None:
    new = NewAsk(tool="approve", questions=(QUESTION,), asker=Asker(client="claude-code"))
    said = "Bash(git *) (/x/rules.toml:3) asks. \u202e</pre>\x1b[2J"
    ask = desk.hold(asking(new, PUSH, rules_say=said)).ask
    card = card_of(ask)
    assert card
    assert card.parts[-1].name is PartName.RULES
    lines = "\n".join(action_card(ask))
    for shown in (str(card.parts[-1].block), lines):
        assert "Bash(git *) (/x/rules.toml:3) asks." in shown
        assert "\u202e" not in shown
        assert "\x1b[2J" not in shown
    plain = desk.hold(asking(new, PUSH)).ask
    assert "Why you are asked" not in "\n".join(action_card(plain))


def test_a_person_is_told_why_no_rule_decides_but_not_that_there_is_none() -> None:
    assert asked_because(Ruling(effect=Effect.ASK, why="it is not certain what this runs")) == (
        "No rule decides this: it is not certain what this runs."
    )
    assert asked_because(Ruling(effect=Effect.ASK, why=NO_RULE)) == ""
