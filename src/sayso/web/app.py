"""The application: every route, behind the host guard, with what runs beside them."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from sayso.bridge import BackgroundTasks, endless, in_thread
from sayso.desks import Desks
from sayso.errors import InvalidInput, SaysoError
from sayso.guessing import Failures
from sayso.web import (
    adding,
    agents,
    api,
    attempts,
    changes,
    changing,
    chats,
    commands,
    completing,
    connecting,
    files,
    like,
    log,
    proof,
    push,
    rules,
    sample,
    session_events,
    settings,
    sign_in,
    snoozing,
    takeovers,
    talk,
    talk_events,
    talk_queue,
    views,
    whereabouts,
)
from sayso.web.boards import Drawing
from sayso.web.conversations import Conversations
from sayso.web.events import News, events, sight
from sayso.web.glances import Glances
from sayso.web.packing import packed, takes_packed
from sayso.web.pages import agent_row, asset, command_row, conversation_row, page, row
from sayso.web.private_path import PrivatePath, own_path
from sayso.web.pusher import Pusher
from sayso.web.refusal import error_data, status_of, wants_json
from sayso.web.relay import Relay
from sayso.web.returning import Returning
from sayso.web.security import HostGuard
from sayso.web.sessions import browser
from sayso.web.site import Site
from sayso.web.talk_events import Streams
from sayso.web_addresses import PROOF

logger = logging.getLogger(__name__)

Lifespan = Callable[[], AbstractAsyncContextManager[None]]
_IN_WORDS = {
    "Not Found": "There is nothing at this address.",
    "Method Not Allowed": "This address is not there for that.",
}
"""For what the router alone refuses."""
_FOR_PROGRAMS = " /api/openapi.json lists what there is."
_KEEP_UP_EVERY = 600.0
"""Seconds between two looks for what is not in the index of the history yet, and for sessions that have ended."""
_SHRINK = (".css", ".js", ".svg")
"""What is sent packed: a third of it, to phones above all."""
_FOR_EVER = "public, max-age=31536000, immutable"


@asynccontextmanager
async def _keeping_up(desks: Desks) -> AsyncIterator[None]:
    """Keep the index of the history and the roster up to what has ended. People search here, and no agent waits for
    this process."""
    ending, beside = threading.Event(), BackgroundTasks()

    async def keep_up() -> None:
        await in_thread(desks.asks.index_history, ending)
        await in_thread(desks.agents_at_work)  # takes off who has ended; a person's look does so for their own alone
        await asyncio.sleep(_KEEP_UP_EVERY)

    beside.start(endless("Keeping up with what has ended", keep_up))
    try:
        yield
    finally:
        ending.set()
        await beside.cancel()


def build(
    desks: Desks,
    *,
    address: str,
    routes: Sequence[BaseRoute] = (),
    direct: Mapping[str, ASGIApp] = MappingProxyType({}),
    lifespans: Sequence[Lifespan] = (),
) -> Starlette:
    """The web inbox on desks that are open, with further routes, what is served `direct` at a path of its own, and what
    these need to run. `address` is where programs on this machine reach it.

    When it stops, the event streams end first, then the lifespans, the last one first.
    """
    site = Site(desks)
    supervisor = desks.run_supervisor(address)
    streams, conversations = Streams(site, supervisor.runs), Conversations(supervisor.runs, site.desk)
    command = partial(command_row, words=site.reader.words)
    agent = partial(agent_row, words=site.reader.words)
    drawing = Drawing(ask=row, command=command, conversation=conversation_row, agent=agent)
    glances = Glances(supervisor.takeovers)
    sign_in_desk = connecting.SignInDesk(site)
    news = News(site, conversations, glances, drawing)
    pusher = Pusher(site, conversations, news.is_seen_by)
    chat_service = desks.chat_service()
    returning = Returning(site, news.is_seen_by)
    relay, samples = Relay(desks.config), sample.Samples(site, news)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for lifespan in lifespans:
                await stack.enter_async_context(lifespan())
            await stack.enter_async_context(supervisor.running())
            await stack.enter_async_context(relay.running())
            await stack.enter_async_context(news.running())
            await stack.enter_async_context(samples.running())
            await stack.enter_async_context(streams.running())
            await stack.enter_async_context(pusher.running())
            await stack.enter_async_context(chat_service.running(news.is_seen_by))
            await stack.enter_async_context(returning.running())
            await stack.enter_async_context(_keeping_up(desks))
            yield

    app = _Guarded(
        routes=[*routes, *relay.routes, *all_routes()],
        middleware=[
            Middleware(PrivatePath, private=site.names.private, keeps_cookies=site.names.keeps_cookies),
        ],
        exception_handlers={
            HTTPException: _http_error,
            SaysoError: _sayso_error,
            ClientDisconnect: _nobody_there,
            Exception: _our_fault,
        },
        lifespan=running,
    )
    app.guard = HostGuard(app.inner, names=site.names, direct=direct)
    app.state.site, app.state.news, app.state.failures = site, news, Failures()
    app.state.supervisor, app.state.streams, app.state.conversations = supervisor, streams, conversations
    app.state.pusher, app.state.glances, app.state.samples = pusher, glances, samples
    app.state.sign_in_desk = sign_in_desk
    return app


class _Guarded(Starlette):
    """The application behind its guard, which stands before all that is done for pages."""

    guard: ASGIApp

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:  # type: ignore[override]
        return self.guard(scope, receive, send)

    async def inner(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)


def all_routes() -> list[BaseRoute]:
    """Every address of the pages and the API. They are gone through in this order: what is asked for most is first."""
    return [
        Route("/", views.inbox),
        Mount("/static", _Assets(packages=[("sayso.web", "static")])),
        *api.routes(),
        Route("/asks/{ask}", views.show_ask, methods=["GET"]),
        Route("/asks/{ask}", views.settle, methods=["POST"]),
        Route("/asks/{ask}/row", views.show_row, methods=["GET"]),
        Route("/asks/{ask}/like", like.show, methods=["GET"]),
        Route("/asks/{ask}/like", like.save, methods=["POST"]),
        Route("/asks/{ask}/draft", views.keep_draft, methods=["POST"]),
        Route("/asks/{ask}/snooze", snoozing.change, methods=["POST"]),
        Route("/crowds/{crowd}/snooze", snoozing.change_crowd, methods=["POST"]),
        Route("/snoozed", snoozing.show_list),
        Route("/sample", sample.ask, methods=["POST"]),
        Route("/attempts", attempts.call_off, methods=["POST"]),
        Route("/asks/{ask}/questions/{place:int}", views.whole_text),
        *files.routes(),
        Route("/crowds/{crowd}", views.crowd),
        Route("/history", views.history),
        Route("/log", log.show_list),
        Route("/log/{ask}", log.show),
        Route("/rules", rules.show, methods=["GET"]),
        Route("/rules/edit", rules.show_edit, methods=["GET"]),
        Route("/rules/edit", rules.edit, methods=["POST"]),
        Route("/rules/end", rules.end_given, methods=["POST"]),
        Route("/agents", agents.show_list),
        Route("/agents/{agent}", agents.show),
        Route("/presence", whereabouts.change, methods=["POST"]),
        Route("/delegation", whereabouts.delegate, methods=["POST"]),
        Route("/commands", commands.show_list),
        Route("/commands/{operation}", commands.show),
        Route("/commands/{operation}/cancel", commands.cancel, methods=["POST"]),
        Route("/commands/{operation}/{stream}", commands.whole_output),
        *talk.routes(),
        *adding.routes(),
        *completing.routes(),
        *changes.routes(),
        *changing.routes(),
        *talk_queue.routes(),
        *takeovers.routes(),
        Route("/agents/{agent}/events", session_events.events),
        Route("/talk/{conversation}/events", talk_events.events),
        Route("/settings", settings.show, methods=["GET"]),
        Route("/settings", settings.change, methods=["POST"]),
        Route("/settings/device", settings.another_device, methods=["POST"]),
        Route("/settings/sessions", settings.end_session, methods=["POST"]),
        *connecting.routes(),
        Route(PROOF, proof.show, methods=["GET"]),
        Route("/push", push.about, methods=["GET"]),
        Route("/push", push.subscribe, methods=["POST"]),
        Route("/push/wishes", push.wish, methods=["POST"]),
        Route("/push/end", push.end, methods=["POST"]),
        *(Route(sent_to, settings.show_again, methods=["GET"]) for sent_to in settings.SENT_TO),
        Route("/chats/link", chats.link, methods=["POST"]),
        Route("/chats/wishes", chats.wish, methods=["POST"]),
        Route("/chats/unlink", chats.unlink, methods=["POST"]),
        Route("/sign-in", sign_in.show, methods=["GET"]),
        Route("/sign-in", sign_in.sign_in, methods=["POST"]),
        Route("/sign-out", sign_in.sign_out, methods=["POST"]),
        Route("/events", events),
        Route("/sight", sight, methods=["POST"]),
        Route("/manifest.webmanifest", _manifest),
        Route("/worker.js", _worker),
        Route("/favicon.ico", _favicon),
    ]


class _Assets(StaticFiles):
    """Static files. Their addresses change with their content, so browsers need not ask again."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        if isinstance(response, FileResponse):
            # From memory: who does not read must not keep a file open as well.
            known = {name: response.headers[name] for name in ("etag", "last-modified", "content-type")}
            response = Response(_content(str(full_path)), status_code, known)
            if takes_packed(scope) and str(full_path).endswith(_SHRINK):
                del known["etag"]  # which is that of the plain file
                response = Response(_packed(str(full_path)), status_code, {**known, "Content-Encoding": "gzip"})
            response.headers["Vary"] = "Accept-Encoding"
        response.headers["Cache-Control"] = _FOR_EVER
        return response


