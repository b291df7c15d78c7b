"""`sayso rules`: what agents may do without asking, what they must never do, and what you want to be asked about."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.cli import declared
from sayso.cli.program import settings
from sayso.cli.terminal import bold, coloured, put, put_json, say, table
from sayso.cli.texts import plural, tr, translated
from sayso.clock import now_ms
from sayso.config import Config
from sayso.errors import AmbiguousId, InvalidInput, NotFound, Problem
from sayso.records import asdict
from sayso.rules.book import RuleBook, Ruling
from sayso.rules.files import RuleFiles
from sayso.rules.levels import RuleLevel
from sayso.rules.rule import Effect, Rule, RulesFault, RulesFile, When, written_rule
from sayso.text import iso_time, one_line, quoted, spelt_out

if TYPE_CHECKING:
    from sayso.desks import Desks
    from sayso.permissions.session_rules import SessionRule

HEADER = ("RULE", "DECIDED", "PLACE", "ABOUT")
_MAY_MISS = (1, 2)
"""The columns that a narrow terminal does without, in this order: how often it decided, where it is written."""
EXIT_CODES = {Effect.ALLOW: 0, Effect.ASK: 10, Effect.DENY: 11}
COLOURS = {Effect.ALLOW: "green", Effect.ASK: "yellow", Effect.DENY: "red"}
EXAMPLE = """[[rule]]
allow = ["Bash(git status *)", "Bash(npm test *)"]

