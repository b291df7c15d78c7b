"""One exact thing that an agent wants to do: which tool, with which whole input, in which real folder.

Two actions are the same only if their digests are equal. What people are shown is made of the action's own data and
of nothing else (`parts.py`), so that nothing is done that was not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from sayso.action_data import differences, digest_of
from sayso.asks.model import Ask, NewAsk, Outcome
from sayso.asks.quorum import Quorum
from sayso.permissions import words
from sayso.records import record, replace
from sayso.text import heading


class ActionKind(StrEnum):
    """What is in the data of an action."""

    COMMAND = "command"
    """`argv`, the `program` that its first word finds (its path, and where links lead from there; None where an earlier
    step of the sequence may bring it), `stdin`, `files`
    (contents by path), `environment` (what the call sets), what runs `first` (each an `argv` with its `program` and
    `folder`), `tool_file` (`path`, `sha256`), and the `sandbox` that all of it runs in, where there is
    one. A step of a sequence may also have `skipped_if`: the file whose being
    there (`exists`) or not (`missing`) makes it needless."""
    SEQUENCE = "sequence"
    """`steps`: each a whole action as data; and what runs `first`, `tool_file` and `sandbox`, as above."""
    SHELL = "shell"
    EDIT = "edit"
    """`input`, the `diff` against the file as it is, and the `file` (`path`, `sha256`) that was compared."""
    READ = "read"
    FETCH = "fetch"
    MCP = "mcp"
    PLAN = "plan"
    SERVER = "server"
    """`argv` that starts an MCP server, the `tools` that agents would see of it, whole, by their names, and the `diff`
    of those that were accepted before."""
    OTHER = "other"
    """`input`, the whole of it: so have all kinds that an agent's own tools come to; and, but for shell lines, where
    what it names by a link really `leads_to`, if it does."""


class AllowScope(StrEnum):
    """How far an allow goes."""

    ONCE = "once"
    """This action, by this call."""
    SESSION = "session"
    """The same action, for the rest of this session."""
    TOOL = "tool"
    """Every call of this tool, whatever its input, for the rest of this session, while its tool file is the same."""


@record
class Action:
    """`data` is plain JSON: all that will be done, by the fields of its kind."""

    kind: ActionKind
    tool: str
    folder: str
    data: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return digest_of(self.plain)

    @property
    def plain(self) -> dict[str, Any]:
        """The action as JSON data; `action_from` reads it."""
        return {"kind": self.kind.value, "tool": self.tool, "folder": self.folder, "data": dict(self.data)}

    @property
    def title(self) -> str:
        """What it is about, in one line that may be cut: enough to recognise it, never enough to decide."""
        about, tool = _subject(self), "Plan" if self.kind is ActionKind.PLAN else self.tool
        return heading(f"{tool}: {about}" if about else tool, 120)


def action_from(plain: Mapping[str, Any]) -> Action:
    return Action(kind=ActionKind(plain["kind"]), tool=plain["tool"], folder=plain["folder"], data=dict(plain["data"]))


# Actions and asks


def asking(
    new: NewAsk,
    action: Action,
    scopes: Sequence[AllowScope] = (AllowScope.ONCE,),
    *,
    takes_changes: bool = False,
    rules_say: str = "",
    asking_rules: Sequence[Mapping[str, Any]] = (),
    quorum: Quorum | None = None,
    subagent: str = "",
) -> NewAsk:
    """The ask for this permission. The first of the scopes is what a plain allow means. `takes_changes` says that the
    one who asks does what a person has made of the action's input; `rules_say` tells what the rules have to do with
    it, `asking_rules` are those that want it asked, and `quorum` says who has to agree: then to this one action alone.
    `subagent` is what the one who asks is called, where another agent has started it. It ends with its call."""
    if quorum:
        scopes = (AllowScope.ONCE,)
    wanted: dict[str, Any] = {
        "action": action.plain,
        "title": action.title,
        "scopes": [scope.value for scope in scopes],
    }
    if takes_changes:
        wanted["takes_changes"] = True
    if rules_say:
        wanted["rules_say"] = rules_say
    if asking_rules:
        wanted["asking_rules"] = [dict(rule) for rule in asking_rules]
    if subagent:
        wanted["subagent"] = subagent
    if quorum:
        wanted |= {"quorum": quorum.plain, "deciders": quorum.first_asked}
    times = [each for each in (new.timeout_ms, quorum.timeout_ms if quorum else None) if each]
    timeout_ms = min(times, default=None)
    return replace(new, wanted=wanted, digest=action.digest, bound=True, timeout_ms=timeout_ms)


def action_of(ask: Ask) -> Action | None:
    """What the agent wants to do; None where the ask is for no permission, or its texts were forgotten."""
    return action_from(ask.wanted["action"]) if ask.wanted else None


def original_of(ask: Ask) -> Mapping[str, Any]:
    """What the agent itself wants, as data: one of those who have to agree may have put something else in its place."""
    wanted = ask.wanted or {}
    found: Mapping[str, Any] = wanted.get("original") or wanted.get("action", {})
    return found


def scopes_of(ask: Ask) -> tuple[AllowScope, ...]:
    """How far an allow of it may go; the first is what a plain allow means."""
    return tuple(AllowScope(scope) for scope in ask.wanted["scopes"]) if ask.wanted else ()


def rules_say(ask: Ask) -> str:
    """What the rules have to do with a person being asked; empty where that is nothing."""
    return str((ask.wanted or {}).get("rules_say", ""))


def subagent_of(ask: Ask) -> str:
    """What the one who asks is called, where another agent has started it."""
    return str((ask.wanted or {}).get("subagent", ""))


def asking_rules(ask: Ask) -> Sequence[Mapping[str, Any]]:
    """The rules that want a person to be asked for it: each with its text, effect, level, file and line."""
    found: Sequence[Mapping[str, Any]] = (ask.wanted or {}).get("asking_rules", ())
    return found


def takes_changes(ask: Ask) -> bool:
    """Whether a person can edit what the agent wants to do, and then allow that."""
    wanted = ask.wanted or {}
    return wanted.get("takes_changes") is True and isinstance(wanted["action"]["data"].get("input"), Mapping)


def allowed_action(ask: Ask, outcome: Outcome) -> Action | None:
    """What was allowed: what was wanted, unless a person has changed it."""
    return action_from(outcome.changed) if outcome.changed else action_of(ask)


# What differs


def differing_parts(shown: Action, now: Action) -> tuple[str, ...]:
    """What is not as it was shown, in words for people and models; empty only for the same action."""
    return tuple(differences(shown.plain, now.plain))


def _shortened(subject: str, action: Action) -> str:
    return subject.removeprefix(f"{action.folder}/") if action.folder else subject


def _changed_paths(given: Mapping[str, Any], action: Action) -> str:
    """The files of a patch that changes several, and where one is moved."""
    changes = given.get("changes")
    known = [change for change in changes if isinstance(change, Mapping)] if isinstance(changes, list) else []
    told = ""
    for change in known:
        for key, before in (("path", ", " if told else ""), ("move_path", " → ")):
            if isinstance(path := change.get(key), str):
                told += before + _shortened(path, action)
    return told


def _first_line(markdown: str) -> str:
    """Of a text that is read as a whole, what it begins with."""
    first, _, more = markdown.strip().partition("\n")
    return first.lstrip("# ") + (" …" if more.strip() else "")


def _subject(action: Action) -> str:
    given = action.data.get("input")
    if isinstance(given, Mapping):
        named = (given.get(name) for name in words.SUBJECTS)
        subject = next((value for value in named if isinstance(value, str) and value.strip()), "")
        if action.kind is ActionKind.PLAN:
            return _first_line(subject)
        leads_to = action.data.get("leads_to", {}).get(subject)
        told = f"{_shortened(subject, action)} → {leads_to}" if leads_to else _shortened(subject, action)
        return told or _changed_paths(given, action)
    if action.kind is ActionKind.SEQUENCE:
        return words.steps(len(action.data["steps"]))
    argv = action.data.get("argv")
    return words.command_line(argv) if isinstance(argv, list) else ""
