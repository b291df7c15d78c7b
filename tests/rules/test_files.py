"""The files that rules are in: three levels, read again when one changes, a project's only as far as it is trusted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.trusting import trust

from sayso import config as settings
from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker
from sayso.config import Config
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.rules_here import Rules
from sayso.rules.book import Circumstances, RuleBook
from sayso.rules.files import RuleFiles
from sayso.rules.judge import FAILED, RuleJudge
from sayso.rules.levels import RuleLevel, projects_around
from sayso.rules.rule import Approvers, Effect
from sayso.rules.uses import Ground, example, use_of
from sayso.store.sqlite import SqliteStore


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    for folder in ("etc", "user", "project/.sayso", "state"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(settings, "MACHINE_DIR", tmp_path / "etc")
    return Config(project=tmp_path / "project", user_dir=tmp_path / "user", state_dir=tmp_path / "state")


def effect(book: RuleBook, config: Config, meant: str) -> str:
    project = os.path.realpath(config.project)
    use = use_of(example(meant, project), Ground(leads_to=os.path.realpath))
    return book.judge(use, Circumstances(project=project)).effect


def test_the_strictest_wins_whichever_level_it_is_in(config: Config) -> None:
    config.machine_rules.write_text('[[rule]]\nallow = ["a", "b", "c"]')
    config.user_rules.write_text('[[rule]]\nask = ["b"]')
    config.rules_of(config.project).write_text('[[rule]]\ndeny = ["c"]')
    book = RuleFiles(config).book(config.project)
    assert [effect(book, config, tool) for tool in "abc"] == ["allow", "ask", "deny"]
    assert [file.level for file in book.files] == [RuleLevel.MACHINE, RuleLevel.PERSON, RuleLevel.PROJECT]


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ("a" + ".a" * 3_000 + " = 1", "parts"),
        ("[a" + ' . "a\\"b"' * 3_000 + "]", "parts"),
        ("[[rule]]\ndeny = " + str(['Bash(a* "b")'] * 40_000), "patterns"),
        ("[[rule]]\ndeny = ['a']\n" * 40_000, "patterns"),
        ("[[rule]]\ndeny = " + str(["Bash(a " + "*b" * 500 + ")"] * 900), "100,000 letters"),
        ("[[rule]]\ndeny = ['Bash(a *)']\nnot_match = " + str(["Bash(b)"] * 40_000), "examples"),
        ("[[rule]]\ndeny = ['Bash(a *)']\nnot_match = ['Bash(" + "eval " * 3_000 + ")']", "characters"),
        ("[[rule]]\ndeny = [\n" + "'((',\n" * 900 + "]\n" + "# x\n" * 200_000, "cannot be understood"),
        ("\n".join(f"k{number} = 1" for number in range(60_000)), "not known"),
        ("[[rule]]\n" + "\n".join(f"k{number} = 1" for number in range(60_000)), "not known"),
        ("[groups]\n" + "\n".join(f"k{number} = 1" for number in range(60_000)), "list of names"),
    ],
)
def test_a_projects_file_that_would_take_long_is_no_longer_read_than_others(
    config: Config, theirs: str, said: str
) -> None:
    """Whoever wrote a repository wrote it, and it is read before anybody trusts it."""
    config.user_rules.write_text('[[rule]]\ndeny = ["b"]')
    config.rules_of(config.project).write_text(theirs)
    begun = time.process_time()
    book = RuleFiles(config).book(config.project)
    assert [effect(book, config, tool) for tool in "ab"] == ["ask", "deny"]
    assert time.process_time() - begun < 10
    assert said in " ".join(fault.text for fault in book.faults)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("Bash(echo " + "*a" * 40 + "*b{})", "Bash(echo " + "a" * 19_000 + ")"),
        ("Bash(echo " + "*a" * 40 + "*b{})", "Bash(echo x)"),
        ("Read(" + "*a" * 40 + "*b{})", "Read(" + "a" * 250 + ")"),
        ("Read(" + "**a" * 16 + "*b{})", "Read(" + "a" * 4_000 + ")"),
        ("Read(" + "**/a*a*/" * 5 + "b{})", "Read(" + "aa/" * 1_300 + "a)"),
        ("Read(" + "**/a*/" * 10 + "b{})", "Bash(cat x)"),
        ("mcp__a__" + "*a" * 40 + "*b{}", "mcp__a__" + "a" * 4_000),
    ],
)
def test_a_projects_patterns_of_many_stars_keep_nobody_waiting(config: Config, pattern: str, meant: str) -> None:
    """A gate is a process of its own for each prompt, and reads all of them anew."""
    theirs = [pattern.format(number) for number in range(900)]
    config.rules_of(config.project).write_text(f"[[rule]]\ndeny = {theirs}")
    begun = time.process_time()
    assert effect(RuleFiles(config).book(config.project), config, meant) == "ask"
    assert time.process_time() - begun < 2


@pytest.mark.finding("F-20")
def test_what_a_project_allows_counts_only_while_it_is_trusted(config: Config) -> None:
    theirs, files = config.rules_of(config.project), RuleFiles(config)
    theirs.write_text('[[rule]]\nallow = ["a"]\n[[rule]]\ndeny = ["b"]')
    assert [effect(files.book(config.project), config, tool) for tool in "ab"] == ["ask", "deny"]
    trust(config.state_dir, config.project)
    assert [effect(files.book(config.project), config, tool) for tool in "ab"] == ["allow", "deny"]
    theirs.write_text('[[rule]]\nallow = ["a", "c"]\n[[rule]]\ndeny = ["b"]')
    assert [effect(files.book(config.project), config, tool) for tool in "abc"] == ["ask", "deny", "ask"]


def test_a_project_says_who_may_agree_only_while_it_is_trusted(config: Config) -> None:
    wanted = Action(kind=ActionKind.OTHER, tool="a", folder=str(config.project), data={})
    asker = Asker(owner="ada", project=str(config.project))
    demands = 'approvers = ["eve"]\nneed = 2\nescalate = { after = "1m", to = ["eve"] }'
    config.rules_of(config.project).write_text(f'[[rule]]\nask = ["a"]\n{demands}')

    def who_is_asked(desk: PermissionDesk) -> tuple[list[str], int]:
        ruled = desk.by_rules(wanted, asker)
        assert ruled.quorum
        later = [name for demand in ruled.quorum.demands for name in demand.deciders(60_000)]
        return [*ruled.quorum.first_asked, *later], ruled.quorum.demands[0].need

    with closing(SqliteStore.in_memory()) as store:
        desk = PermissionDesk(AskDesk(store), Rules(config))
        assert who_is_asked(desk) == ([], 2)
        trust(config.state_dir, config.project)
        assert who_is_asked(desk) == (["eve", "eve"], 2)


def test_a_project_that_is_not_trusted_names_nobody_for_later_either(config: Config) -> None:
    demands = 'approvers = ["a"]\nescalate = { after = "1s", to = ["b"] }'
    config.rules_of(config.project).write_text(f'[[rule]]\nask = ["x"]\n{demands}\n')
    (rule,) = RuleFiles(config).book(config.project).rules
    assert rule.approvers == Approvers()
    wanted = Action(kind=ActionKind.OTHER, tool="x", folder=str(config.project), data={})
    with closing(SqliteStore.in_memory()) as store:
        ruled = PermissionDesk(AskDesk(store), Rules(config)).by_rules(wanted, Asker(project=str(config.project)))
    assert (ruled.demanded, ruled.quorum) == (True, None)


def test_no_rule_lets_an_agent_write_where_rules_and_what_sayso_keeps_are(config: Config) -> None:
    config.user_rules.write_text('[[rule]]\nallow = ["Bash(cp *)", "Edit(**)", "Edit(//**)"]')
    judge, project = RuleJudge(config), str(config.project)
    for folder, verdict in (("user", "ask"), ("state", "ask"), ("etc", "ask"), ("elsewhere", "allow")):
        place = config.project.parent / folder / "x"
        for meant in (f"Bash(cp y {place})", f"Edit(/{place})"):
            assert judge.ruling(example(meant, project), project, "claude-code").effect == verdict, meant


def test_rules_of_a_project_say_nothing_of_one_at_the_same_place_of_another_machine(config: Config) -> None:
    config.rules_of(config.project).write_text('[[rule]]\ndeny = ["a"]')
    judge, project = RuleJudge(config), str(config.project)
    ruled = [judge.ruling(example("a", project), project, "codex", machine=name).effect for name in ("", "other")]
    assert ruled == ["deny", "ask"]


def test_what_the_rules_fail_on_is_asked(config: Config) -> None:
    config.user_rules.write_text('[[rule]]\nallow = ["*"]')
    action = {"kind": "shell", "tool": "Bash", "folder": str(config.project), "data": None}
    ruling = RuleJudge(config).ruling(action, str(config.project), "claude-code")
    assert (ruling.effect, ruling.why) == (Effect.ASK, FAILED)


def test_a_file_is_read_again_when_it_changes_and_not_before(config: Config) -> None:
    files = RuleFiles(config)
    empty = files.book(config.project)
    assert empty.is_empty
    assert files.book(config.project) is empty
    config.user_rules.write_text('[[rule]]\nallow = ["a"]')
    changed = files.book(config.project)
    assert effect(changed, config, "a") == "allow"
    assert files.book(config.project) is changed
    config.user_rules.write_text('[[rule]]\nallow = ["b"]')  # of the same length, in the same file
    assert [effect(files.book(config.project), config, tool) for tool in "ab"] == ["ask", "allow"]
    config.user_rules.unlink()
    assert files.book(config.project).is_empty


def test_a_file_that_somebody_else_can_write_or_that_cannot_be_read_is_a_fault(config: Config) -> None:
    config.user_rules.write_text('[[rule]]\nallow = ["a"]')
    config.user_rules.chmod(0o666)
    book = RuleFiles(config).book(config.project)
    assert f"somebody else can write {config.user_rules}" in str(book.faults[0])
    assert effect(book, config, "a") == "ask"
    config.user_rules.unlink()
    config.user_rules.mkdir()
    assert "cannot be read" in str(RuleFiles(config).book(config.project).faults[0])


def test_a_file_that_is_somebody_elses_is_a_fault(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    config.user_rules.write_text('[[rule]]\nallow = ["a"]')
    if os.geteuid() == 0:
        os.chown(config.user_rules, 1, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert effect(RuleFiles(config).book(config.project), config, "a") == "ask"


def test_paths_are_real_ones_after_links(config: Config, tmp_path: Path) -> None:
    (config.project / "src").mkdir()
    (config.project / "src" / "out").symlink_to(tmp_path)
    (config.project / "src" / "key").symlink_to(config.project / "secret")
    config.user_rules.write_text('[[rule]]\nallow = ["Edit(src/**)"]\n[[rule]]\ndeny = ["Edit(secret)"]')
    book = RuleFiles(config).book(config.project)
    assert effect(book, config, "Edit(src/a)") == "allow"
    assert effect(book, config, "Edit(src/out/a)") == "ask"
    assert effect(book, config, "Edit(src/key)") == "deny"


def test_where_there_are_no_rules_nothing_of_them_is_imported() -> None:
    program = """
