"""Serves the requests of one connection on the event loop: each in a task of its own, until it is cancelled.

What messages mean is the connection's business, how they travel the transport's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Set
from functools import partial
from typing import Any, Protocol

from sayso.bridge import BackgroundTasks
from sayso.errors import ProtocolError
from sayso.mcp_server.context import CallContext, Handler
from sayso.protocol.connection import Cancelled, ClientReply, Connection, Event, Send
from sayso.protocol.messages import CONNECTION_CLOSED, INTERNAL_ERROR, Json, RequestId
from sayso.protocol.request import Request

logger = logging.getLogger(__name__)


class Transport(Protocol):
    """Carries messages to the client. Each call returns once the message has left, or never will; none of them raises
    because the client is gone."""

    async def say(self, message: Json, about: Request | None) -> None:
        """Send what belongs to a request, or to none."""

    async def answer(self, message: Json, request: Request) -> None:
        """Send the answer to a request, and tell that request whether it has left: `written()` or `lost()`."""


class Dispatcher:
    """The requests of one connection that are being served, and those of ours that wait for the client."""

    def __init__(self, connection: Connection, handlers: Mapping[str, Handler], transport: Transport) -> None:
        self.connection, self._handlers, self._transport = connection, handlers, transport
        self._tasks: dict[Request, asyncio.Task[None]] = {}
        self._cancelled: Set[Request] = frozenset()
        """Those that have been cancelled, which is done once: what they see through then is not disturbed again."""
        self._waiting: dict[RequestId, asyncio.Future[Mapping[str, Any]]] = {}
        self._beside: BackgroundTasks | None = None
        self._closed = False

    def take(self, events: Iterable[Event], exchange: Any = None) -> list[Send]:
        """Do what came of a message. What is returned is to be sent by whoever calls, in this order."""
        to_send = []
        for event in events:
            match event:
                case Send():
                    to_send.append(event)
                case Request():
                    event.exchange = exchange
                    self._start(event)
                case Cancelled():
                    self._cancel(event.request)
                case ClientReply():
                    self._resolve(event)
        return to_send

    async def say(self, message: Json, about: Request | None = None) -> None:
        if not self._closed:
            await self._transport.say(message, about)

    async def send(self, events: Iterable[Send]) -> None:
        for event in events:
            await self.say(event.message, event.about)

    async def ask(self, method: str, params: Mapping[str, Any], about: Request) -> Mapping[str, Any]:
        if self._closed:
            raise _closed()
        asked, message = self.connection.ask(method, params)
        reply: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[asked] = reply
        try:
            await self._transport.say(message, about)
            return await reply  # endless: a person may be asked
        finally:
            self._waiting.pop(asked, None)
            if (withdrawn := self.connection.withdraw(asked)) and not self._closed:
                # Not waited for: whoever asked may have been cancelled.
                self._beside = self._beside or BackgroundTasks()
                self._beside.start(self._transport.say(withdrawn, about))

    def abandon(self, request: Request) -> None:
        """Nobody waits for this request any more, though no cancel came."""
        self.connection.drop(request)
        self._cancel(request)

    async def close(self) -> None:
        """Nobody will say anything more: end what is being served."""
        self._closed = True
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(_closed())
        # Whoever waited for the client hears that first; only then is it cancelled.
        await asyncio.sleep(0)
        for event in self.connection.close():
            await self._transport.say(event.message, event.about)
        for request in self._tasks:
            self._cancel(request)
        await self.idle()

    async def idle(self) -> None:
        """Until nothing is being served. Endless: a person may be asked."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    def _start(self, request: Request) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(request))
        self._tasks[request] = task
        task.add_done_callback(partial(self._ended, request))

    def _ended(self, request: Request, task: asyncio.Task[None]) -> None:
        del self._tasks[request]
        self._cancelled -= {request}

    def _cancel(self, request: Request) -> None:
        task = self._tasks.get(request)
        if task and request not in self._cancelled:
            self._cancelled |= {request}
            task.cancel()

    async def _serve(self, request: Request) -> None:
        try:
            handler = self._handlers[request.method]
            message = request.result(await handler(CallContext(request, self.connection, self)))
        except ProtocolError as error:
            message = request.error(error)
        except (Exception, asyncio.CancelledError) as error:
            if _is_wanted(error):
                raise
            # The top: what went wrong here is no business of the client's.
            logger.exception("A request of the client (%s) ended in a fault", request.method)
            message = request.error(ProtocolError(INTERNAL_ERROR, "Internal server error"))
        if request.cancelled or self._closed:
            return
        self.connection.answered(request)
        await self._transport.answer(message, request)

    def _resolve(self, event: ClientReply) -> None:
        reply = self._waiting.get(event.id)
        if reply is None or reply.done():
            return
        if event.error:
            reply.set_exception(event.error)
        else:
            reply.set_result(event.result or {})


def _is_wanted(error: BaseException) -> bool:
    """Whether somebody cancelled this very task. A cancel of something that it waited for is a fault."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _closed() -> ProtocolError:
    return ProtocolError(CONNECTION_CLOSED, "Connection closed")
