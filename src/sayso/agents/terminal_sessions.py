"""Sessions that people have begun with an agent in a terminal: what was last said in one, and whether it is in a turn.

Both are read from the file in which the agent keeps the session. That is looked for by the session's name in the
agent's own folder, as a plain file of this user's: nobody else says where it lies.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.agents.agent import items, mapping, shortened, words
from sayso.clock import Clock, now_ms
from sayso.file_events import IN_A_FILE, ON_THE_WAY

TAIL = 4 * 1024 * 1024
"""Bytes before its end from which a file is read."""
MOST_MESSAGES = 20
"""Those that are shown of one session."""
_MOST_KEPT = 500
_SESSION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_STEP = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}", re.ASCII)
"""What a step may be called: it becomes a word of the agent's command line, and agents can write to these files."""
QUEUE_PATIENCE = 10_000
"""Milliseconds within which a message that was queued in a terminal is begun with once the turn before it is over."""
_NOT_TYPED = ("<command-", "<local-command-", "<bash-", "<task-notification", "<system-reminder")
"""How texts begin that Claude Code notes as a person's, though a command of its own said them. What it was told
has a `promptSource`, and is no such text however it begins."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]")
"""What Claude Code leaves out of the names of its folders, which are those of projects."""
_INTERRUPTED = "[Request interrupted by user"
_FILLER = "<synthetic>", "No response requested."
"""The model and the words of what Claude Code notes after an interruption, so that somebody has answered: nobody said
that, and no terminal shows it."""
_BEGUN, _OVER = ("task_started", "turn_started"), ("task_complete", "turn_complete", "turn_aborted")
"""How Codex notes that a turn begins and that it is over."""
_SAID = ("UserMessage", "AgentMessage")


@dataclass(frozen=True, kw_only=True)
class TerminalMessage:
    """Something that was said in a session."""

    by_person: bool
    text: str
    at: int = 0
    step: str = ""
    """The agent's own name for the step of the session with which it was said."""


@dataclass(frozen=True, kw_only=True)
class TurnMark:
    """A turn began, or was over."""

    at: int
    begins: bool
    said_since: int
    """How many messages there are after it."""


@dataclass(frozen=True, kw_only=True)
class TerminalSession:
    """One session as its file tells it."""

    in_turn: bool
    messages: tuple[TerminalMessage, ...]
    begins: bool = False
    """Whether it is in a turn only because one is about to begin: so it seems for as long as QUEUE_PATIENCE."""
    steps: tuple[str, ...] = ()
    """The agent's own names for what has happened in it, in order: entries of Claude Code, turns of Codex."""
    turns: tuple[TurnMark, ...] = ()
    """When turns of Codex began and were over, the last one first."""

    @property
    def last_step(self) -> str:
        return self.steps[-1] if self.steps else ""

    @property
    def newest(self) -> tuple[TerminalMessage, ...]:
        """What is shown of it."""
        return self.messages[-MOST_MESSAGES:]

    def until(self, step: str) -> tuple[TerminalMessage, ...]:
        """What was last said in it, up to this step and with it."""
        return self._split(step)[0][-MOST_MESSAGES:]

    def since(self, step: str) -> tuple[TerminalMessage, ...]:
        """What was said in it after this step; nothing where that is not known."""
        return self._split(step)[1][:MOST_MESSAGES]

    def before(self, moment: int) -> tuple[TerminalMessage, ...]:
        """What was last said in it until then, without the turn that went on at that moment."""
        last = next((turn for turn in self.turns if turn.at <= moment), None)
        said = self.messages[: -last.said_since or None] if last and last.begins else self.messages
        return tuple(message for message in said if message.at <= moment)[-MOST_MESSAGES:]

    def step_at(self, moment: int) -> str:
        """How far it had come by then, as far as something was said; empty where that is not known."""
        return next((message.step for message in reversed(self.messages) if message.at <= moment), "")

    def between(self, moment: int, step: str) -> tuple[TerminalMessage, ...]:
        """What was last said in it after a moment, without what was said in this step."""
        later = (message for message in self.messages if message.at > moment and message.step != step)
        return tuple(later)[-MOST_MESSAGES:]

    def _split(self, step: str) -> tuple[tuple[TerminalMessage, ...], tuple[TerminalMessage, ...]]:
        later = set(self.steps[self.steps.index(step) + 1 :]) if step in self.steps else set()
        first = next((place for place, each in enumerate(self.messages) if each.step in later), len(self.messages))
        return self.messages[:first], self.messages[first:]


def read_session(
    agent: str, session: str, environ: Mapping[str, str] = os.environ, clock: Clock = now_ms
) -> TerminalSession | None:
    """A session of this user's; None where there is none of that name, or nothing of it can be read."""
    for path in session_files(agent, session, environ):
        if (lines := _last_lines(path)) is not None:
            return _claude(lines, clock()) if agent == "claude" else _codex(lines)
    return None


