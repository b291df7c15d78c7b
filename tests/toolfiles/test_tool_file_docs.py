"""docs/tool-files.md says what the code does: its reference, its examples and its sample of faults."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from tests.toolfiles.reference import reference_markdown

from sayso.toolfiles.argv import build_argv
from sayso.toolfiles.leaves import leaves
from sayso.toolfiles.model import FaultKind, ToolFile
from sayso.toolfiles.toolfile import load_dir, parse, ready_files

DOCUMENT = Path(__file__).parents[2] / "docs" / "tool-files.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
BEGIN, END = "<!-- reference: begin -->\n", "<!-- reference: end -->"
EXAMPLES = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.requirement("H-61")
def test_the_reference_is_the_one_that_the_format_gives() -> None:
    written = TEXT[TEXT.index(BEGIN) + len(BEGIN) : TEXT.index(END)]
    assert written.strip() == reference_markdown().strip(), "put reference_markdown() between the two marks"


@pytest.mark.requirement("H-61")
def test_every_example_loads(tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"{number}.json").write_text(example, encoding="utf-8")
    found = load_dir([tmp_path, next(iter(ready_files().values())).parent])
    assert [str(fault) for fault in found.faults] == []
    assert len(EXAMPLES) == 2


def test_the_first_example_gives_the_tools_and_the_words_that_it_says() -> None:
    tool = parse(EXAMPLES[0], Path("shelf.json"))
    assert isinstance(tool, ToolFile)
    found = {leaf.name: leaf for leaf in leaves(tool)}
    assert list(found) == ["shelf_list", "shelf_add", "shelf_index", "shelf_remove"]
    arguments = {"title": "-- draft --", "tag": ["idea", "later"], "body": "..."}
    assert json.dumps(arguments) in TEXT
    made = build_argv(found["shelf_add"], arguments, project=Path("/"), roots=[Path("/")], folder=Path("/…"))
    line = " ".join(f'"{word}"' if " " in word else word for word in made.argv)
    assert line in TEXT


def test_the_sample_of_faults_is_what_such_a_file_gives() -> None:
    broken = """{
  "name": "shelf", "description": "Notes.", "command": "shelf",
  "subcommand": [
    { "name": "list",
      "description": "List.",
      "options": [{ "name": "limit", "type": "int" }],
      "synchronus": true
    }
  ]
}"""
    found = parse(broken, Path("shelf.json"))
    assert not isinstance(found, ToolFile)
    sample = TEXT.split("<!-- faults -->\n```text\n")[1].split("```")[0]
    assert sample == "".join(f"{fault}\n" for fault in found)


def test_every_kind_of_fault_is_explained() -> None:
    for kind in get_args(FaultKind):
        assert f"| `{kind}` |" in TEXT


def test_every_ready_made_file_is_named() -> None:
    for name in ready_files():
        assert name in TEXT


def test_every_link_inside_the_document_leads_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= anchors
