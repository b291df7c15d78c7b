"""HAPI, another page from which agents are driven, on a machine of its own: its hub, its runner, and one session of
Claude Code. It is installed from npm; what is sent to it is what its own page sends."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from tests.ports import lasting_port

PACKAGE = "@twsxtd/hapi"
PATIENCE = 180.0
_TOKEN = "a-token-of-the-bench-alone"


@dataclass(frozen=True, kw_only=True)
class Hapi:
    """A session in which Claude Code waits for a message."""

    version: str
    port: int
    session: str
    home: Path
    hub: int
    _signed_in: str

    @property
    def stream(self) -> str:
        """Where its page hears of everything."""
        return f"http://127.0.0.1:{self.port}/api/events?token={self._signed_in}&all=true"

    @property
    def page(self) -> str:
        return f"http://127.0.0.1:{self.port}/sessions/{self.session}?token={_TOKEN}"

    def say(self, text: str) -> None:
        self._post("messages", {"text": text, "localId": text})

    def allow(self, request: str) -> None:
        self._post(f"permissions/{request}/approve", {})

    def _post(self, path: str, data: Mapping[str, Any]) -> None:
        _call(self.port, f"/api/sessions/{self.session}/{path}", data, self._signed_in)

    def processes(self) -> list[psutil.Process]:
        """All that runs for it, the agents too."""
        return _at_home(self.home)


@contextmanager
def running(place: Path, project: Path, env: Mapping[str, str]) -> Iterator[Hapi]:
    """Installed in `place`, with a session in `project`. OSError or a subprocess's error where it cannot be."""
    home, port = place / "home", lasting_port()
    home.mkdir(parents=True)
    program, version = _installed(place)
    address = f"http://127.0.0.1:{port}"
    given = {
        **env,
        "HOME": str(home),
        "HAPI_HOME": str(home / ".hapi"),
        "CLI_API_TOKEN": _TOKEN,
        "HAPI_API_URL": address,
        "HAPI_LISTEN_HOST": "127.0.0.1",
        "HAPI_LISTEN_PORT": str(port),
    }
    with (place / "hub.log").open("wb") as log:
        hub = subprocess.Popen([program, "hub"], env=given, stdout=log, stderr=log)
    try:
        token = str(_until(lambda: _call(port, "/api/auth", {"accessToken": _TOKEN})["token"]))
        start = [program, "runner", "start", "--workspace-root", str(project)]
        subprocess.run(start, env=given, check=True, capture_output=True, timeout=PATIENCE)
        machine = _until(lambda: _call(port, "/api/machines", None, token)["machines"][0]["id"])
        wanted = {"directory": str(project), "agent": "claude", "model": "sonnet", "permissionMode": "default"}
        session = _call(port, f"/api/machines/{machine}/spawn", wanted, token)["sessionId"]
        yield Hapi(version=version, port=port, session=session, home=home, hub=hub.pid, _signed_in=token)
    finally:
        for process in _at_home(home):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        hub.wait(PATIENCE)


def _installed(place: Path) -> tuple[str, str]:
    install = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(place), PACKAGE]
    subprocess.run(install, check=True, capture_output=True, timeout=600)
    modules = place / "node_modules" / "@twsxtd"
    (program,) = modules.glob("hapi-*/bin/hapi")
    return str(program), str(json.loads((modules / "hapi" / "package.json").read_text())["version"])


def _call(port: int, path: str, data: Mapping[str, Any] | None, token: str = "") -> Any:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return json.load(reply)


def _until(look: Any) -> Any:
    """What a look finds, once it finds something."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            return look()
        except (OSError, IndexError):
            if time.monotonic() > give_up:
                raise
        time.sleep(0.2)


def _at_home(home: Path) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _home_of(process) == str(home)]


def _home_of(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return str(process.environ().get("HOME", ""))
    return ""
