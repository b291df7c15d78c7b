"""Actions: everything is shown, nothing hides, and whatever changes is noticed and named."""

from __future__ import annotations

import copy
import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.dialects.approve import Permission, wanted_action
from sayso.permissions.action import Action, ActionKind, action_from, differing_parts
from sayso.permissions.parts import parts_of
from sayso.permissions.seen_file import SeenFile
from sayso.permissions.words import command_line
from sayso.text import exact, exact_words, json_line, printable

HOSTILE = ["\x1b[31m", "\u202e", "\u200b", "\n[n]: /u 'x'", "```", "' ; rm -rf /", "\r", "\r\n", "\x00", "\t", "\\x1b"]
WORDS = st.lists(st.one_of(st.text(max_size=12), st.sampled_from(HOSTILE)), max_size=4).map("".join)
TEXTS = WORDS.filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
ARGV = st.lists(TEXTS, min_size=1, max_size=4)
PROGRAM = st.none() | st.lists(TEXTS, max_size=2)
FOLDERS = st.just("/srv/shop") | TEXTS
COMMANDS = st.builds(
    lambda **data: Action(kind=ActionKind.COMMAND, tool="git", folder="/srv/shop", data=data),
    argv=ARGV,
    program=PROGRAM,
    stdin=st.none() | TEXTS,
    files=st.dictionaries(TEXTS, TEXTS, max_size=2),
    environment=st.dictionaries(TEXTS, TEXTS, max_size=2),
    first=st.lists(st.fixed_dictionaries({"argv": ARGV, "program": PROGRAM, "folder": FOLDERS}), max_size=2),
    skipped_if=st.dictionaries(st.sampled_from(["exists", "missing"]), TEXTS, max_size=2),
    tool_file=st.fixed_dictionaries({"path": TEXTS, "sha256": TEXTS}),
)
INPUTS = st.dictionaries(
    st.sampled_from(["command", "file_path", "content", "plan", "url"]) | TEXTS, VALUES, max_size=4
)
EDITS = st.fixed_dictionaries({"file_path": TEXTS, "old_string": TEXTS, "new_string": TEXTS})


def used(kind: ActionKind, tool: str, given: Mapping[str, Any]) -> Action:
    return Action(kind=kind, tool=tool, folder="/srv/shop", data={"input": dict(given)})


TOOLS = st.builds(used, st.sampled_from(list(ActionKind)[2:]), TEXTS, INPUTS)
OFFERS = st.builds(
    lambda **data: Action(kind=ActionKind.SERVER, tool="tools of files", folder="/srv/shop", data=data),
    argv=ARGV,
    tools=st.dictionaries(TEXTS, st.dictionaries(st.just("description") | TEXTS, VALUES, max_size=3), max_size=3),
    diff=TEXTS,
)
SINGLE = st.one_of(COMMANDS, OFFERS, TOOLS, st.builds(used, st.just(ActionKind.EDIT), st.just("Edit"), EDITS))


def sequence(*steps: Action) -> Action:
    return Action(kind=ActionKind.SEQUENCE, tool="all", folder="/", data={"steps": [step.plain for step in steps]})


ACTIONS = SINGLE | st.lists(SINGLE, min_size=1, max_size=3).map(lambda steps: sequence(*steps))


OUR_NAMES = {
    *("argv", "program", "stdin", "files", "environment", "first", "folder", "skipped_if", "exists", "missing"),
    *("tool_file", "path", "sha256", "input", "diff", "tools", "description"),
    *("command", "plan", "file_path", "notebook_path", "old_string", "new_string", "content"),
}
"""What fields are called here and in agents' tools, which a part tells in its own words."""


def texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for key, inner in value.items():
                yield key
                yield from texts(inner)
        case list():
            for inner in value:
                yield from texts(inner)


def is_shown(text: str, seen: str) -> bool:
    """As it is, as a word of a shell, or as JSON: in each of them it can be read back."""
    forms = (exact(text), exact_words(text), command_line([text]), json_line(text)[1:-1])
    return any(form in seen for form in forms)


