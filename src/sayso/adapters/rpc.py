"""JSON-RPC with an agent, without I/O: requests both ways, each with the result that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayso.errors import SaysoError

Json = Mapping[str, Any]
RequestId = int | str
NO_SUCH_METHOD = -32601
FAULTS = (SaysoError, LookupError, TypeError, ValueError, AttributeError)
"""What a message may cause that is not what was expected."""


def _ignore(_: Any) -> None:
    """For requests whose result tells nothing."""


class Rpc:
    """Our end. `send` takes each message whole, and says whether anybody is there to read it."""

    def __init__(self, send: Callable[[Json], bool]) -> None:
        self._send = send
        self._number = 0
        self._sent: dict[RequestId, tuple[Callable[[Json], None], Callable[[str], None]]] = {}
        self._asked: set[RequestId] = set()
        """The agent's requests that nobody has answered yet."""

    def request(
        self,
        method: str,
        params: Json,
        then: Callable[[Json], None] = _ignore,
        failed: Callable[[str], None] = _ignore,
    ) -> None:
        """`then` gets the result, or `failed` why there is none that is understood."""
        self._number += 1
        self._sent[self._number] = then, failed
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def notify(self, method: str, params: Json | None = None) -> None:
        self._send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def is_asked(self, request: RequestId) -> bool:
        """Whether a request with this id is still open."""
        return request in self._asked

    def note_asked(self, request: RequestId) -> None:
        self._asked.add(request)

    def forget(self, request: RequestId) -> None:
        """The agent waits for no answer any more."""
        self._asked.discard(request)

    def answer(self, request: RequestId, result: Json) -> bool:
        """Whether there is anybody to take it: a request is answered once, and nothing else ever is."""
        return self._reply(request, {"result": result})

    def refuse(self, request: RequestId, why: str, code: int = NO_SUCH_METHOD) -> None:
        self._reply(request, {"error": {"code": code, "message": why}})

    def _reply(self, request: RequestId, reply: Json) -> bool:
        if request not in self._asked:
            return False
        self._asked.discard(request)
        return self._send({"jsonrpc": "2.0", "id": request, **reply})

    def take_reply(self, message: Json) -> None:
        """The agent's reply to a request of ours; what was not asked is nothing."""
        number = message.get("id")
        then, failed = self._sent.pop(number, (_ignore, _ignore)) if isinstance(number, int) else (_ignore, _ignore)
        error = message.get("error")
        if error is None:
            result = message.get("result")
            try:
                then(result if isinstance(result, Mapping) else {})
            except FAULTS as fault:
                failed(f"its answer is not understood: {fault!r}")
        else:
            failed(_why(error) if isinstance(error, Mapping) else "It does not say why.")


def _why(error: Json) -> str:
    """What the agent says of its refusal. Some keep the reason beside a message that says nothing."""
    data = error.get("data")
    details = data.get("details") if isinstance(data, Mapping) else data
    told = [each for each in (error.get("message"), details) if isinstance(each, str) and each.strip()]
    return ": ".join(told) or "It does not say why."
