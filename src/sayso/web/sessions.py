"""Who is behind a request: a browser by its cookie, a script by its bearer token. And that a form is one of ours."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sayso.accounts import SESSION_LIFE, Session
from sayso.asks.model import Settler
from sayso.web.fields import CHECK_AGAIN, Fields, read_form
from sayso.web.private_path import door_of
from sayso.web.site import site_of

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
FORM_COOKIE = "sayso_form_"
"""Ties the sign-in form to the browser it was shown in, before there is a session to tie it to. Followed by the head of
its token: two forms that were shown at once have a cookie each."""
_HEAD = 6

_FORM_LIFE = 3600
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="sayso"'}


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """A person who is signed in, on one surface."""

    user: str
    csrf: str
    """What their forms carry: the token of their session, masked anew for each request."""
    secret: str
    session: str
    surface: str

    @property
    def settler(self) -> Settler:
        return Settler(person=self.user, surface=self.surface)

    def attempt(self, name: object) -> str:
        """What they sent, by the name that their page gave it; pages of other people cannot call it off."""
        return f"{self.user} {name}" if name and isinstance(name, str) else ""

    def check_form(self, token: str) -> None:
        """Refuse a form that was not made for this session."""
        check_token(_unmasked(token), _unmasked(self.csrf))


def masked(token: str) -> str:
    """The token so that it never looks the same twice: a mask, and what it makes of the token."""
    mask = secrets.token_bytes(len(token))
    return (mask + _under(mask, token.encode())).hex()


def _unmasked(given: str) -> str:
    """The token under its mask; empty where there is none."""
    middle = len(given) // 2
    try:
        return _under(bytes.fromhex(given[:middle]), bytes.fromhex(given[middle:])).decode()
    except ValueError:
        return ""


def _under(mask: bytes, data: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(mask, data, strict=True))


def check_token(given: str, wanted: str) -> None:
    if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise HTTPException(403, "This form was not made for your session, or is too old. Reload the page, try again.")


def is_home(request: Request) -> bool:
    """Whether people are let in where this request came."""
    return bool(door_of(request.scope)) or site_of(request).names.keeps_cookies(request.headers.get("host", ""))


def home_of(request: Request) -> str:
    """Below what people are let in under the name that this request came by; the path of all their cookies."""
    kept = site_of(request).names.keeps_cookies(request.headers.get("host", ""))
    return "/" if kept else f"{door_of(request.scope)}/"


async def browser(request: Request) -> Visitor | None:
    """The person whose browser this is. A cookie that comes where we set none counts for nothing."""
    site = site_of(request)
    if not is_home(request):
        return None
    secret = request.cookies.get(await site.cookie(), "")
    session = await _session(request, secret)
    return _visitor(session, secret, "browser") if session and _lives_here(request, session) else None


def _lives_here(request: Request, session: Session) -> bool:
    """Whether this is that person's own address. Nobody is let in at that of another, who could take their cookie."""
    private, host, whose = (
        site_of(request).names.private,
        request.url.hostname or "",
        (session.user, session.user_since),
    )
    if door := door_of(request.scope):
        return door == private.path(*whose)
    return host == private.host(*whose) or not private.is_host(host)


def home_elsewhere(request: Request, user: str) -> str:
    """Where this person is let in, if the request came to the address of somebody else; empty if it did not."""
    site, host, door = site_of(request), request.url.hostname or "", door_of(request.scope)
    private = site.names.private
    name, path = site.accounts.private_name(user), site.accounts.private_path(user)
    if host != name and (private.is_host(host) or private.was_host(host)):
        return str(request.url.replace(hostname=name, path="", query=""))
    return str(request.url.replace(path=path, query="")) if door not in ("", path) else ""


async def required_browser(request: Request) -> Visitor:
    if visitor := await browser(request):
        return visitor
    raise HTTPException(401, "You are not signed in.", _CHALLENGE)


async def sent_form(request: Request) -> tuple[Visitor, Fields]:
    """Who has sent a form of a page, and what it says. One that was not made for their session is refused here."""
    visitor = await required_browser(request)
    fields = await read_form(request)
    visitor.check_form(fields.one(CSRF_FIELD))
    return visitor, fields


async def required_caller(request: Request) -> Visitor:
    """The person for whom a script calls, or whose page does: then with its CSRF token for all that changes things."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        secret = secret.strip()
        if scheme.lower() == "bearer" and (session := await _session(request, secret)):
            return _visitor(session, secret, "api")
        raise HTTPException(401, "This token is not known. `sayso web --api-token` makes one.", _CHALLENGE)
    visitor = await required_browser(request)
    if request.method not in ("GET", "HEAD"):
        visitor.check_form(request.headers.get(CSRF_HEADER, ""))
    return visitor


async def _session(request: Request, secret: str) -> Session | None:
    site = site_of(request)
    session = await site.do(site.accounts.session, secret) if secret else None

    async def check_again() -> None:
        if await site.do(site.accounts.session, secret) is None:
            raise HTTPException(401, "You are not signed in any more.", _CHALLENGE)

    if session:
        setattr(request.state, CHECK_AGAIN, check_again)
    return session


def _visitor(session: Session, secret: str, surface: str) -> Visitor:
    return Visitor(user=session.user, csrf=masked(session.csrf), secret=secret, session=session.id, surface=surface)


async def set_session(request: Request, response: Response, secret: str, path: str) -> None:
    site = site_of(request)
    response.set_cookie(
        await site.cookie(),
        secret,
        max_age=SESSION_LIFE // 1000,
        path=path,
        httponly=True,
        samesite="strict",
        secure=site.secure,
    )


async def drop_session(request: Request, response: Response) -> None:
    site = site_of(request)
    response.delete_cookie(
        await site.cookie(), path=home_of(request), httponly=True, samesite="strict", secure=site.secure
    )


def form_token(request: Request) -> str:
    """What the sign-in form carries. The same as long as its cookie lives, so that few cookies are needed."""
    known = (value for name, value in request.cookies.items() if value and name == FORM_COOKIE + value[:_HEAD])
    return next(known, "") or secrets.token_urlsafe(24)


def check_form_token(request: Request, given: str) -> None:
    """Refuse a sign-in form that was not shown in this browser."""
    check_token(given, request.cookies.get(FORM_COOKIE + given[:_HEAD], ""))


def set_form_token(request: Request, response: Response, token: str) -> None:
    response.set_cookie(
        FORM_COOKIE + token[:_HEAD],
        token,
        max_age=_FORM_LIFE,
        path=f"{door_of(request.scope)}/",
        httponly=True,
        samesite="strict",
        secure=site_of(request).secure,
    )
