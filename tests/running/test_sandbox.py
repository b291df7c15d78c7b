"""Commands in a sandbox, tried for real: every way out that we know of, and what is documented as outside of it."""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.running.processes import PATH, PATIENCE, fresh_token

from sayso.config import Config
from sayso.records import replace
from sayso.running import confined, landlock, seatbelt, seccomp
from sayso.running.denials import guess
from sayso.running.launch import Launch
from sayso.running.output import read
from sayso.running.sandbox import SECRETS, SECRETS_AMONG_CACHES, Sandbox, SandboxWord, sandbox_for, why_not
from sayso.running.spawner import Spawner

ESCAPES = Path(__file__).with_name("escapes.py")
DOCUMENTED = Path(__file__).parents[2] / "docs" / "sandbox.md"
PYTHON = [sys.executable, "-I", "-S"]
OUTSIDE_OF_THE_PROMISE = {"the mode of a file", "the times of a file", "the command lines of others"}
"""What docs/sandbox.md says that no sandbox keeps a command from."""
OWN = {"own files", "own temporary files", "its own turn"}
OF_OTHERS = {
    "the turn of another", "the processors of another", "the policy of another", "the parameters of another",
    "the turn of another at the disk",
}  # fmt: skip
STOPPED = {
    "inherited descriptors", "reading a secret", "listing secrets", "reading Sayso's state", "reading what is in /tmp",
    "a symbolic link", "a hard link", "/proc/self/root", "/proc/PID/root", "/proc/PID/cwd", "/proc/PID/fd",
    "/proc/PID/environ", "/proc/PID/mem", "writing outside", "moving out", "a child", "a grandchild",
    "shared memory", "a device", "a socket in a file", "a datagram to a file", "a raw datagram to a file",
    "an abstract socket", "TCP", "UDP", "io_uring",
    "another's network", "its own network again", "mounting", "tracing", "a signal", "typing into a terminal",
    "rights of other programs", "moving a secret in", "emptying a file", "removing", "numbered shared memory",
    "numbered messages", "the limits of another", "the turn of a group", *OF_OTHERS,
}  # fmt: skip
WITHOUT_A_SANDBOX = {
    "reading a secret", "a symbolic link", "/proc/self/root", "/proc/PID/root", "/proc/PID/fd", "writing outside",
    "a child", "a grandchild", "a socket in a file", "a datagram to a file", "a raw datagram to a file",
    "an abstract socket", "TCP", "UDP", "a signal", "numbered shared memory", "numbered messages",
    "the limits of another", *OF_OTHERS,
}  # fmt: skip
"""Those that lead out anywhere else, whatever the machine: so they are tried rightly."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A project, with what lies around it."""

    project: Path
    home: Path
    outside: Path
    operation: Path

    @property
    def sandbox(self) -> Sandbox:
        return Sandbox(
            profile="workspace",
            network="none",
            write=(str(self.project),),
            read=tuple(
                os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, str(ESCAPES.parent), self.project)
            ),
            hidden=(str(self.home / ".ssh"), str(self.operation.parent)),
            home=str(self.home),
        )

    def launch(self, argv: Sequence[str], sandbox: Sandbox | None, name: str = "op") -> Launch:
        return Launch(
            folder=self.operation.with_name(name),
            argv=argv,
            cwd=self.project,
            env={**PATH, "TMPDIR": str(self.project)},
            sandbox=sandbox.message if sandbox else None,
        )


@pytest.fixture(scope="module")
def spawner() -> Iterator[Spawner]:
    spawner = Spawner(pool_size=1)
    yield spawner
    spawner.stop()


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    project, home, state, outside = (tmp_path / name for name in ("project", "home", "state", "outside"))
    for folder in (project, home / ".ssh", state, outside):
        folder.mkdir(parents=True)
    for file in (home / ".ssh" / "id", outside / "there", state / "sayso.db"):
        file.write_text("secret")
    return Ground(project=project, home=home, outside=outside, operation=state / "op")


