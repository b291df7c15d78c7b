"""What was put off and is back is told in the person's own way, by a server that runs anyway."""

from __future__ import annotations

import asyncio
import getpass
import sys
from pathlib import Path

from tests.asks.samples import ask as new_ask
from tests.conftest import OpenStore
from tests.e2e.clients.process import wait_until

from sayso.clock import now_ms
from sayso.config import load
from sayso.desks import Desks
from sayso.web.returning import Returning
from sayso.web.site import Site


def test_the_command_of_a_person_is_run_when_what_they_put_off_is_back_and_they_do_not_look(
    open_sqlite: OpenStore, tmp_path: Path
) -> None:
    said, script = tmp_path / "said", tmp_path / "append.py"
    script.write_text(f"import os; open({str(said)!r}, 'a').write(os.environ['SAYSO_ASK_ID'] + '\\n')")
    settings = {"PERSON": "ada", "NOTIFY_COMMAND": f"{sys.executable} {script}", "NOTIFY_AFTER_TYPING": "1ms"}
    environ = {"SAYSO_STATE_DIR": str(tmp_path), **{f"SAYSO_{name}": value for name, value in settings.items()}}
    store = open_sqlite()
    desks = Desks(load(environ=environ, cwd=tmp_path), store)
    looking = set[str]()

    def work() -> None:
        desk = desks.asks
        _, seen, by_page, by_terminal = (desk.leave(new_ask(f"{number}?")) for number in range(4))
        looking.add("ada")
        until = desk.snooze(seen.id, "ada", now_ms() + 50).until
        key = f"back ada {seen.id} {until}"
        assert wait_until(lambda: store.read(lambda tx: tx.one("claimed", key=key)) is not None, 20)
        looking.clear()
        desk.snooze(by_page.id, "ada", now_ms() + 100)
        desk.snooze(by_terminal.id, getpass.getuser(), now_ms() + 100)
        told = {by_page.id, by_terminal.id}
        # Both in one message, which names the first, or each in its own.
        assert wait_until(said.exists, 20)
        assert set(said.read_text().split()) <= told

    async def run() -> None:
        async with Returning(Site(desks), looking.__contains__).running():
            await asyncio.to_thread(work)

    asyncio.run(run())
