"""Whether every package that the sources import is a dependency of theirs.

Part of `make check`. What comes along with a dependency today may be gone from it tomorrow.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent
OURS = "sayso"


def main() -> None:
    declared, imported = _declared(), _imported()
    missing = sorted(f"{name} (imported in {imported[name]})" for name in imported.keys() - declared)
    if missing:
        sys.exit(f"Imported, and not among the dependencies in pyproject.toml: {', '.join(missing)}.")


def _declared() -> set[str]:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [*about["dependencies"], *(text for extra in about["optional-dependencies"].values() for text in extra)]
    return {name for text in texts for name in _named(text)}


def _named(text: str) -> Iterator[str]:
    """The package that a dependency names, and those that its extras are known by, as in `psycopg[pool]`."""
    name, _, extras = re.split(r"[<>=~!; ]", text)[0].rstrip("]").partition("[")
    yield _canonical(name)
    yield from (_canonical(f"{name}-{extra}") for extra in extras.split(",") if extra)


def _imported() -> dict[str, Path]:
    """The packages that the sources import, each with a file that does."""
    by_module = packages_distributions()
    found: dict[str, Path] = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        for module in _modules(ast.parse(file.read_text("utf-8"))):
            top = module.partition(".")[0]
            if top != OURS and top not in sys.stdlib_module_names:
                name = _canonical(by_module.get(top, [top])[0])
                found.setdefault(name, file.relative_to(ROOT))
    return found


def _modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
