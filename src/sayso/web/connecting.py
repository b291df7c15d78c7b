"""Where agents sign in (OAuth 2.1), and where a person agrees to that, and ends it again.

A person agrees where they are signed in. Who comes by a name under which nobody is, such as 127.0.0.1, is led there by
hand: the request waits for them in their inbox, with a mark that both pages show, because nothing may tell the address.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sayso import untrusted_json
from sayso.bridge import Patience
from sayso.errors import SignInRefused
from sayso.oauth import can_sign_in
from sayso.oauth.addresses import MCP, RESOURCE_METADATA, SERVER_METADATA, OAuthAddress, address_of
from sayso.oauth.clients import Registrations, returns_to, source_of
from sayso.oauth.documents import ClientDocuments
from sayso.protocol.seal import Signed
from sayso.waiting_room import CONNECTED, MOST_WAITING, REFUSED, WaitingRequest
from sayso.web.events import News
from sayso.web.fields import read_strangers_body
from sayso.web.pages import page
from sayso.web.security import CONTENT_POLICY
from sayso.web.sessions import Visitor, form_token, is_home, required_browser, sent_form, set_form_token
from sayso.web.site import Site, site_of

if TYPE_CHECKING:
    from sayso.oauth.server import OAuthReply, OAuthServer, Parameters

_LONGEST_QUERY = 8192
_LISTENS = 25.0
"""Seconds for which a page waits for news in one request; then it asks again."""
_MOST_LISTENING = 32
"""How many pages do so at once: nobody knows who they are."""
_FORM = "application/x-www-form-urlencoded"
_BEGIN_AGAIN = "Begin again in the program that wants to connect."
_ANSWERED = f"This request was answered, or has waited for too long. {_BEGIN_AGAIN}"
_NO_ROOM = (
    f"{MOST_WAITING} programs wait already to be let in. If you did not begin all of them, send them away: in the "
    f"settings of your inbox, below “Connected agents”. {_BEGIN_AGAIN}"
)
_NOT_HERE = "There is no sign-in for agents here. They come in by tokens: `sayso token add NAME`."
_NEEDS_EXTRA = "Signing in needs one more package: install Sayso again, with '.[oauth]' in place of the dot. "
_NEEDS_TLS = "Agents can sign in over TLS (`--url https://…`) or on the machine where Sayso runs, and nowhere else. "


def routes() -> list[BaseRoute]:
    return [
        Route(RESOURCE_METADATA, about_resource),
        Route(RESOURCE_METADATA + MCP, about_resource),
        Route(SERVER_METADATA, about_server),
        Route("/.well-known/{path:path}", nothing_else),
        Route("/oauth/register", register, methods=["POST"]),
        Route("/oauth/token", token, methods=["POST"]),
        Route("/oauth/revoke", revoke, methods=["POST"]),
        Route("/oauth/authorize", authorize, methods=["GET"]),
        Route("/oauth/waiting", send_away, methods=["POST"]),
        Route("/oauth/waiting/{waiting}", show_waiting, methods=["GET"]),
        Route("/oauth/waiting/{waiting}/said", said, methods=["GET"]),
        Route("/oauth/decide", decide, methods=["POST"]),
        Route("/settings/connections", disconnect, methods=["POST"]),
    ]


class SignInDesk:
    """The authorization servers of one site, one for each of its names, and who waits."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.waiting = site.desks.waiting_room
        self.listening = 0
        self._registrations = Registrations(Signed(self._key, "oauth-client"))
        self._consents = Signed(self._key, "oauth-consent")
        self._documents = ClientDocuments(site.config.client_documents)
        self.server = lru_cache(maxsize=16)(self._server)

    def _key(self) -> bytes:
        return self._site.desks.secret("oauth_key")

    def _server(self, issuer: str) -> OAuthServer:
        # Only now: whoever lets no agent sign in does not pay for it.
        from sayso.oauth.server import OAuthServer

        return OAuthServer(OAuthAddress(issuer), self._site.desks.connections, self._registrations, self._documents)

    def sealed(self, visitor: Visitor, issuer: str, query: str, waiting: str) -> str:
        """What a person is asked, for the form by which they answer, and for nobody else's."""
        return self._consents.write([issuer, query, waiting], visitor.session)

    def opened(self, visitor: Visitor, sealed: str) -> tuple[str, str, str]:
        match self._consents.read(sealed, visitor.session):
            case [str(issuer), str(query), str(waiting)]:
                return issuer, query, waiting
        raise HTTPException(403, f"This form was not made for your session. {_BEGIN_AGAIN}")