@given(ACTIONS)
def test_every_text_that_is_used_is_shown_and_spelt_out(action: Action) -> None:
    shown = parts_of(action)
    seen = "\n".join(f"{part.label}\n{part.text}" for part in shown)
    data = [value for step in action.data.get("steps", [action.plain]) for value in texts(step["data"])]
    missing = [text for text in data if text not in OUR_NAMES and not is_shown(text, seen)]
    assert not missing
    assert action.folder in seen
    assert seen == printable(seen), "nothing in it can drive or deceive a screen"


def read(action: Action) -> dict[str, str]:
    return {part.label: part.text for part in parts_of(action)}


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u202f", "\u3000"])
def test_a_blank_that_ends_no_word_is_spelt_out_where_it_would_look_as_if_it_did(blank: str) -> None:
    spelt = f"make<U+{ord(blank):04X}>test"
    for tool, field in (("Bash", "command"), ("Write", "file_path"), ("Read", "file_path"), ("Grep", "path")):
        action = wanted_action(Permission(tool=tool, given={field: f"make{blank}test", "content": ""}), "/srv", None)
        assert spelt in read(action).values()
    assert command_line([f"make{blank}test"]) == f"$'make\\u{ord(blank):04x}test'"


MAKE: dict[str, Any] = {"argv": ["make", "all"], "program": ["/usr/bin/make"], "folder": "/srv/shop"}


def command(**data: Any) -> Action:
    return Action(kind=ActionKind.COMMAND, tool="git_push", folder="/srv/shop", data=data)


def test_a_command_is_told_part_by_part_as_people_read_it() -> None:
    sandbox = {"profile": "workspace", "network": "none", "write": ["/srv/shop", "/tmp/\x1b"]}
    elsewhere = {**MAKE, "argv": ["./build"], "program": None, "folder": "/srv/other"}
    again = {**MAKE, "argv": ["make", "clean"]}
    told = read(
        command(argv=["git", "push"], program=["git", "/usr/bin/git"], sandbox=sandbox, first=[elsewhere, MAKE, again])
    )
    assert told == {
        "Command line": "git push",
        "Program": "/usr/bin/make",
        "Runs first in /srv/other": "./build",
        "Program not found yet": "./build",
        "Runs first": "make clean",
        "Sandbox": "workspace\nnetwork: none\nwrites: /srv/shop\nwrites: /tmp/<U+001B>",
        "Tool": "git_push",
        "Folder": "/srv/shop",
    }
    names = [part.label for part in parts_of(command(argv=["make"], program=["/usr/bin/make"], first=[MAKE, again]))]
    assert names == ["Command line", "Program", "Runs first", "Runs first", "Tool", "Folder"], "a program is told once"


@pytest.mark.parametrize(
    "data",
    [
        {"first": [{**MAKE, "more": "unknown"}]},
        {"first": [{"argv": ["make"]}]},
        {"first": [{**MAKE, "folder": 7}]},
        {"first": [{**MAKE, "argv": "make all"}]},
        {"first": [{**MAKE, "program": "/usr/bin/make"}]},
        {"first": [MAKE, "make"]},
        {"sandbox": {"profile": "workspace", "network": "none"}},
        {"sandbox": {"profile": "workspace", "network": "none", "write": "/srv"}},
        {"skipped_if": {"exists": "/srv/a", "newer": "/srv/b"}},
        {"environment": {"LEVEL": 7}},
        {"files": {"/srv/a": None}},
    ],
    ids=json.dumps,
)
def test_what_is_not_of_the_known_form_is_told_whole_as_it_came(data: dict[str, Any]) -> None:
    told = read(command(argv=["git", "push"], **data))
    assert told.keys() == {"Command line", "More", "Tool", "Folder"}
    assert json.loads(told["More"]) == data


