"""Signing in by a one-time link, and out again. Looking at a link does not use it up: only its button does."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.accounts import LINK_REFUSED
from sayso.errors import SignInRefused
from sayso.guessing import Failures
from sayso.web.events import News
from sayso.web.fields import read_strangers_form
from sayso.web.pages import page
from sayso.web.private_path import own_path
from sayso.web.sessions import (
    CSRF_FIELD,
    browser,
    check_form_token,
    drop_session,
    form_token,
    home_elsewhere,
    home_of,
    is_home,
    sent_form,
    set_form_token,
    set_session,
)
from sayso.web.site import site_of


async def show(request: Request) -> Response:
    """The button behind a link, or where to paste one."""
    link = request.query_params.get("link", "")
    if await browser(request) and not link:
        return RedirectResponse("/", 303)
    next_path = local_path(request.query_params.get("next", "/"))
    if link and (way := await _way_home(request, link, next_path)):
        return way
    return _form(request, link=link, next_path=next_path)


async def sign_in(request: Request) -> Response:
    """Use the link up, and let this browser in."""
    fields = await read_strangers_form(request)
    check_form_token(request, fields.one(CSRF_FIELD))
    site, link, next_path = site_of(request), secret_in(fields.one("link")), local_path(fields.one("next"))
    if way := await _way_home(request, link, next_path):
        return way
    user = await site.do(site.accounts.user_of, link)
    try:
        secret = await site.do(site.accounts.redeem, link, device_of(request))
    except SignInRefused as error:
        return await _refused(request, link, str(error))
    # Who has used a good link learns the path below which the page is.
    below = "" if is_home(request) else await site.do(site.accounts.private_path, user)
    response = RedirectResponse(below + next_path, 303)
    await set_session(request, response, secret, f"{below}/" if below else home_of(request))
    return response


async def sign_out(request: Request) -> Response:
    visitor, _ = await sent_form(request)
    site, news = site_of(request), request.app.state.news
    assert isinstance(news, News)
    await site.do(site.accounts.sign_out, visitor.secret)
    news.end_session(visitor.secret)
    # What this browser kept of unsent answers goes as well.
    response = RedirectResponse("/sign-in", 303, {"Clear-Site-Data": '"storage"'})
    await drop_session(request, response)
    return response


def refuse(request: Request) -> Response:
    """The page for someone who is not signed in."""
    if request.method == "GET" and request.headers.get("sec-fetch-site") == "cross-site":
        # Browsers withhold a strict cookie when another site leads here. Coming from ourselves they bring it.
        return page(request, "again.html")
    wanted = own_path(request.scope) + (f"?{request.url.query}" if request.url.query else "")
    return _form(request, link="", next_path=wanted if request.method == "GET" else "/", status=401)


def secret_in(text: str) -> str:
    """The secret in what somebody pasted: the whole link, or the secret alone."""
    _, _, query = text.strip().partition("?")
    return next(iter(parse_qs(query).get("link", ())), text.strip())


def local_path(path: str) -> str:
    """The path if it leads to a page of ours, else the inbox."""
    safe = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if safe else "/"


def _form(request: Request, *, link: str, next_path: str = "/", problem: str = "", status: int = 200) -> Response:
    token = form_token(request)
    response = page(
        request,
        "sign_in.html",
        status=status,
        link=link,
        token=token,
        next_path=next_path,
        problem=problem,
        home=is_home(request),
    )
    set_form_token(request, response, token)
    return response


async def _way_home(request: Request, link: str, next_path: str) -> Response | None:
    """To where the person of this link is let in, if that is not here."""
    site = site_of(request)
    user = await site.do(site.accounts.user_of, link)
    if site.secure and not is_home(request):
        # A name without TLS of a page whose cookies need it.
        if not user:
            return await _refused(request, link, LINK_REFUSED)
        home = site.config.web_url.rstrip("/")
    else:
        home = await site.do(home_elsewhere, request, user) if user else ""
    if not home:
        return None
    return page(request, "way.html", to=f"{home}/sign-in?{urlencode({'link': link, 'next': next_path})}")


async def _refused(request: Request, link: str, problem: str) -> Response:
    """What a link gets that lets nobody in. A good one never comes here, however many wrong ones others have tried; and
    one that was good guesses nothing: a hasty thumb opens it more than once."""
    if not await site_of(request).do(site_of(request).accounts.was_made, link):
        _note_guess(request)
    return _form(request, link="", problem=problem, status=403)


def _note_guess(request: Request) -> None:
    failures: Failures = request.app.state.failures
    client = request.client.host if request.client else ""
    if seconds := failures.wait(client):
        raise HTTPException(429, f"Too many attempts. Try again in {seconds} seconds.", {"Retry-After": str(seconds)})
    failures.note(client)


_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""In this order: most of them claim to be those below as well."""
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def device_of(request: Request) -> str:
    """Such as "Firefox on Linux"."""
    says = request.headers.get("user-agent", "")
    browser = next((name for mark, name in _BROWSERS if mark in says), "")
    system = next((name for mark, name in _SYSTEMS if mark in says), "")
    return " on ".join(part for part in (browser or "A browser", system) if part)