[[rule]]
deny = ["Bash(git push --force *)"]"""
COUNTED = 30 * 24 * 3_600_000
"""Milliseconds back that verdicts of rules are counted."""


@declared.reading_group()
@declared.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def command(as_json: bool) -> None:
    """Show the rules that hold here, and how often each decided.

    Rules decide what agents may do without asking you. They are in your own file, in the project's, and in the
    machine's; the strictest that matches wins. docs/rules.md says how they are written.

    \b
    Example:
      sayso rules
      sayso rules check 'Bash(git push)'
      sayso rules test
      sayso rules suggest
    """
    from sayso.desks import open_desks  # whoever tries a rule opens none

    config = settings()
    book = RuleFiles(config).book(config.project)
    with open_desks(config, only_looks=True) as desks:
        counts = desks.log.decided_by_rules(now_ms() - COUNTED)
        given = desks.session_rules()
        never = _never_met(desks, book)
    if as_json:
        put_json({**_data(book, counts), "session_rules": [_session_data(rule) for rule in given]})
        return
    if not book.files and not given:
        file = spelt_out(str(config.user_rules))
        say(tr("There are no rules, so everything is asked. Write some into {file}, such as:", file=file))
        say(f"\n{EXAMPLE}")
        return
    rows = [_row(rule, counts, config) for file in book.files for rule in file.rules]
    rows += [_session_row(rule, counts) for rule in given]
    if rows:
        put(table(HEADER, rows, may_miss=_MAY_MISS))
        say("\n" + tr("DECIDED counts the last 30 days. Try an action: sayso rules check 'Bash(git push)'"))
    if given:
        say(tr("A rule of a session ends with it, or now: sayso rules end {id}", id=given[0].id[:8]))
    _say_what_does_not_count(book)
    for text in never:
        say(coloured(text, "yellow"))


@command.reader()
@declared.argument("action", metavar="ACTION")
@declared.option("--agent", default="claude-code", show_default=True, help="As if this client asked.")
@declared.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def check(action: str, agent: str, as_json: bool) -> None:
    """Say what the rules make of an action, by which rule, and why.

    ACTION is written as in a rule, without stars: Bash(git push), Edit(src/a.py), WebFetch(https://example.com/),
    mcp__github__get_issue. Exits with 0 for allow, 10 for ask and 11 for deny.

    \b
    Example:
      sayso rules check 'Bash(git push --force)'
    """
    from sayso.rules.judge import RuleJudge  # whoever lists rules tries none
    from sayso.rules.uses import example

    config = settings()
    folder = os.path.realpath(config.project)
    try:
        wanted = example(action, folder)
    except ValueError as error:
        raise InvalidInput([Problem(path="ACTION", text=f"{quoted(action)}: {error}.")]) from None
    ruling = RuleJudge(config).ruling(wanted, str(config.project), agent)
    if as_json:
        put_json(_ruling_data(ruling))
    else:
        _put_ruling(ruling)
    sys.exit(EXIT_CODES[ruling.effect])


@command.reader()
@declared.argument("file", metavar="[FILE]", required=False, type=declared.FILE)
@declared.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def test(file: Path | None, as_json: bool) -> None:
    """Read the rules and try their examples.

    Without FILE: all files that hold here. Exits with 1 if anything is wrong with them.

    \b
    Example:
      sayso rules test
      sayso rules test .sayso/rules.toml
    """
    from sayso.rules.reading import read_rules

    config = settings()
    if file:
        files: tuple[RulesFile, ...] = (read_rules(file.read_bytes(), file, RuleLevel.PERSON),)
    else:
        files = RuleFiles(config).book(config.project).files
    faults = [fault for each in files for fault in each.faults]
    if as_json:
        put_json({"files": [str(each.file) for each in files], "faults": [_fault_data(fault) for fault in faults]})
    else:
        for fault in faults:
            put(_told(fault))
        _say_what_is_perhaps_not_meant(rule for each in files for rule in each.rules)
        count = sum(len(each.rules) for each in files)
        if not faults:
            said = plural(
                count,
                "1 rule, and its examples come out as they say.",
                "{n} rules, and their examples come out as they say.",
            )
            put(said)
    sys.exit(1 if faults else 0)


@command.reader()
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def suggest(as_json: bool) -> None:
    """Propose rules for what you often allowed, and never denied.

    It looks at the last 30 days of the log. Nothing is changed: copy what you want into your file.

    \b
    Example:
      sayso rules suggest
    """
    from sayso.desks import open_desks
    from sayso.permissions.suggesting import suggestions

    config = settings()
    with open_desks(config, only_looks=True) as desks:
        found = suggestions(desks.log.decided_actions(now_ms() - COUNTED), RuleFiles(config).book(config.project))
    if as_json:
        put_json([{"rule": each.pattern, "allowed": each.allowed} for each in found])
        return
    if not found:
        say(tr("There is nothing that you allowed three times without ever denying it, and that no rule decides."))
        return
    for each in found:
        put(f"# {tr('allowed {n} times, never denied', n=each.allowed)}")
        put(written_rule(Effect.ALLOW, [each.pattern]))
    say(tr("Copy what you want into {file}.", file=spelt_out(str(config.user_rules))))


@command.command()
@declared.argument("rule_id", metavar="ID")
def end(rule_id: str) -> None:
    """End a rule that holds for one session.

    ID is the id that `sayso rules` shows, or the beginning of it. A rule in a file ends when you take it out.

    \b
    Example:
      sayso rules end 3f2a91bc
    """
    from sayso.agent_guard import refuse_agents
    from sayso.cli.shared import settler
    from sayso.desks import open_desks

    with open_desks(settings()) as desks:
        refuse_agents(desks, "end rules that a person gave")
        found = [rule for rule in desks.session_rules() if rule.id.startswith(rule_id.lower())]
        if not found or not rule_id:
            raise NotFound(f"No rule of a session has the id {rule_id!r}. `sayso rules` shows them.")
        if len(found) > 1:
            raise AmbiguousId(rule_id, [rule.id for rule in found])
        desks.permissions.end_session_rule(found[0], settler(desks.config))
    say(tr("It holds no longer: {rule}", rule=spelt_out(", ".join(found[0].patterns))))


@command.reader("import")
@declared.argument("client", metavar="CLIENT", type=declared.one_of(["claude-code", "codex", "gemini", "opencode"]))
@declared.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def import_(client: str, as_json: bool) -> None:
    """Propose the rules that a client's own settings come to.

    CLIENT is claude-code, codex, gemini or opencode. The rules never allow what that client would have asked about or
    denied; what no rule can say is named. Nothing is changed: look at it, then copy it into your file.

    \b
    Example:
      sayso rules import claude-code
    """
    from sayso.rules.importing import imported, is_plain, places

    config = settings()
    files = [file for file in places(client, Path.home(), config.project) if file.is_file()]
    try:
        found = imported(client, [file.read_text("utf-8") for file in files])
    except (ValueError, SyntaxError, OSError, TypeError, AttributeError) as error:
        text = tr("its settings cannot be understood: {error}", error=one_line(str(error), 200))
        raise InvalidInput([Problem(path=client, text=text)]) from None
    if as_json:
        rules = [
            {"effect": effect.value, "about": text, "plain": is_plain(effect, text)} for effect, text in found.rules
        ]
        put_json({"files": [str(file) for file in files], "rules": rules, "left_out": list(found.left_out)})
        return
    if found.rules:
        put(found.text)
    for text in found.left_out:
        put(f"# {tr('left out, because no rule can say it:')} {spelt_out(text)}")
    if not found.rules:
        say(tr("There is nothing in its settings that would make a rule."))


def _row(rule: Rule, counts: dict[str, int], config: Config) -> tuple[str, ...]:
    shown = one_line(rule.text, 100)
    because = f" → {one_line(rule.because, 60)}" if rule.because else ""
    agree = "" if rule.approvers.is_anyone else f" ({one_line(_who_must_agree(rule), 60)})"
    return (
        coloured(tr(rule.effect.value), COLOURS[rule.effect]),
        str(_decided(rule, counts)),
        _short(rule, config),
        f"{shown}{_only(rule.when)}{agree}{because}",
    )


def _only(when: When) -> str:
    """Where and for whom it holds alone, behind what it is about."""
    from sayso.cli.asks_in_words import place

    told = (
        tr("only in {place}", place=", ".join(map(place, when.projects))) if when.projects else "",
        tr("only for {agents}", agents=one_line(", ".join(when.agents), 60)) if when.agents else "",
        tr("only in the sandbox {sandbox}", sandbox=when.sandbox) if when.sandbox else "",
        tr("only as plain words") if when.plain else "",
    )
    return "".join(f" ({each})" for each in told if each)


def _session_row(rule: SessionRule, counts: dict[str, int]) -> tuple[str, ...]:
    from sayso.cli.asks_in_words import place

    text = ", ".join(rule.patterns)
    return (
        coloured(tr(Effect.ALLOW.value), COLOURS[Effect.ALLOW]),
        str(counts.get(f"{Effect.ALLOW.value} {text}", 0)),
        tr("session rule {id}", id=rule.id[:8]),
        f"{one_line(text, 100)} → {one_line(rule.client, 30)}, {_session_name(rule)}, {place(rule.project)}",
    )


def _session_name(rule: SessionRule) -> str:
    """As lists call it."""
    from sayso.asks.model import Asker
    from sayso.asks.truth import session_of

    return tr("session {name}", name=session_of(Asker(session=rule.session)))


def _session_data(rule: SessionRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "about": list(rule.patterns),
        "client": rule.client,
        "session": rule.session,
        "project": rule.project,
        "host": rule.host,
        "person": rule.person,
        "ask": rule.ask,
        "since": iso_time(rule.created_at),
    }


def _who_must_agree(rule: Rule) -> str:
    from sayso.permissions.quorum_words import who
    from sayso.permissions.ruled import demand_of

    return who(demand_of(rule), tr)


def _never_met(desks: Desks, book: RuleBook) -> list[str]:
    """Each rule that wants more people to agree than there are."""
    demanding = [rule for rule in book.rules if not rule.approvers.is_anyone]
    if not demanding:
        return []
    from sayso.asks.model import Asker
    from sayso.permissions.quorum_words import never

    quorum = desks.permissions.quorum(demanding, Asker())
    told = [(demand, never(quorum, demand, tr)) for demand in quorum.demands] if quorum else []
    return [f"{spelt_out(demand.place)}: {spelt_out(text)}" for demand, text in told if text]


def _decided(rule: Rule, counts: dict[str, int]) -> int:
    return counts.get(f"{rule.effect.value} {rule.text}", 0)


def _short(rule: Rule, config: Config) -> str:
    """Where it is written, as short as it can be told."""
    for start, name in ((config.project, "."), (Path.home(), "~")):
        if rule.file.is_relative_to(start):
            return spelt_out(f"{name}/{rule.file.relative_to(start)}:{rule.line}")
    return spelt_out(rule.place)


def _say_what_does_not_count(book: RuleBook) -> None:
    for fault in book.faults:
        say(coloured(_told(fault), "red"))
    if book.faults:
        say(bold(tr("Because of that everything is asked, but for what another file denies.")))
    _say_what_is_perhaps_not_meant(book.rules)
    for file in book.files:
        names = any(rule.approvers.names or rule.approvers.escalate_to for rule in file.rules)
        if not file.trusted and (names or any(rule.effect is Effect.ALLOW for rule in file.rules)):
            say(
                tr(
                    "What {file} allows does not count, nor whom it names: you have not trusted it (sayso trust).",
                    file=spelt_out(str(file.file)),
                )
            )


def _say_what_is_perhaps_not_meant(rules: Iterable[Rule]) -> None:
    for rule in rules:
        for sentence in rule.perhaps_not_meant:
            say(coloured(one_line(translated(sentence), 1000), "yellow"))


def _put_ruling(ruling: Ruling) -> None:
    put(bold(coloured(tr(ruling.effect.value), COLOURS[ruling.effect])))
    for rule in ruling.rules:
        put(f"  {spelt_out(rule.place)}: {spelt_out(rule.text)}")
    if ruling.because:
        put(f"  {spelt_out(ruling.because)}")
    if ruling.why:
        put(f"  {translated(ruling.why)}")
    for fault in ruling.faults:
        put(f"  {_told(fault)}")
    for rule in ruling.demanding:
        put("  " + tr("Must agree: {who}.", who=spelt_out(_who_must_agree(rule))))


def _data(book: RuleBook, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "files": [
            {"file": str(file.file), "level": file.level.value, "sha256": file.hash, "trusted": file.trusted}
            for file in book.files
        ],
        "rules": [
            {**_rule_data(rule), "decided": _decided(rule, counts)} for file in book.files for rule in file.rules
        ],
        "faults": [_fault_data(fault) for fault in book.faults],
    }


def _rule_data(rule: Rule) -> dict[str, Any]:
    return {
        "effect": rule.effect.value,
        "about": [pattern.text for pattern in rule.patterns],
        "except": [pattern.text for pattern in rule.exceptions],
        "because": rule.because,
        "when": None if rule.when == When() else asdict(rule.when),
        "file": str(rule.file),
        "line": rule.line,
        "level": rule.level.value,
        "approvers": None if rule.approvers.is_anyone else asdict(rule.approvers),
    }


def _told(fault: RulesFault) -> str:
    return one_line(translated(str(fault)), 1000)


def _fault_data(fault: RulesFault) -> dict[str, Any]:
    return {"file": str(fault.file), "line": fault.line, "key": fault.key, "text": fault.text}


def _ruling_data(ruling: Ruling) -> dict[str, Any]:
    return {
        "verdict": ruling.effect.value,
        "rules": [_rule_data(rule) for rule in ruling.rules],
        "patterns": list(ruling.patterns),
        "because": ruling.because,
        "why": ruling.why,
        "faults": [_fault_data(fault) for fault in ruling.faults],
    }
