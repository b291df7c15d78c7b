"""Other servers on the machine of the inbox, and what a real browser tells them of it: nothing."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import NewContext, SignIn, sign_in_context
from tests.web.house import USER, House, confirm, new_house


class Preview:
    """An agent's dev server on another port, which keeps every header that it is sent."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        heard = self.heard

        class Recorder(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                heard.append(f"{self.path}\n{self.headers}")
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>preview</title><h1>My app</h1>")

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Recorder)
        self.port = self.server.server_port


@contextmanager
def preview() -> Iterator[Preview]:
    made = Preview()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        thread.join()
        made.server.server_close()


@pytest.mark.finding("F-30")
def test_no_other_port_of_the_machine_sees_the_session(house: House, new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{house.web.address}/sign-in?link={house.accounts.make_link(USER)}")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    (secret,) = [one["value"] for one in page.context.cookies() if one["name"] == house.cookie_name]
    with preview() as other:
        for name in ("127.0.0.1", "localhost", "preview.localhost"):
            page.goto(f"http://{name}:{other.port}/")
            expect(page.get_by_role("heading", name="My app")).to_be_visible()
        page.goto(f"{house.web.address}/")
        page.evaluate("port => { location.href = `http://127.0.0.1:${port}/from-the-inbox`; }", other.port)
        expect(page.get_by_role("heading", name="My app")).to_be_visible()
    assert len(other.heard) >= 4
    private = house.web.host.partition(":")[0]
    for heard in other.heard:
        assert secret not in heard
        assert "cookie:" not in heard.lower()
        assert private not in heard, "nor the name under which it could ask for the cookie"


@pytest.mark.finding("F-30")
def test_another_user_who_serves_at_their_own_name_is_not_sent_the_session(
    house: House, sign_in: SignIn, new_context: NewContext
) -> None:
    page, mallory = sign_in(), sign_in("/settings", user="mallory")
    expect(mallory.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    known = house.host_of("mallory").partition(":")[0]
    (secret,) = [one["value"] for one in page.context.cookies() if one["name"] == house.cookie_name]
    with preview() as other:
        page.evaluate("to => { location.href = to; }", f"http://{known}:{other.port}/steal")
        expect(page.get_by_role("heading", name="My app")).to_be_visible()
    assert other.heard
    assert not [heard for heard in other.heard if secret in heard or house.cookie_name in heard]


@pytest.mark.finding("F-30")
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_where_a_browser_knows_no_private_name_a_private_path_keeps_the_session(
    house: House, new_context: NewContext, name: str
) -> None:
    _sees_nothing(house, new_context, f"http://{name}:{house.web.port}")


@pytest.mark.finding("F-30")
def test_on_the_network_a_private_path_keeps_the_session(new_context: NewContext) -> None:
    with new_house("--host", "0.0.0.0") as house:
        _sees_nothing(house, new_context, house.web.for_programs)


def _sees_nothing(house: House, new_context: NewContext, address: str) -> None:
    """Sign in at a name that other servers have too, use the page, and see what another port of it is told."""
    ask = house.ask(confirm("The one I wanted?"))
    page, private = new_context().new_page(), house.accounts.private_path(USER)
    page.goto(f"{address}/asks/{ask.id}")
    expect(page.get_by_text("Your inbox has a private address")).to_be_visible()
    assert private not in page.content(), "only who has a good link learns it"
    page.get_by_label("paste it").fill(house.accounts.make_link(USER))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The one I wanted?").first).to_be_visible()
    assert page.url == f"{address}{private}/asks/{ask.id}"
    (secret,) = [one["value"] for one in page.context.cookies(page.url) if one["name"] == house.cookie_name]

    for heading in ("Commands", "Talk", "History", "Settings", "Inbox"):
        page.get_by_role("navigation").get_by_role("link", name=heading).click()
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        assert page.url.startswith(f"{address}{private}/")
    page.goto(f"{address}{private}/settings")
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("html[data-theme=dark]")).to_be_attached()
    page.goto(f"{address}{private}/")
    house.ask(confirm("Told by the stream?"))
    page.get_by_role("link", name="Told by the stream?").click()
    expect(page.get_by_role("article").get_by_text("Told by the stream?")).to_be_visible()
    assert page.url.startswith(f"{address}{private}/asks/")

    host = address.partition("//")[2].partition(":")[0]
    with preview() as other:
        for path in ("/", "/sign-in", "/asks/", "/static/app.js"):
            page.goto(f"http://{host}:{other.port}{path}")
            expect(page.get_by_role("heading", name="My app")).to_be_visible()
        page.goto(f"{address}{private}/")
        page.evaluate("to => { location.href = to; }", f"http://{host}:{other.port}/from-the-inbox")
        expect(page.get_by_role("heading", name="My app")).to_be_visible()
    assert len(other.heard) >= 5
    for heard in other.heard:
        assert secret not in heard
        assert house.cookie_name not in heard
        assert private not in heard
    page.goto(f"{address}/")
    expect(page.get_by_text("Your inbox has a private address")).to_be_visible()
    page.goto(f"{address}{private}/")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


@pytest.mark.finding("F-30")
def test_the_address_of_the_inbox_is_the_same_after_a_restart_and_the_tab_goes_on(
    own_house: House, new_context: NewContext
) -> None:
    context = new_context(base_url=own_house.web.address)
    sign_in_context(context, own_house)
    page, before = context.new_page(), own_house.web.address
    page.goto("/")
    own_house.web.stop()
    own_house.restart()
    assert own_house.web.address == before
    own_house.ask(confirm("After the restart?"))
    expect(page.get_by_text("After the restart?").first).to_be_visible(timeout=60_000)


@pytest.mark.finding("F-30")
def test_one_of_several_sessions_is_ended_from_the_settings(house: House, sign_in: SignIn) -> None:
    lost, page = sign_in("/", user="hedy"), sign_in("/settings", user="hedy")
    listed = page.locator(".sessions li")
    expect(listed).to_have_count(2)
    expect(listed.filter(has_text="This one")).to_have_count(1)
    page.get_by_role("button", name="End the session of").click()
    expect(page.get_by_text("That session has ended.")).to_be_visible()
    expect(listed).to_have_count(1)
    expect(lost.get_by_text("You are signed out.")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
