"""The documents tell the truth: every file they name is there, and what they call a rule is kept."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "sayso"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_of_a_document_leads_to_a_file(document: Path) -> None:
    missing = [link for link in LINK.findall(document.read_text("utf-8")) if not (document.parent / link).exists()]
    assert missing == []


def test_every_package_and_module_says_on_the_map_what_it_is_for() -> None:
    drawn = subprocess.run([sys.executable, ROOT / "scripts" / "map.py"], check=True, capture_output=True, text=True)
    lines = [line.split() for line in drawn.stdout.splitlines()[1:]]
    modules = [path for path in SOURCES.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    assert {path.name for path in modules} <= {words[0] for words in lines}
    assert [words[0] for words in lines if len(words) == 1] == []


def test_sql_is_only_in_the_store_and_exceptions_only_among_the_errors() -> None:
    sql = re.compile(r"\b(SELECT \S+ FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b")
    errors = re.compile(r"^class \w+\(\w*(Exception|Error)\)", re.M)
    texts = {str(path.relative_to(SOURCES)): path.read_text("utf-8") for path in SOURCES.rglob("*.py")}
    assert [name for name, text in texts.items() if sql.search(text) and not name.startswith("store/")] == []
    assert [name for name, text in texts.items() if errors.search(text) and name != "errors.py"] == []


def test_what_agents_read_first_is_a_page_and_names_every_package() -> None:
    text = (ROOT / "AGENTS.md").read_text("utf-8")
    assert len(text) < 6_000
    packages = [path.parent.name for path in (ROOT / "src" / "sayso").glob("*/__init__.py")]
    assert [name for name in packages if f"\n  {name}/ " not in text] == []


def test_every_module_and_class_that_the_architecture_names_is_there() -> None:
    text, sources = (ROOT / "docs" / "architecture.md").read_text("utf-8"), ROOT / "src" / "sayso"
    modules = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text))
    assert sorted(name for name in modules if not (sources / name).exists()) == []
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)` `(\w+)`", text))
    assert len(named) > 20
    assert (
        sorted(f"{name}: {word}" for name, word in named if f"class {word}" not in (sources / name).read_text()) == []
    )


def test_a_public_class_has_a_name_of_its_own() -> None:
    sources = (path.read_text("utf-8") for path in (ROOT / "src" / "sayso").rglob("*.py"))
    counted = Counter(name for text in sources for name in re.findall(r"^class ([A-Z]\w*)", text, re.M))
    assert [name for name, times in counted.items() if times > 1] == []


def test_every_error_is_drawn_in_the_tree() -> None:
    text = (ROOT / "src" / "sayso" / "errors.py").read_text("utf-8")
    tree, _, code = text.partition("from __future__")
    names = re.findall(r"^class (\w+)\(\w*(?:Error|Unavailable|Input)?\w*\):", code, re.M)
    assert [name for name in names if name not in tree] == []


def test_every_document_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [path.name for path in (ROOT / "docs").glob("*.md") if f"docs/{path.name}" not in readme] == []


@pytest.mark.requirement("H-69")
def test_running_commands_is_cut_into_the_parts_that_the_architecture_names() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = text.partition("## Running commands")[2].partition("\n## ")[0]
    for part in ("Configuration", "Validation", "Service", "Execution"):
        named = re.search(rf"\*\*{part}\*\*: `(\w+/\w+\.py)`", section)
        assert named, part
        assert (ROOT / "src" / "sayso" / named[1]).exists()
    # None of the first two may need the last: a tool file is judged without running anything.
    for source in (ROOT / "src" / "sayso" / "toolfiles").glob("*.py"):
        assert not re.search(r"sayso\.(running|operations)\b", source.read_text("utf-8")), source.name
