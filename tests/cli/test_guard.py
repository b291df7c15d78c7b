"""The descent guard: an agent's own processes cannot settle what it asked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.cli.program import BIN, SECONDS, Home, choice
from tests.cli.pseudo_terminal import Terminal
from tests.cli.test_allow import PUSH
from tests.cli.test_tools import SLEEPER, write_tool

from sayso import agent_guard
from sayso.agent_guard import kinship
from sayso.asks.model import Asker, State
from sayso.cli import allow, answer, deny, reject
from sayso.clients import IN_A_SHELL
from sayso.processes import ancestry, name_of


def this_process(**changes: object) -> Asker:
    ours = name_of(os.getpid())
    assert ours is not None
    known: dict[str, object] = {
        "client": "agent",
        "host": socket.gethostname(),
        "pid": ours.pid,
        "started": ours.started,
    }
    return Asker(**{**known, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [["answer", "ID", "SQLite"], ["reject", "ID", "--reason", "never mind"]])
def test_a_child_of_the_asking_agent_is_refused_and_it_is_recorded(home: Home, arguments: list[str]) -> None:
    ask = home.leave(choice(), asker=this_process())
    ran = home.run(*(ask.id if part == "ID" else part for part in arguments))
    assert ran.code == 5
    assert "an agent may not settle its own" in ran.error
    assert home.ask_of(ask).state is State.PENDING
    with home.desk() as desk:
        event = desk.events(ask.id)[-1]
    assert (event.kind, event.person, event.surface) == ("refused", "ada", "command line")
    assert event.detail == f"it descends from process {os.getpid()}"
    assert "refused: pending by ada at the command line" in home.run("show", ask.id, "--events").out


def test_what_an_agent_wants_to_send_along_with_its_answer_stays_here(home: Home) -> None:
    ask = home.leave(choice(), asker=this_process())
    (home.project / "notes.txt").write_text("as agreed")
    ran = home.run("answer", ask.id, "SQLite", "--attach", "notes.txt")
    assert ran.code == 5
    assert "an agent may not settle its own" in ran.error
    assert home.ask_of(ask).state is State.PENDING


def test_no_agent_is_led_through_the_prompts(home: Home) -> None:
    ask = home.leave(choice(), asker=this_process())
    with Terminal(home, "answer", ask.id) as terminal:
        assert terminal.end() == 5
    assert "an agent may not settle its own" in " ".join(terminal.screen.split())
    assert "Number, label or own words" not in terminal.screen
    assert home.ask_of(ask).state is State.PENDING


def test_the_plain_inbox_takes_no_word_of_an_agent(home: Home) -> None:
    ask = home.leave(choice(), asker=this_process())
    with Terminal(home, "--plain", TERM="xterm-256color") as terminal:
        for no_or_answer in ("n 1", "1"):
            terminal.reply("Which one, 1 to 1?", no_or_answer)
            terminal.expect("an agent may not")
        terminal.reply("Which one, 1 to 1?", "q")
        assert terminal.end() == 0
    assert home.ask_of(ask).state is State.PENDING
    assert home.run("show", ask.id, "--events").out.count("refused: pending by ada at the command line") == 2


def test_no_agent_answers_in_the_demo(home: Home) -> None:
    with Terminal(home, "demo", CLAUDECODE="1") as terminal:
        terminal.reply("own words: ", "/r")
        terminal.reply("Why?", "just looking")
        assert terminal.end() == 5
    assert "an agent may not answer what a person is asked" in " ".join(terminal.screen.split())


def test_a_grandchild_through_a_shell_is_refused_too(home: Home) -> None:
    ask = home.leave(choice(), asker=this_process())
    script = f"sh -c '{BIN}/sayso answer {ask.id} SQLite; echo code=$?'; true"
    ran = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, env=home.env, cwd=home.project, timeout=SECONDS
    )
    assert "code=5" in ran.stdout


def test_a_process_in_the_asking_session_is_refused(home: Home) -> None:
    ask = home.leave(choice(), asker=Asker(client="claude-code", session="abc-123"))
    ran = home.run("answer", ask.id, "SQLite", CLAUDE_CODE_SESSION_ID="abc-123")
    assert ran.code == 5
    assert "it runs in the session abc-123" in ran.error


@pytest.mark.parametrize(
    "asker",
    [
        this_process(host="another-machine"),
        this_process(started="0"),
        this_process(pid=0, started=""),
        Asker(client="agent", session="another-session"),
        Asker(client="agent", session=""),
    ],
    ids=["other host", "reused pid", "unknown process", "other session", "no session"],
)
def test_everybody_else_may_answer(home: Home, asker: Asker) -> None:
    ask = home.leave(choice(), asker=asker)
    assert home.run("answer", ask.id, "SQLite").code == 0


def test_an_agent_answers_for_a_person_no_question_of_another_agent(home: Home) -> None:
    ask = home.leave(choice(), asker=Asker(client="codex", session="another-session"))
    for arguments in (["answer", ask.id, "SQLite"], ["reject", ask.id, "--reason", "never mind"]):
        ran = home.run(*arguments, CLAUDE_CODE_SESSION_ID="abc-123")
        assert ran.code == 5
        assert "an agent may not answer what a person is asked" in ran.error
    assert home.ask_of(ask).state is State.PENDING
    assert home.run("show", ask.id, "--events").out.count("refused: pending by ada at the command line") == 2


def test_a_sibling_of_the_agent_may_answer(home: Home) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as agent:
        name = name_of(agent.pid)
        assert name is not None
        ask = home.leave(choice(), asker=this_process(pid=name.pid, started=name.started))
        ran = home.run("answer", ask.id, "SQLite")
        assert agent.stdin is not None
        agent.stdin.write(b"\n")
    assert ran.code == 0


def test_an_empty_session_in_the_environment_is_no_kinship() -> None:
    assert kinship(Asker(session=""), {"CLAUDE_CODE_SESSION_ID": ""}, ancestry()) == ""


AS_AGENT = """
import subprocess, sys
server = subprocess.Popen(["sayso", "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
server.stdin.flush()
server.stdout.readline()
words = " ".join([*sys.argv[1:], "sayso web --api-token --user ada; exit $?"])
ran = subprocess.run(["sh", "-c", words], capture_output=True, text=True)
print(ran.returncode, ran.stdout, ran.stderr)
server.stdin.close()
server.wait()
"""


@pytest.mark.finding("F-32")
@pytest.mark.parametrize("other_words", [False, True], ids=["", "though it tells of the store in other words"])
def test_a_client_with_a_server_of_its_own_makes_no_token(home: Home, other_words: bool) -> None:
    assert home.run("user", "add", "ada").code == 0
    settings = home.project / "settings.toml"
    settings.write_text(f'state_dir = "{home.state}"')
    nowhere = ["SAYSO_STATE_DIR=", f"HOME={home.project}", f"XDG_STATE_HOME={home.project}", f"SAYSO_CONFIG={settings}"]
    ran = subprocess.run(
        [sys.executable, "-c", AS_AGENT, *(nowhere if other_words else [])],
        capture_output=True,
        text=True,
        env=home.env,
        cwd=home.project,
        timeout=2 * SECONDS,
        check=True,
    )
    assert ran.stdout.startswith("5 "), ran.stdout
    assert "an agent may not make sign-in links or API tokens" in ran.stdout
    assert "an agent tried to make sign-in links or API tokens (it descends from" in home.run("user", "list").err


@pytest.mark.finding("F-32")
@pytest.mark.parametrize("mark", ["CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX"])
def test_in_a_shell_of_an_agent_nobody_is_made(home: Home, mark: str) -> None:
    for words in (
        ["web", "--link"],
        ["web", "--api-token"],
        ["user", "add", "x"],
        ["token", "add", "x"],
        ["user", "revoke", "x"],
        ["token", "revoke", "x"],
    ):
        ran = home.run(*words, **{mark: "1"})
        assert ran.code == 5, words
        assert f"started by an agent ({mark} is set)" in ran.error
    assert home.run("user", "list", "--json").data == []
    assert home.run("token", "list", "--json").data == []


@pytest.mark.finding("F-32")
def test_a_command_that_runs_for_an_agent_makes_no_user(home: Home) -> None:
    write_tool(home, SLEEPER)
    add = f"SAYSO_STATE_DIR={home.state} {BIN}/sayso user add x 2>&1; echo code=$?"
    ran = home.run("tools", "run", "sleeper", f"script={add}")
    assert "started by an agent (it descends from process" in ran.out
    assert "code=5" in ran.out


@pytest.mark.finding("F-32")
def test_who_asks_now_makes_no_user(home: Home) -> None:
    home.leave(choice(), asker=this_process())
    ran = home.run("user", "add", "x")
    assert ran.code == 5
    assert f"it descends from process {os.getpid()}" in ran.error


@pytest.mark.finding("F-32")
@pytest.mark.parametrize("words", [[], ["--permission-mode", "bypassPermissions"]], ids=["plain", "with a mode"])
def test_in_a_shell_of_an_agent_nothing_is_said_about_what_agents_may_do(home: Home, words: list[str]) -> None:
    ran = home.run("project", "add", ".", *words, CLAUDECODE="1")
    assert ran.code == 5
    assert "an agent may not say where agents run and what they may do there" in ran.error
    assert home.run("project", "list", "--json").data == []
    assert "an agent tried to say where agents run" in home.run("user", "list").err


SETTLED = {
    "answer": (answer.command, ["SQLite"]),
    "answer with a file": (answer.command, ["SQLite", "--attach", "notes.txt"]),
    "reject": (reject.command, []),
    "reject a permission": (reject.command, []),
    "deny": (deny.command, []),
    "allow": (allow.command, ["--digest", PUSH.digest]),
    "allow with a rule": (
        allow.command,
        ["--digest", PUSH.digest, "--like", "Bash(git push *)", "--for", "everywhere"],
    ),
}


@pytest.mark.parametrize("way", SETTLED)
def test_who_settles_is_looked_at_once(home: Home, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Each look reads all processes and all that is open."""
    command, words = SETTLED[way]
    (home.project / "notes.txt").write_text("as agreed")
    looks: list[str] = []

    def counted(name: str, look: Callable[..., object]) -> Callable[..., object]:
        def looked(*given: object, **more: object) -> object:
            looks.append(name)
            return look(*given, **more)

        return looked

    for name in ("ancestry", "servers_beside"):
        monkeypatch.setattr(agent_guard, name, counted(name, getattr(agent_guard, name)))
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    for name in IN_A_SHELL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home.project)
    with home.permission(PUSH, asker=Asker(client="agent")) as permission:
        ask = home.leave(choice(), asker=Asker(client="agent")) if "answer" in way or way == "reject" else permission
        command.main([ask.id, *words], standalone_mode=False)
        assert not home.ask_of(ask).state.answerable
    assert sorted(looks) == ["ancestry", "servers_beside"]


@pytest.mark.finding("F-32")
@pytest.mark.parametrize(
    "words",
    [
        ["allow", "ID", "--digest", PUSH.digest],
        ["allow", "ID", "--digest", PUSH.digest, "--like", "Bash(git push *)", "--for", "everywhere"],
        ["deny", "ID"],
        ["reject", "ID"],
    ],
)
def test_an_agent_decides_on_no_permission_of_another(home: Home, words: list[str]) -> None:
    with home.permission(PUSH, asker=Asker(client="agent", session="another-session")) as ask:
        ran = home.run(*(ask.id if part == "ID" else part for part in words), CLAUDECODE="1")
        assert ran.code == 5
        assert "an agent may not decide what another may do" in ran.error
        assert home.ask_of(ask).state is State.PENDING
        assert "CLAUDECODE is set" in home.run("log").out
        assert home.run(*(ask.id if part == "ID" else part for part in words)).code == 0, "a person does"


@pytest.mark.parametrize("words", [["--take-back"], ["--edit"], ["--input", "-"], ["--like"]])
def test_an_agent_changes_nothing_that_is_to_be_allowed(home: Home, words: list[str]) -> None:
    with home.permission(PUSH, asker=Asker(client="agent", session="another-session"), takes_changes=True) as ask:
        ran = home.run("allow", ask.id, *words, CLAUDECODE="1")
        assert ran.code == 5
        assert "an agent may not decide what another may do" in ran.error