@pytest.fixture
def targets(ground: Ground) -> Iterator[dict[str, Any]]:
    """Everything around the project that a command could reach for, and that is really there."""
    secret = ground.home / ".ssh" / "id"
    kinds = [(socket.AF_UNIX, socket.SOCK_STREAM)] * 2
    kinds += [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)]
    with ExitStack() as held:
        named, abstract, tcp, udp = (held.enter_context(socket.socket(family, kind)) for family, kind in kinds)
        # The path of a socket has little room, and that of a test's folder is long.
        short, name = held.enter_context(TemporaryDirectory()), f"sayso-{fresh_token()}"
        letters = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        for made, address in ((named, f"{short}/s"), (letters, f"{short}/d"), (abstract, f"\0{name}")):
            made.bind(address)
        for made in (tcp, udp):
            made.bind(("127.0.0.1", 0))
        for made in (named, abstract, tcp):
            made.listen()
        leader, follower = pty.openpty()
        held.callback(os.close, leader)
        held.callback(os.close, follower)
        opened = held.enter_context(secret.open("rb"))
        sibling = held.enter_context(
            subprocess.Popen(["sleep", fresh_token()], stdin=opened, cwd=secret.parent, env=PATH)
        )
        held.callback(sibling.kill)
        yield {
            "secret": str(secret),
            "outside": str(ground.outside),
            "state": str(ground.operation.with_name("sayso.db")),
            "sibling": sibling.pid,
            "socket": f"{short}/s",
            "letters": f"{short}/d",
            "abstract": name,
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "terminal": os.ttyname(follower),
        }


def tries(targets: dict[str, Any], ways: set[str]) -> list[str]:
    return [*PYTHON, str(ESCAPES), json.dumps({**targets, "ways": sorted(ways)})]


def outcome(spawner: Spawner, launch: Launch) -> tuple[int | None, str]:
    status = spawner.start_operation(launch).result(PATIENCE)
    return status.exit_code, read(launch.folder, "stdout").text + read(launch.folder, "stderr").text + status.text


def is_refused_here(spawner: Spawner, launch: Launch) -> bool:
    """Whether this machine cannot enforce the sandbox of it, which is then seen not to run."""
    assert launch.sandbox
    trouble = why_not(launch.sandbox["network"])
    if trouble:
        status = spawner.start_operation(launch).result(PATIENCE)
        assert (status.reason, status.never_ran) == ("spawn_failed", True)
        assert "cannot be enforced" in status.text
    return bool(trouble)


@pytest.mark.parametrize("network", ["none", "loopback", "all"])
def test_every_way_out_of_a_sandbox_is_stopped_or_documented(
    spawner: Spawner, ground: Ground, targets: dict[str, Any], network: str
) -> None:
    sandbox = replace(ground.sandbox, network=network)
    launch = ground.launch(tries(targets, STOPPED | OWN | OUTSIDE_OF_THE_PROMISE), sandbox)
    if is_refused_here(spawner, launch):
        return
    code, printed = outcome(spawner, launch)
    assert code == 0, printed
    led_out = {way for way, told in json.loads(printed).items() if told == "out"}
    open_network = {"TCP", "UDP"} if network == "all" else {"UDP"} if network == "loopback" else set()
    # With a loopback of its own, what is sent there goes nowhere.
    assert led_out == OWN | OUTSIDE_OF_THE_PROMISE | open_network
    assert (ground.home / ".ssh" / "id").read_text() == "secret"
    assert [file.name for file in ground.outside.iterdir()] == ["there"]
    assert not confined_leftovers(ground), "its temporary files go with it"


def confined_leftovers(ground: Ground) -> bool:
    return Path(confined.temporary_folder(str(ground.operation))).exists()


def test_the_same_ways_lead_out_without_a_sandbox(spawner: Spawner, ground: Ground, targets: dict[str, Any]) -> None:
    code, printed = outcome(spawner, ground.launch(tries(targets, WITHOUT_A_SANDBOX), None))
    assert code == 0, printed
    assert {way: told for way, told in json.loads(printed).items() if told != "out"} == {}


def test_a_command_that_may_only_read_changes_nothing_but_temporary_files(spawner: Spawner, ground: Ground) -> None:
    script = "echo x > new; mkdir folder; rm there; ls; cat there; echo x > $TMPDIR/own && cat $TMPDIR/own"
    (ground.project / "there").write_text("kept\n")
    sandbox = replace(ground.sandbox, profile="read-only", write=())
    launch = ground.launch(["sh", "-c", script], sandbox)
    if is_refused_here(spawner, launch):
        return
    _, printed = outcome(spawner, launch)
    assert "there\nkept\nx\n" in printed
    assert [file.name for file in ground.project.iterdir()] == ["there"]


