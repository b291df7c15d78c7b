"""Rules from the settings of an agent's client. They never allow what the client would have asked about or denied: what
cannot be told exactly is left out where it allows, and asked for as a whole where it asks or denies."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.jsontext import Relaxed
from sayso.records import record
from sayso.rules.pattern import About, pattern
from sayso.rules.rule import Effect, written_rule
from sayso.setting_values import toml

_PLAIN = "when = { plain = true }\n"

Said = tuple[Effect, str]
"""What a client says about a pattern of ours, or about words that may be none."""


@record
class ImportedRules:
    """`left_out` is what the client allows and no rule of ours can say."""

    rules: tuple[Said, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As it stands in a file. What clients make of a shell line that is more than plain words, they do not agree
        on, nor with us: the same command in another spelling is asked."""
        groups: dict[tuple[Effect, bool], list[str]] = {}
        for effect, said in sorted(self.rules, key=lambda rule: list(Effect).index(rule[0])):
            groups.setdefault((effect, is_plain(effect, said)), []).append(said)
        return "\n".join(
            written_rule(effect, texts, _PLAIN if plain else "") for (effect, plain), texts in groups.items()
        )


def is_plain(effect: Effect, said: str) -> bool:
    """Whether it is taken over for shell lines in plain words alone."""
    return effect is Effect.ALLOW and said.partition("(")[0] == "Bash"


def places(client: str, home: Path, project: Path) -> list[Path]:
    """The files in which a client keeps what it allows; those that are not there are left alone."""
    match client:
        case "claude-code":
            own = [home / ".claude" / "settings.json"]
            return [*own, *(project / ".claude" / name for name in ("settings.json", "settings.local.json"))]
        case "codex":
            return sorted((home / ".codex" / "rules").glob("*.rules"))
        case "gemini":
            policies = sorted((home / ".gemini" / "policies").glob("*.toml"))
            return [home / ".gemini" / "settings.json", project / ".gemini" / "settings.json", *policies]
    return [home / ".config" / "opencode" / "opencode.json", project / "opencode.json"]


def imported(client: str, texts: Iterable[str]) -> ImportedRules:
    """What the files say, as rules of ours. ValueError for a file that is not what the client would take."""
    rules: dict[Said, None] = {}
    left_out: list[str] = []
    for text in texts:
        for effect, said in CLIENTS[client](text):
            if fitting := _ours(effect, said):
                rules[fitting] = None
            else:
                left_out.append(said)
    return ImportedRules(rules=tuple(rules), left_out=tuple(dict.fromkeys(left_out)))


def _ours(effect: Effect, said: str) -> Said | None:
    name = said.partition("(")[0].strip()
    try:
        found = pattern(said)
    except ValueError:
        return None if effect is Effect.ALLOW else (Effect.ASK, name if re.fullmatch(r"\w+", name) else "*")
    anchored = found.about is About.PATH and found.spec.startswith("/") and not found.spec.startswith("//")
    if effect is not Effect.ALLOW:
        # What a path from `/` is relative to, clients do not agree on.
        return (Effect.ASK, name) if anchored else (effect, said)
    if name in ("Read", "Edit") and found.about is About.NOTHING:
        return effect, f"{name}(**)"
    only_named = found.about is About.PATH and name not in ("Read", "Edit")
    wide = found.spec.startswith("*") and found.about is About.WORDS
    return None if anchored or only_named or wide or name == "*" else (effect, said)


# The clients


def _claude_code(text: str) -> Iterator[Said]:
    permissions = _object(untrusted_json.loads(text)).get("permissions")
    for effect in Effect:
        for said in _object(permissions).get(effect, ()):
            name = str(said).partition("(")[0]
            # Claude Code takes no path from these: they are about every file.
            yield (
                effect,
                name if name in ("Write", "MultiEdit", "NotebookEdit") and effect is not Effect.ALLOW else said,
            )


def _codex(text: str) -> Iterator[Said]:
    decisions = {"allow": Effect.ALLOW, "prompt": Effect.ASK, "forbidden": Effect.DENY}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "prefix_rule":
            given = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
            effect = decisions.get(given.get("decision", "allow"), Effect.ASK)
            words = [[word] if isinstance(word, str) else list(word) for word in given.get("pattern", ())]
            yield from ((effect, f"Bash({' '.join(map(_quoted, line))} *)") for line in product(*words))


def _gemini(text: str) -> Iterator[Said]:
    if text.lstrip().startswith("{"):
        tools = _object(_object(Relaxed(text).root().value).get("tools"))
        yield from ((Effect.ALLOW, _gemini_tool(str(said))) for said in tools.get("allowed", ()))
        yield from ((Effect.DENY, _gemini_tool(str(said))) for said in tools.get("exclude", ()))
        return
    decisions = {"allow": Effect.ALLOW, "deny": Effect.DENY}
    for rule in toml(text).get("rule", ()):
        effect = decisions.get(rule.get("decision"), Effect.ASK)
        prefixes = rule.get("commandPrefix", [])
        if effect is Effect.ALLOW:
            # Which of its policies wins is up to their priorities and to other files: it may not have allowed this.
            yield effect, f"{rule.get('toolName')} (by a policy{': ' if prefixes else ''}{_listed(prefixes)})"
        elif rule.get("toolName") == "run_shell_command" and prefixes:
            for prefix in [prefixes] if isinstance(prefixes, str) else prefixes:
                yield effect, f"Bash({prefix.strip()} *)"
        else:
            yield Effect.ASK, "Bash" if rule.get("toolName") == "run_shell_command" else "*"


def _listed(prefixes: object) -> str:
    return ", ".join(map(str, prefixes)) if isinstance(prefixes, list) else str(prefixes)


def _gemini_tool(said: str) -> str:
    name, _, about = said.partition("(")
    if name not in ("run_shell_command", "ShellTool"):
        return f"{name} (all of it)"
    return f"Bash({about.removesuffix(')').strip()} *)" if about else "Bash"


def _opencode(text: str) -> Iterator[Said]:
    """The last entry that matches wins there, so one that allows counts only if none after it asks or denies."""
    permission = _object(_object(Relaxed(text).root().value).get("permission"))
    names = {"bash": "Bash", "edit": "Edit", "read": "Read", "webfetch": "WebFetch"}
    for tool, said in permission.items():
        name = names.get(tool, f"{tool} (all of it)")
        entries = list(said.items()) if isinstance(said, dict) else [("*", said)]
        for place, (spec, decision) in enumerate(entries):
            effect = Effect(decision) if decision in list(Effect) else Effect.ASK
            if spec == "*" and effect is Effect.ASK and place == 0:
                continue  # what nothing else is about is asked anyway
            if tool == "bash":
                yield effect, name if spec == "*" else f"Bash({spec})"
            elif spec == "*":
                yield effect, name
            else:
                yield (effect, f"{name} (all of it)") if effect is Effect.ALLOW else (Effect.ASK, name)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./:@%+,=-]+", word) else f"'{word}'" if "'" not in word else '"'


CLIENTS: Mapping[str, Callable[[str], Iterator[Said]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}
