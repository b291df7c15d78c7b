"""The log of permissions on the page: what was allowed and denied, for those who may see it, and nothing gets out."""

from __future__ import annotations

import re

from tests.permissions.test_desk import QUESTION
from tests.web.house import House
from tests.web.test_commands_pages import GRACE, Browser

from sayso.asks.model import Ask, Asker, NewAsk, Settler
from sayso.permissions.action import Action, ActionKind, asking
from sayso.permissions.desk import PermissionDesk

HOSTILE = "echo </pre><script>alert(1)</script> \u202etoken=hunter22"
ADA = Settler(person="ada", surface="terminal")
SHOP = Asker(client="claude-code", project="/home/ada/shop")


def decide(house: House, line: str, *, because: str | None = None, asker: Asker = SHOP) -> Ask:
    action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": line}})
    held = house.hold(asking(NewAsk(tool="approve", questions=(QUESTION,), asker=asker), action))
    if because is None:
        PermissionDesk(house.desk).allow(held.ask.id, action.digest, ADA)
        house.desk.delivered(held)
    else:
        PermissionDesk(house.desk).deny(held.ask.id, ADA, because)
    return held.ask


def rows(page: str) -> list[str]:
    return re.findall(r'href="log/(\w{32})"', page)


def test_the_log_is_reached_from_the_history_and_filtered_without_a_script(house: House) -> None:
    browser = Browser(house)
    assert 'href="log"' in browser.get("/history").text
    allowed, denied = decide(house, "git push"), decide(house, "rm -rf build", because="use make clean")
    elsewhere = decide(house, "ls", asker=Asker(client="codex", project="/srv/api"))
    page = browser.get("/log").text
    assert rows(page)[:3] == [elsewhere.id, denied.id, allowed.id]
    for words in (
        "Bash: git push",
        "Allowed",
        "handed to its client",
        "Denied",
        "use make clean",
        "by you in the terminal",
    ):
        assert words in page
    assert rows(browser.get("/log?denied=1").text)[:1] == [denied.id]
    assert allowed.id not in rows(browser.get("/log?denied=1").text)
    assert elsewhere.id not in rows(browser.get("/log?since=7d&project=%2Fhome%2Fada%2Fshop").text)
    assert "Nothing in the log matches" in browser.get("/log?project=%2Fnowhere").text
    for odd in ("/log?since=%00&before=x", "/log?before=999999999999999", "/log?project=%00"):
        assert browser.get(odd).status == 200


def test_one_permission_is_shown_with_the_whole_action_and_no_text_leaves_its_block(house: House) -> None:
    browser, ask = Browser(house), decide(house, HOSTILE, because="<b>no</b>")
    page = browser.get(f"/log/{ask.id}")
    for text in (page.text, browser.get("/log").text):
        assert "<script>alert" not in text
        assert "<b>no</b>" not in text
        assert "\u202e" not in text
        assert "hunter22" not in text
    assert "&lt;/pre&gt;&lt;script&gt;" in page.text
    assert ask.digest in page.text
    assert browser.get("/log/nothing").status == 404


def test_what_a_clients_own_record_says_is_shown_beside_the_no_which_stays(house: House) -> None:
    browser, ask = Browser(house), decide(house, "rm -rf build", because="use make clean")
    house.desk.note_of_client(ask.id, "Its own record says that it was done")
    for page in (f"/asks/{ask.id}", "/log", f"/log/{ask.id}"):
        text = browser.get(page).text
        for words in ("Denied", "use make clean", "Its own record says that it was done"):
            assert words in text


def test_what_somebody_elses_agent_was_allowed_is_not_shown(house: House) -> None:
    ask = decide(house, "git push", asker=GRACE)
    assert ask.id not in rows(Browser(house).get("/log").text)
    assert GRACE.project not in Browser(house).get("/log").text
    assert Browser(house).get(f"/log/{ask.id}").status == 404
    assert ask.id in rows(Browser(house, "grace").get("/log").text)
    assert house.web.call("GET", "/log").status in (302, 303, 401)


def unopened(page: str) -> int:
    found = re.search(r"(\d+) of them without opening it", page)
    return int(found[1]) if found else 0


def test_the_chart_tells_what_was_allowed_in_the_list_without_being_opened(house: House) -> None:
    browser = Browser(house)
    before = unopened(browser.get("/log").text)
    ways: dict[str, dict[str, str]] = {
        "in its row": {},
        "in its row, opened": {"opened": "1"},
        "on its page": {"q0-note": ""},
    }
    for way in ways.values():
        action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": "git push"}})
        ask = house.hold(asking(NewAsk(tool="approve", questions=(QUESTION,), asker=SHOP), action)).ask
        (csrf,) = set(re.findall(r'name="csrf" value="(\w+)"', browser.get(f"/asks/{ask.id}").text))
        form = {"csrf": csrf, "digest": action.digest, "settle": "allow-once", **way}
        assert browser.post(f"/asks/{ask.id}", **form).status == 303
    page = browser.get("/log").text
    assert unopened(page) == before + 1
    assert '<svg viewBox="0 0 80 40"' in page, "a bar for each of eight days"
    assert 'name="opened"' in browser.get(f"/asks/{held(house).id}/row").text


def held(house: House) -> Ask:
    action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": "git pull"}})
    return house.hold(asking(NewAsk(tool="approve", questions=(QUESTION,), asker=SHOP), action)).ask
