"""Every key of the terminal inbox: what it does by default, and what the person's settings make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.keys import Keys as KnownKeys
from textual.keys import format_key, key_to_character

from sayso.config import Config
from sayso.errors import ConfigError
from sayso.records import replace
from sayso.text import did_you_mean

_MODIFIERS = {"ctrl", "shift", "alt", "super", "meta", "hyper"}
_NAMED = {key.value for key in KnownKeys}
_ALIASES = {"esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "del": "delete", "return": "enter"}
"""Names people write, as the help shows them too."""
_DECISIONS = ("allow", "deny")
_DISPLAY = {"escape": "esc", "enter": "enter", "up": "up", "down": "down", "left": "left", "right": "right"}


@dataclass(frozen=True, kw_only=True)
class Key:
    """One thing that keys do. `name` is its name in the settings, `do_<name>` its text in the catalogue."""

    name: str
    keys: str
    action: str = ""
    in_bar: bool = True
    first: bool = False
    """Works even where a text field would take the key."""


def _quiet(name: str, keys: str, action: str = "") -> Key:
    """A key that the bar at the bottom does not show; the help does."""
    return Key(name=name, keys=keys, action=action, in_bar=False)


DEFAULTS: Mapping[str, tuple[Key, ...]] = {
    "everywhere": (
        Key(name="help", keys="?,f1", action="app.help"),
        Key(name="palette", keys="ctrl+p", action="app.command_palette", in_bar=False, first=True),
        Key(name="quit", keys="ctrl+q", action="app.quit", in_bar=False, first=True),
        _quiet("interrupt", "ctrl+c", "app.interrupt"),
        _quiet("suspend", "ctrl+z", "app.suspend_process"),
    ),
    "lists": (
        _quiet("up", "up,k", "up"),
        _quiet("down", "down,j", "down"),
        _quiet("first", "home,g", "first"),
        _quiet("last", "end,G", "last"),
    ),
    "pages": (
        _quiet("page_up", "pageup,ctrl+b", "page_up"),
        _quiet("page_down", "pagedown,ctrl+f", "page_down"),
    ),
    "inbox": (
        Key(name="undo", keys="u"),
        Key(name="read_down", keys="J,ctrl+d"),
        Key(name="open", keys="enter"),
        Key(name="allow", keys="y"),
        Key(name="deny", keys="n"),
        Key(name="fold", keys="left"),
        Key(name="mark_row", keys="x"),
        Key(name="mark_all", keys="*"),
        Key(name="reject", keys="X"),
        Key(name="snooze", keys="z"),
        Key(name="snoozed", keys="Z"),
        Key(name="filter", keys="/"),
        Key(name="history", keys="h", action="app.history"),
        Key(name="leave", keys="q", action="app.quit"),
        Key(name="agents", keys="a", action="app.agents"),
        Key(name="commands", keys="r", action="app.commands"),
        Key(name="project", keys="p"),
        _quiet("order", "o"),
        _quiet("copy", "c"),
        _quiet("whole", "v"),
        _quiet("away", "w", "app.away"),
        _quiet("read_up", "K,ctrl+u"),
        Key(name="back", keys="escape"),
    ),
    "answer": (
        Key(name="read_down", keys="pagedown,ctrl+f"),
        Key(name="allow", keys="y"),
        Key(name="deny", keys="n"),
        Key(name="like", keys="l"),
        Key(name="reach", keys="w"),
        Key(name="edit", keys="i"),
        Key(name="unedit", keys="u"),
        Key(name="take_back", keys="t"),
        Key(name="choose", keys="enter"),
        Key(name="submit", keys="enter"),
        Key(name="change", keys="enter"),
        Key(name="mark", keys="space"),
        Key(name="filter", keys="/"),
        Key(name="accept", keys="r"),
        Key(name="skip", keys="s"),
        Key(name="other", keys="o"),
        Key(name="next", keys="tab,right"),
        _quiet("previous", "shift+tab,left"),
        Key(name="reject", keys="x"),
        Key(name="note", keys="a"),
        Key(name="attach", keys="f"),
        Key(name="send", keys="ctrl+s"),
        Key(name="elaborate", keys="e"),
        Key(name="editor", keys="ctrl+g"),
        Key(name="back", keys="escape"),
        _quiet("whole", "v"),
        _quiet("copy", "c"),
        _quiet("next_ask", "],ctrl+n"),
        _quiet("previous_ask", "[,ctrl+o"),
        _quiet("read_up", "pageup,ctrl+b"),
    ),
    "history": (
        Key(name="read_down", keys="J,ctrl+d,ctrl+f"),
        Key(name="open", keys="enter"),
        Key(name="search", keys="/"),
        Key(name="outcome", keys="f"),
        Key(name="project", keys="p"),
        Key(name="copy", keys="c"),
        _quiet("whole", "v"),
        _quiet("read_up", "K,ctrl+u,ctrl+b"),
        Key(name="back", keys="escape,q,h"),
    ),
    "commands": (
        Key(name="read_down", keys="J,ctrl+d,ctrl+f"),
        Key(name="open", keys="enter"),
        Key(name="stop", keys="x"),
        Key(name="stream", keys="s"),
        Key(name="copy", keys="c"),
        Key(name="whole", keys="v"),
        _quiet("read_up", "K,ctrl+u,ctrl+b"),
        Key(name="back", keys="escape,q,r"),
    ),
    "agents": (
        Key(name="read_down", keys="J,ctrl+d,ctrl+f"),
        Key(name="open", keys="enter"),
        _quiet("away", "w", "app.away"),
        _quiet("read_up", "K,ctrl+u,ctrl+b"),
        Key(name="back", keys="escape,q,a"),
    ),
    "field": (
        Key(name="done", keys="enter", first=True),
        Key(name="newline", keys="ctrl+j,shift+enter,alt+enter", first=True),
    ),
    "dialog": (Key(name="back", keys="escape"),),
    "attaching": (Key(name="complete", keys="tab", first=True), Key(name="remove", keys="x,delete")),
    "helping": (_quiet("help", "?,f1", "back"),),
    "sure": (Key(name="confirm", keys="enter,y"), Key(name="back", keys="escape,n")),
}

MOVES = frozenset(key.name for context in ("lists", "pages") for key in DEFAULTS[context])
"""What only moves the cursor."""


class Keys:
    """The keys that hold here."""

    def __init__(self, changed: Mapping[str, str], source: str = "keys") -> None:
        names = {key.name for keys in DEFAULTS.values() for key in keys}
        changed = {name: ",".join(map(_full_name, given.split(","))) for name, given in changed.items()}
        for name, given in changed.items():
            _check_name(name, names, source)
            for key in given.split(","):
                _check_key(name, key, source)
                _check_decision(name, key, source)
        self._contexts = {
            context: tuple(replace(key, keys=changed.get(key.name, key.keys)) for key in keys)
            for context, keys in DEFAULTS.items()
        }
        for context in DEFAULTS:
            self._check_clashes(context, source)

    @classmethod
    def from_config(cls, config: Config) -> Keys:
        return cls(dict(config.keys), config.sources.get("keys", "keys"))

    def of(self, *contexts: str) -> Iterator[Key]:
        for context in contexts:
            yield from self._contexts[context]

    def bind(self, node: DOMNode, *contexts: str) -> None:
        """Give a screen or a widget these keys and no others. They are not class variables, because each person may
        have chosen their own."""
        node._bindings = self._map(*contexts)

    def add(self, node: DOMNode, *contexts: str) -> None:
        """Give a widget these keys on top of its own, of which none keeps the person from their shell."""
        shell = next(key for key in self.of("everywhere") if key.name == "suspend").keys.split(",")
        own = {key: does for key, does in node._bindings.key_to_bindings.items() if key not in shell}
        both = {**own, **self._map(*contexts).key_to_bindings}
        node._bindings = BindingsMap.from_keys(both)

    def _map(self, *contexts: str) -> BindingsMap:
        return BindingsMap(
            Binding(key.keys, key.action or key.name, key.name, show=key.in_bar, priority=key.first, id=key.name)
            for key in self.of(*contexts)
        )

    def shown(self, name: str, context: str = "") -> str:
        """The first key for this, there or anywhere, as it is written for people."""
        contexts = (context,) if context else tuple(DEFAULTS)
        return shown_key(next(key for key in self.of(*contexts) if key.name == name).keys.split(",")[0])

    def _check_clashes(self, context: str, source: str) -> None:
        usual = _users(DEFAULTS[context])
        for key, names in _users(self._contexts[context]).items():
            if len(names) > 1 and not names <= usual.get(key, set()):
                raise ConfigError(
                    f"{source}: the key {key!r} would do {' and '.join(sorted(names))} at the same place. "
                    "Give each its own key."
                )


def shown_key(key: str) -> str:
    """A key as people write it: `ctrl+s`, `esc`, `?`."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return "+".join([*modifiers, _DISPLAY.get(last, format_key(last))])


