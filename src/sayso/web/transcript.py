"""A conversation as a browser gets it: all of it as a page, or what is new since a place in it as messages.

A place is a turn and the number of an event in it. Reading the store again from any place tells the same, so a stream
that was cut off goes on where it was, and a page that is opened again begins at the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from markupsafe import Markup

from sayso.agents.costs import Cost, costs
from sayso.agents.desk import RunDesk
from sayso.agents.kinds import AGENTS
from sayso.agents.model import EventKind, Marks, Run, RunEvent
from sayso.agents.offers import offers_of
from sayso.agents.queue import QueuedMessage
from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, from_json, with_known
from sayso.asks.model import Ask, State
from sayso.errors import MAX_TEXT, NotFound, StoreError
from sayso.text import json_line
from sayso.web import cards, recall, talk_wording, tool_wording
from sayso.web.beside_talk import BesideReader
from sayso.web.pages import fragment
from sayso.web.talk_status import AgentUse, TalkStatus
from sayso.web.tool_wording import ToolState, UsedTool

MOST_EVENTS = 2_000
"""The most events of one turn that a page shows; of more, the newest."""
_BATCH = 500
_NOT_THE_AGENT = {EventKind.ASK, EventKind.SAID, EventKind.PICTURES}
"""What happens in a run and does not say that its agent goes on."""
_UNSEEN = {EventKind.STARTED, EventKind.RESULT, EventKind.USAGE, EventKind.COMMANDS, EventKind.OFFERS}
"""What has no place of its own among the lines."""
_EARLIER = 3
"""Turns before its own from which a stream learns what the agent last said of itself."""
_BARE: Mapping[str, Any] = {"result": None, "taken": False, "state": ToolState(name="running")}
"""What an event is shown with that has only just come."""
_PLACE = re.compile(r"([1-9]\d{0,8})\.(\d{1,15})")


@dataclass(frozen=True, kw_only=True)
class Place:
    """How far a browser has read."""

    turn: int = 1
    seq: int = 0

    def __str__(self) -> str:
        return f"{self.turn}.{self.seq}"

    @classmethod
    def parse(cls, text: str) -> Place:
        match = _PLACE.fullmatch(text)
        return cls(turn=int(match[1]), seq=int(match[2])) if match else cls()


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn as a page shows it."""

    run: Run
    parts: tuple[Markup, ...]
    cost: Cost | None
    waits: bool
    left_out: int = 0
    earlier: tuple[Markup, ...] = ()
    """What was said in a terminal before the message that began it."""
    after: tuple[Markup, ...] = ()
    """What was noted after its end."""


@dataclass(frozen=True, kw_only=True)
class ShownConversation:
    """The whole conversation, how it stands, and the place from which a stream goes on."""

    turns: tuple[Turn, ...]
    status: TalkStatus
    queue: Markup
    marks: Marks
    place: Place


