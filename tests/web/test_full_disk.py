"""No space is left: whoever wants something kept hears so at once, the rest can be read, and nothing is half done."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.e2e.run.kit import background, data_of, text_of, worker
from tests.web.house import BIN, USER, House, confirm, new_house

from sayso.asks.mark import mark
from sayso.asks.model import State

ROOM = 400
"""Bytes that a file may have: less than any step of the store writes."""
TOLD = "the disk is full, a quota or limit is reached"


@contextmanager
def no_space(pid: int) -> Iterator[None]:
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_told_in_the_page_on_the_command_line_and_to_the_agent() -> None:
    with new_house() as house:
        background(house.place)
        ask = house.ask(confirm("Sure?"))
        in_the_page(house, ask.id)
        on_the_command_line(house, ask.id)
        to_the_agent(house)
        assert house.desk.get(ask.id).state is State.ANSWERED


def in_the_page(house: House, ask_id: str) -> None:
    cookie = f"{house.cookie_name}={house.session(USER)}"
    token = re.findall(r'name="csrf" value="(\w+)"', house.web.call("GET", "/settings", cookie=cookie).text)[0]
    form = {"csrf": token, "settle": "answer", "q0": "0", "shown": mark(house.desk.get(ask_id))}
    headers = {"Authorization": f"Bearer {house.session(USER)}"}
    with no_space(house.web.pid):
        assert "Sure?" in house.web.call("GET", f"/asks/{ask_id}", cookie=cookie).text
        refused = house.web.call("POST", f"/asks/{ask_id}", form=form, cookie=cookie)
        assert refused.status == 503
        assert TOLD in refused.text
        rejected = house.web.call("POST", f"/api/asks/{ask_id}/reject", data={}, headers=headers)
        assert rejected.status == 503
        assert TOLD in rejected.data["error"]
    assert house.desk.get(ask_id).state is State.PENDING
    assert house.web.call("GET", "/commands", cookie=cookie).status == 200


def on_the_command_line(house: House, ask_id: str) -> None:
    def run(room: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", f'ulimit -f {room}; exec "$0" "$@"', BIN / "sayso", "answer", ask_id, "yes"],
            cwd=house.place.project,
            env=house.place.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    failed = run("0")
    assert failed.returncode == 7
    assert TOLD in failed.stderr
    assert "Traceback" not in failed.stderr
    assert house.desk.get(ask_id).state is State.PENDING
    assert run("unlimited").returncode == 0


def to_the_agent(house: House) -> None:
    with worker(house.place) as agent:
        agent.do("status")
        with no_space(agent.server.pid):
            failed = agent.do("bg", script="touch never")
            assert failed.is_error
            assert TOLD in text_of(failed)
        assert not (house.place.project / "never").exists()
        assert data_of(agent.do("bg", script="touch ever"))["status"] == "started"
