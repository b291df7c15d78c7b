"""What real programs make of their words, and that a rule which does not name that does not allow it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sayso.config import Config
from sayso.rules.book import Circumstances, RuleBook
from sayso.rules.judge import RuleJudge
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules
from sayso.rules.uses import example

SECRET = "not-for-agents"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a program of somebody else's, and files that no rule lets an agent change or read."""
    folder = tmp_path / "project"
    for name in (".github/workflows", ".cargo", "secret", "src", "-x"):
        (folder / name).mkdir(parents=True)
    (folder / "evil").write_text("#!/bin/sh\ntouch made\n")
    (folder / "evil").chmod(0o755)
    (folder / "Makefile").write_text("test:\n\t@true\n")
    (folder / "x").write_text("x\n")
    for name in (".env", "secret/a"):
        (folder / name).write_text(SECRET)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, env=environment(folder))
    return folder


def environment(folder: Path) -> dict[str, str]:
    path = os.environ["PATH"]
    return {
        "PATH": path,
        "SHELL": "/bin/sh",
        "HOME": str(folder.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "file",
    }


def run(line: str, folder: Path, shell: str = "bash") -> str:
    """What a line prints."""
    first = line.split()[0]
    for program in (shell, *([] if first in ("cd", "command", "for") else [first])):
        if not shutil.which(program):
            (pytest.fail if "CI" in os.environ else pytest.skip)(f"there is no {program}")
    done = subprocess.run(
        [shell, "-c", line],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.stdout.decode(errors="replace")


def effect(rules: str, line: str, folder: Path) -> str:
    file = read_rules(rules.encode(), Path("/rules.toml"), RuleLevel.PERSON)
    assert file.faults == ()
    action = {**example("Bash(x)", str(folder)), "data": {"input": {"command": line}}}
    use = RuleJudge(Config(state_dir=folder.parent / "state")).use(action, str(folder))
    return RuleBook([file]).judge(use, Circumstances(project=str(folder), agent="claude-code")).effect


def allowing(*patterns: str) -> str:
    return f"[[rule]]\nallow = {[f'Bash({each})' for each in patterns]}\n"


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        *(
            ("sed *", f"sed {words}")
            for words in (
                "-n -l p '1e touch made' x",
                "-nl p '1e touch made' x",
                "-l 5 '1e touch made' x",
                "-l5 '1e touch made' x",
                "--line-length q '1e touch made' x",
                "--line-length=5 '1e touch made' x",
                "--line-l p '1e touch made' x",
                "-l p 'w made' x",
                "p -l 5 -e '1e touch made' x",
                "-n -- '1e touch made' x",
            )
        ),
        ("ssh nohost.invalid *", "ssh nohost.invalid -o ProxyCommand='touch made' true"),
        ("ssh nohost.invalid *", "ssh nohost.invalid -T -oProxyCommand='touch made' true"),
        ("scp *", "scp -S ./evil x nohost.invalid:"),
        ("scp *", "scp -oProxyCommand='touch made' x nohost.invalid:"),
        ("sftp *", "sftp -S ./evil nohost.invalid"),
        ("git --no-pager *", "git --no-pager config alias.y '!touch made' && git --no-pager y"),
        ("git --no-pager *", "git --no-pager clone -u 'touch made;' . y"),
        ("git --no-pager clone *", "git --no-pager clone -u 'touch made;' . y"),
    ],
)
def test_no_word_that_a_program_runs_is_taken_for_the_value_of_an_option(pattern: str, line: str, folder: Path) -> None:
    run(line, folder)
    assert (folder / "made").exists()
    assert effect(allowing(pattern), line, folder) == "ask"


def test_what_sed_reads_after_an_option_with_a_value_is_asked(folder: Path) -> None:
    line = "sed -n -l p 'r .env' x"
    assert SECRET in run(line, folder)
    assert effect(allowing("sed -n *") + '[[rule]]\ndeny = ["Read(.env*)"]', line, folder) == "ask"


@pytest.mark.parametrize(("shell", "words"), [("bash", "-- -x"), ("zsh", "-- -x"), ("zsh", "-x")])
def test_a_folder_that_is_called_like_an_option_is_one_that_a_line_changes_to(
    shell: str, words: str, folder: Path
) -> None:
    (folder / "-x").rmdir()
    (folder / "-x").symlink_to(".github/workflows")
    line = f"cd {words} && cp {folder}/x made.yml"
    run(line, folder, shell)
    assert (folder / ".github/workflows/made.yml").exists()
    assert effect(allowing("cd *", "cp *"), line, folder) == "ask"


