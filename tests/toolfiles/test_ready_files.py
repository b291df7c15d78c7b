"""The ready-made tool files: valid, well spoken, careful, and right about the programs they describe."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sayso.errors import InvalidInput
from sayso.toolfiles.argv import build_argv
from sayso.toolfiles.guidance import description
from sayso.toolfiles.leaves import Leaf, leaves
from sayso.toolfiles.model import OptionSpec
from sayso.toolfiles.schema import input_schema
from sayso.toolfiles.toolfile import READY, load_dir, ready_files

LOADED = load_dir([READY])
LEAVES = {leaf.name: leaf for tool in LOADED.tools for leaf in leaves(tool)}


def run(words: list[str] | tuple[str, ...], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, "PAGER": "cat", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def call(name: str, arguments: dict[str, Any], project: Path) -> subprocess.CompletedProcess[str]:
    folder = project.parent / "operation"
    folder.mkdir(exist_ok=True)
    made = build_argv(LEAVES[name], arguments, project=project, roots=[project], folder=folder)
    for file in made.files:
        file.path.unlink(missing_ok=True)
        file.write()
    return run(made.argv, made.cwd, **made.env)


def test_there_is_a_file_for_each_of_the_usual_programs() -> None:
    names = ["cargo", "docker", "gh", "git", "make", "npm", "pip", "pytest", "ripgrep", "uv"]
    assert list(ready_files()) == names


def test_they_all_load_together_without_a_fault() -> None:
    assert [str(fault) for fault in LOADED.faults] == []
    assert len(LOADED.tools) == len(ready_files())
    assert all(tool.schema_version == 2 for tool in LOADED.tools)


def test_each_says_how_to_find_out_whether_the_program_is_there_and_how_to_get_it() -> None:
    for tool in LOADED.tools:
        assert tool.availability_check, tool.name
        assert tool.install_instructions, tool.name


def test_every_tool_and_argument_is_described_in_whole_calm_sentences() -> None:
    for leaf in LEAVES.values():
        texts = {leaf.name: leaf.description, **{name: spec.description for name, spec in leaf.arguments.items()}}
        for name, text in texts.items():
            assert text, (leaf.name, name)
            assert text[0].isupper() or text[0] == "`", (leaf.name, name, text)
            assert text.endswith("."), (leaf.name, name, text)
            assert not re.search(r"\b[A-Z]{4,}\b", re.sub(r"`[^`]*`|OWNER/NAME|HEAD|JSON", "", text)), text


def test_synchronous_tools_do_not_speak_of_the_background() -> None:
    for leaf in LEAVES.values():
        if leaf.synchronous:
            told = (description(leaf) + json.dumps(input_schema(leaf))).lower()
            assert not re.search(r"async|background|operation id|poll", told), leaf.name


def test_what_only_looks_is_synchronous_and_says_that_it_is_read_only() -> None:
    for name in (
        "git_status",
        "git_diff",
        "git_log",
        "cargo_tree",
        "npm_ls",
        "pip_list",
        "docker_ps",
        "gh_pr_view",
        "rg",
    ):
        annotations = LEAVES[name].settings.annotations
        assert LEAVES[name].synchronous, name
        assert annotations is not None
        assert annotations.read_only, name


def test_what_takes_long_runs_in_the_background() -> None:
    for name in (
        "cargo_build",
        "cargo_test",
        "npm_install",
        "uv_sync",
        "pip_install",
        "pytest",
        "make",
        "docker_build",
    ):
        assert not LEAVES[name].synchronous, name


def test_what_would_get_in_its_own_way_has_a_lock() -> None:
    for name in ("cargo_build", "cargo_test", "git_commit", "npm_install", "uv_sync", "pip_install", "make"):
        assert LEAVES[name].settings.lock, name


def test_what_cannot_be_taken_back_asks_a_person_first() -> None:
    always = {
        "git_push",
        "git_reset",
        "cargo_publish",
        "npm_publish",
        "uv_publish",
        "docker_run",
        "docker_exec",
        "docker_rm",
        "docker_rmi",
        "docker_push",
        "docker_system_prune",
        "gh_pr_merge",
        "gh_pr_close",
        "gh_pr_review",
    }
    assert {name for name, leaf in LEAVES.items() if leaf.approve == "always"} == always
    for name, leaf in LEAVES.items():
        annotations = leaf.settings.annotations
        if leaf.approve != "never":
            assert not (annotations and annotations.read_only), name


# against the real programs


EXAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "object": {}}


def example(spec: OptionSpec) -> Any:
    """Some value that the argument takes."""
    if spec.type == "array":
        return [spec.enum[0] if spec.enum else "a"]
    fitting = {"^[0-9]+,\\+?[0-9]+$": "1,1", "^([0-9]+|all)$": "5"}.get(spec.pattern or "")
    return spec.enum[0] if spec.enum else fitting or EXAMPLES[spec.type]


def of_tool(tool: str) -> Iterator[Leaf]:
    return (leaf for leaf in LEAVES.values() if leaf.tool == tool and not leaf.sequence)


def segments(leaf: Leaf) -> Iterator[tuple[tuple[str, ...], tuple[OptionSpec, ...]]]:
    words: tuple[str, ...] = ()
    for segment in leaf.segments:
        words += segment.words
        if segment.options:
            yield words, segment.options


def flag_of(spec: OptionSpec) -> str:
    return spec.file_flag or spec.flag


@cache
def help_of(*words: str) -> str:
    done = run([*words, "--help"], Path.cwd(), MANPAGER="cat")
    return done.stdout + done.stderr


@cache
def npm_settings() -> set[str]:
    """Npm takes every one of its settings as an option, and tells all of them at once."""
    names = json.loads(run(["npm", "config", "ls", "-l", "--json"], Path.cwd()).stdout)
    return {f"--{prefix}{name}" for name in names for prefix in ("", "no-")}


def flags_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?\w[\w-]*", text))


def unknown_flags(leaf: Leaf) -> list[str]:
    """The flags of a leaf that the program itself does not list."""
    missing: list[str] = []
    for words, options in segments(leaf):
        known = npm_settings() if leaf.tool == "npm" else flags_in("".join(help_of(*at) for at in help_pages(words)))
        missing += [flag_of(spec) for spec in options if flag_of(spec) not in known]
    return missing


def help_pages(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Clippy takes the options of two other subcommands, and its help does not repeat them."""
    return [words, ("cargo", "check"), ("cargo", "fix")] if words == ("cargo", "clippy") else [words]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a").write_text("one\n")
    for words in (["init", "-q", "-b", "main"], ["add", "a"], ["commit", "-q", "-m", "First."], ["branch", "x"]):
        assert run(["git", *IDENTITY, *words], project).returncode == 0
    return project


