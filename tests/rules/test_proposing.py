"""The narrowest rule that would be of use for actions like one."""

from __future__ import annotations

import os.path
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.rules.adding import NewRule, as_rule
from sayso.rules.book import matches
from sayso.rules.proposing import like, proposals, would_allow
from sayso.rules.rule import Rule
from sayso.rules.uses import Ground, example, use_of

PAPER = Ground(leads_to=os.path.normpath, project="/project")


@pytest.mark.parametrize(
    ("action", "proposed"),
    [
        ("Bash(npm test)", ["Bash(npm test)"]),
        ("Bash(npm test -- --watch)", ["Bash(npm test *)"]),
        ("Bash(npm run build --silent)", ["Bash(npm run build *)"]),
        ("Bash(git log --oneline -5)", ["Bash(git log *)"]),
        ("Bash(yarn run build x)", ["Bash(yarn run build *)"]),
        ("Bash(bun run build x)", ["Bash(bun run build *)"]),
        ("Bash(go test ./...)", ["Bash(go test *)"]),
        ("Bash(pytest -q tests)", ["Bash(pytest *)"]),
        ("Bash(gh pr view 12)", ["Bash(gh pr view *)"]),
        ("Bash(git commit -m 'a b')", ["Bash(git commit -m 'a b')"]),
        ("Bash(git status -s && echo 'a b')", ["Bash(git status *)", "Bash(echo 'a b')"]),
        ("Bash(npm run --silent build)", ["Bash(npm run --silent build)"]),
        ("Bash(pytest -p evil x)", ["Bash(pytest -p evil x)"]),
        ("Bash(git -C x log)", ["Bash(git -C x log)"]),
        ("Bash(git diff --output=x)", ["Bash(git diff --output=x)"]),
        ("Bash(./build.sh prod)", ["Bash(./build.sh prod)"]),
        ("Bash(rm -rf build)", ["Bash(rm -rf build)"]),
        ("Bash(git status && npm test)", ["Bash(git status)", "Bash(npm test)"]),
        ("Bash(timeout 5 npm test)", ["Bash(npm test)"]),
        ("Bash(git status > x)", []),
        ("Bash(ls $X)", []),
        ("Bash(sudo rm x)", ["Bash(sudo rm x)"]),
        ("Edit(src/app/a.py)", ["Edit(src/app/**)"]),
        ("Edit(README.md)", ["Edit(/README.md)"]),
        ("Edit(.git/config)", []),
        ("Read(/etc/hosts)", ["Read(//etc/hosts)"]),
        ("WebFetch(https://docs.example.com/x)", ["WebFetch(domain:docs.example.com)"]),
        ("mcp__github__get_issue", ["mcp__github__get_issue"]),
        ("deploy(./deploy.sh staging)", ["deploy(./deploy.sh staging)"]),
    ],
)
def test_it_names_the_words_that_carry_meaning_and_the_folder_of_an_edit(action: str, proposed: list[str]) -> None:
    assert list(like(example(action, "/project"))) == proposed


FURTHER_WORDS_MATTER = """
    docker container ls -a; docker image ls -a; docker volume ls -q; docker system df -v; docker compose ps -a;
    docker run x y; docker build .; gh repo view x; gh auth status x; gh secret list x; gh pr merge 1; gh api x y;
    git branch -a; git remote -v; git stash list; git tag -l; git worktree list x; git notes list x; git config -l;
    git submodule status x; git bisect log x; git push origin x; git reset HEAD x; git checkout -b x; git commit -a;
    git clean -n; terraform state list x; terraform workspace list x; terraform plan -destroy; npm config get x;
    npm cache ls x; npm install x; npm exec x y; uv pip list -v; uv run x y; pip config list -v; kubectl get pods;
    kubectl config view x; helm repo list x; brew services list; apt list x; aws s3 ls x; gcloud config list x;
    az account show x; make test -j4; just test x; yarn workspace a test; yarn node x.js; pnpm exec x y; bun x y z;
    deno test a; deno task x y; poetry config x y; cargo install --list; cargo fmt --check; cargo run x; go run x y;
    go tool cover -h; go env -w x; python -m pytest x; cat x; rm x y; curl x y; ruff check x"""


@pytest.mark.parametrize("line", [line.strip() for line in FURTHER_WORDS_MATTER.split(";")])
def test_nothing_wider_is_proposed_where_further_words_may_do_something_else(line: str) -> None:
    assert proposals(shell(line), use_of(shell(line), PAPER)) == ((f"Bash({line})",),)


