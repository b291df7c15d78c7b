"""Runs every measuring program, prints what it prints, and keeps the last of it in docs/performance.md.

A program is a module of this folder with a `main` that prints its tables; to add one, name it in PROGRAMS.
Usage: python -m bench.report [NAME ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "performance.md"
SECONDS = 3600
PROGRAMS = {
    "peers": "Sayso beside other MCP servers",
    "latency": "A question and its answer on their way",
    "commands": "Starting a command",
    "growth": "As things grow",
    "writers": "Many that write at once",
    "history": "A long history, and many agents",
    "fleet": "Many agents on one store",
    "tui": "The terminal inbox",
    "web": "The web inbox",
    "page": "The inbox in a browser",
    "push": "From a question to a phone",
    "chats": "From a chat to the agent",
    "talk": "Talking with an agent",
    "talk_crowd": "Talking with many agents at once",
    "talk_takeover": "From a terminal to Talk and back",
    "talk_peers": "Talk beside HAPI",
}
BEGIN, END = "<!-- {name} -->", "<!-- /{name} -->"


def run(name: str) -> str:
    """What a program printed; or that it could not be run here, and why."""
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}"], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return f"Could not be measured: {said[-1] if said else f'exit code {done.returncode}'}"
    return done.stdout.strip("\n")


def section(name: str, printed: str) -> str:
    """Markdown as it is; anything else as it looks in a terminal."""
    body = printed if "|---" in printed else f"```\n{printed}\n```"
    command = f"Made by `python -m bench.{name}`."
    return f"{BEGIN.format(name=name)}\n\n{command}\n\n{body}\n\n{END.format(name=name)}"


def put(document: str, name: str, printed: str) -> str:
    """The document with a program's section in the place of its last one."""
    before, begun, rest = document.partition(BEGIN.format(name=name))
    _, ended, after = rest.partition(END.format(name=name))
    if not begun or not ended:
        raise SystemExit(f"{DOCUMENT.name} has no place for {name}: it needs {BEGIN.format(name=name)} and its end.")
    return before + section(name, printed) + after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], metavar="NAME", help=", ".join(PROGRAMS))
    for name in parser.parse_args().names or PROGRAMS:
        printed = run(name)
        print(f"# {PROGRAMS[name]}\n\n{printed}\n", flush=True)
        DOCUMENT.write_text(put(DOCUMENT.read_text("utf-8"), name, printed), "utf-8")


if __name__ == "__main__":
    main()