IDENTITY = ["-c", "user.name=T", "-c", "user.email=t@example.org"]


def test_git_knows_every_option_of_its_file(repository: Path) -> None:
    """Git ends with 129 when it does not know an option, whatever else may be wrong with the call."""
    for leaf in of_tool("git"):
        required = {spec.name: example(spec) for spec in leaf.positional_args if spec.required}
        for spec in leaf.options:
            done = call(leaf.name, {**required, spec.name: example(spec)}, repository)
            usage = re.search(r"unknown (option|switch)|unrecognized argument|usage: git", done.stderr)
            assert (done.returncode == 129, bool(usage)) == (False, False), (leaf.name, spec.name, done.stderr[:200])


def test_git_takes_a_commit_message_of_any_kind(repository: Path) -> None:
    (repository / "-b").write_text("two\n")
    message = "-m is no option\n\n$(id) `id` \"quoted\" 'it'\n\n- é漢🙂"
    for words in (["config", "user.name", "T"], ["config", "user.email", "t@example.org"]):
        assert run(["git", *words], repository).returncode == 0
    assert call("git_add", {"paths": ["-b"]}, repository).returncode == 0
    assert call("git_commit", {"message": message}, repository).returncode == 0
    shown = run(["git", "log", "-1", "--format=%B"], repository).stdout
    assert shown.rstrip("\n") == message