def session_files(agent: str, session: str, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Where a session of this user's may be kept."""
    return list(_places(agent, session, environ)) if _SESSION.fullmatch(session) else []


def places_to_watch(
    agent: str, session: str, project: str, environ: Mapping[str, str] = os.environ
) -> list[tuple[Path, int]]:
    """Where there will be news of a session, for `file_events`: its files, else the folder in which the first one, or
    what leads to it, is yet to come."""
    if found := session_files(agent, session, environ):
        return [(path, IN_A_FILE) for path in found]
    if not _SESSION.fullmatch(session) or (root := _root(agent, environ)) is None:
        return []
    today = datetime.now().strftime("%Y/%m/%d")  # as Codex names its folders, by the clock on the wall
    inside = _NOT_IN_NAMES.sub("-", project) if agent == "claude" else today
    deepest = next((folder for folder in (root / inside, *(root / inside).parents) if folder.is_dir()), None)
    return [(deepest, ON_THE_WAY)] if deepest else []


def stamp_of(files: Iterable[Path]) -> tuple[object, ...]:
    """Another one whenever one of these files has changed."""
    return tuple(_stamp_of(path) for path in files)


def _stamp_of(path: Path) -> tuple[int, ...] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


def _root(agent: str, environ: Mapping[str, str]) -> Path | None:
    """The folder in which an agent keeps its sessions."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    match agent:
        case "claude":
            return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
        case "codex":
            return Path(environ.get("CODEX_HOME") or home / ".codex") / "sessions"
    return None


def _places(agent: str, session: str, environ: Mapping[str, str]) -> Iterator[Path]:
    if (root := _root(agent, environ)) is None:
        return
    real = Path(os.path.realpath(root))
    for pattern in (f"*/{session}.jsonl",) if agent == "claude" else _codex_patterns(session):
        found = [path for path in root.glob(pattern) if real in Path(os.path.realpath(path)).parents]
        yield from found
        if found:
            return


def _codex_patterns(session: str) -> Iterator[str]:
    """First in the folder of the day on which it began, which its name tells, a UUID of version 7: there are many."""
    file = f"rollout-*-{session}.jsonl"
    # Who makes up a name may make up a time that is none.
    with suppress(ValueError, OverflowError):
        began = datetime.fromtimestamp(int(session.replace("-", "")[:12], 16) / 1000)
        # By the clock on the wall where it began.
        days = [began + timedelta(days=days) for days in (0, -1, 1)] if session[14] == "7" else []
        yield from (f"{day:%Y/%m/%d}/{file}" for day in days)
    yield f"*/*/*/{file}"


def _last_lines(path: Path) -> list[bytes] | None:
    """The whole lines at the end of a plain file that belongs to this user."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(file, "rb") as opened:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
            return None
        begin = max(0, about.st_size - TAIL)
        opened.seek(begin)
        lines = opened.read(TAIL).split(b"\n")
    return lines[1:-1] if begin else lines[:-1]


def _newest_first(lines: Sequence[bytes], *marks: bytes) -> Iterator[Mapping[str, Any]]:
    """The entries that have one of these in them, from the last one on; other ones may be large, and are not read."""
    for line in reversed(lines):
        if any(mark in line for mark in marks):
            try:
                yield mapping(untrusted_json.loads(line))
            except ValueError:
                continue


# Claude Code


_CLAUDES = (b'"type":"user"', b'"type":"assistant"', b'"subtype":"turn_duration"', b'"type":"queue-operation"')


def _claude(lines: Sequence[bytes], now: int) -> TerminalSession:
    entries = [entry for entry in _newest_first(lines, *_CLAUDES) if entry.get("isSidechain") is not True]
    states = (state for entry in entries if (state := _leaves_in_turn(entry)) is not None)
    at_work = next(states, False)
    begins = not at_work and _begins_next(entries, now)
    said = [message for entry in entries for message in _claude_message(entry)]
    steps = [_step(entry.get("uuid")) for entry in entries if entry.get("type") in ("user", "assistant")]
    in_order = tuple(filter(None, reversed(steps)))
    return TerminalSession(in_turn=at_work or begins, begins=begins, messages=_in_order(said), steps=in_order)


def _step(name: object) -> str:
    return name if isinstance(name, str) and _STEP.fullmatch(name) else ""


def _in_order(newest_first: Sequence[TerminalMessage]) -> tuple[TerminalMessage, ...]:
    return tuple(reversed(newest_first[:_MOST_KEPT]))


def _leaves_in_turn(entry: Mapping[str, Any]) -> bool | None:
    """Whether a turn goes on after this; None where it does not say."""
    message = mapping(entry.get("message"))
    match entry.get("type"):
        case "system":
            return False if entry.get("subtype") == "turn_duration" else None
        case "assistant":
            return message.get("stop_reason") in (None, "tool_use", "pause_turn")
        case "user" if "turnOrigin" in entry:
            return True
        case "user" if not _is_noted(entry):
            return not _is_interruption(entry)
    return None


def _begins_next(entries: Sequence[Mapping[str, Any]], now: int) -> bool:
    """Whether a message that was queued is about to be begun with. One that still waits long after the turn is left
    from a client that has died; one that was taken from the queue is noted a moment later."""
    if not entries or now - max(_moment(entry) for entry in entries[:MOST_MESSAGES]) > QUEUE_PATIENCE:
        return False
    waiting, is_taken = 0, False
    for entry in reversed(entries):
        match entry.get("type"), entry.get("operation"):
            case "queue-operation", "enqueue":
                waiting += 1
            case "queue-operation", operation:
                waiting = 0 if operation == "popAll" else max(0, waiting - 1)
                is_taken = operation == "dequeue"
            case "user", _ if _text_of(mapping(entry.get("message"))):
                is_taken = False
    return is_taken or waiting > 0


def _claude_message(entry: Mapping[str, Any]) -> Iterator[TerminalMessage]:
    text = _text_of(mapping(entry.get("message"))).strip()
    if text and not _is_noted(entry) and not _is_interruption(entry) and not _is_filler(entry):
        by_person, step = entry["type"] == "user", _step(entry.get("uuid"))
        yield TerminalMessage(by_person=by_person, text=shortened(text), at=_moment(entry), step=step)


def _is_noted(entry: Mapping[str, Any]) -> bool:
    """Whether it stands there as a person's, though nobody has said it."""
    if any(entry.get(mark) is True for mark in ("isMeta", "isCompactSummary")):
        return True
    if "promptSource" in entry:
        return words(entry["promptSource"]) == "system"
    return entry.get("type") == "user" and _text_of(mapping(entry.get("message"))).startswith(_NOT_TYPED)


def _is_interruption(entry: Mapping[str, Any]) -> bool:
    is_told = "promptSource" in entry or entry.get("type") != "user"
    return not is_told and _text_of(mapping(entry.get("message"))).startswith(_INTERRUPTED)


def _is_filler(entry: Mapping[str, Any]) -> bool:
    message = mapping(entry.get("message"))
    return (message.get("model"), _text_of(message).strip()) == _FILLER


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [words(part.get("text")) for part in items(content) if part.get("type") == "text"]
    return words(content) or "\n\n".join(filter(None, parts))


# Codex


def _codex(lines: Sequence[bytes]) -> TerminalSession:
    entries = [entry for entry in _newest_first(lines, b'"type":"event_msg"') if entry.get("type") == "event_msg"]
    kinds = [words(mapping(entry.get("payload")).get("type")) for entry in entries]
    states = [kind in _BEGUN for kind in kinds if kind in (*_BEGUN, *_OVER)]
    said = [message for entry in entries for message in _codex_message(entry)]
    turns = [turn for entry in reversed(entries) if (turn := _turn_of(entry))]
    in_turn = bool(states and states[0])
    return TerminalSession(
        in_turn=in_turn, messages=_in_order(said), steps=tuple(dict.fromkeys(turns)), turns=_turns(entries)
    )


def _turns(newest_first: Sequence[Mapping[str, Any]]) -> tuple[TurnMark, ...]:
    marks, said = list[TurnMark](), 0
    for entry in newest_first:
        kind = words(mapping(entry.get("payload")).get("type"))
        if kind in (*_BEGUN, *_OVER):
            marks.append(TurnMark(at=_moment(entry), begins=kind in _BEGUN, said_since=said))
        said += sum(1 for _ in _codex_message(entry))
    return tuple(marks)


def _turn_of(entry: Mapping[str, Any]) -> str:
    return _step(mapping(entry.get("payload")).get("turn_id"))


def _codex_message(entry: Mapping[str, Any]) -> Iterator[TerminalMessage]:
    payload = mapping(entry.get("payload"))
    item = mapping(payload.get("item"))
    text = "\n\n".join(filter(None, (words(part.get("text")) for part in items(item.get("content"))))).strip()
    if payload.get("type") == "item_completed" and item.get("type") in _SAID and text:
        by_person, step = item["type"] == "UserMessage", _turn_of(entry)
        yield TerminalMessage(by_person=by_person, text=shortened(text), at=_moment(entry), step=step)


def _moment(entry: Mapping[str, Any]) -> int:
    """When it was said, in milliseconds; 0 where that cannot be told."""
    try:
        return int(datetime.fromisoformat(words(entry.get("timestamp"))).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
