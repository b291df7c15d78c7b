"""The relay's three routes over real HTTP: bodies, codes, who may, and that no answer reaches another question."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.e2e.clients.process import wait_until
from tests.e2e.relay.kit import ADA, NO_TOKEN, OPTIONS, Bench, new_bench, refusal
from tests.web.house import WAIT

from sayso.asks.model import Answer, State
from sayso.processes import name_of


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with new_bench(web_hosts="inbox.example.org") as bench:
        yield bench


@pytest.mark.requirement("P-26", "P-29", "P-30", "P-33", "P-38", "P-39", "P-40", "P-42")
def test_a_question_is_relayed_answered_and_handed_out_once(bench: Bench) -> None:
    run = bench.run()
    waiting = bench.poll(run)
    assert (waiting.status, waiting.data) == (202, {"status": "waiting"})
    # Neither a cookie nor a CSRF token goes with these.
    ask_id = bench.relay(run, "Which approach should I use?")
    assert bench.poll(run).data == {"status": "waiting"}
    sent = bench.submit(run, answer="Option A", selectedOptions=[0])
    assert (sent.status, sent.data) == (200, {"status": "ok", "ask": ask_id})
    told = bench.poll(run)
    assert told.status == 200
    assert told.data == {"status": "answered", "answer": "Option A", "selectedOptions": [0]}
    again = bench.poll(run)
    assert (again.status, again.data) == (202, {"status": "waiting"})


ANSWERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({}, {"answer": "Neither", "selectedOptions": []}, {"answer": "Neither", "selectedOptions": []}),
    ({}, {"answer": "Option B"}, {"answer": "Option B", "selectedOptions": [1]}),
    ({}, {"selectedOptions": [1]}, {"answer": "Option B", "selectedOptions": [1]}),
    ({"options": []}, {"answer": "two\nlines 😀"}, {"answer": "two\nlines 😀", "selectedOptions": []}),
    (
        {"multiSelect": True},
        {"answer": "Option A, Option B, and tea", "selectedOptions": [1, 0]},
        {"answer": "Option A, Option B, and tea", "selectedOptions": [0, 1]},
    ),
    (
        {"multiSelect": True},
        {"answer": "Option A, and tea", "text": "and tea", "selectedOptions": [0]},
        {"answer": "Option A, and tea", "selectedOptions": [0]},
    ),
    ({}, {"answer": "Option B", "text": None, "selectedOptions": [1]}, {"answer": "Option B", "selectedOptions": [1]}),
    (
        {"multiSelect": True},
        {"answer": "tea", "selectedOptions": [0]},
        {"answer": "Option A, tea", "selectedOptions": [0]},
    ),
]


@pytest.mark.requirement("P-33", "P-39")
@pytest.mark.parametrize(("asked", "sent", "told"), ANSWERS)
def test_choices_own_words_and_both_come_through(
    bench: Bench, asked: dict[str, Any], sent: dict[str, Any], told: dict[str, Any]
) -> None:
    run = bench.run()
    ask = bench.relay(run, **asked)
    assert bench.submit(run, **sent).status == 200
    assert bench.poll(run).data == {"status": "answered", **told}
    outcome = bench.house.desk.get(ask).outcome
    assert outcome is not None
    assert outcome.surface == "browser", "the person sat at a page, however it sent the answer"


@pytest.mark.requirement("P-27", "P-28", "P-36", "P-41")
def test_only_the_token_of_an_active_stream_of_the_project_lets_anyone_in(bench: Bench) -> None:
    run, ended = bench.run(), bench.run()
    bench.relay(run), bench.relay(ended)
    bench.end(ended)
    elsewhere = bench.add_project("ada")
    for token, project in (
        ("not-a-uuid", run.project.id),
        (NO_TOKEN, run.project.id),
        (None, run.project.id),
        (ended.token, run.project.id),
        (run.token, elsewhere.id),
        (run.token, "nonsense"),
    ):
        body = {"streamToken": token, "question": "Let me in?"}
        assert bench.house.web.call("POST", f"/claude/relay-question?p={project}", data=body).status == 403
        polled = bench.house.web.call("GET", f"/claude/poll-answer?p={project}&streamToken={token}")
        assert polled.status == 403
        assert refusal(polled)
    assert bench.submit(ended, answer="Option A").status == 403
    assert bench.desk.newest_of_run(run.id, "relay-question") is not None


@pytest.mark.finding("F-31")
@pytest.mark.requirement("P-30", "P-42")
def test_an_mcp_server_need_not_show_the_csrf_token_of_its_file_but_no_other(bench: Bench) -> None:
    run, other = bench.run(), bench.run()
    right, wrong = (json.loads(bench.relay_file(each).read_text())["csrfToken"] for each in (run, other))
    body = {"streamToken": run.token, "question": "Which?"}
    for shown, refused in ((right, False), (None, False), (wrong, True), ("", True), ("ü", True)):
        headers = {} if shown is None else {"X-CSRF-Token": shown}
        asked = bench.house.web.call("POST", f"/claude/relay-question?p={run.project.id}", data=body, headers=headers)
        path = f"/claude/poll-answer?p={run.project.id}&streamToken={run.token}"
        polled = bench.house.web.call("GET", path, headers=headers)
        assert [asked.status, polled.status] == ([403, 403] if refused else [200, 202])


@pytest.mark.requirement("P-34", "P-35")
def test_only_the_owner_of_the_project_with_a_csrf_token_can_answer(bench: Bench) -> None:
    run = bench.run()
    ask_id = bench.relay(run)
    refused = bench.submit(run, csrf="", answer="Option A")
    assert (refused.status, "Reload" in refusal(refused)) == (403, True)
    assert bench.submit(run, csrf="f" * 64, answer="Option A").status == 403
    grace = bench.house.session("grace")
    assert bench.submit(run, secret=grace, answer="Option A").status == 403
    path = f"/claude/submit-answer?p={run.project.id}"
    assert bench.house.web.call("POST", path, data={"streamToken": run.token, "answer": "Option A"}).status == 401
    cookie, host = f"{bench.house.cookie_name}={grace}", bench.house.host_of("grace")
    seen = bench.house.web.call("GET", f"/asks/{ask_id}", cookie=cookie, host=host)
    assert seen.status == 404
    assert bench.desk.get(ask_id).state is State.PENDING


@pytest.mark.requirement("P-32")
def test_a_newer_question_takes_the_place_of_the_last_and_no_late_answer_reaches_it(bench: Bench) -> None:
    run = bench.run()
    old = bench.relay(run, "The old one?")
    new = bench.relay(run, "The new one?", options=[{"label": "Other"}, {"label": "Option A"}])
    assert bench.desk.get(old).state is State.SUPERSEDED
    late = bench.submit(run, ask=old, answer="Option A", selectedOptions=[0])
    assert late.status == 409
    assert "not used" in refusal(late)
    assert bench.desk.get(new).state is State.PENDING
    assert bench.poll(run).data == {"status": "waiting"}
    assert bench.poll(run, f"&ask={old}").data.items() >= {("status", "superseded"), ("ask", old), ("reason", "")}
    assert bench.submit(run, ask=new, answer="Other").status == 200
    told = bench.poll(run, f"&ask={new}")
    assert told.data["answer"] == "Other"
    # A poller that names its question may have lost the first response on the way.
    assert bench.poll(run, f"&ask={new}").data == told.data


def test_an_answer_that_nobody_fetched_does_not_pass_for_the_next_ones(bench: Bench) -> None:
    run = bench.run()
    bench.relay(run, "First?")
    assert bench.submit(run, answer="Option A").status == 200
    bench.relay(run, "Second?")
    assert bench.poll(run).data == {"status": "waiting"}


def test_the_question_is_in_the_inbox_and_can_be_answered_there(bench: Bench) -> None:
    run = bench.run()
    ask = bench.desk.get(bench.relay(run, "From anywhere?"))
    assert ask.id in [open_ask.id for open_ask in bench.desk.inbox(person="ada")]
    assert ask.id not in [open_ask.id for open_ask in bench.desk.inbox(person="grace")]
    assert (ask.asker.owner, ask.asker.run, ask.asker.project) == ("ada", run.id, str(run.project.directory))
    assert [event.body["ask"] for event in bench.runs.events(run.id)] == [ask.id]
    bench.desk.answer(ask.id, [Answer(question="1", chosen=("2",), note="mind the gap")], ADA)
    assert bench.poll(run, "&wait=20").data == {
        "status": "answered",
        "answer": "Option B\nNote: mind the gap",
        "selectedOptions": [1],
    }


def test_no_process_of_the_agent_can_answer_for_the_person(bench: Bench) -> None:
    run = bench.run()
    run.folder.mkdir(parents=True)
    # The agent's runner is the forebear of all its processes; here of those that the tests start.
    me = name_of(os.getpid())
    assert me is not None
    runner = {"pid": me.pid, "started": me.started, "group": 0, "mark": ""}
    (run.folder / "runner.json").write_text(json.dumps(runner))
    ask_id = bench.relay(run, "May I say yes?")
    tried = bench.place.run("answer", ask_id, "Option A")
    assert (tried.returncode, "may not settle its own" in tried.stderr) == (5, True)
    assert bench.desk.get(ask_id).state is State.PENDING
    bench.end(run)


def test_a_no_is_told_in_words_to_a_plain_poll_and_as_such_to_one_that_names_the_question(bench: Bench) -> None:
    run = bench.run()
    bench.desk.reject(bench.relay(run, "May I?"), "ask me tomorrow", ADA)
    told = bench.poll(run, "&wait=20").data
    assert (told["status"], told["selectedOptions"]) == ("answered", [])
    assert told["answer"].startswith("The user rejected these questions. Reason: ask me tomorrow")
    named = bench.relay(run, "And now?")
    bench.desk.reject(named, "still no", ADA)
    ask, end = bench.desk.get(named), {"status": "rejected", "ask": named, "reason": "still no"}
    times = {"askedAt": ask.created_at, "endedAt": ask.ended_at}
    assert bench.poll(run, f"&wait=20&ask={named}").data == {**end, **times, "by": "ada", "late": False}


def test_a_held_poll_is_woken_by_the_answer(bench: Bench) -> None:
    run = bench.run()
    bench.relay(run)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(bench.poll, run, "&wait=60")
        assert bench.submit(run, answer="Option A").status == 200
        assert held.result(WAIT).data["status"] == "answered"
    for wrong in ("-1", "soon", "nan"):
        assert bench.poll(run, f"&wait={wrong}").status == 422


@pytest.mark.requirement("P-40")
def test_of_many_polls_at_once_one_gets_the_answer(bench: Bench) -> None:
    run = bench.run()
    bench.relay(run)
    with ThreadPoolExecutor(8) as pool:
        polls = [pool.submit(bench.poll, run, "&wait=20") for _ in range(8)]
        assert bench.submit(run, answer="Option A").status == 200
        told = [poll.result(WAIT).status for poll in polls]
    assert sorted(told) == [200] + [202] * 7


def test_a_late_answer_is_kept_for_the_same_question_and_for_no_other(bench: Bench) -> None:
    run = bench.run(bench.impatient_project(1))
    late = bench.relay(run, "Too late?")
    assert bench.poll(run, f"&ask={late}&wait=20").data.items() >= {
        ("status", "timed_out"),
        ("ask", late),
        ("reason", ""),
    }
    assert bench.submit(run, ask=late, answer="Option A").data == {"status": "late", "ask": late}
    assert bench.poll(run).data == {"status": "waiting"}, "the agent has gone on"
    assert bench.relay(run, "Too late?") == late
    assert [event.body["ask"] for event in bench.runs.events(run.id)] == [late], "it is the same card"
    assert bench.poll(run).data == {"status": "answered", "answer": "Option A", "selectedOptions": [0]}
    # Now with another question in between: what was said to the old one is not for it.
    late = bench.relay(run, "Too late again?")
    assert bench.poll(run, f"&ask={late}&wait=20").data["status"] == "timed_out"
    assert bench.submit(run, ask=late, answer="Option A").data["status"] == "late"
    bench.relay(run, "Something else?")
    assert bench.poll(run).data == {"status": "waiting"}
    assert bench.submit(run, ask=late, answer="Option B").status == 409


@pytest.mark.requirement("P-31", "P-37")
def test_questions_and_answers_live_their_time_and_no_longer(bench: Bench) -> None:
    run = bench.run()
    question = bench.relay(run, "Still there?")
    bench.age(question, 590)
    assert bench.submit(run, answer="Option A", ask=question).status == 200
    bench.age(question, 11)
    assert bench.poll(run).status == 200, "the answer's life begins with the answer"
    old = bench.relay(run, "Too old?")
    bench.age(old, 601)
    assert bench.submit(run, answer="Option A").status == 409
    patient = bench.run(bench.add_project("ada", ask_user_timeout=900))
    lasting = bench.relay(patient, "Long enough?")
    bench.age(lasting, 955)
    assert bench.submit(patient, answer="Option A").status == 200
    bench.age(lasting, 601)
    assert bench.poll(patient).status == 202


@pytest.mark.requirement("P-74")
def test_without_a_history_texts_are_forgotten_once_the_answer_was_handed_out() -> None:
    with new_bench(history="false") as bench:
        run = bench.run()
        ask_id = bench.relay(run, "A secret question?")
        bench.submit(run, answer="a secret answer")
        assert bench.poll(run).status == 200
        kept = bench.desk.get(ask_id)
        assert (kept.state, kept.delivered, kept.questions) == (State.ANSWERED, True, ())
        assert kept.outcome is not None
        assert kept.outcome.answers == ()
        assert bench.desk.history(search="secret") == []


@pytest.mark.finding("F-52")
@pytest.mark.requirement("P-40")
def test_with_a_history_texts_are_kept_and_the_answer_is_handed_out_once_all_the_same(bench: Bench) -> None:
    run = bench.run()
    ask_id = bench.relay(run, "A question to remember?")
    bench.submit(run, answer="Option A")
    assert bench.poll(run).status == 200
    bench.house.web.stop()
    bench.restart_elsewhere()
    assert [bench.poll(run).status, bench.poll(run, f"&ask={ask_id}").status] == [202, 202]
    assert [ask.id for ask in bench.desk.history(search="remember")] == [ask_id]


def test_what_does_not_fit_is_refused_with_its_place(bench: Bench) -> None:
    run = bench.run()
    path = f"/claude/relay-question?p={run.project.id}"
    web = bench.house.web
    for body in ({"question": " "}, {"question": "Which?", "options": [{}]}, {"question": "?", "multiSelect": 1}):
        reply = web.call("POST", path, data={"streamToken": run.token, **body})
        assert reply.status == 422
        assert reply.data["problems"]
    assert web.call("POST", path, body=b"{", headers={"Content-Type": "application/json"}).status == 400
    assert web.call("POST", path, data=["no object"]).status == 400
    assert web.call("POST", path, form={"streamToken": run.token}).status == 415
    bench.relay(run)
    for wrong in (
        {"answer": ""},
        {"answer": 5},
        {"answer": "Option A", "selectedOptions": [2]},
        {"answer": "Option A", "selectedOptions": "0"},
        {"answer": "something else", "selectedOptions": [0]},
        {"selectedOptions": [0, 1]},
    ):
        assert bench.submit(run, **wrong).status == 422, wrong
    assert bench.submit(run, answer="Option A").status == 200
    assert bench.submit(run, answer="Option B").status == 409


def test_the_relay_is_for_this_machine_only(bench: Bench) -> None:
    run = bench.run()
    path = f"/claude/poll-answer?p={run.project.id}&streamToken={run.token}"
    assert bench.house.web.call("GET", path).status == 202
    assert bench.house.web.call("GET", path, headers={"X-Forwarded-For": "192.0.2.7"}).status == 403
    assert bench.house.web.call("GET", path, host="inbox.example.org").status == 403
    assert bench.house.web.call("GET", path, headers={"Origin": "https://evil.example"}).status == 403


def test_a_question_outlives_the_server_it_was_put_to(bench: Bench) -> None:
    run = bench.run()
    ask_id = bench.relay(run, "Are you still there?")
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(bench.poll, run, "&wait=60")
        assert bench.poll(run, "&wait=0.2").status == 202
        bench.house.web.stop()
        assert held.result(WAIT).data == {"status": "waiting"}, "a held poll ends with the server, and can come again"
    assert bench.desk.get(ask_id).state is State.PENDING
    bench.house.restart()
    assert bench.poll(run).status == 202
    ask = bench.desk.get(ask_id)
    assert (ask.state, ask.wait is not None) == (State.PENDING, True)
    assert bench.submit(run, answer="Option B").status == 200
    assert bench.poll(run, f"&wait=20&ask={ask_id}").data["selectedOptions"] == [1]


def test_a_question_that_is_put_again_because_no_reply_came_is_asked_once(bench: Bench) -> None:
    run = bench.run()
    with ThreadPoolExecutor(4) as pool:
        # As after a pause of the whole machine: the first post and those that came after it are read at once.
        posts = [pool.submit(bench.relay, run, "Heard me?") for _ in range(4)]
        (ask_id,) = {post.result(WAIT) for post in posts}
        held = pool.submit(bench.poll, run, f"&wait=60&ask={ask_id}")
        assert bench.relay(run, "Heard me?") == ask_id
        assert bench.submit(run, answer="Option A").status == 200
        assert held.result(WAIT).data["answer"] == "Option A", "whoever polls already is told too"
    assert bench.relay(run, "Heard me?") != ask_id, "it was told, and is asked anew"
    assert len([event for event in bench.runs.events(run.id) if event.body["ask"] == ask_id]) == 1


def test_a_question_that_is_answered_and_that_nobody_was_told_of_is_not_asked_again(bench: Bench) -> None:
    run = bench.run()
    ask_id = bench.relay(run, "Heard me?")
    assert bench.submit(run, answer="Option A").status == 200
    assert bench.relay(run, "Heard me?") == ask_id
    assert bench.poll(run, f"&ask={ask_id}").data["answer"] == "Option A"


def test_a_post_that_arrives_late_asks_nothing_anew(bench: Bench) -> None:
    run = bench.run()
    ask_id = bench.relay(run, "Heard me?", put="first")
    assert bench.submit(run, answer="Option A").status == 200
    assert bench.poll(run, f"&ask={ask_id}").data["answer"] == "Option A"
    assert bench.relay(run, "Heard me?", put="first") == ask_id
    assert bench.relay(run, "Heard me?", put="second") != ask_id, "this is another call of the agent's"


@pytest.mark.parametrize("answered", [False, True])
def test_a_question_whose_server_was_killed_before_it_replied_is_asked_once(bench: Bench, answered: bool) -> None:
    run = bench.run()
    ask_id = bench.relay(run, "Killed?")
    bench.house.web.stop(signal.SIGKILL)
    if answered:
        bench.desk.answer(ask_id, [Answer(question=bench.desk.get(ask_id).questions[0].id, chosen=("1",))], ADA)
    bench.house.restart()
    assert bench.relay(run, "Killed?") == ask_id
    assert [event.body["ask"] for event in bench.runs.events(run.id)] == [ask_id], "it has one card"
    if not answered:
        assert bench.submit(run, answer="Option A").status == 200
    told = bench.poll(run, f"&wait=20&ask={ask_id}").data
    assert told["selectedOptions"] == [0]
    bench.house.web.stop(signal.SIGKILL)
    bench.house.restart()
    # The reply may have been lost with the server.
    assert bench.poll(run, f"&ask={ask_id}").data in (told, {"status": "waiting"})


def test_a_question_of_a_run_that_has_ended_is_no_longer_waited_for(bench: Bench) -> None:
    run = bench.run()
    ask_id = bench.relay(run, "Anybody?", options=OPTIONS[:1])
    bench.end(run)
    wait_until(lambda: bench.desk.get(ask_id).wait is None, WAIT)
    ask = bench.desk.get(ask_id)
    assert (ask.wait, ask.state) == (None, State.PENDING)
