"""Whatever keys and taps come in whatever order: a card is decided by a press that was meant for it, or not at all."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.hands import Hands
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, permit

from sayso.asks.model import Settler, State
from sayso.errors import AlreadySettled

SOMEBODY = Settler(person="ada", surface="terminal")


@pytest.mark.finding("F-01", "F-03", "F-54")
@pytest.mark.parametrize("seed", range(2))
def test_no_sequence_of_keys_and_hasty_taps_allows_anything(stage: Stage, sign_in: SignIn, seed: int) -> None:
    page = sign_in(**PHONE)
    hands = Hands(page, seed)
    steps = [permit("Bash", command=f"rm -rf {number}") for number in range(3)]
    conversation = begin(page, stage.project(), *steps, ask("Delete it?", options=OPTIONS), steps[0])
    hands.stop_time()
    cards = page.locator("[data-card]")
    for number in range(4):
        expect(cards.nth(number)).to_be_visible()
        hands.tap(2)
        hands.fidget(8)
        asked = stage.house.desk.get(cards.nth(number).get_attribute("data-card") or "")
        if asked.state is State.PENDING:
            # Nothing was said so far: say it on purpose, so that the next one comes. A press may be on its way.
            with suppress(AlreadySettled):
                stage.house.desk.cancel(asked.id, SOMEBODY)
        else:
            assert asked.outcome
            chosen = [answer.chosen for answer in asked.outcome.answers]
            assert chosen in ([("deny",)], [()], []), asked
    assert hands.acts > 16
    assert not [text for text in stage.texts(stage.latest(conversation)) if "Allowed" in text or "selected" in text]