@pytest.mark.parametrize("path", ["/etc/hosts", "../outside", "src/../../outside", "./../outside", ".."])
def test_git_compares_no_files_that_are_not_the_projects(tmp_path: Path, path: str) -> None:
    def words(*commits: str) -> tuple[str, ...]:
        given = {"commits": list(commits)}
        return build_argv(LEAVES["git_diff"], given, project=tmp_path, roots=[tmp_path], folder=tmp_path).argv

    for commits in (("HEAD", path), (path,)):
        with pytest.raises(InvalidInput, match="commits"):
            words(*commits)
    for commits in (("HEAD~1", "origin/main"), ("v1.2..feature/a.b",), (":/fix it",), ("@{u}", "HEAD:./a")):
        assert words(*commits)[-len(commits) :] == commits


def test_git_shows_what_the_tools_say(repository: Path) -> None:
    (repository / "a").write_text("two\n")
    assert call("git_status", {"short": True}, repository).stdout == " M a\n"
    assert call("git_diff", {"name-only": True, "paths": ["a"]}, repository).stdout == "a\n"
    assert "First." in call("git_log", {"revision": "x", "oneline": True, "paths": ["a"]}, repository).stdout
    assert call("git_branch", {}, repository).stdout == "* main\n  x\n"
    assert call("git_blame", {"file": "a", "revision": "HEAD", "lines": "1,1"}, repository).stdout.endswith("one\n")
    assert call("git_switch", {"create": "new", "branch": "x"}, repository).returncode == 0
    assert call("git_stash_push", {"message": "later"}, repository).returncode == 0
    assert "later" in call("git_stash_list", {}, repository).stdout
    assert call("git_stash_pop", {}, repository).returncode == 0
    assert call("git_restore", {"paths": ["a"]}, repository).returncode == 0
    assert call("git_status", {"short": True}, repository).stdout == ""
    assert call("git_clone", {"repository": str(repository), "directory": "copy"}, repository).returncode == 0
    assert (repository / "copy" / "a").read_text() == "one\n"


def test_pip_knows_every_option_of_its_file() -> None:
    for leaf in of_tool("pip"):
        listed = flags_in(help_of(sys.executable, "-m", "pip", *leaf.path)) if leaf.options else set()
        assert {spec.flag for spec in leaf.options} <= listed, leaf.name


def test_pytest_knows_every_option_of_its_file_and_runs_what_is_chosen(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert False\n")
    leaf = LEAVES["pytest"]
    assert {spec.flag for spec in leaf.options} <= flags_in(help_of(sys.executable, "-m", "pytest"))
    chosen = {"tests": ["test_it.py::test_a"], "quiet": True, "tb": "short", "keyword": "a or b", "no-header": True}
    made = build_argv(leaf, chosen, project=project, roots=[project], folder=tmp_path)
    done = run([sys.executable, "-m", *made.argv], project)
    assert "1 passed" in done.stdout


def test_make_builds_the_targets_with_the_variables(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "Makefile").write_text("first:\n\t@echo first $(V)\nsecond:\n\t@echo second $(V)\n")
    done = call("make", {"targets": ["second"], "variables": ["V=a b"], "jobs": 2, "keep-going": True}, project)
    assert done.stdout == "second a b\n"
    assert call("make", {"variables": ["V=x"], "silent": True}, project).stdout == "first x\n"


INSTALLED = [name for name in ("make", "cargo", "docker", "npm") if shutil.which(name)]


@pytest.mark.parametrize("program", INSTALLED)
def test_an_installed_program_knows_every_option_of_its_file(program: str) -> None:
    for leaf in of_tool(program):
        if _installed(leaf):
            assert unknown_flags(leaf) == [], leaf.name


def _installed(leaf: Leaf) -> bool:
    """Plugins such as nextest and compose may be missing; their help is then that of the program itself, or none."""
    words = [word for segment in leaf.segments for word in segment.words]
    if leaf.tool == "npm" or len(words) == 1:
        return True
    return help_of(*words) != help_of(words[0]) and "no such command" not in help_of(*words)
