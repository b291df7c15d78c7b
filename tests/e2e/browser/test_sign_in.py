"""Getting in and out in a real browser."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from tests.e2e.browser.conftest import NewContext, SignIn, sign_in_context
from tests.web.house import USER, House, confirm, new_house


def link_to(house: House, secret: str) -> str:
    return f"{house.web.address}/sign-in?link={secret}"


@pytest.fixture
def page(new_context: NewContext, house: House) -> Page:
    """A browser in which nobody is signed in."""
    return new_context(base_url=house.web.address).new_page()


@pytest.mark.parametrize("script", [True, False])
def test_the_link_that_the_command_prints_signs_in_once(
    own_house: House, new_context: NewContext, script: bool
) -> None:
    page = new_context(java_script_enabled=script).new_page()
    page.goto(own_house.web.link)
    page.reload()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    assert page.url == f"{own_house.web.address}/", "the secret is gone from the address"
    page.goto(own_house.web.link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("This link has been used or is too old.")


def test_a_second_press_does_not_hear_that_the_first_has_used_the_link(house: House, page: Page) -> None:
    page.goto(link_to(house, house.accounts.make_link("ada")))
    page.get_by_role("button", name="Sign in").dblclick(delay=5)
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


def test_a_link_that_somebody_only_looked_at_still_works(house: House, page: Page) -> None:
    link = link_to(house, house.accounts.make_link("ada"))
    for _ in range(3):
        assert house.web.call("GET", link.removeprefix(house.web.address)).status == 200
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


def test_an_expired_link_lets_nobody_in_and_says_how_to_get_another(house: House, page: Page) -> None:
    page.goto(link_to(house, house.accounts.make_link("ada", life_ms=1)))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("too old. Make another with sayso web --link.")
    expect(page.get_by_role("alert").locator("code")).to_have_text("sayso web --link")
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in to Sayso")).to_be_visible()


def test_a_link_can_be_pasted_and_leads_to_the_page_that_was_wanted(house: House, page: Page) -> None:
    ask = house.ask(confirm("The one I wanted?"))
    page.goto(f"/asks/{ask.id}")
    page.get_by_label("paste it").fill(link_to(house, house.accounts.make_link("ada")))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The one I wanted?").first).to_be_visible()
    assert page.url == f"{house.web.address}/asks/{ask.id}"


@pytest.mark.parametrize("script", [True, False])
def test_signing_out_ends_the_session_everywhere_it_is_open(
    house: House, new_context: NewContext, script: bool
) -> None:
    context = new_context(base_url=house.web.address, java_script_enabled=script)
    sign_in_context(context, house)
    other, page = context.new_page(), context.new_page()
    other.goto("/")
    page.goto("/settings")
    before = context.cookies()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Sayso")).to_be_visible()
    if script:
        expect(other.get_by_text("You are signed out.")).to_be_visible()
    context.add_cookies(before)  # type: ignore[arg-type]
    other.goto("/history")
    expect(other.get_by_role("heading", name="Sign in to Sayso")).to_be_visible()


def test_a_revoked_user_is_shut_out_while_looking(house: House, sign_in: SignIn) -> None:
    page = sign_in(user="mallory")
    expect(page.locator("[data-count]")).to_have_text("0")
    assert house.place.run("user", "revoke", "mallory").returncode == 0
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in to Sayso")).to_be_visible()


def test_another_browser_signs_in_by_the_link_shown_in_the_settings(
    house: House, sign_in: SignIn, new_context: NewContext
) -> None:
    page = sign_in("/settings", user="grace")
    expect(page.locator("[data-push-refused]")).to_contain_text("does not let Sayso show notifications")
    expect(page.get_by_role("button", name="Tell this browser")).to_have_count(0)
    page.get_by_role("button", name="Show a sign-in link").click()
    link = page.get_by_role("textbox", name="Sign-in link").input_value()
    expect(page).to_have_url(re.compile(r"/settings#"))  # from then on to load it again asks for no other link
    page.reload()
    expect(page.get_by_role("button", name="Show a sign-in link")).to_be_visible()
    other = new_context().new_page()
    other.goto(link)
    other.get_by_role("button", name="Sign in").click()
    other.get_by_role("link", name="Settings").click()
    expect(other.get_by_text("Signed in as grace")).to_be_visible()


@pytest.mark.finding("F-59")
def test_a_code_for_the_phone_is_shown_only_where_the_phone_could_open_it(
    sign_in: SignIn, sign_in_to: Callable[..., Page]
) -> None:
    here = sign_in("/settings")
    here.get_by_role("button", name="Show a sign-in link").click()
    expect(here.get_by_text("Your phone cannot reach this address.")).to_be_visible()
    expect(here.get_by_role("img", name="QR code")).to_have_count(0)
    with new_house("--host", "0.0.0.0") as house:
        on_the_network = sign_in_to(house, "/settings")
        on_the_network.get_by_role("button", name="Show a sign-in link").click()
        expect(on_the_network.get_by_role("img", name="QR code")).to_be_visible()
        on_its_machine = f"http://{house.accounts.private_name(USER)}:{house.web.port}"
        on_the_network.goto(f"{on_its_machine}/sign-in?link={house.accounts.make_link(USER)}")
        on_the_network.get_by_role("button", name="Sign in").click()
        on_the_network.goto(f"{on_its_machine}/settings")
        on_the_network.get_by_role("button", name="Show a sign-in link").click()
        expect(on_the_network.get_by_role("img", name="QR code")).to_be_visible()
        link = on_the_network.get_by_role("textbox", name="Sign-in link").input_value()
        assert link.startswith(house.web.for_programs)


@pytest.fixture
def elsewhere(house: House) -> Iterator[str]:
    """A page of another site with a link to the inbox."""
    body = f'<!doctype html><title>chat</title><a href="{house.web.address}/history">Look here</a>'.encode()

    class Chat(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    # Under another name, which makes it another site for the browser.
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("script", [True, False])
def test_a_link_on_another_site_leads_in_although_the_cookie_is_strict(
    house: House, new_context: NewContext, elsewhere: str, script: bool
) -> None:
    context: BrowserContext = new_context(java_script_enabled=script)
    sign_in_context(context, house)
    page = context.new_page()
    page.goto(elsewhere)
    page.get_by_role("link", name="Look here").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(house: House, page: Page) -> None:
    page.goto(link_to(house, house.accounts.make_link("ada")))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    (session,) = [cookie for cookie in page.context.cookies() if cookie["name"] == house.cookie_name]
    assert session["httpOnly"] is True
    assert session["sameSite"] == "Strict"
    assert session["value"] not in page.evaluate("document.cookie")
