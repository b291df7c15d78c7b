"""What an agent tells by ACP's `session/update`, as events of its run. Without I/O."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.adapters.acp_calls import TODO, AcpCall, FolderWords, Json, known_as, told_more
from sayso.agents.agent import items, mapping, number, shortened, text_event, trimmed, words
from sayso.agents.model import EventKind, NewEvent

DENIED = "It was not allowed."
_CHUNKS = {"agent_message_chunk": EventKind.TEXT, "agent_thought_chunk": EventKind.THINKING}


class AcpEvents:
    """The events of one session. Texts come in parts, of which nobody says which is the last: one is whole as soon as
    something else begins."""

    def __init__(self, folders: FolderWords) -> None:
        self._folders = folders
        self._kind, self._text = EventKind.TEXT, ""
        self._calls: dict[str, AcpCall] = {}
        self._shown: set[str] = set()
        self._ended: set[str] = set()
        self._plans = 0
        self.cost_usd: float | None = None
        """What the session has cost so far, if the agent says so."""

    def hear(self, update: Json) -> Iterator[NewEvent]:
        """One update of the session."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk" | "agent_thought_chunk" as chunk:
                yield from self._more_of(_CHUNKS[chunk], _text(update.get("content")))
            case "tool_call" | "tool_call_update":
                yield from self._tool(self.call(update))
            case "plan":
                yield from self._plan(update)
            case "usage_update":
                yield from self._usage(update)

    def call(self, said: Json) -> AcpCall:
        """The use of a tool with what is said of it now."""
        call = self._calls[words(said.get("toolCallId"))] = told_more(self.known(said), said)
        return call

    def known(self, said: Json) -> AcpCall:
        """What was said of it before."""
        name = words(said.get("toolCallId"))
        return self._calls.get(name) or AcpCall(id=name, folders=self._folders)

    def has_told(self, call: AcpCall) -> bool:
        """Whether anything was said of it but a request."""
        return call.id in self._calls

    def show(self, call: AcpCall) -> Iterator[NewEvent]:
        """Tell of a tool that is about to be used: now, whatever is still to be said of it."""
        if call.id in self._shown:
            return
        yield from self.whole()
        self._shown.add(call.id)
        used = known_as(call)
        body = {"id": call.id, "name": used.tool, "input": trimmed({**used.given, **call.place})}
        titled = {} if call.name or not call.title else {"title": shortened(call.title, 300)}
        yield NewEvent(kind=EventKind.TOOL, body=body | titled)

    def deny(self, call: AcpCall) -> Iterator[NewEvent]:
        """It was not allowed. Some agents say nothing more of it then."""
        yield from self._end(call, DENIED, failed=True)

    def whole(self) -> Iterator[NewEvent]:
        """The text that was begun is all there is of it."""
        text, self._text = self._text, ""
        yield from text_event(self._kind, text)

    def over(self) -> Iterator[NewEvent]:
        """The turn has ended: of what was begun nothing more is to be expected."""
        yield from self.whole()
        for call in [call for call in self._calls.values() if call.id not in self._ended]:
            yield from self.show(call)
        for names in (self._calls, self._shown, self._ended):
            names.clear()

    def _more_of(self, kind: EventKind, text: str) -> Iterator[NewEvent]:
        if not text:
            return
        if kind is not self._kind:
            yield from self.whole()
        self._kind = kind
        self._text += text
        if kind is EventKind.TEXT:
            yield NewEvent(kind=EventKind.DELTA, body={"text": text})

    def _tool(self, call: AcpCall) -> Iterator[NewEvent]:
        if call.is_begun:
            yield from self.show(call)
        if call.has_ended:
            yield from self._end(call, call.text, failed=call.status == "failed")

    def _end(self, call: AcpCall, text: str, *, failed: bool) -> Iterator[NewEvent]:
        if call.id not in self._ended:
            self._ended.add(call.id)
            body = {"id": call.id, "text": shortened(text), "error": failed}
            yield NewEvent(kind=EventKind.TOOL_RESULT, body=body)

    def _plan(self, update: Json) -> Iterator[NewEvent]:
        """The whole list, each time anew."""
        yield from self.whole()
        self._plans += 1
        name = f"plan-{self._plans}"
        todos = [
            {"content": words(entry.get("content")), "status": words(entry.get("status"))}
            for entry in items(update.get("entries"))
        ]
        yield NewEvent(kind=EventKind.TOOL, body={"id": name, "name": TODO, "input": trimmed({"todos": todos})})
        yield NewEvent(kind=EventKind.TOOL_RESULT, body={"id": name, "text": "", "error": False})

    def _usage(self, update: Json) -> Iterator[NewEvent]:
        cost = mapping(update.get("cost"))
        if cost.get("currency") == "USD":
            self.cost_usd = number(cost.get("amount"))
        used, window = number(update.get("used")), number(update.get("size"))
        if used and window:
            yield NewEvent(kind=EventKind.USAGE, body={"used": int(used), "window": int(window)})


def _text(content: object) -> str:
    part = mapping(content)
    return words(part.get("text")) if part.get("type") == "text" else f"({words(part.get('type'))})"