def test_the_tools_that_a_server_offers_are_told_one_by_one() -> None:
    tools = {"read": {"description": "Reads a file", "reads": True}, "odd": "no object", "mute": {"description": 7}}
    offer = Action(
        kind=ActionKind.SERVER, tool="tools of files", folder="/srv/shop", data={"diff": "-old\n+new", "tools": tools}
    )
    told = read(offer)
    assert told == {
        "Change": "-old\n+new",
        "Offers the tool read": "Reads a file",
        "More read": '"reads": true',
        "More odd": '"": "no object"',
        "More mute": '"description": 7',
        "Tool": "tools of files",
        "Folder": "/srv/shop",
    }


@pytest.mark.parametrize(
    ("given_input", "left"),
    [
        ({"old_string": "b\n", "new_string": "B\n"}, []),
        ({"old_string": "B\n", "new_string": "b\n"}, ["old_string", "new_string"]),
        ({"old_string": "a\nb\nc\n", "new_string": "a\nB\nc\n"}, []),
        ({"old_string": "c\nx\n"}, ["old_string"]),
        ({"content": "a\nB\nc\n"}, []),
        ({"new_source": "y\n", "cell_id": "7"}, ["cell_id"]),
        ({"old_string": "--- f\n"}, ["old_string"]),
        ({"new_string": "c\n\0x\n"}, ["new_string"]),
    ],
    ids=str,
)
def test_what_the_diff_of_an_edit_shows_in_one_piece_is_not_told_again(given_input: Any, left: list[str]) -> None:
    diff = "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -9,1 +9,1 @@\n-x\n+y"
    data = {"input": {"file_path": "/srv/f", **given_input}, "diff": diff}
    told = read(Action(kind=ActionKind.EDIT, tool="Edit", folder="/srv/shop", data=data))
    assert told["File"] == "/srv/f"
    assert told["Change"] == diff
    assert {label.removeprefix("Input ") for label in told if label.startswith("Input")} == set(left)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("count", "told_again"), [(40, False), (80, True)])
def test_an_edit_that_is_not_long_is_shown_in_one_piece(known: bool, count: int, told_again: bool) -> None:
    kept = "".join(f"line {number}\n" for number in range(count))
    given = {"file_path": "/srv/f", "old_string": f"a\n{kept}b", "new_string": f"A\n{kept}B"}
    text = f"before\n{given['old_string']}\nafter\n{kept}"
    file = SeenFile(path="/srv/f", was="sha256 1", text=text if known else None)
    shown = read(wanted_action(Permission(tool="Edit", given=given), "/srv", file))
    assert shown["Change"].count("\n@@ ") == 1 + told_again
    assert {"Input old_string", "Input new_string"} & shown.keys() == (
        {"Input old_string", "Input new_string"} if told_again else set()
    )


LINES = st.lists(st.sampled_from(["a", "b", "", "-x", "+y", "@@ z", "\x1b[8m", "c\r", "c\\r", "\u202e"]), max_size=9)


@given(LINES, LINES, LINES, st.booleans())
def test_an_edit_shows_all_that_it_takes_out_and_puts_in(
    before: list[str], old: list[str], new: list[str], known: bool
) -> None:
    text = "\n".join([*before, *old, *before])
    edit = {"file_path": "/srv/f", "old_string": "\n".join(old), "new_string": "\n".join(new)}
    file = SeenFile(path="/srv/f", was="sha256 1", text=text if known else None)
    for tool, given_input in (("Edit", edit), ("Write", {"file_path": "/srv/f", "content": edit["new_string"]})):
        action = wanted_action(Permission(tool=tool, given=given_input), "/srv", file)
        shown = {part.label: part.text for part in parts_of(action)}
        lines = shown["Change"].split("\n")[2:]
        sides = {mark: "\n".join(line[1:] for line in lines if line[:1] in (mark, " ")) for mark in "-+"}
        for key, mark in (("old_string", "-"), ("new_string", "+"), ("content", "+")):
            if key in given_input:
                told = exact(given_input[key])
                assert shown.get(f"Input {key}") == exact(given_input[key]) or told in sides[mark] + "\n"
        assert all(printable(part) == part for part in shown.values())


