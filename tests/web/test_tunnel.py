"""`sayso web --tunnel`: stand-ins that print what the real programs print, and end only when they are ended."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from tests import warm
from tests.e2e.clients.process import wait_until
from tests.e2e.stdio.harness import Place, new_place
from tests.ports import lasting_port
from tests.web.house import BIN, WAIT

from sayso.cli.tunnelling import PROGRAMS

CLOUDFLARED = r"""
2026-11-16T15:00:01Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way.
2026-11-16T15:00:01Z INF Requesting new quick Tunnel on trycloudflare.com...
2026-11-16T15:00:03Z INF +--------------------------------------------------------------------------------------------+
2026-11-16T15:00:03Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
2026-11-16T15:00:03Z INF |  https://four-dashed-word-url.trycloudflare.com                                            |
2026-11-16T15:00:03Z INF +--------------------------------------------------------------------------------------------+
"""
TAILSCALE = """Available within your tailnet:

https://laptop.tail1234.ts.net/
|-- proxy http://127.0.0.1:7297

Press Ctrl+C to exit.
"""
SAID = {"cloudflared": CLOUDFLARED, "tailscale": TAILSCALE}
ADDRESS = {
    "cloudflared": "https://four-dashed-word-url.trycloudflare.com",
    "tailscale": "https://laptop.tail1234.ts.net",
}


@pytest.fixture
def place() -> Iterator[Place]:
    with new_place() as place:
        yield place


def put_stand_in(place: Place, name: str, said: str, then: str = "sleep 600 & wait") -> Path:
    """A program of that name. Notes how it was called, and who it is; the real one of Tailscale prints to stdout, that
    of Cloudflare to stderr."""
    folder = place.folder / "programs"
    folder.mkdir(exist_ok=True)
    (folder / "said").write_text(said)
    channel = "2" if name == "cloudflared" else "1"
    program = folder / name
    notes = f'echo "$$" > {folder}/pid\necho "$@" > {folder}/words\n'
    program.write_text(f"#!/bin/sh\n{notes}cat {folder}/said >&{channel}\n{then}\n")
    program.chmod(0o755)
    return folder


@contextmanager
def web(place: Place, folder: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    env = {**place.environment, "PATH": f"{folder}{os.pathsep}{place.environment['PATH']}"}
    process = warm.start(
        [BIN / "sayso", "web", "--json", "--port", str(lasting_port()), *flags],
        cwd=place.project,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=WAIT)


def told_by(process: subprocess.Popen[str]) -> dict[str, str]:
    assert process.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        text += line
    told: dict[str, str] = json.loads(text)
    return told


def tree_of(folder: Path) -> list[psutil.Process]:
    """The stand-in, and what it has started."""
    stand_in = psutil.Process(int((folder / "pid").read_text()))
    return [stand_in, *stand_in.children(recursive=True)]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
@pytest.mark.parametrize("name", list(SAID))
def test_a_tunnel_comes_with_the_inbox_under_its_address_and_leaves_with_it(
    place: Place, name: str, end: signal.Signals
) -> None:
    folder = put_stand_in(place, name, SAID[name])
    with web(place, folder, "--tunnel", name) as process:
        told = told_by(process)
        assert (told["address"], told["page"]) == (ADDRESS[name], ADDRESS[name])
        assert told["link"].startswith(f"{ADDRESS[name]}/sign-in?link=")
        words = (folder / "words").read_text().split()
        assert words[-1].startswith("http://127.0.0.1:")
        assert "funnel" not in words
        here = words[-1]
        assert wait_until(lambda: answer(here, "/readyz", "127.0.0.1") == 200, WAIT)
        assert answer(here, "/sign-in", ADDRESS[name].removeprefix("https://")) == 200
        assert answer(here, "/", ADDRESS[name].removeprefix("https://")) == 401, "nobody comes in without signing in"
        assert answer(here, "/", "other.trycloudflare.com") == 421
        left = tree_of(folder)
        assert len(left) == 2
        process.send_signal(end)
        process.wait(WAIT)
        assert wait_until(lambda: not [one for one in left if one.is_running() and one.status() != "zombie"], WAIT)


def test_a_tunnel_whose_keeper_is_killed_ends_and_that_is_told(place: Place) -> None:
    folder = put_stand_in(place, "cloudflared", CLOUDFLARED)
    with web(place, folder, "--tunnel", "cloudflared") as process:
        told_by(process)
        left = tree_of(folder)
        psutil.Process(os.getsid(left[0].pid)).kill()
        assert wait_until(lambda: not [one for one in left if one.is_running() and one.status() != "zombie"], WAIT)
        assert process.stderr is not None
        while "nobody reaches this from elsewhere" not in (line := process.stderr.readline()):
            assert line
        process.terminate()
        assert process.wait(WAIT) == 0


def test_no_code_of_the_folder_that_it_is_started_in_is_run(place: Place) -> None:
    package = place.project / "sayso"
    package.mkdir(parents=True, exist_ok=True)
    ran = place.folder / "ran"
    for file in (package / "__init__.py", place.project / "socket.py"):
        file.write_text(f"open({str(ran)!r}, 'w').close()\n")
    folder = put_stand_in(place, "cloudflared", CLOUDFLARED)
    with web(place, folder, "--tunnel", "cloudflared") as process:
        assert told_by(process)["address"] == ADDRESS["cloudflared"]
        assert not ran.exists()
        process.terminate()
        process.wait(WAIT)


def answer(address: str, path: str, host: str) -> int:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=WAIT)
    try:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "said", "then", "why"),
    [
        ("cloudflared", "failed to request quick Tunnel: no such host\n", "exit 1", "has ended (exit code 1)"),
        ("tailscale", "Access denied: serve config denied\n", "exit 1", "Access denied: serve config denied"),
        ("tailscale", TAILSCALE.replace("within your tailnet", "on the internet"), "sleep 600", "whole internet"),
    ],
)
def test_a_tunnel_that_does_not_come_up_says_why_and_nothing_is_served(
    place: Place, name: str, said: str, then: str, why: str
) -> None:
    folder = put_stand_in(place, name, said, then)
    with web(place, folder, "--tunnel", name) as process:
        out, error = process.communicate(timeout=WAIT)
        assert (process.returncode, out, why in error) == (1, "", True), error


def test_what_is_missing_or_does_not_go_together_is_said(place: Place) -> None:
    none = place.folder / "none"
    for flags, code, why in (
        (["--tunnel", "cloudflared"], 8, PROGRAMS["cloudflared"].get_it),
        (["--tunnel", "tailscale", "--url", "https://a.example"], 2, "the address comes from the tunnel"),
        (["--tunnel", "tailscale", "--host", "0.0.0.0"], 2, "must be loopback"),
        (["--tunnel", "ngrok"], 2, "tailscale"),
    ):
        with web(place, none, *flags) as process:
            _, error = process.communicate(timeout=WAIT)
            assert (process.returncode, why in error) == (code, True), error


def test_a_tunnel_that_ends_is_told_and_the_inbox_goes_on(place: Place) -> None:
    folder = put_stand_in(place, "cloudflared", CLOUDFLARED)
    with web(place, folder, "--tunnel", "cloudflared") as process:
        told_by(process)
        tree_of(folder)[0].terminate()
        assert process.stderr is not None
        told = next(line for line in process.stderr if "cloudflared has ended" in line)
        assert "nobody reaches this from elsewhere" in told
        assert process.poll() is None
