"""Edit, then allow, in a real browser: what was edited is shown whole before it can be allowed, and nothing typed is
lost."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Error, Locator, Page, expect
from tests.asks.samples import permission_ask
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_live import live
from tests.e2e.browser.test_meant import kept, permission, stand_still, tap_hastily
from tests.e2e.browser.test_permissions import allow, decided, row, send, wants
from tests.web.house import House

from sayso.asks.model import Ask, Asker, Settler, State
from sayso.dialects import approve
from sayso.permissions.verdict import Decision, Verdict, verdict_of

pytestmark = pytest.mark.usefixtures("read_quickly")


def wants_to_use(house: House, tool: str, **given: Any) -> Ask:
    asker = Asker(client="claude-code", project="/home/ada/shop", session=str(given))
    return house.hold(permission_ask(approve.Permission(tool=tool, given=given), asker)).ask


def verdict(house: House, ask: Ask) -> Verdict:
    found = verdict_of(house.desk.get(ask.id))
    assert found
    return found


def given(house: House, ask: Ask) -> Any:
    """With which input it was allowed."""
    action = verdict(house, ask).action
    assert action
    assert verdict(house, ask).allows(action)
    return action.data["input"]


def field(page: Page) -> Locator:
    return page.locator("textarea[name=edit]")


def look(page: Page) -> Locator:
    return page.get_by_role("button", name="Look at it as edited")


def allow_edited(page: Page) -> Locator:
    return page.get_by_role("button", name="Allow as edited")


def press(button: Locator) -> None:
    """It takes a press once it has been in view for a moment, and none while the page moves under it."""
    for _ in range(10):
        # Where the page takes its time, it may have gone by now.
        with suppress(AssertionError, Error):
            button.scroll_into_view_if_needed(timeout=3000)
            button.click(timeout=3000)
        with suppress(AssertionError):
            expect(button).to_have_count(0, timeout=3000)
            return


@pytest.mark.parametrize("options", [{}, PHONE, {"java_script_enabled": False}])
def test_what_was_edited_is_looked_at_whole_and_then_allowed(
    house: House, sign_in: SignIn, options: dict[str, Any]
) -> None:
    ask = wants_to_use(house, "Bash", command="git push --force", description="Push")
    page = sign_in(f"/asks/{ask.id}", **options)
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(field(page)).to_have_value("git push --force")
    expect(allow(page)).to_have_count(0)
    expect(allow_edited(page)).to_have_count(0)
    field(page).fill("git push --dry-run\n\n# \u200b")
    look(page).click()
    expect(page.get_by_role("heading", name="As you edited it: Bash: git push --dry-run")).to_be_visible()
    expect(page.locator("#q0")).to_contain_text("-git push --force")
    expect(page.locator("#q0 .part", has_text="Shell command").locator(".line")).to_have_text(
        ["git push --dry-run", "", "# <U+200B>"]
    )
    expect(page.locator("#q0")).to_contain_text("/home/ada/shop")
    expect(allow(page)).to_have_count(0)
    assert decided(house, ask) is None
    press(allow_edited(page))
    expect(page.locator("#standing")).to_contain_text("Allowed as edited by you in the browser")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Allowed as edited: Bash: git push --dry-run")
    expect(page.locator("article")).to_contain_text("+git push --dry-run")
    assert given(house, ask) == {"command": "git push --dry-run\n\n# \u200b", "description": "Push"}
    page.goto("/history")
    expect(page.locator(".row", has_text="git push --dry-run").first).to_contain_text("Allowed as edited")
    page.goto(f"/log/{ask.id}")
    expect(page.locator("main")).to_contain_text("edited: its input command")
    expect(page.locator("main")).to_contain_text("+git push --dry-run")


@pytest.mark.parametrize("script", [True, False])
def test_a_text_is_edited_to_the_byte(house: House, sign_in: SignIn, script: bool) -> None:
    ask = wants_to_use(house, "Write", file_path="/home/ada/shop/new.txt", content="\n\n\tone\n\n")
    page = sign_in(f"/asks/{ask.id}?edit=1", java_script_enabled=script)
    expect(field(page)).to_have_value("\n\n\tone\n\n")
    look(page).click()
    expect(page.get_by_role("alert")).to_contain_text("You changed nothing")
    field(page).fill("\n\n\ttwo\n\n")
    look(page).click()
    press(allow_edited(page))
    expect(page.locator("#standing")).to_contain_text("Allowed as edited")
    assert given(house, ask)["content"] == "\n\n\ttwo\n\n"


def test_an_edit_that_was_kept_as_a_draft_and_then_allowed_is_not_said_to_be_unsent(
    house: House, sign_in: SignIn
) -> None:
    ask = wants_to_use(house, "Bash", command="npm install left-pad")
    page = sign_in(f"/asks/{ask.id}?edit=1", **PHONE)
    field(page).fill("npm install --ignore-scripts left-pad")
    expect(page.locator("[data-draft-note]")).to_contain_text("Kept as a draft")
    look(page).click()
    press(allow_edited(page))
    for _ in range(2):
        expect(page.locator("#standing")).to_contain_text("Allowed as edited")
        expect(page.locator(".unsent")).to_have_count(0)
        page.goto(f"/asks/{ask.id}")


def test_a_bad_edit_is_told_and_loses_nothing_that_was_typed(house: House, sign_in: SignIn) -> None:
    ask = wants_to_use(house, "WebFetch", url="https://a.example", prompt="x")
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("link", name="Edit", exact=True).click()
    for typed, why in [
        ('{"url": "https://b.example", ', "is no JSON"),
        ('{"url": 7, "prompt": "x"}', "url: expected a text, as the agent gave it, got 7"),
    ]:
        field(page).fill(typed)
        look(page).click()
        expect(page.get_by_role("alert")).to_contain_text(why)
        expect(field(page)).to_have_value(typed)
    page.goto("/")
    page.goto(f"/asks/{ask.id}")
    expect(field(page)).to_have_value('{"url": 7, "prompt": "x"}')
    assert house.desk.get(ask.id).state is State.PENDING
    field(page).fill('{"url": "https://b.example"}')
    look(page).click()
    page.get_by_role("button", name="Edit again").click()
    expect(field(page)).to_have_value('{"url": "https://b.example"}')
    look(page).click()
    press(allow_edited(page))
    expect(page.locator("#standing")).to_contain_text("Allowed as edited")
    assert given(house, ask) == {"url": "https://b.example"}


def test_an_edit_that_was_begun_keeps_a_row_from_allowing_until_it_is_taken_back(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "make begun-to-edit")
    page = sign_in(f"/asks/{ask.id}?edit=1")
    field(page).fill("make other")
    kept(page)
    page.goto("/")
    live(page)
    allow(row(page, "begun-to-edit")).click()
    expect(row(page, "begun-to-edit").get_by_role("alert")).to_contain_text("You began to edit this")
    assert decided(house, ask) is None
    page.goto(f"/asks/{ask.id}")
    page.get_by_role("button", name="Take the edit back").click()
    allow(page).click()
    expect(page.locator("#standing")).to_contain_text("Allowed by you")
    assert given(house, ask) == {"command": "make begun-to-edit"}


def test_the_server_takes_no_edit_that_was_not_shown_nor_one_where_none_is_done(house: House, sign_in: SignIn) -> None:
    ask, command = permission(house, "make edited-by-hand"), wants(house, argv=["make"], input={"command": "make"})
    page = sign_in(f"/asks/{ask.id}?edit=1")
    field(page).fill("make other")
    assert send(page, ask, edited=None)[0] == 422
    assert send(page, ask, edited=ask.digest)[0] == 422
    look(page).click()
    expect(allow_edited(page)).to_be_visible()
    assert send(page, ask, edit="make something-else")[0] == 422
    assert send(page, ask, digest=None)[0] == 422
    page.goto(f"/asks/{command.id}?edit=1")
    expect(allow(page)).to_be_visible()
    expect(page.get_by_role("link", name="Edit", exact=True)).to_have_count(0)
    expect(field(page)).to_have_count(0)
    assert send(page, command, edit='{"command": "rm"}', edited="0" * 64)[0] == 422
    assert [decided(house, one) for one in (ask, command)] == [None, None]


def test_no_reflex_at_the_edit_allows_it(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "make reflex")
    page = sign_in("/settings", **PHONE)
    page.clock.install()
    page.goto(f"/asks/{ask.id}?edit=1")
    field(page).fill("make other")
    for keys in ("Control+Enter", "Meta+Enter"):
        page.keyboard.press(keys)
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    run = stand_still(page)
    page.clock.run_for(2000)
    look(page).tap()
    expect(allow_edited(page)).to_be_visible()
    allow_edited(page).scroll_into_view_if_needed()
    tap_hastily(page, allow_edited(page))
    for keys in ("Enter", "Control+Enter", "Space"):
        page.keyboard.press(keys)
    run()
    page.goto("/settings")
    assert decided(house, ask) is None


# In the list


@pytest.mark.parametrize("options", [{}, PHONE])
def test_a_longer_permission_opens_in_its_row_and_is_decided_there(
    house: House, sign_in: SignIn, options: dict[str, Any]
) -> None:
    lines = "\n".join(f"echo {number}" for number in range(40)) + "\n"
    ask = permission(house, f"make opens-here\n{lines}")
    page = live(sign_in(**options))
    here = row(page, "opens-here")
    here.get_by_text("Show all of it here").click()
    expect(here.get_by_text("Shell command: 41 lines")).to_be_visible()
    expect(here.get_by_text("echo 39")).to_be_visible()
    box, last = allow(here).bounding_box(), here.get_by_text("echo 39").bounding_box()
    assert box
    assert last
    assert box["y"] > last["y"], "below all of it"
    press(allow(here))
    expect(here).to_have_count(0)
    assert page.url == f"{house.web.address}/", "without leaving the place"
    assert decided(house, ask) is Decision.ALLOWED


def test_what_is_open_in_a_row_stays_open_when_the_row_changes(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "make stays-open && " + "true && " * 60 + "true")
    page = live(sign_in())
    here = row(page, "stays-open")
    here.get_by_text("Show all of it here").click()
    expect(allow(here)).to_be_visible()
    version = here.get_attribute("data-version")
    house.desk.note_refusal(ask.id, Settler(person="ben", surface="terminal"), "for the test")
    expect(here).not_to_have_attribute("data-version", version or "")
    expect(allow(here)).to_be_visible()
