"""What `sayso web` does with connections on which something comes that is no HTTP: by hand, on real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tests.web.house import USER, WAIT, House, new_house

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
        assert house.web.stop() == 0
        assert before_the_answer.startswith(b"HTTP/1.1 400")
        assert before_the_answer.count(b"HTTP/1.1") == 1
        assert b"HTTP/1.1" not in within_the_answer
        assert [part[:4] for part in after_the_answer.split(b"HTTP/1.1 ")[1:]] == [b"200 ", b"400 "]
        assert "Invalid HTTP request received." in house.web.said
        assert "Traceback" not in house.web.said
        assert "Fatal error" not in house.web.said
