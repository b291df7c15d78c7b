"""Which hosts are called that a stranger has named."""

from __future__ import annotations

import pytest

from sayso import public_hosts
from sayso.public_hosts import is_of_this_machine, is_public, may_be_called


@pytest.mark.parametrize(
    "url",
    [
        "https://fcm.googleapis.com/fcm/send/abc:def",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
        "https://web.push.apple.com/QAbc",
        "https://wns2-par02p.notify.windows.com/w/?token=BQYAAAB%2b",
    ],
)
def test_addresses_of_real_push_services_are_taken(url: str) -> None:
    assert may_be_called(url)


@pytest.mark.parametrize(
    "url",
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
        "https://nas.lan/x",
        "https://NAS.LAN./x",
        "https://router.home.arpa/x",
        "https://ipv4only.arpa/x",
        "https://hidden.onion/x",
        "https://box.home/x",
        "https://mail.corp/x",
        "https://a.test/x",
        "https://push.example../x",
        "https://push..example.org/x",
        "https://printer.%6cocal/x",
        "https://user:secret@push.example.org/x",
        "https://push.example.org:0/x",
        "https://push.example.org/x y",
        "https://push.example.org/\r\nHost: x",
        "file:///etc/passwd",
        "https://push.example.org/" + "x" * 3000,
    ],
)
def test_no_other_address_is(url: str) -> None:
    assert not may_be_called(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "100.64.0.1",
        "224.0.0.1",
        "0.0.0.0",
        "168.63.129.16",  # these tell machines of clouds about themselves
        "192.0.0.192",
        "192.88.99.1",
        "198.18.0.1",
        "240.0.0.1",
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
        "2001:2::1",
        "2001:db8::1",
        "3fff::1",
        "64:ff9b::168.63.129.16",
    ],
)
def test_addresses_of_ours_and_ways_to_them_are_not_public(address: str) -> None:
    assert not is_public(address)
    assert not may_be_called(f"https://[{address}]/x" if ":" in address else f"https://{address}/x")


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::93.184.216.34"])
def test_a_public_address_is_one_unless_this_machine_has_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_public(address)
    monkeypatch.setattr(public_hosts, "is_of_this_machine", {"93.184.216.34", "2606:2800:220:1::1"}.__contains__)
    assert not is_public(address)
    assert not may_be_called(f"https://[{address}]/x" if ":" in address else f"https://{address}/x")


def test_this_machine_knows_its_own_addresses() -> None:
    assert is_of_this_machine("127.0.0.1")
    assert not is_of_this_machine("192.0.2.1")
    assert not is_of_this_machine("2001:db8::1")
