"""`sayso log`: what was allowed and denied, and whether the log is whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from tests.cli.program import SOMEONE, Home
from tests.cli.pseudo_terminal import Terminal
from tests.permissions.test_desk import QUESTION

from sayso.asks.model import Ask, Asker, NewAsk
from sayso.clock import now_ms
from sayso.permissions.action import Action, ActionKind, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log_words import since_when

HOSTILE = "echo \x1b[2J\u202etoken=hunter22\u200b"


def decide(home: Home, line: str, *, because: str | None = None, days_ago: int = 0, project: str = "") -> Ask:
    """A permission for a shell line that somebody has allowed, or denied and said why."""
    action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": line}})
    asker = Asker(client="claude-code", project=project or str(home.project))
    with home.desk(clock=lambda: now_ms() - days_ago * 86_400_000) as desk:
        held = desk.hold(asking(NewAsk(tool="approve", questions=(QUESTION,), asker=asker), action))
        if because is None:
            PermissionDesk(desk).allow(held.ask.id, action.digest, SOMEONE)
            desk.delivered(held)
        else:
            PermissionDesk(desk).deny(held.ask.id, SOMEONE, because)
        return held.ask


def test_what_was_allowed_and_denied_is_listed_newest_last_with_who_where_and_what_came_of_it(home: Home) -> None:
    allowed = decide(home, "git push")
    denied = decide(home, "rm -rf build", because="use make clean")
    ran = home.run("log")
    header, first, second = ran.out.splitlines()
    assert header.split() == ["ID", "WHEN", "VERDICT", "RAN", "BY", "ACTION"]
    assert first.startswith(allowed.id[:8])
    assert first.split(maxsplit=3)[3] == "allowed  handed over  mira, terminal  Bash: git push"
    assert second.split(maxsplit=3)[3] == "denied   -            mira, terminal  Bash: rm -rf build → use make clean"
    assert f"sayso log show {denied.id[:8]}" in ran.err
    only = home.run("log", "--denied", "--json").data
    assert [(one["what"], one["why"], one["person"], one["ran"]) for one in only] == [
        ("denied", "use make clean", "mira", 0)
    ]


def test_it_can_be_asked_for_a_time_and_a_project(home: Home) -> None:
    decide(home, "old", days_ago=8)
    decide(home, "elsewhere", project="/srv")
    decide(home, "new")

    def titles(*options: str) -> list[str]:
        return [one["title"] for one in home.run("log", "--json", *options).data]

    assert titles() == ["Bash: old", "Bash: elsewhere", "Bash: new"]
    assert titles("--since", "7d") == ["Bash: elsewhere", "Bash: new"]
    assert titles("--since", "2001-01-01", "--project", ".", "--limit", "1") == ["Bash: new"]
    assert "it takes a time back" in home.run("log", "--since", "yesterday").error
    assert home.run("log", "--since", "yesterday").code == 2
    assert since_when("2026-03-31T12:00:00+00:00", now=0) == 1_774_958_400_000
    assert (since_when("12h", now=50_000_000), since_when("", now=1)) == (50_000_000 - 12 * 3_600_000, 0)


def test_one_of_them_is_shown_with_the_whole_action_spelt_out_and_its_secrets_hidden(home: Home) -> None:
    ask = decide(home, HOSTILE)
    ran = home.run("log", "show", ask.id[:6])
    assert "asked" in ran.out
    assert "handed over" in ran.out
    assert ask.digest in ran.out
    assert "token=********" in ran.out
    for text in (ran.out, home.run("log").out, home.run("log", "show", ask.id, "--json").out):
        assert not set(text) & {"\x1b", "\u202e", "\u200b"}
        assert "hunter22" not in text
    assert home.run("log", "show", "ffffffff").code == 3


def test_a_log_that_was_changed_behind_its_back_does_not_verify(home: Home) -> None:
    assert home.run("log", "verify").out == "The log is empty.\n"
    decide(home, "git push")
    whole = home.run("log", "verify")
    assert whole.code == 0
    assert whole.out.startswith("The log is whole: 3 entries since 20")
    noted = home.run("log", "verify", "--json").data["hash"]
    decide(home, "git pull")
    assert (
        home.run("log", "verify", "--noted", noted).code == home.run("log", "verify", "--noted", noted[:16]).code == 0
    )
    missing = home.run("log", "verify", "--noted", "0" * 64)
    assert (missing.code, f"No entry has the hash {'0' * 64}" in missing.out) == (1, True)
    assert home.run("log", "verify", "--noted", noted[:15]).code == 2
    with closing(sqlite3.connect(home.state / "sayso.db")) as store, store:
        store.execute("UPDATE permission_log SET kind = 'denied' WHERE seq = 2")
    broken = home.run("log", "verify")
    assert broken.code == 1
    assert broken.out.startswith("The log is broken.\n  Entry 2 is not as it was written.\n")
    found = home.run("log", "verify", "--json")
    assert (found.code, found.data["whole"], found.data["entries"], found.data["first"]) == (1, False, 6, 1)
    assert found.data.keys() == {"whole", "entries", "first", "since", "hash", "faults"}
    changed, missed = found.data["faults"]
    assert (changed["fault"], changed["first"], changed["last"]) == ("changed", 2, 2)
    assert (missed["fault"], missed["missing"]) == ("not logged", "allowed")


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (
            [
                "DELETE FROM permission_log WHERE seq > 1",
                "UPDATE permission_log_end SET seq = 1, hash = (SELECT hash FROM permission_log)",
            ],
            "The store has the permission {ask}; the log does not say that it was allowed.\n"
            "  The store has the permission {ask}; the log does not say that it was handed over.",
        ),
        (["DELETE FROM permission_actions"], "The action {digest} is no longer kept."),
        (["UPDATE permission_log SET seq = -1 WHERE seq = 3"], "Entries have no place in the log: 1."),
    ],
)
def test_what_was_taken_out_of_the_log_is_named(home: Home, statements: list[str], said: str) -> None:
    ask = decide(home, "git push")
    with closing(sqlite3.connect(home.state / "sayso.db")) as store, store:
        for statement in statements:
            store.execute(statement)
    broken = home.run("log", "verify")
    assert broken.code == 1
    assert said.format(ask=ask.id, digest=ask.digest) in broken.out
    shown = home.run("log", "show", ask.id).out
    assert "keep no history" not in shown


@pytest.mark.parametrize(("language", "words"), [("en", ("allowed", "denied")), ("de", ("erlaubt", "nicht erlaubt"))])
def test_in_a_terminal_verdicts_differ_by_word_and_colour(home: Home, language: str, words: tuple[str, str]) -> None:
    decide(home, "git push")
    decide(home, "rm -rf build", because="no")
    with Terminal(home, "log", SAYSO_LANGUAGE=language, TERM="xterm-256color") as terminal:
        terminal.end()
        assert f"\x1b[32m{words[0]}\x1b[0m" in terminal.screen
        assert f"\x1b[31m{words[1]}\x1b[0m" in terminal.screen


def test_how_often_people_were_asked_is_told_in_numbers(home: Home) -> None:
    decide(home, "git push")
    decide(home, "rm -rf build", because="use make clean")
    decide(home, "ls", days_ago=20)
    lines = home.run("log", "stats").out.splitlines()
    assert lines[0].startswith("People were asked                    2 (")
    data = home.run("log", "stats", "--since", "30d", "--json").data
    assert (data["asked"], data["allowed"], data["denied"], data["decided_by_rules"]) == (3, 2, 1, 0)
    assert (data["undecided"], data["allowed_unopened"], data["busiest_hour"]) == (0, 0, 2)
    assert sum(bar["asked"] for bar in data["bars"]) == 3
    assert {bar["rules"] for bar in data["bars"]} == {0}
    assert home.run("log", "stats", "--since", "soon").code == 2