class Transcript:
    """One reader's conversation. Plain code; it keeps what the reader has been told."""

    def __init__(
        self, runs: RunDesk, desk: AskDesk, conversation: str, beside: BesideReader, *, user: str, csrf: str
    ) -> None:
        self._runs, self._desk, self.beside = runs, desk, beside
        self.conversation, self.user, self._csrf = conversation, user, csrf
        self._place, self._turn = Place(), 0
        self._told: dict[str, str] = {}
        """The version of each card that the reader has seen."""
        self._read: dict[str, Ask] = {}
        """Those asks, as they were when they were last looked at."""
        self._heard_at = 0
        """When the agent of the turn was last heard of."""
        self._use = AgentUse()
        self._uses: dict[str, UsedTool] = {}
        self._footer_key = self._status_key = self._queue_key = tuple[object, ...]()
        """What was told last is drawn anew only where something else would come of it: most rings are about others."""
        self._partial = ""
        self._seen_end = ""

    def check(self) -> None:
        """A NotFound where this is no conversation of the reader's."""
        self._runs.turns(self.conversation, self.user)

    # A page

    def whole(self) -> ShownConversation:
        """Everything so far. A conversation that is somebody else's is not found."""
        turns: list[Turn] = []
        place = Place()
        runs = self._runs.turns(self.conversation, self.user)
        cost = costs(runs)
        for run in runs:
            events = list(self._events(run, 0))
            self._use = self._use.after(events)
            shown = events[-MOST_EVENTS:]
            within = [event for event in shown if not _is_after(run, event) and not _is_earlier(event)]
            parts = tuple(self._parts(run, within))
            turns.append(
                Turn(
                    run=run,
                    parts=parts,
                    cost=cost.get(run.turn),
                    waits=self._waits(run),
                    left_out=len(events) - len(shown),
                    earlier=tuple(self._part(run, event) for event in events if _is_earlier(event)),
                    after=tuple(self._part(run, event) for event in shown if _is_after(run, event)),
                )
            )
            place = Place(turn=run.turn, seq=_last_whole(events))
        status, queue = self._status(runs, cost), self._queue(runs[-1], self._waiting(runs[-1]))
        self._note_seen(runs[-1])
        marks = self._runs.marks.of(self.conversation)
        return ShownConversation(turns=tuple(turns), status=status, queue=queue, marks=marks, place=place)

    def _note_seen(self, latest: Run) -> None:
        """The reader has its end before them. Where that cannot be kept, nothing is lost but a mark in the list."""
        if latest.id == self._seen_end or not latest.state.ended:
            return
        self._seen_end = latest.id
        with suppress(StoreError):
            self._runs.marks.see(self.conversation)

    def _waiting(self, latest: Run) -> tuple[tuple[QueuedMessage, bool], ...]:
        """The messages that wait, and whether each is held."""
        return tuple((message, message.is_held(latest)) for message in self._runs.queue.of(self.conversation))

    def _queue(self, latest: Run, waiting: Sequence[tuple[QueuedMessage, bool]]) -> Markup:
        return fragment("queue.html", waiting=waiting, sends=_sends(latest), csrf=self._csrf, most=MAX_TEXT)

    def _status(self, runs: Sequence[Run], cost: Mapping[int, Cost]) -> TalkStatus:
        told, latest = cost.get(max(cost, default=0)), runs[-1]
        worked = sum(run.ended_at - run.started_at for run in runs if run.ended_at is not None)
        return TalkStatus(run=latest, waits=self._waits(latest), cost=told, use=self._use, worked_ms=worked)

    def _parts(self, run: Run, events: list[RunEvent]) -> Iterator[Markup]:
        results = {event.body["id"]: event for event in events if event.kind is EventKind.TOOL_RESULT}
        partial = "".join(event.body["text"] for event in events if event.kind is EventKind.DELTA)
        uses = {event.body["id"]: UsedTool.of(event) for event in events if event.kind is EventKind.TOOL}
        taken = {event.body["number"] for event in events if event.kind is EventKind.TAKEN}
        asks = self._asks(run, events)
        self._read |= asks
        decided = tool_wording.decided(asks.values())
        self._heard_at = _heard_at(events)
        told = recall.answers(events)
        cards_below: list[tuple[Ask, Markup]] = []
        for event in events:
            for below in [one for one in cards_below if (one[0].ended_at or event.at) < event.at]:
                cards_below.remove(below)
                yield below[1]
            match event.kind:
                case EventKind.TOOL:
                    result = results.get(event.body["id"])
                    state = tool_wording.state(run, uses[event.body["id"]], result, decided)
                    yield self._part(run, event, result=result, state=state)
                case EventKind.TOOL_RESULT if event.body["id"] in uses:
                    pass
                case EventKind.DELTA | EventKind.TAKEN:
                    pass
                case kind if kind in _UNSEEN:
                    pass
                case EventKind.SAID:
                    yield self._part(run, event, taken=event.body["number"] in taken)
                case EventKind.ASK:
                    # What is asked again is noted again; it has one card.
                    if ask := asks.pop(event.body["ask"], None):
                        # An ask may be noted before what its agent said before it. So a card stands below all that
                        # came until it was settled.
                        html = self._card(run, ask, recalled=next(told, "") if cards.is_relayed(ask) else "")
                        cards_below.append((ask, html))
                case _:
                    yield self._part(run, event)
        if partial:
            yield _partial(partial)
        yield from (html for _, html in cards_below)

    def _asks(self, run: Run, events: list[RunEvent]) -> dict[str, Ask]:
        ids = [event.body["ask"] for event in events if event.kind is EventKind.ASK]
        return {ask_id: ask for ask_id in ids if (ask := self._ask(run, ask_id))}

    # What is new

    def begin(self, place: Place) -> None:
        """Take the reader to be at this place."""
        self._place = place

    @property
    def asks(self) -> tuple[str, ...]:
        """Those whose cards the reader has been told of."""
        return tuple(self._told)

    def news(self) -> Iterator[bytes]:
        """The messages for what happened since the reader was last told."""
        runs = self._runs.turns(self.conversation, self.user)
        cost = costs(runs)
        if not self._turn:
            self._look_back([run for run in runs if run.turn < self._place.turn][-_EARLIER:])
        for run in runs:
            if run.turn < self._place.turn:
                continue
            if run.turn > self._turn:
                yield from self._enter(run)
            yield from self._news_of(run)
            yield from self._changed_footer(run, cost.get(run.turn))
        yield from self._changed_status(self._status(runs, cost))
        yield from self._changed_queue(runs[-1])
        if drawn := self.beside.changed(runs[0], runs[-1]):
            yield self._message("beside", **asdict(drawn))
        self._note_seen(runs[-1])

    def _look_back(self, runs: Sequence[Run]) -> None:
        for run in runs:
            for kind in (EventKind.STARTED, EventKind.USAGE):
                self._use = self._use.after(self._runs.events_of(run.id, kind))

    def _changed_queue(self, latest: Run) -> Iterator[bytes]:
        waiting = self._waiting(latest)
        key = (waiting, _sends(latest))
        if key != self._queue_key:
            self._queue_key = key
            yield self._message("queue", html=self._queue(latest, waiting))

    def _changed_status(self, status: TalkStatus) -> Iterator[bytes]:
        if status.key != self._status_key:
            self._status_key = status.key
            invitation = talk_wording.invitation(status.run)
            html, choices = fragment("status_line.html", foot=status), talk_wording.choices(status.run)
            yield self._message("status", html=html, invitation=invitation, choices=choices)

    def _enter(self, run: Run) -> Iterator[bytes]:
        """Begin to tell of a turn. A page that has it already passes over the message."""
        if run.turn > self._place.turn:
            self._place = Place(turn=run.turn)
        self._turn, self._partial, self._footer_key = run.turn, "", ()
        html = fragment("turn.html", run=run, parts=(), earlier=(), after=(), cost=None, waits=False, left_out=0)
        yield self._message("turn", turn=run.turn, html=html)
        events = list(self._events(run, 0))
        self._heard_at = _heard_at(events)
        self._use = self._use.after(events)
        self._uses = {event.body["id"]: UsedTool.of(event) for event in events if event.kind is EventKind.TOOL}
        # Cards that the page already shows may have changed since.
        self._told |= {event.body["ask"]: "" for event in events if event.kind is EventKind.ASK}

    def _news_of(self, run: Run) -> Iterator[bytes]:
        before = self._partial
        # Read before the cards: what came after an answer then finds that answer given.
        events = list(self._events(run, self._place.seq))
        changed = self._changed_cards(run) if events else []
        for event in events:
            # As on a page that is opened again, a card stands above all that came after it was settled.
            for ask in [one for one in changed if one.ended_at and one.ended_at < event.at]:
                changed.remove(ask)
                yield self._changed_card(run, ask)
            yield from self._told_of(run, event)
            self._heard_at = max(self._heard_at, _heard_at([event]))
            self._use = self._use.after([event])
            self._place = Place(turn=run.turn, seq=event.seq)
        if self._partial and self._partial != before:
            yield self._message("delta", turn=run.turn, html=_partial(self._partial))
        for ask in self._changed_cards(run):
            yield self._changed_card(run, ask)

    def _changed_footer(self, run: Run, cost: Cost | None) -> Iterator[bytes]:
        # While the agent is at work it is empty.
        key = (run.state, run.ending, run.ended_at, cost) if run.state.ended else (run.id,)
        if key != self._footer_key:
            self._footer_key = key
            footer = fragment("turn_footer.html", run=run, cost=cost, waits=False)
            untaken = talk_wording.UNTAKEN if run.state.ended else ""
            yield self._message("footer", turn=run.turn, html=footer, running=not run.state.ended, untaken=untaken)

    def _told_of(self, run: Run, event: RunEvent) -> Iterator[bytes]:
        where = Place(turn=run.turn, seq=event.seq)
        match event.kind:
            case EventKind.OFFERS:
                yield self._message("offers", where, **asdict(offers_of(self._runs, run.project)))
            case kind if kind in _UNSEEN:
                return
            case EventKind.DELTA:
                self._partial += event.body["text"]
            case EventKind.TAKEN:
                yield self._message("taken", where, number=event.body["number"], text=talk_wording.TAKEN)
            case EventKind.ASK:
                yield from self._new_card(run, event, where)
            case EventKind.TOOL:
                self._uses[event.body["id"]] = UsedTool.of(event)
                yield self._message("tool", where, html=self._part(run, event))
            case EventKind.TOOL_RESULT:
                html, state = fragment("tool_result.html", result=event), self._tool_state(run, event)
                alone = self._part(run, event)
                yield self._message("tool_result", where, tool=event.body["id"], html=html, state=state, alone=alone)
            case kind:
                self._partial = "" if kind is EventKind.TEXT else self._partial
                apart = {"after": _is_after(run, event), "earlier": _is_earlier(event)}
                yield self._message(kind.value, where, html=self._part(run, event), **apart)

    def _tool_state(self, run: Run, result: RunEvent) -> Markup:
        """What became of the use of a tool, now that its result is there."""
        use = self._uses.get(result.body["id"])
        state = tool_wording.state(run, use, result, tool_wording.decided(self._read.values()))
        return fragment("tool_state.html", state=state)

    def _new_card(self, run: Run, event: RunEvent, where: Place) -> Iterator[bytes]:
        ask = self._ask(run, event.body["ask"])
        if ask is None:
            return
        self._told[ask.id], self._read[ask.id] = self._version(run, ask), ask
        html = self._card(run, ask)
        if cards.is_relayed(ask) and ask.state.answerable:
            data = cards.question_data(ask, run)
            yield self._message("ask_user_question", where, data=data, ask=ask.id, html=html)
        else:
            yield self._message("ask", where, ask=ask.id, html=html)

    def _changed_cards(self, run: Run) -> list[Ask]:
        """The asks whose cards the reader has seen otherwise."""
        self._read = {ask_id: ask for ask_id in self._told if (ask := self._ask(run, ask_id))}
        return [ask for ask in self._read.values() if self._version(run, ask) != self._told[ask.id]]

    def _changed_card(self, run: Run, ask: Ask) -> bytes:
        self._told[ask.id] = self._version(run, ask)
        return self._message("card", turn=run.turn, ask=ask.id, html=self._card(run, ask))

    # Parts

    def _waits(self, run: Run) -> bool:
        """Whether its agent is blocked until somebody answers, here or in the terminal that it is shared with or is
        being taken over from."""
        if run.state.ended:
            return False
        asked_there = (ask for ask in self._read.values() if self._is_shared(run, ask))
        return run.id in self._desk.runs_that_wait(run.user) or any(map(_is_awaited, asked_there))

    def _events(self, run: Run, after: int) -> Iterator[RunEvent]:
        while found := self._runs.events(run.id, after=after, most=_BATCH):
            yield from found
            after = found[-1].seq

    def _ask(self, run: Run, ask_id: str) -> Ask | None:
        """An ask that is shown in this conversation; never one that is somebody else's."""
        try:
            ask = self._desk.get(ask_id)
        except NotFound:
            return None
        return ask if ask.asker.owner == run.user or self._is_shared(run, ask) else None

    def _is_shared(self, run: Run, ask: Ask) -> bool:
        """Whether it was asked in the session of a terminal that this conversation takes part in, or was taken over
        from."""
        chosen = run.choices
        sessions = {chosen.joins, chosen.copies, chosen.began_from} - {""}
        return ask.asker.session in sessions and not ask.asker.owner

    def _part(self, run: Run, event: RunEvent, **more: Any) -> Markup:
        return fragment("event.html", run=run, event=event, **{**_BARE, **more})

    def _card(self, run: Run, ask: Ask, recalled: str = "") -> Markup:
        """The card of an ask; `recalled` is what came of it, for one whose own texts were not kept."""
        card = cards.card(ask, AGENTS[run.agent].label, self._since(run, ask))
        if recalled and card.state == "answered" and not ask.questions:
            card = cards.answered(recalled, note=card.note)
        # An answer goes through the relay as long as its run is on; later it is kept with the ask.
        relay = f"claude/submit-answer?p={run.project.id}" if cards.is_relayed(ask) and ask.asker.run == run.id else ""
        version = self._version(run, ask)
        return fragment(
            "card.html",
            ask=ask,
            entries=self._begun(ask) if card.state == "open" else Draft(),
            card=card,
            version=version,
            user=self.user,
            csrf=self._csrf,
            relay=relay if run.token else "",
            run=run,
        )

    def _begun(self, ask: Ask) -> Draft:
        """What the reader has added to an answer so far."""
        begun = "" if ask.is_permission else self._desk.draft(ask.id, self.user)
        return with_known(from_json(ask, begun), self._desk.added(ask.id, self.user)) if begun else Draft()

    def _since(self, run: Run, ask: Ask) -> cards.Since:
        return cards.since(ask, run, self._heard_at)

    def _version(self, run: Run, ask: Ask) -> str:
        """Rises with whatever changes the card: as a number too, by which the page knows the newer of two."""
        return f"{ask.version}.{self._since(run, ask)}"

    def _message(self, kind: str, place: Place | None = None, **more: Any) -> bytes:
        """A message of the stream. Only whole things have a place to come back to."""
        head = f"id: {place}\n" if place else ""
        at = {"place": str(place)} if place else {}
        return f"{head}data: {json_line({'type': kind, **at, **more})}\n\n".encode()


def _sends(latest: Run) -> bool:
    """Whether a message that waits can be sent now."""
    return latest.state.ended or AGENTS[latest.agent].steers


def _is_awaited(ask: Ask) -> bool:
    return ask.state is State.PENDING and ask.wait is not None


def _heard_at(events: Sequence[RunEvent]) -> int:
    """When the agent was last heard of in these events; what it asks comes from elsewhere."""
    return max((event.at for event in events if event.kind not in _NOT_THE_AGENT), default=0)


def _last_whole(events: list[RunEvent]) -> int:
    """The number of the last event before a text that is still being written."""
    seq = 0
    for event in events:
        if event.kind is EventKind.DELTA:
            return seq
        seq = event.seq
    return seq


def _partial(text: str) -> Markup:
    return fragment("partial.html", text=text)


def _is_earlier(event: RunEvent) -> bool:
    """Whether it was said before the message that began its turn."""
    return event.kind is EventKind.ELSEWHERE and event.body.get("earlier") is True


def _is_after(run: Run, event: RunEvent) -> bool:
    """Whether it was noted when the turn was over."""
    return event.kind is EventKind.NOTICE and run.ended_at is not None and event.at > run.ended_at
