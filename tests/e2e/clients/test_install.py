"""Fetching the client libraries: once, however many want them, and never in silence when it cannot be done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from tests.e2e.clients import install
from tests.e2e.clients.kinds import Library


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(install, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


def test_many_at_once_build_a_folder_once(empty_cache: Path) -> None:
    built: list[Path] = []
    together = Barrier(4)

    def want() -> Path:
        together.wait(10)
        return install.build_once("thing", b"pins", built.append)

    with ThreadPoolExecutor(4) as pool:
        folders = {future.result(30) for future in [pool.submit(want) for _ in range(4)]}
    assert built == list(folders)


def test_other_pins_make_another_folder(empty_cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "content").touch()

    assert install.build_once("thing", b"one", build) != install.build_once("thing", b"two", build)


def test_a_folder_left_half_built_is_built_anew(empty_cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise install.InstallError("no space")

    def build(folder: Path) -> None:
        (folder / "whole").touch()

    with pytest.raises(install.InstallError):
        install.build_once("thing", b"pins", fail)
    assert {path.name for path in install.build_once("thing", b"pins", build).iterdir()} == {"whole", ".ready"}


@pytest.mark.parametrize("library", ["mcp-1", "ts-1"])
def test_an_unreachable_registry_is_an_error_that_says_what_to_do(
    library: Library, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "http://127.0.0.1:9/"
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PIP_INDEX_URL", nowhere)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name, value in {"UV_DEFAULT_INDEX": nowhere, "UV_NO_CACHE": "1", "UV_HTTP_RETRIES": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", nowhere)
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(empty_cache / "npm"))
    with pytest.raises(install.InstallError, match="let this machine reach both"):
        install.command_for(library)
    assert not list(empty_cache.glob("*/.ready"))
