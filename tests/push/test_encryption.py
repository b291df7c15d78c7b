"""Only the browser can read a push, and its service knows who sends it."""

from __future__ import annotations

import base64

import pytest
from cryptography.exceptions import InvalidTag
from tests.push.service import PlayedBrowser, Pushed, data_of, sender_of

from sayso.errors import NotificationFailed
from sayso.push import encryption
from sayso.push.encryption import MOST, STEP, SenderKey, encrypted


def test_a_browser_reads_what_was_encrypted_for_it_and_no_other_does() -> None:
    browser, other = PlayedBrowser(), PlayedBrowser()
    body = encrypted("Soll ich? ü".encode(), data_of(browser.p256dh), data_of(browser.auth))
    assert browser.decrypted(body).decode() == "Soll ich? ü"
    with pytest.raises(InvalidTag):
        other.decrypted(body)


def test_the_length_tells_little_and_fits_what_services_take() -> None:
    browser = PlayedBrowser()
    keys = data_of(browser.p256dh), data_of(browser.auth)
    assert len(encrypted(b"a", *keys)) == len(encrypted(b"a" * (STEP - 1), *keys))
    assert len(encrypted(b"a" * MOST, *keys)) <= encryption.RECORD
    with pytest.raises(NotificationFailed, match="too long"):
        encrypted(b"a" * (MOST + 1), *keys)


def test_the_keys_are_those_of_the_example_in_the_rfc() -> None:
    """RFC 8291, section 5: what comes of its secrets, salt and public keys."""
    shared = data_of("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs")
    auth, salt = data_of("BTBZMqHH6r4Tts7J_aSIgg"), data_of("DGv6ra1nlYgDCS1FRnbzlw")
    theirs = data_of("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    ours = data_of("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
    assert encryption._keys(shared, auth, salt, theirs, ours) == (
        data_of("oIhVW04MRdy2XN9CiKLxTg"),
        data_of("4h_95klXJ5E_qnoN"),
    )


def test_a_service_can_check_who_sends() -> None:
    key = SenderKey(b"s" * 32)
    assert key.public == SenderKey(b"s" * 32).public
    assert len(base64.urlsafe_b64decode(key.public + "=")) == 65
    header = key.authorization("https://push.example.org:8443/x/y?z", "mailto:a@b.c", 1000)
    told = sender_of(Pushed(path="", headers={"authorization": header}, body=b""))
    assert told == {
        "aud": "https://push.example.org:8443",
        "exp": 1000 + encryption.JWT_LIFE,
        "sub": "mailto:a@b.c",
        "key": key.public,
    }


def test_a_key_that_is_none_is_no_reason_to_fall_over() -> None:
    with pytest.raises(NotificationFailed, match="key is none"):
        encrypted(b"a", b"\x04" + b"\xff" * 64, b"a" * 16)
