"""What an ask is made of, and which answers fit it. Plain frozen data: nothing here reads, writes or waits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from sayso.errors import MAX_TEXT, Problems, check_text
from sayso.records import asdict, fields, record, values
from sayso.text import quoted

_SLACK = 1000

_CANONICAL = json.JSONEncoder(sort_keys=True)
_WITH_RECORDS = json.JSONEncoder(
    ensure_ascii=False, default=lambda one: None if isinstance(one, bytes) else values(one)
)


class Kind(StrEnum):
    """How a question is answered."""

    TEXT = "text"
    SELECT = "select"
    MULTI_SELECT = "multi-select"
    CONFIRM = "confirm"


class State(StrEnum):
    """Where an ask stands. `TIMED_OUT` is the one end that a late answer can still change."""

    PENDING = "pending"
    ANSWERED = "answered"
    REJECTED = "rejected"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"

    @property
    def answerable(self) -> bool:
        return self in (State.PENDING, State.TIMED_OUT)


class Away(StrEnum):
    """Where the agent is while no call of it holds on to an ask, as far as that is known."""

    UNKNOWN = ""
    IN_FORM = "in its form"
    """Its client shows the ask in a form of its own, and calls again once that is closed."""
    AT_WORK = "at work"
    """It did not want to wait, or was told to come back for the answer."""


@record
class Attachment:
    """A picture or a file that goes with an answer or a question. What is in it lies in the store; its id is made of
    that, and so is what it is said to be."""

    id: str
    name: str = ""
    media: str = ""
    size: int = 0
    width: int = 0
    height: int = 0

    @property
    def is_picture(self) -> bool:
        return self.media.startswith("image/")


ATTACHED = "[Attached: "
"""How a line of a note begins that says where a file lies."""


@record
class NewAttachment:
    """An attachment with what is in it."""

    kept: Attachment
    data: bytes


@record
class Option:
    """One choice. Labels may repeat; the id keeps equal ones apart."""

    id: str
    label: str
    description: str = ""
    recommended: bool = False
    preview: str = ""
    """What it would look like, as text: code, or a drawing of a layout."""
    picture: Attachment | None = None
    """The same as a picture. Without an id it is as the agent has named it, and yet to be read."""

    @property
    def is_explained(self) -> bool:
        """Whether there is more to it than its label, which whoever chooses has to have seen."""
        return bool(self.description.strip() or self.preview.strip() or self.picture)

    @property
    def name(self) -> str:
        """The label without its own word that it is the recommended one, for those who have a sign of theirs for it."""
        return unmarked(self.label) if self.recommended else self.label


def unmarked(label: str) -> str:
    """A label without its own "(recommended)" at the end, if it has one."""
    text = label.rstrip()
    mark = next((mark for mark in _MARKS if text.lower().endswith(mark)), "")
    return text[: len(text) - len(mark)].rstrip() if len(mark) < len(text) else label


_MARKS = ("(recommended)", "[recommended]")


YES = Option(id="yes", label="Yes")
NO = Option(id="no", label="No")

DECISION = "decision"
"""The question of a permission whose options are ours."""
SAY_SO = "approve"
"""The id of the one question of a command that waits for a person's say-so."""
ALLOWING = ("yes", "allow", "always")
DENYING = ("no", "deny")
"""The ids of the options of a permission; all others are no decision."""


@record
class Question:
    """One thing to be told. Choices are the options; a confirm has the options yes and no."""

    id: str
    text: str
    kind: Kind = Kind.TEXT
    options: tuple[Option, ...] = ()
    title: str = ""
    required: bool = True
    placeholder: str = ""

    @property
    def choices(self) -> tuple[Option, ...]:
        return (YES, NO) if self.kind is Kind.CONFIRM else self.options

    @property
    def is_visual(self) -> bool:
        """Whether its options are to be looked at side by side."""
        return any(option.preview or option.picture for option in self.options)

    @property
    def takes_own_text(self) -> bool:
        return self.kind is not Kind.CONFIRM

    def option(self, option_id: str) -> Option | None:
        return next((option for option in self.choices if option.id == option_id), None)


@record
class Answer:
    """What a person said to one question: chosen option ids, their own text, pictures and files, or nothing
    (skipped)."""

    question: str
    chosen: tuple[str, ...] = ()
    text: str | None = None
    note: str = ""
    attachments: tuple[Attachment, ...] = ()

    @property
    def skipped(self) -> bool:
        return not self.chosen and self.text is None and not self.attachments


