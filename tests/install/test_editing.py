"""Changing one place of a text, whatever the text looks like: nothing else changes, or nothing at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.errors import CannotEdit
from sayso.install import in_jsonc
from sayso.install.notation import at, parsed, with_entry, without_entry

ENTRY = {"command": "sayso", "args": ["server"], "env": {"A": "b"}}
PATH = ("mcpServers", "sayso")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None)
@given(
    data=st.dictionaries(st.text(), VALUES, max_size=5),
    servers=st.none() | st.dictionaries(st.text(), VALUES, max_size=3),
    indent=st.sampled_from([None, 2, 4, "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_any_json_gets_the_entry_and_loses_it_again(
    data: dict[str, Any], servers: dict[str, Any] | None, indent: int | str | None, newline: str
) -> None:
    data = {key: value for key, value in data.items() if key != "mcpServers"}
    if servers is not None:
        data["mcpServers"] = {key: value for key, value in servers.items() if key != "sayso"}
    text = json.dumps(data, indent=indent, ensure_ascii=False).replace("\n", newline)
    made = int(servers is None)
    with_it = with_entry("jsonc", text, PATH, ENTRY)
    assert at(in_jsonc.read(with_it), PATH) == ENTRY
    assert without_entry("jsonc", with_it, PATH, made) == text


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "a": 1, // why\n  "mcpServers": {\n    "o": 1, // x\n  }, // z\n}\n',
        '// top\n{\n  "mcpServers": {\n    "o": 1 // last\n    // more\n  }\n}',
        '{\n  "mcpServers": { // none yet\n  }\n}\n',
        '{"mcpServers": {"o": 1, "p": 2,}}',
        '{\n  "mcpServers": { "o": 1,\n    "p": "// no comment" }\n}',
        '{ /* a */ "mcpServers" /* b */ : /* c */ { /* d */ } /* e */ } // f',
    ],
)
def test_comments_and_trailing_commas_stay_where_they_are(text: str) -> None:
    with_it = with_entry("jsonc", text, PATH, ENTRY)
    assert without_entry("jsonc", with_it, PATH, 0).replace(" ", "") == text.replace(" ", "")
    for comment in ("// why", "// x", "// z", "// last", "// more", "/* a */", "/* d */", "// f"):
        assert (comment in with_it) == (comment in text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1', "line 1 column 8"),
        ('{\n  "a" 1\n}', "line 2 column 7"),
        ("{a: 1}", "line 1 column 2"),
        ('{"a": 1} x', "line 1 column 10"),
        ('{"a": }', "line 1 column 7"),
        ("[" * 100_000, "recursion"),
        ('{"mcpServers": "none"}', "something other than a table as 'mcpServers'"),
        ("[]", "no table at its top"),
    ],
)
def test_json_that_is_wrong_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(CannotEdit, match=place):
        with_entry("jsonc", text, PATH, ENTRY)


def test_an_item_of_a_list_is_added_and_removed_alone() -> None:
    text = '{\n  "hooks": {\n    "A": [\n      1 // one\n    ]\n  }\n}\n'
    with_it = in_jsonc.put(text, ["hooks", "A", 1], {"x": 2})
    assert in_jsonc.read(with_it) == {"hooks": {"A": [1, {"x": 2}]}}
    assert in_jsonc.drop(with_it, ["hooks", "A", 1]) == text


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { docs = { command = "x" } }\n',
        '[mcp_servers]\nsayso = { command = "x" }\n',
        'mcp_servers.sayso.command = "x"\n',
        'a = """\n[mcp_servers.sayso]\nno table\n"""\n',
    ],
)
def test_toml_in_a_form_that_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(CannotEdit, match=r"Change it by hand|something other"):
        with_entry("toml", text, ("mcp_servers", "sayso"), ENTRY)


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.other]\n\n[[list]]\nx = 1\n\n# the end\n",
        '[mcp_servers."with space"]\r\ncommand = "x"\r\n',
    ],
)
def test_toml_gets_the_table_and_loses_it_again(text: str) -> None:
    with_it = with_entry("toml", text, ("mcp_servers", "sayso"), ENTRY)
    assert at(parsed("toml", with_it), ("mcp_servers", "sayso")) == ENTRY
    assert without_entry("toml", with_it, ("mcp_servers", "sayso"), 0) == text


@pytest.mark.parametrize(
    "text",
    [
        "A: b\nextensions:\n    dev:\n        x: 1\n\n    # note\n    more: {y: 2}\nB: 2\n",
        "extensions: {}\n",
        "x: 1\r\n",
    ],
)
def test_yaml_gets_the_entry_and_loses_it_again(text: str) -> None:
    path = ("extensions", "sayso")
    with_it = with_entry("yaml", text, path, ENTRY)
    assert at(parsed("yaml", with_it), path) == ENTRY
    assert without_entry("yaml", with_it, path, int("extensions" not in text)) == text


def test_yaml_in_a_form_that_cannot_be_changed_safely_is_refused() -> None:
    with pytest.raises(CannotEdit, match="Change it by hand"):
        with_entry("yaml", "extensions: {dev: {x: 1}}\n", ("extensions", "sayso"), ENTRY)
