"""Programs that wait to be let in: nobody is sent away by who comes later, a crowd is gone soon, and what was decided
stays decided."""

from __future__ import annotations

import pytest

from sayso.store import Store
from sayso.waiting_room import (
    CONNECTED,
    IN_A_CROWD,
    MANY,
    MOST_WAITING,
    REFUSED,
    SENT_AWAY,
    WAITS,
    WaitingRequest,
    WaitingRoom,
)

AT = "http://127.0.0.1:1"


def came(room: WaitingRoom, query: str) -> WaitingRequest:
    found = room.take_in("Claude Code", AT, query)
    assert found
    return found


def test_who_waits_stays_and_those_of_a_crowd_leave_first(store: Store) -> None:
    now = [1_000]
    room = WaitingRoom(store, clock=lambda: now[0])
    honest = came(room, "honest")
    now[0] += 10
    others = [room.take_in("Claude Code", AT, str(number)) for number in range(MOST_WAITING)]
    assert others[-1] is None, "there is no room"
    assert len(room.all()) == MOST_WAITING
    assert room.all()[0] == honest
    assert came(room, "honest") == honest, "the same again"
    assert room.next_place() == IN_A_CROWD
    now[0] += IN_A_CROWD
    assert len(room.all()) == MANY
    assert room.find(honest.id) == honest
    assert room.take_in("Codex", AT, "later")
    now[0] += WAITS
    assert room.all() == []
    assert room.next_place() == 0


@pytest.mark.parametrize("said", [CONNECTED, REFUSED])
def test_what_was_decided_is_decided_once_and_known_when_it_comes_again(store: Store, said: str) -> None:
    room = WaitingRoom(store)
    asked = came(room, "q")
    assert room.decide(asked.id, AT, "q", said)
    assert not room.decide(asked.id, AT, "q", CONNECTED), "nor by somebody who was slower"
    again = came(room, "q")
    assert (again.id, again.mark, again.said) == (asked.id, asked.mark, said)
    assert again.query == "", "what is not needed any more is not kept"
    assert room.all() == []
    assert came(room, "q2").said == "", "another request is another"


def test_what_came_to_the_persons_own_page_is_decided_once_as_well(store: Store) -> None:
    room = WaitingRoom(store)
    assert room.decide("", AT, "q", REFUSED)
    assert not room.decide("", AT, "q", CONNECTED)
    known = room.known(AT, "q")
    assert known
    assert known.said == REFUSED


def test_who_was_sent_away_does_not_come_back_and_who_waited_too_long_is_not_let_in(store: Store) -> None:
    now = [1_000]
    room = WaitingRoom(store, clock=lambda: now[0])
    sent, late = came(room, "sent"), "late"
    room.clear()
    assert came(room, "sent").said == SENT_AWAY
    assert not room.decide(sent.id, AT, "sent", CONNECTED)
    asked = came(room, late)
    now[0] += WAITS
    assert not room.decide(asked.id, AT, late, CONNECTED)
    assert came(room, late).id != asked.id, "it waits anew, under another name"


def test_requests_are_known_to_every_server_of_the_store(store: Store) -> None:
    asked = came(WaitingRoom(store), "q")
    elsewhere = WaitingRoom(store)
    assert elsewhere.all() == [asked]
    assert elsewhere.decide(asked.id, AT, "q", CONNECTED)
    assert WaitingRoom(store).all() == []
