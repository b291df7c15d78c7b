"""What goes wrong outside: settings and stores that cannot be used. One clear line each, the right exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable

import pytest
from tests.cli.program import BIN, SECONDS, Home, choice


def config_file(home: Home, text: str | bytes) -> None:
    file = home.folder / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("profile = ", "is not valid TOML"),
        (b"\xff\xfe", "is not UTF-8 text"),
        ('profil = "all"', "there is no setting 'profil'. Did you mean profile?"),
        ('ask_timeout = "soon"', "ask_timeout is 'soon'; it must be a time such as"),
    ],
)
@pytest.mark.parametrize("command", [["list"], ["server"], ["config"], ["ask", "Why?"]], ids=lambda command: command[0])
def test_settings_that_cannot_be_read_are_one_error_and_nothing_is_done(
    home: Home, command: list[str], text: str | bytes, words: str
) -> None:
    config_file(home, text)
    ran = home.run(*command)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.error
    assert "config.toml" in ran.error
    assert not home.state.exists()


@pytest.mark.parametrize(
    "command",
    [["list"], ["server"], ["config"], ["ask", "Why?"], ["rules"], ["config", "set", "person", "Ada"]],
    ids=lambda command: " ".join(command[:2]),
)
def test_settings_that_are_named_and_are_not_there_are_no_empty_ones(home: Home, command: list[str]) -> None:
    nowhere = home.folder / "nope" / "sayso.toml"
    ran = home.run(*command, SAYSO_CONFIG=str(nowhere))
    assert (ran.code, ran.out) == (2, "")
    assert ran.error.endswith(
        f"SAYSO_CONFIG names {nowhere}, which is not there. "
        "Correct it, make that file (it may be empty), or unset SAYSO_CONFIG."
    )
    assert not home.state.exists()
    assert not nowhere.parent.exists()
    assert home.run("list", SAYSO_CONFIG=os.devnull).code == 0


def test_a_project_cannot_choose_the_store(home: Home) -> None:
    (home.project / ".sayso").mkdir()
    (home.project / ".sayso" / "config.toml").write_text('store = "postgresql://evil/"')
    home.trust()
    ran = home.run("list")
    assert ran.code == 2
    assert "store may not be set by a project" in ran.error


def damaged(home: Home) -> None:
    home.state.mkdir()
    (home.state / "sayso.db").write_bytes(b"this is no database, " * 500)


def a_file_instead_of_the_folder(home: Home) -> None:
    home.state.write_text("not a folder")


def a_folder_instead_of_the_file(home: Home) -> None:
    (home.state / "sayso.db").mkdir(parents=True)


def too_new(home: Home) -> None:
    home.leave(choice())
    with sqlite3.connect(home.state / "sayso.db") as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    connection.close()


COMMANDS: list[list[str]] = [
    ["list"],
    ["show", "abc"],
    ["answer", "abc", "x"],
    ["reject", "abc"],
    ["history"],
    ["ask", "Why?"],
    [],
]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (damaged, "is damaged or is not a Sayso store"),
        (a_file_instead_of_the_folder, "/state"),
        (a_folder_instead_of_the_file, "/state/sayso.db"),
        (too_new, "has schema version 999"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_error(home: Home, break_it: Callable[[Home], None], words: str) -> None:
    break_it(home)
    for command in COMMANDS:
        ran = home.run(*command)
        assert (ran.code, ran.out) == (7, ""), command
        assert words in ran.error


def test_a_store_that_is_down_is_one_error(home: Home) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"postgresql://ada:geheim@127.0.0.1:{nobody.getsockname()[1]}/sayso?connect_timeout=1"
        ran = home.run("list", SAYSO_STORE=address)
    assert (ran.code, ran.out) == (7, "")
    assert "does not work" in ran.error
    assert "geheim" not in ran.err


def test_a_store_address_of_another_kind_is_refused(home: Home) -> None:
    ran = home.run("list", SAYSO_STORE="mysql://localhost/sayso")
    assert ran.code == 2
    assert "must be a postgresql:// address" in ran.error


def test_a_full_disk_under_the_output_is_an_error(home: Home) -> None:
    home.leave(choice())
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [BIN / "sayso", "list"], stdout=full, stderr=subprocess.PIPE, env=home.env, text=True, timeout=SECONDS
        )
    assert ran.returncode == 1
    assert ran.stderr == "Error: No space left on device: standard output\n"


def in_a_removed_folder(home: Home, words: str) -> subprocess.CompletedProcess[str]:
    gone = home.folder / "gone"
    return subprocess.run(
        ["sh", "-c", f"mkdir {gone} && cd {gone} && rmdir {gone} && {BIN}/sayso {words}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=home.env,
        text=True,
        timeout=SECONDS,
    )


@pytest.mark.parametrize(
    "words",
    ["list --json", "show {id}", "answer {id} SQLite", "agents", "log verify", "ops list", "rules check ls", "--plain"],
)
def test_what_needs_no_project_works_where_the_working_directory_is_gone(home: Home, words: str) -> None:
    ask = home.leave(choice())
    ran = in_a_removed_folder(home, words.format(id=ask.id))
    assert ran.returncode == (10 if words.startswith("rules") else 0), ran.stderr
    assert "Error" not in ran.stderr


def test_what_is_asked_where_the_working_directory_is_gone_names_it_as_its_project(home: Home) -> None:
    ran = in_a_removed_folder(home, "ask 'Why?' --timeout 100ms")
    assert ran.returncode == 6, ran.stderr
    (ask,) = home.run("list", "--json").data
    assert ask["asker"]["project"] == str(home.folder / "gone")


@pytest.mark.parametrize(
    "words",
    [
        "server",
        "tools list",
        "tools init git",
        "trust",
        "config set --project max_options 6",
        "backup",
        "project add .",
    ],
)
def test_what_needs_the_project_says_that_the_working_directory_is_gone(home: Home, words: str) -> None:
    ran = in_a_removed_folder(home, words)
    assert ran.returncode == 2
    assert ran.stderr == "Error: The working directory has been removed. Change to one that is there.\n"
    assert not (home.folder / "gone").exists()


def test_doctor_examines_all_else_where_the_working_directory_is_gone(home: Home) -> None:
    ran = in_a_removed_folder(home, "doctor --json")
    assert ran.returncode == 1, ran.stdout
    found = {finding["subject"]: finding for finding in json.loads(ran.stdout)["findings"]}
    assert "has been removed" in found["project"]["text"]
    assert found["project"]["fix"] == "Change to a folder that is there."
    assert {"store", "bell", "settings"} <= found.keys()
    assert found["settings"]["level"] == "ok"


ON_A_DISK = """
mount -t tmpfs -o size=4m none "$SAYSO_STATE_DIR" || exit 77
sayso ask 'Which?' --timeout 100ms
if [ $1 = crashed ]; then
    sayso ask 'Why?' & until [ "$(sayso list --count)" = 2 ]; do :; done; kill -9 $!; wait