@cache
def _content(path: str) -> bytes:
    return Path(path).read_bytes()


@cache
def _packed(path: str) -> bytes:
    return packed(_content(path))


async def _manifest(request: Request) -> Response:
    """What makes the page installable. Public, as browsers ask for it without cookies."""
    icon = {"src": asset("icon.svg"), "type": "image/svg+xml", "sizes": "any", "purpose": "any"}
    sizes = [
        {"src": asset(f"icon-{size}.png"), "type": "image/png", "sizes": f"{size}x{size}", "purpose": "any maskable"}
        for size in (192, 512)
    ]
    data = {
        "id": "/",
        "name": "Sayso",
        "short_name": "Sayso",
        "description": "Questions of your agents.",
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": "#f6f5f1",
        "theme_color": "#f6f5f1",
        "icons": [icon, *sizes],
    }
    return JSONResponse(data, media_type="application/manifest+json")


async def _worker(request: Request) -> Response:
    """The service worker, at the root because it may only serve what lies below it."""
    script = (resources.files("sayso.web") / "static" / "worker.js").read_bytes()
    return Response(script, media_type="text/javascript")


async def _favicon(request: Request) -> Response:
    return RedirectResponse("/" + asset("icon.svg"))


# What went wrong


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 401 and not wants_json(request.scope) and own_path(request.scope) != "/events":
        response = sign_in.refuse(request)
    else:
        text = _IN_WORDS.get(error.detail, error.detail)
        more = _FOR_PROGRAMS if error.detail == "Not Found" and wants_json(request.scope) else ""
        response = await _told(request, error.status_code, text + more)
    response.headers.update(error.headers or {})
    return response


async def _sayso_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, SaysoError)
    status = status_of(error)
    if status >= 500:
        logger.warning("%s %s failed: %s", request.method, own_path(request.scope), error)
    if isinstance(error, InvalidInput) and wants_json(request.scope):
        return JSONResponse(error_data("The input does not fit.", error.problems), status)
    response = await _told(request, status, str(error))
    if status == 503:
        response.headers["Retry-After"] = "5"
    return response


async def _our_fault(request: Request, error: Exception) -> Response:
    return await _told(request, 500, "Something went wrong here. It was logged; trying again may help.")


async def _nobody_there(request: Request, error: Exception) -> Response:
    return Response(status_code=400)


async def _told(request: Request, status: int, text: str) -> Response:
    if wants_json(request.scope):
        return JSONResponse(error_data(text), status)
    visitor = None
    if status not in (500, 503):
        # Where the store is away, who is signed in cannot be known.
        visitor = await browser(request)
    return page(request, "problem.html", visitor, status=status, code=status, text=text)
