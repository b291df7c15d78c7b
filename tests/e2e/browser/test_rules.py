"""The person's own rules, edited on the page: nothing is saved that was not looked at, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_accessibility import violations
from tests.e2e.browser.test_like import before, me
from tests.web.house import House

pytestmark = pytest.mark.usefixtures("read_quickly")

RULES = '[[rule]]\nallow = ["Bash(npm test *)"]\n'
MORE = RULES + '\n[[rule]]\nallow = ["Bash(terraform apply *)"]\n'


@pytest.fixture
def file(house: House) -> Iterator[Path]:
    path = house.place.config().user_rules
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULES)
    yield path
    path.unlink(missing_ok=True)


def test_a_draft_survives_a_reload_and_is_saved_as_it_was_shown(house: House, sign_in: SignIn, file: Path) -> None:
    before(house, "terraform apply -auto-approve", allowed=False)
    page = sign_in("/rules", me(house), **PHONE)
    page.get_by_role("link", name="Edit…").click()
    field, save = page.get_by_label("The whole file"), page.get_by_role("button", name="Save exactly this")
    field.fill(MORE)
    page.reload()
    expect(field).to_have_value(MORE)
    expect(page.get_by_text("This is what you had written and not saved.")).to_be_visible()
    look = page.get_by_role("button", name="Show what would change")
    look.click()
    expect(page.locator(".banner", has_text="Careful: denied before")).to_contain_text("terraform apply")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    save.scroll_into_view_if_needed()
    expect(save).to_be_enabled()
    field.fill(MORE + "# more\n")
    expect(save).to_be_disabled()
    field.fill(MORE)
    look.click()
    save.scroll_into_view_if_needed()
    expect(save).to_be_enabled()
    save.focus()
    page.keyboard.press("Enter")
    assert file.read_text() == RULES
    save.click()
    expect(page.get_by_text("Saved. It holds from the next action on.")).to_be_visible()
    assert file.read_text() == MORE
    page.get_by_role("link", name="Edit…").click()
    expect(field).to_have_value(MORE)
    expect(page.get_by_text("This is what you had written")).to_be_hidden()
