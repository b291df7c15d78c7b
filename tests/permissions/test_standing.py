"""Yeses that hold for more than one call."""

from __future__ import annotations

from sayso.permissions.standing import StandingAllows


def test_a_yes_holds_for_its_session_on_its_terms_and_is_forgotten_on_others() -> None:
    allows = StandingAllows()
    allows.keep("one", "build", "as it was", "ask-1")
    assert allows.find("one", "build", "as it was") == "ask-1"
    assert allows.find("two", "build", "as it was") == ""
    assert allows.find("one", "deploy", "as it was") == ""
    assert allows.find("one", "build", "changed") == ""
    assert allows.find("one", "build", "as it was") == "", "also once it is as it was"


def test_of_very_many_sessions_the_first_are_forgotten() -> None:
    allows = StandingAllows(most_sessions=2)
    for session in ("one", "two", "three"):
        allows.keep(session, "build", (), session)
    assert [allows.find(session, "build", ()) for session in ("one", "two", "three")] == ["", "two", "three"]
