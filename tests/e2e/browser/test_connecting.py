"""A program wants to connect, and a person agrees in a real browser: the page it opens, the inbox, and back to it."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.browser.conftest import SignIn
from tests.e2e.browser.test_accessibility import check_looks
from tests.web.house import House

VERIFIER = "v" * 64


class Callback(http.server.BaseHTTPRequestHandler):
    came: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.came.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>Back in the program</h1>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def callback() -> Iterator[str]:
    """Where a program on this machine waits for the browser to come back."""
    Callback.came.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/callback"
        server.shutdown()


def wanted(house: House, callback: str) -> str:
    """The address that the program opens, by the plain name that it knows."""
    plain = f"127.0.0.1:{house.web.port}"
    about = {"redirect_uris": [callback], "client_name": "Claude Code <i>(sayso)</i>"}
    client = house.web.call("POST", "/oauth/register", data=about, host=plain).data["client_id"]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    asked = {"response_type": "code", "client_id": client, "redirect_uri": callback, "state": "s"}
    return f"http://{plain}/oauth/authorize?" + urlencode(
        {**asked, "code_challenge": challenge, "code_challenge_method": "S256"}
    )


@pytest.mark.parametrize("script", [True, False])
def test_a_program_is_let_in_from_the_inbox_and_disconnected_again(
    house: House, sign_in: SignIn, callback: str, script: bool
) -> None:
    inbox: Page = sign_in(java_script_enabled=script)
    opened = inbox.context.new_page()
    opened.goto(wanted(house, callback))
    expect(opened.get_by_role("heading", name="Go on in your inbox")).to_be_visible()
    mark = opened.locator("p.mark").inner_text()
    assert house.host_of() not in opened.content(), "the private address is told to nobody"
    if script:
        expect(inbox.locator("[data-connecting]")).to_contain_text(mark)
    else:
        inbox.goto("/settings")
    inbox.get_by_role("link", name="Look at it").first.click()
    expect(inbox.get_by_role("heading", name="Let this program ask you?")).to_be_visible()
    expect(inbox.locator("strong.mark")).to_have_text(mark)
    expect(inbox.locator(".facts")).to_contain_text("Claude Code <i>(sayso)</i>")
    inbox.get_by_role("button", name="Connect", exact=True).click()
    expect(inbox.get_by_role("heading", name="Back in the program")).to_be_visible()
    told = parse_qs(urlsplit(Callback.came[0]).query)
    assert (told["state"], told["iss"]) == (["s"], [f"http://127.0.0.1:{house.web.port}"])
    form = {"grant_type": "authorization_code", "code": told["code"][0], "code_verifier": VERIFIER}
    named = parse_qs(urlsplit(opened.url).query)
    form |= {"client_id": named["client_id"][0], "redirect_uri": callback}
    plain = f"127.0.0.1:{house.web.port}"
    access = house.web.call("POST", "/oauth/token", form=form, host=plain).data["access_token"]
    assert let_in(house, access)
    inbox.goto(f"{house.web.address}/settings")
    inbox.get_by_role("button", name="Disconnect").first.click()
    expect(inbox.get_by_text("Disconnected. It is let in no more.")).to_be_visible()
    assert not let_in(house, access)


def test_both_pages_on_the_way_are_for_everyone(house: House, sign_in: SignIn, callback: str) -> None:
    inbox: Page = sign_in()
    opened = inbox.context.new_page()
    opened.goto(wanted(house, callback))
    check_looks(opened)
    inbox.get_by_role("link", name="Look at it").first.click()
    expect(inbox.get_by_role("heading", name="Let this program ask you?")).to_be_visible()
    check_looks(inbox)
    inbox.get_by_role("button", name="No", exact=True).click()
    expect(inbox.get_by_role("heading", name="Back in the program")).to_be_visible()


def let_in(house: House, access: str) -> bool:
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    headers = {"Authorization": f"Bearer {access}", "Content-Type": "application/json", "Accept": "application/json"}
    told = house.web.call("POST", "/mcp", body=listing, headers=headers, host=f"127.0.0.1:{house.web.port}")
    return told.status != 401