@record
class Asker:
    """Who asks: an agent's client, its session, where it works and as which process."""

    client: str = ""
    version: str = ""
    session: str = ""
    project: str = ""
    host: str = ""
    pid: int = 0
    started: str = ""
    """When `pid` began, as its system tells it: with the pid, the name of one process for ever."""
    leader: str = ""
    """The process that `pid` works for in its session of processes: what a shell there has started, with all that it
    starts in turn."""
    agent: str = ""
    """The name of the token an agent signed in with, when it came over HTTP."""
    owner: str = ""
    """The user whom this agent asks; empty: anyone who looks."""
    run: str = ""
    """The run of a headless agent that asks, when Sayso started it."""
    branch: str = ""
    """What was checked out in its project when it asked."""

    @property
    def source(self) -> str:
        """Names the one that may not have too much open: a token wherever it is used, else a run, else what one client
        does for one program that was started in a terminal, with however many processes and in however many projects.
        Empty where nothing is known of it."""
        if self.agent:
            return f"token {self.agent}"
        if self.run:
            return f"run {self.run}"
        if self.leader:
            return f"session {self.host} {self.leader} {self.client}"
        return f"process {self.host} {self.pid} {self.started}" if self.pid else ""

    @property
    def crowd(self) -> str:
        """Names those whose questions are told together when they are many: one source may be several clients, and
        work in several projects. Empty where nothing is known of it."""
        source = self.source
        return "\n".join((source, self.client, self.project)) if source else ""

    @property
    def identity(self) -> dict[str, str]:
        """What all calls of one agent have in common. A token names its agent wherever it comes from, by whatever
        proxy; without one, the machine is part of the name."""
        host = "" if self.agent else self.host
        return {"agent": self.agent, "client": self.client, "project": self.project, "host": host}

    def is_same_agent(self, other: Asker) -> bool:
        """Whether both are sessions of one agent. Queries say the same by the columns of `identity`."""
        return self.identity == other.identity

    def may_fetch_from(self, other: Asker) -> bool:
        """Whether it may fetch what the other asked, knowing its id: whatever client, in the same project, and with the
        same token where there is one."""
        return (self.agent, self.project) == (other.agent, other.project)


CLIENT_FORM = "client form"
"""The surface that is the client's own. What it brings is what the client says: nobody has signed in to it."""


ITS_CALL = "its own call"
"""The surface of a permission that ended with the call that wanted it, before anybody had decided."""
OUT_OF_TIME = "the call ran out of time (its client's limit)"
CALLED_OFF = "the call was cancelled"


@record
class Settler:
    """Who settles: a person on a surface. A page names each attempt, so that it can call it off."""

    person: str
    surface: str
    attempt: str = ""
    unopened: bool = False
    """Whether they decide in a list, without having opened it there."""
    account: str = ""
    """Who they are to the system, where nobody signs in: a person can call themselves anything there."""

    @property
    def known_as(self) -> str:
        """The name by which they count as somebody else than others."""
        return self.account or self.person


NOT_FETCHED = "nobody fetched it in time"


@record
class Outcome:
    """How an ask ended."""

    answers: tuple[Answer, ...] = ()
    reason: str = ""
    person: str = ""
    surface: str = ""
    late: bool = False
    verdict: str = ""
    """What was decided about a permission, for which action, and how far it goes: `permissions` writes and reads it."""
    digest: str = ""
    scope: str = ""
    changed: Mapping[str, Any] | None = None
    """The action that was allowed instead, where a person has changed it."""
    changed_title: str = ""
    """That action in one line."""
    void: str = ""
    """Why it counted for nothing in the end: what was allowed was no longer as it had been shown, or NOT_FETCHED."""
    noted: str = ""
    """What the client's own record says: that its own prompt was first. Agents can write there, so that this changes
    nothing of what people said."""

    @property
    def why(self) -> str:
        """Why it ended so, as far as anybody has said so."""
        return self.reason if self.void == NOT_FETCHED else self.void or self.reason


@record
class Wait:
    """One call holding on to an ask, in one process."""

    id: str
    process: str
    since: int
    until: int | None = None


@record
class NewAsk:
    """An ask as a dialect has read it from a call, before the desk has opened it."""

    tool: str
    questions: tuple[Question, ...]
    asker: Asker
    title: str = ""
    timeout_ms: int | None = None
    bound: bool = False
    """Of use to the one call that puts it: no other call takes it up, and it ends with its wait."""
    call_limit_ms: int | None = None
    """How long the client lets a call last, where the agent then has to call again."""
    wanted: Mapping[str, Any] | None = None
    """What the agent wants to do, if this asks for a permission: the whole action as plain data, which `permissions`
    writes and reads, with its digest."""
    digest: str = ""

    files: tuple[NewAttachment, ...] = ()
    """What is in the pictures of its options."""

    @property
    def wait_ms(self) -> int | None:
        """How long its call waits before the ask times out. A limit of the client's that comes first ends the call
        alone: the next one starts a wait of its own, so that nothing is certain about its end."""
        cut_short = self.call_limit_ms and self.timeout_ms and self.call_limit_ms < self.timeout_ms
        return None if cut_short else self.timeout_ms

    @cached_property
    def fingerprint(self) -> str:
        """Equal for calls that ask the same person the same: same agent, project, tool and questions, whatever ids
        were made up."""
        asked = [{**plain_question(question), "id": ""} for question in self.questions]
        who = [*self.asker.identity.values(), self.asker.owner]
        canonical = _CANONICAL.encode([self.tool, who, self.title, asked])
        # Only now: servers list their tools without it.
        from sayso.hashes import sha256

        return sha256(canonical.encode())


