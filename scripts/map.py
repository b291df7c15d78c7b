"""Prints the map of src/sayso: every package and module with the first sentence of its docstring."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "sayso"


def main() -> None:
    print("\n".join(["src/sayso/", *lines(SOURCES, 1)]))


def packages(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if (path / "__init__.py").exists())


def lines(folder: Path, depth: int) -> Iterator[str]:
    modules = [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("__")]
    for path in modules:
        yield entry(path.name, about(path), depth)
    for package in packages(folder):
        yield entry(f"{package.name}/", about(package / "__init__.py"), depth)
        yield from lines(package, depth + 1)


def entry(name: str, text: str, depth: int) -> str:
    return f"{'  ' * depth}{name:<{25 - 2 * depth}} {text}".rstrip()


def about(module: Path) -> str:
    """The first sentence of the docstring, without its end."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return re.split(r"\.(?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


if __name__ == "__main__":
    main()
