"""What passes between a client and its guarded server, without I/O: lines in, lines out, and calls for the desk.

All lines pass as they are, but for calls of tools, which wait for a verdict, and lists of tools, in which a client
sees only what was accepted.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol

from sayso.action_data import digest_of
from sayso.guard import words
from sayso.guard.calls import GuardedCall, GuardedServer
from sayso.guard.reading import (
    CALL,
    Ambiguous,
    encoded,
    faults_of,
    has_ambiguities,
    is_id,
    is_one_line,
    meta_of,
    read,
    read_leniently,
)
from sayso.guard.tools import AcceptedTools, ListedTools, Tools, offer_action
from sayso.protocol import messages
from sayso.protocol.messages import INVALID_REQUEST, PARSE_ERROR, Json, RequestId
from sayso.protocol.request import ClientInfo
from sayso.protocol.versions import CLIENT_KEY, PREFIX, SUBSCRIPTION_KEY, VERSION_KEY
from sayso.records import record

logger = logging.getLogger(__name__)

MOST_ROUNDS = 1000
"""How many calls are kept in mind whose clients may come again with the reply to a form."""

_LIST_CHANGED = "notifications/tools/list_changed"
_NOT_ALLOWED = -32000


@record
class GuardOutcome:
    """What became of something that a person was asked. `digest` is of what was allowed; nothing was without one.
    `arguments` are there where a person has changed them."""

    digest: str = ""
    arguments: Mapping[str, Any] | None = None
    refusal: str = ""
    ask: str = ""
    person: str = ""


class Outside(Protocol):
    """Who carries what passes, and asks people."""

    def to_client(self, line: bytes) -> None: ...
    def to_server(self, line: bytes) -> None: ...
    def ask(self, call: GuardedCall) -> None:
        """Put a call to the permission desk; the outcome comes by its id."""

    def withdraw(self, call: GuardedCall) -> None:
        """Nobody waits for this outcome any more."""

    def offer(self, action: Json, client: ClientInfo) -> None:
        """Have a person accept tools, in the place of what was offered before."""

    def void(self, outcome: GuardOutcome, why: str) -> None:
        """What was allowed is not done after all."""


class Passage:
    """Everything that one client and one server say to each other."""

    def __init__(self, server: GuardedServer, accepted: AcceptedTools, outside: Outside) -> None:
        self._server, self._accepted, self._outside = server, accepted, outside
        self._tools = ListedTools(accepted.of(server).tools)
        self._offered: Tools = {}
        self._offer: Json = {}
        self._refused_offer = self._given_up = ""
        self._held: dict[RequestId, GuardedCall] = {}
        self._unlisted: dict[RequestId, GuardedCall] = {}
        """Calls that came before the server had listed its tools."""
        self._sent: dict[RequestId, GuardedCall] = {}
        self._rounds: dict[tuple[str, str], None] = {}
        """Which calls may come again, with the reply to a form that the server sent to them."""
        self._client = ClientInfo(None, None)
        self._shook_hands = False
        self._meta: dict[str, Any] = {}
        self._listeners: dict[RequestId, None] = {}
        self._prefix = f"sayso-guard-{os.urandom(4).hex()}-"
        self._telling = (b'"tools"', b"\\u00", b"input_required", b"list_changed", self._prefix.encode())
        """What is in every line of the server that matters. A name may be spelt with escapes, which begin like this."""
        self._numbers = count(1)
        self._first_pages: dict[str, bool] = {}
        """The ids by which the client wants a list from its beginning."""
        self._walk = ""
        """The id of the request by which the guard itself is having the tools listed."""

    # From the client

    def from_client(self, line: bytes) -> None:
        if line.isspace():
            self._outside.to_server(line)
            return
        try:
            given = read(line)
        except ValueError as error:
            self._refuse(None, PARSE_ERROR, f"Not passed on: the line is not JSON in UTF-8 ({error}).")
            return
        batch = given if isinstance(given, list) else [given]
        if not batch or not all(isinstance(message, dict) for message in batch):
            self._refuse(None, INVALID_REQUEST, "Not passed on: a message must be a JSON object.")
        elif refused := next(((message, why) for message in batch if (why := faults_of(message))), None):
            message, why = refused
            self._refuse(message.get("id"), INVALID_REQUEST, f"Not passed on by `sayso guard`: {why}.")
        else:
            self._pass_on(given, batch, line)

    def _pass_on(self, given: Any, batch: list[Json], line: bytes) -> None:
        others = [message for message in batch if message.get("method") != CALL and not self._takes(message)]
        if len(others) == len(batch):
            self._outside.to_server(line if is_one_line(line) else encoded(given))
        elif others:
            self._outside.to_server(encoded(others))
        for message in batch:
            if message.get("method") == CALL:
                self._call(message)

    def _takes(self, message: Json) -> bool:
        """Take note of a message; whether it was for the guard alone."""
        method, params, meta = message.get("method"), message.get("params"), meta_of(message)
        self._note_client(meta)
        if method == "tools/list" and not (isinstance(params, dict) and params.get("cursor")):
            self._first_pages[str(message.get("id"))] = True
        if not isinstance(params, dict):
            return False
        if method == "initialize":
            self._client, self._shook_hands = _client(params.get("clientInfo")), True
        elif method == "subscriptions/listen" and is_id(message.get("id")):
            wanted = params.get("notifications")
            if isinstance(wanted, dict) and wanted.get("toolsListChanged"):
                self._listeners[message["id"]] = None
        elif method == "notifications/cancelled" and is_id(params.get("requestId")):
            return self._cancelled(params["requestId"])
        return False

    def _note_client(self, meta: Mapping[str, Any]) -> None:
        """Who calls, as each request of a modern client says."""
        if VERSION_KEY in meta:
            self._meta = {key: value for key, value in meta.items() if key.startswith(PREFIX)}
        if CLIENT_KEY in meta:
            self._client = _client(meta[CLIENT_KEY])

    def _cancelled(self, named: RequestId) -> bool:
        """Whether it was a call that the server has not seen."""
        self._listeners.pop(named, None)
        for key in (named, *messages.other_spellings(named)):
            if self._unlisted.pop(key, None):
                return True
            if call := self._held.pop(key, None):
                self._outside.withdraw(call)
                return True
        return False

    # Calls

    def _call(self, message: Json) -> None:
        self._note_client(meta_of(message))
        call = GuardedCall(message=message, server=self._server, client=self._client)
        if self._given_up:
            self._answer(call, self._given_up)
        elif call.id in self._held or call.id in self._unlisted:
            self._refuse(call.id, INVALID_REQUEST, "Not passed on: another call with this id is still open.")
        elif self._tools.is_known:
            self._judge(call)
        else:
            self._unlisted[call.id] = call
            self._have_tools_listed("")

    def _judge(self, call: GuardedCall) -> None:
        if not self._tools.is_accepted(call.tool):
            self._answer(call, self._why_not(call.tool))
        elif call.comes_again and call.round in self._rounds:
            # The call that was allowed, with the reply to a form that the server has sent to it since.
            del self._rounds[call.round]
            self._send(call, call.line(None))
        else:
            self._held[call.id] = call
            self._outside.ask(call)

    def _why_not(self, tool: str) -> str:
        if not self._tools.is_listed(tool):
            return words.NO_SUCH_TOOL.format(tool=tool, server=self._server.name)
        why = words.NOT_ACCEPTED.format(tool=tool, server=self._server.name)
        return f"{why} {self._refused_offer}" if self._refused_offer else why

    def decided(self, key: RequestId, outcome: GuardOutcome) -> None:
        """What became of a call."""
        call = self._held.pop(key, None)
        if call is None:
            if outcome.digest:
                self._outside.void(outcome, "the client gave the call up")
            return
        if not outcome.digest:
            self._answer(call, outcome.refusal)
            return
        line = call.line(outcome.arguments)
        if call.digest_of(line) == outcome.digest:
            self._send(call, line)
        else:
            self._outside.void(outcome, "it is not what was allowed")
            self._answer(call, words.OTHER_CALL)

    def give_up(self, why: str) -> None:
        """Nobody can be asked any more."""
        self._given_up = words.FAILED.format(why=why)
        held, self._held = self._held, {}
        for call in held.values():
            self._answer(call, self._given_up)

    def still_held(self, key: RequestId, waited: float) -> None:
        """A sign of life for the client of a call, if it wants such. Always below zero: whatever the server tells of
        its progress later is more."""
        call = self._held.get(key)
        token = call.meta.get("progressToken") if call else None
        if is_id(token):
            told = {"progressToken": token, "progress": -1 / (1 + waited), "message": words.WAITING.format(waited)}
            self._outside.to_client(encoded(messages.notification("notifications/progress", told)))

    def _send(self, call: GuardedCall, line: bytes) -> None:
        if line == call.line(None):  # else its client would come again with what nobody has allowed
            self._sent[call.id] = call
        if len(self._sent) > MOST_ROUNDS:
            del self._sent[next(iter(self._sent))]
        self._outside.to_server(line)

    def _answer(self, call: GuardedCall, text: str) -> None:
        """Tell the model why a call was not made."""
        if "task" in call.message["params"]:
            # Its client expects a task, or an error of the protocol.
            self._refuse(call.id, _NOT_ALLOWED, text)
            return
        result: Json = {"content": [{"type": "text", "text": text}], "isError": True}
        told = {"resultType": "complete", **result} if VERSION_KEY in call.meta else result
        self._outside.to_client(encoded(messages.result(call.id, told)))

    def _refuse(self, key: object, code: int, text: str) -> None:
        logger.warning("%s", text)
        told = {"jsonrpc": "2.0", "id": key if is_id(key) else None, "error": {"code": code, "message": text}}
        self._outside.to_client(encoded(told))

    # From the server

    def from_server(self, line: bytes) -> None:
        whole = is_one_line(line)
        if whole and not any(word in line for word in self._telling):
            self._outside.to_client(line)
            return
        try:
            given = read_leniently(line)
        except ValueError:
            if whole:
                self._outside.to_client(line)
            else:
                logger.warning("A line of the server that some clients would take for several was not passed on")
            return
        batch = given if isinstance(given, list) else [given]
        passed = [told for message in batch if (told := self._heard(message)) is not None]
        if whole and len(passed) == len(batch) and all(one is other for one, other in zip(passed, batch, strict=True)):
            self._outside.to_client(line)
        elif passed:
            self._outside.to_client(encoded(passed if isinstance(given, list) else passed[0]))

    def _heard(self, message: Any) -> Any:
        """What the client is told of it: the very same, something else, or nothing."""
        if not isinstance(message, dict):
            return message
        if message.get("method") == _LIST_CHANGED:
            self._tools.is_known, self._walk = False, ""
            self._have_tools_listed("")
            return message
        key, result = message.get("id"), message.get("result")
        if "method" not in message and isinstance(key, str) and key.startswith(self._prefix):
            if key == self._walk:  # else the tools have changed since
                self._walked(result if isinstance(result, dict) else {})
            return None
        if "method" in message or not isinstance(result, dict):
            return message
        if isinstance(message, Ambiguous) or isinstance(result, Ambiguous):
            # As we read it, and no client otherwise.
            message, result = {**message, "result": dict(result)}, dict(result)
        if isinstance(result.get("tools"), list):
            return self._list_for_client(message, result)
        if result.get("resultType") == "input_required":
            self._expect_again(key, result)
        return self._announcing(message, result)

    def _expect_again(self, key: object, result: Json) -> None:
        call = self._sent.pop(key, None) if isinstance(key, str | int) else None
        if call:
            message = {**call.message, "params": {**call.message["params"], "requestState": result.get("requestState")}}
            self._rounds[GuardedCall(message=message, server=call.server, client=call.client).round] = None
        while len(self._rounds) > MOST_ROUNDS:
            del self._rounds[next(iter(self._rounds))]

    # Tools

    def _list_for_client(self, message: Json, result: Json) -> Json:
        page, more = result["tools"], result.get("nextCursor")
        self._tools.take(page, more)
        self._offer_tools()
        begins = self._first_pages.pop(str(message.get("id")), False)
        if more and (begins or not self._tools.is_known):
            # Some clients never turn the page, and then nobody would be asked about what is on it.
            self._have_tools_listed(more)
        shown = self._tools.shown(page)
        is_plain = len(shown) == len(page) and all(self._tools.is_accepted(tool["name"]) for tool in shown)
        if is_plain and not has_ambiguities(message):
            return message
        fresh = {"ttlMs": 0} if "ttlMs" in result else {}
        return {**message, "result": {**result, **fresh, "tools": shown}}

    def _have_tools_listed(self, cursor: object) -> None:
        if self._walk:
            return
        self._walk = f"{self._prefix}{next(self._numbers)}"
        params: Json = {"_meta": self._meta} if self._meta else {}
        if cursor:
            params["cursor"] = cursor
        self._outside.to_server(encoded(messages.request(self._walk, "tools/list", params)))

    def _walked(self, result: Json) -> None:
        self._walk = ""
        tools = result.get("tools")
        page, more = (tools, result.get("nextCursor")) if isinstance(tools, list) else ([], None)
        self._tools.take(page, more)
        if more:
            self._have_tools_listed(more)
            return
        self._offer_tools()
        waiting, self._unlisted = self._unlisted, {}
        for call in waiting.values():
            self._judge(call)

    def _offer_tools(self) -> None:
        """Ask about what nobody has accepted, once all of it is known, and each of it once."""
        unaccepted = self._tools.unaccepted
        if not self._tools.is_known or not unaccepted:
            return
        offer = offer_action(self._server, self._tools.accepted, unaccepted)
        if offer != self._offer:
            self._offered, self._offer, self._refused_offer = unaccepted, offer, ""
            self._outside.offer(offer, self._client)

    def accepted(self, outcome: GuardOutcome) -> None:
        """What became of the tools that were offered last."""
        if not outcome.digest:
            # Undecided, it is asked again when the server is next started; said no to, likewise.
            self._refused_offer = outcome.refusal
            return
        if outcome.digest != digest_of(self._offer):
            return
        self._accepted.accept(self._server, self._offered, outcome.person)
        self._tools.accepted = {**self._tools.accepted, **self._offered}
        if self._shook_hands:
            self._outside.to_client(encoded(messages.notification(_LIST_CHANGED)))
        for key in self._listeners:
            told = messages.notification(_LIST_CHANGED, {"_meta": {SUBSCRIPTION_KEY: key}})
            self._outside.to_client(encoded(told))

    def _announcing(self, message: Json, result: Json) -> Json:
        """Where nothing of the server is accepted yet, its client is told that tools may come later."""
        able = result.get("capabilities")
        if self._tools.accepted or not isinstance(able, dict) or not isinstance(able.get("tools"), dict):
            return message
        if able["tools"].get("listChanged"):
            return message
        tools = {**able["tools"], "listChanged": True}
        return {**message, "result": {**result, "capabilities": {**able, "tools": tools}}}


def _client(info: object) -> ClientInfo:
    named = info if isinstance(info, dict) else {}
    return ClientInfo({key: str(named.get(key) or "") for key in ("name", "version")}, None)
