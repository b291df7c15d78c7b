"""What a project, a run and its events are. Plain frozen data: nothing here reads, writes or starts anything."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from sayso.records import field, record, replace
from sayso.running.folder import DetachedProcess

SHORTEST_WAIT, LONGEST_WAIT = 30, 900
"""Seconds between which a project may set how long its agents wait for an answer."""

PERMISSION_MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


@record
class Options:
    """How agents run in one project. `ask_user_timeout` is in seconds; None: as the settings say."""

    agent: str = "claude"
    ask_user: bool = True
    ask_user_timeout: int | None = None
    model: str = ""
    permission_mode: str = ""
    command: tuple[str, ...] = ()
    """What starts an agent that speaks ACP; empty: as it is known."""
    worktree: bool = False
    """Whether conversations begin in a working tree of their own, unless somebody says otherwise."""
    added_below: str = ""
    """The allowed folder below which it was added from the page; empty: from the command line."""


@record
class RunChoices:
    """What a person has chosen for the rest of a conversation; where nothing, the project's options hold."""

    model: str = ""
    permission_mode: str = ""
    directory: str = ""
    """Where its agent works, if not in the project's own folder: in a working tree of its own."""
    copies: str = ""
    """The session in a terminal, by the agent's own name, that the conversation goes on from: in a copy, so that two
    never write to one."""
    copied_to: str = ""
    """The last step of that session which is in the copy; empty: as far as it had come when it was copied."""
    began_from: str = ""
    """The session that it was taken over from, once it was handed back, and so is to be copied from another."""
    began_to: str = ""
    """The last step of that session which was in the copy."""
    joins: str = ""
    """The session in a terminal that the conversation is a part of: what is said here is said there, by the server
    that both share."""
    server: str = ""
    """Where that server listens."""


@record
class Project:
    """A directory in which the page may start agents for its owner, on one machine."""

    id: int
    owner: str
    host: str
    directory: Path
    name: str
    options: Options
    created_at: int


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"

    @property
    def ended(self) -> bool:
        return self is not RunState.RUNNING


@record
class Ending:
    """How a run ended, in a sentence; `cost_usd` is the agent's own count, if it has one, which may include what
    earlier turns cost (see `costs`)."""

    message: str = ""
    exit_code: int | None = None
    cost_usd: float | None = None
    turns: int | None = None


@record
class Picture:
    """A picture that somebody sends, or that an agent reads or makes."""

    media: str
    data: bytes


@record
class NewRun:
    """A turn that is to be started. Without a conversation it begins one, without a line a process of its own. Without
    choices those of the turn before hold. With the id of a message that was
    queued, that one does not wait any more, and is the prompt if there is no other."""

    project: Project
    prompt: str
    token: str
    conversation: str = ""
    attempt: str = ""
    line: str = ""
    choices: RunChoices | None = None
    pictures: tuple[Picture, ...] = ()
    queued: str = ""


@record
class Run(DetachedProcess):
    """One turn of a headless agent. The token names its stream to the relay, and is empty once the run has ended."""

    project: Project
    user: str
    conversation: str
    turn: int
    token: str
    agent: str
    session: str
    """The agent's own name for the conversation, by which the next turn resumes it."""
    prompt: str
    started_at: int
    state: RunState = RunState.RUNNING
    ending: Ending | None = None
    stopped_by: str = ""
    seen: int = 0
    """Bytes of its output that have become events."""
    line: str = ""
    """The run that started the agent's process, in whose folder it lies: this one, or an earlier turn."""
    said: int = 0
    """The number of the last thing that was said to that process."""
    untaken: int = 0
    """How many messages it has not yet taken up."""
    choices: RunChoices = RunChoices()

    @property
    def options(self) -> Options:
        """How its agent runs: as was chosen, else as its project says."""
        options, chosen = self.project.options, self.choices
        mode = chosen.permission_mode or options.permission_mode
        return replace(options, model=chosen.model or options.model, permission_mode=mode)

    @property
    def directory(self) -> Path:
        """Where its agent works."""
        return Path(self.choices.directory) if self.choices.directory else self.project.directory

    @property
    def has_worktree(self) -> bool:
        return bool(self.choices.directory)

    @property
    def to_copy(self) -> str:
        """The session that is yet to be copied before its agent can go on; empty once it has one of its own."""
        if self.choices.joins:
            return ""
        return self.choices.copies if self.session in ("", self.choices.copies) else ""

    @property
    def taken_from(self) -> tuple[str, str]:
        """The session in a terminal that a conversation was taken over from, and the last step that was copied, if this
        is its first turn."""
        chosen = self.choices
        return (chosen.began_from, chosen.began_to) if self.is_handed_back else (chosen.copies, chosen.copied_to)

    @property
    def is_handed_back(self) -> bool:
        """Whether its session is left to a terminal: whoever writes here again goes on in a copy."""
        return bool(self.session) and self.session == self.choices.copies

    @property
    def is_unbidden(self) -> bool:
        """Whether nobody's message here began it: the agent did, or somebody at a terminal."""
        return not self.prompt

    @property
    def only_takes_over(self) -> bool:
        """Whether it began without a message: its agent is to be there when one comes."""
        return self.is_unbidden and self.line == self.id

    def lasted_ms(self, now: int) -> int:
        return (self.ended_at or now) - self.started_at


