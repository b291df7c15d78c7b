"""Settings: which value wins, where it came from, and one clear error for each that is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.trusting import trust

from sayso.config import PROFILES, SETTINGS, Config, default_state_dir, load, project_dir, user_file
from sayso.errors import ConfigError
from sayso.setting_values import duration


@pytest.fixture
def user(tmp_path: Path) -> Path:
    file = tmp_path / "config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".sayso").mkdir(parents=True)
    return folder


def read(user: Path, project: Path, flags: dict[str, object] | None = None, **environ: str) -> Config:
    home = str(user.parents[1])
    return load(flags=flags, environ={"XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, **environ}, cwd=project)


def test_without_any_setting_the_defaults_hold(user: Path, project: Path) -> None:
    config = read(user, project)
    assert (config.profile, config.ask_timeout, config.max_questions, config.history) == ("all", None, 4, True)
    assert config.state_dir == user.parents[1] / "sayso"
    assert (config.database, config.bell_dir) == (config.state_dir / "sayso.db", config.state_dir / "bell")
    assert config.project == project
    assert config.person
    assert config.sources == {}


def test_each_place_wins_over_the_ones_before_and_is_named(user: Path, project: Path) -> None:
    user.write_text('max_questions = 5\nmax_options = 5\nlog_level = "debug"\nask_timeout = "1m"')
    ours = project / ".sayso" / "config.toml"
    ours.write_text('max_options = 6\nlog_level = "warning"\nask_timeout = "2m"')
    trust(user.parent, project)
    config = read(
        user, project, {"ask_timeout": "4m", "log_level": None}, SAYSO_LOG_LEVEL="error", SAYSO_ASK_TIMEOUT="3m"
    )
    assert (config.max_questions, config.max_options, config.log_level, config.ask_timeout) == (5, 6, "error", 240_000)
    assert config.sources == {
        "max_questions": str(user),
        "max_options": str(ours),
        "log_level": "SAYSO_LOG_LEVEL",
        "ask_timeout": "--ask-timeout",
    }


@pytest.mark.parametrize(
    ("given", "milliseconds"),
    [
        ("90s", 90_000),
        ("10m", 600_000),
        ("12h", 43_200_000),
        ("7d", 604_800_000),
        ("500ms", 500),
        ("1.5 s", 1500),
        (3, 3000),
        (0.5, 500),
        ("2", 2000),
        (" 2s ", 2000),
    ],
)
def test_a_time_is_written_as_people_do(given: object, milliseconds: int) -> None:
    assert duration(given) == milliseconds


@pytest.mark.parametrize(
    "given",
    ["", "soon", "-1s", 0, -3, "0s", "0.1ms", True, None, [], float("inf"), float("nan"), "1e400", "99999999d", 10**30],
)
def test_what_is_no_time_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="a time such as"):
        duration(given)


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ('ask_timeout = "soon"', "ask_timeout is 'soon'; it must be a time such as \"90s\""),
        ("ask_timeout = inf", "ask_timeout is inf; it must be a time"),
        ("max_questions = 0", "max_questions is 0; it must be a whole number from 1 to 100"),
        ("max_questions = true", "max_questions is True; it must be a whole number"),
        ('profile = "mine"', "profile is 'mine'; it must be one of all, auq"),
        ('history = "maybe"', "history is 'maybe'; it must be true or false"),
        ("person = 7", "person is 7; it must be a text"),
        ('person = "a\\u0000b"', "it must be a text, in UTF-8 and without NUL"),
        ('state_dir = ""', "state_dir is ''; it must be a path"),
        ('state_dir = "~nobody-of-this-name/x"', "it must be a path of a user who exists"),
        ('log_file = "a\\u0000b"', "it must be a path"),
        ("max_question = 3", "there is no setting 'max_question'. Did you mean max_questions?"),
        ("[server]\nport = 1", "there is no setting 'server'."),
        ("max_questions = ", "is not valid TOML"),
    ],
)
def test_a_wrong_line_is_told_with_its_file_and_what_is_allowed(
    user: Path, project: Path, line: str, allowed: str
) -> None:
    user.write_text(line)
    with pytest.raises(ConfigError) as raised:
        read(user, project)
    assert str(raised.value).startswith(f"{user}: ")
    assert allowed in str(raised.value)


def test_a_wrong_value_in_the_environment_or_a_flag_is_told_by_its_name(user: Path, project: Path) -> None:
    with pytest.raises(ConfigError, match=r"^SAYSO_MAX_OPTIONS: max_options is '1'; it must be a whole number from 2"):
        read(user, project, SAYSO_MAX_OPTIONS="1")
    with pytest.raises(ConfigError, match=r"^--max-options: max_options is 'many'"):
        read(user, project, {"max_options": "many"})
    with pytest.raises(ConfigError, match=r"^SAYSO_CONFIG is '~nobody-of-this-name/x'; it must be a path of a user"):
        user_file({"SAYSO_CONFIG": "~nobody-of-this-name/x"})


def test_an_empty_variable_counts_as_not_set(user: Path, project: Path) -> None:
    assert read(user, project, SAYSO_PROFILE="", SAYSO_STATE_DIR="").sources == {}


def test_a_file_that_cannot_be_read_is_told(user: Path, project: Path) -> None:
    user.write_bytes(b'person = "\xff"')
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        read(user, project)
    user.unlink()
    user.mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        read(user, project)


def test_a_file_in_the_place_of_the_projects_folder_is_ignored(user: Path, project: Path) -> None:
    (project / ".sayso").rmdir()
    (project / ".sayso").write_text("in the way")
    assert read(user, project).sources == {}


HARMLESS = {name for name, setting in SETTINGS.items() if setting.metadata["anywhere"]}


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - HARMLESS))
def test_a_project_may_not_choose_where_answers_go_or_what_runs(user: Path, project: Path, name: str) -> None:
    (project / ".sayso" / "config.toml").write_text(f'{name} = "x"')
    trust(user.parent, project)
    with pytest.raises(ConfigError, match=f"{name} may not be set by a project, only by you.*SAYSO_{name.upper()}"):
        read(user, project)


def test_what_names_places_and_commands_is_not_for_projects() -> None:
    assert not HARMLESS & {"store", "state_dir", "log_file", "person", "notify_command", "notify_url"}


def test_paths_are_absolute_and_know_the_home_folder(
    user: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.chdir(project)
    assert read(user, project, SAYSO_STATE_DIR="~/state").state_dir == Path("/home/somebody/state")
    assert read(user, project, SAYSO_STATE_DIR="state").state_dir == project / "state"


def test_the_users_file_can_be_named(tmp_path: Path) -> None:
    assert user_file({"SAYSO_CONFIG": str(tmp_path / "mine.toml")}) == tmp_path / "mine.toml"
    assert user_file({"XDG_CONFIG_HOME": "/x"}) == Path("/x/sayso/config.toml")


def test_the_users_file_has_to_be_there_where_it_is_named(user: Path, project: Path, tmp_path: Path) -> None:
    assert read(user, project).sources == {}
    for nowhere in (tmp_path / "mine.toml", project / "file" / "mine.toml"):
        (project / "file").touch()
        with pytest.raises(ConfigError) as raised:
            read(user, project, SAYSO_CONFIG=str(nowhere))
        assert str(raised.value) == (
            f"SAYSO_CONFIG names {nowhere}, which is not there. "
            "Correct it, make that file (it may be empty), or unset SAYSO_CONFIG."
        )
    (tmp_path / "mine.toml").touch()
    for anything in (tmp_path / "mine.toml", os.devnull):
        assert "profile" not in read(user, project, SAYSO_CONFIG=str(anything)).sources


def test_whose_files_these_are_is_said_by_the_environment_that_was_given() -> None:
    assert user_file({"HOME": "/home/ben"}) == Path("/home/ben/.config/sayso/config.toml")
    assert default_state_dir({"HOME": "/home/ben"}) == Path("/home/ben/.local/state/sayso")


def test_an_empty_name_is_the_login_name(user: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", os.fsdecode(b"ren\xe9"))
    user.write_text('person = ""')
    assert read(user, project).person == "ren\\xe9"


def test_the_project_is_what_the_client_names_if_it_is_there(tmp_path: Path) -> None:
    assert project_dir({"CLAUDE_PROJECT_DIR": str(tmp_path)}, Path("/elsewhere")) == tmp_path
    assert project_dir({"CLAUDE_PROJECT_DIR": str(tmp_path / "gone")}, tmp_path) == tmp_path


def test_a_working_directory_that_was_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="working directory has been removed"):
        load(environ={})


HOMELESS = """
import os, sys, tomllib
from sayso.config import load
from sayso.errors import ConfigError
os.setgroups([]) if os.geteuid() == 0 else None
try:
    os.setuid(65432)
