"""Allow like this: a rule is made of a permission on a page of its own, one deliberate press further than Allow."""

from __future__ import annotations

import os
import re
from itertools import count

import pytest
from playwright.sync_api import expect
from tests.asks.samples import living
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_permissions import allow, decided
from tests.web.house import House, confirm, new_ask

from sayso.accounts import user_name
from sayso.asks.model import Ask, Settler
from sayso.permissions.action import Action, ActionKind, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.verdict import Decision

pytestmark = pytest.mark.usefixtures("read_quickly")

SAVE = "Allow this, and add the rule"
_NUMBERS = count()


def me(house: House) -> str:
    """Whose rules the page may change: the person whom this account belongs to."""
    return user_name(house.place.config().person)


def wants(house: House, line: str, session: str = "") -> Ask:
    """An agent of ours wants to run this."""
    action = Action(
        kind=ActionKind.SHELL, tool="Bash", folder=str(house.place.project), data={"input": {"command": line}}
    )
    asker = living(project=str(house.place.project), session=session or f"session {next(_NUMBERS)}")
    return house.hold(asking(new_ask(confirm("May it?"), title=f"Allow {line}?", asker=asker), action)).ask


def before(house: House, line: str, **allowed: bool) -> None:
    """What was decided earlier."""
    ask, desk, by = wants(house, line), PermissionDesk(house.desk), Settler(person=me(house), surface="browser")
    if allowed["allowed"]:
        desk.allow(ask.id, ask.digest, by)
    else:
        desk.deny(ask.id, by)


def test_a_rule_is_proposed_edited_and_added_and_shows_what_it_would_have_matched(
    house: House, sign_in: SignIn
) -> None:
    for line, was_allowed in (("npm test", True), ("npm test -- --all", False), ("npm run build", True)):
        before(house, line, allowed=was_allowed)
    ask = wants(house, "npm test -- --watch")
    page = sign_in("/", me(house), viewport={"width": 1280, "height": 1600})
    page.get_by_role("link", name="Allow like this…").click()
    field, save = page.get_by_label("The rule:"), page.get_by_role("button", name=SAVE)
    expect(field).to_have_value("Bash(npm test -- --watch)")
    expect(page.get_by_text("nothing was decided that this rule would have matched")).to_be_visible()
    page.get_by_role("button", name="Bash(npm test *)").click()
    expect(page.get_by_text("Careful:")).to_be_visible()
    careful = page.locator(".banner", has_text="Careful:")
    expect(careful).to_contain_text("Bash: npm test -- --all")
    expect(page.locator("[data-like-shown]")).to_contain_text("Near, and still asked")
    field.fill("Bash(npm publish)")
    expect(page.get_by_text("This rule does not allow what the agent wants to do here.")).to_be_visible()
    expect(save).to_have_count(0)
    field.fill("Bash(npm test *)")
    page.get_by_role("radio", name="In this project").check()
    page.reload()
    expect(field).to_have_value("Bash(npm test *)")
    expect(page.get_by_role("radio", name="In this project")).to_be_checked()
    expect(save).to_be_enabled()
    field.press("Enter")
    field.press("Control+Enter")
    field.fill("Bash(npm test *)")
    expect(page.locator("[data-like-shown]:not([data-unread])")).to_be_visible()
    expect(save).to_be_enabled()
    save.focus()
    page.keyboard.press("Enter")
    assert decided(house, ask) is None
    save.click()
    expect(page.get_by_text("Rule added, for this project: Bash(npm test *).")).to_be_visible()
    page.wait_for_url(re.compile(f"/asks/{ask.id}$"))
    assert decided(house, ask) is Decision.ALLOWED
    text = house.place.config().user_rules.read_text()
    assert 'allow = ["Bash(npm test *)"]' in text
    assert f'when = {{ project = "{os.path.realpath(house.place.project)}" }}' in text
    page.goto("/log")
    expect(page.locator(".row", has_text="Rule added")).to_contain_text("Bash(npm test *)")
    house.place.config().user_rules.unlink()


def test_without_scripts_a_rule_that_was_changed_is_shown_before_it_is_taken(house: House, sign_in: SignIn) -> None:
    ask = wants(house, "npm test -- --once", session="no scripts")
    page = sign_in(f"/asks/{ask.id}", me(house), java_script_enabled=False, **PHONE)
    page.get_by_role("link", name="Allow like this…").click()
    field, save = page.get_by_label("The rule:"), page.get_by_role("button", name=SAVE)
    field.fill("Bash(npm test *)")
    save.click()
    expect(page.get_by_text("You changed the rule, so nothing was allowed yet.")).to_be_visible()
    assert decided(house, ask) is None
    expect(field).to_have_value("Bash(npm test *)")
    expect(page.get_by_role("radio", name="For this session")).to_be_checked()
    save.click()
    page.wait_for_url(re.compile(f"/asks/{ask.id}$"))
    assert decided(house, ask) is Decision.ALLOWED
    assert not house.place.config().user_rules.exists()


def test_a_yes_that_comes_after_the_decision_makes_no_rule_and_says_so(house: House, sign_in: SignIn) -> None:
    ask = wants(house, "npm test", session="decided elsewhere")
    page = sign_in(f"/asks/{ask.id}/like", me(house), java_script_enabled=False)
    expect(page.get_by_text("Until this claude-code (session ewhere) ends")).to_be_visible()
    PermissionDesk(house.desk).deny(ask.id, Settler(person=me(house), surface="terminal"))
    page.get_by_role("button", name=SAVE).click()
    expect(page.get_by_text("No rule was made: it was decided before.")).to_be_visible()
    expect(page.locator(".eyebrow")).to_contain_text("claude-code (session")
    assert decided(house, ask) is Decision.DENIED
    assert not house.place.config().user_rules.exists()


def test_a_decision_elsewhere_is_told_at_once_on_the_page_of_a_rule(house: House, sign_in: SignIn) -> None:
    ask = wants(house, "npm test", session="decided meanwhile")
    page = sign_in(f"/asks/{ask.id}/like", me(house))
    expect(page.get_by_role("button", name=SAVE)).to_be_visible()
    PermissionDesk(house.desk).deny(ask.id, Settler(person=me(house), surface="terminal"))
    expect(page.get_by_text("No rule was made: it was decided before.")).to_be_visible()
    assert not house.place.config().user_rules.exists()


def test_the_words_of_a_no_block_it_as_they_block_allow(house: House, sign_in: SignIn) -> None:
    ask = wants(house, "npm test")
    page = sign_in(f"/asks/{ask.id}", me(house), color_scheme="dark")
    page.get_by_label("Or say no.").fill("Not now")
    expect(page.get_by_text("Kept as a draft")).to_be_visible()
    expect(allow(page)).to_be_disabled()
    page.get_by_role("link", name="Allow like this…").click()
    expect(page.get_by_text("You wrote why not, so this cannot be allowed.")).to_be_visible()
    expect(page.get_by_role("button", name=SAVE)).to_have_count(0)


def test_where_no_rule_can_be_made_its_page_says_why_and_offers_none(house: House, sign_in: SignIn) -> None:
    wants(house, "npm test; for x in *; do rm $x; done")
    page = sign_in("/", me(house), **PHONE)
    page.get_by_role("link", name="Allow like this…").click()
    expect(page.get_by_text("No rule can be made of this: ")).to_be_in_viewport()
    expect(allow(page)).to_be_visible()
    expect(page.get_by_role("link", name="Allow like this…")).to_have_count(0)