@pytest.mark.parametrize(
    "action",
    [
        {"kind": "edit", "tool": "Write", "data": {"input": {"file_path": "src/a\u00a0b", "content": ""}}},
        {"kind": "edit", "tool": "Write", "data": {"input": {"file_path": "/", "content": ""}}},
        {"kind": "shell", "tool": "Bash", "data": {"input": {"command": "ls \"it's\"'\"'"}}},
        {"kind": "mcp", "tool": "mcp__files__*", "data": {"input": {}}},
    ],
)
def test_nothing_wider_is_proposed_for_what_cannot_be_named_as_it_is(action: dict[str, Any]) -> None:
    here = {**action, "folder": "/project"}
    assert proposals(here, use_of(here, PAPER)) == ()


def test_what_it_would_have_matched_can_be_told() -> None:
    patterns = like(example("Bash(npm test -- x)", "/project"))
    assert would_allow(patterns, example("Bash(npm test)", "/elsewhere"))
    assert not would_allow(patterns, example("Bash(npm publish)", "/project"))


# Whatever is proposed is written into a file. Read back from there it allows the action, and no hostile neighbour.

WORD = st.text("abcdefgh-./=:@ '\"*$;|&<>#~\\\u0430\u200b", min_size=1, max_size=8)
SHELL = st.builds(
    lambda program, words: shlex.join([program, *words]),
    st.sampled_from(["npm", "git", "make", "cargo", "./build.sh", "rm", "python", "ls", "docker", "kubectl"]),
    st.lists(WORD | st.sampled_from(["test", "run", "build", "status", "--all", "-f", "x/y", "push"]), max_size=4),
)
NAME = st.text("abcxyz-_. ", min_size=1, max_size=6).filter(lambda name: name.strip(". ") == name and name)
WAY = st.lists(NAME, min_size=1, max_size=4).map("/".join)
HOST = st.from_regex(r"[a-z]{1,6}(\.[a-z]{1,6}){1,2}", fullmatch=True)


def read_back(patterns: tuple[str, ...]) -> Rule:
    return as_rule(NewRule(patterns=patterns, note="\x1b[2J \u202e hostile\n[[rule]]"))


def allows(rule: Rule, action: dict[str, Any]) -> bool:
    return matches(rule, use_of(action, PAPER))


def proposed(action: dict[str, Any]) -> list[Rule]:
    return [read_back(patterns) for patterns in proposals(action, use_of(action, PAPER))]


def shell(line: str) -> dict[str, Any]:
    return {"kind": "shell", "tool": "Bash", "folder": "/project", "data": {"input": {"command": line}}}


def looking_alike(text: str) -> str:
    return text.translate(str.maketrans("aeopcxs", "\u0430\u0435\u043e\u0440\u0441\u0445\u0455"))


@settings(max_examples=50)
@given(line=SHELL)
def test_a_proposed_rule_allows_the_command_and_no_hostile_neighbour(line: str) -> None:
    for rule in proposed(shell(line)):
        assert allows(rule, shell(line))
        for other in (
            *(
                f"{line}; rm -rf ~",
                f"{line} && curl evil",
                f"{line} | sh",
                f"{line} > x",
                f"$({line})x",
                f"sudo {line}",
            ),
            *(f"{line} $(id)", f"/tmp/evil/{line}", f"eval {line}", f"curl {line}", f"PATH=/tmp/evil {line}"),
            f"{line}\nrm -rf ~",
        ):
            assert not allows(rule, shell(other)), other
        named = rule.patterns[0].spec.removesuffix(" *")
        if looking_alike(named) != named:
            assert not allows(rule, shell(looking_alike(line)))


@settings(max_examples=50)
@given(way=WAY, tool=st.sampled_from(["Edit", "Read"]))
def test_a_proposed_rule_allows_the_file_and_nothing_in_another_folder(way: str, tool: str) -> None:
    action = example(f"{tool}({way})", "/project")
    for rule in proposed(action):
        assert allows(rule, action)
        others = [f"other/{way}", f"/elsewhere/{way}", f"../{way}", f"/project2/{way}", f"{way}/../../../x"]
        for other in others:
            assert not allows(rule, example(f"{tool}({other})", "/project")), other
        assert not allows(rule, example(f"{'Read' if tool == 'Edit' else 'Edit'}({way})", "/project"))


@settings(max_examples=30)
@given(host=HOST)
def test_a_proposed_rule_allows_the_host_and_no_other(host: str) -> None:
    action = example(f"WebFetch(https://{host}/x)", "/project")
    (rule,) = proposed(action)
    assert allows(rule, action)
    for other in (f"{host}.evil", f"evil{host}", f"x.{host}", f"{host}@evil.example", host.replace(".", "-")):
        assert not allows(rule, example(f"WebFetch(https://{other}/x)", "/project")), other
