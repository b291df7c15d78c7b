"""`sayso web`, `sayso user` and `sayso token` as a person runs them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from tests.e2e.stdio.harness import Place, new_place
from tests.postgres import Server
from tests.web.house import WAIT, Web, confirm, new_house

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture
def place() -> Iterator[Place]:
    with new_place(person="Ada Lovelace") as place:
        yield place


def test_the_first_start_adds_you_and_prints_a_link_on_standard_output(place: Place) -> None:
    made = place.run("web", "--link", "--url", "http://localhost:7297")
    assert made.returncode == 0
    assert re.fullmatch(r"  http://sayso-[a-z2-7]{24}\.localhost:7297/sign-in\?link=[\w-]{32}\n", made.stdout)
    assert "Sign in as Ada.Lovelace. This works once, within 15 minutes" in made.stderr
    assert "No web inbox seems to be running here." in made.stderr
    assert [user["name"] for user in json.loads(place.run("user", "list", "--json").stdout)] == ["Ada.Lovelace"]


def test_another_link_names_the_inbox_that_runs() -> None:
    with new_house() as house:
        made = json.loads(house.place.run("web", "--link", "--user", "ada", "--json").stdout)
        assert made["page"] == house.web.address
        assert made["user"] == "ada"
        assert made["link"].startswith(f"{house.web.address}/sign-in?link=")


def test_a_link_leads_to_an_inbox_that_is_served_whoever_else_has_come_and_gone() -> None:
    with new_house() as house:

        def linked(*flags: str) -> tuple[str, str]:
            made = house.place.run("web", "--link", "--user", "ada", "--json", *flags)
            return json.loads(made.stdout)["page"], made.stderr

        second = Web(house.place, "--port", "0", "--user", "ada")
        page, said = linked()
        assert page == second.address, "the one that was started last"
        assert f"{house.web.for_programs} (--port {house.web.port})" in said
        assert linked("--port", str(house.web.port))[0] == house.web.address
        second.stop()
        assert linked()[0] == house.web.address
        killed = Web(house.place, "--port", "0", "--user", "ada")
        killed.stop(signal.SIGKILL)
        page, said = linked()
        assert page == house.web.address
        assert "No web inbox seems to be running here." not in said
        assert "Also served" not in said
        gone = house.place.run("web", "--link", "--port", str(killed.port))
        assert (gone.returncode, gone.stdout) == (3, "")
        assert f"No web inbox of this store answers at http://127.0.0.1:{killed.port}" in gone.stderr
        assert house.web.for_programs in house.place.run("doctor").stdout


def test_users_are_added_listed_and_revoked(place: Place) -> None:
    assert "grace may sign in." in place.run("user", "add", "grace").stderr
    link = ("web", "--link", "--url", "https://inbox.example.org")
    assert place.run(*link, "--user", "grace").returncode == 0
    assert place.run("user", "revoke", "grace").returncode == 0
    shown = place.run("user", "list").stdout
    assert re.search(rf"^grace  {TIME}  {TIME}$", shown, re.M)
    refused = place.run(*link, "--user", "grace")
    assert (refused.returncode, "There is no user 'grace'" in refused.stderr) == (3, True)
    assert place.run("user", "add", "grace").returncode == 0
    assert place.run(*link, "--user", "grace").returncode == 0


def test_what_is_no_user_is_refused(place: Place) -> None:
    assert place.run("user", "revoke", "nobody").returncode == 3
    refused = place.run("user", "add", "a b")
    assert refused.returncode == 2
    assert "Use letters, digits and . _ @ + -" in refused.stderr
    assert "There are no users yet." in place.run("user", "list").stderr


def test_you_stay_out_once_you_were_revoked(place: Place) -> None:
    place.run("web", "--link")
    place.run("user", "revoke", "Ada.Lovelace")
    refused = place.run("web", "--link")
    assert refused.returncode == 5
    assert "`sayso user add Ada.Lovelace` lets them in again" in refused.stderr


def test_tokens_are_shown_once_listed_without_secrets_and_revoked(place: Place) -> None:
    secret = place.run("token", "add", "builder", "--project", str(place.project)).stdout.strip()
    assert secret.startswith("sayso_")
    place.run("user", "add", "grace")
    place.run("token", "add", "hers", "--user", "grace")
    listed = place.run("token", "list", "--json").stdout
    assert secret not in listed
    tokens = {token["name"]: token for token in json.loads(listed)}
    assert (tokens["builder"]["project"], tokens["builder"]["user"]) == (str(place.project.resolve()), None)
    assert tokens["hers"]["user"] == "grace"
    assert place.run("token", "revoke", "builder").returncode == 0
    assert re.search(rf"^builder +anyone .*  {TIME}  {TIME}$", place.run("token", "list").stdout, re.M)
    assert place.run("token", "add", "builder").returncode == 2, "a revoked token's name is not used again"
    assert place.run("token", "revoke", "nothing").returncode == 3


def test_a_terminal_shows_the_link_as_a_code_too(place: Place) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [Path(sys.executable).parent / "sayso", "web", "--link", "--url", "https://inbox.example.org"],
        env={**place.environment, "TERM": "xterm-256color"},
        cwd=place.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=WAIT,
        check=True,
    )
    os.close(theirs)
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    os.close(ours)
    assert done.stdout.startswith(b"  https://inbox.example.org/sign-in?link=")
    assert len(re.findall("[▀▄█]", seen.decode())) > 200


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""


@pytest.mark.finding("F-30")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_that_is_taken_at_either_loopback_address_is_said_to_be(place: Place, host: str) -> None:
    """Where one of them were somebody else's, a browser would send them the cookie."""
    if host == "::1" and not has_ipv6():
        pytest.skip("this machine has no ::1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as other:
        refused = place.run("web", "--port", str(other.getsockname()[1]))
    assert refused.returncode == 1
    assert "Address already in use. No inbox of this store answers there: choose another place" in refused.stderr


@contextmanager
def somebody_else(answers: Callable[[str], bytes] | None = None, port: int = 0) -> Iterator[int]:
    """Another user's program on a port, and what it answers to a path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers(self.path) if answers else b"0" * 64
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("words", [(), ("--host", "localhost"), ("--url", "http://127.0.0.1:{port}")])
def test_no_link_leads_to_somebody_else(place: Place, words: tuple[str, ...]) -> None:
    with somebody_else() as port:
        refused = place.run("web", "--link", "--port", str(port), *(word.format(port=port) for word in words))
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "so no link to it was made" in refused.stderr


def test_no_link_leads_to_who_took_the_place_of_an_inbox_or_passes_on_what_it_says() -> None:
    with new_house() as house:
        gone = Web(house.place, "--port", "0", "--user", "ada")
        gone.stop(signal.SIGKILL)

        def passed_on(path: str) -> bytes:
            with urlopen(f"{house.web.for_programs}{path}") as answer:
                said: bytes = answer.read()
                return said

        with somebody_else(passed_on, port=gone.port):
            refused = house.place.run("web", "--link", "--port", str(gone.port))
            assert (refused.returncode, refused.stdout) == (3, "")
            made = json.loads(house.place.run("web", "--link", "--user", "ada", "--json").stdout)
            assert made["page"] == house.web.address
            assert f":{gone.port}" not in house.place.run("doctor").stdout


def test_whose_port_it_is_that_is_taken() -> None:
    with new_house() as house:
        refused = house.place.run("web", "--port", str(house.web.port))
        assert refused.returncode == 1
        assert f"Your web inbox runs there already: `sayso web --link --port {house.web.port}`" in refused.stderr
        with new_place(person="Bo") as other:
            assert "No inbox of this store answers there" in other.run("web", "--port", str(house.web.port)).stderr


def test_the_proof_of_an_inbox_takes_a_challenge_and_nothing_else() -> None:
    with new_house() as house:
        for path in ("/proof", "/proof?challenge=x", f"/proof?challenge={'A' * 64}"):
            assert house.web.call("GET", path).status == 400
        proofs = {house.web.call("GET", f"/proof?challenge={n * 64}").text for n in "0011"}
        assert len(proofs) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="has one loopback address")
def test_the_address_that_is_printed_leads_to_where_it_listens() -> None:
    """A name below `localhost` would lead to 127.0.0.1, where somebody else may be."""
    with somebody_else() as port, new_house("--host", "127.0.0.5", "--port", str(port)) as house:
        assert house.web.address == house.web.for_programs == f"http://127.0.0.5:{port}"
        assert house.web.link.startswith(f"http://127.0.0.5:{port}/sign-in?link=")
        made = json.loads(house.place.run("web", "--link", "--user", "ada", "--json").stdout)
        assert made["link"].startswith(f"http://127.0.0.5:{port}/sign-in?link=")
        opened = house.web.call("GET", made["link"].partition(str(port))[2], host=f"127.0.0.5:{port}")
        assert opened.status == 200


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_nobody_else_can_come_in_unless_it_is_said(place: Place) -> None:
    with new_house() as house:
        addresses = {one.laddr.ip for one in psutil.Process(house.web.pid).net_connections("tcp")}
        assert addresses == ({"127.0.0.1", "::1"} if has_ipv6() else {"127.0.0.1"})
        assert "reachable from other machines" not in house.web.said


def test_letting_others_in_without_tls_is_warned_of() -> None:
    with new_house("--host", "0.0.0.0") as house:
        assert not house.web.address.startswith("http://0.0.0.0")
        assert house.web.call("GET", "/", host="192.168.7.7:7297").status == 401, "by any address of this machine"
        assert house.web.call("GET", "/", host="evil.example").status == 421
        headers = {"Origin": f"http://10.0.0.1:{house.web.port}"}
        assert house.web.call("GET", "/", headers=headers).status == 403, "another machine's page is a foreign one"
    assert "Warning: 0.0.0.0 is reachable from other machines without TLS" in house.web.said


def test_behind_tls_nothing_is_warned_of() -> None:
    with new_house("--host", "0.0.0.0", "--url", "https://inbox.example.org") as house:
        assert house.web.address == "https://inbox.example.org"
    assert "Warning" not in house.web.said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_gently(number: signal.Signals) -> None:
    with new_house() as house:
        assert house.web.call("GET", "/").status == 401, "it serves"
        assert house.web.stop(number) == 0
        assert "Traceback" not in house.web.said


def test_everything_works_on_postgresql_too(postgres: Server) -> None:
    with postgres.new_database() as address, new_house(store=address) as house:
        cookie = f"{house.cookie_name}={house.session()}"
        ask = house.ask(confirm("On PostgreSQL?"))
        assert "On PostgreSQL?" in house.web.call("GET", "/", cookie=cookie).text
        assert house.web.call("GET", f"/asks/{ask.id}", cookie=cookie).status == 200
        for path in ("/history?q=%00%ff", "/?after=%00", "/asks/%00", f"/asks/{ask.id}?sent=%00"):
            assert house.web.call("GET", path, cookie=cookie).status in (200, 404)
        bearer = {"Authorization": f"Bearer {house.session()}"}
        given = {"answers": [{"question": ask.questions[0].id, "chosen": ["yes"], "note": "\x00"}]}
        answered = house.web.call("POST", f"/api/asks/{ask.id}/answer", data=given, headers=bearer)
        assert (answered.status, answered.data["outcome"]["answers"][0]["note"]) == (200, "\x00")
        assert house.web.call("POST", "/api/asks/%00/answer", data=given, headers=bearer).status == 404
        assert house.web.call("GET", "/api/asks?project=%00", headers=bearer).status == 422


def test_a_store_that_is_away_is_said_to_be_and_comes_back() -> None:
    with new_house() as house:
        cookie = f"{house.cookie_name}={house.session()}"
        database, aside = house.place.database, house.place.folder / "aside.db"
        database.rename(aside)
        database.mkdir()
        refused = house.web.call("GET", "/", cookie=cookie)
        assert refused.status == 503
        assert refused.headers["retry-after"] == "5"
        assert "That did not work" in refused.text
        assert house.web.call("GET", "/api/me", headers={"Authorization": "Bearer x"}).status == 503
        database.rmdir()
        aside.rename(database)
        assert house.web.call("GET", "/", cookie=cookie).status == 200


def test_answers_are_not_logged(tmp_path: Path) -> None:
    with new_house(log_level="debug") as house:
        ask = house.ask(confirm())
        cookie = f"{house.cookie_name}={house.session()}"
        house.web.call("GET", f"/asks/{ask.id}", cookie=cookie)
        bearer = {"Authorization": f"Bearer {house.session()}"}
        house.web.call("POST", f"/api/asks/{ask.id}/reject", data={"reason": "a secret reason"}, headers=bearer)
    assert "a secret reason" not in house.web.said
    assert cookie.partition("=")[2] not in house.web.said
