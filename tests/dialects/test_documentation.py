"""docs/tools.md names every tool, argument, field and outcome, and none that there is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import ask as new_ask

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Settler, State
from sayso.config import load
from sayso.dialects import approve, codenomad
from sayso.dialects.outcomes import outcome_data
from sayso.dialects.profiles import profile
from sayso.store.sqlite import SqliteStore

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
SECTIONS = {
    ("all", "ask_user"): "`ask_user`",
    ("codenomad", "ask_user"): "`ask_user` as CodeNomad has it",
    ("promptmanager", "ask_user"): "`ask_user` as PromptManager has it",
    ("all", "ask_user_questions"): "`ask_user_questions`",
    ("auq", "ask_user_questions"): "`ask_user_questions`",
    ("all", "get_answers"): "`get_answers`",
    ("all", "question_ask"): "`question_ask`",
    ("swissarmyhammer", "question_ask"): "`question_ask`",
    ("all", "question_summary"): "`question_summary`",
    ("swissarmyhammer", "question_summary"): "`question_summary`",
}
PROFILES = ["all", "auq", "codenomad", "promptmanager", "swissarmyhammer"]


def section(heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    assert found, f"docs/tools.md has no section {heading}"
    return found[1]


def first_cells(text: str) -> set[str]:
    """The names in the first column of the text's tables."""
    return set(re.findall(r"^\| `(\w+)`", text, re.M))


def properties(schema: Any) -> Iterator[str]:
    """The names of all fields of a schema, however deep."""
    if isinstance(schema, Mapping):
        for name, inner in schema.items():
            if name == "properties":
                yield from inner
            yield from properties(inner)


def shown(name: str) -> dict[str, Mapping[str, Any]]:
    return {tool.name: tool.schema for tool in profile(load(environ={"SAYSO_PROFILE": name})).tools}


def test_the_page_names_exactly_the_profiles_and_their_tools() -> None:
    assert {(name, tool) for name in PROFILES for tool in shown(name)} == SECTIONS.keys()
    assert first_cells(section("`approve`")) == set(properties(approve.tool().schema))
    for name in PROFILES:
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
        assert re.findall(r"`(\w+)`", row.split("|")[3]) == list(shown(name))
        assert f"`{profile(load(environ={'SAYSO_PROFILE': name})).server_name}`" in row


@pytest.mark.parametrize("heading", sorted(set(SECTIONS.values())))
def test_a_tools_section_names_exactly_its_arguments_and_fields(heading: str) -> None:
    fields = {
        field for (name, tool), where in SECTIONS.items() if where == heading for field in properties(shown(name)[tool])
    }
    assert first_cells(section(heading)) == fields


def test_the_page_names_exactly_the_outcomes_there_are() -> None:
    assert first_cells(section("Outcomes")) == {*State, "invalid", "failed"}


def test_the_page_names_every_field_of_structured_content(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state" / "sayso.db")
    desk = AskDesk(store)
    opened = desk.leave(new_ask("Documented?"))
    answered = desk.answer(
        opened.id,
        [Answer(question=question.id, chosen=("1",), note="a note") for question in opened.questions],
        Settler(person="ada", surface="test"),
    )
    store.close()
    data = codenomad.render(answered).data or {}
    assert data.keys() == outcome_data(answered).keys() | {"result"}
    told = data.keys() | {key for answer in data["answers"] for key in answer}
    assert told - first_cells(section("Structured content")) == set()
