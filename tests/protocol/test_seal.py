"""What a client is handed between two rounds of a call opens for that client and that call, and for nothing else."""

from __future__ import annotations

import pytest

from sayso.errors import ProtocolError
from sayso.protocol.seal import Seal

CALL = {"name": "ask_user", "arguments": {"question": "é?", "options": ["a", "b"]}}


def seal(key: bytes = b"k" * 32, audience: str = "sayso") -> Seal:
    return Seal(lambda: key, audience)


def test_a_seal_opens_in_every_process_that_has_the_key_whatever_the_order_of_the_arguments() -> None:
    sealed = seal().seal('{"ask": "1"}', CALL, "ada")
    turned = {"arguments": {"options": ["a", "b"], "question": "é?"}, "name": "ask_user", "_meta": {}}
    assert seal().open(sealed, turned, "ada") == '{"ask": "1"}'


@pytest.mark.parametrize(
    ("opener", "call", "holder"),
    [
        (seal(b"x" * 32), CALL, "ada"),
        (seal(audience="other"), CALL, "ada"),
        (seal(), CALL, "eve"),
        (seal(), {**CALL, "name": "approve"}, "ada"),
        (seal(), {**CALL, "arguments": {}}, "ada"),
    ],
    ids=["another key", "another server", "another holder", "another tool", "other arguments"],
)
def test_nobody_else_opens_it(opener: Seal, call: dict[str, object], holder: str) -> None:
    with pytest.raises(ProtocolError, match="Invalid or expired requestState"):
        opener.open(seal().seal("state", CALL, "ada"), call, holder)


def test_whatever_is_changed_in_it_breaks_it() -> None:
    sealed = seal().seal("state", CALL, "")
    for place in range(len(sealed)):
        changed = sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]
        with pytest.raises(ProtocolError):
            seal().open(changed, CALL, "")
    for junk in ("", "s1.", "s1..", "s1.x", "v1.abc", 5, None, "s1.é.é", sealed + "."):
        with pytest.raises(ProtocolError):
            seal().open(junk, CALL, "")
