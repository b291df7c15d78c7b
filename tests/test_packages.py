"""What others install Sayso from: the wheel holds everything, and the other packages say what the program does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from scripts.packages import ROOT, build_bundle, build_wheel, manifest, registry_entry, texts

from sayso import __version__

SECONDS = 60


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and what a user gets with it, as it is installed here."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True, timeout=SECONDS)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    for part in parts_of_dependencies():
        (packages / part.name).symlink_to(part)
    return folder / "bin"


def parts_of_dependencies() -> set[Path]:
    """The folders and modules of all that is locked for users, and of nothing that only we work with."""
    locked = re.findall(r"(?m)^([A-Za-z0-9_.-]+)==", (ROOT / "locks" / "sayso.txt").read_text("utf-8"))
    here = Path(sysconfig.get_paths()["purelib"])
    installed = [each for name in locked for each in metadata.distributions(name=name)]
    return {here / file.parts[0] for each in installed for file in each.files or () if file.parts[0] != ".."}


def run(*words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "dumb", "SAYSO_STATE_DIR": str(home / "s")}
    return subprocess.run(words, capture_output=True, text=True, env=env, cwd=home, timeout=SECONDS, check=False)


def sources() -> set[str]:
    files = [file.relative_to(ROOT / "src") for file in (ROOT / "src" / "sayso").rglob("*") if file.is_file()]
    return {str(file) for file in files if not any(part.startswith((".", "__pycache__")) for part in file.parts)}


def test_the_wheel_holds_everything(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith(f"sayso-{__version__}.dist-info")}
    assert names == sources()


def test_a_question_goes_its_whole_way_with_what_the_wheel_installed(fresh: Path, tmp_path: Path) -> None:
    where = run(fresh / "python", "-c", "import sayso; print(sayso.__file__)", home=tmp_path).stdout.strip()
    assert Path(where).is_relative_to(fresh.parent)
    for program in ("sayso", "auq"):
        assert run(fresh / program, "--version", home=tmp_path).stdout == f"{program} {__version__}\n"
    connected = run(fresh / "sayso", "install", "cursor", "--skill", home=tmp_path)
    assert connected.returncode == 0, connected.stderr
    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["sayso"]
    assert entry["command"] == str(fresh / "sayso")
    asked = run(fresh / "sayso", "doctor", "--client", "cursor", home=tmp_path)
    assert asked.returncode == 0, asked.stdout
    assert "answered, and the agent received it" in asked.stdout


def test_the_doctor_examines_an_installation_that_has_only_what_users_get(fresh: Path, tmp_path: Path) -> None:
    examined = run(fresh / "sayso", "doctor", "--json", home=tmp_path)
    assert examined.stderr == ""
    (versions,) = [found for found in json.loads(examined.stdout)["findings"] if found["subject"] == "versions"]
    assert f"Sayso {__version__}" in versions["text"]
    assert "textual" in versions["text"]


def test_every_module_can_be_imported_with_only_what_users_get(fresh: Path, tmp_path: Path) -> None:
    chats = {f"sayso.chats.{name}" for name in ("http", "ntfy", "slack", "telegram")}
    extras = {"sayso.oauth.server", "sayso.push.encryption", "sayso.store.postgres", *chats}
    every = (
        "import importlib, pkgutil, sayso\n"
        "for each in pkgutil.walk_packages(sayso.__path__, 'sayso.'):\n"
        f"    each.name in {extras} or each.name.endswith('__main__') or importlib.import_module(each.name)\n"
    )
    done = run(fresh / "python", "-c", every, home=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", texts())
def test_the_texts_of_the_packages_are_what_the_definitions_make(path: str) -> None:
    assert (ROOT / path).read_text("utf-8") == texts()[path], "run: python scripts/packages.py --texts"


def test_the_bundle_holds_the_manifest_and_all_that_it_starts(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_bundle(tmp_path)) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("manifest.json")) == manifest()
    assert names >= {f"src/{name}" for name in sources()} | {"pyproject.toml", "README.md", "LICENSE"}
    assert manifest()["server"]["entry_point"] in names


def test_the_registry_entry_keeps_the_rules_of_the_registry() -> None:
    entry = registry_entry()
    assert len(entry["description"]) <= 100
    assert entry["name"].count("/") == 1
    (package,) = entry["packages"]
    assert package["version"] == entry["version"] == __version__
    assert package["transport"] == {"type": "stdio"}
    assert os.path.basename(package["identifier"]) == "sayso"
