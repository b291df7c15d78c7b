"""Yeses that hold for more than one call."""

from __future__ import annotations

from sayso.permissions.standing import StandingAllows

NONE: frozenset[str] = frozenset()


def test_a_yes_holds_for_its_session_on_its_terms_and_is_forgotten_on_others() -> None:
    allows = StandingAllows()
    allows.keep("one", "build", "as it was", "ask-1", knowing=NONE)
    assert allows.find("one", "build", "as it was", asked_by=NONE) == "ask-1"
    assert allows.find("two", "build", "as it was", asked_by=NONE) == ""
    assert allows.find("one", "deploy", "as it was", asked_by=NONE) == ""
    assert allows.find("one", "build", "changed", asked_by=NONE) == ""
    assert allows.find("one", "build", "as it was", asked_by=NONE) == "", "also once it is as it was"


def test_a_yes_holds_while_no_other_rule_asks_than_those_that_were_known() -> None:
    allows = StandingAllows()
    allows.keep("one", "build", (), "ask-1", knowing={"a", "b"})
    for fewer in ({"a", "b"}, {"a"}, NONE, {"b"}):
        assert allows.find("one", "build", (), asked_by=fewer) == "ask-1"
    assert allows.find("one", "build", (), asked_by={"a", "c"}) == ""
    assert allows.find("one", "build", (), asked_by=NONE) == "", "also once that rule is gone"


def test_of_very_many_sessions_the_first_are_forgotten() -> None:
    allows = StandingAllows(most_sessions=2)
    for session in ("one", "two", "three"):
        allows.keep(session, "build", (), session, knowing=NONE)
    assert [allows.find(session, "build", (), asked_by=NONE) for session in ("one", "two", "three")] == [
        "",
        "two",
        "three",
    ]
