"""What `sayso web` does with connections on which something comes that is no HTTP: by hand, on real sockets."""

from __future__ import annotations

import gzip
import http.client
import re
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from email.utils import parsedate_to_datetime

import psutil
import pytest
from tests.web.house import USER, WAIT, House, confirm, new_house

CHUNKED = "{} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nTransfer-Encoding: chunked\r\n\r\n"
JUNK = b"this is no chunk\r\n\r\n"


@contextmanager
def line_to(house: House) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", house.web.port), timeout=WAIT) as line:
        yield line


def heard(line: socket.socket, until: bytes = b"") -> bytes:
    """What comes until this has come, or the connection ends."""
    said = b""
    while chunk := line.recv(65_536):
        said += chunk
        if until and until in said:
            break
    return said


def test_junk_after_a_request_ends_the_connection_and_is_no_fault_in_the_log() -> None:
    with new_house(log_level="warning") as house:
        cookie = f"{house.cookie_name}={house.session(USER)}"
        with line_to(house) as line:
            line.sendall(CHUNKED.format("POST /sign-out", house.web.host, cookie).encode() + JUNK)
            before_the_answer = heard(line)
        with line_to(house) as line:
            line.sendall(CHUNKED.format("GET /events", house.web.host, cookie).encode())
            heard(line, until=b"event: commands")
            line.sendall(JUNK)
            within_the_answer = heard(line)
        with line_to(house) as line:
            line.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{JUNK.decode()}".encode())
            after_the_answer = heard(line)
        with line_to(house) as line:
            line.sendall(HEALTH + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
            assert heard(line).startswith(b"HTTP/1.1 200")
        assert house.web.stop() == 0
        assert before_the_answer.startswith(b"HTTP/1.1 400")
        assert before_the_answer.count(b"HTTP/1.1") == 1
        assert b"HTTP/1.1" not in within_the_answer
        assert [part[:4] for part in after_the_answer.split(b"HTTP/1.1 ")[1:]] == [b"200 "]
        assert b"connection: close" in after_the_answer
        assert "Invalid HTTP request received." in house.web.said
        assert "Traceback" not in house.web.said
        assert "Fatal error" not in house.web.said
        assert "upgrade" not in house.web.said


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    "said",
    [
        b"GET /healthz HTTP/1.1\r\n\r\n",
        HEALTH + b"Host: localhost\r\n\r\n",
        HEALTH + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        HEALTH + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEALTH + b"Transfer-Encoding: gzip\r\n\r\n",
        HEALTH + b"Content-Length : 0\r\n\r\n",
        HEALTH + b"X: " + b"x" * 400_000,
        b"GET /" + b"x" * 400_000,
        b"\r\n" * 200_000,
        HEALTH + b"X: y\r\n" * 100_000,
        HEALTH + b"X: y\r\n" * 300 + b"\r\n",
    ],
    ids=[
        "no host",
        "two hosts",
        "two lengths",
        "length and chunks",
        "no chunks",
        "blank",
        "value",
        "url",
        "lines",
        "headers",
        "many headers",
    ],
)
def test_a_request_that_could_be_read_in_two_ways_or_never_ends_is_refused(house: House, said: bytes) -> None:
    with line_to(house) as line, suppress(ConnectionError):
        line.sendall(said)
        assert heard(line).startswith(b"HTTP/1.1 400")


def test_what_follows_a_body_counts_as_no_header(house: House) -> None:
    cookie = f"Cookie: {house.cookie_name}={house.session(USER)}\r\n"
    head = f"GET /settings HTTP/1.1\r\nHost: {house.web.host}\r\nTransfer-Encoding: chunked\r\n"
    with line_to(house) as line:
        line.sendall(f"{head}{cookie}\r\n0\r\n\r\n".encode())
        assert heard(line, until=b"\r\n").startswith(b"HTTP/1.1 200")
    with line_to(house) as line:
        line.sendall(f"{head}\r\n0\r\n{cookie}\r\n".encode())
        assert not heard(line, until=b"\r\n").startswith(b"HTTP/1.1 200")


def test_requests_that_come_at_once_are_answered_one_after_the_other(house: House) -> None:
    with line_to(house) as line:
        line.sendall((HEALTH + b"\r\n") * 9 + b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        answers = heard(line).split(b"HTTP/1.1 ")[1:]
    assert [answer[:3] for answer in answers] == [b"200"] * 9 + [b"404"]


def test_a_request_that_wants_another_protocol_is_answered_in_this_one(house: House) -> None:
    with line_to(house) as line:
        line.sendall(HEALTH + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        answer = heard(line)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"connection: close" in answer


FEW_FILES = ("sh", "-c", 'ulimit -n 256 && exec "$0" "$@"')
STRANGERS = 300


@pytest.mark.finding("F-33")
@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HTTP/1.1\r\nHost: x", b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"],
)
def test_strangers_who_connect_and_wait_keep_nobody_out(said: bytes) -> None:
    with new_house(before=FEW_FILES) as house, ExitStack() as strangers:
        cookie = f"{house.cookie_name}={house.session(USER)}"
        with line_to(house) as stream:
            stream.sendall(f"GET /events HTTP/1.1\r\nHost: {house.web.host}\r\nCookie: {cookie}\r\n\r\n".encode())
            heard(stream, until=b"event: commands")
            for _ in range(STRANGERS):
                stranger = strangers.enter_context(line_to(house))
                stranger.sendall(said)
            assert house.web.call("GET", "/", cookie=cookie).status == 200
            assert house.web.call("GET", "/healthz").status == 200
            house.ask(confirm("Do the streams of people go on?"))
            assert b"Do the streams of people go on?" in heard(stream, until=b"Do the streams of people go on?")
        assert "Too many open files" not in house.web.said


