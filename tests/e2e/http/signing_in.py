"""A person with a browser that is signed in, and a client that gets its tokens by their click: HTTP by hand, and the
SDK's own client for OAuth."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import mcp_types as types
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from tests.e2e.http.harness import WAIT, Place, Replica, as_browser, sign_in

CALLBACK = "http://localhost:41999/callback"
NAME = "Tester (sayso)"


class Clicker:
    """A browser that is signed in, and presses what it is told to."""

    def __init__(self, place: Place, server: Replica) -> None:
        self.server = server
        self._http = httpx2.Client(timeout=WAIT)
        link = place.run("web", "--link").stdout.strip()
        self._as_browser = as_browser(link)
        assert sign_in(self._http, server, link) == 303

    def close(self) -> None:
        self._http.close()

    def get(self, path: str) -> httpx2.Response:
        return self._http.get(f"{self.server.address}{path}", headers=self._as_browser)

    def post(self, path: str, form: Mapping[str, str], **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._http.post(f"{self.server.address}{path}", data=dict(form), headers={**self._as_browser, **named})

    def look_at_waiting(self, url: str) -> httpx2.Response:
        """The page of what waits for this person, after a client has opened its address by the plain name."""
        opened = httpx2.get(url, timeout=WAIT)
        assert opened.status_code == 200, opened.text
        mark = re.search(r'class="mark">([A-Z0-9-]+)<', opened.text)
        waiting = re.findall(
            r'>([A-Z0-9-]{7})</span>\)\. <a class="button" href="(oauth/waiting/[^"]+)"', self.get("/settings").text
        )
        assert mark
        return self.get("/" + dict(waiting)[mark[1]])

    def say(self, shown: httpx2.Response, said: str) -> httpx2.Response:
        return self.post("/oauth/decide", {**fields_of(shown), "said": said})

    def connect(self, url: str, said: str = "connect") -> dict[str, str]:
        """Agree, or not. What the client is told by the address that the browser goes to."""
        return told_by(self.say(self.look_at_waiting(url), said))


def fields_of(shown: httpx2.Response) -> dict[str, str]:
    """The hidden fields of the form on a page."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', shown.text)
    return {name: unescape(value) for name, value in found}


def told_by(sent: httpx2.Response) -> dict[str, str]:
    assert sent.status_code == 303, sent.text
    to = urlsplit(sent.headers["location"])
    return {"to": to._replace(query="").geturl(), **{name: values[0] for name, values in parse_qs(to.query).items()}}


class Wallet:
    """Where the SDK's client keeps what it got."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@asynccontextmanager
async def signed_in(clicker: Clicker, wallet: Wallet, mode: str) -> AsyncIterator[Client]:
    """The SDK's client, which knows nothing but the address."""
    told: dict[str, str] = {}

    async def open_browser(url: str) -> None:
        told.update(clicker.connect(url))

    async def come_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

    about = OAuthClientMetadata.model_validate({"redirect_uris": [CALLBACK], "client_name": NAME})
    auth = OAuthClientProvider(clicker.server.mcp, about, wallet, open_browser, come_back)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=WAIT) as http,
        Client(
            streamable_http_client(clicker.server.mcp, http_client=http),
            mode=mode,
            client_info=types.Implementation(name="tester", version="7"),
        ) as client,
    ):
        yield client


class Program:
    """A client step by step."""

    def __init__(self, server: Replica, http: httpx2.Client, **about: Any) -> None:
        self._server, self._http = server, http
        self.verifier = secrets.token_urlsafe(48)
        made = self.post_json("/oauth/register", {"redirect_uris": [CALLBACK], "client_name": NAME, **about})
        assert made.status_code == 201, made.text
        self.registered = made.json()
        self.id: str = self.registered["client_id"]

    def post_json(self, path: str, data: object) -> httpx2.Response:
        return self._http.post(f"{self._server.address}{path}", json=data)

    def address(self, **changed: str | None) -> str:
        """The address that it opens in a browser. None leaves a parameter out."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        wanted = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": CALLBACK,
            "state": "a state & more",
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "resource": self._server.mcp,
            **changed,
        }
        return f"{self._server.address}/oauth/authorize?{urlencode({k: v for k, v in wanted.items() if v is not None})}"

    def token(self, **parameters: str) -> httpx2.Response:
        return self._http.post(f"{self._server.address}/oauth/token", data={"client_id": self.id, **parameters})

    def redeem(self, code: str, **changed: str) -> httpx2.Response:
        given = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        return self.token(**{**given, "code_verifier": self.verifier, **changed})

    def refresh(self, token: str, **more: str) -> httpx2.Response:
        return self.token(grant_type="refresh_token", refresh_token=token, **more)

    def revoke(self, token: str) -> httpx2.Response:
        return self._http.post(f"{self._server.address}/oauth/revoke", data={"client_id": self.id, "token": token})

    def connected(self, clicker: Clicker) -> dict[str, Any]:
        """Its tokens, by a click."""
        got = self.redeem(clicker.connect(self.address())["code"])
        assert got.status_code == 200, got.text
        tokens: dict[str, Any] = got.json()
        return tokens
