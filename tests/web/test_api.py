"""The API for scripts: what it says, what it refuses, and that its document tells the truth."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import permission_ask
from tests.test_pictures import SECRET, photo
from tests.web.house import WAIT, House, Reply, confirm, multi_select, new_ask, new_house, select, text

from sayso.asks.model import CLIENT_FORM, Ask, Asker, Settler, State
from sayso.dialects import approve
from sayso.permissions.desk import PermissionDesk

SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"
EXAMPLES = "4"


class Script:
    """A program with an API token."""

    def __init__(self, house: House, user: str = "ada") -> None:
        self._house = house
        self._headers = {"Authorization": f"Bearer {house.session(user)}"}

    def get(self, path: str) -> Reply:
        return self._house.web.call("GET", path, headers=self._headers)

    def post(self, path: str, data: object) -> Reply:
        return self._house.web.call("POST", path, data=data, headers=self._headers)

    def send(self, path: str, body: bytes, content_type: str = "application/json") -> Reply:
        headers = {**self._headers, "Content-Type": content_type}
        return self._house.web.call("POST", path, body=body, headers=headers)


@pytest.fixture
def script(house: House) -> Script:
    return Script(house)


def test_the_token_that_the_command_prints_opens_the_api(house: House) -> None:
    made = house.place.run("web", "--api-token", "--user", "ada")
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    assert house.web.call("GET", "/api/me", headers=headers).data == {"user": "ada", "surface": "api"}


def test_an_ask_is_found_answered_and_kept_in_the_history(house: House, script: Script) -> None:
    ask = house.ask(select("Which?"), multi_select("Which ones?"), text("Why?", required=False))
    (listed,) = script.get("/api/asks").data["asks"]
    assert listed == script.get(f"/api/asks/{ask.id}").data
    one, many, _ = listed["questions"]
    given = [
        {"question": one["id"], "chosen": [one["options"][1]["id"]], "note": "sure"},
        {"question": many["id"], "chosen": [many["options"][0]["id"]], "text": "and more"},
    ]
    answered = script.post(f"/api/asks/{ask.id}/answer", {"answers": given})
    assert answered.status == 200
    assert answered.data["status"] == "answered"
    outcome = answered.data["outcome"]
    assert (outcome["answered_by"], outcome["surface"]) == ("ada", "api")
    assert [said["selected"] for said in outcome["answers"]] == [["Green"], ["Red"], []]
    assert script.get("/api/asks").data == {"asks": [], "next": None}
    assert script.get("/api/history?search=and%20MORE").data["asks"] == [answered.data]
    kinds = [event["kind"] for event in script.get(f"/api/asks/{ask.id}/events").data["events"]]
    assert kinds == ["opened", "answered"]


def test_files_are_added_then_sent_and_given_out_as_nothing_but_what_they_are(house: House, script: Script) -> None:
    ask = house.ask(text("What do you see?"))
    place = f"/api/asks/{ask.id}/attachments"
    added = script.send(f"{place}?name=..%2Fphoto.html", photo(), "image/jpeg")
    assert added.status == 200, added.data
    assert (added.data["name"], added.data["media_type"]) == ("photo.jpg", "image/jpeg")
    page = script.send(f"{place}?name=page.png", b"<script>alert(1)</script>", "image/png").data
    gone = script.send(f"{place}?name=gone.txt", b"gone", "text/plain").data
    ben = Script(house, "ben")
    assert ben.get(f"{place}/{page['id']}").status == 404
    assert script.post(f"{place}/{gone['id']}/remove", {}).data == {"attachments": [added.data, page]}
    sent = {"question": ask.questions[0].id, "attachments": [added.data["id"], page["id"]]}
    assert ben.post(f"/api/asks/{ask.id}/answer", {"answers": [sent]}).status == 422
    answered = script.post(f"/api/asks/{ask.id}/answer", {"answers": [sent]})
    assert answered.data["outcome"]["answers"][0]["attachments"] == [added.data, page]
    got = ben.get(f"{place}/{added.data['id']}")
    assert SECRET.decode() not in got.text
    assert got.headers["content-type"] == "image/jpeg"
    html = ben.get(f"{place}/{page['id']}")
    assert html.headers["content-type"] == "application/octet-stream"
    assert html.headers["content-disposition"] == "attachment; filename*=UTF-8''page.png"
    for header, value in (
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox"),
    ):
        assert got.headers[header] == html.headers[header] == value
    assert script.send(f"{place}?name=late.txt", b"late", "text/plain").status == 409


def test_a_file_that_is_cut_off_on_its_way_is_not_there(house: House, script: Script) -> None:
    ask = house.ask(text("What do you see?"))
    place = f"/api/asks/{ask.id}/attachments"
    head = f"POST {place}?name=half.txt HTTP/1.1\r\nHost: {house.web.host}\r\nContent-Length: 1000\r\n"
    with socket.create_connection(("127.0.0.1", house.web.port), timeout=WAIT) as line:
        line.sendall(f"{head}Authorization: Bearer {house.session('ada')}\r\n\r\nonly this".encode())
    assert script.send(f"{place}?name=whole.txt", b"all of it", "text/plain").status == 200
    assert [each.name for each in house.desk.added(ask.id, "ada")] == ["whole.txt"]
    assert script.send(f"{place}?name=large.txt", b"x" * (17 * 1024 * 1024), "text/plain").status == 413


def test_the_same_as_the_command_line_says(house: House, script: Script) -> None:
    house.desk.leave(new_ask(confirm()))
    listed = json.loads(house.place.run("list", "--json").stdout)
    assert script.get("/api/asks").data["asks"] == listed


def decide(house: House, line: str, decision: str, *, project: str = "", owner: str = "") -> Ask:
    wanted = approve.Permission(tool="Bash", given={"command": line})
    ask = house.desk.hold(permission_ask(wanted, Asker(client="claude", project=project, owner=owner))).ask
    desk, by = PermissionDesk(house.desk), Settler(person="ada", surface="terminal")
    return desk.allow(ask.id, ask.digest, by) if decision == "allow" else desk.deny(ask.id, by, decision)


def test_the_log_is_the_same_as_the_command_line_says_with_its_filters(house: House, script: Script) -> None:
    allowed = decide(house, "git push", "allow", project="/srv")
    denied = decide(house, "login token=hunter22", "use the key", project="/home")
    told = script.get("/api/log").data
    assert told["next"] is None
    mine = [one for one in told["outcomes"] if one["ask"] in (allowed.id, denied.id)]
    assert [(one["what"], one["why"]) for one in mine] == [("denied", "use the key"), ("allowed", "")]
    assert mine == json.loads(house.place.run("log", "--json").stdout)[:-3:-1]
    assert script.get("/api/log?denied=1&since=1h&limit=1").data["outcomes"] == mine[:1]
    assert script.get("/api/log?project=%2Fsrv").data["outcomes"] == mine[1:]
    first = script.get("/api/log?limit=1").data
    assert first["outcomes"] == mine[:1]
    assert script.get(f"/api/log?limit=1&before={first['next']}").data["outcomes"] == mine[1:2]
    whole = script.get(f"/api/log/{denied.id}")
    assert [entry["what"] for entry in whole.data["entries"]] == ["asked", "denied"]
    assert "hunter22" not in whole.text
    for odd in ("since=yesterday", "denied=yes", "before=x", "limit=0"):
        assert script.get(f"/api/log?{odd}").status == 422


def test_the_log_of_somebody_elses_agent_is_not_told(house: House) -> None:
    ask = decide(house, "git push", "allow", owner="ada")
    grace = Script(house, "grace")
    assert ask.id not in grace.get("/api/log").text
    for id_ in (ask.id, ask.id[:8], "nonsense"):
        assert grace.get(f"/api/log/{id_}").status == 404
    assert house.web.call("GET", "/api/log").status == 401


def test_an_ask_is_rejected_with_a_reason(house: House, script: Script) -> None:
    ask = house.ask(confirm())
    rejected = script.post(f"/api/asks/{ask.id}/reject", {"reason": "not now"})
    assert (rejected.status, rejected.data["outcome"]["reason"]) == (200, "not now")
    assert script.post(f"/api/asks/{house.ask(confirm()).id}/reject", {}).status == 200


def test_whoever_comes_second_hears_who_was_first(house: House, script: Script) -> None:
    ask = house.ask(confirm())
    house.desk.reject(ask.id, "", Settler(person="grace", surface="terminal"))
    refused = script.post(f"/api/asks/{ask.id}/answer", {"answers": [{"question": ask.questions[0].id}]})
    assert refused.status == 409
    assert "Already rejected in terminal by grace" in refused.data["error"]


def test_an_answer_through_a_clients_form_is_told_as_that(house: House, script: Script) -> None:
    ask = house.ask(confirm())
    house.desk.reject(ask.id, "", Settler(person="someone at codex", surface=CLIENT_FORM))
    refused = script.post(f"/api/asks/{ask.id}/reject", {})
    own_form = f"through {ask.asker.client}'s own form"
    assert f"Already rejected {own_form}, " in refused.data["error"]
    cookie = f"{house.cookie_name}={house.session()}"
    page = house.web.call("GET", f"/asks/{ask.id}", cookie=cookie).text.replace("&#39;", "'")
    assert own_form in page
    assert "by someone at codex through the client's own form" in page


def test_an_answer_that_does_not_fit_is_refused_with_every_problem(house: House, script: Script) -> None:
    ask = house.ask(select("Which?"), confirm("Sure?"))
    given = [{"question": ask.questions[0].id, "chosen": ["purple"]}, {"question": "nonsense"}]
    refused = script.post(f"/api/asks/{ask.id}/answer", {"answers": given})
    assert refused.status == 422
    told = [problem["text"] for problem in refused.data["problems"]]
    assert any("there is no such question" in problem for problem in told)
    assert any('"purple" is not one of its options. They are "Red", "Green", "Blue".' in problem for problem in told)
    assert any("an answer is required" in problem for problem in told)
    assert house.desk.get(ask.id).state is State.PENDING


@pytest.mark.parametrize(("decision", "verdict"), [("allow", "allowed"), ("deny", "denied")])
def test_a_permission_takes_an_allow_for_its_digest_or_a_deny_with_words_and_no_answer(
    house: House, script: Script, decision: str, verdict: str
) -> None:
    wanted = approve.Permission(tool="Bash", given={"command": "ls"})
    ask = house.desk.hold(permission_ask(wanted, Asker(client="claude"))).ask
    given = {"question": ask.questions[0].id, "chosen": [decision], "note": ""}
    refused = script.post(f"/api/asks/{ask.id}/answer", {"answers": [given]})
    assert refused.status == 422
    assert "allow or deny it" in refused.data["problems"][0]["text"]
    for digest, scope in (("", "once"), ("0" * 64, "once"), (ask.digest, "tool")):
        assert script.post(f"/api/asks/{ask.id}/allow", {"digest": digest, "scope": scope}).status == 422
    assert house.desk.get(ask.id).state is State.PENDING
    shown = script.get(f"/api/asks/{ask.id}").data
    assert shown["action"]["data"] == {"input": {"command": "ls"}}
    assert shown["verdict"] is None
    said = {"because": "Only in /tmp."} if decision == "deny" else {"digest": shown["digest"], "scope": "session"}
    assert script.post(f"/api/asks/{ask.id}/{decision}", said).data["verdict"]["decision"] == verdict
    assert script.get(f"/api/asks/{ask.id}").data["verdict"]["decision"] == verdict
    assert ("Only in /tmp." in approve.decision(house.desk.get(ask.id)).text) == (decision == "deny")
    assert script.post(f"/api/asks/{ask.id}/{decision}", said).status == 409


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ([], "body"),
        ({}, "body"),
        ({"answers": {}}, "body.answers"),
        ({"answers": [{"question": 1}]}, "body.answers[0].question"),
        ({"answers": [{"question": "q", "chosen": "x"}]}, "body.answers[0].chosen"),
        ({"answers": [{"question": "q", "more": 1}]}, "body.answers[0]"),
        ({"answers": [], "more": 1}, "body"),
    ],
)
def test_a_body_of_the_wrong_shape_is_refused_with_the_place(
    house: House, script: Script, data: Any, path: str
) -> None:
    refused = script.post(f"/api/asks/{house.ask(confirm()).id}/answer", data)
    assert refused.status == 422
    assert [problem["path"] for problem in refused.data["problems"]] == [path]


def test_what_is_no_json_is_refused(house: House, script: Script) -> None:
    path = f"/api/asks/{house.ask(confirm()).id}/reject"
    for body in (b"", b"{", b"\xff", b'{"reason": NaN}', b"[" * 100_000):
        assert script.send(path, body).status == 400
    assert script.send(path, b"{}", "text/plain").status == 415
    assert script.send(path, b" " * (17 * 1024 * 1024)).status == 413


def test_half_a_character_is_refused_and_not_a_crash(house: House, script: Script) -> None:
    path = f"/api/asks/{house.ask(text()).id}"
    assert script.send(f"{path}/reject", b'{"reason": "\\ud800"}').status == 422
    assert script.send(f"{path}/answer", b'{"answers": [{"question": "\\ud800"}]}').status == 422


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "limit=", "limit=1&limit=2", "after=x", "project=%00", "limit=1.5"]
)
def test_a_query_that_does_not_fit_is_refused(house: House, script: Script, query: str) -> None:
    assert script.get(f"/api/asks?{query}").status == 422


def test_long_lists_come_in_pages(house: House, script: Script) -> None:
    asks = [house.desk.leave(new_ask(confirm(f"Number {number}?"))) for number in range(5)]
    settler, found, place = Settler(person="ada", surface="test"), [], ""
    while place is not None:
        page = script.get(f"/api/asks?limit=2{place and '&after=' + place}").data
        found += [ask["id"] for ask in page["asks"]]
        place = page["next"]
    assert found == [ask.id for ask in house.desk.inbox()]
    for ask in asks:
        house.desk.reject(ask.id, "all of these", settler)
    newest = script.get("/api/history?limit=2&search=all+of+these").data
    older = script.get(f"/api/history?limit=3&search=all+of+these&before={newest['next']}").data
    ended = house.desk.history(search="all of these")
    assert [ask["id"] for ask in newest["asks"] + older["asks"]] == [ask.id for ask in ended]
    assert older["next"] is None


def test_only_the_asks_of_one_project_when_that_is_wanted(house: House, script: Script) -> None:
    house.ask(confirm())
    assert len(script.get("/api/asks?project=/home/ada/shop").data["asks"]) == 1
    assert script.get("/api/asks?project=/elsewhere").data["asks"] == []


def test_an_unknown_address_and_method_are_told_as_json(house: House, script: Script) -> None:
    assert script.get("/api/nothing").status == 404
    assert script.get("/api/nothing").data["problems"] == []
    refused = script.post("/api/asks", {})
    assert refused.status == 405
    assert "GET" in refused.headers["allow"]


def test_the_document_lists_every_operation(house: House) -> None:
    document = house.web.call("GET", "/api/openapi.json").data
    assert document["openapi"] == "3.1.0"
    listed = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert listed == {
        "GET /api/me",
        "GET /api/asks",
        "GET /api/history",
        "GET /api/asks/{ask}",
        "GET /api/asks/{ask}/events",
        "POST /api/asks/{ask}/answer",
        "POST /api/asks/{ask}/attachments",
        "GET /api/asks/{ask}/attachments/{attachment}",
        "POST /api/asks/{ask}/attachments/{attachment}/remove",
        "POST /api/asks/{ask}/reject",
        "POST /api/asks/{ask}/allow",
        "POST /api/asks/{ask}/deny",
        "POST /api/asks/{ask}/take-back",
        "GET /api/log",
        "GET /api/log/{ask}",
        "GET /api/operations",
        "GET /api/operations/{operation}",
        "GET /api/operations/{operation}/both",
        "GET /api/operations/{operation}/output",
        "GET /api/operations/{operation}/search",
        "POST /api/operations/{operation}/cancel",
    }


@pytest.mark.parametrize("known", [True, False])
def test_schemathesis_finds_nothing_that_the_document_does_not_say(tmp_path: Path, known: bool) -> None:
    """With ids of its own making, and with that of an ask that is there, where one is asked for."""
    with new_house() as house:
        for number in range(3):
            house.ask(confirm(f"{number}?"), text("Why?", required=False))
        asks = [house.ask(select(f"{number}?"), multi_select()) for number in range(2)]
        house.desk.reject(asks[1].id, "no", Settler(person="ada", surface="test"))
        running = house.works.run("make", printed="one\ntwo\n")
        settings = f'parameters.ask = "{asks[0].id}"\nparameters.operation = "{running.id}"\n' if known else ""
        (tmp_path / "schemathesis.toml").write_text(
            f"{settings}[checks.positive_data_acceptance]\n"
            # Whether an answer fits its question is more than a schema can say.
            'expected-statuses = ["2xx", 404, 409, 422]\n'
        )
        done = subprocess.run(
            [
                *(SCHEMATHESIS, "run", f"{house.web.for_programs}/api/openapi.json", "--checks", "all"),
                *("--header", f"Authorization: Bearer {house.session()}", "--max-examples", EXAMPLES),
                # What an operation makes of all kinds of values shows with an id that is known: else most of them find
                # nothing. From one answer to the next request it can go only by ids that are not settled before.
                *("--phases", "coverage,fuzzing" if known else "fuzzing,stateful"),
                *("--seed", "7", "--no-color", "--suppress-health-check", "all", "--workers", "1"),
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=8 * WAIT,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Tested: 21" in done.stdout, done.stdout[-6000:]
