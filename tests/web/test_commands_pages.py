"""The commands that agents run, in the page and in the API: seen, read, searched and stopped by those who may."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.web.house import USER, WAIT, House, Reply

from sayso.asks.model import Asker
from sayso.operations.operation import OperationState
from sayso.running.capture import TurnNotes

CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
GRACE = Asker(client="codex", project="/home/grace/api", owner="grace")


class Browser:
    """Somebody without JavaScript."""

    def __init__(self, house: House, user: str = USER) -> None:
        self._house = house
        self.cookie = f"{house.cookie_name}={house.session(user)}"
        self._host = house.host_of(user)

    def get(self, path: str) -> Reply:
        return self._house.web.call("GET", path, cookie=self.cookie, host=self._host)

    def post(self, path: str, **form: str) -> Reply:
        headers = {"Origin": f"http://{self._host}"}
        return self._house.web.call("POST", path, form=form, cookie=self.cookie, headers=headers, host=self._host)


@pytest.fixture
def browser(house: House) -> Browser:
    return Browser(house)


def api(house: House, path: str, method: str = "GET", user: str = USER) -> Reply:
    headers = {"Authorization": f"Bearer {house.session(user)}"}
    return house.web.call(method, path, headers=headers)


def test_the_list_has_what_runs_first_and_tells_how_the_others_ended(house: House, browser: Browser) -> None:
    failed = house.works.end(house.works.run("cargo", "test", "--all", tool="cargo_test"), 101)
    running = house.works.run("npm", "run", "build")
    fine = house.works.end(house.works.run("git", "status", tool="git_status"))
    rows = re.findall(r'data-operation="(\w+)"', browser.get("/commands").text)
    assert rows[:3] == [running.id, fine.id, failed.id]
    page = browser.get("/commands").text
    for words in ("npm run build", "Running", "cargo test --all", "exit code 101", "Succeeded", "in <bdi>shop</bdi>"):
        assert words in page


def test_tool_files_that_nobody_has_trusted_are_named_with_the_way_to_trust_them(
    house: House, browser: Browser
) -> None:
    assert "data-untrusted" not in browser.get("/commands").text
    file = house.place.project / ".sayso" / "tools" / "deploy.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    try:
        page = browser.get("/commands").text
    finally:
        file.unlink()
    assert "Agents do not see those tools" in page
    assert f"sayso trust {house.place.project.resolve()}" in page


def test_older_commands_are_on_the_next_page(house: House, browser: Browser) -> None:
    ended = [house.works.end(house.works.run("true", tool=f"t{number}")) for number in range(53)]
    first = browser.get("/commands").text
    older = re.search(r'href="(commands\?before=\w+)"', first)
    assert older
    second = browser.get(f"/{older[1]}").text
    assert f'data-operation="{ended[-1].id}"' in first
    assert f'data-operation="{ended[0].id}"' in second
    assert f'data-operation="{ended[0].id}"' not in first


def test_a_command_is_shown_with_its_words_its_output_and_its_end(house: House, browser: Browser) -> None:
    running = house.works.run(
        *("curl", "-H", "Authorization: Bearer abcdefghijklmnop", "it's"),
        printed="\x1b[31mred\x1b[0m \x07<script>x</script> password=hunter2hunter\nline two\nhalf",
    )
    page = browser.get(f"/commands/{running.id}").text
    assert "<span class=\"short-word\">-H</span> 'Authorization: Bearer ****************'" in page
    assert '<span class="look-red">red</span> &lt;U+0007&gt;&lt;script&gt;x&lt;/script&gt; password=****' in page
    assert "*\n<li>line two\n</ol>" in page
    assert "data-unfinished><li>half</ol>" in page
    assert "hunter2" not in page
    assert "Stop it now" in page
    house.works.print(running, "warning: x\n", "stderr")
    house.works.end(running, 3)
    ended = browser.get(f"/commands/{running.id}").text
    assert "failed with exit code 3" in ended
    assert '<li class="stderr">warning: x\n' in ended
    assert "Stop it now" not in ended


def test_both_streams_stand_on_the_page_as_they_came_and_each_alone_where_that_is_wanted(
    house: House, browser: Browser
) -> None:
    running = house.works.run("make")
    notes = TurnNotes(str(running.folder))
    for stream, offset, text in (("stderr", 0, "first\n"), ("stdout", 0, "second\n"), ("stderr", 6, "third\n")):
        notes.note(stream, offset)
        house.works.print(running, text, stream)
    page = browser.get(f"/commands/{running.id}").text
    printed = page.partition("data-text>")[2]
    assert printed.index("first") < printed.index("second") < printed.index("third")
    alone = browser.get(f"/commands/{running.id}?alone=stdout").text
    assert "second" in alone
    assert "first" not in alone
    found = browser.get(f"/commands/{running.id}?find=ir").text.partition('class="matches"')[2].partition("</ul>")[0]
    assert re.findall(r">(\w+)</a>", found) == ["first", "third"]
    found = browser.get(f"/commands/{running.id}?find=d").text.partition('class="matches"')[2].partition("</ul>")[0]
    assert re.findall(r"<li(.*?)><a.*?\?(\w+)=(\d+)#", found) == [
        ("", "stdout", "0"),
        (' class="stderr"', "stderr", "6"),
    ]
    read = api(house, f"/api/operations/{running.id}/both").data
    assert [(part["stream"], part["text"]) for part in read["parts"]] == [
        ("stderr", "first\n"),
        ("stdout", "second\n"),
        ("stderr", "third\n"),
    ]
    assert read["next"] == read["total"] == {"stdout": 7, "stderr": 12}
    on = api(house, f"/api/operations/{running.id}/both?stdout=7&stderr=6").data
    assert [part["text"] for part in on["parts"]] == ["third\n"]


def test_a_sequence_shows_its_steps_and_what_the_newest_prints(house: House, browser: Browser) -> None:
    sequence = house.works.run(tool="both")
    house.works.end(house.works.step(sequence, 1, "echo", "one", printed="one\n"))
    step = house.works.step(sequence, 2, "echo", "two", printed="two\n")
    page = browser.get(f"/commands/{sequence.id}").text
    assert "Output of step 2" in page
    assert "two\n" in page
    assert f'href="commands/{sequence.id}.1"' in page
    assert "one\n" in browser.get(f"/commands/{sequence.id}.1").text
    shown = api(house, f"/api/operations/{sequence.id}").data
    assert [(each["id"], each["status"]) for each in shown["steps"]] == [
        (f"{sequence.id}.1", "completed"),
        (step.id, "running"),
    ]


def test_huge_output_is_read_in_parts_and_as_a_whole(house: House, browser: Browser) -> None:
    running = house.works.run("yes", printed="".join(f"{number:07}\n" for number in range(40_000)))
    page = browser.get(f"/commands/{running.id}").text
    assert len(page) < 120_000
    assert '<ol class="printed" start="31809" data-text><li>0031808\n' in page
    assert "0039999\n" in page
    assert "0000001\n" not in page
    earlier = re.search(r'href="(commands/\w+\?stdout=\d+)#stdout">Earlier', page)
    assert earlier
    assert 'start="23617" data-text><li>0023616\n' in browser.get(f"/{earlier[1]}").text
    beginning = browser.get(f"/commands/{running.id}?stdout=0").text
    assert "0000000\n" in beginning
    assert ">Later</a>" in beginning
    whole = browser.get(f"/commands/{running.id}/stdout")
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.text.splitlines() == [f"{number:07}" for number in range(40_000)]
    assert browser.get(f"/commands/{running.id}/stdin").status == 404


def test_output_is_searched_for_words_and_a_hit_leads_to_its_place(house: House, browser: Browser) -> None:
    running = house.works.run("x", printed="".join(f"line {number}\n" for number in range(3000)) + "an Error (x.c)\n")
    found = browser.get(f"/commands/{running.id}?find=error+(X").text
    assert "an Error (x.c)" in found
    place = re.search(r'href="(commands/\w+\?stdout=\d+)#stdout">an Error', found)
    assert place
    assert browser.get(f"/{place[1]}").text.partition("data-text>")[2].startswith("<li>an Error (x.c)\n")
    assert "None." in browser.get(f"/commands/{running.id}?find=nothing+of+that").text
    assert browser.get(f"/commands/{running.id}?find=%00").status == 200
    assert browser.get(f"/commands/{running.id}?stdout=x&stderr=99999999999999999").status == 200


def test_a_command_is_stopped_from_its_page_and_only_with_the_pages_token(house: House, browser: Browser) -> None:
    running = house.works.run("sleep", "600")
    path = f"/commands/{running.id}"
    token = CSRF.search(browser.get(path).text)
    assert token
    assert browser.post(f"{path}/cancel").status == 403
    assert browser.post(f"{path}/cancel", csrf="0" * 64).status == 403
    assert house.works.desk.get(running.id).cancelled_by == ""
    assert browser.post(f"{path}/cancel", csrf=token[1]).status == 303
    assert house.works.desk.get(running.id).cancelled_by == "ada in the browser"
    assert "It is being stopped by ada in the browser" in browser.get(path).text
    assert house.web.call("GET", "/commands").status == 401
    assert house.web.call("POST", f"{path}/cancel", form={"csrf": token[1]}).status in (401, 403)


def test_commands_of_somebody_else_are_on_no_page(house: House, browser: Browser) -> None:
    hers = house.works.run("deploy", "--secret-plan", asker=GRACE, printed="for grace alone\n")
    grace = Browser(house, "grace")
    assert "for grace alone" in grace.get(f"/commands/{hers.id}").text
    assert "--secret-plan" in grace.get("/commands").text
    assert "--secret-plan" not in browser.get("/commands").text
    token = CSRF.search(browser.get("/settings").text)
    assert token
    for reply in (
        browser.get(f"/commands/{hers.id}"),
        browser.get(f"/commands/{hers.id}/stdout"),
        browser.post(f"/commands/{hers.id}/cancel", csrf=token[1]),
        api(house, f"/api/operations/{hers.id}"),
        api(house, f"/api/operations/{hers.id}/output"),
        api(house, f"/api/operations/{hers.id}/both"),
        api(house, f"/api/operations/{hers.id}/search?grep=x"),
        api(house, f"/api/operations/{hers.id}/cancel", "POST"),
    ):
        assert reply.status == 404, reply.text
    assert house.works.desk.get(hers.id).cancelled_by == ""
    listed = [each["id"] for each in api(house, "/api/operations").data["operations"]]
    assert hers.id not in listed
    assert hers.id in [each["id"] for each in api(house, "/api/operations", user="grace").data["operations"]]


def test_scripts_list_read_search_and_stop_commands(house: House) -> None:
    running = house.works.run("make", "all", printed="one\ntwo\nth")
    (listed,) = api(house, "/api/operations?limit=1").data["operations"]
    assert (listed["id"], listed["status"], listed["command"]) == (running.id, "running", "make all")
    read = api(house, f"/api/operations/{running.id}/output").data
    assert (read["text"], read["unfinished"], read["next_offset"], read["total"]) == ("one\ntwo\n", "th", 8, 10)
    house.works.print(running, "ree\n")
    on = api(house, f"/api/operations/{running.id}/output?offset=8&limit=100").data
    assert (on["text"], on["unfinished"]) == ("three\n", "")
    found = api(house, f"/api/operations/{running.id}/search?grep=^t").data
    assert [match["text"] for match in found["matches"]] == ["two", "three"]
    assert api(house, f"/api/operations/{running.id}/search?grep=(").status == 422
    assert api(house, f"/api/operations/{running.id}/output?stream=stdin").status == 422
    stopped = api(house, f"/api/operations/{running.id}/cancel", "POST").data
    assert stopped["cancelled_by"] == "ada through the api"
    older = house.works.end(house.works.run("true"))
    page = api(house, "/api/operations?limit=1").data
    assert [each["id"] for each in page["operations"]] == [page["next"]] == [older.id]
    (before,) = api(house, f"/api/operations?limit=1&before={older.id}").data["operations"]
    assert before["id"] == running.id


def test_output_that_lies_on_another_machine_is_said_to(house: House, browser: Browser) -> None:
    running = house.works.run("make")
    house.elsewhere(running.id)
    page = browser.get(f"/commands/{running.id}").text
    assert "What it prints lies on the machine where it runs, <strong>elsewhere</strong>" in page
    assert house.works.desk.get(running.id).state is OperationState.RUNNING


@contextmanager
def stream(house: House, browser: Browser, path: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", house.web.port, timeout=WAIT)
    try:
        connection.request("GET", path, headers={"Cookie": browser.cookie, "Host": house.web.host})
        yield connection.getresponse()
    finally:
        connection.close()


def next_event(reply: http.client.HTTPResponse, name: str) -> Any:
    """The data of the next event of this name."""
    return next_events(reply, name)[name]


def next_events(reply: http.client.HTTPResponse, *names: str) -> dict[str, Any]:
    """The data of the next event of each name, in whatever order they come."""
    found: dict[str, Any] = {}
    while line := reply.readline():
        name = line.decode().strip().removeprefix("event: ")
        if name in names and name not in found:
            found[name] = json.loads(reply.readline().partition(b"data: ")[2])
        if len(found) == len(names):
            return found
    raise AssertionError("the stream ended")


def test_a_stream_tells_which_commands_run_and_that_the_watched_one_prints(house: House, browser: Browser) -> None:
    hers = house.works.run("deploy", asker=GRACE)
    running = house.works.run("make")
    with stream(house, browser, f"/events?watch={running.id}&watch={hers.id}&watch=nonsense") as reply:
        commands = next_event(reply, "commands")
        assert commands["running"] == 1
        assert commands["operations"][0] == [running.id, running.version]
        assert "make" in commands["rows"][running.id]
        assert hers.id not in commands["rows"]
        first = next_event(reply, "command")
        assert (first["id"], first["open"], first["printed"]) == (running.id, True, {"stdout": 0, "stderr": 0})
        house.works.print(running, "hello\n")
        assert next_event(reply, "command")["printed"]["stdout"] == 6
        house.works.end(running)
        last = next_events(reply, "command", "commands")
        assert (last["command"]["open"], last["command"]["mark"]) == (False, "2")
        assert last["commands"]["running"] == 0
