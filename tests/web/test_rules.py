"""The rules on the page: what holds, and the own file of the person whose account it is, edited after a look."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.permissions.test_desk import QUESTION
from tests.web.house import House, Reply
from tests.web.test_commands_pages import Browser
from tests.web.test_log import decide

from sayso.accounts import user_name
from sayso.asks.model import Asker, NewAsk
from sayso.desks import open_desks
from sayso.permissions.action import Action, ActionKind, asking

MINE = """\
[[rule]]
deny = ["Bash(rm *)"]
because = "Use <b>trash</b>."
match = ["Bash(rm x)"]

[[rule]]
allow = ["Bash(npm test *)"]
when = { agent = "codex" }
"""


@pytest.fixture
def file(house: House) -> Iterator[Path]:
    path = house.place.config().user_rules
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MINE)
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture
def owner(house: House) -> Browser:
    return Browser(house, user_name(house.place.config().person))


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    return found[1] if found else ""


def field(page: str) -> str:
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert found, page
    return html.unescape(found[1])


def press(browser: Browser, page: Reply, button: str, text: str | None = None, **more: str) -> Reply:
    """A button of the form as the page has it."""
    form = {name: hidden(page.text, name) for name in ("csrf", "file", "mark")}
    return browser.post(
        "/rules/edit", **{**form, "settle": button, "text": field(page.text) if text is None else text, **more}
    )


def test_the_rules_are_listed_by_level_with_what_they_say(house: House, owner: Browser, file: Path) -> None:
    page = owner.get("/rules").text
    for words in ("The machine’s", "Yours", "Bash(rm *)", "Bash(npm test *)", "only for codex", "Line 6", str(file)):
        assert words in page
    assert "Use &lt;b&gt;trash&lt;/b&gt;." in page
    assert "1 example comes out as it says" in page
    assert "decided nothing in the last 30 days" in page
    assert 'href="rules"' in owner.get("/log").text
    assert 'href="rules"' in owner.get("/settings").text
    file.write_text('[[rule]]\nalow = ["Bash(\u202els)"]\n')
    broken = owner.get("/rules").text
    assert "everything is asked" in broken
    assert "Line 2" in broken
    assert "Did you mean allow?" in broken
    assert "\u202e" not in broken


def test_who_has_no_rules_reads_first_how_one_comes_about(owner: Browser) -> None:
    page = owner.get("/rules").text
    assert page.index("You have none yet") < page.index("The machine’s")
    assert '<details id="how" open>' in owner.get("/rules/edit").text


def test_a_text_is_saved_after_it_was_looked_at_and_then_exactly_that(house: House, owner: Browser, file: Path) -> None:
    decide(house, "git push", because="not now")
    decide(house, "cargo build")
    begun = owner.get("/rules/edit")
    assert field(begun.text) == MINE
    text = MINE + '\n[[rule]]\nallow = ["Bash(git push *)", "Bash(cargo build *)"]\n'
    unseen = press(owner, begun, "save", text)
    assert unseen.status == 422
    assert "nothing was saved yet" in unseen.text
    assert file.read_text() == MINE
    looked = press(owner, begun, "look", text)
    assert looked.status == 200
    assert "Careful: denied before, and allowed from now on" in looked.text
    careful, _, rest = looked.text.partition("Asked before, and allowed from now on")
    assert "Bash: git push" in careful.partition("Careful:")[2]
    assert "Bash: cargo build" in rest
    other = press(owner, looked, "save", text + "# more\n")
    assert other.status == 422
    assert file.read_text() == MINE
    assert press(owner, looked, "save", text).status == 303
    assert file.read_text() == text
    assert press(owner, looked, "save", text).status == 303, "a press of which no reply came"
    assert "Rules changed" in owner.get("/log").text


def test_what_others_decided_counts_in_the_look_because_the_file_holds_for_their_agents_too(
    house: House, owner: Browser, file: Path
) -> None:
    theirs = decide(house, "terraform apply", because="no", asker=Asker(client="codex", project="/srv", owner="grace"))
    text = MINE + '\n[[rule]]\nallow = ["Bash(terraform apply)"]\n'
    looked = press(owner, owner.get("/rules/edit"), "look", text).text
    assert "Bash: terraform apply" in looked.partition("Careful:")[2]
    assert theirs.id not in looked


def test_a_file_that_was_changed_meanwhile_is_kept_and_so_is_the_text(house: House, owner: Browser, file: Path) -> None:
    text = MINE + "# mine\n"
    looked = press(owner, owner.get("/rules/edit"), "look", text)
    file.write_text(MINE + "# by hand\n")
    refused = press(owner, looked, "save")
    assert refused.status == 422
    assert "changed meanwhile" in refused.text
    assert field(refused.text) == text
    assert re.search(r'class="line removed" data-n="\d+"><span class="unbroken">-#</span> by hand', refused.text)
    assert file.read_text().endswith("# by hand\n")
    assert press(owner, refused, "save").status == 303
    assert file.read_text() == text


def test_a_text_with_an_error_cannot_be_saved_and_the_error_names_its_line(owner: Browser, file: Path) -> None:
    begun = owner.get("/rules/edit")
    for text, line in (
        ('[[rule]]\nallow = "Bash"\n', "Line 2"),
        ("[[rule]]\nallow = [\n", "Line 3"),
        ("x = 1", "Line 1"),
    ):
        for button in ("look", "save"):
            told = press(owner, begun, button, text)
            assert line in told.text
            assert 'value="save"' not in told.text
            assert field(told.text) == text
    assert file.read_text() == MINE


def test_a_rule_is_removed_by_the_same_look_and_save(owner: Browser, file: Path) -> None:
    listed = owner.get("/rules").text
    form = {"csrf": hidden(listed, "csrf"), "file": hidden(listed, "file"), "line": "1", "settle": "remove"}
    looked = owner.post("/rules/edit", **form)
    assert field(looked.text) == MINE.partition("\n\n")[2]
    assert file.read_text() == MINE
    assert press(owner, looked, "save").status == 303
    assert "Bash(rm *)" not in file.read_text()
    gone = owner.post("/rules/edit", **form)
    assert "no rule was taken out" in gone.text
    assert field(gone.text) == file.read_text()


def test_characters_that_cannot_be_seen_are_spelt_out_before_they_are_saved(owner: Browser, file: Path) -> None:
    text = '[[rule]]\nallow = ["Bash(npm \u202etset)"]\n'
    looked = press(owner, owner.get("/rules/edit"), "look", text).text
    assert "characters that cannot be seen" in looked
    assert "&lt;U+202E&gt;" in looked


def test_nobody_but_the_owner_of_the_file_edits_it_or_sees_its_text(house: House, owner: Browser, file: Path) -> None:
    grace, begun = Browser(house, "grace"), owner.get("/rules/edit")
    page = grace.get("/rules").text
    assert "can change them" in page
    assert "rules/edit" not in page
    csrf = hidden(grace.get("/settings").text, "csrf")
    assert grace.get("/rules/edit").status == 403
    form = {"file": hidden(begun.text, "file"), "text": "", "mark": "x", "settle": "save"}
    assert grace.post("/rules/edit", csrf=csrf, **form).status == 403
    assert owner.post("/rules/edit", csrf=csrf, **form).status == 403, "a form of somebody else"
    token = {"Authorization": f"Bearer {house.session(user_name(house.place.config().person))}"}
    for path in ("/rules", "/rules/edit"):
        assert house.web.call("GET", path, headers=token).status in (302, 303, 401), "a token is for programs"
    assert file.read_text() == MINE


def test_rules_of_a_project_are_shown_where_its_agents_have_asked(house: House, owner: Browser, tmp_path: Path) -> None:
    (tmp_path / ".sayso").mkdir()
    (tmp_path / ".sayso" / "rules.toml").write_text('[[rule]]\nallow = ["Bash(ls \u200b<i>)"]\n')
    assert "The project’s" not in owner.get(f"/rules?project={tmp_path}").text
    decide(house, "ls", asker=Asker(client="codex", project=str(tmp_path)))
    page = owner.get(f"/rules?project={tmp_path}").text
    assert "Bash(ls &lt;U+200B&gt;&lt;i&gt;)" in page
    assert "What it allows does not count" in page


def test_a_card_leads_to_the_rule_that_wants_it_asked_and_that_rule_counts_how_often(
    house: House, owner: Browser, file: Path
) -> None:
    file.write_text(MINE + '\n[[rule]]\nask = ["Bash(terraform *)"]\n')
    asker = Asker(client="codex", project="/srv/a & b", owner=user_name(house.place.config().person))
    assert "asked nothing in the last 30 days" in owner.get("/rules").text
    action = Action(kind=ActionKind.SHELL, tool="Bash", folder="/", data={"input": {"command": "terraform apply"}})
    with open_desks(house.place.config()) as desks:
        ruled = desks.permissions.by_rules(action, asker)
    new = NewAsk(tool="approve", questions=(QUESTION,), asker=asker)
    ask = house.hold(asking(new, action, rules_say=ruled.asked, asking_rules=ruled.asking_rules)).ask
    card = owner.get(f"/asks/{ask.id}").text
    assert f"Bash(terraform *) ({file}:10) asks." in html.unescape(re.sub(r"<[^>]*>", "", card))
    assert 'href="rules?project=%2Fsrv%2Fa+%26+b#rule-person-10">Show the rule</a>' in card
    # Beside its label and the link, a phone would leave four letters of width to it.
    assert '<div class="part"><span class="part-label"><bdi>Why you are asked</bdi>' in card
    page = owner.get("/rules?project=%2Fsrv%2Fa+%26+b").text
    rule = page.partition('<li id="rule-person-10">')[2].partition("</li>")[0]
    assert "Bash(terraform *)" in rule
    assert "asked 1 time in the last 30 days" in rule
    assert f"{file}:10" in house.place.run("show", ask.id).stdout.replace("\n", "")
    counted = json.loads(house.place.run("rules", "--json").stdout)["rules"]
    assert [each["decided"] for each in counted if each["effect"] == "ask"] == [1]


def test_somebody_decides_in_another_s_place_until_they_are_back(house: House) -> None:
    ada, grace = Browser(house), Browser(house, "grace")
    page = ada.get("/settings").text
    assert "<option>grace</option>" in page
    assert "<option>ada</option>" not in page
    csrf = hidden(page, "csrf")
    for odd in ({"to": "ada"}, {"to": "nobody"}, {"to": "grace", "until": "for ever"}):
        assert ada.post("/delegation", **{"csrf": csrf, "said": "delegate", "until": "7d", **odd}).status == 400
    assert grace.post("/delegation", csrf=csrf, said="delegate", to="ada", until="7d").status == 403
    assert ada.post("/delegation", csrf=csrf, said="delegate", to="grace", until="7d").status == 303
    assert "<strong>grace</strong> decides in your place" in ada.get("/settings").text
    assert "decides in your place" not in grace.get("/settings").text
    assert ada.post("/presence", csrf=csrf, said="back").status == 303
    assert "decides in your place" not in ada.get("/settings").text
    ada.post("/delegation", csrf=csrf, said="delegate", to="grace", until="monday")
    assert "decides in your place" in ada.get("/settings").text
    assert ada.post("/delegation", csrf=csrf, said="end").status == 303
    assert "decides in your place" not in ada.get("/settings").text
