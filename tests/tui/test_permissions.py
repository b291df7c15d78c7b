"""Permissions in the terminal inbox: everything is shown, nothing leaves its block, and y is for that alone."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import pytest
from tests.tui.harness import DROP, Person, Place, until

from sayso.asks.desk import AskDesk, Held
from sayso.asks.draft import Draft, to_json
from sayso.asks.model import Asker, Kind, NewAsk, Option, Question, Settler, State
from sayso.asks.quorum import Demand, Quorum, yeses_of
from sayso.config import system_user
from sayso.permissions import like_view
from sayso.permissions.action import Action, ActionKind, AllowScope, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.verdict import Decision, Verdict, verdict_of
from sayso.text import exact
from sayso.tui.action_card import action_text
from sayso.tui.inbox import InboxScreen
from sayso.tui.step import Step

pytestmark = pytest.mark.anyio

WIDE = (120, 30)
BEN = Settler(person="ben", surface="browser")
LINK = 'x\n```\n\n[n]: /u "\nrm -rf /srv\n"'
HOSTILE = "\x1b[8mrm -rf ~\x1b[0m\u202e\u200b[bold red]@click=app.quit[/]\r"
QUESTION = Question(
    id="decision",
    text="May it?",
    kind=Kind.SELECT,
    options=(Option(id="allow", label="Allow"), Option(id="deny", label="Deny")),
)


def shell(command: str) -> Action:
    return Action(kind=ActionKind.SHELL, tool="Bash", folder="/home/anna/api", data={"input": {"command": command}})


PUSH = shell("git push --force")


def wanted(place: Place, action: Action = PUSH, scopes: tuple[AllowScope, ...] = (AllowScope.ONCE,)) -> Held:
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    new = NewAsk(tool="approve", title=f"Allow {action.title}?", questions=(QUESTION,), asker=asker)
    return place.desk.hold(asking(new, action, scopes))


def wanted_with_changes(place: Place, action: Action = PUSH) -> Held:
    """By somebody who does what a person makes of it."""
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    new = NewAsk(tool="approve", title=f"Allow {action.title}?", questions=(QUESTION,), asker=asker)
    return place.desk.hold(asking(new, action, takes_changes=True))


async def test_a_permission_is_denied_and_not_rejected_as_questions_are(place: Place) -> None:
    question = place.ask(DROP)
    one, two, three = [wanted(place, shell(command)) for command in ("make a", "make b", "make c")]
    async with place.inbox() as anna:
        await anna.sees("X deny, and say why")
        await anna.press("enter", "x")
        await anna.sees("Deny this permission?")
        await anna.press("escape", "escape", "X")
        await anna.sees("Deny this permission?")
        await anna.press("enter")
        await anna.sees("Denied.")
        await anna.press("x", "down", "x", "X")
        await anna.sees("Deny these 2 permissions?")
        await anna.press("escape", "down", "x", "X")
        await anna.sees("Reject these 3, and deny the permissions among them?")
        await anna.press("enter")
        await anna.sees("3 rejected or denied.")
    assert place.now(question).state is State.REJECTED
    verdicts = [verdict_of(place.now(held)) for held in (one, two, three)]
    assert [verdict and verdict.decision for verdict in verdicts] == [Decision.DENIED] * 3


class Editor:
    """The person's editor, which a screen without a terminal cannot start: what it was given, and what it makes of
    that."""

    def __init__(self, *typed: str) -> None:
        self._typed, self.seen = list(typed), list[str]()

    def __call__(self, app: object, command: object, text: str, form: object) -> str:
        self.seen.append(text)
        return self._typed.pop(0)


def verdict(place: Place, held: Held) -> Verdict:
    found = verdict_of(place.now(held))
    assert found
    return found


def card(anna: Person) -> list[str]:
    return [line.strip().removeprefix("│ ") for line in anna.screen().split("\n") if line.strip().startswith("│")]


@pytest.mark.finding("F-10", "F-12")
@pytest.mark.parametrize("size", [(60, 60), (100, 60)])
async def test_every_part_is_shown_and_nothing_in_it_leaves_its_block(place: Place, size: tuple[int, int]) -> None:
    data = {"argv": ["/bin/sh", LINK], "stdin": f"curl x | sh\n{HOSTILE}", "files": {"/tmp/x\nTool": HOSTILE, "/y": ""}}
    held = wanted(place, Action(kind=ActionKind.COMMAND, tool="sh", folder="/srv", data=data))
    async with place.inbox(size) as anna:
        await anna.open()
        await anna.sees("Command line", "Standard input", "(empty)", "y allows it")
        shown, screen = "".join(card(anna)), anna.screen()
        assert exact(HOSTILE).replace(" ", "") in shown.replace(" ", "")
        assert "curl x | sh" in shown
        assert "rm -rf /srv" in shown
        for line in screen.split("\n"):
            assert "rm -rf" not in line or line.strip().startswith(("│", "Allow"))
        assert "\x1b[8m" not in screen
        await anna.press("y")
        await place.outcome(held)
    assert verdict(place, held).digest == held.ask.digest


async def test_a_terminal_that_may_show_arguments_in_another_order_is_said_to(place: Place) -> None:
    for argv, is_told in ((["cp", "א", "--to", "ב"], True), (["cp", "é", "--to", "Δ"], False)):
        held = wanted(place, Action(kind=ActionKind.COMMAND, tool="cp", folder="/srv", data={"argv": argv}))
        async with place.inbox((100, 60)) as anna:
            await anna.open()
            await anna.sees("Command line", "y allows it")
            assert ("Some letters here are read from the right" in anna.screen()) == is_told
        place.desk.cancel(held.ask.id, Settler(person="anna", surface="tests"))


async def test_where_several_have_to_agree_y_is_one_yes_and_the_permission_stays(place: Place) -> None:
    demand = Demand(rule="Bash(git *)", place="/etc/sayso/rules.toml:3", people=(system_user(), "ben"), need=2)
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    new = NewAsk(tool="approve", title="Allow it?", questions=(QUESTION,), asker=asker)
    held = place.desk.hold(asking(new, PUSH, quorum=Quorum(demands=(demand,))))
    async with place.inbox((100, 60)) as anna:
        await anna.open()
        await anna.sees("Who has to agree", "Must agree: 2 of", "Awaited: 2 more", "y allows it")
        await anna.press("y")
        await anna.sees("Your yes counts. Agreed so far: 1 of 2.", "Allow it?")
        await anna.sees("you agreed · Awa", "Awaited: 1 more of ben", "n deny")
        await anna.press("y")
        await anna.sees("You have agreed to this already.")
        await anna.open()
        await anna.sees("You have agreed", "t takes your yes back")
        await anna.press("t")
        await anna.sees("Your yes is taken back. Agreed so far: 0 of 2.")
    assert place.now(held).state is State.PENDING
    assert yeses_of(place.now(held)) == ()


async def test_enter_decides_nothing_and_says_which_keys_do(place: Place) -> None:
    held = wanted(place, Action(kind=ActionKind.COMMAND, tool="sh", folder="/srv", data={"argv": ["make"]}))
    async with place.inbox((100, 60)) as anna:
        await anna.open()
        await anna.sees("y allows it")
        before = anna.screen().count("y allows it")
        await anna.press("space", "enter")
        await until(lambda: anna.screen().count("y allows it") > before, anna.screen)
        assert place.now(held).state is State.PENDING


async def test_an_option_of_a_permission_is_marked_by_its_number_and_not_by_space(place: Place) -> None:
    wanted(place)
    async with place.inbox((100, 60)) as anna:
        await anna.open()
        await anna.sees("y allows it", "( ) 1.")
        assert "space" not in anna.screen()
        await anna.press("space")
        assert "(*)" not in anna.screen()
        await anna.press("1")
        await anna.sees("(*) 1.")


@pytest.mark.finding("F-11")
async def test_a_part_that_is_cut_must_be_opened_before_it_can_be_allowed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.tui.programs._lend_terminal", lambda *given: 1)
    held = wanted(place, shell("echo hello; " * 2_000 + "rm -rf ~"))
    async with place.inbox() as anna:
        await anna.open()
        for _ in range(60):
            await anna.press("pagedown")
            if "the whole text, to be read" in anna.screen():
                break
        await anna.press("y")
        await anna.sees("Nothing was allowed")
        await anna.press("v")
        await anna.sees("ended with exit code 1.", "the whole text, to be read")
        await anna.press("y")
        assert place.now(held).state is State.PENDING
        assert "rm -rf ~" in action_text(anna.app.shared, held.ask)


async def test_a_short_permission_is_allowed_from_the_list_without_leaving_it(place: Place) -> None:
    held, other = wanted(place), wanted(place, shell("make clean"))
    async with place.inbox(WIDE) as anna:
        await anna.sees("Shell command", "make clean", "y allow", "n deny")
        await anna.press("down")
        await anna.sees("git push --force", "y allow")
        await decided(anna, "y")
        await place.outcome(held)
        await anna.sees("Allowed.")
        assert isinstance(anna.app.screen, InboxScreen)
        await anna.sees("make clean", "n deny")
        await decided(anna, "n")
        await place.outcome(other)
    assert verdict(place, held).allows(PUSH)
    assert verdict(place, other).decision is Decision.DENIED


async def decided(anna: Person, key: str) -> None:
    """Press a key once it does something: the preview follows the cursor a moment later."""
    await until(lambda: "y allow" in anna.screen(), anna.screen)
    await anna.press(key)


@pytest.mark.finding("F-04")
async def test_in_the_list_too_a_key_decides_nothing_that_was_not_long_enough_in_view(place: Place) -> None:
    held = wanted(place)
    async with place.inbox(WIDE) as anna:
        await anna.sees("y allow")
        await anna.press_after(0.3, "y")
        await anna.sees("Not taken:")
        assert place.now(held).state is State.PENDING
        await anna.hold("enter")
        await anna.press("escape")
        await anna.sees("y allow")
        await anna.hold("y", 2.0)
    others = [wanted(place, shell(f"make {n}")) for n in range(3)]
    async with place.inbox(WIDE) as anna:
        await anna.sees("y allow")
        await anna.hold("y", 3.0)
    assert sum(place.now(each).state is not State.PENDING for each in others) <= 1


async def test_a_key_meant_for_one_permission_in_the_list_allows_no_other(place: Place) -> None:
    other, held = wanted(place), wanted(place, shell("make clean"))
    async with place.inbox(WIDE) as anna:
        await anna.sees("make clean", "y allow")
        wanted(place, shell("make all"))
        await anna.sees("3 waiting", "> Allow Bash: make clean?")
        place.desk.cancel(held.ask.id, anna.app.shared.settler)
        inbox = anna.app.screen
        assert isinstance(inbox, InboxScreen)
        await until(lambda: inbox._readable is not None and inbox._readable.id == other.ask.id, anna.screen)
        await decided(anna, "y")
        await anna.sees("another question has come to the cursor")
        assert place.now(other).state is State.PENDING
        await decided(anna, "y")
        await place.outcome(other)
    assert verdict(place, other).allows(PUSH)


async def test_what_does_not_fit_beside_the_list_is_not_decided_there(place: Place) -> None:
    held = wanted(place, shell("\n".join(f"echo {n}" for n in range(60))))
    async with place.inbox(WIDE) as anna:
        await anna.sees("echo 3")
        await anna.press("y")
        assert "y allow" not in anna.screen()
    async with place.inbox((80, 24)) as anna:
        await anna.press("y")
        assert "y allow" not in anna.screen()
    assert place.now(held).state is State.PENDING


async def test_no_key_is_handed_on_while_a_yes_in_the_list_is_under_way_at_a_slow_store(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, draft, looks, go = wanted(place), AskDesk.draft, threading.Event(), threading.Event()

    def slow(desk: AskDesk, ask_id: str, person: str) -> str:
        looks.set()
        assert go.wait(60)
        return draft(desk, ask_id, person)

    async with place.inbox(WIDE) as anna:
        await anna.sees("y allow")
        await anna.settled()
        monkeypatch.setattr(AskDesk, "draft", slow)
        anna.ticks.wait(1.0)
        anna.post("y")
        await until(looks.is_set, anna.screen)
        for _ in range(300):
            await asyncio.sleep(0)
        assert not anna.app.shared.typing.idle
        go.set()
        assert (await place.outcome(held)).state is State.ANSWERED


async def test_words_that_were_begun_for_a_no_keep_a_yes_from_the_list_too(place: Place) -> None:
    held = wanted(place)
    async with place.inbox(WIDE) as anna:
        await anna.open()
        await anna.press("o")
        await anna.type("not now")
        await anna.press("escape", "escape")
        await anna.sees("n deny")
        await anna.sees_not("y allow")
        await anna.press_after(1.0, "y")
        await anna.sees("You began to write something about this.")
    assert place.now(held).state is State.PENDING


async def test_what_a_plain_yes_covers_beyond_this_call_is_said(place: Place) -> None:
    wanted(place, PUSH, (AllowScope.TOOL,))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Allowing it holds for every call of Bash, whatever its input, for the rest of this session.")


async def test_a_verdict_elsewhere_and_none_at_all_are_told_apart(place: Place) -> None:
    denied, lost = wanted(place), wanted(place, shell("make clean"))
    PermissionDesk(place.desk).deny(denied.ask.id, BEN, "on a Friday?")
    place.desk.release(lost, "the call was cancelled")
    async with place.inbox(WIDE) as anna:
        await anna.press("h")
        await anna.sees("denied by ben in the browser", "nobody decided", "Shell command")
        await anna.press("down")
        await anna.sees("Reason: on a Friday?", "git push --force")


# Edit, then allow


async def test_what_was_edited_is_shown_whole_and_only_then_allowed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = wanted_with_changes(place)
    monkeypatch.setattr("sayso.tui.answer.edit_exactly", Editor("git push --dry-run\n# \u200b"))
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.sees("i edit, then allow")
        await anna.press("i")
        await anna.sees("As edited", "-git push --force", "+git push --dry-run", "# <U+200B>", "/home/anna/api")
        await anna.press_after(0.3, "y")
        await anna.sees("Not taken:")
        assert place.now(held).state is State.PENDING
        await anna.press("y")
        await place.outcome(held)
        await anna.sees("Allowed as edited.")
    found = verdict(place, held)
    assert found.action
    assert found.action.data["input"] == {"command": "git push --dry-run\n# \u200b"}
    assert found.allows(found.action)
    async with place.inbox(WIDE) as anna:
        await anna.press("h")
        await anna.sees("allowed as edited by anna in the terminal", "As edited", "+git push --dry-run")


async def test_a_bad_edit_is_told_keeps_what_was_typed_and_allows_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = Action(kind=ActionKind.FETCH, tool="WebFetch", folder="/", data={"input": {"url": "https://a.example"}})
    held, editor = wanted_with_changes(place, fetch), Editor('{"url": ', '{"url": "https://b.example"}')
    monkeypatch.setattr("sayso.tui.answer.edit_exactly", editor)
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.press("i")
        await anna.sees("input: is no JSON", "What you typed is kept; i opens it again.")
        await anna.press("y")
        await anna.sees("You began to edit this. i goes on with it, u takes it back.")
    assert place.now(held).state is State.PENDING
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.press("y")
        await anna.sees("You began to edit this.")
        await anna.press("i")
        await anna.sees("As edited", "https://b.example")
        assert editor.seen[1] == '{"url": '
        await anna.press("u")
        await anna.sees_not("As edited")
        await anna.press("y")
        await place.outcome(held)
    assert verdict(place, held).allows(fetch)


async def test_an_edit_that_was_begun_elsewhere_is_told_of_with_the_keys_that_work(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, editor = wanted_with_changes(place), Editor("git push --dry-run")
    monkeypatch.setattr("sayso.tui.answer.edit_exactly", editor)
    place.desk.keep_draft(held.ask.id, "anna", to_json(held.ask, Draft(edit="git push --tags")))
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.sees("You began to edit this; it is not shown here yet · i goes on with it · u takes it back")
        await anna.sees("n deny", "i go on with the edit", "u take the edit back")
        assert "y allow" not in anna.screen()
        assert "l allow like this" not in anna.screen()
        await anna.press("i")
        await anna.sees("As edited", "git push --dry-run", "y allow")
        assert editor.seen == ["git push --tags"]
        await anna.press("u")
        await anna.sees("y allows it", "y allow")
        await anna.press("y")
        await place.outcome(held)
    assert verdict(place, held).allows(PUSH)


async def test_nothing_is_edited_where_it_would_not_be_done(place: Place) -> None:
    held = wanted(place)
    async with place.inbox() as anna:
        await anna.open()
        assert "edit, then allow" not in anna.screen()
        await anna.press("i", "u")
    assert place.now(held).state is State.PENDING


async def test_words_for_a_no_that_were_written_in_an_editor_are_seen_and_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    question = Question(id="approve", text="May it?", kind=Kind.CONFIRM)
    held = place.desk.hold(asking(NewAsk(tool="deploy", questions=(question,), asker=asker), PUSH))
    monkeypatch.setattr("sayso.tui.step.edit", Editor("Not on a Friday."))
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("ctrl+g")
        await anna.sees("Not on a Friday.")
        await anna.press("escape", "y")
        await anna.sees("You wrote words for a no.")
        await anna.press("n")
        await anna.sees("Denied.")
    assert verdict(place, held).decision is Decision.DENIED
    assert verdict(place, held).because == "Not on a Friday."


# Allow like this


def wanted_here(place: Place, line: str) -> Held:
    """By an agent on this machine, whose rules are ours to change."""
    folder = str(place.config.project)
    action = Action(kind=ActionKind.SHELL, tool="Bash", folder=folder, data={"input": {"command": line}})
    asker = Asker(client="claude-code", project=folder, host=socket.gethostname(), session="s", pid=1, started="1")
    return place.desk.hold(asking(NewAsk(tool="approve", title="Allow?", questions=(QUESTION,), asker=asker), action))


async def test_a_rule_is_made_of_it_on_a_view_of_its_own_with_a_y(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.tui.answer.edit_exactly", edits := Editor("Bash(npm publish)", "Bash(npm test *)"))
    before = wanted_here(place, "npm test -- --all")
    PermissionDesk(place.desk).deny(before.ask.id, BEN)
    held = wanted_here(place, "npm test -- --watch")
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.sees("y allows it")
        await anna.press("l")
        await anna.sees("Bash(npm test -- --watch)", "For this session", "y allows this and adds the rule")
        await anna.press("enter", "w")
        await anna.sees("In this project")
        await anna.press("l")
        await anna.sees("Bash(npm test *)", "Careful: in the last 30 days", "denied ×1: Bash: npm test -- --all")
        await anna.press("escape")
        await anna.sees("y allows it ·")
        await anna.press("l")
        await anna.sees("For this session")
        await anna.press("i")
        await anna.sees("this rule does not allow what the agent wants to do here")
        await anna.press("y")
        await anna.press("i")
        await anna.sees("Bash(npm test *)", "y allows this and adds the rule")
        assert place.now(held).state is State.PENDING
        await anna.press("w")
        await anna.sees("In this project")
        await anna.press("w")
        await anna.sees("Everywhere")
        await anna.press("y")
        await place.outcome(held)
    assert edits.seen == ["Bash(npm test -- --watch)", "Bash(npm publish)"]
    assert verdict(place, held).digest == held.ask.digest
    assert 'allow = ["Bash(npm test *)"]' in place.config.user_rules.read_text()


async def test_a_marked_option_and_a_rule_are_not_both_taken(place: Place) -> None:
    held = wanted_here(place, "npm test")
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.sees("y allows it")
        await anna.press("1", "l")
        await anna.sees("y allows this and adds the rule")
        await anna.press("y")
        await anna.sees("You marked an option.")
        assert place.now(held).state is State.PENDING
    assert not place.config.user_rules.exists()


async def test_a_y_before_the_rule_is_shown_allows_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, look = threading.Event(), like_view.look_at

    def slowly(*given: Any) -> like_view.LikeView:
        go_on.wait(30)
        return look(*given)

    monkeypatch.setattr("sayso.permissions.like_view.look_at", slowly)
    held = wanted_here(place, "npm test")
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.sees("y allows it")
        await anna.press("l", "y")
        await anna.sees("the rule is still being looked up")
        assert place.now(held).state is State.PENDING
        go_on.set()
        await anna.sees("y allows this and adds the rule")


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_rule_is_taken_only_once_the_end_of_its_action_is_in_view(place: Place, size: tuple[int, int]) -> None:
    wanted_here(place, "git push origin main")
    async with place.inbox(size) as anna:
        await anna.open()
        await anna.press("l")
        await anna.sees("Bash(git push origin main)")
        for _ in range(10):
            if not anna.app.screen.query_one(Step).unseen:
                break
            await anna.press("pagedown")
        await anna.sees(str(place.config.project)[-8:])


async def test_what_no_rule_can_allow_says_so_and_stays_as_it_was(place: Place) -> None:
    held = wanted_here(place, "echo x > y")
    async with place.inbox((100, 40)) as anna:
        await anna.open()
        await anna.sees("y allows it")
        await anna.press("l")
        await anna.sees("No rule can be made of this")
        assert place.now(held).state is State.PENDING


async def test_while_a_no_is_marked_or_written_only_the_key_for_a_no_is_named(place: Place) -> None:
    held = wanted(place)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("y allows it", "y allow ")
        await anna.press("2")
        await anna.sees("n denies it, with what you marked or wrote")
        assert "y allow" not in anna.screen()
        await anna.press("2", "o")
        await anna.type("Not now")
        await anna.press("escape")
        await anna.sees("n denies it, with what you marked or wrote")
        assert "y allow" not in anna.screen()
        place.desk.cancel(held.ask.id, anna.app.shared.settler)
        await anna.sees("What you entered")
        await anna.sees_not("n denies it")
