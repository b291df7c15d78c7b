"""The gate of all sessions that share one server of Codex: a second client beside their terminals.

What is asked there stands in the inbox as well. Whoever decides first wins: the terminal's prompt closes with our
answer, and the server says when the terminal was first. It sleeps in one wait, and ends with the server.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from sayso.asks.askers import asker_here
from sayso.asks.model import Ask, Asker, State
from sayso.config import Config, load
from sayso.desks import Desks, open_desks
from sayso.dialects.approve import PLAIN_NO
from sayso.errors import SaysoError
from sayso.gates.asker import project_of
from sayso.gates.client import DecidedThere, GateVerdict, OwnPrompt
from sayso.gates.codex_asks import AskedInput, asked_action, asked_call, meant_calls, takes_accept, wanted_call
from sayso.gates.codex_server import (
    CHANGE,
    COMMAND,
    FORM,
    MCP_TOOL,
    NAME,
    QUESTIONS,
    TITLE,
    TOOL_ACCEPTED,
    TOOL_DECLINED,
    WORDS_OF_NO,
    CodexServer,
    Json,
    asks_for_tool,
)
from sayso.gates.gate import note_at_work
from sayso.gates.held_prompt import CLIENT_ENDED, FAILED, LET_GO
from sayso.gates.hook_words import own_tools
from sayso.gates.open_prompt import OpenPrompt, next_look, notify
from sayso.gates.prompts import AskedPrompt
from sayso.gates.watch import ENDING, WakePipe
from sayso.processes import ProcessName
from sayso.text import words_about

LAST_WORDS = 0.5
"""Seconds in which the server may say how the terminal has decided."""
_DONE_THERE = {"completed": DecidedThere.ALLOWED, "failed": DecidedThere.ALLOWED, "declined": DecidedThere.DENIED}
_REFUSED_OR_FAILED = "mcpToolCall", "failed"
"""The end of a call of an MCP tool that does not say whether a person or the tool has ended it."""
_DONE_ALL_THE_SAME = "This was allowed in the terminal before that no arrived, and has been done."
_OWN_TOOLS = own_tools(MCP_TOOL)
_ASKING = (COMMAND, CHANGE, QUESTIONS)
_ACCEPTED: Mapping[str, Json] = {
    COMMAND: {"decision": "accept"},
    CHANGE: {"decision": "accept"},
    FORM: TOOL_ACCEPTED,
}
"""A plain yes; to questions, what people have answered is."""
_REFUSED: Mapping[str, Json] = {
    COMMAND: {"decision": "decline"},
    CHANGE: {"decision": "decline"},
    FORM: TOOL_DECLINED,
    QUESTIONS: {"answers": {}},
}


@dataclass(frozen=True, kw_only=True)
class SharedPrompt:
    """One request of the server that stands in the inbox."""

    request: int | str
    method: str
    thread: str
    turn: str
    item: str
    doing: str
    """What is asked for, in one line."""
    opened: OpenPrompt


@dataclass(kw_only=True)
class JoinedThread:
    """A session at work."""

    folder: Path
    version: str
    changes: dict[str, list[Json]] = field(default_factory=dict)
    """Of the files that it would change, by the item that does it."""
    calls: dict[str, Json] = field(default_factory=dict)
    """Of tools of MCP servers, by the item that is the call."""


class CodexGate:
    def __init__(self, server: CodexServer, process: ProcessName) -> None:
        """`process` is the one that serves the sessions."""
        self._server, self._process = server, process
        self.joining: set[str] = set()
        self.threads: dict[str, JoinedThread] = {}
        """The sessions that are at work, by the server's names for them."""
        self._open: dict[int | str, SharedPrompt] = {}
        self._decided: dict[int | str, tuple[SharedPrompt, float]] = {}
        """Those that were decided in the terminal, and until when it may be said how."""
        self._after_words: dict[int, tuple[int | str, Json]] = {}
        """Denials that are told once the words to them have arrived, by the request that brings those."""
        self._refused: dict[tuple[str, str], tuple[SharedPrompt, GateVerdict]] = {}
        """Told a no in this turn, by session and item: the terminal may have been first all the same."""
        self._desks: dict[Path, tuple[Config, Desks]] = {}
        self._wake = WakePipe()
        self._told_to_end = False
        self._hooks: Path | None = None
        self._to_close = ExitStack()
        self._ready: Callable[[], None] | None = None
        server.request("thread/loaded/list")

    def serve(self, ready: Callable[[], None]) -> None:
        """Endless: until the server ends, or this process is told to. `ready` is called when it has joined the sessions
        that were there when it came."""
        for number in ENDING:
            signal.signal(number, self._note_signal)
        self._ready = ready
        why = FAILED
        try:
            while not self.is_over:
                self.turn(self._rest())
            why = LET_GO if self._told_to_end else CLIENT_ENDED
        finally:
            self.close(why)

    @property
    def is_over(self) -> bool:
        return self._told_to_end or self._server.is_broken

    def close(self, why: str) -> None:
        """Let go of all that is open."""
        for prompt in self._open.values():
            prompt.opened.leave(why)
        for request in list(self._decided):
            self._withdraw(request, DecidedThere.UNKNOWN)
        self._open.clear()
        self._to_close.close()

    def turn(self, seconds: float | None) -> None:
        """Do what has come up by now, or once something does within so many seconds."""
        self._wait(seconds)
        for said in self._server.read():
            try:
                self._hear(said)
            except (SaysoError, LookupError, TypeError, ValueError, AttributeError):
                continue  # whatever it is, nothing was decided by it, and the terminal's own prompt is there
        for request in [request for request, (_, until) in self._decided.items() if time.monotonic() > until]:
            self._withdraw(request, DecidedThere.UNKNOWN)
        for prompt in list(self._open.values()):
            self._look(prompt)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._told_to_end = True
        self._wake.ring()

    def _wait(self, seconds: float | None) -> None:
        poll = select.poll()
        poll.register(self._wake.fd, select.POLLIN)
        poll.register(self._server.fileno(), select.POLLIN)
        if self._wake.fd in dict(poll.poll(None if seconds is None else seconds * 1000)):
            self._wake.clear()

    def _rest(self) -> float | None:
        """Seconds until something has to be looked at by itself; None while nothing is open."""
        look = next_look(prompt.opened for prompt in self._open.values())
        times = [until - time.monotonic() for _, until in self._decided.values()]
        times += [] if look is None else [look]
        return max(0.0, min(times)) if times else None

    # What the server says

    def _hear(self, said: Json) -> None:
        params = said.get("params") or {}
        match said["method"]:
            case "initialize" if said.get("is_result"):
                self._hooks = Path(said["result"]["codexHome"], "hooks.json")
            case "thread/loaded/list" if said.get("is_result"):
                for thread in (said["result"] or {}).get("data", ()):
                    self._join(thread)
                self._say_if_ready()
            case "thread/resume" if said.get("is_result"):
                self._note_joined(said["asked"]["threadId"], said["result"])
            case "turn/steer" if said.get("is_result"):
                if refusal := self._after_words.pop(said["id"], None):
                    self._server.answer(*refusal)
            case "thread/status/changed":
                self._note_status(params["threadId"], params["status"]["type"])
            case "thread/closed":
                self.threads.pop(params["threadId"], None)
                self._note_rest(params["threadId"])
            case "item/started":
                self._note_begun(params["threadId"], params["item"])
            case "item/fileChange/patchUpdated":
                self._note_changes(params["threadId"], params["itemId"], params.get("changes"))
            case "item/completed":
                self._note_end(params["threadId"], params["item"])
            case "turn/completed":
                self._note_turn(params["threadId"], params["turn"])
            case "serverRequest/resolved":
                self._note_decided(params["requestId"])
            case method if "id" in said and (method in _ASKING or asks_for_tool(method, params)):
                self._put(said["id"], method, params)

    def _join(self, thread: str) -> None:
        if thread not in self.threads and thread not in self.joining:
            self.joining.add(thread)
            self._server.request("thread/resume", threadId=thread, excludeTurns=True)

    def _note_joined(self, name: str, result: Json | None) -> None:
        """Some cannot be joined: those by which Codex finds a title, and those that nobody has spoken in yet."""
        self.joining.discard(name)
        thread = result["thread"] if result else {}
        if thread:
            joined = JoinedThread(folder=Path(thread["cwd"]), version=str(thread.get("cliVersion") or ""))
            self.threads[name] = joined
            if thread["status"]["type"] != "active":
                self._leave(name)
        self._say_if_ready()
        if thread and not thread.get("ephemeral") and not thread.get("parentThreadId"):
            # One that asks nothing is at work as well.
            config, desks = self._desks_of(joined.folder)
            desks.roster.note_gate(self._asker(name, joined, config), "")

    def _say_if_ready(self) -> None:
        if self._ready and not self.joining:
            self._ready()
            self._ready = None

    def _note_status(self, thread: str, status: str) -> None:
        if status == "active":
            self._join(thread)
        else:
            self._leave(thread)
            self._note_rest(thread)

    def _note_rest(self, thread: str) -> None:
        """A session that rests waits for nothing, whatever else was said."""
        for prompt in [prompt for prompt in self._open.values() if prompt.thread == thread]:
            self._note_decided(prompt.request)

    def _leave(self, thread: str) -> None:
        """A session that rests is nobody's business; and whoever listens keeps Codex from ending it."""
        if self.threads.pop(thread, None):
            self._server.request("thread/unsubscribe", threadId=thread)

    def _note_begun(self, thread: str, item: Json) -> None:
        if item.get("type") == "mcpToolCall" and thread in self.threads:
            self.threads[thread].calls[item["id"]] = item
        self._note_changes(thread, item["id"], item.get("changes"))

    def _note_changes(self, thread: str, item: str, changes: Any) -> None:
        if isinstance(changes, list) and thread in self.threads:
            self.threads[thread].changes[item] = changes

    def _note_end(self, thread: str, item: Json) -> None:
        if thread in self.threads:
            self.threads[thread].changes.pop(item["id"], None)
            self.threads[thread].calls.pop(item["id"], None)
        for request, (prompt, _) in list(self._decided.items()):
            if (prompt.thread, prompt.item) == (thread, item["id"]):
                self._withdraw(request, _done_there(item))
        refused = self._refused.pop((thread, item["id"]), None)
        if refused and _done_there(item) is DecidedThere.ALLOWED:
            prompt, verdict = refused
            prompt.opened.note_done_there()
            if _has_words(verdict):
                # The agent was told of a no to what it has done.
                self._say(thread, prompt.turn, prompt.doing, _DONE_ALL_THE_SAME)

    def _note_turn(self, thread: str, turn: Json) -> None:
        how = DecidedThere.DENIED if turn["status"] == "interrupted" else DecidedThere.UNKNOWN
        for request, (prompt, _) in list(self._decided.items()):
            if (prompt.thread, prompt.turn) == (thread, turn["id"]):
                self._withdraw(request, how)
        for key in [key for key, (prompt, _) in self._refused.items() if prompt.turn == turn["id"]]:
            del self._refused[key]

    def _note_decided(self, request: int | str) -> None:
        if prompt := self._open.pop(request, None):
            self._decided[request] = prompt, time.monotonic() + LAST_WORDS
            if prompt.method == QUESTIONS:
                self._withdraw(request, DecidedThere.ANSWERED)

    def _withdraw(self, request: int | str, there: DecidedThere) -> None:
        prompt, _ = self._decided.pop(request)
        prompt.opened.withdraw(there)

    # What is asked

    def _put(self, request: int | str, method: str, params: Json) -> None:
        if request in self._open or request in self._decided or not takes_accept(params):
            return
        if not self._is_wanted():
            self._told_to_end = True
            return
        thread = self.threads[params["threadId"]]
        config, desks = self._desks_of(thread.folder)
        asker = self._asker(params["threadId"], thread, config)
        question = _question(method, params, thread, asker, config, desks)
        turn, item = params["turnId"], _item(params, thread)
        if verdict := question.decided_before():
            self._tell(request, method, params["threadId"], turn, question.doing, verdict)
            note_at_work(desks, question)
            return
        opened = OpenPrompt(TITLE, NAME, question, desks.asks.hold(question.new), desks)
        self._open[request] = SharedPrompt(
            request=request,
            method=method,
            thread=params["threadId"],
            turn=turn,
            item=item,
            doing=question.doing,
            opened=opened,
        )
        note_at_work(desks, question)
        _show_in_conversations(desks, params["threadId"], opened.ask)
        notify(config, opened.ask)

    def _is_wanted(self) -> bool:
        """Whether the hooks are still there that see to this gate."""
        try:
            return self._hooks is not None and b"gate codex" in self._hooks.read_bytes()
        except OSError:
            return False

    def _desks_of(self, folder: Path) -> tuple[Config, Desks]:
        project = project_of(folder)
        if project not in self._desks:
            config = load(cwd=project)
            desks = self._to_close.enter_context(open_desks(config))
            self._to_close.callback(desks.listen_for_own(self._wake.ring).close)
            self._desks[project] = config, desks
        return self._desks[project]

    def _asker(self, thread: str, joined: JoinedThread, config: Config) -> Asker:
        """The same as that of the MCP server which Codex has started for the session."""
        return asker_here(self._process, config.project_name, client=NAME, version=joined.version, session=thread)

    def _look(self, prompt: SharedPrompt) -> None:
        ask = prompt.opened.look()
        if prompt.opened.is_given_up:
            del self._open[prompt.request]
        elif ask and ask.state is not State.PENDING:
            self._hand_over(prompt, ask)

    def _hand_over(self, prompt: SharedPrompt, ask: Ask) -> None:
        def tell(verdict: GateVerdict) -> bool:
            self._open.pop(prompt.request)
            if not verdict.allowed and prompt.item:
                self._refused[prompt.thread, prompt.item] = prompt, verdict
            return self._tell(prompt.request, prompt.method, prompt.thread, prompt.turn, prompt.doing, verdict)

        if prompt.opened.hand_over(ask, tell):
            self._open.pop(prompt.request, None)

    def _tell(self, request: int | str, method: str, thread: str, turn: str, doing: str, verdict: GateVerdict) -> bool:
        """Whether it was taken. A plain yes, and never one for the rest of the session or a rule of Codex's."""
        if verdict.allowed:
            return self._server.answer(request, _ACCEPTED.get(method, verdict.given))
        refused = _REFUSED[method]
        if not _has_words(verdict):
            return self._server.answer(request, refused)
        # Its answer has no place for words. They go first, as a message: the agent goes on as soon as it has the no.
        self._after_words[self._say(thread, turn, doing, verdict.message)] = request, refused
        return not self._server.is_broken

    def _say(self, thread: str, turn: str, doing: str, text: str) -> int:
        """The number of the request by which it is said."""
        wanted = doing.partition(": ")[2] or doing  # without the name of the tool
        said = [{"type": "text", "text": words_about(wanted, text)}]
        name = WORDS_OF_NO + os.urandom(8).hex()
        return self._server.request(
            "turn/steer", threadId=thread, expectedTurnId=turn, input=said, clientUserMessageId=name
        )


