"""`sayso token` with agents that have signed in instead of bringing a token."""

from __future__ import annotations

import subprocess

import pytest
from tests.cli.program import BIN, SECONDS, Home

from sayso.config import load
from sayso.connections import Consent, new_pair
from sayso.desks import open_desks


def test_agents_that_signed_in_are_listed_and_shut_out_as_those_with_a_token_are(home: Home) -> None:
    address, pair = "http://127.0.0.1:7297/mcp", new_pair()
    with open_desks(load(environ=home.env, cwd=home.project)) as desks:
        desks.accounts.add_user("ada")
        named = {"client": "x", "client_name": "Claude Code", "redirect_uri": "", "challenge": ""}
        desks.connections.agree("code", Consent(user="ada", resource=address, **named))
        desks.connections.connect("code", pair)
        home.run("token", "add", "builder")
        builder, signed_in = home.run("token", "list", "--json").data
        assert (builder["name"], builder["by"]) == ("builder", "token")
        assert (signed_in["by"], signed_in["user"], signed_in["program"]) == ("sign-in", "ada", "Claude Code")
        assert signed_in["address"] == address
        name = signed_in["name"]
        listed = home.run("token", "list")
        assert f"{name}  ada" in listed.out
        assert pair.access not in listed.out + str(signed_in)
        assert desks.connections.agent(pair.access, address)
        ran = home.run("token", "revoke", name)
        assert (ran.code, ran.err) == (0, f"{name} is let in no more. To come back, it has to sign in again.\n")
        assert desks.connections.agent(pair.access, address) is None
    assert home.run("token", "revoke", name).code == 3
    assert [each["name"] for each in home.run("token", "list", "--json").data] == ["builder"]


def test_a_token_for_a_folder_that_is_not_here_says_so_because_its_agent_may_be_elsewhere(home: Home) -> None:
    nowhere = home.run("token", "add", "far", "--project", "/srv/shop", "--json")
    assert nowhere.data["name"] == "far"
    assert nowhere.err.startswith("There is no folder /srv/shop here: the token is for an agent that works in one else")
    assert "no folder" not in home.run("token", "add", "near", "--project", ".").err


@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
@pytest.mark.parametrize("words", ["token add builder", "token add builder --json", "web --api-token"])
def test_no_token_is_made_that_could_not_be_shown(home: Home, words: str, output: str) -> None:
    command = ["sh", "-c", f"{BIN / 'sayso'} {words} {output}"]
    ran = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=home.env, timeout=SECONDS)
    assert ran.returncode == 1
    assert ran.stderr.startswith("It could not be shown, so it was not made.\nError: ")
    assert ran.stderr.endswith(": standard output\n")
    with open_desks(load(environ=home.env, cwd=home.project)) as desks:
        assert desks.accounts.tokens() == []
        assert [session for user in desks.accounts.users() for session in desks.accounts.sessions(user.name)] == []
    assert home.run(*words.split()).code == 0