@record
class Ask:
    """One set of questions put to a person. Times are milliseconds since 1970."""

    id: str
    call_id: str
    tool: str
    questions: tuple[Question, ...]
    asker: Asker
    created_at: int
    changed_at: int
    title: str = ""
    timeout_ms: int | None = None
    state: State = State.PENDING
    version: int = 1
    wait: Wait | None = None
    outcome: Outcome | None = None
    ended_at: int | None = None
    delivered_at: int | None = None
    bound: bool = False
    server: str = ""
    """The process of ours through which its session last asked for it."""
    away: Away = Away.UNKNOWN
    wanted: Mapping[str, Any] | None = None
    digest: str = ""

    @property
    def delivered(self) -> bool:
        """Whether nobody is to be told of it any more: the agent has it, or it has lapsed."""
        return self.delivered_at is not None

    @property
    def lapsed(self) -> bool:
        """Whether nobody fetched its outcome as long as that could be fetched."""
        return self.outcome is not None and self.outcome.void == NOT_FETCHED

    @property
    def received(self) -> bool:
        """Whether the agent has its outcome."""
        return self.delivered and not self.lapsed

    @property
    def is_permission(self) -> bool:
        """Whether a yes lets an agent do something at once. No reflex may give that yes, on any surface."""
        only = self.questions[0] if len(self.questions) == 1 else None
        return (
            self.wanted is not None
            or self.bound
            or (only is not None and only.id == SAY_SO and only.kind is Kind.CONFIRM)
        )

    @property
    def confirms(self) -> bool:
        """Whether it asks for a yes or no, among other things."""
        return any(question.kind is Kind.CONFIRM for question in self.questions)

    @property
    def attended(self) -> bool:
        """Whether an agent waits for it right now."""
        return self.state is State.PENDING and self.wait is not None

    @property
    def expected_at(self) -> str:
        """The process through which the agent will come for it, while it is away; empty where nobody will."""
        over = self.delivered or self.state in (State.EXPIRED, State.SUPERSEDED)
        return self.server if self.away and not self.wait and not over else ""

    @property
    def withdrawn(self) -> str:
        """What happened instead, where whoever asked did not want to know any more; nobody is told of it."""
        return self.outcome.reason if self.outcome and self.state is State.CANCELLED else ""

    @property
    def let_go(self) -> bool:
        """Whether its own call took it back: nobody has decided, whatever `withdrawn` says of why."""
        return bool(self.outcome and self.state is State.CANCELLED and self.outcome.surface == ITS_CALL)

    @property
    def ran_out(self) -> bool:
        """Whether its time was over when it ended. The asker's clock and ours differ a little."""
        return bool(self.timeout_ms and self.ended_at and self.ended_at - self.created_at > self.timeout_ms - _SLACK)

    @property
    def abandoned(self) -> bool:
        """Whether it ended because nobody was left whom a decision could reach, and not because its time was over."""
        return self.bound and self.state is State.EXPIRED and not self.ran_out

    def question(self, question_id: str) -> Question | None:
        return next((question for question in self.questions if question.id == question_id), None)

    def answer(self, question_id: str) -> Answer | None:
        answers = self.outcome.answers if self.outcome else ()
        return next((answer for answer in answers if answer.question == question_id), None)

    def pictures(self) -> Iterator[Attachment]:
        """Those that came with its options."""
        for question in self.questions:
            yield from (option.picture for option in question.options if option.picture)

    def attachments(self) -> Iterator[Attachment]:
        """Those that went with the answers."""
        for answer in self.outcome.answers if self.outcome else ():
            yield from answer.attachments

    def words(self) -> Iterator[str]:
        """Every text of it that people read and write."""
        yield self.title
        for question in self.questions:
            yield from (question.title, question.text)
            for option in question.options:
                yield from (option.label, option.description, option.preview)
        if self.wanted:
            yield from (text for _, text in texts_in("", self.wanted))
        if self.outcome:
            yield self.outcome.reason
            for answer in self.outcome.answers:
                yield from (answer.text or "", answer.note)
            yield from (each.name for each in self.attachments())