def test_strangers_who_read_nothing_keep_nobody_out() -> None:
    """Each asks for more than the system takes off our hands, and holds on to it."""
    wanted = b"GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400
    with new_house(before=FEW_FILES) as house, ExitStack() as strangers:
        cookie = f"{house.cookie_name}={house.session(USER)}"
        for _ in range(STRANGERS):
            stranger = strangers.enter_context(socket.socket())
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stranger.settimeout(WAIT)
            stranger.connect(("127.0.0.1", house.web.port))
            stranger.sendall(wanted)
        assert house.web.call("GET", "/healthz").status == 200
        assert house.web.call("GET", "/", cookie=cookie).status == 200
        assert house.web.call("GET", "/static/app.css").status == 200
        assert "Too many open files" not in house.web.said


def test_what_strangers_send_before_its_turn_comes_takes_little_memory(house: House) -> None:
    """Each reads nothing of what was asked for first, and goes on to send."""
    first = b"GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2
    then = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n" + bytes(60_000)
    server = psutil.Process(house.web.pid)
    before = server.memory_info().rss
    with ExitStack() as strangers:
        for _ in range(60):
            stranger = strangers.enter_context(socket.socket())
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stranger.settimeout(WAIT)
            stranger.connect(("127.0.0.1", house.web.port))
            stranger.sendall(first + then * 29)
        for _ in range(20):
            assert house.web.call("GET", "/healthz").status == 200
        assert server.memory_info().rss - before < 50_000_000


@pytest.mark.finding("F-33")
def test_who_sends_no_whole_request_or_reads_nothing_of_what_is_sent_is_sent_away(house: House) -> None:
    half, whole = b"GET / HTTP/1.1\r\nHost: x", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with line_to(house) as silent, line_to(house) as slow, line_to(house) as slow_again, socket.socket() as deaf:
        slow_again.sendall(whole)
        assert heard(slow_again, until=b"ok\n").startswith(b"HTTP/1.1 200")
        for line in (slow, slow_again):
            line.sendall(half)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", house.web.port))
        deaf.sendall(b"GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400)
        assert [heard(line) for line in (silent, slow, slow_again)] == [b"", b"", b""]
        wait_until_hung_up(deaf)


def wait_until_hung_up(line: socket.socket) -> None:
    """Read nothing meanwhile."""
    ended, deadline = select.poll(), time.monotonic() + 3 * WAIT
    ended.register(line, 0)
    while not ended.poll(1000):
        assert time.monotonic() < deadline, "the connection is still open"
        # Who takes nothing in may miss that the other has hung up, until they say something themselves.
        with suppress(OSError):
            line.send(b"G", socket.MSG_DONTWAIT)


@pytest.mark.parametrize("path", ["/", "/talk"])
def test_the_first_load_is_small(house: House, path: str) -> None:
    cookie = f"{house.cookie_name}={house.session()}"
    page = house.web.call("GET", path, cookie=cookie).text
    loaded = len(packed(house, path, {"Cookie": cookie}))
    for address in set(re.findall(r'"(static/[\w.]+\.(?:js|css|svg)\?v=\w+)"', page)):
        sent = packed(house, f"/{address}", {})
        assert gzip.decompress(sent).decode() == house.web.call("GET", f"/{address}").text
        loaded += len(sent)
    assert loaded < 58_000, loaded


def packed(house: House, path: str, headers: dict[str, str]) -> bytes:
    """What comes of it to a browser."""
    connection = http.client.HTTPConnection("127.0.0.1", house.web.port, timeout=WAIT)
    connection.request("GET", path, headers={"Host": house.web.host, "Accept-Encoding": "gzip", **headers})
    reply = connection.getresponse()
    assert (reply.status, reply.headers["Content-Encoding"]) == (200, "gzip")
    body = reply.read()
    connection.close()
    return body


def test_every_answer_tells_when_it_was_given(house: House) -> None:
    for _ in range(2):
        begun = int(time.time())
        connection = http.client.HTTPConnection("127.0.0.1", house.web.port, timeout=WAIT)
        connection.request("GET", "/healthz")
        told = connection.getresponse().headers["Date"]
        connection.close()
        assert begun <= parsedate_to_datetime(told).timestamp() <= time.time()


def test_at_a_wrong_address_a_program_is_told_where_to_look_and_a_person_is_led_to_the_inbox(house: House) -> None:
    cookie = f"{house.cookie_name}={house.session()}"
    program = house.web.call("GET", "/api/nowhere", cookie=cookie)
    person = house.web.call("GET", "/nowhere", cookie=cookie)
    assert program.status == person.status == 404
    assert "/api/openapi.json" in program.data["error"]
    assert "openapi" not in person.text
    assert "To the inbox" in person.text
