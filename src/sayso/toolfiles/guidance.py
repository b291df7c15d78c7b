"""What models are told about commands: the one paragraph on running in the background, and what to do meanwhile."""

from __future__ import annotations

from sayso.toolfiles.leaves import Leaf
from sayso.toolfiles.model import Hints, ToolFile

BACKGROUND = (
    "Runs in the background: the call returns at once with an operation id, and the result comes with your next call "
    "of any tool here after the command has ended. Go on with work that does not need it. Do not poll and do not wait."
)

_KINDS: dict[str, tuple[str, ...]] = {
    "build": ("build", "check", "clippy", "compile", "doc", "bundle", "assemble", "pack", "make"),
    "test": ("test", "tests", "pytest", "nextest", "bench", "coverage"),
    "dependencies": ("install", "add", "remove", "uninstall", "update", "upgrade", "sync", "lock", "fetch", "ci",
                     "pull", "download", "clone"),
    "clean": ("clean", "prune", "gc", "rm"),
    "run": ("run", "start", "serve", "exec", "up", "dev"),
}  # fmt: skip

_MEANWHILE = {
    "build": "Meanwhile, read through what you changed last, or go on with the next edit that does not need the build.",
    "test": "Meanwhile, look for cases the tests do not cover, or go on with work that does not depend on them.",
    "dependencies": "Meanwhile, read the code that will use them, or plan the change that needs them.",
    "clean": "Meanwhile, go on with reading and planning; leave the files that are being removed alone.",
    "run": "Meanwhile, go on with other work; look at its output only when you need it.",
    "default": "Meanwhile, go on with work that does not depend on it.",
}


def description(leaf: Leaf) -> str:
    """The description of an MCP tool: the file's words, and for a background tool the standard paragraph."""
    return leaf.description if leaf.synchronous else f"{leaf.description}\n\n{BACKGROUND}"


def start_hint(tool: ToolFile, leaf: Leaf) -> str:
    """What to do while the command runs: the file's hint for just this subcommand, for this kind of work, for any,
    or else a standard one."""
    key, kind = leaf.settings.guidance_key, kind_of(leaf)
    hints = tool.hints
    candidates = (
        hints.custom.get("_".join(leaf.path)),
        hints.custom.get(leaf.path[-1]) if leaf.path else None,
        hints.custom.get(key) if key else None,
        _of_kind(hints, kind),
        hints.custom.get("default"),
    )
    return next((hint for hint in candidates if hint), _MEANWHILE[kind])


def kind_of(leaf: Leaf) -> str:
    """The kind of work: what `guidance_key` says, else what the words of the command say."""
    if leaf.settings.guidance_key in _MEANWHILE:
        return str(leaf.settings.guidance_key)
    words = [*reversed(leaf.path), leaf.tool]
    return next((kind for word in words for kind, known in _KINDS.items() if word in known), "default")


def _of_kind(hints: Hints, kind: str) -> str | None:
    by_kind = {
        "build": hints.build,
        "test": hints.test,
        "dependencies": hints.dependencies,
        "clean": hints.clean,
        "run": hints.run,
    }
    return by_kind.get(kind)
