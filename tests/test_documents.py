"""The documents tell the truth: every file they name is there, and what they call a rule is kept."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sayso.cli.lazy_group import sayso
from sayso.config import Config, load
from sayso.web.api import OPERATIONS

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "sayso"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
ANCHOR = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)")
COMMAND = re.compile(r"`(?:\$ )?(sayso(?: [^`]*)?)`|^    (?:\$ )?(sayso(?: .*)?)$", re.M)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_of_a_document_leads_to_a_file(document: Path) -> None:
    missing = [link for link in LINK.findall(document.read_text("utf-8")) if not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_part_of_a_document_leads_to_a_heading(document: Path) -> None:
    linked = [(document.parent / name if name else document, part) for name, part in ANCHOR.findall(_text(document))]
    assert [f"{path.name}#{part}" for path, part in linked if part not in set(_anchors(_text(path)))] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_line_that_a_document_shows_is_one(document: Path) -> None:
    faults = [
        f"{inline or block}: {why}"
        for inline, block in COMMAND.findall(_text(document))
        if (why := _fault(inline or block)) and not (inline and why.endswith("requires an argument."))
    ]
    assert faults == []


def test_every_target_of_make_and_every_module_to_run_that_a_document_names_is_there() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for document in DOCUMENTS:
        lines = "\n".join(_code(_text(document)))
        named = set(re.findall(r"\bmake ([a-z][\w-]*)", lines))
        assert named - targets == set(), document.name
        for module in re.findall(r"python -m ((?:bench|tests|scripts)[\w.]*)", lines):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), f"{document.name}: {module}"


def test_every_file_of_the_sources_that_a_document_names_is_there() -> None:
    named = {
        (document.name, path)
        for document in DOCUMENTS
        for path in re.findall(r"`((?:src|tests|scripts|bench|locks|packages|docs)/[\w./-]*)`", _text(document))
    }
    assert sorted(f"{name}: {path}" for name, path in named if not (ROOT / path).exists()) == []


def test_every_variable_of_ours_that_a_document_names_is_read_by_a_program() -> None:
    settings = {f"SAYSO_{name.upper()}" for name in Config.__annotations__}
    programs = [path for folder in (SOURCES, ROOT / "tests") for path in folder.rglob("*.py")]
    read = {word for path in programs for word in re.findall(r"SAYSO_[A-Z_]+", _text(path))} | settings
    for document in DOCUMENTS:
        assert set(re.findall(r"\bSAYSO_[A-Z_]+\b", _text(document))) - read == set(), document.name


def test_the_page_of_the_web_inbox_names_exactly_the_calls_of_the_api() -> None:
    page = _text(ROOT / "docs" / "web.md").partition("## For scripts")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `([A-Z]+ /api/[^`?]+)", page, re.M)
    assert sorted(named) == sorted(f"{operation.method} {operation.path}" for operation in OPERATIONS)


def test_every_example_of_settings_can_be_used_as_it_stands(tmp_path: Path) -> None:
    examples = [
        (document.name, text)
        for document in DOCUMENTS
        for text in re.findall(r"^```toml\n(.*?)^```", _text(document), re.M | re.S)
    ]
    assert len(examples) > 4
    for name, text in examples:
        file = tmp_path / f"{name}.toml"
        file.write_text(text, "utf-8")
        load(environ={"SAYSO_CONFIG": str(file), "HOME": str(tmp_path)}, cwd=tmp_path)


def test_every_subject_of_the_doctor_is_documented() -> None:
    sources = [*(SOURCES / "doctor").glob("*.py"), SOURCES / "cli" / "doctor.py"]
    subjects = {
        found for path in sources for found in re.findall(r'\b(?:ok|note|warning|fault)\(\s*"([a-z ]+)"', _text(path))
    }
    rows = [row.split("|")[1] for row in _text(ROOT / "docs" / "doctor.md").splitlines() if row.startswith("| `")]
    assert len(subjects) > 10
    assert subjects - set(re.findall(r"`([a-z ]+)`", " ".join(rows))) == set()


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


@pytest.mark.parametrize("document", ["AGENTS.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_that_a_document_for_developers_names_is_there(document: str) -> None:
    named = re.findall(r"`((?!state/)(?:[a-z_]+/)*[a-z_]*(?:\.(?:py|sql|toml|txt|md)|/))`", _text(ROOT / document))
    roots = (ROOT, ROOT / "docs", ROOT / "locks", SOURCES)
    assert named
    assert [
        name for name in named if not any((root / name).exists() for root in roots) and not [*SOURCES.rglob(name)]
    ] == []


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


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _code(text: str) -> list[str]:
    return [inline or block for inline, block in re.findall(r"`([^`\n]+)`|^    (.+)$", text, re.M)]


def _anchors(text: str) -> Iterator[str]:
    """What the headings of a document are called in links, as GitHub does."""
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        yield re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def _fault(line: str) -> str:
    """Why the line is no command of ours with its options and arguments. What values are allowed is not looked at."""
    try:
        words = shlex.split(re.sub(r" \[[^]]*\]\S*| [|>&;].*|\)\".*| ….*", "", line), comments=True)[1:]
    except ValueError:
        return ""  # what is quoted goes on in the next line
    command: click.Command = sayso
    context = click.Context(command, info_name="sayso", help_option_names=["-h", "--help"])
    try:
        while isinstance(command, click.Group):
            _, words, _ = command.make_parser(context).parse_args(words)
            if not words or words[0] == "help" or not re.fullmatch(r"[a-z-]+", words[0]):
                return ""
            found = command.get_command(context, words[0])
            if found is None:
                return f"there is no {words[0]}"
            context, command, words = click.Context(found, parent=context), found, words[1:]
        _, rest, _ = command.make_parser(context).parse_args(words)
    except click.UsageError as error:
        return error.format_message()
    return f"too much: {rest}" if rest else ""
