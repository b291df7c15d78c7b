"""What a push service is sent and may reply, and what quiet hours are."""

from __future__ import annotations

import socket
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.push.service import push_service

from sayso.errors import InvalidInput, NotificationFailed
from sayso.public_hosts import Reach
from sayso.push import sending
from sayso.push.sending import LONGEST_REPLY, UNREACHED, post
from sayso.push.subscriptions import PushDesk
from sayso.records import replace
from sayso.store import Store
from sayso.wishes import NewsKind, Wishes


def test_a_name_that_leads_to_a_machine_of_ours_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with push_service() as service:

        def found(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(socket.AF_INET, 1, 6, "", (address, service.port)) for address in ("93.184.216.34", "127.0.0.1")]

        monkeypatch.setattr(socket, "getaddrinfo", found)
        with pytest.raises(NotificationFailed, match="not public"):
            post(f"https://push.example.org:{service.port}/x", {}, b"", Reach())
        assert service.came.empty()


def test_a_service_that_drips_its_reply_holds_a_sender_no_longer_than_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "PATIENCE", 0.5)
    with push_service() as service:
        service.drips = b"HTTP/1.1 201 " + b"x" * 300 + b"\r\n\r\n"
        assert post(service.endpoint("ada"), {}, b"", service.reach).status == UNREACHED


def test_only_so_much_of_a_reply_is_read() -> None:
    with push_service() as service:
        service.says = [(201, "1" * LONGEST_REPLY), (503, "7")]
        assert post(service.endpoint("ada"), {}, b"", service.reach).status == UNREACHED
        reply = post(service.endpoint("ada"), {}, b"", service.reach)
        assert (reply.status, reply.retry_after) == (503, 7)


@pytest.mark.parametrize("said", [b"junk\r\n\r\n", b"HTTP/1.1 yes\r\n\r\n", b"HTTP/1.1 201 Created\r\n"])
def test_a_reply_that_is_none_is_not_taken_for_one(said: bytes) -> None:
    with push_service() as service:
        service.drips = said
        assert post(service.endpoint("ada"), {}, b"", service.reach).status == UNREACHED


def test_keys_that_are_none_are_refused_with_their_names(store: Store) -> None:
    with pytest.raises(InvalidInput) as refused:
        PushDesk(store).subscribe("s", "https://127.0.0.1/", "abc", "!", "")
    assert [problem.path for problem in refused.value.problems] == ["endpoint", "p256dh", "auth"]


def at(time: str) -> int:
    return int(
        datetime.fromisoformat(f"2030-01-15T{time}").replace(tzinfo=ZoneInfo("Europe/Berlin")).timestamp() * 1000
    )


def test_quiet_hours_are_those_of_the_browsers_own_clock_and_may_go_past_midnight() -> None:
    night = Wishes(quiet_from="22:00", quiet_until="07:00", zone="Europe/Berlin")
    assert [night.is_quiet(at(time)) for time in ("21:59", "22:00", "03:00", "06:59", "07:00")] == [
        False,
        True,
        True,
        True,
        False,
    ]
    noon = replace(night, quiet_from="12:00", quiet_until="13:00")
    assert [noon.is_quiet(at(time)) for time in ("11:59", "12:00", "13:00")] == [False, True, False]
    assert not night.want(NewsKind.QUESTION, "shop", at("23:00"))
    assert night.want(NewsKind.QUESTION, "shop", at("08:00"))


@pytest.mark.parametrize(("begin", "end"), [("25:00", "07:00"), ("22:00", ""), ("noon", "midnight")])
def test_times_that_are_none_are_refused(store: Store, begin: str, end: str) -> None:
    with pytest.raises(InvalidInput):
        PushDesk(store).wish("s", Wishes(quiet_from=begin, quiet_until=end))


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "a\0b"])
def test_a_zone_that_nobody_knows_is_that_of_greenwich(zone: str) -> None:
    wishes = Wishes(quiet_from="22:00", quiet_until="23:00", zone=zone)
    assert wishes.is_quiet(at("23:30"))
    assert not wishes.is_quiet(at("22:30"))
