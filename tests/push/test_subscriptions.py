"""Which addresses a browser may name, and what quiet hours are."""

from __future__ import annotations

import socket
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.push.service import push_service

from sayso.errors import InvalidInput, NotificationFailed
from sayso.push.sending import Reach, is_public, post
from sayso.push.subscriptions import PushDesk, PushKind, PushWishes, may_be_called
from sayso.records import replace
from sayso.store import Store


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/abc:def",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
        "https://web.push.apple.com/QAbc",
        "https://wns2-par02p.notify.windows.com/w/?token=BQYAAAB%2b",
    ],
)
def test_addresses_of_real_push_services_are_taken(endpoint: str) -> None:
    assert may_be_called(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "http://fcm.googleapis.com/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://10.0.0.8/x",
        "https://192.168.1.1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/x",
        "https://sayso.localhost/x",
        "https://printer.local/x",
        "https://metadata.google.internal/x",
        "https://intranet/x",
        "https://user:secret@push.example.org/x",
        "https://push.example.org:0/x",
        "https://push.example.org/x y",
        "https://push.example.org/\r\nHost: x",
        "file:///etc/passwd",
        "https://push.example.org/" + "x" * 3000,
    ],
)
def test_no_other_address_is(endpoint: str) -> None:
    assert not may_be_called(endpoint)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fe80::1%eth0", "fd00::1", "224.0.0.1", "0.0.0.0"])
def test_addresses_of_ours_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_a_name_that_leads_to_a_machine_of_ours_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with push_service() as service:

        def found(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(socket.AF_INET, 1, 6, "", (address, service.port)) for address in ("93.184.216.34", "127.0.0.1")]

        monkeypatch.setattr(socket, "getaddrinfo", found)
        with pytest.raises(NotificationFailed, match="not public"):
            post(f"https://push.example.org:{service.port}/x", {}, b"", Reach())
        assert service.came.empty()


def test_keys_that_are_none_are_refused_with_their_names(store: Store) -> None:
    with pytest.raises(InvalidInput) as refused:
        PushDesk(store).subscribe("s", "https://127.0.0.1/", "abc", "!", "")
    assert [problem.path for problem in refused.value.problems] == ["endpoint", "p256dh", "auth"]


def at(time: str) -> int:
    return int(
        datetime.fromisoformat(f"2030-01-15T{time}").replace(tzinfo=ZoneInfo("Europe/Berlin")).timestamp() * 1000
    )


def test_quiet_hours_are_those_of_the_browsers_own_clock_and_may_go_past_midnight() -> None:
    night = PushWishes(quiet_from="22:00", quiet_until="07:00", zone="Europe/Berlin")
    assert [night.is_quiet(at(time)) for time in ("21:59", "22:00", "03:00", "06:59", "07:00")] == [
        False,
        True,
        True,
        True,
        False,
    ]
    noon = replace(night, quiet_from="12:00", quiet_until="13:00")
    assert [noon.is_quiet(at(time)) for time in ("11:59", "12:00", "13:00")] == [False, True, False]
    assert not night.want(PushKind.QUESTION, "shop", at("23:00"))
    assert night.want(PushKind.QUESTION, "shop", at("08:00"))


@pytest.mark.parametrize(("begin", "end"), [("25:00", "07:00"), ("22:00", ""), ("noon", "midnight")])
def test_times_that_are_none_are_refused(store: Store, begin: str, end: str) -> None:
    with pytest.raises(InvalidInput):
        PushDesk(store).wish("s", PushWishes(quiet_from=begin, quiet_until=end))


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "a\0b"])
def test_a_zone_that_nobody_knows_is_that_of_greenwich(zone: str) -> None:
    wishes = PushWishes(quiet_from="22:00", quiet_until="23:00", zone=zone)
    assert wishes.is_quiet(at("23:30"))
    assert not wishes.is_quiet(at("22:30"))
