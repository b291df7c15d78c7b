"""Before a command does anything: versions, help, what is imported, completion, wrong usage."""

from __future__ import annotations

import shutil
import subprocess
import sys

import click
import pytest
from tests.cli.program import BIN, SECONDS, Home, choice

from sayso import __version__
from sayso.cli import READERS
from sayso.cli.command_table import COMMANDS
from sayso.cli.lazy_group import LazyGroup, load

HEAVY = ("mcp", "mcp_types", "pydantic", "textual", "anyio", "asyncio", "starlette", "psycopg", "yaml")
DUMP = """
import atexit, os, sys

def dump():
    print("IMPORTED", *sorted(m for m in sys.modules if "." not in m), file=sys.stderr, flush=True)

def end_at_once(code, end=os._exit):
    dump()
    end(code)

atexit.register(dump)
os._exit = end_at_once
"""


@pytest.mark.parametrize("program", ["sayso", "auq"])
def test_each_program_tells_its_version(home: Home, program: str) -> None:
    assert home.run("--version", program=program).out == f"{program} {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["list"],
        ["show", "ID"],
        ["answer", "ID", "SQLite"],
        ["reject", "ID"],
        ["history"],
        ["config"],
        ["install", "cursor", "--print"],
        ["hook"],
        ["guard", "--", "true"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_quick_commands_import_nothing_heavy(home: Home, arguments: list[str]) -> None:
    ask = home.leave(choice())
    (home.folder / "sitecustomize.py").write_text(DUMP)
    ran = home.run(*(ask.id if part == "ID" else part for part in arguments), PYTHONPATH=str(home.folder))
    assert ran.code == 0, ran.err
    imported = next(line for line in ran.err.splitlines() if line.startswith("IMPORTED")).split()
    assert ("click" in imported) == (arguments[0] in ("answer", "reject", "install"))
    assert not set(HEAVY) & set(imported)


LEFT_OUT = {"click", "dataclasses", "inspect", "logging", "shutil", "textwrap", "hashlib", "asyncio", "yaml"}
LEFT_OUT |= {"datetime", "string"}


@pytest.mark.parametrize("arguments", [["list"], ["list", "--count"], ["show", "ID"]], ids=" ".join)
def test_looking_at_asks_imports_next_to_nothing(home: Home, arguments: list[str]) -> None:
    ask = home.leave(choice())
    (home.folder / "sitecustomize.py").write_text(DUMP)
    ran = home.run(*(ask.id if part == "ID" else part for part in arguments), PYTHONPATH=str(home.folder))
    assert ran.code == 0, ran.err
    imported = next(line for line in ran.err.splitlines() if line.startswith("IMPORTED")).split()
    assert LEFT_OUT & set(imported) == set()


def test_commands_that_only_read_are_imported_without_what_reads_all_others() -> None:
    imports = "\n".join(f"import sayso.cli.{name}" for name in READERS)
    code = f"import sys\n{imports}\nassert not {{'click', 'asyncio', 'logging'}} & set(sys.modules), sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], timeout=SECONDS, check=True)


WITHOUT_TLS = """
import sys
from sayso.cli.serving import load_asyncio_without_tls
load_asyncio_without_tls()
import asyncio
assert "ssl" not in sys.modules
import ssl, urllib.request
urllib.request.build_opener(urllib.request.HTTPSHandler(context=ssl.create_default_context()))
asyncio.run(asyncio.sleep(0))
"""


def test_a_server_leaves_tls_to_those_who_need_it_later() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_TLS], timeout=SECONDS, check=True)