def test_a_network_of_its_own_reaches_what_the_command_itself_starts(spawner: Spawner, ground: Ground) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "c = socket.create_connection(s.getsockname()); print('reached')"
    )
    sandbox = replace(ground.sandbox, network="loopback")
    launch = ground.launch([*PYTHON, "-c", code], sandbox)
    assert is_refused_here(spawner, launch) or outcome(spawner, launch) == (0, "reached\n")


def test_what_is_hidden_in_the_project_itself_stays_hidden(spawner: Spawner, ground: Ground) -> None:
    (ground.project / "keys").mkdir()
    (ground.project / "src").mkdir()
    (ground.project / "keys" / "id").write_text("secret")
    sandbox = replace(ground.sandbox, hidden=(*ground.sandbox.hidden, str(ground.project / "keys")))
    script = "cat keys/id; echo x > keys/new; echo x > src/new && cat src/new"
    launch = ground.launch(["sh", "-c", script], sandbox)
    if is_refused_here(spawner, launch):
        return
    _, printed = outcome(spawner, launch)
    assert "x\n" in printed
    assert "secret" not in printed
    assert [file.name for file in (ground.project / "keys").iterdir()] == ["id"]


def test_what_cannot_be_enforced_is_not_run(spawner: Spawner, ground: Ground) -> None:
    unknown = {**ground.sandbox.message, "network": "some"}
    launch = replace(ground.launch(["touch", "ran"], ground.sandbox), sandbox=unknown)
    status = spawner.start_operation(launch).result(PATIENCE)
    assert (status.reason, status.never_ran) == ("spawn_failed", True)
    assert not (ground.project / "ran").exists()


def test_a_program_that_is_not_there_for_the_sandbox_is_told_as_any_other(spawner: Spawner, ground: Ground) -> None:
    program = ground.home / ".ssh" / "run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    launch = ground.launch([str(program)], ground.sandbox)
    if is_refused_here(spawner, launch):
        return
    status = spawner.start_operation(launch).result(PATIENCE)
    assert (status.reason, "cannot be started" in status.text) == ("spawn_failed", True)


# Which sandbox


def word(profile: str | None, network: str | None = None, *, of_project: bool = True) -> SandboxWord:
    return SandboxWord(profile=profile, network=network, of_project=of_project)


@pytest.mark.parametrize(
    ("settings", "words", "expected"),
    [
        ({}, [word(None)], None),
        ({}, [word("none", "none")], None),
        ({}, [word("workspace")], ("workspace", "none")),
        ({}, [word("workspace", "all")], ("workspace", "all")),
        ({"sandbox_network": "loopback"}, [word("workspace")], ("workspace", "loopback")),
        ({"sandbox": "workspace"}, [word(None)], ("workspace", "none")),
        ({"sandbox": "workspace"}, [word("none", "all")], ("workspace", "none")),
        ({"sandbox": "workspace"}, [word("read-only")], ("read-only", "none")),
        ({"sandbox": "workspace", "sandbox_network": "all"}, [word(None, "none")], ("workspace", "none")),
        ({"sandbox": "workspace"}, [word("none", of_project=False)], None),
        ({"sandbox": "workspace"}, [word(None, "all", of_project=False)], ("workspace", "all")),
        ({}, [word(None), word("workspace", "loopback")], ("workspace", "loopback")),
        ({}, [word("read-only", "all"), word("workspace", "none")], ("read-only", "none")),
    ],
)
def test_the_stricter_of_the_person_and_the_project_holds(
    tmp_path: Path, settings: dict[str, Any], words: list[SandboxWord], expected: tuple[str, str] | None
) -> None:
    found = sandbox_for(Config(**settings), tmp_path, words)
    assert ((found.profile, found.network) if found else None) == expected