def _full_name(key: str) -> str:
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return "+".join([*modifiers, _ALIASES.get(last, last)])


def _users(keys: tuple[Key, ...]) -> dict[str, set[str]]:
    """Which names each key stands for."""
    users: dict[str, set[str]] = {}
    for key in keys:
        for pressed in key.keys.split(","):
            users.setdefault(pressed, set()).add(key.name)
    return users


def _check_name(name: str, names: set[str], source: str) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"They are {', '.join(sorted(names))}.")
        raise ConfigError(f"{source}: keys has {name!r}, which no key does. {hint}")


def _check_decision(name: str, key: str, source: str) -> None:
    if name in _DECISIONS and not (len(key) == 1 and key.isalpha()):
        raise ConfigError(
            f"{source}: keys has {name} = {key!r}. A permission takes letters only, so that no key that is pressed "
            "by reflex, such as enter or space, decides it. Give it a letter."
        )


def _check_key(name: str, key: str, source: str) -> None:
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    known = len(last) == 1 or last in _NAMED or key in _NAMED or key_to_character(last) is not None
    if not known or set(modifiers) - _MODIFIERS:
        raise ConfigError(
            f"{source}: keys has {name} = {key!r}, which is no key. Use a character such as x or ?, a name such as "
            "enter, escape, f2 or pageup, or one of these with ctrl+, alt+ or shift+."
        )
