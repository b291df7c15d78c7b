"""`sayso web` as something that the system starts again and again, with nobody in front of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest
from tests import warm
from tests.e2e.stdio.harness import new_place
from tests.ports import lasting_port
from tests.web.house import BIN, USER, WAIT, Web

from sayso.accounts import Accounts
from sayso.store import open_store


@pytest.mark.parametrize("named", [(), ("--user", USER)])
def test_it_serves_everybody_else_though_the_one_who_set_it_up_was_revoked(named: Sequence[str]) -> None:
    with new_place(person=USER) as place:
        store = open_store(place.config())
        accounts = Accounts(store)
        accounts.add_user(USER)
        accounts.add_user("bo")
        accounts.revoke_user(USER)
        web = Web(place, "--port", str(lasting_port()), *named)
        script = {"Authorization": f"Bearer {accounts.redeem(accounts.make_link('bo'))}"}
        me = web.call("GET", "/api/me", headers=script)
        assert web.stop() == 0
        store.close()
    assert me.status == 200
    assert not web.link
    assert "ada was revoked, so no link is made for them." in web.said


def test_no_link_is_written_into_the_journal() -> None:
    with new_place() as place:
        port, journal = lasting_port(), place.folder / "journal"
        with journal.open("w") as kept:
            found = os.fstat(kept.fileno())
            environment = {**place.environment, "JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
            words: list[str | Path] = [BIN / "sayso", "web", "--port", str(port)]
            process = warm.start(words, cwd=place.project, env=environment, stdout=kept, stderr=kept, text=True)
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=100), timeout=WAIT) as http:
            assert http.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT) == 0
        written = journal.read_text()
    assert "sign-in?link=" not in written
    assert "`sayso web --link` makes one" in written


def test_an_address_with_a_path_is_warned_of() -> None:
    with new_place(web_url="https://team.example.org/sayso") as place:
        web = Web(place, "--port", str(lasting_port()))
        assert web.stop() == 0
    assert "https://team.example.org/sayso has a path, but the page works only at the top of a host" in web.said
