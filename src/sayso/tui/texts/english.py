"""Every text of the terminal inbox, in English: the catalogue that other languages translate.

`{names}` are filled in with `str.format`. A text that is left out of a translation stays English.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Texts:
    """The catalogue. Fields named `do_…` are what keys do, for the key bar, the help and the palette."""

    # Counting
    now: str = "now"
    one_question: str = "1 question"
    questions: str = "{n} questions"
    one_waiting: str = "1 waiting"
    waiting: str = "{n} waiting"
    left_open: str = "{n} left open"
    none_waiting: str = "nobody is waiting"
    newest: str = "new: {headline}"

    # How an ask stands, in a word or two
    stands_waiting: str = "waiting"
    stands_until: str = "{span} left"
    stands_unattended: str = "agent not waiting"
    stands_timed_out: str = "timed out"
    stands_draft: str = "draft"
    stands_new: str = "new"
    state_pending: str = "open"
    state_answered: str = "answered"
    state_rejected: str = "rejected"
    state_declined: str = "declined"
    state_cancelled: str = "cancelled"
    state_timed_out: str = "timed out"
    state_superseded: str = "superseded"
    state_expired: str = "expired"
    late: str = "late"
    unknown_client: str = "an agent"
    unknown_project: str = "no project"

    # The truth about the ask on the screen
    truth_unattended: str = (
        "The agent is not waiting any more. You can still answer: it gets your answer when it asks the same again."
    )
    truth_timed_out: str = (
        "The agent's wait ran out. You can still answer, late: it gets your answer when it asks the same again."
    )
    truth_settled: str = (
        "Already {state} by {person} in {surface}, {when}. What you entered was not sent; it is kept here."
    )
    truth_superseded: str = "A newer question took the place of this one. What you entered is kept here."
    truth_expired: str = "Nobody answered for so long that this expired. What you entered is kept here."
    truth_missing: str = "This is no longer in the store. What you entered is kept here."
    trouble: str = "The store cannot be reached since {when}. Nothing is lost; trying again every second. {error}"

    # The inbox
    empty: str = "No questions. They appear here the moment an agent asks."
    empty_filtered: str = "Nothing here fits the filter."
    loading: str = "Looking for questions…"
    filter_hint: str = "filter: words in project, agent or question"
    only_project: str = "project {project}"
    oldest_first: str = "oldest first"
    asked_in: str = "{client} in {project} on {host}"

    # Answering
    question_n: str = "Question {n}"
    review: str = "Review"
    recommended: str = "recommended"
    optional: str = "optional"
    pick_one: str = "choose one"
    pick_some: str = "choose any number"
    yes: str = "Yes"
    no: str = "No"
    other: str = "Other: my own words"
    answer_hint: str = "Write your answer. {newline} begins a new line."
    other_hint: str = "Your own answer. {newline} begins a new line."
    note_hint: str = "A note to go with this answer."
    note: str = "Note"
    skipped: str = "skipped"
    missing: str = "needs an answer"
    not_answered: str = "not answered"
    cut: str = "… {n} more characters. {key} shows the whole text."
    review_title: str = "Check your answers. {key} sends them."
    must_answer: str = "Question {n} needs an answer before this can be sent."
    sent: str = "Sent to {client}."
    sent_unattended: str = "Kept for {client}: it gets your answer when it asks the same again."
    rejected: str = "Rejected. {client} is told so."
    asked_back: str = "{client} is asked to explain."
    not_sent: str = "Not sent: {error}"
    no_other_ask: str = "There is no other question."

    # Dialogs
    reject_one: str = "Reject this question?"
    reject_all: str = "Reject all {n} questions?"
    reject_hint: str = "Why? The agent is told. You can leave this empty."
    elaborate_title: str = "Ask the agent to explain question {n}"
    elaborate_hint: str = "What is unclear? You can leave this empty."
    elaborate_about: str = "This ends the question; the agent can ask again, better."
    confirm: str = "{key} confirms"
    go_back: str = "{key} goes back"
    quit_again: str = "Press {key} once more to quit. Drafts are kept."

    # History
    history_title: str = "History"
    history_hint: str = "search in questions and answers"
    history_empty: str = "Nothing has ended yet."
    history_none: str = "Nothing found."
    history_by: str = "{state} by {person} in {surface}"
    history_reason: str = "Reason: {reason}"
    history_wiped: str = "The texts were not kept."
    history_delivered: str = "received by the agent {when}"
    history_undelivered: str = "not yet received by the agent"
    history_events: str = "What happened"
    opened: str = "opened"
    attended: str = "the agent waits again"
    unattended: str = "the agent stopped waiting"
    delivered: str = "received by the agent"
    refused: str = "an answer was refused"

    # Being told, copying, other programs
    told_one: str = "{client} in {project} asks"
    told_many: str = "{n} new questions"
    copied: str = "Copied."
    no_program: str = "{program} could not be started: {error}"
    editor_marker: str = "What follows is not part of your answer. You are answering:"

    # Help and palette
    help_title: str = "Keys"
    help_everywhere: str = "Everywhere"
    help_lists: str = "In lists"
    help_inbox: str = "Inbox"
    help_answer: str = "Answering"
    help_history: str = "History"
    help_field: str = "While typing"
    help_fixed: str = "1-9 chooses an option by its number; y and n answer yes or no."
    help_rebind: str = "Every key can be changed in the table [keys] of {file}."
    palette_hint: str = "What do you want to do?"
    palette_theme: str = "Colours: {theme}"
    theme_auto: str = "automatic"
    theme_dark: str = "dark"
    theme_light: str = "light"
    theme_contrast: str = "high contrast"
    theme_terminal: str = "as your terminal has them"

    # What keys do
    do_help: str = "help"
    do_palette: str = "commands"
    do_quit: str = "quit"
    do_interrupt: str = "copy the selection, or quit when pressed twice"
    do_suspend: str = "back to the shell for a while"
    do_leave: str = "quit"
    do_up: str = "up"
    do_down: str = "down"
    do_first: str = "to the first"
    do_last: str = "to the last"
    do_page_up: str = "a page up"
    do_page_down: str = "a page down"
    do_open: str = "open"
    do_filter: str = "filter"
    do_project: str = "project"
    do_order: str = "newest or oldest first"
    do_history: str = "history"
    do_reject: str = "reject"
    do_copy: str = "copy"
    do_whole: str = "whole text in your pager"
    do_choose: str = "choose"
    do_submit: str = "send"
    do_mark: str = "mark"
    do_next: str = "next"
    do_previous: str = "previous"
    do_accept: str = "accept recommended"
    do_other: str = "own words"
    do_note: str = "note"
    do_skip: str = "skip"
    do_elaborate: str = "ask to explain"
    do_editor: str = "editor"
    do_send: str = "review, send"
    do_next_ask: str = "next ask"
    do_previous_ask: str = "previous ask"
    do_back: str = "back"
    do_read_up: str = "scroll the question up"
    do_read_down: str = "scroll the question down"
    do_outcome: str = "outcome"
    do_search: str = "search"
    do_done: str = "done, go on"
    do_newline: str = "new line"
