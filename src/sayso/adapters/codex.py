"""Codex by its `app-server`, as tried with 0.166: one thread, turns that can be steered, approvals, questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso import __version__
from sayso.adapters.adapter import Adapter
from sayso.adapters.codex_items import begun, ended, notice, todo
from sayso.adapters.held_prompts import AskingSession
from sayso.adapters.line import PersonSaid
from sayso.adapters.rpc import Json, RequestId
from sayso.agents.agent import items, mapping, offers_event, shortened, words
from sayso.agents.model import EventKind, Saying
from sayso.gates.codex_server import (
    CHANGE,
    COMMAND,
    FORM,
    NAME,
    QUESTIONS,
    TITLE,
    TOOL_ACCEPTED,
    TOOL_DECLINED,
    asks_for_tool,
)
from sayso.text import words_about

if TYPE_CHECKING:
    from sayso.asks.model import Asker
    from sayso.config import Config
    from sayso.desks import Desks
    from sayso.gates.client import GateVerdict
    from sayso.gates.prompts import AskedPrompt

INTERRUPTED, TAKEN_BACK, TURN_OVER = "its turn was interrupted", "its agent took it back", "its turn is over"
CHANGED = "it would change something else by now"
PERMISSIONS = "item/permissions/requestApproval"
_NOT_WANTED = (
    *("item/plan/delta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta"),
    *("item/reasoning/summaryPartAdded", "item/commandExecution/outputDelta", "item/fileChange/outputDelta"),
    *("command/exec/outputDelta", "process/outputDelta", "item/mcpToolCall/progress", "turn/diff/updated"),
    *("account/rateLimits/updated", "hook/started", "hook/completed"),
)
"""What it would tell at every word of a tool's."""

_ASKS = ("on-request", "read-only", "readOnly")
_MODES: Mapping[str, tuple[str, str, str]] = {
    "default": _ASKS,
    "acceptEdits": ("on-request", "workspace-write", "workspaceWrite"),
    "plan": ("never", "read-only", "readOnly"),
    "dontAsk": ("never", "", ""),
    "bypassPermissions": ("never", "danger-full-access", "dangerFullAccess"),
}
"""The nearest that Codex has to each mode: when it asks, and its sandbox, as a thread and as a turn call it. Without a
mode it asks, whatever its own settings name for terminals."""
_PLAN = "plan"
_LEFT_COMMAND = "A command that it had begun may still be running. `sayso project stop` ends it, and the agent too."
_ACCEPT, _DECLINE = {"decision": "accept"}, {"decision": "decline"}
"""A plain yes, and never one for the rest of the session or a rule of Codex's; and a no after which it goes on."""