except PermissionError:
    import pwd
    pwd.getpwuid = lambda uid: (_ for _ in ()).throw(KeyError(uid))
try:
    print(load().state_dir)
except ConfigError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, "HOME is not set. Set it, or SAYSO_STATE_DIR and SAYSO_CONFIG."),
        ({"SAYSO_STATE_DIR": "/srv/state", "SAYSO_CONFIG": os.devnull}, "/srv/state"),
    ],
)
def test_a_user_without_a_home_is_told_what_to_set(variables: dict[str, str], told: str) -> None:
    command = [sys.executable, "-c", HOMELESS]
    env = {"PATH": os.defpath, **variables}
    done = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == told


DOCS = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
EXAMPLES = [
    pytest.param({name: value}, id=f"{file.stem}: {name}")
    for file in DOCS
    for block in re.findall(r"```toml\n(.*?)```", file.read_text("utf-8"), re.S)
    for name, value in tomllib.loads(block).items()
    if name in SETTINGS
]


def as_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {json.dumps(each)}" for name, each in value.items()) + "}"
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.finding("F-71")
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_the_documents_write_into_a_file_can_stand_in_the_environment_too(
    user: Path, project: Path, example: dict[str, object]
) -> None:
    ((name, value),) = example.items()
    user.write_text(f"{name} = {as_toml(value) if not isinstance(value, str) else json.dumps(value)}")
    in_the_file = getattr(read(user, project), name)
    user.write_text("")
    assert getattr(read(user, project, None, **{f"SAYSO_{name.upper()}": as_toml(value)}), name) == in_the_file


@pytest.mark.finding("F-71")
@pytest.mark.parametrize(
    "written", ['{cursor = "4m", zed = "none"}', "cursor=4m,zed=none", " cursor = 4m , zed = none"]
)
def test_limits_of_calls_are_taken_in_every_form_that_is_documented(user: Path, project: Path, written: str) -> None:
    assert read(user, project, SAYSO_CALL_LIMITS=written).call_limits == {"cursor": 240_000, "zed": 0}


@pytest.mark.parametrize("written", ["cursor 4m", "cursor=4m,zed", "{cursor = 4m}", "[1]", "cursor"])
def test_limits_that_cannot_be_read_are_refused_and_not_dropped(user: Path, project: Path, written: str) -> None:
    with pytest.raises(ConfigError, match="cursor=4m,zed=none"):
        read(user, project, SAYSO_CALL_LIMITS=written)


@pytest.mark.finding("F-71")
def test_every_profile_is_in_the_document_about_tools() -> None:
    told = next(file for file in DOCS if file.name == "tools.md").read_text("utf-8")
    assert [name for name in PROFILES if f"| `{name}`" not in told] == []