import sys
from pathlib import Path
from sayso.asks.model import Asker
from sayso.config import Config
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.rules_here import Rules
nowhere = Path("/nowhere")
rules = Rules(Config(project=nowhere, user_dir=nowhere, state_dir=nowhere))
asker = Asker(project="/nowhere")
action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": "ls"}})
assert rules.ruling(action, asker) is None
assert not rules.may_be_strict(asker)
print([name for name in sys.modules if name.startswith(("sayso.rules.", "tree_sitter", "tomllib"))])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "['sayso.rules.levels']\n"


# Projects in projects


def nested(config: Config, text: str) -> Path:
    """A repository within a project that is one, too, and has these rules."""
    (config.project / ".git").mkdir()
    (config.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    config.rules_of(config.project).write_text(text)
    inner = config.project / "infra" / "cloned"
    (inner / ".git").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return inner


def ruled(config: Config, inner: Path, meant: str) -> str:
    return RuleJudge(config).ruling(example(meant, str(inner)), str(inner), "codex").effect


def test_what_a_project_denies_or_asks_holds_in_a_repository_within_it_and_what_it_allows_does_not(
    config: Config,
) -> None:
    inner = nested(
        config,
        '[[rule]]\ndeny = ["Edit(infra/**)", "Bash(curl *)"]\n\n[[rule]]\nask = ["Read(infra/cloned/key)"]\n\n'
        '[[rule]]\nallow = ["Bash(ls *)"]\n',
    )
    config.user_rules.write_text('[[rule]]\nallow = ["Read(**)", "Bash(curl *)"]\n')
    trust(config.state_dir, config.project)
    wanted = ("Edit(main.tf)", "Bash(curl x)", "Read(key)", "Bash(ls x)", "Read(other)")
    assert [ruled(config, inner, meant) for meant in wanted] == ["deny", "deny", "ask", "ask", "allow"]


def test_a_rule_of_a_persons_that_denies_is_about_the_top_of_each_project_around_an_agent(config: Config) -> None:
    inner = nested(config, "")
    config.user_rules.write_text('[[rule]]\ndeny = ["Edit(infra/**)"]\n\n[[rule]]\nallow = ["Edit(**)"]\n')
    assert ruled(config, inner, "Edit(main.tf)") == "deny"
    config.user_rules.write_text('[[rule]]\nallow = ["Edit(infra/**)"]\n')
    assert ruled(config, inner, "Edit(main.tf)") == "ask"
    assert ruled(config, inner, "Edit(infra/main.tf)") == "allow"


def test_the_rules_of_a_folder_hold_below_it_also_where_nothing_is_a_repository(config: Config) -> None:
    config.rules_of(config.project).write_text('[[rule]]\ndeny = ["Edit(src/**)"]')
    below = config.project / "src" / "deep"
    below.mkdir(parents=True)
    assert ruled(config, below, "Edit(a)") == "deny"


def test_rules_around_a_project_are_read_again_when_they_change_or_are_trusted(config: Config) -> None:
    inner = nested(config, '[[rule]]\nask = ["a"]\napprovers = ["ada"]\n')
    judge = RuleJudge(config)
    named = [judge.ruling(example("a", str(inner)), str(inner), "codex").rules[0].approvers.names]
    trust(config.state_dir, config.project)
    named.append(judge.ruling(example("a", str(inner)), str(inner), "codex").rules[0].approvers.names)
    assert named == [(), ("ada",)]
    config.rules_of(config.project).write_text('[[rule]]\ndeny = ["a"]')
    assert judge.ruling(example("a", str(inner)), str(inner), "codex").effect == "deny"
    (config.project / ".sayso" / "rules.toml").write_text("not a rule")
    assert judge.ruling(example("b", str(inner)), str(inner), "codex").faults


def test_rules_that_somebody_else_has_put_around_a_project_are_nobodys(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = nested(config, '[[rule]]\ndeny = ["a"]')
    monkeypatch.setattr("sayso.rules.levels.os.geteuid", lambda: 4_321)
    monkeypatch.setattr("sayso.rules.levels._ROOT", 4_322)
    assert projects_around(inner) == ()
