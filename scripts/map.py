"""Writes the map of src/sayso, each part with the first sentence of its docstring.

Every module goes into docs/map.md, every package into AGENTS.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "sayso"
BEGIN, END = "<!-- map -->\n", "<!-- /map -->"


def main() -> None:
    write(ROOT / "docs" / "map.md", lines(SOURCES, 1))
    write(
        ROOT / "AGENTS.md",
        (entry(f"{package.name}/", about(package / "__init__.py"), 1) for package in packages(SOURCES)),
    )


def write(file: Path, tree: Iterable[str]) -> None:
    before, _, rest = file.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    drawn = "\n".join(["```", "src/sayso/", *tree, "```", ""])
    file.write_text(f"{before}{BEGIN}{drawn}{END}{after}", "utf-8")


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
