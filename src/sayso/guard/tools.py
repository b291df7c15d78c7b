"""The tools of a guarded server: as it lists them now, and as a person has accepted them.

What a model is told of a tool comes from the server, which may change its mind at any time. So a client sees a tool
only as it was accepted. One small file for each server in the state, because tools are listed before the store is
opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sayso import untrusted_json
from sayso.action_data import canonical
from sayso.clock import now_ms
from sayso.files import replace_file
from sayso.guard.calls import GuardedServer
from sayso.guard.reading import has_ambiguities
from sayso.protocol.messages import Json
from sayso.records import field, record

Tools = Mapping[str, Json]


@record
class Acceptance:
    """What was accepted of one server, by whom and when. The tools are whole, as it listed them."""

    name: str
    command: tuple[str, ...]
    tools: Tools = field(default_factory=dict)
    person: str = ""
    at: int = 0


class AcceptedTools:
    """The notes of what was accepted, by name and command, in a folder of the state."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, server: GuardedServer) -> Acceptance:
        found = _read(self._record(server.name, server.command))
        if found and (found.name, found.command) == (server.name, server.command):
            return found
        return Acceptance(name=server.name, command=server.command)

    def all(self) -> list[Acceptance]:
        found = [accepted for record in sorted(self._folder.glob("*.json")) if (accepted := _read(record))]
        return sorted(found, key=lambda accepted: (accepted.name, accepted.command))

    def accept(self, server: GuardedServer, tools: Tools, person: str) -> None:
        """Take these tools, as they are now, for what the server offers; others that were accepted stay so."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        note = {
            "name": server.name,
            "command": list(server.command),
            "person": person,
            "at": now_ms(),
            "tools": {**self.of(server).tools, **tools},
        }
        replace_file(self._record(server.name, server.command), (json.dumps(note) + "\n").encode())

    def _record(self, name: str, command: Sequence[str]) -> Path:
        import hashlib  # only now: it takes its time to import

        named = hashlib.sha256(canonical([name, *command]).encode()).hexdigest()[:32]
        return self._folder / f"{named}.json"


def _read(record: Path) -> Acceptance | None:
    """What a note says. One that is not as it should be says nothing: doubt is a no."""
    try:
        data = untrusted_json.loads(record.read_bytes())
        return Acceptance(
            name=str(data["name"]),
            command=tuple(str(word) for word in data["command"]),
            tools={str(name): dict(tool) for name, tool in data["tools"].items()},
            person=str(data["person"]),
            at=int(data["at"]),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


class ListedTools:
    """The tools of a server as far as it has listed them, against what was accepted of it."""

    def __init__(self, accepted: Tools) -> None:
        self.accepted = accepted
        self.is_known = False
        """Whether the server has listed all of them, and has not said since that they changed."""
        self._listed: dict[str, Json] = {}

    def take(self, tools: Iterable[object], more: object) -> None:
        """A page of its list, and what leads to the next one."""
        self._listed |= {tool["name"]: tool for tool in _tools(tools)}
        if not more:
            self.is_known = True

    def shown(self, tools: Iterable[object]) -> list[Json]:
        """What the client is shown of a page: what was accepted, each as it was accepted."""
        names = dict.fromkeys(tool["name"] for tool in _tools(tools))
        return [self.accepted[name] for name in names if name in self.accepted]

    def is_accepted(self, name: str) -> bool:
        """Whether the tool is there, as it was accepted."""
        return name in self._listed and name in self.accepted and _same(self._listed[name], self.accepted[name])

    def is_listed(self, name: str) -> bool:
        return name in self._listed

    @property
    def unaccepted(self) -> dict[str, Json]:
        """What nobody has accepted as it is now."""
        return {name: tool for name, tool in self._listed.items() if not self.is_accepted(name)}


def offer_action(server: GuardedServer, accepted: Tools, offered: Tools) -> Json:
    """That a client is shown these tools, as the data of an action: the command, what is new, and what has changed."""
    data: Json = {"argv": list(server.command), "tools": dict(offered)}
    changed = {name: tool for name, tool in offered.items() if name in accepted}
    if changed:
        data["diff"] = "".join(_difference(name, accepted[name], tool) for name, tool in sorted(changed.items()))
    return {"kind": "server", "tool": f"tools of {server.name}", "folder": server.folder, "data": data}


def _difference(name: str, before: Json, after: Json) -> str:
    """As `diff -u` shows it, with the lines of a description as lines."""
    import difflib  # only for servers that have changed

    told = difflib.unified_diff(
        _as_lines(before), _as_lines(after), f"{name} as it was accepted", f"{name} as it is now", lineterm="", n=5
    )
    return "".join(f"{line}\n" for line in told)


def _as_lines(tool: Json) -> list[str]:
    description = tool.get("description")
    lines = description.split("\n") if isinstance(description, str) else []
    rest = {key: value for key, value in tool.items() if key != "description" or not isinstance(value, str)}
    return [*lines, *json.dumps(rest, indent=2, sort_keys=True, ensure_ascii=False).split("\n")]


def _tools(given: Iterable[object]) -> list[Json]:
    """Those that have a name, and say each thing once."""
    found = (each for each in given if isinstance(each, dict) and not has_ambiguities(each))
    return [tool for tool in found if isinstance(tool.get("name"), str)]


def _same(one: Json, other: Json) -> bool:
    return canonical(one) == canonical(other)
