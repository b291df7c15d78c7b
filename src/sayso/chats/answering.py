"""What a press or words from a chat do: plain code, each settled in one transaction before anybody is told.

Whatever does not come from the linked person whom it was sent to, about the very thing that was shown, changes nothing,
and whoever sent it is told so.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, answers, from_json, to_json
from sayso.asks.mark import mark
from sayso.asks.model import Answer, Ask, Settler
from sayso.asks.quorum import is_shown_to
from sayso.chats import questions, wording
from sayso.chats.desk import MESSAGE_LIFE, ChatDesk, as_code
from sayso.chats.kinds import adapter_of
from sayso.chats.model import ChatKind, ChatLink, ChatSaid, Pressed, SentMessage, Wrote
from sayso.chats.tokens import opened
from sayso.clock import Clock, now_ms
from sayso.errors import AlreadySettled, CalledOff, InvalidInput, NotFound
from sayso.guessing import Failures
from sayso.permissions.action import AllowScope
from sayso.permissions.desk import PermissionDesk
from sayso.text import one_line

NOT_OURS = "This button is not known here. Nothing was changed."
NOT_YOURS = "This is not for you, or not from here. Nothing was changed."
TOO_OLD = "This button is too old. Nothing was changed: answer in your inbox."
OTHER_NOW = "What is asked has changed since. Nothing was changed by this."
BEGUN = "You began to answer this in your inbox. Nothing was changed: go on there."
SETTLED = "This is settled already. Nothing was changed."
LOOK_FIRST = "Look at all of it, then confirm."
TOO_QUICK = "That was quicker than anybody reads. Press again to allow it."
SENT = "Sent."
NOTED = "Noted. Nothing is sent yet."
LOOK_AT_ALL = "Look at all of it, then press Send again."
ENTERED_SINCE = "What you entered has changed since. Nothing was sent: look at all of it again."
WHICH_ANSWER = "Press the answer that you want to change, then write."
YES_NOTED = "Your yes is recorded. Others have to agree too."
WHO_ARE_YOU = "I do not know you yet. Make a code where Sayso runs, with `sayso chat link`, and send it to me."
WRONG_CODE = "This code is wrong, was used or is too old. Make another with `sayso chat link`."
WAIT = "Too many wrong codes. Wait a few minutes."
NOT_HERE = "I write to one person at a time. Send me the code in a private chat."
WHICH = "Which question do you mean? Reply to its message."
OR_A_CODE = f"{WHICH} If this is a code: you are linked here already. Send /stop first, then the code."
FORWARDED = "Forwarded messages change nothing here. Write it yourself."
PRESS = "This one takes no words. Press one of its buttons."
NOT_WHOLE = "This cannot be answered in a chat. Answer it in your inbox."
UNLINKED = "You are not told anything here any more."
READING_MS = 700
"""Between the two presses that allow something."""
CONFIRM_LIFE = 10 * 60_000
"""How long after the first of them the second one counts."""
_WRONG_CODES, _OF_ALL, _WINDOW = 5, 100, 15 * 60.0
_LABEL = 80
_STOP = ("/stop", "stop", "unlink")


class ChatAnswers:
    """Answers from the chats of one store."""

    def __init__(
        self, chats: ChatDesk, asks: AskDesk, permissions: PermissionDesk, key: bytes, clock: Clock = now_ms
    ) -> None:
        self._chats, self._asks, self._permissions, self._key, self._clock = chats, asks, permissions, key, clock
        self._wrong, self._wrong_of_all = Failures(_WRONG_CODES, _WINDOW), Failures(_OF_ALL, _WINDOW)
        self._strangers = Failures(_WRONG_CODES, _WINDOW)

    # Buttons

    def pressed(self, kind: ChatKind, press: Pressed) -> ChatSaid:
        chosen = opened(self._key, press.token)
        if chosen is None and kind is ChatKind.NTFY and (link := self._chats.redeem(kind, press.token)):
            return ChatSaid(text=_you_are(link), room=link.room)
        message = self._chats.message(chosen.message) if chosen else None
        if chosen is None or message is None:
            return ChatSaid(text=NOT_OURS)
        link = next((each for each in self._chats.links_in(kind) if each.id == message.link), None)
        if link is None or not _is_from(kind, press, link, message):
            return ChatSaid(text=NOT_YOURS)
        return self._of_link(kind, link, message, press, chosen.choice)

    def _of_link(self, kind: ChatKind, link: ChatLink, message: SentMessage, press: Pressed, choice: str) -> ChatSaid:
        if not message.place and press.place:
            self._chats.note_place(message.id, press.place)

        def said(text: str) -> ChatSaid:
            return ChatSaid(text=text, message=message.id, room=link.room, shown=text in (SENT, NOTED, LOOK_FIRST, ""))

        if message.created_at < self._clock() - MESSAGE_LIFE:
            return said(TOO_OLD)
        by = Settler(person=link.user, surface=kind.label, attempt=f"{kind} {press.id}")
        return said(self._settled(message, link, lambda ask: self._do(kind, ask, message, choice, by)))

    def _settled(self, message: SentMessage, link: ChatLink, work: Callable[[Ask], str]) -> str:
        """Do it with the ask as it is now, if that is what was shown; what is said of it."""
        try:
            ask = self._asks.get(message.ask)
        except NotFound:
            return SETTLED
        if not is_shown_to(ask, link.user):
            return NOT_YOURS
        if ask.state.answerable and mark(ask) != message.shown:
            return OTHER_NOW
        if ask.state.answerable and not questions.can_go_on(ask, self._draft(ask, link.user)):
            return BEGUN
        try:
            return work(ask)
        except CalledOff:  # this very press came once before, and had its effect
            return SENT
        except (AlreadySettled, InvalidInput) as error:
            return str(error)

    def _do(self, kind: ChatKind, ask: Ask, message: SentMessage, choice: str, by: Settler) -> str:
        """What was sent by an earlier version may have shown more than anybody sees: that is denied, or opened."""
        if ask.state.answerable and choice != wording.DENY and not _shows_all(kind, ask):
            return NOT_WHOLE
        if ask.is_permission:
            return self._decide(ask, message, choice, by)
        if questions.is_gone_through(ask):
            return self._go_on(ask, message, choice, by)
        picked = questions.picked(ask, choice)
        if picked is None:
            return NOT_OURS
        self._asks.answer(ask.id, [Answer(question=ask.questions[0].id, chosen=(picked.id,))], by)
        return SENT

    def _go_on(self, ask: Ask, message: SentMessage, choice: str, by: Settler) -> str:
        """A press in an ask of several questions. All answers are sent by one that stood below them, and only once
        there was time to read them."""
        if not ask.state.answerable:
            self._asks.answer(ask.id, (), by)  # says who was first
        draft = self._draft(ask, by.person)
        given = answers(ask, draft)
        if choice[0] != questions.SEND:
            after = questions.pressed(ask, draft, choice)
            return self._enter(ask, message, after, by) if after else NOT_OURS
        now, since = self._clock(), message.confirming_since
        is_shown = choice == questions.SEND + questions.seal(given)
        if not is_shown or since is None:
            self._chats.confirm(message.id, now)
            return LOOK_AT_ALL if is_shown else ENTERED_SINCE
        if now - since < READING_MS:
            return LOOK_AT_ALL
        self._asks.answer(ask.id, given, by)
        self._asks.keep_draft(ask.id, by.person, "")
        return SENT

    def _enter(self, ask: Ask, message: SentMessage, draft: Draft, by: Settler) -> str:
        self._asks.keep_draft(ask.id, by.person, to_json(ask, draft))
        self._chats.confirm(message.id, self._clock() if draft.step == len(ask.questions) else None)
        return NOTED

    def _draft(self, ask: Ask, person: str) -> Draft:
        return from_json(ask, self._asks.draft(ask.id, person))

    def _decide(self, ask: Ask, message: SentMessage, choice: str, by: Settler) -> str:
        """Allow it only by two presses, on a message that shows all of it."""
        now, since = self._clock(), message.confirming_since
        if not message.digest:
            return NOT_WHOLE
        match choice:
            case wording.DENY:
                self._permissions.deny(ask.id, by)
                return SENT
            case wording.ALLOW:
                self._chats.confirm(message.id, now)
                return LOOK_FIRST
            case wording.BACK:
                self._chats.confirm(message.id, None)
                return ""
            case wording.SURE:
                if since is None or since < now - CONFIRM_LIFE:
                    self._chats.confirm(message.id, now)
                    return LOOK_FIRST
                if now - since < READING_MS:
                    return TOO_QUICK
                after = self._permissions.allow(ask.id, message.digest, by, AllowScope.ONCE)
                if after.state.answerable:
                    self._chats.confirm(message.id, None)
                    return YES_NOTED
                return SENT
        return NOT_OURS

    # Words

    def wrote(self, kind: ChatKind, wrote: Wrote) -> ChatSaid:
        link, text = self._chats.link_of(kind, wrote.account), wrote.text.strip()
        first, _, rest = text.partition(" ")
        code = "" if wrote.answers else as_code(rest if first == "/start" else text)
        is_known = link is not None and link.room == wrote.room
        if wrote.forwarded:
            return ChatSaid(text=FORWARDED if is_known else self._to_stranger(kind, wrote, FORWARDED))
        if code and not is_known:
            return self._link(kind, code, wrote)
        if link is None or not is_known:
            return ChatSaid(text=self._to_stranger(kind, wrote, WHO_ARE_YOU))
        if text.lower() in _STOP:
            self._chats.unlink(link.id)
            return ChatSaid(text=UNLINKED)
        message = self._chats.message_at(link, wrote.answers) if wrote.answers else None
        if message is None:  # nobody who is linked is made somebody else by a code, nor told whether it is one
            return ChatSaid(text=OR_A_CODE if code else WHICH)
        by = Settler(person=link.user, surface=kind.label, attempt=f"{kind} {wrote.id}")
        said = self._settled(message, link, lambda ask: self._say(kind, ask, message, wrote.text, by))
        return ChatSaid(text=said, message=message.id)

    def _say(self, kind: ChatKind, ask: Ask, message: SentMessage, text: str, by: Settler) -> str:
        """Words count only where the message showed all that is asked."""
        if ask.is_permission:
            return PRESS
        if not text.strip() or not _shows_all(kind, ask):
            return NOT_WHOLE
        if questions.is_gone_through(ask):
            return self._note(ask, message, text, by)
        only = ask.questions[0]
        if not only.takes_own_text:
            return PRESS
        self._asks.answer(ask.id, [Answer(question=only.id, text=text)], by)
        return SENT

    def _note(self, ask: Ask, message: SentMessage, text: str, by: Settler) -> str:
        """Words about the question that the person is at. Said twice by the chat, they are not taken for the next."""
        if not ask.state.answerable:
            self._asks.answer(ask.id, (), by)  # says who was first
        draft = self._draft(ask, by.person)
        after = questions.wrote(ask, draft, text)
        if after is None:
            return WHICH_ANSWER if draft.step == len(ask.questions) else PRESS
        return self._enter(ask, message, after, by) if self._chats.is_first(by.attempt) else NOTED

    # Who somebody is

    def _to_stranger(self, kind: ChatKind, wrote: Wrote, text: str) -> str:
        """Told a few times only, so that nobody has us write on and on."""
        who = f"{kind} {wrote.account}"
        if not wrote.private or self._strangers.wait(who):
            return ""
        self._strangers.note(who)
        return text

    def _link(self, kind: ChatKind, code: str, wrote: Wrote) -> ChatSaid:
        who = f"{kind} {wrote.account}"
        if not wrote.private:
            return ChatSaid(text=NOT_HERE)
        if self._wrong.wait(who) or self._wrong_of_all.wait(kind):
            return ChatSaid(text=WAIT)
        label = one_line(wrote.label, _LABEL)
        link = self._chats.redeem(kind, code, wrote.account, wrote.room, label)
        if link is None:
            self._wrong.note(who)
            self._wrong_of_all.note(kind)
            return ChatSaid(text=WRONG_CODE)
        return ChatSaid(text=f"{_you_are(link)} Send /stop to end that.")


def _you_are(link: ChatLink) -> str:
    return f"You are {link.user} here from now on."


def _shows_all(kind: ChatKind, ask: Ask) -> bool:
    return wording.drawn(ask, adapter_of(kind).limits, "").whole


def _is_from(kind: ChatKind, press: Pressed, link: ChatLink, message: SentMessage) -> bool:
    """Whether it comes from the person and the very message that the button was given to. ntfy knows neither, so there
    it has to do that nobody else was sent what is sealed in the button."""
    if kind is ChatKind.NTFY:
        return True
    same_message = not message.place or press.place == message.place
    return press.account == link.account and press.room == link.room and same_message
