"""The command line follows the language setting: people read German, programs and agents what they always read."""

from __future__ import annotations

import json
import string
from inspect import cleandoc

import click
import pytest
from tests.cli import spoken_texts
from tests.cli.program import Home, choice, confirm, text
from tests.cli.pseudo_terminal import Terminal
from tests.cli.test_allow import PUSH
from tests.test_pictures import PNG

from sayso.cli.help_words import on_one_line
from sayso.cli.texts import german_texts

GERMAN = {english: german for texts in german_texts().values() for english, german in texts.items()}
DE = {"SAYSO_LANGUAGE": "de"}
PUT_TOGETHER = {"Options", "Commands", "Example:", "Show this message and exit."}
"""What click says, beside its errors."""


def holes(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


# The catalogue


def test_every_marked_text_has_german() -> None:
    assert {text: where for text, where in spoken_texts.marked().items() if text not in GERMAN} == {}


def test_nothing_is_shown_that_is_not_marked() -> None:
    assert spoken_texts.unmarked() == []


def test_every_help_text_has_german() -> None:
    assert sorted(spoken_texts.helps() - GERMAN.keys()) == []


def test_no_german_help_is_cut_off_in_the_list_of_commands() -> None:
    firsts = [cleandoc(command.help or "").split("\n\n")[0] for command in spoken_texts.commands()]
    shown = [click.Command("x", help=GERMAN[on_one_line(first)]).get_short_help_str(limit=66) for first in firsts]
    assert [text for text in shown if text.endswith("...")] == []


def test_every_error_and_finding_that_people_read_has_german() -> None:
    known = {spoken_texts.plain(english) for english in GERMAN}
    assert {text: where for text, where in spoken_texts.raised().items() if text not in known} == {}


def test_every_word_for_a_state_has_german() -> None:
    assert spoken_texts.words() - GERMAN.keys() == set()


def test_no_german_is_left_over_from_a_text_that_is_gone() -> None:
    code = spoken_texts.everything() + "\n".join(spoken_texts.helps())
    left = [english for english in GERMAN if spoken_texts.longest_piece(english) not in code]
    of_others = ("errors: click", "errors: system", "findings: operations")
    assert set(left) <= {english for name in of_others for english in german_texts()[name]} | PUT_TOGETHER


def test_german_takes_the_same_values_as_english() -> None:
    for english, german in GERMAN.items():
        # A text that shows JSON or a table has braces of its own, and is never filled in.
        if "{" in english and not any(brace in english for brace in ('{"', "{cursor")):
            assert holes(english) == holes(german), english


# The program


def test_the_list_and_an_ask_are_shown_in_german(home: Home) -> None:
    ask = home.leave(choice("Which database?"), text(id="2"))
    listed = home.run("list", **DE)
    assert "ALTER" in listed.out
    assert "wartet nicht" in listed.out
    assert "Which database? (+1 weitere)" in listed.out
    assert f"Beantworten: sayso answer {ask.id[:8]}    Alles dazu: sayso show {ask.id[:8]}" in listed.err
    shown = home.run("show", ask.id, "--events", **DE).out
    assert "Status  wartet nicht: der Agent wartet gerade nicht" in shown
    assert "eine auswählen, oder eigene Worte" in shown
    assert "geöffnet: neu → offen" in shown
    (home.project / "empty").mkdir()
    assert home.run("list", "--project", "empty", **DE).err == "In empty warten keine Fragen.\n"


def test_what_programs_read_is_the_same_in_every_language(home: Home) -> None:
    ask = home.leave(choice())
    for words in (["list", "--json"], ["show", ask.id, "--events", "--json"], ["config", "--json"]):
        english, german = home.run(*words), home.run(*words, LANG="de_DE.UTF-8")
        assert (german.code, german.out) == (english.code, english.out)
    assert home.run("answer", ask.id, "#3", **DE).code == home.run("answer", ask.id, "#3").code == 2


@pytest.mark.parametrize(
    "env",
    [
        {"CLAUDECODE": "1", "LANG": "de_DE.UTF-8"},
        {"LANG": "fr_FR.UTF-8"},
        {"LANG": "de_DE.UTF-8", "SAYSO_LANGUAGE": "en"},
    ],
    ids=["in an agent's shell", "in a language that it does not speak", "when English is set"],
)
def test_it_speaks_english(home: Home, env: dict[str, str]) -> None:
    assert home.run("list", **env).err.startswith("No questions are waiting.")


def test_the_persons_settings_file_says_the_language(home: Home) -> None:
    file = home.folder / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('language = "de"\n')
    assert home.run("list").err.startswith("Es warten keine Fragen.")
    file.write_text('language = "de"\nthem = "dark"\n')
    assert home.run("list").err == f"Fehler: {file}: Die Einstellung 'them' gibt es nicht. War theme gemeint?\n"


def test_prompts_are_german_and_take_a_german_yes(home: Home) -> None:
    ask = home.leave(choice(), confirm(id="2"), text(id="3"))
    with Terminal(home, "answer", ask.id[:8], SAYSO_LANGUAGE="de") as terminal:
        assert "claude-code in ~/project hat 3 Fragen an Sie." in terminal.expect("/q lässt sie offen")
        terminal.reply("Nummer, Bezeichnung oder eigene Worte: ", "7")
        terminal.reply("#7 gibt es nicht; zur Wahl stehen #1 bis #2.", "2")
        terminal.reply("y für ja, n für nein: ", "ja")
        terminal.reply("eine leere Zeile beendet sie: ", "Darum")
        terminal.type("")
        assert "PostgreSQL" in terminal.expect("Senden?")
        terminal.type("y")
        assert terminal.end() == 0
        assert "Beantwortet. Der Agent wartet gerade nicht" in terminal.screen
    assert [(answer.chosen, answer.text) for answer in home.answers(ask)] == [
        (("2",), None),
        (("yes",), None),
        ((), "Darum"),
    ]
    settled = home.run("answer", ask.id, "SQLite", **DE)
    assert settled.code == 4
    assert settled.err.startswith("Fehler: Schon beantwortet von ada (Befehlszeile), ")


def test_a_permission_is_decided_by_the_same_letters_in_german(home: Home) -> None:
    with home.permission(PUSH) as ask, Terminal(home, "allow", ask.id, SAYSO_LANGUAGE="de") as terminal:
        assert "Shell-Befehl" in terminal.expect("y erlaubt es, alles andere lässt es offen: ")
        terminal.type("j")
        terminal.expect("Nichts wurde entschieden.")
        assert terminal.end() == 1
        assert home.ask_of(ask).outcome is None


def test_a_german_yes_is_no_yes_in_english(home: Home) -> None:
    ask = home.leave(confirm())
    assert home.run("answer", ask.id, "ja").code == 2
    assert home.run("answer", ask.id, "jo", **DE).err.startswith("Fehler: Frage 1: Erlaubt sind ja und nein")
    assert home.run("answer", ask.id, "ja", **DE).code == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["show", "abc"], "Keine Anfrage hat die ID 'abc'. `sayso list` zeigt die offenen"),
        (["show"], "'ID' fehlt."),
        (["inbox"], "Den Befehl 'inbox' gibt es nicht. Ihr Posteingang öffnet sich mit sayso allein."),
        (["lst"], "Den Befehl 'lst' gibt es nicht. War list gemeint?"),
        (["list", "--limit", "0"], "Ungültiger Wert für '--limit': 0 liegt nicht im Bereich x>=1."),
        (["list", "--limit", "x"], "Ungültiger Wert für '--limit': 'x' ist keine ganze Zahl."),
        (["list", "--alle"], "Die Option '--alle' gibt es nicht."),
        (["list", "more"], "Überzähliges Argument: more"),
        (["list", "--project", "/nowhere"], "--project: hier gibt es keinen Ordner /nowhere, und von keinem ist etwas"),
        (["trust", "/nowhere"], "DIR|FILE: es gibt weder Datei noch Ordner /nowhere."),
        (["completion", "ksh"], "Ungültiger Wert für 'SHELL': 'ksh' ist keines von 'bash', 'zsh', 'fish'."),
        (["ask", "Why?", "--timeout", "soon"], "'soon' ist falsch; nötig ist eine Zeit wie \"90s\""),
        (["install", "curser"], "Den Client 'curser' gibt es nicht. War cursor gemeint?"),
        (["tools", "run", "git_stat"], "Das Werkzeug 'git_stat' gibt es hier nicht. `sayso tools list` zeigt sie."),
        (["config", "set", "language", "xx"], "language ist 'xx'; nötig ist eines von auto, en, de."),
        (["user", "revoke", "bob"], "Den Benutzer 'bob' gibt es nicht."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_are_german(home: Home, arguments: list[str], error: str) -> None:
    german, english = home.run(*arguments, **DE), home.run(*arguments)
    assert german.code == english.code
    assert f"Fehler: {error}" in german.err or error in german.err
    assert "Error" not in german.err
    assert "Usage" not in german.err


def test_what_is_wrong_with_a_file_that_goes_with_an_answer_is_told_in_german(home: Home) -> None:
    ask = home.leave(choice())
    for name, data in (("empty.txt", b""), ("photo.heic", b"\0\0\0\x18ftypheic"), ("half.png", PNG[:30])):
        (home.project / name).write_bytes(data)
    for name, error in (
        ("nowhere.png", "lässt sich nicht lesen: Die Datei gibt es nicht. Nennen Sie eine Datei, die es gibt."),
        (".", "lässt sich nicht lesen: das ist keine gewöhnliche Datei."),
        ("empty.txt", "ist leer. Wählen Sie eine andere Datei."),
        ("photo.heic", "ist ein Foto in HEIC, AVIF oder TIFF"),
        ("half.png", "höchstens 16,000 Bildpunkte an einer Seite und 50 Millionen insgesamt. Verkleinern Sie es."),
    ):
        ran = home.run("answer", ask.id, "SQLite", "--attach", name, **DE)
        assert (ran.code, error in ran.err) == (2, True), ran.err
    for name, size in (("a.txt", 900), ("b.txt", 901), ("c.txt", 1001)):
        (home.project / name).write_text("x" * size)
    for files, setting, value, error in (
        ("ab", "SAYSO_ATTACHMENTS", "1", "höchstens 1 gehen mit einer Antwort."),
        ("ab", "SAYSO_ATTACHMENTS_BYTES", "1000", "macht sie zu groß"),
        ("c", "SAYSO_ATTACHMENTS_BYTES", "1000", "ist größer als 0.001 MB."),
    ):
        attached = [word for name in files for word in ("--attach", f"{name}.txt")]
        ran = home.run("answer", ask.id, "SQLite", *attached, **DE, **{setting: value})
        assert (ran.code, error in ran.err) == (2, True), ran.err


def test_help_is_german_for_every_command(home: Home) -> None:
    top = home.run("--help", **DE).out
    assert top.startswith("Aufruf: sayso [OPTIONEN] [BEFEHL] [ARGUMENTE]...\n")
    assert "Anfragen zeigen, die sich beantworten lassen." in top
    assert "Diese Hilfe zeigen." in top
    below = home.run("list", "--help", **DE).out
    assert "Nur die Anfragen dieses Projekts." in below
    assert "[Vorgabe: 20; x>=1]" in home.run("history", "--help", **DE).out
    assert "Beispiel:\n    sayso list\n" in below
    for english in ("Usage", "Options", "Example", "Show ", "default"):
        assert english not in top + below


def test_what_becomes_of_a_command_is_told_in_german(home: Home) -> None:
    wrote = home.run("tools", "init", "git", **DE)
    assert "Verbundene Agenten sehen sie sofort." in wrote.err
    ran = home.run("tools", "run", "git_status", GIT_CEILING_DIRECTORIES=str(home.folder), **DE)
    assert ran.code == 1
    assert "mit Exit-Code 128 fehlgeschlagen." in ran.err
    listed = home.run("ops", "list", **DE)
    assert "fehlgeschlagen" in listed.out
    assert "Ansehen: sayso ops show" in listed.err


def test_the_doctor_speaks_german_and_its_json_does_not(home: Home) -> None:
    ran = home.run("doctor", **DE)
    assert "Schweigen ist nie eine Antwort." in ran.out
    assert ran.out.splitlines()[-1].endswith(("Warnung.", "Warnungen.")) or "Nichts ist kaputt." in ran.out
    texts = [finding["text"] for finding in json.loads(home.run("doctor", "--json", **DE).out)["findings"]]
    assert "A question is settled once, by the first valid answer. Silence is never an answer." in texts
