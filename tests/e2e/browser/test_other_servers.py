"""Other servers on the machine of the inbox, and what a real browser tells them of it: nothing."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import NewContext, SignIn, sign_in_context
from tests.web.house import USER, House, confirm


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

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
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
def test_an_old_bookmark_leads_in_by_a_link_and_names_the_private_address_to_nobody_else(
    house: House, new_context: NewContext
) -> None:
    ask = house.ask(confirm("The one I wanted?"))
    page = new_context().new_page()
    page.goto(f"http://127.0.0.1:{house.web.port}/asks/{ask.id}")
    expect(page.get_by_text("Your inbox has a private address")).to_be_visible()
    page.get_by_label("paste it").fill(house.accounts.make_link(USER))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{house.web.address}/sign-in?**")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The one I wanted?").first).to_be_visible()
    assert page.url == f"{house.web.address}/asks/{ask.id}"


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
    lost, page = sign_in("/", user="grace"), sign_in("/settings", user="grace")
    listed = page.locator(".sessions li")
    expect(listed).to_have_count(2)
    expect(listed.filter(has_text="This one")).to_have_count(1)
    page.get_by_role("button", name="End the session of").click()
    expect(page.get_by_text("That session has ended.")).to_be_visible()
    expect(listed).to_have_count(1)
    expect(lost.get_by_text("You are signed out.")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