@given(st.lists(TEXTS.filter(lambda text: "\x00" not in text), min_size=1, max_size=5))
def test_a_command_line_pasted_into_a_shell_is_the_same_words_again(argv: list[str]) -> None:
    script = f"printf '%s\\0' {command_line(argv)}"
    told = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    assert told.decode().split("\0")[:-1] == argv
    if all(exact(word) == word for word in argv):
        assert shlex.split(command_line(argv)) == argv


@given(ACTIONS, st.data())
def test_whatever_is_changed_changes_the_digest_and_is_named(action: Action, data: st.DataObject) -> None:
    plain = copy.deepcopy(action.plain)
    places = [place for place in _places(plain) if place != ("kind",)]
    place = data.draw(st.sampled_from(places))
    holder: Any = plain
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = data.draw(VALUES.filter(lambda value: json.dumps(value) != json.dumps(holder[place[-1]])))
    other = action_from(plain)
    assert other.digest != action.digest
    assert differing_parts(action, other)
    assert differing_parts(action, action_from(copy.deepcopy(action.plain))) == ()


def _places(value: object, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value in the data of an action."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        if before or key in ("tool", "folder", "data"):
            is_structure = key in ("kind", "steps", "data") or (before and before[-1] == "steps")
            yield from [] if is_structure else [(*before, key)]
            yield from _places(each, (*before, key))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"argv": ["git", "push", "--force"]}, "the command line"),
        ({"program": ["/tmp/git"]}, "the program that is found (now /tmp/git)"),
        ({"program": []}, "the program that is found (now none)"),
        ({"first": []}, "a command that runs before it"),
        ({"skipped_if": {"exists": "/srv/done"}}, "when it is skipped"),
        ({"stdin": "other"}, "its standard input"),
        ({"files": {"/tmp/message": "other"}}, "the contents of /tmp/message"),
        ({"environment": {"GIT_DIR": "/other"}}, "the environment variable GIT_DIR"),
        ({"tool_file": {"path": "/t.json", "sha256": "2"}}, "the tool file"),
    ],
)
def test_what_differs_is_named_in_words(change: dict[str, Any], named: str) -> None:
    data = {
        "argv": ["git", "push"],
        "program": ["/usr/bin/git"],
        "first": [{"argv": ["git", "--version"], "program": ["/usr/bin/git"], "folder": "/srv"}],
        "stdin": "one",
        "files": {"/tmp/message": "text"},
        "environment": {"GIT_DIR": "/here"},
        "tool_file": {"path": "/t.json", "sha256": "1"},
    }
    shown = Action(kind=ActionKind.COMMAND, tool="git_push", folder="/srv", data=data)
    now = Action(kind=ActionKind.COMMAND, tool="git_push", folder="/srv", data={**data, **change})
    assert differing_parts(shown, now) == (named,)
    one, other = (sequence(shown, last) for last in (shown, now))
    assert differing_parts(one, other) == (f"step 2: {named}",)


@pytest.mark.parametrize(
    ("action", "title"),
    [
        (command(argv=["git", "push"]), "git_push: git push"),
        (command(script="git push"), "git_push"),
        (sequence(command(argv=["git", "push"]), command(argv=["ls"])), "all: 2 steps"),
        (used(ActionKind.EDIT, "Edit", {"file_path": "/srv/shop/a.py"}), "Edit: a.py"),
        (used(ActionKind.FETCH, "WebFetch", {"url": "https://example.org"}), "WebFetch: https://example.org"),
        (used(ActionKind.FETCH, "mcp__a__b", {"n": 1}), "mcp__a__b"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_action_is_called_by_its_tool_and_what_it_is_about(action: Action, title: str) -> None:
    assert action.title == title


@pytest.mark.parametrize(
    ("plan", "title"),
    [("# Mend the checkout\n\n1. Round\n2. Test", "Plan: Mend the checkout …"), ("Only this", "Plan: Only this")],
)
def test_a_plan_is_told_of_by_its_first_line(plan: str, title: str) -> None:
    assert used(ActionKind.PLAN, "ExitPlanMode", {"plan": plan}).title == title