class CodexAdapter(Adapter):
    _thread = _turn = _version = ""
    """Its own names for the conversation and for the turn that goes on; and its version."""
    _model = _mode = ""
    """As the next turn is to have them."""
    _starts_with: PersonSaid | None = None
    """The message with which a turn was asked for that has not begun yet."""
    _accepted = ""
    """The turn that it was promised."""
    _is_stopping = False
    """Whether a turn was interrupted whose commands are yet to be ended."""
    _unsteerable = ""
    """The turn that takes no messages."""
    _plans = False
    """Whether the last turn was begun in its plan mode."""

    def begin(self) -> None:
        self._changes: dict[str, list[Json]] = {}
        """Of the files that it would change, by the item that does it."""
        self._shown: dict[RequestId, Json] = {}
        """Its requests to change files that people are asked about."""
        self._calls: dict[str, Json] = {}
        """Of tools of MCP servers, by the item that is the call."""
        self._to_interrupt: list[PersonSaid] = []
        """Interrupts that came before the turn was there."""
        self._commands: set[str] = set()
        """Those that the turn has begun and that have not ended, by their items."""
        self._steered: dict[str, PersonSaid] = {}
        """Messages that were sent into the turn and that its model has not been given yet, by their names."""
        self._chosen: dict[str, Any] = {}
        """What the next turn has otherwise than the last."""
        self._model, self._mode = self.order.model, self.order.mode
        client = {"name": "sayso", "title": "Sayso", "version": __version__}
        wanted = {"experimentalApi": True, "optOutNotificationMethods": list(_NOT_WANTED)}
        self.agent.request("initialize", {"clientInfo": client, "capabilities": wanted}, self._greeted, self.fail)

    def _greeted(self, _: Json) -> None:
        self.agent.notify("initialized")
        self.join()

    def join(self) -> None:
        """Have it begin the conversation, go on with it, or go on from a copy."""
        asks_when, sandbox, _for_turns = _MODES.get(self._mode, _ASKS)
        wanted = {"cwd": os.getcwd(), "approvalPolicy": asks_when, "sandbox": sandbox, "model": self._model}
        wanted = {name: value for name, value in wanted.items() if value}
        if self.order.copies:
            until = {"lastTurnId": self.order.copied_to} if self.order.copied_to else {}
            copied = {"threadId": self.order.copies, "excludeTurns": True, **until, **wanted}
            self.agent.request("thread/fork", copied, self._joined, self._not_joined)
        elif self.order.session:
            again = {"threadId": self.order.session, "excludeTurns": True, **wanted}
            self.agent.request("thread/resume", again, self._joined, self._not_joined)
        else:
            self.agent.request("thread/start", wanted, self._joined, self._not_joined)

    def _not_joined(self, why: str) -> None:
        begun = "go on with this conversation" if self.order.session or self.order.copies else "begin a conversation"
        self.fail(f"{self.order.label} could not {begun}: {shortened(why, 2_000)}")

    def _joined(self, result: Json) -> None:
        thread = result["thread"]
        self._thread, self._version = words(thread["id"]), words(thread.get("cliVersion"))
        self._model = words(result.get("model")) or self._model
        self.talk.session(self._thread)
        self._tell_model()
        self.agent.request("model/list", {}, self._tell_models)

    def _tell_models(self, result: Json) -> None:
        models = [model.get("model") for model in items(result.get("data")) if not model.get("hidden")]
        self.talk.tell(offers_event(models=models))

    def _tell_model(self) -> None:
        self.talk.event(EventKind.STARTED, model=self._model[:200], session=self._thread)

    # What a person says

    @property
    def takes_messages(self) -> bool:
        busy = self._starts_with is not None or self._is_stopping
        return bool(self._thread) and not busy and (not self._turn or self._turn != self._unsteerable)

    def send_message(self, said: PersonSaid) -> None:
        given = [*({"type": "image", "url": url} for url in said.pictures), {"type": "text", "text": said.text}]
        if self._turn:
            self._steered[said.name] = said
            named = {"expectedTurnId": self._turn, "clientUserMessageId": said.name}
            steered = {"threadId": self._thread, **named, "input": given}
            # Its yes says only that the turn keeps the message: whether its model was given it, an item says.
            self.agent.request("turn/steer", steered, failed=lambda _: self._not_steered(said))
            return
        self._starts_with = said
        chosen, self._chosen = self._chosen | self._collaboration(), {}
        wanted = {"threadId": self._thread, "input": given, **chosen, **self._named(said)}
        # Its reply says only that there will be a turn: until that has begun, it refuses to be interrupted.
        self.agent.request("turn/start", wanted, self._note_accepted, lambda why: self._not_started(said, why))
        if "model" in chosen:
            self._tell_model()

    def _named(self, said: PersonSaid) -> dict[str, str]:
        """What a turn is asked for with, where others may begin one too."""
        return {}

    def _collaboration(self) -> dict[str, Any]:
        """Its own plan mode, in which it can ask; and out of it."""
        before, self._plans = self._plans, self._mode == _PLAN
        if not before and not self._plans:
            return {}
        mode = "plan" if self._plans else "default"
        return {"collaborationMode": {"mode": mode, "settings": {"model": self._model}}}

    def _note_accepted(self, result: Json) -> None:
        self._accepted = words(mapping(result.get("turn")).get("id"))

    def _note_begun(self, turn: Json) -> None:
        self._turn = words(turn.get("id"))
        if self._starts_with:
            self.talk.taken(self._starts_with.name)
        self._starts_with = None
        waiting, self._to_interrupt = self._to_interrupt, []
        for each in waiting:
            self.interrupt(each)

    def _not_started(self, said: PersonSaid, why: str) -> None:
        self._give_up_start(said)
        self.talk.ended(shortened(why, 2_000))

    def _give_up_start(self, said: PersonSaid) -> None:
        """The turn is over before it was told to have begun, and with it whatever was to be interrupted."""
        self._starts_with = None
        self.talk.taken(said.name)
        waiting, self._to_interrupt = self._to_interrupt, []
        for each in waiting:
            self.talk.done(each.name)

    def _not_steered(self, said: PersonSaid) -> None:
        """The turn has ended, or is one that cannot be steered: another begins with it after that."""
        if self._steered.pop(said.name, None):
            self._unsteerable = self._turn
            self.keep(said)

    def _note_given(self, item: Json) -> None:
        """The model is given a message of a person's."""
        if self._steered.pop(name := words(item.get("clientId")), None):
            self.talk.taken(name)

    def _keep_steered(self) -> None:
        """The turn is over, and with it what it kept: another begins with that."""
        for said in reversed(self._steered.values()):
            self.keep(said)
        self._steered.clear()

    def interrupt(self, said: PersonSaid) -> None:
        if self._starts_with:
            self._to_interrupt.append(said)
            return
        if not self._turn:
            self.talk.done(said.name)
            return
        self._shown.clear()
        self.prompts.drop_all(INTERRUPTED)
        self.agent.request(
            "turn/interrupt",
            {"threadId": self._thread, "turnId": self._turn},
            lambda _: self.talk.done(said.name),
            lambda why: self.talk.done(said.name, refused=why),
        )

    def choose(self, said: PersonSaid) -> None:
        if said.what is Saying.MODEL:
            self._model = said.text
            self._chosen["model"] = said.text
        elif said.text != self._mode:
            if said.text not in _MODES:
                self.talk.done(said.name, refused=f"It has no mode {said.text}.")
                return
            self._mode = said.text
            asks_when, _, sandbox = _MODES[said.text]
            self._chosen["approvalPolicy"] = asks_when
            if sandbox:
                self._chosen["sandboxPolicy"] = {"type": sandbox}
        self.talk.done(said.name)

    # What the agent says

    def hear(self, method: str, params: Json) -> None:
        self._note_changes(method, params)
        if method == "serverRequest/resolved":
            self.let_go(params["requestId"], TAKEN_BACK)
            self.agent.forget(params["requestId"])
        elif params.get("threadId") in (None, self._thread):
            self._hear(method, params)

    def _note_changes(self, method: str, params: Json) -> None:
        """Also of the agents that this one has started: they ask in its name."""
        item = mapping(params.get("item"))
        match method:
            case "item/started" if isinstance(item.get("changes"), list):
                self._note_patch(item["id"], item["changes"])
            case "item/started" if item.get("type") == "mcpToolCall":
                self._calls[item["id"]] = item
            case "item/fileChange/patchUpdated" if isinstance(params.get("changes"), list):
                self._note_patch(params["itemId"], params["changes"])
            case "item/completed":
                self._changes.pop(item["id"], None)
                self._calls.pop(item["id"], None)

    def _note_patch(self, item: str, changes: list[Json]) -> None:
        """What people are asked about they are asked anew, should it be another change by now."""
        before, self._changes[item] = self._changes.get(item), changes
        for request, params in list(self._shown.items()):
            if params.get("itemId") == item and before != changes:
                self.let_go(request, CHANGED)
                self._ask_to_do(request, CHANGE, params)

    def let_go(self, request: RequestId, why: str) -> None:
        super().let_go(request, why)
        self._shown.pop(request, None)

    def _hear(self, method: str, params: Json) -> None:
        match method:
            case "turn/started":
                self._note_begun(mapping(params.get("turn")))
            case "turn/completed":
                self._end_turn(mapping(params.get("turn")))
            case "item/started":
                self._begin_item(mapping(params.get("item")))
            case "item/completed" if params.get("turnId") in (None, self._turn):
                self._commands.discard(mapping(params.get("item"))["id"])
                self.talk.tell(ended(mapping(params.get("item"))))
            case "item/completed":
                # A command that an earlier turn has left: what became of it belongs to nothing that this one did.
                pass
            case "item/agentMessage/delta":
                if text := words(params.get("delta")):
                    self.talk.event(EventKind.DELTA, text=text)
            case "turn/plan/updated":
                self.talk.tell(todo(items(params.get("plan"))))
            case _:
                self.talk.tell(notice(method, params))

    def _begin_item(self, item: Json) -> None:
        self._note_given(item)
        if item.get("type") == "commandExecution":
            self._commands.add(item["id"])
        self.talk.tell(begun(item))

    def _end_turn(self, turn: Json) -> None:
        if self._starts_with:
            self._give_up_start(self._starts_with)
        self._turn = ""
        self.prompts.drop_all(TURN_OVER)
        for known in (self._changes, self._calls, self._shown):
            known.clear()
        self._keep_steered()
        match turn.get("status"):
            case "interrupted" if self._commands:
                self._end_commands()
            case "interrupted":
                self.talk.ended("Interrupted.")
            case "failed":
                why = words(mapping(turn.get("error")).get("message")) or "The turn failed."
                self.talk.ended(shortened(why, 2_000))
            case _:
                self.talk.ended()
        self._commands.clear()

    def _end_commands(self) -> None:
        """Its interrupt leaves running what the turn has begun. What earlier turns have left is not touched."""
        self._is_stopping, of_turn = True, frozenset(self._commands)

        def end(listed: Json) -> None:
            left = [words(each["processId"]) for each in items(listed["data"]) if each["itemId"] in of_turn]
            self._terminate(left)

        def cannot(_: str) -> None:
            self._tell_of_left_command()
            self._terminate([])

        self.agent.request("thread/backgroundTerminals/list", {"threadId": self._thread}, end, cannot)

    def _terminate(self, left: Sequence[str]) -> None:
        """End these, one after the other; then the turn is over."""
        if not left:
            self._is_stopping = False
            self.talk.ended("Interrupted.")
            return

        def then(result: Json) -> None:
            if result.get("terminated") is not True:
                self._tell_of_left_command()
            self._terminate(left[1:])

        named = {"threadId": self._thread, "processId": left[0]}
        self.agent.request("thread/backgroundTerminals/terminate", named, then, lambda _: then({}))

    def _tell_of_left_command(self) -> None:
        self.talk.event(EventKind.NOTICE, text=_LEFT_COMMAND)

    # What the agent asks

    def be_asked(self, request: RequestId, method: str, params: Json) -> None:
        match method:
            case _ if method in (COMMAND, CHANGE):
                self._ask_to_do(request, method, params)
            case _ if method == QUESTIONS:
                self._put(request, _questions(params), (None, {"answers": {}}), params)
            case _ if asks_for_tool(method, params):
                make = tool_permission(params, list(self._calls.values()))
                self._put(request, make, (TOOL_ACCEPTED, TOOL_DECLINED), params)
            case _ if method == FORM:
                self.agent.answer(request, {"action": "decline"})
                self.talk.tell(notice(method, params))
            case _ if method == PERMISSIONS:
                self.agent.answer(request, {"permissions": {}, "scope": "turn"})
                self.talk.tell(notice(method, params))
            case _:
                self.agent.refuse(request, f"Sayso does not know {method}.")

    def _ask_to_do(self, request: RequestId, method: str, params: Json) -> None:
        if method == CHANGE:
            self._shown[request] = params
        changes = self._changes.get(words(params.get("itemId")), [])
        self._put(request, _permission(method, params, changes), (_ACCEPT, _DECLINE), params)

    def _put(
        self,
        request: RequestId,
        make: Callable[[Asker, Config, Desks], AskedPrompt],
        answers: tuple[Json | None, Json],
        params: Json,
    ) -> None:
        """`answers` are those that allow it and that do not; None: what people have answered is."""
        allow, refuse = answers
        who = AskingSession(client=NAME, title=TITLE, version=self._version, session=self._thread, pid=self.pid)

        def tell(verdict: GateVerdict) -> bool:
            self._shown.pop(request, None)
            if verdict.allowed:
                return self.agent.answer(request, verdict.given if allow is None else allow)
            return self._deny(request, refuse, verdict.message, params)

        self.prompts.put(request, who, make, tell)

    def _wanted(self, params: Json) -> str:
        """What it asked for, in the fewest words."""
        from sayso.gates.codex_asks import in_shell

        if command := words(params.get("command")):
            return in_shell(command)
        return ", ".join(words(change.get("path")) for change in self._changes.get(words(params.get("itemId")), []))

    def _deny(self, request: RequestId, refusal: Json, why: str, params: Json) -> bool:
        """Its answer has no place for words. They go first, as a message: it goes on as soon as it has the no."""
        if not why:
            return self.agent.answer(request, refusal)

        def refuse(_: Any) -> None:
            self.agent.answer(request, refusal)

        text = [{"type": "text", "text": words_about(self._wanted(params), why)}]
        told = {"threadId": params.get("threadId"), "expectedTurnId": params.get("turnId"), "input": text}
        self.agent.request("turn/steer", told, refuse, refuse)
        return True


def _permission(method: str, params: Json, changes: list[Json]) -> Callable[[Asker, Config, Desks], AskedPrompt]:
    from sayso.gates.client import OwnPrompt
    from sayso.gates.codex_asks import asked_action, takes_accept

    def make(asker: Asker, config: Config, desks: Desks) -> AskedPrompt:
        if not takes_accept(params):
            raise ValueError("it asks for more than this one thing")
        return asked_action(method, params, changes, Path.cwd(), OwnPrompt.NEVER, asker, config, desks)

    return make


def tool_permission(params: Json, calls: Sequence[Json]) -> Callable[[Asker, Config, Desks], AskedPrompt]:
    from sayso.gates.client import OwnPrompt
    from sayso.gates.codex_asks import asked_call, wanted_call

    def make(asker: Asker, config: Config, desks: Desks) -> AskedPrompt:
        return asked_call(wanted_call(params, calls), Path.cwd(), OwnPrompt.NEVER, asker, config, desks)

    return make


def _questions(params: Json) -> Callable[[Asker, Config, Desks], AskedPrompt]:
    from sayso.gates.codex_asks import AskedInput

    return lambda asker, config, desks: AskedInput(params, asker, config, desks)
