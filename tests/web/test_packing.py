"""Pages are sent packed, without telling by their length what is in them."""

from __future__ import annotations

import re

from tests.web.house import House, Reply, confirm
from tests.web.test_commands_pages import Browser, stream

PACKED = {"Accept-Encoding": "gzip, br"}


def get(house: House, browser: Browser, path: str = "/") -> Reply:
    return house.web.call("GET", path, cookie=browser.cookie, headers=PACKED)


def token_of(reply: Reply) -> str:
    (token,) = set(re.findall(r'name="csrf" value="(\w+)"', reply.text))
    return str(token)


def test_a_page_is_packed_for_a_browser_that_takes_that_and_for_no_other(house: House) -> None:
    browser = Browser(house)
    house.ask(confirm("Packed?"))
    packed, plain = get(house, browser), browser.get("/")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in plain.headers
    assert packed.size < plain.size / 3
    assert "Packed?" in packed.text


def test_the_token_of_a_form_is_never_the_same_twice_and_each_is_taken(house: House) -> None:
    browser = Browser(house)
    tokens = [token_of(get(house, browser, "/settings")) for _ in range(3)]
    assert len(set(tokens)) == 3
    for token in tokens:
        assert browser.post("/presence", csrf=token, said="back").status == 303
    for wrong in (tokens[0][:-1] + ("0" if tokens[0][-1] != "0" else "1"), tokens[0][:64], tokens[0] + "00", "é"):
        assert browser.post("/presence", csrf=wrong, said="back").status == 403


def test_what_holds_a_token_that_is_not_masked_and_what_streams_is_sent_as_it_is(house: House) -> None:
    shown = house.web.call("GET", "/sign-in?next=/" + "x" * 3000, headers=PACKED)
    assert shown.size > 3000
    assert "content-encoding" not in shown.headers
    with stream(house, Browser(house), "/events") as reply:
        assert reply.getheader("content-encoding") is None
        assert reply.readline() == b"retry: 1000\n"