def _show_in_conversations(desks: Desks, thread: str, ask: Ask) -> None:
    """Where Talk takes part in the session. It is in the inbox whatever becomes of that."""
    with suppress(SaysoError):
        for run in desks.runs.joined_to(thread):
            desks.runs.note_ask(run.id, ask.id)


def _question(
    method: str, params: Json, thread: JoinedThread, asker: Asker, config: Config, desks: Desks
) -> AskedPrompt:
    if method == QUESTIONS:
        return AskedInput(params, asker, config, desks)
    if method == FORM:
        wanted = wanted_call(params, thread.calls.values())
        if _OWN_TOOLS.fullmatch(wanted.tool):
            raise ValueError("it asks whether it may ask")
        return asked_call(wanted, thread.folder, OwnPrompt.BESIDE, asker, config, desks)
    changes = thread.changes.get(params["itemId"], [])
    return asked_action(method, params, changes, thread.folder, OwnPrompt.BESIDE, asker, config, desks)


def _has_words(verdict: GateVerdict) -> bool:
    """Whether there is more to say than the plain no, which Codex tells its model by itself."""
    return verdict.message not in ("", PLAIN_NO)


def _done_there(item: Json) -> DecidedThere:
    """How it was decided in the terminal, by what became of it."""
    if (item.get("type"), item.get("status")) == _REFUSED_OR_FAILED:
        return DecidedThere.UNKNOWN
    return _DONE_THERE.get(item.get("status", ""), DecidedThere.UNKNOWN)


def _item(params: Json, thread: JoinedThread) -> str:
    """What it asks for, by the server's name for it; empty where there are two of the same."""
    if "itemId" in params:
        return str(params["itemId"])
    same = meant_calls(params, thread.calls.values())
    return str(same[0]["id"]) if len(same) == 1 else ""
