"""A machine on which Sayso 0.1.0 worked until a moment ago, with a store of either kind; see README.md."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from tests.e2e.stdio.harness import Place

from sayso.processes import this_host
from sayso.store.store import statements

HERE = Path(__file__).parent
SCHEMA = HERE.parents[1] / "store" / "schema_1.sql"
TOKENS = {
    "sqlite": "sayso_XlO97s0jwiYJN7XHf9ALhlbjgq0tj_mmM-f-feEecLk",
    "postgres": "sayso_vLWs2mzchLkKU-Y5_3eB_-CcIkTKS0AJc_YElSyYaA4",
}
"""What the agent `builder` shows; its store knows only the hash."""
CLIENT = "claude-code"
_BODY = re.compile(r"'(\w+)', '@FINGERPRINT@'.* '(\{.*\"bound\": \w+\})'")
_TIME = re.compile(r"\b1795\d{9}\b")
_SECONDS = re.compile(r"\b1795\d{6}\.\d+\b")


def lay(place: Place, kind: str) -> None:
    """Put the store there, and what lies beside it, as if all of it had happened just now."""
    script = (HERE / kind / "store.sql").read_text(encoding="utf-8")
    ahead = int(time.time() * 1000) - max(map(int, _TIME.findall(script)))
    for named, here in {"PROJECT": place.project, "FOLDER": place.folder, "HOST": this_host()}.items():
        script = script.replace(f"@{named}@", str(here))
    script = _TIME.sub(lambda found: str(int(found[0]) + ahead), script)
    made = [*statements(SCHEMA.read_text(encoding="utf-8")), *_lines(script)]
    place.state.mkdir(mode=0o700)
    if kind == "sqlite":
        _fill_sqlite(place.database, made)
    else:
        with psycopg.connect(place.settings["store"]) as connection:
            for statement in made:
                connection.execute(statement.encode())
    operations = place.state / "operations"
    shutil.copytree(HERE / kind / "operations", operations)
    for status in operations.glob("*/status.json"):
        told = status.read_text(encoding="utf-8")
        status.write_text(_SECONDS.sub(lambda found: str(float(found[0]) + ahead / 1000), told), encoding="utf-8")


def call(prompt: str, *options: str, title: str) -> dict[str, Any]:
    """What an agent asked 0.1.0, to the letter."""
    asked = {"prompt": prompt, "title": title, "options": [{"label": each} for each in options]}
    return {"questions": [asked]}


SHIP_WORDS, DATABASE_WORDS, RENAME_WORDS = "Ship it tonight?", "Which database?", "Rename the module?"
SHIP = call(SHIP_WORDS, "Yes", "No", title="Ship")
DATABASE = call(DATABASE_WORDS, "SQLite", "PostgreSQL", title="Which")
RENAME = call(RENAME_WORDS, "Yes", "No", title="T")


def _lines(script: str) -> list[str]:
    """Each row is a line. What was asked may have a semicolon in it."""
    return [_fingerprinted(line) for line in script.splitlines() if line.startswith("INSERT ")]


def _fingerprinted(line: str) -> str:
    """An ask of an agent without a token, whose project and machine are in what 0.1.0 knew the same call by."""
    found = _BODY.search(line)
    return line.replace("@FINGERPRINT@", fingerprint(found[1], json.loads(found[2]))) if found else line


def fingerprint(tool: str, body: dict[str, Any]) -> str:
    """As 0.1.0 made it; not as the program does now, which has to come to the same."""
    asker = body["asker"]
    host = "" if asker["agent"] else asker["host"]
    who = [asker["agent"], asker["client"], asker["project"], host, asker["owner"]]
    asked = [{**question, "id": ""} for question in body["questions"]]
    canonical = json.dumps([tool, who, body["title"], asked], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _fill_sqlite(file: Path, made: list[str]) -> None:
    file.touch(mode=0o600)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in made:
            connection.execute(statement)
