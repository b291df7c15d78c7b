"""Where clients may be answered, under which names they sign in, and what is read of documents that describe them."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

import hypothesis.strategies as st
import pytest
from hypothesis import given as given_any
from tests.push.service import certificate_file

from sayso.errors import SignInRefused
from sayso.oauth.addresses import OAuthAddress, address_of
from sayso.oauth.clients import OAuthClient, can_be_returned_to, source_of
from sayso.oauth.documents import LONGEST, ClientDocuments
from sayso.public_hosts import Reach, is_public
from sayso.records import replace


@pytest.mark.parametrize(
    ("uri", "allowed"),
    [
        ("https://claude.ai/api/mcp/auth_callback", True),
        ("http://127.0.0.1:33418/", True),
        ("http://[::1]:1/cb", True),
        ("cursor://anysphere.cursor-mcp/oauth/callback", True),
        ("com.example.app:/callback", True),
        ("http://192.168.0.1/cb", False),
        ("http://127.0.0.1.evil.example/cb", False),
        ("https:///cb", False),
        ("JAVASCRIPT:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("https://a.example/cb\n", False),
        ("https://a.example:0/cb", False),
        ("//a.example/cb", False),
        ("https://a.example;script-src/cb", False),
        ("https://claude.ai,evil.example/cb", False),
        ("https://claude.ai@evil.example/cb", False),
        ("https://evil.example\\@claude.ai/cb", False),
        ("https://a.example:99999/cb", False),
        ("https://[::g]/cb", False),
        ("https://€.example/cb", False),
        ("http://127.0.0.1:9/cb#x", False),
        ("cursor:///", False),
        ("cursor://claude.ai@evil/cb", False),
        ("intent://x#Intent;end", False),
        ("intent://x", False),
        ("android-app://com.example.app", False),
        ("ms-msdt:/id", False),
        ("search-ms:query=x", False),
        ("com.app:/cb", True),
        ("com.app:cb", True),
        ("", False),
        (7, False),
    ],
)
def test_a_browser_is_sent_only_where_a_program_of_the_person_can_be(uri: object, allowed: bool) -> None:
    assert can_be_returned_to(uri) is allowed


@pytest.mark.parametrize(
    ("uri", "same"),
    [
        ("http://localhost:9/cb", True),
        ("http://127.0.0.1:9/cb", False),
        ("http://localhost:9/cb?x=1", False),
        ("http://localhost:9/cb/", False),
        ("https://a.example/cb", True),
        ("https://a.example:8443/cb", False),
        ("https://A.example/cb", False),
        *(
            (f"http://{host}/cb", False)
            for host in ("claude.ai@localhost:9", "€@localhost", "evil.example\\@localhost")
        ),
        ("http://localhost:9; script-src 'none'; report-uri http:\\\\localhost:9\r ; @localhost:9/cb", False),
        ("http://localhost:9/c\nb", False),
        ("http://localhost:9/cb#", False),
    ],
)
def test_an_address_is_compared_by_its_letters_but_for_a_port_of_ones_own_machine(uri: str, same: bool) -> None:
    client = OAuthClient(id="x", name="x", redirect_uris=("http://localhost:1/cb", "https://a.example/cb"))
    assert client.may_return_to(uri) is same


@given_any(st.text(min_size=1))
def test_what_stands_in_a_content_policy_names_one_source_and_no_more(text: str) -> None:
    for uri in (text, f"https://{text}/cb", f"http://{text}localhost/cb", f"http://localhost{text}", f"{text}://x"):
        if can_be_returned_to(uri):
            assert re.fullmatch(r"[a-z][a-z0-9+.-]*:(//[A-Za-z0-9_.:\[\]-]+)?", source_of(uri))


@pytest.mark.parametrize(
    ("host", "scheme", "web_url", "issuer"),
    [
        ("127.0.0.1:7297", "http", "", "http://127.0.0.1:7297"),
        ("LOCALHOST:7297", "http", "", "http://localhost:7297"),
        ("inbox.example.org", "http", "https://inbox.example.org", "https://inbox.example.org"),
        ("127.0.0.1:7297", "http", "https://inbox.example.org", "http://127.0.0.1:7297"),
        ("192.168.0.7:7297", "http", "", None),
        ("box.local:7297", "http", "http://box.local:7297", None),
        ("box.example", "https", "", "https://box.example"),
    ],
)
def test_agents_sign_in_over_tls_and_on_the_machine_itself(host: str, scheme: str, web_url: str, issuer: str) -> None:
    scope = {"type": "http", "scheme": scheme, "headers": [(b"host", host.encode())]}
    assert address_of(scope, web_url) == (OAuthAddress(issuer) if issuer else None)


@dataclass
class Documents:
    """A host that has documents."""

    port: int
    context: ssl.SSLContext
    replies: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def put(self, path: str, about: object, status: int = 200) -> str:
        self.replies[path] = (status, about if isinstance(about, bytes) else json.dumps(about).encode())
        return f"https://localhost:{self.port}{path}"

    @property
    def reach(self) -> Reach:
        def is_ours(address: str) -> bool:
            return ip_address(address).is_loopback

        return Reach(may_reach=is_ours, may_call=bool, context=lambda: self.context)


@pytest.fixture
def host() -> Iterator[Documents]:
    class Door(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            documents.asked.append(self.path)
            status, body = documents.replies[self.path]
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    file = certificate_file()
    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        served.load_cert_chain(file)
        server.socket = served.wrap_socket(server.socket, server_side=True)
        documents = Documents(port=server.server_port, context=ssl.create_default_context(cafile=str(file)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield documents
        server.shutdown()


def about(client_id: str, **more: object) -> dict[str, object]:
    return {"client_id": client_id, "client_name": "Claude Code", "redirect_uris": ["http://localhost/cb"], **more}


def test_a_document_of_an_allowed_host_is_read_once_and_its_host_vouches_for_it(host: Documents) -> None:
    named = host.put("/client", {})
    host.put("/client", about(named))
    documents = ClientDocuments(["LocalHost"], host.reach)
    client = documents.client(named)
    assert (client.id, client.name, client.vouched_by) == (named, "Claude Code", "localhost")
    assert client.may_return_to("http://localhost:4711/cb")
    assert documents.client(named) == client
    assert host.asked == ["/client"]


def test_nothing_is_fetched_that_nobody_has_allowed(host: Documents) -> None:
    named = host.put("/client", {})
    for hosts in ([], ["claude.ai"]):
        with pytest.raises(SignInRefused, match="sayso config set client_documents localhost"):
            ClientDocuments(hosts, host.reach).client(named)
    with pytest.raises(SignInRefused, match="no address that Sayso calls"):
        ClientDocuments(["*"]).client(named)
    with pytest.raises(SignInRefused, match="no address that Sayso calls"):
        ClientDocuments(["*"], host.reach).client(f"https://localhost:{host.port}/a/../b")
    assert host.asked == []


def test_a_host_that_leads_to_a_machine_of_ours_is_not_called_and_it_says_so(host: Documents) -> None:
    named = host.put("/client", {})
    with pytest.raises(SignInRefused) as refused:
        ClientDocuments(["*"], replace(host.reach, may_reach=is_public)).client(named)
    why = "localhost has an address that is not public"
    assert str(refused.value) == f"The document at localhost could not be had ({why})."
    assert host.asked == []


def test_a_document_that_does_not_fit_is_refused_with_the_reason(host: Documents) -> None:
    named = host.put("/client", {})
    for given, status, why in (
        (about("https://other.example/x"), 200, "its client_id is another"),
        (about(named, redirect_uris=["http://evil.example/"]), 200, "redirect_uris"),
        (about(named, token_endpoint_auth_method="private_key_jwt"), 200, "wants a secret"),
        (about(named, padding="x" * LONGEST), 200, "longer than"),
        (b"no json", 200, "could not be had"),
        (b"[" * 30_000, 200, "could not be had"),
        (about(named), 302, "answered 302"),
    ):
        host.put("/client", given, status)
        with pytest.raises(SignInRefused, match=why):
            ClientDocuments(["*"], host.reach).client(named)
    assert "/elsewhere" not in host.asked