@pytest.mark.parametrize(
    "words",
    [
        "SHELL=./evil",
        "'SHELL = ./evil'",
        "'SHELL := ./evil'",
        "'.SHELLFLAGS=-c \"touch made\"'",
        "'$(shell touch made)=1'",
        "'a b=1' 'a::=$(shell touch made)'",
        "'A-B!=touch made'",
        "'a:=$(shell touch made)'",
        "--eval='$(shell touch made)'",
        "--ev '$(shell touch made)'",
        "-sE '$(shell touch made)'",
        "-- 'SHELL = ./evil'",
    ],
)
def test_a_word_that_is_a_variable_for_make_has_to_be_named(words: str, folder: Path) -> None:
    (folder / "Makefile").write_text("test:\n\t@true; true\n")
    line = f"make test {words}"
    run(line, folder)
    assert (folder / "made").exists()
    for program in ("make", "gmake"):
        assert effect(allowing(f"{program} test *"), line.replace("make", program, 1), folder) == "ask"


def test_what_cmake_hands_on_has_to_be_named(folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text("project(x NONE)\nadd_custom_target(t COMMAND true)\n")
    run("cmake -S . -B b -G 'Unix Makefiles'", folder)
    line = "cmake --build b --target t -- --eval='$(shell touch made)'"
    run(line, folder)
    assert [(folder / name / "made").exists() for name in ("b", ".")] != [False, False]
    assert effect(allowing("cmake --build *"), line, folder) == "ask"


GUARDING = "[[rule]]\ndeny = ['Read(secret/**)']\n"
MOVING = ("ln *", "cat *", "cp *", "mkdir *", "cd *", "mv *", "tar *", "unzip *", "git *", "tee *", "rsync *", "link *")


@pytest.mark.parametrize(
    "line",
    [
        "ln -s . q && cat q/secret/a",
        "ln -s . q && cat q/./secret/../secret/a",
        "ln -s ../secret/a src/q && cat src/q",
        "ln -s ../secret/a src && cat src/a",
        "ln -st src ../secret/a && cat src/a",
        "ln --target-directory=src -s ../secret/a && cat src/a",
        "mkdir d && cd d && ln -s .. up && cat up/secret/a",
        "mkdir d && ln -s .. d/up; cd d/up && cat d/up/secret/a d/../secret/a ./secret/b up/secret/a || cat secret/a",
        "ln -s src/deep q && cat q/../../secret/a",
        "ln -sf . x && cat x/secret/a",
        "mv -f outside src/q && cat src/q/secret/a",
        "mv lib deep/er/ && cat deep/er/lib/in/secret/a",
        "cp -P outside src/q && cat src/q/secret/a",
        "cp -r lib deep/er/ && cat deep/er/lib/in/secret/a",
        "for i in 1 2; do cat q/secret/a; ln -s . q; done",
        "git checkout -q other && cat q/secret/a",
        "git checkout -q other && cat x",
        "git clone -q . src/y -b other && cat src/y/out/secret/a",
        "tar xf links.tar && cat q/secret/a",
        "command ln -s . q && cat q/secret/a",
        "bash -c 'ln -s . q' && cat q/secret/a",
    ],
)
def test_what_a_line_reads_behind_a_link_that_it_makes_is_asked(line: str, folder: Path) -> None:
    for name in ("src/deep", "deep/er", "lib"):
        (folder / name).mkdir(exist_ok=True, parents=True)
    (folder / "outside").symlink_to("..")
    (folder / "lib" / "in").symlink_to("../../..")
    (folder / "q").symlink_to(".")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (
        [*git, "checkout", "-q", "-b", "first"],
        [*git, "add", "x"],
        [*git, "commit", "-qm", "a"],
        [*git, "checkout", "-q", "-b", "other"],
        [*git, "add", "q"],
        ["ln", "-sf", "secret/a", "x"],
        ["ln", "-s", "../..", "out"],
        [*git, "add", "x", "out"],
        [*git, "commit", "-qm", "b"],
        ["tar", "cf", "links.tar", "q"],
        [*git, "checkout", "-q", "first"],
    ):
        subprocess.run(arguments, cwd=folder, env=environment(folder), check=True)
    assert not (folder / "q").is_symlink()
    rules = allowing(*MOVING) + GUARDING
    assert effect(rules, line, folder) == "ask"
    assert SECRET in run(line, folder)


@pytest.mark.parametrize(
    "line",
    [
        "ln -s .github g && cp x g/workflows/made",
        "ln -s ../.github src/g && cp x src/g/workflows/made",
        "ln -s .github g; cd g && cp ../x workflows/made; cp x g/workflows/made",
        "cp -rl .github g && cp x g/workflows/old",
        "mv .github g && cp x g/workflows/made && mv g .github",
        "ln -s .github g && cat x | tee g/workflows/made",
        "ln -s .github g && mkdir g/workflows/made",
        "ln -s .github g && git clone -q src/r g/workflows/made",
        "ln -s .github g && tar xf made.tar -C g/workflows",
    ],
)
def test_what_a_line_changes_behind_a_link_that_it_makes_is_asked(line: str, folder: Path) -> None:
    subprocess.run(["git", "init", "-q", "src/r"], cwd=folder, env=environment(folder), check=True)
    workflows = folder / ".github/workflows"
    (workflows / "old").write_text("old")
    (folder / "made").touch()
    subprocess.run(["tar", "cf", "made.tar", "made"], cwd=folder, check=True)
    assert effect(allowing(*MOVING), line, folder) == "ask"
    run(line, folder)
    assert (workflows / "made").exists() or (workflows / "old").read_text() != "old"


@pytest.mark.parametrize(
    "line",
    [
        "ln -s src/new link && npm test",
        "ln -s ../x src/link && git status && git add src/link && git commit -m 'Link a/b to c/d'",
        "mv x src/y && cat src/y && npm run build",
        "mv x src/y && git add src/y x && git commit -m 'Move x/y'",
        "git mv x src/y && git commit -m 'Move x to src/y' && npm test",
        "mkdir -p src/new/deep && cp x src/new/deep/y && cat src/new/deep/y",
        "git pull && npm install && npm test && npm run build",
        "git checkout -b new && cat x && cp x src/y",
        "git stash && npm test && git stash pop",
        "git stash list && cat x",
        "git checkout main && git log -3 && npm test",
        "git clone -q a b && cd b && npm install && npm test",
        "tar cf a.tar src && cp a.tar b",
        "cat x && mv src z",
        "cp x y && cat y",
        "cp -r src new && npm test",
        "cd src && ln -s ../x y && npm test",
        "npm install && cat x",
    ],
)
def test_ordinary_lines_are_allowed_although_they_may_make_links(line: str, folder: Path) -> None:
    (folder / "src" / "b").mkdir()
    rules = allowing(*MOVING, "npm *", "npm test", "npm run build", "npm install")
    assert effect(rules, line, folder) == "allow"
    if not line.startswith(("cp -r", "tar")):
        # Those read whole folders.
        assert effect(f"{rules}\n[[rule]]\ndeny = ['Read(.env*)']", line, folder) == "allow"


@pytest.mark.parametrize(
    "words",
    [
        "'file://{}/%2Eenv'",
        "'file://{}/%2e%65%6Ev'",
        "'file://localhost{}/.env'",
        "'FILE://127.0.0.1{}/secret/a'",
        "'file:{}/s%65cret/a'",
        "'file:////{}/secret%2Fa?x'",
        "'file://{}/src/../secret/a#x'",
        "'file://{}/.env?.example'",
        "--url 'file://{}/%2Eenv'",
        "--proto-default file '{}/%2Eenv'",
        "--proto-default file '{}/s%65cret/a?x'",
        "'file://{}/{{.env,x}}'",
    ],
)
def test_an_address_of_a_file_is_the_file_however_it_is_written(words: str, folder: Path) -> None:
    line = f"curl -s {words.format(folder)}"
    assert SECRET in run(line, folder)
    for guarded in ("Read(.env)', 'Read(secret/**)", "Read(/.env)', 'Read(/secret/a)"):
        assert effect(allowing("curl *") + f"[[rule]]\ndeny = ['{guarded}']", line, folder) == "ask", guarded


def test_an_address_is_denied_however_its_letters_are_written(folder: Path) -> None:
    rules = allowing("curl *") + "[[rule]]\ndeny = ['Bash(curl *evil.example*)']\n"
    assert effect(rules, "curl https://%65vil.example/x", folder) == "deny"
    assert effect(rules, "curl 'https://good.example/a%20b?x=1&y=100%#z'", folder) == "allow"
    assert effect(allowing("wget *"), "wget https://good.example/%43LAUDE.md", folder) == "ask"
    assert effect(rules + "[[rule]]\ndeny = ['Read(.env*)']\n", "curl --url @list", folder) == "ask"
