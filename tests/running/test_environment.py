from __future__ import annotations

import logging
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.running.processes import eventually, fresh_token, with_argument

from sayso.running.environment import Environments


class Home:
    """A home directory with a login shell, and a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home"
        self.project = folder / "project"
        self.cache = folder / "state" / "environments"
        self.count = folder / "logins"
        self.folder.mkdir()
        self.project.mkdir()
        self.environ = {"HOME": str(self.folder), "SHELL": "/bin/bash", "PATH": "/usr/bin:/bin", "KEPT": "yes"}

    def profile(self, script: str) -> None:
        (self.folder / ".bash_profile").write_text(f"echo login >> {self.count}\n{script}\n")

    def logins(self) -> int:
        return len(self.count.read_text().splitlines()) if self.count.exists() else 0

    def environments(self, **environ: str) -> Environments:
        return Environments(folder=self.cache, environ={**self.environ, **environ})

    def get(self) -> dict[str, str]:
        return self.environments().for_project(self.project)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_commands_get_what_the_profile_exports(home: Home) -> None:
    home.profile('export PATH="$HOME/bin:$PATH" GREETING="two\nlines = fine" WHERE="$PWD"; unset KEPT')
    environment = home.get()

    assert environment["PATH"].startswith(f"{home.folder}/bin:")
    assert environment["GREETING"] == "two\nlines = fine"
    assert environment["WHERE"] == str(home.project)
    assert "KEPT" not in environment


@pytest.mark.parametrize(
    ("own", "profile", "found"),
    [
        pytest.param(
            "/venv/bin:/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin", "/venv/bin:/usr/local/bin:/usr/bin:/bin"
        ),
        pytest.param("/venv/bin:/bin:/usr/bin", "/usr/bin:/bin", "/venv/bin:/bin:/usr/bin", id="all of the login's"),
        pytest.param("/usr/bin:/bin", "/brew/bin:/usr/bin:/bin", "/brew/bin:/usr/bin:/bin", id="from a menu"),
        pytest.param("/node20/bin:/usr/bin", "/node18/bin:/usr/bin:/bin", "/node20/bin:/node18/bin:/usr/bin:/bin"),
    ],
)
def test_the_path_has_what_the_server_was_started_with_and_what_the_profile_gives(
    home: Home, own: str, profile: str, found: str
) -> None:
    home.profile(f'export PATH="{profile}"')
    for _ in range(2):  # from the login shell, and from what was remembered of it
        assert home.environments(PATH=own).for_project(home.project)["PATH"] == found


def test_what_a_profile_prints_does_not_get_in(home: Home) -> None:
    home.profile("echo PATH=/evil; printf 'A=1\\0B=2\\0'; echo C=3 >&2; export GREETING=hello")
    environment = home.get()

    assert environment["GREETING"] == "hello"
    assert environment["PATH"] != "/evil"
    assert {"A", "B", "C"} & environment.keys() == set()


def test_bytes_that_are_not_text_survive(home: Home) -> None:
    home.profile("export ODD=$'\\xff\\xfe'")
    home.get()

    assert os.fsencode(home.get()["ODD"]) == b"\xff\xfe"


def test_commands_are_told_that_nobody_watches(home: Home) -> None:
    home.profile("export TERM=xterm-256color PAGER=less FORCE_COLOR=1")
    environment = home.get()

    quiet = {"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
    assert quiet.items() <= environment.items()
    assert "FORCE_COLOR" not in environment


def test_nothing_of_ours_reaches_a_command(home: Home) -> None:
    home.profile("export SAYSO_STORE=postgresql://secret SEEN=$SAYSO_PERSON$ASK_USER_CONFIG")
    environments = home.environments(SAYSO_PERSON="ada", ASK_USER_CONFIG="/tmp/config.json")
    environment = environments.for_project(home.project)

    assert [name for name in environment if name.startswith("SAYSO_") or name == "ASK_USER_CONFIG"] == []
    assert environment["SEEN"] == ""


def test_leftovers_of_the_shell_itself_are_dropped(home: Home) -> None:
    home.profile("cd /")

    assert {"_", "SHLVL", "PWD", "OLDPWD"} & home.get().keys() == set()


def test_the_login_shell_runs_once_even_when_many_ask(home: Home) -> None:
    home.profile("export GREETING=hello")
    environments = home.environments()
    with ThreadPoolExecutor(8) as threads:
        greetings = {found["GREETING"] for found in threads.map(environments.for_project, [home.project] * 8)}

    assert (greetings, home.logins()) == ({"hello"}, 1)


def test_a_later_server_finds_the_snapshot_on_disk(home: Home) -> None:
    home.profile("export GREETING=hello")

    assert home.get() == home.get()
    assert home.logins() == 1


def test_a_changed_profile_or_project_or_environment_is_a_new_login(home: Home) -> None:
    home.profile("export GREETING=hello")
    environments = home.environments()
    environments.for_project(home.project)
    environments.for_project(home.folder)
    home.environments(KEPT="no").for_project(home.project)
    assert home.logins() == 3
    home.profile("export GREETING=goodbye")
    os.utime(home.folder / ".bash_profile", ns=(1, 1))

    assert environments.for_project(home.project)["GREETING"] == "goodbye"
    assert home.logins() == 4


def test_the_snapshot_is_private_and_holds_only_what_the_login_changed(home: Home) -> None:
    home.profile("export GREETING=hello")
    home.environments(API_KEY="a secret of the client").for_project(home.project)
    (file,) = home.cache.iterdir()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.cache.stat().st_mode) == 0o700
    assert "hello" in file.read_text()
    assert "a secret of the client" not in file.read_text()


def test_a_broken_snapshot_is_taken_again(home: Home) -> None:
    home.profile("export GREETING=hello")
    home.get()
    (file,) = home.cache.iterdir()
    file.write_text("{")

    assert home.get()["GREETING"] == "hello"
    assert home.logins() == 2


def test_old_snapshots_do_not_pile_up(home: Home) -> None:
    home.cache.mkdir(parents=True)
    for number in range(50):
        (home.cache / f"{number}.json").write_text("{}")
    home.get()

    assert len(list(home.cache.iterdir())) == 32


def test_a_profile_that_hangs_is_ended_and_the_reason_is_logged(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    token = fresh_token()
    home.profile(f"sleep {token}")
    environments = Environments(folder=home.cache, environ=home.environ, timeout_seconds=0.3)
    with caplog.at_level(logging.WARNING):
        environment = environments.for_project(home.project)

    assert environment["KEPT"] == "yes"
    assert "took more than 0.3 s" in caplog.text
    eventually(lambda: with_argument(token) == [])
    environments.for_project(home.project)
    assert home.logins() == 1


@pytest.mark.parametrize(
    ("script", "reason"), [("exit 3", "end with 3"), ("exit 0", "before it could show"), ("exec true", "before it")]
)
def test_a_profile_that_ends_the_shell_leaves_the_environment_as_it_is(
    home: Home, caplog: pytest.LogCaptureFixture, script: str, reason: str
) -> None:
    home.profile(script)
    with caplog.at_level(logging.WARNING):
        assert home.get()["KEPT"] == "yes"

    assert reason in caplog.text
    assert list(home.cache.iterdir()) == []


def test_a_profile_that_leaves_a_daemon_behind_does_not_hold_up_the_login(home: Home) -> None:
    token = fresh_token()
    home.profile(f"sleep {token} & export GREETING=hello")
    try:
        assert home.get()["GREETING"] == "hello"
    finally:
        for pid in with_argument(token):
            os.kill(pid, 9)


def test_a_shell_that_is_not_there_is_replaced_by_that_of_the_account(home: Home) -> None:
    environment = home.environments(SHELL="/no/such/shell").for_project(home.project)

    assert environment["KEPT"] == "yes"


def test_a_project_that_is_not_there_leaves_the_environment_as_it_is(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        environment = home.environments().for_project(home.project / "gone")

    assert environment["KEPT"] == "yes"
    assert "No such file" in caplog.text
