"""The desks of one store: what surfaces work with instead of the store itself, which they open here.

Each is imported when it is first wanted: what a hook, a shell's completion or the start of a server has no use for
costs them nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from sayso.clock import Clock, now_ms
from sayso.config import Config
from sayso.processes import ProcessName, this_host
from sayso.store import Store, open_store
from sayso.store.bell import LOOK_EVERY, Bell, Listener

if TYPE_CHECKING:
    import threading

    from sayso.accounts import Accounts
    from sayso.agents.desk import RunDesk
    from sayso.agents.projects import Projects
    from sayso.agents.supervisor import RunSupervisor
    from sayso.asks.desk import AskDesk, CleanedUp
    from sayso.asks.model import Asker
    from sayso.asks.sessions import Lives
    from sayso.asks.waiting import Waiting
    from sayso.chats.desk import ChatDesk
    from sayso.chats.service import Chats
    from sayso.connections import Connections
    from sayso.operations.approval import Approvals
    from sayso.operations.desk import OperationDesk
    from sayso.operations.reader import OperationReader
    from sayso.operations.supervisor import OperationSupervisor
    from sayso.permissions.desk import PermissionDesk
    from sayso.permissions.log import PermissionLog
    from sayso.permissions.session_rules import SessionRule
    from sayso.presence import PresenceDesk
    from sayso.push.subscriptions import PushDesk
    from sayso.roster import AgentAtWork, Roster
    from sayso.toolfiles.catalog import Catalog
    from sayso.waiting_room import WaitingRoom

__all__ = ["LOOK_EVERY", "Bell", "Desks", "Listener", "open_desks", "take_down_bells"]


_MOST_ASKS = 1000
"""Open asks that are looked at for those who wait; of an agent that has more open it is known that it waits."""


class Desks:
    """All that one process does with one store. Leaving it closes the store."""

    def __init__(self, config: Config, store: Store) -> None:
        self.config, self._store = config, store
        self.threads = store.threads
        """How many threads can usefully work at the desks at once."""
        self.near = store.near
        """Whether looking something up takes less time than handing that to a thread."""
        self.only_shows = store.only_shows
        """Whether the store can be looked at and no more, because its disk cannot be written."""

    def __enter__(self) -> Desks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    @contextmanager
    def aside(self) -> Iterator[Desks]:
        """The same for whoever must not wait for others of this process."""
        with self._store.aside() as store:
            yield Desks(self.config, store)

    @cached_property
    def asks(self) -> AskDesk:
        from sayso.asks.sessions import always

        return self.asks_where(always)

    def asks_where(self, lives: Lives) -> AskDesk:
        """The same for a process that serves many sessions, and knows which of them are still there."""
        from sayso.asks.attachments import AttachmentLimits
        from sayso.asks.desk import AskDesk

        config = self.config
        return AskDesk(
            self._store,
            keeps_history=lambda _: config.history,
            lives=lives,
            is_back=self._is_back,
            most_open=config.max_open_asks,
            most_attached=AttachmentLimits(count=config.attachments, size=config.attachments_bytes),
        )

    def _is_back(self, theirs: Asker, ours: Asker) -> bool:
        """Whether a session that asked through another server was taken up again: its client says so, or what stands
        beside it for other reasons has seen it."""
        from sayso import claude_sessions

        if theirs.client == claude_sessions.CLIENT and theirs.host == this_host():
            own = ProcessName(pid=ours.pid, started=ours.started)
            if any(each != own for each in claude_sessions.processes_in(theirs.session)):
                return True
        return self.roster.is_back(theirs, ours)

    @cached_property
    def permissions(self) -> PermissionDesk:
        from sayso.permissions.desk import PermissionDesk
        from sayso.permissions.rules_here import Rules

        return PermissionDesk(self.asks, Rules(self.config))

    def session_rules(self, clock: Clock = now_ms) -> list[SessionRule]:
        """Rules that were given to sessions which are still on, as far as that is known here."""
        from sayso.permissions import session_rules

        return self._store.read(lambda tx: session_rules.everyone(tx, clock()))

    @cached_property
    def log(self) -> PermissionLog:
        from sayso.permissions.log import PermissionLog
        from sayso.running.masking import masks_of

        return PermissionLog(self._store, hide=masks_of(self.config).hide)

    def clean_up(self, ending: threading.Event) -> CleanedUp:
        """Expire and delete asks whose time has come, and what is too old in the log, until `ending` is set."""
        from sayso import chain
        from sayso.asks.desk import Retention
        from sayso.store.leaps import leapt

        config, longer = self.config, leapt(self._store, now_ms())
        chain.shorten(self._store, config.keep_log + longer, now_ms, ending)
        keep = Retention(
            ended=config.keep_ended + longer,
            undelivered=config.keep_undelivered + longer,
            unattended=config.keep_unattended + longer,
        )
        done = self.asks.clean_up(keep, ending)
        if config.attachments_dir.exists():
            from sayso.asks.handed_files import sweep

            sweep(self.asks, config.attachments_dir)
        return done

    def waiting(self, desk: AskDesk) -> Waiting:
        from sayso.asks.waiting import Waiting

        return Waiting(self._store, desk)

    @cached_property
    def accounts(self) -> Accounts:
        from sayso.accounts import Accounts

        return Accounts(self._store)

    @cached_property
    def connections(self) -> Connections:
        from sayso.connections import Connections

        return Connections(self._store)

    @cached_property
    def waiting_room(self) -> WaitingRoom:
        from sayso.waiting_room import WaitingRoom

        return WaitingRoom(self._store)

    @cached_property
    def pushes(self) -> PushDesk:
        from sayso.push.subscriptions import PushDesk

        return PushDesk(self._store)

    @cached_property
    def chats(self) -> ChatDesk:
        from sayso.chats.desk import ChatDesk

        return ChatDesk(self._store)

    def chat_service(self) -> Chats:
        from sayso.chats.service import Chats

        return Chats(self.config, self._store, self.asks, self.permissions, self.presence)

    @cached_property
    def presence(self) -> PresenceDesk:
        from sayso.presence import PresenceDesk

        return PresenceDesk(self._store, away_after=self.config.away_after)

    @cached_property
    def roster(self) -> Roster:
        from sayso.roster import Roster

        return Roster(self._store)

    def agents_at_work(self, person: str | None = None) -> list[AgentAtWork]:
        """Each session of an agent that is there, those that wait for a person first."""
        asks = self.asks.inbox(person=person, most=_MOST_ASKS)
        sizes = self.asks.open_by_session(person) if len(asks) == _MOST_ASKS else None
        return self.roster.at_work(asks, self.operations.under_way(person=person), person, sizes)

    @cached_property
    def operations(self) -> OperationDesk:
        from sayso.operations.desk import OperationDesk

        return OperationDesk(self._store, self.config.operations_dir)

    @cached_property
    def reader(self) -> OperationReader:
        from sayso.operations.reader import OperationReader

        return OperationReader(self._store, self.config)

    def operation_supervisor(self, catalog: Catalog, approvals: Approvals) -> OperationSupervisor:
        from sayso.operations.supervisor import OperationSupervisor

        return OperationSupervisor(self.config, self._store, catalog, approvals)

    @cached_property
    def projects(self) -> Projects:
        from sayso.agents.projects import Projects

        return Projects(self._store)

    @cached_property
    def runs(self) -> RunDesk:
        from sayso.agents.desk import RunDesk

        return RunDesk(self._store, self.config.runs_dir)

    def run_supervisor(self, address: str) -> RunSupervisor:
        from sayso.agents.supervisor import RunSupervisor

        return RunSupervisor(self.config, self._store, address)

    def bell(self) -> Bell:
        """This process's bell, hung up at the first call."""
        return self._store.bell()

    def listen(self, heard: Callable[[], None], tick: Callable[[], None] | None = None) -> Listener:
        """Has `heard` called after each ring of the bell, and `tick` now and then while it is quiet."""
        return Listener(self.bell(), heard, tick)

    def listen_for_own(self, heard: Callable[[], None]) -> Listener:
        """The same for whoever wants to hear of this process's own waits alone."""
        return Listener(self.bell(), heard, about=self.bell().process)

    def secret(self, name: str) -> bytes:
        """A random key that all processes of this store share, made when it is first wanted."""
        return self._store.secret(name)

    def clock_ahead(self) -> int:
        """Milliseconds by which our clock is ahead of that of the machine where the store is."""
        return self._store.clock_ahead()

    def claim(self, key: str) -> bool:
        """Whether this key is claimed for the first time, in all processes of the store."""
        return self._store.claim(key, now_ms())

    def call_off(self, attempt: str) -> str | None:
        """Whether what a page sent was taken; if not, it never will be."""
        from sayso import sent_once

        return sent_once.call_off(self._store, attempt, now_ms())


def open_desks(config: Config, *, begins_anew: bool = True, only_looks: bool = False) -> Desks:
    """The desks of the store that the settings name. One that is taken away later may be made anew, or may not; one
    that cannot be written is there for those who only look."""
    store = open_store(config, only_looks=only_looks)
    store.begins_anew = begins_anew
    return Desks(config, store)


def take_down_bells(config: Config) -> None:
    """Remove the folder where the bells of a store's processes hang. It lies outside of the state directory where that
    has too long a path for a socket."""
    import shutil

    from sayso.store.socket_bell import bell_folder

    shutil.rmtree(bell_folder(config.bell_dir), ignore_errors=True)
