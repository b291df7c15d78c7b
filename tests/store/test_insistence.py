"""Work that must get into the store: done again while the store is away, and only then."""

from __future__ import annotations

import anyio
import pytest

from sayso.errors import NotFound, StoreError
from sayso.store import insistence
from sayso.store.insistence import insistently

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_work_is_done_again_until_the_store_takes_it_and_each_trouble_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(insistence, "_FIRST_PAUSE", 0.001)
    away, told = [StoreError("full"), StoreError("away")], list[str]()

    async def work() -> str:
        if away:
            raise away.pop(0)
        return "taken"

    with anyio.fail_after(60):
        assert await insistently(work, lambda error: told.append(str(error))) == "taken"
    assert told == ["full", "away"]


async def test_what_is_no_trouble_of_the_store_is_not_tried_again() -> None:
    told: list[StoreError] = []

    async def work() -> None:
        raise NotFound("deleted meanwhile")

    with pytest.raises(NotFound), anyio.fail_after(60):
        await insistently(work, told.append)
    assert told == []
