"""Where projects can be added from the page: real folders below an allowed one, and no link out of there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.agents import project_places
from sayso.agents.kinds import installed
from sayso.agents.model import Options, Project
from sayso.agents.project_places import ProjectPlaces, check_place
from sayso.config import Config
from sayso.errors import InvalidInput, NotFound


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """An allowed folder, with another beside it."""
    for name in ("code/attic", "code/shop/.git", "code/team/api/.git", "code/team/notes", "code/.hidden/.git", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "code/out").symlink_to(tmp_path / "other")
    (tmp_path / "code/near").symlink_to(tmp_path / "code/shop")
    (tmp_path / "code/file").touch()
    return tmp_path / "code"


def project(directory: Path, below: Path | str) -> Project:
    options = Options(added_below=str(below))
    return Project(id=1, owner="ada", host="h", directory=directory, name="p", options=options, created_at=0)


def test_folders_with_git_are_listed_first_and_neither_links_nor_hidden_ones(code: Path) -> None:
    listed = ProjectPlaces([code]).listed()
    assert [(place.name, place.has_git) for place in listed] == [
        ("shop", True),
        ("team/api", True),
        ("attic", False),
        ("team", False),
    ]
    assert next(place.name for place in ProjectPlaces([code]).listed(without=[code / "shop"])) == "team/api"


def test_of_several_allowed_folders_each_place_is_named_in_full(code: Path) -> None:
    names = [place.name for place in ProjectPlaces([code, code.parent, code.parent / "gone"]).listed()]
    assert names[0] == str(code / "shop")
    assert str(code.parent / "other") in names


def test_what_is_listed_has_a_bound(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_places, "MOST_LISTED", 2)
    assert len(ProjectPlaces([code]).listed()) == 2


def test_a_link_inside_an_allowed_folder_names_the_real_one(code: Path) -> None:
    link = code.parent / "link"
    link.symlink_to(code)
    assert ProjectPlaces([code]).checked(str(code / "near")) == (code / "shop", code)
    assert ProjectPlaces([link]).checked(str(link / "shop")) == (code / "shop", code)


@pytest.mark.parametrize(
    "given",
    ["", "{}", "{}/", "{}/out", "{}/gone", "{}/file", "{}/../other", "{}/shop/../../other", "shop", "/", "{}/a\0b"],
)
def test_nothing_but_a_folder_below_an_allowed_one_is_taken(code: Path, given: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ProjectPlaces([code]).checked(given.format(code))
    (problem,) = refused.value.problems
    assert problem.path == "folder"
    assert f"below {code}" in problem.text


def test_no_agent_is_started_where_a_link_has_taken_the_folders_place(code: Path) -> None:
    added = project(code / "shop", code)
    check_place(added)
    (code / "shop").rename(code / "moved")
    (code / "shop").symlink_to(code.parent / "other")
    with pytest.raises(NotFound, match="a link leads somewhere else"):
        check_place(added)
    # Whoever names it on the command line means where it leads.
    check_place(project(code / "shop", ""))


def test_no_agent_is_started_where_a_folder_above_has_become_a_link(code: Path) -> None:
    added = project(code / "team/api", code)
    code.rename(code.parent / "moved")
    code.symlink_to(code.parent / "moved")
    with pytest.raises(NotFound):
        check_place(added)


def test_the_agents_to_choose_from_are_those_whose_programs_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("claude", "qwen"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(installed(Config())) == ["claude", "qwen"]
