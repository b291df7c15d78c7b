"""Any agent that speaks the Agent Client Protocol, version 1: a JSON-RPC message a line on its standard streams.

A message that comes while it works waits until its turn is over, unless the agent is known to take it up at once. A
person's words to a no have no place in the protocol; they are the next thing that the agent is told.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.adapters import acp_asks
from sayso.adapters.acp_calls import AcpCall, FolderWords, action_of, asked_for, known_as, same_request
from sayso.adapters.acp_choices import offered
from sayso.adapters.acp_events import AcpEvents
from sayso.adapters.adapter import Adapter
from sayso.adapters.gemini_sessions import seconds_until_safe
from sayso.adapters.held_prompts import AskingSession
from sayso.adapters.line import PersonSaid
from sayso.adapters.rpc import Json, RequestId
from sayso.agents.acp import PROGRAMS
from sayso.agents.agent import commands_event, mapping, offers_event, words
from sayso.agents.model import EventKind, Saying
from sayso.dialects.approve import PLAIN_NO, Permission
from sayso.records import replace
from sayso.text import words_about

if TYPE_CHECKING:
    from sayso.asks.model import Asker
    from sayso.config import Config
    from sayso.desks import Desks
    from sayso.gates.client import GateVerdict
    from sayso.gates.prompts import AskedPrompt

VERSION = 1
ABLE: Json = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
"""Nothing: it reads and writes files itself, where the same permissions hold."""
INTERRUPTED, TURN_ENDED, CHANGED = "it was interrupted", "its turn has ended", "its agent asks for something else now"
NOT_ALL_OF_IT = "It asks before it has told the whole input of the tool."
_REASONS = {
    "max_tokens": "It stopped because the model has said as much as it may at once.",
    "max_turn_requests": "It stopped because it has asked the model as often as it may in one turn.",
    "refusal": "It refuses to go on.",
}
_HANDED_DOWN = ("ASK_USER_CONFIG", "SAYSO_")
"""How the names of those variables begin that the MCP server needs."""


class AcpAdapter(Adapter):
    def begin(self) -> None:
        self._program = PROGRAMS[self.order.agent]
        self._session, self._version, self._client = "", "", ""
        self._events, self._offered = AcpEvents(self._folder_words()), offered({})
        self._asked: set[RequestId] = set()
        """Its requests that wait for a verdict."""
        self._at_work = 0
        """Messages that it has not done with."""
        self._interrupted = False
        self._untold: list[str] = []
        """Words to a no that are to be told when the turn is over."""
        self._chosen: list[PersonSaid] = []
        """What was chosen before there was a session to choose it for."""
        self._shown: dict[RequestId, tuple[AcpCall, Json]] = {}
        """What people were shown of those."""
        self._early: dict[str, tuple[RequestId, Json]] = {}
        """Its requests about tools whose input it is yet to tell, by the use of the tool."""
        self._tells_history = self._takes_pictures = False
        greeting = {"protocolVersion": VERSION, "clientCapabilities": ABLE, "clientInfo": _ourselves()}
        self.agent.request("initialize", greeting, self._greeted, self._failed)

    def _folder_words(self) -> FolderWords:
        added = {self._program.adds_folder_as: os.getcwd()} if self._program.adds_folder_as else {}
        return FolderWords(chosen=self._program.folder_word, added=added)

    # The session

    def _greeted(self, result: Json) -> None:
        about, able = mapping(result.get("agentInfo")), mapping(result.get("agentCapabilities"))
        self._takes_pictures = mapping(able.get("promptCapabilities")).get("image") is True
        self._version = words(about.get("version"))
        self._client = self._program.client or words(about.get("name")) or "acp"
        if not self.order.session:
            self._begin_anew()
        elif mapping(able.get("sessionCapabilities")).get("resume") is not None:
            self._go_on("session/resume")
        elif able.get("loadSession") is True:
            self._load()
        else:
            self._begin_anew_without(f"{self.order.label} cannot go on with an earlier conversation.")

    def _load(self) -> None:
        loses_it = self._program.loses_young_sessions
        seconds = seconds_until_safe(self.order.session, time.time()) if loses_it else 0
        if not seconds:
            self._go_on("session/load")
            return
        self.do_later(seconds, self._load)
        if seconds > 1:
            why = f"{self.order.label} would lose a conversation that it takes up in the minute in which that began."
            self.talk.event(EventKind.NOTICE, text=f"{why} It goes on in {math.ceil(seconds)} s.")

    def _go_on(self, method: str) -> None:
        self._tells_history = method == "session/load" and self._program.tells_history_late
        params = {"sessionId": self.order.session, **self._place()}
        failed = partial(_told_why, self._begin_anew_without, f"{self.order.label} cannot go on where it was:")
        self.agent.request(method, params, partial(self._begun, self.order.session), failed)

    def _begin_anew_without(self, why: str) -> None:
        self.talk.event(EventKind.NOTICE, text=f"{why} It begins anew, and knows nothing of what was said before.")
        self._begin_anew()

    def _begin_anew(self) -> None:
        def begun(result: Json) -> None:
            self._begun(words(result.get("sessionId")), result)

        self.agent.request("session/new", self._place(), begun, self._failed)

    def _failed(self, why: str) -> None:
        self.fail(f"{self.order.label} could not begin: {why} {self.order.install}")

    def _place(self) -> Json:
        return {"cwd": os.getcwd(), "mcpServers": self._servers() if self._program.takes_servers else []}

    def _servers(self) -> list[Json]:
        if not self.order.server:
            return []
        first, *rest = self.order.server
        handed = {name: value for name, value in os.environ.items() if name.startswith(_HANDED_DOWN)}
        environment = [{"name": name, "value": value} for name, value in handed.items()]
        return [{"name": "ask-user", "command": first, "args": rest, "env": environment}]

    def _begun(self, session: str, result: Json) -> None:
        if not session:
            self._failed("it does not name its session.")
            return
        self._session, self._offered = session, offered(result)
        self.talk.session(session)
        self.talk.event(EventKind.STARTED, model=self._offered[Saying.MODEL].current, session=session)
        modes, models = (self._offered[what].names for what in (Saying.MODE, Saying.MODEL))
        known, pictures = self._program.known_modes(modes), self._takes_pictures
        self.talk.tell(offers_event(models=models, modes=known, pictures=pictures))
        if self.order.mode or "" in self._program.modes:
            self.choose(PersonSaid(what=Saying.MODE, name="", text=self.order.mode))
        if self.order.model:
            self.choose(PersonSaid(what=Saying.MODEL, name="", text=self.order.model))
        for said in self._chosen:
            self.choose(said)

    # What a person says

    @property
    def takes_messages(self) -> bool:
        return bool(self._session) and (self._at_work == 0 or self._program.steers)

    def send_message(self, said: PersonSaid) -> None:
        self.talk.taken(said.name)
        if said.pictures and not self._takes_pictures:
            text = f"{self.order.label} takes no pictures, so this message was not given to it. Send it without them."
            if self._at_work:
                self.talk.event(EventKind.NOTICE, text=text)
            else:
                self.talk.ended(text)
            return
        self._tell(said.text, said.pictures)

    def _tell(self, text: str, pictures: Sequence[str] = ()) -> None:
        self._at_work += 1
        self._interrupted = False
        words_of_it = {"type": "text", "text": text.encode(errors="replace").decode()}
        prompt = [*map(_image, pictures), words_of_it]
        params = {"sessionId": self._session, "prompt": prompt}
        self.agent.request("session/prompt", params, self._over, partial(self._over, {}))

    def interrupt(self, said: PersonSaid) -> None:
        if self._at_work:
            self._interrupted = True
            self._untold.clear()
            self.agent.notify("session/cancel", {"sessionId": self._session})
            # It waits for these, and ends its turn when it has them.
            self._take_back(INTERRUPTED)
        self.talk.done(said.name)

    def _take_back(self, why: str) -> None:
        for request in list(self._asked):
            self.let_go(request, why)
            self.agent.answer(request, acp_asks.CANCELLED)

    def let_go(self, request: RequestId, why: str) -> None:
        super().let_go(request, why)
        self._asked.discard(request)
        self._shown.pop(request, None)
        self._early = {call: waiting for call, waiting in self._early.items() if waiting[0] != request}

    def choose(self, said: PersonSaid) -> None:
        if not self._session:
            self._chosen.append(said)
            return
        choice, is_mode = self._offered[said.what], said.what is Saying.MODE
        wanted = self._program.modes.get(said.text, said.text) if is_mode else said.text
        # A model need not be in the list to be there.
        if wanted not in choice.names if is_mode else not choice.names:
            self._refuse(said, f"{self.order.label} has no such {said.what}. {choice.in_words()}")
            return
        params = {"sessionId": self._session, **choice.parameters(wanted)}
        self.agent.request(choice.method, params, partial(self._chose, said), partial(self._refuse, said))

    def _chose(self, said: PersonSaid, _: Json) -> None:
        self.talk.done(said.name)

    def _refuse(self, said: PersonSaid, why: str) -> None:
        if said.name:
            self.talk.done(said.name, why)
        else:
            self.talk.event(EventKind.NOTICE, text=f"{said.what.capitalize()} {said.text} was not set: {why}")

    # What the agent says

    def hear(self, method: str, params: Json) -> None:
        update = mapping(params.get("update"))
        if update.get("sessionUpdate") == "available_commands_update":
            self._tells_history = False
            self.talk.tell(commands_event(update.get("availableCommands")))
        # Before there is something to do, it tells what was said in earlier processes of the conversation.
        if method != "session/update" or not self._at_work or self._tells_history:
            return
        self.talk.tell(self._events.hear(update))
        call = self._events.known(update)
        if call.is_begun and (early := self._early.pop(call.id, None)):
            self._ask(*early)
        self._ask_anew(call)

    def _ask_anew(self, call: AcpCall) -> None:
        """What was asked about this use of a tool, should the agent have told more of it meanwhile."""
        for request, (shown, params) in list(self._shown.items()):
            if shown.id == call.id and not same_request(shown, self._asked_for(params)):
                self.let_go(request, CHANGED)
                self._ask(request, params)

    def _over(self, result: Json, failed: str = "") -> None:
        self._at_work -= 1
        if self._at_work:
            return
        self._tells_history = False
        self._take_back(TURN_ENDED)
        self.talk.tell(self._events.over())
        if self._untold:
            untold, self._untold = self._untold, []
            self._tell("\n".join(untold))
            return
        message = failed or _REASONS.get(words(result.get("stopReason")), "")
        self.talk.ended("Interrupted." if self._interrupted else message, cost_usd=self._events.cost_usd)
        self.move_on()

    # What the agent asks

    def be_asked(self, request: RequestId, method: str, params: Json) -> None:
        if method != "session/request_permission":
            raise LookupError(method)
        said = mapping(params.get("toolCall"))
        known = self._events.known(said)
        # What is asked about this very use of the tool is told with less than its input.
        will_be_told = self._events.has_told(known) and words(said.get("kind")) == known.kind
        if self._tells_more_of(known) and will_be_told and known.id not in self._early:
            self._asked.add(request)
            self._early[known.id] = request, params
        else:
            self._ask(request, params)

    def _tells_more_of(self, call: AcpCall) -> bool:
        return self._program.tells_input_later and not call.is_begun

    def _asked_for(self, params: Json) -> AcpCall:
        said = mapping(params.get("toolCall"))
        known = self._events.known(said)
        call = asked_for(known, said)
        return replace(call, unclear=call.unclear or NOT_ALL_OF_IT) if self._tells_more_of(known) else call

    def _is_own_question(self, call: AcpCall) -> bool:
        """Whether it would only ask the person, by the tool that its session was begun with."""
        named = bool(self.order.server) and call.name == self._program.ask_tool != ""
        return named and acp_asks.is_question(call)

    def _ask(self, request: RequestId, params: Json) -> None:
        said, options = mapping(params.get("toolCall")), params.get("options")
        call = self._asked_for(params)
        self.talk.tell(self._events.show(call))
        if self._is_own_question(call):
            self.agent.answer(request, acp_asks.yes(options))
        elif not acp_asks.takes_yes(options):
            text = f"{self.order.label} offers no way to allow just this, so it was not allowed: {call.title}"
            self.talk.event(EventKind.NOTICE, text=text)
            self._deny(request, call, options)
        else:
            self._asked.add(request)
            who = AskingSession(
                client=self._client,
                title=self.order.label,
                version=self._version,
                session=self._session,
                pid=self.pid,
            )
            self._shown[request] = call, params
            questions = acp_asks.questions_of(call, said)
            tell = partial(self._decided, request, call, options, questions)
            self.prompts.put(request, who, partial(self._prompt, call, questions), tell)

    def _prompt(
        self, call: AcpCall, questions: Permission | None, asker: Asker, config: Config, desks: Desks
    ) -> AskedPrompt:
        from sayso.gates.client import OwnPrompt, Prompt
        from sayso.gates.codex_asks import AskedAction
        from sayso.gates.prompts import AskedQuestions

        wanted = partial(action_of, call, Path.cwd(), self.order.label)
        prompt = Prompt(
            permission=questions or known_as(call),
            session=self._session,
            version=self._version,
            process=self.pid,
            folder=Path.cwd(),
            own_prompt=OwnPrompt.NEVER,
        )
        if questions:
            return AskedQuestions(prompt, asker, config, desks)
        return AskedAction(wanted, prompt, asker, config, desks)

    def _decided(
        self,
        request: RequestId,
        call: AcpCall,
        options: object,
        questions: Permission | None,
        verdict: GateVerdict,
    ) -> bool:
        """Whether it was taken."""
        self._asked.discard(request)
        self._shown.pop(request, None)
        if verdict.allowed:
            answers = {"answers": acp_asks.answers_by_place(questions, verdict.given)} if questions else {}
            return self.agent.answer(request, acp_asks.yes(options, **answers))
        if verdict.message not in ("", PLAIN_NO):
            self._untold.append(words_about(call.title, verdict.message))
        return self._deny(request, call, options)

    def _deny(self, request: RequestId, call: AcpCall, options: object) -> bool:
        self.talk.tell(self._events.deny(call))
        return self.agent.answer(request, acp_asks.no(options))


def _image(url: str) -> Json:
    """A picture that Talk hands over as a data URL."""
    media, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "image", "mimeType": media, "data": data}


def _told_why(then: Any, what: str, why: str) -> None:
    then(f"{what} {why}")


def _ourselves() -> Json:
    from sayso import __version__

    return {"name": "sayso", "title": "Sayso", "version": __version__}
