"""The desk of chats, on every store: codes, links, messages, and who holds a chat."""

from __future__ import annotations

import pytest
from tests.asks.samples import FakeClock

from sayso.accounts import Accounts
from sayso.chats.desk import ChatDesk, as_code
from sayso.chats.model import ChatKind
from sayso.chats.tokens import new_id, opened, sealed
from sayso.errors import InvalidInput, NotFound
from sayso.store import Store
from sayso.wishes import NewsKind, Wishes

TELEGRAM, NTFY = ChatKind.TELEGRAM, ChatKind.NTFY


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def chats(store: Store, clock: FakeClock) -> ChatDesk:
    accounts, desk = Accounts(store), ChatDesk(store, clock=clock)
    for name in ("ada", "bo"):
        accounts.add_user(name)
    desk.add(TELEGRAM, {"token": "1:a"})
    return desk


def test_a_code_links_the_one_who_brings_it_first_and_in_time(chats: ChatDesk, clock: FakeClock) -> None:
    first, second = chats.make_code(TELEGRAM, "ada"), chats.make_code(TELEGRAM, "ada")
    assert chats.redeem(TELEGRAM, first, "1", "1", "") is None, "a newer one has taken its place"
    link = chats.redeem(TELEGRAM, second, "1", "1", "@ada")
    assert link
    assert (link.user, link.account, link.label, link.wishes.kinds) == ("ada", "1", "@ada", ("question", "permission"))
    assert chats.redeem(TELEGRAM, second, "2", "2", "@eve") is None
    assert chats.redeem(TELEGRAM, second, "1", "1", "@ada") == link, "the same update once more"
    late = chats.make_code(TELEGRAM, "bo")
    clock.forward(15 * 60_000 + 1)
    assert chats.redeem(TELEGRAM, late, "3", "3", "") is None
    # An account is one user: another code of another makes it theirs.
    moved = chats.redeem(TELEGRAM, chats.make_code(TELEGRAM, "bo"), "1", "1", "@ada")
    assert moved
    assert [each.user for each in chats.links()] == ["bo"]
    for wrong in ("", "x", "\ud800", "\x00", "9" * 10_000):
        assert chats.redeem(TELEGRAM, wrong, "4", "4", "") is None
    assert as_code(" abcd efgh") == "ABCD-EFGH"
    assert as_code("hello wo") == "", "an O is no letter of a code"


def test_a_link_has_wishes_and_ends_alone_with_its_user_or_with_its_chat(chats: ChatDesk, store: Store) -> None:
    def linked(user: str, account: str) -> str:
        link = chats.redeem(TELEGRAM, chats.make_code(TELEGRAM, user), account, account, "")
        assert link
        return link.id

    ada, bo = linked("ada", "1"), linked("bo", "2")
    chats.wish(ada, "ada", Wishes(kinds=(NewsKind.QUESTION,), quiet_from="22:00", quiet_until="07:00"))
    assert {link.id: link.wishes.quiet_from for link in chats.links()} == {ada: "22:00", bo: ""}
    with pytest.raises(NotFound):
        chats.wish(ada, "bo", Wishes())
    with pytest.raises(InvalidInput, match="quiet_from"):
        chats.wish(ada, "ada", Wishes(quiet_from="late", quiet_until="07:00"))
    hers = next(link for link in chats.links() if link.id == ada)
    chats.begin_message("a" * 16, hers, "ask", "mark", "")
    assert chats.message("a" * 16) is not None
    with pytest.raises(NotFound):
        chats.unlink(ada, "bo")
    chats.unlink(ada, "ada")
    assert chats.message("a" * 16) is None
    Accounts(store).revoke_user("bo")
    assert chats.links() == []
    linked("ada", "1")
    chats.remove(TELEGRAM)
    assert (chats.all(), chats.links()) == ([], [])
    with pytest.raises(NotFound, match="sayso chat add telegram"):
        chats.make_code(TELEGRAM, "ada")


def test_what_nobody_sealed_opens_nothing(chats: ChatDesk, store: Store) -> None:
    key = store.secret("chat_key")
    link = chats.redeem(TELEGRAM, chats.make_code(TELEGRAM, "ada"), "1", "1", "")
    assert link
    token = sealed(key, new_id(), "o12")
    assert len(token.encode()) <= 64
    found = opened(key, token)
    assert found
    assert found.choice == "o12"
    for wrong in ("", token[1:], token + "x", token.replace("o12", "o1"), token.upper(), "\ud800", "." * 60):
        assert opened(key, wrong) is None
    assert opened(bytes(32), token) is None


def test_a_room_of_ntfy_is_linked_by_what_was_sent_to_it(chats: ChatDesk) -> None:
    chats.add(NTFY, {"replies": "sayso-replies-1"})
    token = chats.make_token(NTFY, "ada", "sayso-asks-1")
    link = chats.redeem(NTFY, token)
    assert link
    assert (link.user, link.account, link.room) == ("ada", "sayso-asks-1", "sayso-asks-1")
    assert chats.redeem(TELEGRAM, chats.make_token(NTFY, "ada", "x"), "1", "1", "") is None
