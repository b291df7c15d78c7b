"""What every screen of the terminal inbox has at hand, and what is known right now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sayso.asks.crowds import Crowd, Entry, fold
from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import Ask, Settler
from sayso.clock import now_ms
from sayso.config import Config, system_user
from sayso.errors import told
from sayso.presence import Whereabouts
from sayso.records import record
from sayso.tui.keys import Keys
from sayso.tui.link import SURFACE, Link
from sayso.tui.notices import Notices
from sayso.tui.outgoing import HeldAnswer
from sayso.tui.reflexes import Reflexes
from sayso.tui.texts import Texts, texts_for
from sayso.tui.typeahead import TypeAhead
from sayso.tui.wording import Wording

if TYPE_CHECKING:
    from sayso.asks.snoozing import Snoozed


@record
class UnsavedDraft:
    """A draft that could not be kept in the store yet, and the one that was last known to be there."""

    ask: Ask
    body: str
    over: str


@dataclass
class InboxBoard:
    """What is known right now. The app writes it after each look at the desk, the screens show it."""

    asks: Sequence[Ask] = ()
    folded: Sequence[Entry] = ()
    """The same, with each agent that has many open as one."""
    looked: bool = False
    absence: Whereabouts | None = None
    """That the person has said they are away."""
    trouble: str = ""
    trouble_since: int | None = None
    newest: Ask | None = None
    seen: set[str] = field(default_factory=set)
    """Asks that were there when the inbox was opened, or were opened since."""
    drafts: set[str] = field(default_factory=set)
    """Asks with something entered for them."""
    unsaved: dict[str, UnsavedDraft] = field(default_factory=dict)
    """Drafts that could not be kept in the store yet, by ask."""
    snoozed: Sequence[Snoozed] = ()
    """What the person has put off, in the order in which it comes back."""
    outgoing: dict[str, HeldAnswer] = field(default_factory=dict)
    """Answers that are about to be sent and can still be taken back, by ask."""
    settled: set[str] = field(default_factory=set)
    """Asks that were settled here. A look that began before that may still show them."""
    under_way: set[str] = field(default_factory=set)
    """Asks that are being turned down just now, several at a time."""
    own: set[str] = field(default_factory=set)
    """Asks that the person has just settled or put off here: another in the place of one of them surprises nobody."""
    _lookalikes: Lookalikes | None = None

    def show(self, asks: Sequence[Ask], snoozed: Sequence[Snoozed] = ()) -> None:
        """Take in what a look has shown."""
        self.settled &= {ask.id for ask in (*asks, *(each.ask for each in snoozed))}
        self.snoozed = [each for each in snoozed if each.ask.id not in self.settled]
        self._keep([ask for ask in asks if ask.id not in self.settled])

    def _keep(self, asks: Sequence[Ask]) -> None:
        self.asks, self.folded = asks, fold(asks)
        self._lookalikes = None

    @property
    def crowds(self) -> list[Crowd]:
        """The agents that have many asks open."""
        return [entry for entry in self.folded if isinstance(entry, Crowd)]

    @property
    def lone(self) -> list[Ask]:
        """The asks of all other agents."""
        return [entry for entry in self.folded if isinstance(entry, Ask)]

    def settle(self, ask_id: str) -> None:
        """An ask was settled here: it is off the board before the next look."""
        self.settle_each({ask_id})

    def settle_each(self, ask_ids: Set[str]) -> None:
        self.settled |= ask_ids
        self._keep([ask for ask in self.asks if ask.id not in ask_ids])
        self.snoozed = [each for each in self.snoozed if each.ask.id not in ask_ids]
        self.drafts -= ask_ids
        for ask_id in ask_ids:
            self.unsaved.pop(ask_id, None)
            self.outgoing.pop(ask_id, None)

    def saved(self, drafts: Mapping[str, UnsavedDraft]) -> None:
        """These were kept, unless something was entered since."""
        self.unsaved = {key: draft for key, draft in self.unsaved.items() if drafts.get(key) != draft}

    @property
    def unseen(self) -> Ask | None:
        """The newest ask, while it is open and nobody has opened it here."""
        newest = self.newest
        return newest if newest and newest.id not in self.seen and self.find(newest.id) else None

    @property
    def lookalikes(self) -> Lookalikes:
        """What tells agents of the same name apart."""
        if self._lookalikes is None:
            self._lookalikes = Lookalikes(ask.asker for ask in self.asks)
        return self._lookalikes

    def find(self, ask_id: str) -> Ask | None:
        return next((ask for ask in self.all if ask.id == ask_id), None)

    @property
    def all(self) -> list[Ask]:
        """The asks, and those that the person has put off."""
        return [*self.asks, *(each.ask for each in self.snoozed)]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Settings, texts, keys, the way to the desk, the board, the keys that are to come and which are meant, and what is
    told for a moment."""

    config: Config
    environ: Mapping[str, str]
    texts: Texts
    wording: Wording
    keys: Keys
    link: Link
    reflexes: Reflexes
    typing: TypeAhead
    translated: Callable[[str], str] = str
    """What lower layers say, in the person's language."""
    board: InboxBoard = field(default_factory=InboxBoard)
    notices: Notices = field(default_factory=Notices)

    @classmethod
    def build(
        cls,
        config: Config,
        environ: Mapping[str, str],
        clock: Callable[[], int] = now_ms,
        ticks: Callable[[], float] = time.monotonic,
        translated: Callable[[str], str] = str,
    ) -> Shared:
        texts = texts_for(config.language, environ)
        keys = Keys.from_config(config)
        reflexes = Reflexes(ticks)
        return cls(
            config=config,
            environ=environ,
            texts=texts,
            wording=Wording(texts=texts, clock=clock),
            keys=keys,
            link=Link(config),
            reflexes=reflexes,
            typing=TypeAhead(reflexes),
            translated=translated,
        )

    def explained(self, error: Exception) -> str:
        """What an error says, in the person's language."""
        return told(error, self.translated)

    @property
    def settler(self) -> Settler:
        return Settler(person=self.config.person, surface=SURFACE, account=system_user())
