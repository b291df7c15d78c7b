"""One request of a client: who makes it, how it is answered, and whether the answer arrived."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from sayso.errors import ProtocolError
from sayso.protocol import messages
from sayso.protocol.messages import Json, RequestId
from sayso.protocol.methods import CACHED
from sayso.protocol.versions import MODERN, SERVER_KEY

logger = logging.getLogger(__name__)

Tell = Callable[[bool], None]
_NONE: Mapping[str, Any] = MappingProxyType({})


class ClientInfo:
    """Who calls, as the client itself says."""

    __slots__ = ("capabilities", "name", "version")

    def __init__(self, info: Mapping[str, Any] | None, capabilities: Mapping[str, Any] | None) -> None:
        info = info or {}
        self.name: str = info.get("name", "")
        self.version: str = info.get("version", "")
        self.capabilities: Mapping[str, Any] = capabilities or _NONE

    @property
    def shows_forms(self) -> bool:
        """Whether it declared forms; an empty declaration means forms only."""
        elicitation = self.capabilities.get("elicitation")
        return elicitation is not None and (elicitation.get("form") is not None or elicitation.get("url") is None)

    def knows(self, extension: str) -> bool:
        return extension in (self.capabilities.get("extensions") or {})


class Request:
    """A request that somebody has to serve. Whoever does makes its answer here; whoever sends that says how it went."""

    __slots__ = ("_answered", "_over", "_params", "_server", "_tells", "cancelled", "client", "exchange", "id",
                 "mended", "method", "progress_token", "version")  # fmt: skip

    def __init__(
        self,
        id: RequestId,
        method: str,
        params: Mapping[str, Any],
        version: str,
        client: ClientInfo,
        server: Mapping[str, str],
    ) -> None:
        self.id, self.method, self.version, self.client = id, method, version, client
        self._params: Mapping[str, Any] | str = params
        self.progress_token = messages.request_id(self.meta.get("progressToken"))
        self.cancelled = False
        """Whether its client wants no answer any more."""
        self.mended = False
        """Whether half a character in it was replaced by another."""
        self.exchange: Any = None
        """What the transport knows it by."""
        self._server = server
        self._answered = self._over = False
        self._tells: list[Tell] = []

    @property
    def is_modern(self) -> bool:
        return self.version == MODERN

    @property
    def params(self) -> Mapping[str, Any]:
        if isinstance(self._params, str):
            self._params = cast("Json", json.loads(self._params))
        return self._params

    @property
    def meta(self) -> Mapping[str, Any]:
        return self.params.get("_meta") or {}

    def keep_small(self) -> None:
        """Keep what it says as text until somebody wants to know it: who is asked may take days, and as objects it
        takes several times the memory."""
        if not isinstance(self._params, str):
            self._params = json.dumps(self._params, separators=(",", ":"))

    # Its answer

    def result(self, result: Mapping[str, Any]) -> Json:
        """The message that answers it."""
        self._answered = True
        if not self.is_modern:
            return messages.result(self.id, result)
        cached = {"ttlMs": 0, "cacheScope": "private"} if self.method in CACHED else {}
        meta = {**(result.get("_meta") or {}), SERVER_KEY: self._server}
        return messages.result(self.id, {"resultType": "complete", **cached, **result, "_meta": meta})

    def error(self, failed: ProtocolError) -> Json:
        self._answered = True
        return messages.error(self.id, failed)

    def progress(self, progress: float, total: float | None, message: str | None) -> Json | None:
        """A sign of life; None where the client wants none, or the request is over."""
        token = self.progress_token
        if token is None or self._answered or self.cancelled:
            return None
        told = {"progressToken": token, "progress": progress, "total": total, "message": message}
        params = {name: value for name, value in told.items() if value is not None}
        return messages.notification("notifications/progress", params)

    # Whether the answer arrived

    def when_written(self, tell: Tell) -> None:
        """Tell when the answer has been written (True), or once it is clear that it never will be (False). A written
        one may turn out to have been thrown away unread, because a cancel crossed it: then False is told once more."""
        if self._over:
            _tell(tell, False)
        else:
            self._tells.append(tell)

    def written(self) -> None:
        """The whole answer has left."""
        for tell in self._tells:
            _tell(tell, True)

    def lost(self) -> None:
        """The answer will not be written, or was thrown away."""
        self._over = True
        tells, self._tells = self._tells, []
        for tell in tells:
            _tell(tell, False)


def _tell(tell: Tell, written: bool) -> None:
    """One who fails to hear must not keep the others, or the client, from what concerns them."""
    try:
        tell(written)
    except Exception:
        logger.exception("Noting what became of a response failed")
