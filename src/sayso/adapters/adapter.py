"""What adapters have in common: an agent's process on one side, Talk on the other, and its prompts in between.

A protocol is a subclass of `Adapter` in a module of its own, named in `__main__.py`. It greets the agent (`begin`),
sends a message when it can take one (`takes_messages`, `send_message`), makes events of what it says (`hear`) and
prompts of what it asks (`be_asked`, which calls `prompts.put`), and does the rest that a person can say (`interrupt`,
`choose`). It has

    self.talk      the line to Talk: events, the session, what was taken up or done, the end of a turn
    self.agent     JSON-RPC with the agent: requests with what is done with their results, answers
    self.prompts   what the agent asks, held until it is decided; dropped when the agent needs it no more

Nothing here blocks. A fault while the agent is heard is no decision: what it asked is refused.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from sayso import untrusted_json
from sayso.adapters.held_prompts import HeldPrompts
from sayso.adapters.line import PersonSaid, TalkLine
from sayso.adapters.rpc import FAULTS, Json, RequestId, Rpc
from sayso.agents.model import EventKind, Saying
from sayso.records import record

USED_TWICE = "another request of its agent has the same id"


@record
class AdapterOrder:
    """What an adapter is started with. `label` and `install` are for people; `asks`: whether people can be asked."""

    label: str
    install: str
    command: tuple[str, ...]
    session: str = ""
    """The agent's own name for the conversation that it is to go on with."""
    copies: str = ""
    """The same for one that it is to go on from in a copy."""
    copied_to: str = ""
    """The last step of that which is to be in the copy; empty: as far as it has come."""
    socket: str = ""
    """Where an agent listens that others have started; empty: one of our own is started by the command."""
    model: str = ""
    mode: str = ""
    asks: bool = False
    agent: str = ""
    """What projects call the agent by, where several speak the same protocol."""
    server: tuple[str, ...] = ()
    """The command of the MCP server that asks people, where the session is to be begun with it."""


class Adapter(ABC):
    def __init__(self, order: AdapterOrder, talk: TalkLine, agent: Rpc, prompts: HeldPrompts, pid: int) -> None:
        """`pid` is that of the agent's process."""
        self.order, self.talk, self.agent, self.prompts, self.pid = order, talk, agent, prompts, pid
        self._waiting: deque[PersonSaid] = deque()
        """Messages that the agent cannot take yet."""
        self._names: set[str] = set()
        self._due: tuple[float, Callable[[], None]] | None = None
        """What is to be done later, and when by the monotonic clock."""
        self.has_failed = False
        """Whether there is no use in going on."""

    @abstractmethod
    def begin(self) -> None:
        """Greet the agent, and have it begin or resume the conversation."""

    @property
    @abstractmethod
    def takes_messages(self) -> bool:
        """Whether a message can be sent now: to begin a turn, or into one where the agent can be steered."""

    @abstractmethod
    def send_message(self, said: PersonSaid) -> None:
        """Send it. Once the agent has taken it up, `talk.taken`; where it has not, `keep`."""

    @abstractmethod
    def interrupt(self, said: PersonSaid) -> None:
        """Have the turn end; then `talk.done`."""

    @abstractmethod
    def choose(self, said: PersonSaid) -> None:
        """A mode or a model, from the next turn on at the latest; then `talk.done`."""

    @abstractmethod
    def hear(self, method: str, params: Json) -> None:
        """A notification of the agent's."""

    @abstractmethod
    def be_asked(self, request: RequestId, method: str, params: Json) -> None:
        """A request of the agent's. What raises one of FAULTS is refused."""

    def let_go(self, request: RequestId, why: str) -> None:
        """Nobody is to decide about this request of the agent's any more."""
        self.prompts.drop(request, why)

    # What all of them do

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def is_of_talk(self, name: str) -> bool:
        """Whether this is the name of something that was said by way of Talk."""
        return name in self._names

    def say(self, said: PersonSaid) -> None:
        self._names.add(said.name)
        match said.what:
            case Saying.MESSAGE:
                self._waiting.append(said)
            case Saying.INTERRUPT:
                self.interrupt(said)
            case Saying.MODE | Saying.MODEL:
                self.choose(said)
        self.move_on()

    def keep(self, said: PersonSaid) -> None:
        """The agent has not taken this message: it is the next to be sent."""
        self._waiting.appendleft(said)

    def move_on(self) -> None:
        """Send what the agent can take by now."""
        while self._waiting and self.takes_messages:
            self.send_message(self._waiting.popleft())

    def do_later(self, seconds: float, what: Callable[[], None]) -> None:
        """One thing at a time."""
        self._due = time.monotonic() + seconds, what

    def rest(self) -> float | None:
        """Seconds until `look` has something to do; None: it has nothing."""
        return max(0.0, self._due[0] - time.monotonic()) if self._due else None

    def look(self) -> None:
        """Do what it is time for."""
        if self._due and self.rest() == 0:
            (_, what), self._due = self._due, None
            what()

    def fail(self, why: str) -> None:
        """The conversation cannot go on in this process."""
        self.talk.ended(why)
        self.has_failed = True

    def take(self, line: bytes) -> None:
        """One line of the agent's."""
        message = _parsed(line)
        if message is None:
            return
        method, request = message.get("method"), message.get("id")
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        try:
            if not isinstance(method, str):
                self.agent.take_reply(message)
            elif isinstance(request, RequestId) and not isinstance(request, bool):
                self._be_asked(request, method, params)
            else:
                self.hear(method, params)
        except FAULTS as error:
            print(f"sayso: {self.order.label} said what is not understood: {error!r}", file=sys.stderr)
        self.move_on()

    def _be_asked(self, request: RequestId, method: str, params: Json) -> None:
        if self.agent.is_asked(request):
            self._refuse_both(request)
            return
        self.agent.note_asked(request)
        try:
            self.be_asked(request, method, params)
        except FAULTS:
            self.agent.refuse(request, "Sayso does not understand this request.")
            raise

    def _refuse_both(self, request: RequestId) -> None:
        """Two requests with the same id: an answer to one of them would be one to the other."""
        self.let_go(request, USED_TWICE)
        self.agent.refuse(request, USED_TWICE)
        self.agent.note_asked(request)
        self.agent.refuse(request, USED_TWICE)
        text = f"{self.order.label} asked two things under one id, so both were refused."
        self.talk.event(EventKind.NOTICE, text=text)


def _parsed(line: bytes) -> Json | None:
    if not line.strip():
        return None
    try:
        message = untrusted_json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        print(f"sayso: not a message: {line[:200]!r}", file=sys.stderr)
        return None
    return message
