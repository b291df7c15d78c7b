"""Which addresses a browser may name, and what quiet hours are."""

from __future__ import annotations

import socket
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.push.service import push_service

from sayso.errors import InvalidInput, NotificationFailed
from sayso.push import addresses, sending
from sayso.push.addresses import is_of_this_machine, is_public, may_be_called
from sayso.push.sending import LONGEST_REPLY, UNREACHED, Reach, post
from sayso.push.subscriptions import PushDesk
from sayso.records import replace
from sayso.store import Store
from sayso.wishes import NewsKind, Wishes


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
        "https://a.localhost./x",
        "https://127.0.0.1./x",
        "https://127.1/x",
        "https://10.0.0x1/x",
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


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "100.64.0.1",
        "224.0.0.1",
        "0.0.0.0",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "fec0::1",  # of a site
        "ff0e::1",
        "::7f00:1",  # those that hold an IPv4 address: of this machine, of a network of ours, or whatever
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2001:0:808:808::1",
    ],
)
def test_addresses_of_ours_and_ways_to_them_are_not_public(address: str) -> None:
    assert not is_public(address)
    assert not may_be_called(f"https://[{address}]/x" if ":" in address else f"https://{address}/x")


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::93.184.216.34"])
def test_a_public_address_is_one_unless_this_machine_has_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_public(address)
    monkeypatch.setattr(addresses, "is_of_this_machine", {"93.184.216.34", "2606:2800:220:1::1"}.__contains__)
    assert not is_public(address)
    assert not may_be_called(f"https://[{address}]/x" if ":" in address else f"https://{address}/x")


def test_this_machine_knows_its_own_addresses() -> None:
    assert is_of_this_machine("127.0.0.1")
    assert not is_of_this_machine("192.0.2.1")
    assert not is_of_this_machine("2001:db8::1")


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
