"""Where paths in an input lead when links are on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.linked_paths import LONGEST, MOST_TEXTS, links_in


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "plain.py").touch()
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "secret").touch()
    return project


def test_a_file_that_is_a_link_and_one_below_a_linked_folder_are_told_with_where_they_lead(project: Path) -> None:
    keys = project.parent / "keys"
    (project / "notes.md").symlink_to(keys / "secret")
    (project / "docs").symlink_to(keys)
    given = {"file_path": str(project / "notes.md"), "more": [{"path": "docs/secret"}, "docs/new"], "n": 1}
    assert links_in(given, project) == {
        str(project / "notes.md"): str(keys / "secret"),
        "docs/secret": str(keys / "secret"),
        "docs/new": str(keys / "new"),
    }


def test_what_is_where_it_says_is_not_told_however_it_is_written(project: Path) -> None:
    (project / "notes.md").symlink_to(project.parent / "keys" / "secret")
    for plain in ("src/plain.py", "./src/../src/plain.py", "no such file", "", ".", "https://x.example/a//b", "*.md"):
        assert links_in({"path": plain}, project) == {}, plain


def test_a_link_on_the_way_to_the_project_itself_is_no_news(project: Path) -> None:
    (project / "notes.md").symlink_to("src/plain.py")
    shortcut = project.parent / "shortcut"
    shortcut.symlink_to(project)
    assert links_in([str(shortcut / "src" / "plain.py"), "src/plain.py"], shortcut) == {}
    assert links_in([str(shortcut / "notes.md")], shortcut) == {
        str(shortcut / "notes.md"): str(project / "src" / "plain.py")
    }


def test_a_link_before_two_dots_is_followed_first(project: Path) -> None:
    (project / "docs").symlink_to(project.parent / "keys")
    assert links_in(["docs/../project/src"], project) == {"docs/../project/src": str(project / "src")}


def test_what_leads_to_itself_or_can_be_no_name_or_is_too_much_ends_all_the_same(project: Path) -> None:
    (project / "loop").symlink_to("loop")
    (project / "late").symlink_to("src")
    assert links_in(["\0", "a\nb", "\ud800", "x" * (LONGEST + 1), "loop/x"], project) == {}
    assert links_in([*map(str, range(MOST_TEXTS)), "late"], project) == {}
    deep: object = "late"
    for _ in range(10_000):
        deep = [deep]
    assert links_in(deep, project) == {"late": str(project / "src")}
