"""What every route shares: settings, desk and accounts, and the way from the event loop to their plain code."""

from __future__ import annotations

import hashlib
import hmac
import re

from starlette.requests import Request

from sayso.asks.model import Ask
from sayso.asks.quorum import may_see
from sayso.bridge import Threads
from sayso.desks import Desks
from sayso.errors import NotFound
from sayso.operations.operation import Operation
from sayso.web.security import names

_READERS = 40
_ID = re.compile(r"[0-9a-f]{32}")
_OPERATION_ID = re.compile(r"[0-9a-f]{24}(\.[1-9][0-9]{0,3})?")


class Site:
    """One web inbox on one store."""

    def __init__(self, desks: Desks) -> None:
        self.desks, self.config = desks, (config := desks.config)
        self.desk, self.accounts, self.reader = desks.asks, desks.accounts, desks.reader
        self.permissions = desks.permissions
        self.secure = config.web_url.startswith("https://")
        self.names = names(config, self.accounts.addresses)
        self.do = Threads(desks.threads).do
        """Runs plain code of the desk or the accounts."""
        self.read = Threads(_READERS).do
        """Runs plain code that reads files or renders pages, beside the store's own."""
        self._cookie = ""

    async def cookie(self) -> str:
        """The session cookie's name: one per store, because browsers share cookies among the ports of a host."""
        if not self._cookie:
            key = await self.do(self.desks.secret, "csrf_key")
            name = "sayso_" + hmac.new(key, b"cookie", hashlib.sha256).hexdigest()[:8]
            # The prefix makes browsers refuse such a cookie from anybody but this very host, over TLS.
            self._cookie = f"__Host-{name}" if self.secure else name
        return self._cookie

    async def ask(self, ask_id: str, user: str) -> Ask:
        """An ask that this user may see. Those of others are not found, as if they were not there."""
        if not _ID.fullmatch(ask_id):
            raise no_such_ask()
        try:
            ask = await self.do(self.desk.get, ask_id)
        except NotFound:
            raise no_such_ask() from None
        if not may_see(ask, user):
            raise no_such_ask()
        return ask

    async def operation(self, operation_id: str, user: str) -> Operation:
        """An operation that this user may see, by the same rule."""
        if not _OPERATION_ID.fullmatch(operation_id):
            raise no_such_command()
        try:
            operation = await self.do(self.reader.desk.get, operation_id)
        except NotFound:
            raise no_such_command() from None
        if operation.asker.owner not in ("", user):
            raise no_such_command()
        return operation


def no_such_command() -> NotFound:
    return NotFound("There is no such command here. Commands that have ended are kept for a while only.")


def no_such_ask() -> NotFound:
    """The same for an ask that was never there, is there no more, or is somebody else's."""
    return NotFound("There is no such question here. What has ended is kept for a while only.")


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site
