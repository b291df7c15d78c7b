"""What a turn cost, told by an agent that counts on through its conversation."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import Stage, begin, say

pytestmark = pytest.mark.usefixtures("read_quickly")

COSTS = [
    "$0.0123",
    "$0.0123 for this turn, $0.0246 for the conversation so far",
    "$0.0423 for this turn, $0.0669 for the conversation so far",
    "$0.0073 for this turn, $0.0742 for the conversation so far",
]


@pytest.mark.finding("F-55")
def test_a_turn_says_its_own_cost_and_that_of_the_conversation(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project("costs", ask_user=False), "say One")
    _expect_costs(page, 1)
    # It goes on, then begins a new session that costs more than all before, then loses count within it: what it says
    # then is below what it said before.
    for number, steps in enumerate([["say Two"], ["forget", "cost 0.03"], ["cost -0.005"]], start=2):
        stage.ended(conversation)
        say(page, *steps)
        _expect_costs(page, number)
    so_far = re.compile(r"\d s, \$\d\.\d{4} so far")
    expect(page.locator("[data-status]")).to_contain_text(so_far)
    page.reload()
    _expect_costs(page, len(COSTS))
    expect(page.locator("[data-status]")).to_contain_text(so_far)


def _expect_costs(page: Page, turns: int) -> None:
    """As the page shows them, whether they came by the stream or with the page."""
    for number, cost in enumerate(COSTS[:turns], start=1):
        shown = page.locator(f"#turn-{number} [data-footer] .quiet-text")
        expect(shown).to_contain_text(f" · {cost}")
        if number == 1:
            expect(shown).not_to_contain_text("for this turn")
