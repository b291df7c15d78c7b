"""Turning push on and off from a browser: whose it is, what it may name, and how it ends."""

from __future__ import annotations

import pytest
from tests.push.service import PlayedBrowser
from tests.web.house import USER, House, Reply

ENDPOINT = "https://push.example.org/one"


class SignedIn:
    """A browser that is signed in, and the keys that it was given."""

    def __init__(self, house: House, user: str = USER) -> None:
        self._house, self._user = house, user
        self._cookie = f"{house.cookie_name}={house.session(user)}"
        self.csrf = self.get("/push").data["csrf"]

    def get(self, path: str) -> Reply:
        return self._house.web.call("GET", path, cookie=self._cookie, host=self._house.host_of(self._user))

    def post(self, path: str, **form: str) -> Reply:
        given = {"csrf": self.csrf, **form}
        host = self._house.host_of(self._user)
        return self._house.web.call("POST", path, form=given, cookie=self._cookie, host=host)

    def subscribe(self, endpoint: str = ENDPOINT, **changed: str) -> Reply:
        keys = PlayedBrowser()
        given = {"endpoint": endpoint, "p256dh": keys.p256dh, "auth": keys.auth, "zone": "Europe/Berlin", **changed}
        return self.post("/push", **given)


def test_a_browser_turns_it_on_says_what_it_wants_and_turns_it_off(house: House) -> None:
    browser = SignedIn(house)
    assert "Tell this browser nothing" not in browser.get("/settings").text
    assert browser.subscribe().status == 204
    wishes = {"kind": "permission", "quiet_from": "22:00", "quiet_until": "07:00", "not_from": "shop, <b>"}
    assert browser.post("/push/wishes", **wishes).headers["location"].endswith("/settings?push=saved#push")
    page = browser.get("/settings").text
    assert 'value="permission" checked' in page
    assert 'value="question" checked' not in page
    assert 'value="shop, &lt;b&gt;"' in page
    assert browser.post("/push/end").status == 303
    assert "Tell this browser nothing" not in browser.get("/settings").text


@pytest.mark.parametrize(
    ("entered", "why"),
    [
        ({"quiet_from": "22:00"}, "Quiet hours have a beginning alone. Fill in both times, or leave both empty."),
        ({"quiet_until": "07:00"}, "Quiet hours have an end alone."),
        ({"quiet_from": "22:00", "quiet_until": "22:00"}, "from 22:00 until 22:00 would never be."),
        ({"quiet_from": "late", "quiet_until": "07:00"}, "is no time. Give one such as 22:00."),
    ],
)
def test_quiet_hours_that_are_none_are_refused_on_the_form_where_they_stay(
    house: House, entered: dict[str, str], why: str
) -> None:
    browser = SignedIn(house)
    browser.subscribe()
    refused = browser.post("/push/wishes", kind="turn", not_from="shop", **entered)
    assert refused.status == 422
    assert why in refused.text
    assert "<h1>Settings</h1>" in refused.text
    assert "quiet_until:" not in refused.text, "no field is called by its inner name"
    for kept in ('value="turn" checked', 'value="shop"', *(f'value="{time}"' for time in entered.values())):
        assert kept in refused.text
    assert 'value="question" checked' in browser.get("/settings").text, "what was saved before still holds"
    again = browser.get("/push/wishes")
    assert (again.status, again.headers["location"]) == (303, "/settings"), "loaded again it is the page"


def test_a_browser_that_chose_no_kind_is_not_said_to_be_told(house: House) -> None:
    browser = SignedIn(house)
    browser.subscribe()
    assert browser.post("/push/wishes", quiet_from="", quiet_until="").status == 303
    page = browser.get("/settings").text
    assert "This browser is told nothing: no kind is chosen." in page
    assert "This browser is told also" not in page


@pytest.mark.parametrize("endpoint", ["http://push.example.org/x", "https://127.0.0.1/x", "https://10.0.0.1/x", "junk"])
def test_no_address_of_this_machine_or_its_network_is_taken(house: House, endpoint: str) -> None:
    refused = SignedIn(house).subscribe(endpoint)
    assert refused.status == 422
    assert "is no https:// address of a push service" in refused.text


@pytest.mark.parametrize("zone", ["Foo/Bar", "../../etc/passwd", "x" * 5000])
def test_a_time_zone_that_nobody_knows_is_taken_for_that_of_greenwich(house: House, zone: str) -> None:
    browser = SignedIn(house)
    assert browser.subscribe(f"{ENDPOINT}/{len(zone)}", zone=zone).status == 204
    assert browser.post("/push/wishes", quiet_from="22:00", quiet_until="07:00", zone=zone).status == 303
    (kept,) = [found for found in house.pushes.all() if found.endpoint.endswith(f"/{len(zone)}")]
    assert (kept.wishes.zone, kept.wishes.quiet_from) == ("", "22:00")


def test_it_needs_a_session_its_token_and_real_keys(house: House) -> None:
    browser = SignedIn(house)
    assert house.web.call("GET", "/push").status == 401
    assert browser.subscribe(csrf="0" * 64).status == 403
    assert browser.subscribe(auth="short").status == 422


def test_another_browser_of_the_same_person_can_turn_it_off_and_nobody_else(house: House) -> None:
    phone, desk, grace = SignedIn(house), SignedIn(house), SignedIn(house, "grace")
    phone.subscribe("https://push.example.org/phone")
    told = "told by push"
    (session,) = [found.session for found in house.pushes.all() if found.endpoint.endswith("/phone")]
    assert told in desk.get("/settings").text
    assert told not in grace.get("/settings").text
    grace.post("/push/end", session=session)
    assert "This browser is told" in phone.get("/settings").text
    desk.post("/push/end", session=session)
    assert "This browser is told" not in phone.get("/settings").text
