"""Makes the packages that others install Sayso from, out of the definitions that it runs by.

    python scripts/packages.py            writes packages/ and builds dist/: the wheel and the .mcpb bundle
    python scripts/packages.py --texts    only writes packages/, which is kept in the repository

The registry wants the publisher's own namespace: change NAMESPACE before publishing `packages/server.json`, and put the
line `mcp-name: NAMESPACE/sayso` into the README that is published on PyPI.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayso import __version__
from sayso.cli.ask import EXIT_CODES
from sayso.config import Config
from sayso.dialects.profiles import profile
from sayso.install.hooks import EVENTS, PROMPTS, SESSIONS, gate_entry, hook_entry, session_entry
from sayso.install.skill import skill

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PLUGIN = "packages/claude-code"
NAMESPACE = "io.github.sayso"
DESCRIPTION = "The line between coding agents and the people they work for: ask, run, talk."
AUTHOR = {"name": "Sayso contributors"}
KEYWORDS = ["ask", "human-in-the-loop", "questions", "inbox", "commands"]
RUN = ("uvx", "sayso")
"""How a package that holds no code starts the program: from PyPI, in an environment of its own."""

BUNDLED = ("pyproject.toml", "README.md", "LICENSE", "src/sayso")


def texts() -> dict[str, str]:
    """Every file below packages/ and the plugin's catalogue, by its path."""
    return {
        f"{PLUGIN}/.claude-plugin/plugin.json": _json(plugin()),
        f"{PLUGIN}/.mcp.json": _json({"mcpServers": {"sayso": {"command": RUN[0], "args": [*RUN[1:], "server"]}}}),
        f"{PLUGIN}/hooks/hooks.json": _json(hooks()),
        f"{PLUGIN}/skills/sayso/SKILL.md": skill(EXIT_CODES),
        f"{PLUGIN}/README.md": plugin_readme(),
        ".claude-plugin/marketplace.json": _json(marketplace()),
        "packages/mcpb/manifest.json": _json(manifest()),
        "packages/server.json": _json(registry_entry()),
    }


def plugin() -> dict[str, Any]:
    return {
        "name": "sayso",
        "version": __version__,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "license": "MIT",
        "keywords": KEYWORDS,
    }


def hooks() -> dict[str, Any]:
    """The same hooks as `sayso install claude-code --hook --approvals` sets up."""
    found = {event: [hook_entry(RUN)] for event in EVENTS} | {PROMPTS: [gate_entry(RUN)]}
    for event in SESSIONS:
        found[event] = [*found.get(event, ()), session_entry(RUN)]
    return {
        "description": "Hands answers that came late to the agent that asked, and brings prompts into the inbox.",
        "hooks": found,
    }


def plugin_readme() -> str:
    tools = "\n".join(f"- `{tool.name}`: {_first_line(tool.description)}" for tool in profile(Config()).for_models)
    return f"""# Sayso for Claude Code

{DESCRIPTION}

    /plugin install sayso --marketplace <owner>/<repo>

This plugin brings the MCP server, the hook that hands late answers over, the hook that brings Claude Code's permission
prompts into your inbox while they stand in the terminal, and the skill. It runs `{" ".join(RUN)}`, for
which it needs [uv](https://docs.astral.sh/uv/). Answer with `uvx sayso` in a terminal, or `uvx sayso web` in a browser.

{tools}
"""


def marketplace() -> dict[str, Any]:
    entry = {"name": "sayso", "source": f"./{PLUGIN}", "description": DESCRIPTION, "version": __version__}
    return {"name": "sayso", "owner": AUTHOR, "description": DESCRIPTION, "plugins": [entry]}


def manifest() -> dict[str, Any]:
    """Of the bundle. The client brings Python by uv and starts the code that lies in the bundle."""
    tools = [{"name": tool.name, "description": _first_line(tool.description)} for tool in profile(Config()).for_models]
    return {
        "manifest_version": "0.4",
        "name": "sayso",
        "display_name": "Sayso",
        "version": __version__,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "server": {
            "type": "uv",
            "entry_point": "src/sayso/cli/__main__.py",
            "mcp_config": {"command": "uv", "args": ["run", "--project", "${__dirname}", "sayso", "server"]},
        },
        "tools": tools,
        "tools_generated": True,
        "keywords": KEYWORDS,
        "license": "MIT",
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.11"}},
    }


def registry_entry() -> dict[str, Any]:
    package = {
        "registryType": "pypi",
        "identifier": "sayso",
        "version": __version__,
        "runtimeHint": RUN[0],
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "server"}],
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"{NAMESPACE}/sayso",
        "title": "Sayso",
        "description": DESCRIPTION,
        "version": __version__,
        "packages": [package],
    }


def write_texts(root: Path = ROOT) -> None:
    for path, text in texts().items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def build_wheel(folder: Path = DIST) -> Path:
    """The wheel, built by what is installed here: nothing is fetched."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*pip, *options, str(ROOT)], check=True)
    return folder / f"sayso-{__version__}-py3-none-any.whl"


def build_bundle(folder: Path = DIST) -> Path:
    """The .mcpb: a zip of the manifest and the sources."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle = folder / f"sayso-{__version__}.mcpb"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", _json(manifest()))
        for file in _bundled():
            archive.write(file, file.relative_to(ROOT))
    return bundle


def _bundled() -> list[Path]:
    roots = [ROOT / name for name in BUNDLED]
    files = [file for root in roots for file in (sorted(root.rglob("*")) if root.is_dir() else [root])]
    return [file for file in files if file.is_file() and not _is_a_cache(file.relative_to(ROOT))]


def _is_a_cache(file: Path) -> bool:
    return any(part.startswith((".", "__pycache__")) for part in file.parts)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    write_texts()
    if "--texts" not in sys.argv[1:]:
        for built in (build_wheel(), build_bundle()):
            print(built.relative_to(ROOT))


if __name__ == "__main__":
    main()