fi
shift
if [ $1 = full ]; then cat /dev/zero > "$SAYSO_STATE_DIR/zeros"; else mount -o remount,ro "$SAYSO_STATE_DIR"; fi
shift
for words; do sayso $words >"$HOME/out" 2>&1; echo "$words: $?"; cat "$HOME/out"; done
"""


def on_a_disk(home: Home, was: str, becomes: str, *words: str) -> dict[str, tuple[int, str]]:
    """How each command ends, and what it prints, on a disk of its own that was written before."""
    if not shutil.which("unshare"):
        pytest.skip("nothing can be mounted here")
    home.state.mkdir()
    command = ["unshare", "-Urm", "sh", "-c", ON_A_DISK, "sh", was, becomes, *words]
    env = {**home.env, "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(command, capture_output=True, cwd=home.project, env=env, text=True, timeout=SECONDS)
    if ran.returncode == 77 or "unshare" in ran.stderr:
        pytest.skip("nothing can be mounted here")
    parts = re.split(rf"^({'|'.join(map(re.escape, words))}): (\d+)$", ran.stdout, flags=re.MULTILINE)[1:]
    return {name: (int(code), told) for name, code, told in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


@pytest.mark.parametrize("was", ["closed", "crashed"])
@pytest.mark.parametrize("becomes", ["full", "read-only"])
def test_what_is_kept_can_be_read_from_a_disk_that_cannot_be_written(home: Home, was: str, becomes: str) -> None:
    looking = ["list", "history", "log verify", "agents", "ops list", "rules"]
    found = on_a_disk(home, was, becomes, *looking)
    assert {words: code for words, (code, _) in found.items()} == dict.fromkeys(looking, 0), found
    assert "Which?" in found["list"][1]
    assert ("Why?" in found["list"][1]) is (was == "crashed")
    assert "disk is full or read-only: this is how it was last" in found["list"][1]
    assert "Which?" in found["history"][1]


@pytest.mark.parametrize(
    ("becomes", "told"),
    [("full", "No space is left for the store"), ("read-only", "cannot be written: its disk is read-only.")],
)
def test_a_disk_that_cannot_be_written_is_named_as_what_it_is(home: Home, becomes: str, told: str) -> None:
    found = on_a_disk(home, "closed", becomes, "away", "answer 0123 x", "doctor")
    assert [code for code, _ in found.values()] == [7, 7, 2]
    for _, said in found.values():
        assert told in said
        assert "ermissions" not in said
        assert "cannot be read and written" not in said


@pytest.mark.parametrize("command", ["history --search", "list --limit", "ops output abc --grep", "ask --title"])
def test_an_option_without_its_value_names_the_help_of_its_command(home: Home, command: str) -> None:
    ran = home.run(*command.split())
    *words, option = command.split()
    assert ran.code == 2
    assert ran.error == f"Error: Option '{option}' requires an argument."
    assert ran.err.splitlines()[-1] == f"Try 'sayso {' '.join(words).removesuffix(' abc')} -h' for help."


@pytest.mark.parametrize("words", ["tools init git", "tools init git --user", "install claude-code"])
def test_a_full_disk_is_named_with_the_file_and_leaves_no_part_of_one(home: Home, words: str) -> None:
    (home.folder / ".claude.json").write_text('{"a": 1}')
    before = {path for path in home.folder.rglob("*") if path.is_file()}
    full = ["sh", "-c", f"ulimit -f 0; exec {BIN / 'sayso'} {words}"]
    ran = subprocess.run(full, capture_output=True, cwd=home.project, env=home.env, text=True, timeout=SECONDS)
    assert ran.returncode == 1
    assert "File too large" in ran.stderr
    assert str(home.folder) in ran.stderr
    assert {path for path in home.folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["list", "--help", "tools init git", "backup saved.db", "doctor --json"])
def test_with_a_stream_closed_all_is_done_and_what_was_not_printed_is_an_error(
    home: Home, words: str, closed: str
) -> None:
    home.leave(choice())
    ran = subprocess.run(
        ["sh", "-c", f"{BIN / 'sayso'} {words} {closed}"],
        capture_output=True,
        cwd=home.project,
        env=home.env,
        text=True,
        timeout=SECONDS,
    )
    usual = home.run(*words.replace("saved", "other").split())
    is_missed = closed != "2>&-" and bool(usual.out)
    assert ran.returncode == (usual.code or int(is_missed))
    assert ("Error: Bad file descriptor: standard output" in ran.stderr) is (
        is_missed and closed == ">&-" and not usual.code
    )
    assert "Traceback" not in ran.stderr
    assert "Warning" not in ran.stderr
    assert (home.project / "saved.db").exists() is words.startswith("backup")


@pytest.mark.parametrize(
    "words",
    [
        "list",
        "--help",
        "list --json",
        "config",
        "doctor",
        "doctor --json",
        "install --list",
        "demo --help",
        "tools init",
    ],
)
def test_whoever_has_read_enough_ends_it_without_a_word(home: Home, words: str) -> None:
    home.leave(choice())
    ours, its = os.pipe()
    os.close(ours)
    command = [str(BIN / "sayso"), *words.split()]
    ran = subprocess.run(command, stdout=its, stderr=subprocess.PIPE, env=home.env, text=True, timeout=SECONDS)
    os.close(its)
    assert (ran.returncode, ran.stderr) == (141, "")


def test_doctor_ends_with_what_it_found_however_little_of_that_is_read(home: Home) -> None:
    damaged(home)
    script = f"{BIN / 'sayso'} doctor | head -n 1 >&2; exit ${{PIPESTATUS[0]}}"
    codes = [
        subprocess.run(["bash", "-c", script], capture_output=True, env=home.env, timeout=SECONDS).returncode
        for _ in range(3)
    ]
    assert codes == [2, 2, 2]


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("203.0.113.9", "That is no address of this machine: choose another with --host."),
        ("127.0.0.1", "No inbox of this store answers there: choose another place with --host and --port."),
    ],
)
def test_what_to_do_is_told_by_what_is_in_the_way_of_listening(home: Home, host: str, told: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = home.run("web", "--host", host, "--port", str(taken.getsockname()[1]))
    assert (ran.code, told in ran.err) == (1, True), ran.err