def desk_of(request: Request) -> SignInDesk:
    desk: SignInDesk = request.app.state.sign_in_desk
    return desk


# What programs ask for


async def about_resource(request: Request) -> Response:
    """RFC 9728."""
    address = _address(request)
    return JSONResponse(
        {
            "resource": address.resource,
            "authorization_servers": [address.issuer],
            "scopes_supported": ["agent"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Sayso",
        }
    )


async def about_server(request: Request) -> Response:
    server = await _server_of(request)
    return JSONResponse(server.metadata())


async def nothing_else(request: Request) -> Response:
    """Clients that are refused at /mcp look here for a way to sign in."""
    _address(request)
    raise HTTPException(404, "There is nothing at this address.")


async def register(request: Request) -> Response:
    server = await _server_of(request)
    try:
        given = untrusted_json.loads(await read_strangers_body(request))
    except ValueError:
        given = None
    return _told(await site_of(request).do(server.register, given))


async def token(request: Request) -> Response:
    server = await _server_of(request)
    return _told(await site_of(request).do(server.token, await _parameters(request)))


async def revoke(request: Request) -> Response:
    server = await _server_of(request)
    return _told(await site_of(request).do(server.revoke, await _parameters(request)))


def _told(reply: OAuthReply) -> Response:
    return JSONResponse(reply.body, reply.status, reply.headers)


async def _parameters(request: Request) -> Parameters:
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != _FORM:
        raise HTTPException(415, f"Send the parameters as {_FORM}.")
    return _read(await read_strangers_body(request))


def _read(query: bytes | str) -> Parameters:
    text = query.decode("ascii", "replace") if isinstance(query, bytes) else query
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        raise HTTPException(400, "There are too many parameters.") from None


def _address(request: Request) -> OAuthAddress:
    if address := address_of(request.scope, site_of(request).config.web_url):
        return address
    raise HTTPException(404, (_NEEDS_TLS if can_sign_in() else _NEEDS_EXTRA) + _NOT_HERE)


async def _server_of(request: Request) -> OAuthServer:
    issuer = _address(request).issuer
    return await site_of(request).do(desk_of(request).server, issuer)


# What people see


async def authorize(request: Request) -> Response:
    """A program has opened this page in somebody's browser."""
    server, query = await _server_of(request), request.url.query
    if len(query) > _LONGEST_QUERY:
        raise HTTPException(414, f"What the program sent along is over {_LONGEST_QUERY:,} characters.")
    if request.headers.get("sec-fetch-dest", "document") != "document":
        raise HTTPException(400, "This is a page for people: open it in a window of its own.")
    site, room, issuer = site_of(request), desk_of(request).waiting, server.address.issuer
    known = await site.do(room.known, issuer, query)
    if is_home(request):
        visitor = await required_browser(request)
        if known and known.said:
            return page(request, "connect_decided.html", visitor, decided=known)
        return await _ask(request, visitor, issuer, query, "")
    if known and known.said:
        return page(request, "connect_decided.html", decided=known)
    name = await site.do(_name_of, server, _read(query))
    waiting = await site.do(room.take_in, name, issuer, query)
    if waiting is None:
        raise HTTPException(503, _NO_ROOM, {"Retry-After": f"{await site.do(room.next_place) // 1000}"})
    token, then = form_token(request), f"/oauth/waiting/{waiting.id}"
    minutes = round(room.time_left(waiting) / 60_000) or 1
    response = page(request, "connect_elsewhere.html", waiting=waiting, minutes=minutes, token=token, next_path=then)
    set_form_token(request, response, token)
    return response


async def said(request: Request) -> Response:
    """What became of a request, for the page that its program has opened: as soon as somebody has decided, else after a
    while. Whoever knows its name may ask."""
    desk, site, news = desk_of(request), site_of(request), _news(request)
    if desk.listening >= _MOST_LISTENING or news.stopping:
        raise HTTPException(503, "Ask again in a while.", {"Retry-After": "5"})
    desk.listening += 1
    try:
        found = await _decided_request(site, news, request.path_params["waiting"])
    finally:
        desk.listening -= 1
    return JSONResponse({"said": found.said if found else "nothing"})


async def _decided_request(site: Site, news: News, waiting: str) -> WaitingRequest | None:
    """A request once somebody has decided on it, or as it is after a while; None once it has waited for too long."""
    room, rung = site.desks.waiting_room, news.next_ring
    found = await site.do(room.find, waiting)
    async with Patience(min(_LISTENS, room.time_left(found) / 1000 if found else 0.0)):
        while found and not found.said and not news.stopping:
            await rung.wait()
            rung = news.next_ring
            found = await site.do(room.find, waiting)
    return await site.do(room.find, waiting)


async def show_waiting(request: Request) -> Response:
    """The same for what waits in the inbox."""
    visitor = await required_browser(request)
    waiting = await site_of(request).do(desk_of(request).waiting.find, request.path_params["waiting"])
    if waiting is None or waiting.said:
        raise HTTPException(404, _ANSWERED)
    return await _ask(request, visitor, waiting.issuer, waiting.query, waiting.id)


async def _ask(request: Request, visitor: Visitor, issuer: str, query: str, waiting: str) -> Response:
    desk, site = desk_of(request), site_of(request)
    server = await site.do(desk.server, issuer)
    client, uri = await site.do(_wanted, server, _read(query))
    known = await site.do(desk.waiting.find, waiting)
    response = page(
        request,
        "connect.html",
        visitor,
        client=client,
        returns_to=returns_to(uri),
        resource=server.address.resource,
        mark=known.mark if known else "",
        sealed=desk.sealed(visitor, issuer, query, waiting),
    )
    # The form leads back to the program, by way of us.
    response.headers["Content-Security-Policy"] = CONTENT_POLICY.replace(
        "form-action 'self'", f"form-action 'self' {source_of(uri)}"
    )
    return response


async def send_away(request: Request) -> Response:
    """A person wants none of those that wait. The browser goes nowhere, and the programs hear nothing."""
    await sent_form(request)
    await site_of(request).do(desk_of(request).waiting.clear)
    return RedirectResponse("/settings#connections", 303)


async def decide(request: Request) -> Response:
    """What a person said. The browser goes back to the program, with a code or with a no."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    desk = desk_of(request)
    issuer, query, waiting = desk.opened(visitor, fields.one("sealed"))
    said = fields.one("said")
    if said not in (CONNECTED, REFUSED):
        raise HTTPException(400, f"`said` must be {CONNECTED} or {REFUSED}.")
    server = await site.do(desk.server, issuer)
    await site.do(_wanted, server, _read(query))
    # Noted first: of two who decide at once, one is told that it was decided, and no code is made twice.
    if not await site.do(desk.waiting.decide, waiting, issuer, query, said):
        raise HTTPException(409, _ANSWERED)
    reply = await site.do(server.decide, _read(query), visitor.user if said == CONNECTED else "")
    return RedirectResponse(reply.location, 303)


async def disconnect(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    site = site_of(request)
    await site.do(site.desks.connections.end, fields.one("connection"), visitor.user)
    return RedirectResponse("/settings?disconnected=1#connections", 303)


def _wanted(server: OAuthServer, parameters: Parameters) -> tuple[object, str]:
    """Which client wants to connect, and where its answer goes. A refusal is told here and sent nowhere: anybody can
    have registered the address that it would be sent to."""
    from authlib.oauth2 import OAuth2Error

    try:
        grant = server.wanted(parameters)
    except OAuth2Error as error:
        why = error.get_error_description() or error.error
        raise SignInRefused(f"The program asked for something that is not allowed: {why}") from error
    return grant.request.client.about, grant.redirect_uri


def _name_of(server: OAuthServer, parameters: Parameters) -> str:
    """What a client calls itself, before it is known who would have to agree: then nothing is fetched."""
    client_id = next((value for name, value in parameters if name == "client_id"), "")
    if server.is_document(client_id):
        return urlsplit(client_id).hostname or ""
    client, _ = _wanted(server, parameters)
    name: str = getattr(client, "name", "")
    return name


def _news(request: Request) -> News:
    news: News = request.app.state.news
    return news
