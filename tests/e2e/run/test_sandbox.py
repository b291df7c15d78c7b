"""A tool that runs in a sandbox: what that kept it from is told to the agent and to the person, and so is a machine
that cannot enforce one. Every machine tests what is promised for it."""

from __future__ import annotations

import json
import sys

import pytest
from mcp import types
from tests.e2e.run.kit import Place, data_of, text_of, waited_for, worker

from sayso.config import NETWORKS, Config
from sayso.doctor import surroundings
from sayso.running.sandbox import why_not

WITHOUT_LANDLOCK = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
libc.prctl(38, 1, 0, 0, 0)
libc.prctl(22, 2, struct.pack("HP", len(steps), ctypes.addressof(program)), 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Starts a program for which landlock_create_ruleset, 444 on every machine, is no system call (ENOSYS)."""


def as_the_person_sees_it(place: Place, tool: str) -> str:
    (operation,) = [each for each in json.loads(place.run("ops", "list", "--json").stdout) if each["tool"] == tool]
    return place.run("ops", "show", operation["id"]).stdout


def refused(result: types.CallToolResult) -> bool:
    return bool(result.is_error) and "its sandbox (workspace, network none) cannot be enforced" in text_of(result)


def test_what_its_sandbox_denied_a_tool_is_told_to_the_agent_and_the_person_in_words(place: Place) -> None:
    waited_for(place, sandbox="workspace")
    keys = place.home / ".ssh"
    keys.mkdir()
    with worker(place) as one:
        result = one.do("fg", script=f"echo mine > inside; echo theirs > {keys}/config")
    assert not list(keys.iterdir())
    if why_not("none"):
        assert refused(result), text_of(result)
        assert not (place.project / "inside").exists()
        return
    denied = f"a guess from what it printed: it does not allow changing {keys}/config."
    assert result.is_error
    assert denied in text_of(result)
    assert "Permission denied" in data_of(result)["stderr"]
    assert (place.project / "inside").read_text() == "mine\n"
    assert denied in as_the_person_sees_it(place, "fg").replace("\n", " ")


@pytest.mark.skipif(sys.platform != "linux", reason="takes a system call of Linux away")
def test_a_tool_whose_sandbox_the_kernel_cannot_enforce_is_refused_in_words_and_not_run(place: Place) -> None:
    waited_for(place, sandbox="workspace")
    place.launcher = [sys.executable, "-I", "-S", "-c", WITHOUT_LANDLOCK]
    with worker(place) as one:
        assert refused(one.do("fg", script="touch ran"))
    assert not (place.project / "ran").exists()


@pytest.mark.parametrize("cannot", [(), ("loopback",), NETWORKS], ids=lambda cannot: " ".join(cannot) or "all can be")
def test_the_doctor_says_with_which_networks_a_sandbox_can_be_enforced(
    cannot: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = dict.fromkeys(cannot, "the kernel has no Landlock")
    monkeypatch.setattr(surroundings, "why_not", lambda network: trouble.get(network, ""))
    said = [finding.text for finding in surroundings.sandbox(Config())]
    able = ", ".join(network for network in NETWORKS if network not in cannot)
    expected = [f"commands can be kept in a sandbox here, with network {able}"] if able else []
    expected += [f"No sandbox with network {each} can be enforced here: {trouble[each]}" for each in cannot]
    assert said == expected


def test_the_doctor_tries_it_on_this_machine() -> None:
    said = " ".join(finding.text for finding in surroundings.sandbox(Config()))
    for network in NETWORKS:
        assert (f"No sandbox with network {network} " in said) == bool(why_not(network))