def test_a_sandbox_hides_what_is_sayso_s_and_what_the_person_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = Config(
        sandbox="workspace",
        state_dir=tmp_path / "state",
        user_dir=tmp_path / "mine",
        sandbox_hide=(tmp_path / "private",),
        sandbox_write=(tmp_path / "cache",),
    )
    found = sandbox_for(config, tmp_path / "project", [word(None)])
    assert found
    assert {str(tmp_path / name) for name in ("state", "mine", "private", "home/.ssh")} <= set(found.hidden)
    assert found.write == (str(tmp_path / "project"), str(tmp_path / "cache"))


def test_what_lies_among_caches_is_hidden_where_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    there, missing = tmp_path / ".cache/huggingface/token", tmp_path / ".m2/settings.xml"
    there.parent.mkdir(parents=True)
    there.write_text("secret")
    found = sandbox_for(Config(sandbox="workspace"), tmp_path / "project", [word(None)])
    assert found
    assert str(there) in found.hidden
    assert str(missing) not in found.hidden, "package managers may write to its folder"


def test_a_secret_behind_a_link_is_hidden_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").symlink_to("dots/ssh")
    (tmp_path / ".config").symlink_to("dots/config")
    found = sandbox_for(Config(sandbox="workspace"), tmp_path / "project", [word(None)])
    assert found
    assert {str(tmp_path / "dots/ssh"), str(tmp_path / "dots/config/gh")} <= set(found.hidden)


def test_the_documentation_lists_all_that_is_hidden_of_a_home_and_nothing_else() -> None:
    documented = DOCUMENTED.read_text("utf-8").split("### What is hidden of your home")[1].split("\n## ")[0]
    listed = re.findall(
        r"`~/([^`]+)`", "".join(line for line in documented.splitlines() if line.startswith(("-", " ")))
    )
    assert sorted(listed) == sorted((*SECRETS, *SECRETS_AMONG_CACHES))


def test_all_but_what_is_hidden_is_named_one_by_one(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("a")
    top = str(tmp_path)
    assert list(landlock.granted(top, [])) == [top]
    assert sorted(landlock.granted(top, [f"{top}/a/b"])) == [f"{top}/a/d", f"{top}/e"]
    assert sorted(landlock.granted(top, [f"{top}/not-there"])) == [f"{top}/a", f"{top}/e"]
    assert list(landlock.granted(top, [top])) == []


def test_no_filter_is_made_for_a_machine_whose_calls_are_not_known() -> None:
    assert all(
        seccomp.filter_for(network, machine) for network in seccomp.FAMILIES for machine in ("aarch64", "x86_64")
    )
    with pytest.raises(OSError, match="riscv64"):
        seccomp.filter_for("none", "riscv64")


def test_the_profile_for_macos_ends_with_what_is_hidden_and_without_a_network() -> None:
    given = Sandbox(profile="workspace", network="none", write=("/p",), hidden=('/h/"x',), home="/h").message
    lines = seatbelt.profile(given, "/t").splitlines()
    hidden = lines.index('(deny file-read* file-write* (subpath "/h/\\"x"))')
    assert lines.index('(allow file-write* (subpath "/p"))') < hidden
    assert "(deny network*)" in lines
    assert not [line for line in lines if line.startswith("(allow network")]


# What is said of a failure


def test_a_denied_path_is_told_as_a_guess_where_the_person_may_touch_it(ground: Ground) -> None:
    secret, outside = ground.home / ".ssh" / "id", ground.outside
    printed = f"cat: {secret}: Permission denied\ntouch: cannot touch '{outside}/x': Permission denied"
    told = guess(printed, ground.sandbox, str(ground.project))
    assert f"a guess from what it printed: it does not allow reading {secret}, changing {outside}/x." in told


@pytest.mark.parametrize(
    "printed", ["all went wrong", "rm: 'own': Permission denied", "cat: /not/there: Permission denied"]
)
def test_nothing_is_guessed_where_the_sandbox_has_nothing_to_do_with_it(ground: Ground, printed: str) -> None:
    assert guess(printed, ground.sandbox, str(ground.project)) == ""


def test_a_failure_of_the_network_is_told_as_a_guess(ground: Ground) -> None:
    printed = "curl: (6) Could not resolve host: example.com"
    assert "that use of the network" in guess(printed, ground.sandbox, str(ground.project))
    assert guess(printed, replace(ground.sandbox, network="all"), str(ground.project)) == ""