def every_command() -> dict[str, click.Command]:
    """By its words, those below others too."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = load(name)
        below = command.commands.items() if isinstance(command, click.Group) else ()
        found |= {name: command, **{f"{name} {word}": inner for word, inner in below}}
    return found


@pytest.mark.parametrize("words", every_command())
def test_every_command_has_a_short_help_and_an_example(words: str) -> None:
    command = every_command()[words]
    assert len(command.get_short_help_str(limit=100)) > 10
    assert not command.get_short_help_str(limit=66).endswith("..."), "it is cut off in a terminal of 80 columns"
    text = command.get_help(click.Context(command, info_name=f"sayso {words}"))
    example = text.partition("Example:")[2]
    assert f"sayso {words}" in example


def test_help_is_asked_for_by_either_option(home: Home) -> None:
    assert home.run("install", "-h").out == home.run("install", "--help").out
    assert "Example:" in home.run("tools", "list", "-h").out


def test_a_command_that_needs_another_word_shows_its_help(home: Home) -> None:
    ran = home.run("ops")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == home.run("ops", "--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_says_of_each_what_it_says_of_itself(name: str) -> None:
    assert load(name).get_short_help_str(limit=1000) == COMMANDS[name]


def test_help_names_every_command(home: Home) -> None:
    out = home.run("--help").out
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_it_runs_as_a_module_too(home: Home) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "sayso.cli", "--version"], capture_output=True, text=True, env=home.env, timeout=SECONDS
    )
    assert ran.stdout == f"sayso {__version__}\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["anwser"], "Did you mean answer?"),
        (["setup"], "Did you mean install?"),
        (["tools", "valdate"], "Did you mean validate?"),
        (["tools", "check"], "The commands are init, list, run, schema, validate."),
    ],
)
def test_an_unknown_command_is_a_usage_error_with_what_was_meant(home: Home, words: list[str], hint: str) -> None:
    ran = home.run(*words)
    assert ran.code == 2
    assert ran.error == f"Error: There is no command '{words[-1]}'. {hint}"


@pytest.mark.parametrize(
    ("words", "usage"), [(["help"], ""), (["help", "tools", "init"], "tools init "), (["rules", "help"], "rules ")]
)
def test_help_is_given_to_whoever_asks_for_it_as_for_a_command(home: Home, words: list[str], usage: str) -> None:
    ran = home.run(*words)
    assert ran.code == 0, ran.err
    assert ran.out.startswith(f"Usage: sayso {usage}[OPTIONS]")


def test_each_word_of_other_programs_leads_to_something_that_is_here() -> None:
    assert set(LazyGroup.known_as.values()) <= {*COMMANDS, "--version"}
    assert set(LazyGroup.known_as).isdisjoint(COMMANDS)


def test_what_can_be_chosen_stands_in_one_line_with_what_is_missing(home: Home) -> None:
    ran = home.run("completion")
    assert ran.code == 2
    assert ran.err.splitlines()[0] == "Error: Missing argument 'SHELL'. Choose from: bash, zsh, fish"
    assert home.run("web", "--port", "abc").error == "Error: Invalid value for '--port': 'abc' is not a valid integer."


def test_an_argument_that_is_no_utf_8_is_a_usage_error(home: Home) -> None:
    ran = subprocess.run(
        [BIN / "sayso", "list", b"--project", b"\xff"], capture_output=True, env=home.env, timeout=SECONDS
    )
    assert ran.returncode == 2
    assert b"Argument 3 is not valid UTF-8" in ran.stderr


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef sayso"), ("fish", "complete --no-files")]
)
def test_completion_scripts_are_printed_for_each_shell(home: Home, shell: str, word: str) -> None:
    ran = home.run("completion", shell)
    assert ran.code == 0
    assert word in ran.out
    assert "_SAYSO_COMPLETE" in ran.out


def test_completion_offers_commands_and_the_ids_of_open_asks(home: Home) -> None:
    ask = home.leave(choice())
    commands = home.run(_SAYSO_COMPLETE="bash_complete", COMP_WORDS="sayso an", COMP_CWORD="1")
    assert commands.out == "plain,answer\n"
    clients = home.run(_SAYSO_COMPLETE="bash_complete", COMP_WORDS="sayso install cu", COMP_CWORD="2")
    assert clients.out == "plain,cursor\n"
    ids = home.run(_SAYSO_COMPLETE="bash_complete", COMP_WORDS="sayso answer ", COMP_CWORD="2")
    assert ids.out == f"plain,{ask.id[:8]}\n"


def completed(home: Home, words: str, shell: str = "bash") -> list[str]:
    place = str(len(words.split(" ")) - 1)
    ran = home.run(_SAYSO_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=place)
    assert ran.code == 0, ran.err
    return ran.out.splitlines()


def test_completion_offers_the_words_that_a_setting_takes(home: Home) -> None:
    assert completed(home, "sayso config set notify_format ") == ["plain,auto", "plain,ntfy", "plain,json"]
    assert "plain,light" in completed(home, "sayso config set theme l")
    assert completed(home, "sayso config set terminal_mouse t") == ["plain,true"]
    assert not any(completed(home, "sayso config set keep_ended "))
    assert not any(completed(home, "sayso config set nonsense "))


def test_completion_offers_the_options_of_the_question_after_its_id(home: Home) -> None:
    ask = home.leave(choice("Which?", "SQLite", "a new one", "sqlite-wal", "bad\nlabel \x1b[2J"))
    assert completed(home, f"sayso answer {ask.id[:8]} sq") == ["plain,SQLite", "plain,sqlite-wal"]
    in_zsh = completed(home, f"sayso answer {ask.id[:8]} ", "zsh")
    assert "a new one" in in_zsh
    assert "\x1b" not in "".join(in_zsh)
    assert "".join(completed(home, "sayso answer ffffffff ")) == ""


def in_a_shell(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        capture_output=True,
        cwd=home.project,
        env={**home.env, "PATH": f"{BIN}:{home.env['PATH']}"},
        timeout=SECONDS,
        text=True,
    )


BASH_PRESSES_TAB = """\
eval "$(sayso completion bash)"
COMP_WORDS=(sayso answer {id} {word}) COMP_CWORD=3
_sayso_completion sayso
for each in "${{COMPREPLY[@]}}"; do eval "printf '%s\\n' $each"; done
"""


def test_bash_takes_each_option_that_it_is_offered_as_one_word_that_means_the_same(home: Home) -> None:
    labels = ["a new one", "it's $(touch pwned)", "go; rm *", "tab\there", "-dash", 'say "so"', "ärger", "a,b,"]
    ask = home.leave(choice("Which?", *labels))
    for word, offered in (("''", [*labels[:3], "#4", "#5", *labels[5:]]), (r"'a\ n'", labels[:1])):
        ran = in_a_shell(home, "bash", "--norc", "-c", BASH_PRESSES_TAB.format(id=ask.id[:8], word=word))
        assert ran.stdout.splitlines() == offered, ran.stderr
    assert list(home.project.iterdir()) == []


BASH_LISTS_IDS = """\
eval "$(sayso completion bash)"
COMP_WORDS=(sayso answer '') COMP_CWORD=2 COMP_TYPE={type} COLUMNS=40
_sayso_completion sayso
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_bash_lists_each_question_beside_its_id_and_puts_only_ids_into_the_line(home: Home) -> None:
    asks = [home.leave(choice("Which database?")), home.leave(choice("Run $(touch pwned)? " + "x" * 60))]

    def offered(kind: int) -> list[str]:
        ran = in_a_shell(home, "bash", "--norc", "-c", BASH_LISTS_IDS.format(type=kind))
        return ran.stdout.splitlines()

    listing, menu, insert = ord("?"), ord("%"), ord("*")
    first, second = (ask.id[:8] for ask in asks)
    assert offered(listing) == [f"{first}  Which database?", f"{second}  Run $(touch pwned)? xxxxxxxx"]
    assert offered(menu) == offered(insert) == [first, second]
    assert list(home.project.iterdir()) == []


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish on this machine")
def test_fish_offers_labels_and_questions_with_their_commas(home: Home) -> None:
    ask = home.leave(choice("Which cache, and why?", "Redis, as it is fast", "none: $HOME"))
    script = (
        'sayso completion fish | source; for each in answer\\ "" answer\\ "$argv[1] "; complete -C "sayso $each"; end'
    )
    ran = in_a_shell(home, "fish", "--no-config", "-c", script, ask.id[:8])
    assert sorted(ran.stdout.splitlines()) == sorted(
        [f"{ask.id[:8]}\tWhich cache, and why?", "Redis, as it is fast", "none: $HOME"]
    ), ran.stderr


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh on this machine")
def test_zsh_completes_where_nothing_else_has_asked_it_to(home: Home) -> None:
    ran = in_a_shell(home, "zsh", "-f", "-c", 'eval "$(sayso completion zsh)"; print -- "$_comps[sayso]"')
    assert (ran.stdout, ran.stderr) == ("_sayso_completion\n", "")


def test_completion_says_nothing_of_an_option_that_its_label_does_not(home: Home) -> None:
    ask = home.leave(choice("Which?", "SQLite", "Postgres"))
    assert completed(home, f"sayso answer {ask.id[:8]} ", "zsh") == ["plain", "SQLite", "_", "plain", "Postgres", "_"]


def test_completion_offers_tool_files_and_settings(home: Home) -> None:
    assert "plain,git" in completed(home, "sayso tools init g")
    assert completed(home, "sayso config set keep_e") == ["plain,keep_ended"]