class EventKind(StrEnum):
    """What happened in a run. The keys of each event's body are named here."""

    STARTED = "started"
    """`model`, `session`: the agent is there."""
    DELTA = "delta"
    """`text`: more of a text that is still being written; gone once the whole of it is there."""
    TEXT = "text"
    """`text`: a whole text in Markdown."""
    THINKING = "thinking"
    """`text`."""
    TOOL = "tool"
    """`id`, `name`, `input`: the agent uses a tool; `title` where it calls that by no name; `diff` of what it changes,
    if the agent has told that otherwise."""
    TOOL_RESULT = "tool_result"
    """`id`, `text`, `error`: what came of it; `denied` where it is the agent that says so."""
    ASK = "ask"
    """`ask`: the id of an ask that a person can settle, relayed or not."""
    SAID = "said"
    """`number`, `what`, `text`, `by`: a person said it to the agent at work. `what` is a value of Saying."""
    TAKEN = "taken"
    """`number`, `message`: the agent has taken up what has this number, and whether that is a message."""
    USAGE = "usage"
    """`used`, `window`: tokens of its context that are in use, and that there are; either may be missing."""
    COMMANDS = "commands"
    """`commands`: those that the agent knows, each with its `name` and what it is `about`."""
    OFFERS = "offers"
    """`models`, `modes`, `takes_pictures`: what can be chosen of the agent and sent to it, as far as it tells."""
    PICTURES = "pictures"
    """The pictures that came with the prompt."""
    ELSEWHERE = "elsewhere"
    """`text`, `by_person`: said in the terminal that shares the session, or goes on with it."""
    NOTICE = "notice"
    """`text`: something that Sayso says about the run."""
    RESULT = "result"
    """`cost_usd`, `duration_ms`, `turns`, `error`, `text`: the agent's own account of the whole turn."""


class Saying(StrEnum):
    """What a person can say to an agent at work."""

    MESSAGE = "message"
    INTERRUPT = "interrupt"
    MODE = "mode"
    MODEL = "model"


@record
class Spoken:
    """Something that is said to an agent: a message, the name of a mode or of a model."""

    what: Saying
    text: str = ""
    begins: bool = False
    """Whether it begins a turn."""
    pictures: tuple[Picture, ...] = ()


@record
class NewEvent:
    """Something that happened, before it has its place in the run."""

    kind: EventKind
    body: Mapping[str, Any] = field(default_factory=dict)
    """Where there are pictures, `pictures` counts them."""
    pictures: tuple[Picture, ...] = ()
    """Only as long as the event is new: they are kept apart, and read one by one."""


@record
class RunEvent(NewEvent):
    """One event of a run; `seq` counts from 1 and only ever rises, though numbers may be missing."""

    run: str
    seq: int
    at: int


@record
class Marks:
    """What a person has made of a conversation. Without a title it is called by how it began; one that was never seen
    is not new either."""

    title: str = ""
    archived_at: int | None = None
    seen_at: int = 0


@record
class Conversation:
    """A conversation as it is listed: what it began with, its latest turn, and what the person has made of it."""

    id: str
    first_prompt: str
    latest: Run
    events: int = 0
    """How many the latest turn has had so far."""
    marks: Marks = Marks()

    @property
    def is_unread(self) -> bool:
        """Whether it has ended since the person last saw it."""
        return bool(self.marks.seen_at and self.latest.ended_at and self.latest.ended_at > self.marks.seen_at)


@record
class ConversationStamp:
    """How far a conversation has come: another one whenever a turn, an event or a queued message has come or changed.
    `latest` is the id of its last turn."""

    latest: str
    seen: tuple[object, ...]