@record
class Event:
    """One line of an ask's history: what happened to it, by whom, from where."""

    ask: str
    version: int
    at: int
    kind: str
    before: State | None
    after: State
    person: str = ""
    surface: str = ""
    detail: str = ""


def check_texts(new: NewAsk) -> None:
    """Refuse an ask with a text that cannot be kept; every one is named."""
    problems = Problems()
    for path, text in () if _can_be_kept(new) else texts_in("", asdict(new)):
        check_text(problems, path, text)
    if any(option.picture and not option.picture.id for question in new.questions for option in question.options):
        problems.add("options", "no pictures can be shown this way. Leave `image` out.")
    problems.check()


def _can_be_kept(new: NewAsk) -> bool:
    """Whether that is certain of all texts at once. Nearly always it is, and this takes a tenth of the time."""
    try:
        return len(_WITH_RECORDS.encode(new).encode()) <= MAX_TEXT
    except UnicodeEncodeError:
        return False


def texts_in(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_in(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from texts_in(f"{path}[{place}]", inner)


NOTE_BESIDE_ALLOW = (
    "an agent that is allowed something is told nothing else, so your note would not reach it. Leave the note out, or "
    "do not allow this: then the agent gets your words."
)


PERMISSION_TAKES_NONE = "a permission takes no pictures or files: it is allowed or denied as it is."


def fit(ask: Ask, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """The answers in the order of the questions, one each; an InvalidInput naming every one that does not fit."""
    problems = Problems()
    given = {answer.question: answer for answer in answers}
    for unknown in sorted(given.keys() - {question.id for question in ask.questions}):
        known = ", ".join(quoted(question.id) for question in ask.questions)
        problems.add(f"answers[{quoted(unknown)}]", f"there is no such question. The questions are {known}.")
    fitted = tuple(given.get(question.id, Answer(question=question.id)) for question in ask.questions)
    for number, (question, answer) in enumerate(zip(ask.questions, fitted, strict=True), start=1):
        for text in _misfits(question, answer):
            problems.add(f"question {number} ({quoted(question.id)})", text)
        if ask.is_permission and answer.note and set(answer.chosen) & set(ALLOWING):
            problems.add(f"question {number} ({quoted(question.id)})", NOTE_BESIDE_ALLOW)
        if ask.is_permission and answer.attachments:
            problems.add(f"question {number} ({quoted(question.id)})", PERMISSION_TAKES_NONE)
        for text in (answer.text or "", answer.note):
            check_text(problems, f"question {number} ({quoted(question.id)})", text)
    problems.check()
    return fitted


def _misfits(question: Question, answer: Answer) -> Iterator[str]:
    labels = ", ".join(quoted(option.label) for option in question.choices)
    for chosen in answer.chosen:
        if question.option(chosen) is None:
            yield f"{quoted(chosen)} is not one of its options. They are {labels}."
    if len(set(answer.chosen)) < len(answer.chosen):
        yield "the same option is chosen twice."
    if question.required and (answer.skipped or (not answer.chosen and not question.takes_own_text)):
        yield "an answer is required." + (f" Choose from {labels}." if labels else "")
    if answer.text is not None and not answer.text.strip():
        yield "the answer's own text is empty. Write something, or leave it out."
    if answer.text is not None and not question.takes_own_text:
        yield f"it takes yes or no, not {quoted(answer.text)}."
    if question.kind is not Kind.MULTI_SELECT and len(answer.chosen) + (answer.text is not None) > 1:
        yield "only one choice is allowed."


def asker_from_json(data: Mapping[str, Any]) -> Asker:
    """Fields that a newer program has added are left out."""
    known = fields(Asker)
    return Asker(**{name: value for name, value in data.items() if name in known})


def plain_question(question: Question) -> dict[str, Any]:
    """A question as plain data, in which options have no previews and pictures where there are none."""
    options = [
        {name: value for name, value in asdict(option).items() if value or name not in ("preview", "picture")}
        for option in question.options
    ]
    return {**values(question), "options": options}


def question_from_json(data: Mapping[str, Any]) -> Question:
    options = tuple(_option_from_json(option) for option in data["options"])
    return Question(**{**data, "kind": Kind(data["kind"]), "options": options})


def _option_from_json(data: Mapping[str, Any]) -> Option:
    picture = data.get("picture")
    return Option(**{**data, "picture": Attachment(**picture) if picture else None})


def outcome_from_json(data: Mapping[str, Any]) -> Outcome:
    return Outcome(**{**data, "answers": tuple(_answer_from_json(answer) for answer in data["answers"])})


def _answer_from_json(data: Mapping[str, Any]) -> Answer:
    attachments = tuple(Attachment(**each) for each in data.get("attachments", ()))
    return Answer(**{**data, "chosen": tuple(data["chosen"]), "attachments": attachments})
