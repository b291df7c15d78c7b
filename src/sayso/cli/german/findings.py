"""What the doctor finds, and how commands of agents stand and end."""

from __future__ import annotations

from collections.abc import Mapping

SUBJECTS: Mapping[str, str] = {
    "versions": "Versionen",
    "settings": "Einstellungen",
    "state": "Zustand",
    "bell": "Klingel",
    "agents": "Agenten",
    "hook": "Hook",
    "tools": "Werkzeuge",
    "notifications": "Hinweise",
    "enforced": "gesichert",
    "not enforced": "nicht gesichert",
}

GROUND: Mapping[str, str] = {
    "{n} set by you; `sayso config` shows all": "{n} von Ihnen gesetzt; `sayso config` zeigt alle",
    "Fix that setting: Sayso does not start until then.": (
        "Berichtigen Sie diese Einstellung: Bis dahin startet Sayso nicht."
    ),
    "{folder} is not a folder.": "{folder} ist kein Ordner.",
    "Move that file away, or set SAYSO_STATE_DIR to another folder.": (
        "Verschieben Sie diese Datei, oder setzen Sie SAYSO_STATE_DIR auf einen anderen Ordner."
    ),
    "{folder} does not exist yet; it is made on first use.": (
        "{folder} gibt es noch nicht; er entsteht beim ersten Gebrauch."
    ),
    "{folder}: only {n} MB are free.": "{folder}: Nur {n} MB sind frei.",
    "Make room on that disk.": "Schaffen Sie Platz auf dieser Platte.",
    "Make room on the disk of {folder}.": "Schaffen Sie Platz auf der Platte von {folder}.",
    "{folder} is open to others ({mode}): they could read answers.": (
        "{folder} steht anderen offen ({mode}): Sie könnten Antworten lesen."
    ),
    "{folder} belongs to another user.": "{folder} gehört einem anderen Benutzer.",
    "{folder}, for you alone": "{folder}, nur für Sie",
    "{where} opens, and can be written": "{where} lässt sich öffnen und schreiben",
    "{where} opens, and can be written ({size} MB)": "{where} lässt sich öffnen und schreiben ({size} MB)",
    "A ring was not heard within {n} s.": "Ein Klingeln wurde nach {n} s noch nicht gehört.",
    "Find out what removes files in {folder}.": "Finden Sie heraus, was in {folder} Dateien entfernt.",
    "This system has no unix sockets: processes look at the store several times a second.": (
        "Dieses System hat keine Unix-Sockets: Prozesse sehen mehrmals in der Sekunde im Speicher nach."
    ),
    "A change is heard after {n} ms": "Eine Änderung ist nach {n} ms bekannt",
    "Move {file} away; the next start makes a new one. Your old data stays in that file.": (
        "Verschieben Sie {file}; der nächste Start legt eine neue an. Ihre alten Daten bleiben in jener Datei."
    ),
    "Install Sayso again, with '.[apprise]' in place of the dot.": (
        "Installieren Sie Sayso neu, mit '.[apprise]' statt des Punkts."
    ),
    "Update Sayso: git pull in the folder it came from, and install it again; in a checkout, make start.": (
        "Aktualisieren Sie Sayso: git pull im Ordner, aus dem es kam, und neu installieren; im Quellverzeichnis make "
        "start."
    ),
    "Check the address in `store` (sayso config shows where it is set), and that the server runs.": (
        "Prüfen Sie die Adresse in `store` (sayso config zeigt, wo sie steht) und ob der Server läuft."
    ),
    "Check {folder}, or set SAYSO_STATE_DIR to another folder.": (
        "Prüfen Sie {folder}, oder setzen Sie SAYSO_STATE_DIR auf einen anderen Ordner."
    ),
}

CONNECTIONS: Mapping[str, str] = {
    "No agent's client was found on this machine.": "Auf diesem Rechner wurde kein Client eines Agenten gefunden.",
    "No agent is connected, so nobody can ask you anything.": (
        "Kein Agent ist verbunden, also kann niemand Sie etwas fragen."
    ),
    "{client} is not connected.": "{client} ist nicht verbunden.",
    "{title} is connected: it starts {command}": "{title} ist verbunden: startet {command}",
    "Fix that file, then: {command}": "Berichtigen Sie diese Datei, dann: {command}",
    "Fix that file: Claude Code reads its hooks and permissions from it.": (
        "Berichtigen Sie diese Datei: Claude Code liest daraus seine Hooks und Erlaubnisse."
    ),
    "{variable} is {value}: long calls wait for your answer, also in a terminal": (
        "{variable} ist {value}: Lange Aufrufe warten auf Ihre Antwort, auch in einem Terminal"
    ),
    "{after} in a terminal moves to the background, and your answer then counts as no user input.": (
        "{after!t} geht im Terminal in den Hintergrund; Ihre Antwort gilt dann nicht als Ihre Eingabe."
    ),
    "A call of two minutes": "Ein Aufruf von zwei Minuten",
    "{variable} is {value}: a long call": "{variable} ist {value}: Ein langer Aufruf",
    "sayso install claude-code --foreground    (for all of its MCP servers)": (
        "sayso install claude-code --foreground    (für alle seine MCP-Server)"
    ),
    "{title}: the entry is switched off.": "{title}: Der Eintrag ist abgeschaltet.",
    "Switch it on in the client, or remove it.": "Schalten Sie ihn im Client ein, oder entfernen Sie ihn.",
    "{title} starts {command}, which is not there.": "{title} startet {command}; das gibt es nicht.",
    "{title} starts {command}, which is not Sayso.": "{title} startet {command}; das ist nicht Sayso.",
    "{title} starts {what}; this is {version}.": "{title} startet {what!t}; dies ist {version}.",
    "something that does not say which version it is": "etwas, das seine Version nicht nennt",
    "{client} has two different entries, yours and this project's; the project's holds here.": (
        "{client} hat zwei verschiedene Einträge, Ihren und den dieses Projekts; hier gilt der des Projekts."
    ),
    "Remove one: sayso uninstall {client}, or sayso uninstall {client} --project": (
        "Entfernen Sie einen: sayso uninstall {client}, oder sayso uninstall {client} --project"
    ),
    "{title} keeps its questions in {theirs}, but your inbox is {ours}.": (
        "{title} legt seine Fragen in {theirs} ab, aber Ihr Eingang ist {ours}."
    ),
    "SAYSO_STATE_DIR is set in this shell, and {title} does not know of it.": (
        "SAYSO_STATE_DIR ist in dieser Shell gesetzt, und {title} weiß nichts davon."
    ),
    "{title}: {given}, but a call is held {held}: the client gives up first.": (
        "{title}: {given!t}, aber ein Aufruf dauert bis zu {held!t}: Der Client gibt vorher auf."
    ),
    "it has no {key}": "hat kein {key}",
    "{key} is {n} s": "{key} ist {n} s",
    "for ever": "unbegrenzt",
    "{title} must be allowed each question at its own terminal, and refuses it where there is none.": (
        "{title} braucht für jede Frage eine Erlaubnis an seinem Terminal und lehnt sie ab, wo keines ist."
    ),
    "late answers reach Claude Code at its next step ({scope})": (
        "späte Antworten erreichen Claude Code beim nächsten Schritt ({scope})"
    ),
    "{file} runs {program}, which is not there.": "{file} startet {program}; das gibt es nicht.",
    "started as {client} would, speaks MCP {version} ({n} ms)": (
        "gestartet wie von {client}, spricht MCP {version} ({n} ms)"
    ),
    "lists {n} tools: {names} ({ms} ms)": "zeigt {n} Werkzeuge: {names} ({ms} ms)",
    "asked, and the question was in your inbox ({n} ms)": "gefragt, und die Frage war in Ihrem Eingang ({n} ms)",
    "answered, and the agent received it ({n} ms)": "beantwortet, und der Agent hat es empfangen ({n} ms)",
    "After {n} of 4 steps: {why}.": "Nach {n} von 4 Schritten: {why!t}.",
    "After {n} of 4 steps: {why}. The server said: {said}": (
        "Nach {n} von 4 Schritten: {why!t}. Der Server sagte: {said}"
    ),
    "the agent received {given} instead of the answer": "der Agent hat {given} statt der Antwort empfangen",
    "it shows no tool that asks a person, only {names}": "er zeigt kein Werkzeug zum Fragen, nur {names}",
    "the question did not arrive in your inbox: the server uses another store": (
        "die Frage kam nicht in Ihren Eingang: Der Server benutzt einen anderen Speicher"
    ),
    "nothing came within {n} s": "nach {n} s kam nichts",
    "sayso install {client}, then look again": "sayso install {client}, dann noch einmal",
}

SURROUNDINGS: Mapping[str, str] = {
    "agents get {tools} from {files}": "Agenten bekommen {tools!t} aus {files!t}",
    "There are no tool files here, so agents get no commands.": (
        "Hier gibt es keine Werkzeugdateien, also bekommen Agenten keine Befehle."
    ),
    "Fix that line; `sayso tools validate` checks it again.": (
        "Berichtigen Sie diese Zeile; `sayso tools validate` prüft sie wieder."
    ),
    "None are set up: you hear of a question only while an inbox is open, or from the agent's own form.": (
        "Keine eingerichtet: Von einer Frage erfahren Sie nur, solange ein Eingang offen ist, oder vom Agenten selbst."
    ),
    "See docs/notifications.md, for example notify_command.": "Siehe docs/notifications.md, etwa notify_command.",
    "notify_command runs {program}": "notify_command startet {program}",
    "notify_command is {program}, which is not there.": "notify_command ist {program}; das gibt es nicht.",
    "Correct it, or install it.": "Berichtigen oder installieren Sie es.",
    "notify_url: {host} can be reached": "notify_url: {host} ist erreichbar",
    "notify_url: {host} cannot be reached ({error}).": "notify_url: {host} ist nicht erreichbar ({error}).",
    "Check the address and the network.": "Prüfen Sie die Adresse und das Netz.",
    "apprise is there": "apprise ist da",
    "notify_apprise needs one more package.": "notify_apprise braucht ein weiteres Paket.",
    "the web inbox is served at {address}": "der Eingang im Browser ist unter {address}",
    "Another program listens on port {port}, where the web inbox should.": (
        "Auf Port {port}, wo der Eingang im Browser sein soll, hört ein anderes Programm."
    ),
    "Set web_port to another number, or to 0 for any that is free.": (
        "Setzen Sie web_port auf eine andere Zahl, oder auf 0 für irgendeinen freien."
    ),
    "port {port} is free for `sayso web`": "Port {port} ist frei für `sayso web`",
    "No browser can be opened here: `sayso web` prints a link for one elsewhere.": (
        "Hier lässt sich kein Browser öffnen: `sayso web` gibt einen Link für einen anderen aus."
    ),
    "A question is settled once, by the first valid answer. Silence is never an answer.": (
        "Eine Frage wird einmal entschieden, durch die erste gültige Antwort. Schweigen ist nie eine Antwort."
    ),
    "A project's own settings cannot choose your store, your notifications or your inbox.": (
        "Die Einstellungen eines Projekts können Speicher, Hinweise und Eingang nicht bestimmen."
    ),
    "Commands stay in the project and command_roots; secrets in their output are {secrets}.": (
        "Befehle bleiben im Projekt und in command_roots; Geheimnisse in ihrer Ausgabe werden {secrets!t}."
    ),
    "hidden": "verborgen",
    "shown (mask_output is off)": "gezeigt (mask_output ist aus)",
    "Tool files of a project {tools}. Commands have all of your rights: no sandbox.": (
        "Werkzeugdateien eines Projekts {tools!t}. Befehle haben alle Ihre Rechte: keine Sandbox."
    ),
    "run as you": "laufen mit Ihren Rechten",
    "are not used (tools_from_project is off)": "werden nicht benutzt (tools_from_project ist aus)",
    "An agent with a shell of yours can do what you can. That it cannot answer itself from a command line guards "
    "against accidents; the wall is the web inbox on an account that it does not have.": (
        "Ein Agent mit Ihrer Shell kann, was Sie können. Dass er sich auf der Befehlszeile nicht selbst antworten "
        "kann, schützt vor Versehen; die Mauer ist der Eingang im Browser auf einem Konto, das er nicht hat."
    ),
}

OPERATIONS: Mapping[str, str] = {
    "{tool} (operation {id}) is queued.": "{tool} (Vorgang {id}) ist in der Warteschlange.",
    "{tool} (operation {id}) has been running for {span}.": "{tool} (Vorgang {id}) läuft seit {span}.",
    "{tool} (operation {id}) has been running for {span}. It is being stopped by {person}.": (
        "{tool} (Vorgang {id}) läuft seit {span} und wird beendet von {person}."
    ),
    "{tool} (operation {id}) succeeded after {span}.": "{tool} (Vorgang {id}) ist nach {span} gelungen.",
    "{tool} (operation {id}) succeeded after {span}. {told}": (
        "{tool} (Vorgang {id}) ist nach {span} gelungen. {told!t}"
    ),
    "All {n} steps are done.": "Alle {n} Schritte sind fertig.",
    "{tool} (operation {id}) was cancelled after {span}.": "{tool} (Vorgang {id}) wurde nach {span} abgebrochen.",
    "{tool} (operation {id}) was cancelled by {person} after {span}.": (
        "{tool} (Vorgang {id}) wurde nach {span} abgebrochen von {person}."
    ),
    "{tool} (operation {id}) failed after {span}.": "{tool} (Vorgang {id}) ist nach {span} fehlgeschlagen.",
    "{tool} (operation {id}) failed after {span}. {told}": (
        "{tool} (Vorgang {id}) ist nach {span} fehlgeschlagen. {told!t}"
    ),
    "{tool} (operation {id}) failed with exit code {code} after {span}.": (
        "{tool} (Vorgang {id}) ist nach {span} mit Exit-Code {code} fehlgeschlagen."
    ),
    "{tool} (operation {id}) failed with signal {signal} after {span}.": (
        "{tool} (Vorgang {id}) ist nach {span} durch Signal {signal} fehlgeschlagen."
    ),
    "{tool} (operation {id}) was lost. {told}": "{tool} (Vorgang {id}) ging verloren. {told!t}",
    "{tool} (operation {id}) timed out: it was stopped when its time limit of {span} was over.": (
        "{tool} (Vorgang {id}) wurde beendet, als seine Zeit von {span} um war."
    ),
}

FINDINGS = {**SUBJECTS, **GROUND, **CONNECTIONS, **SURROUNDINGS, **OPERATIONS}
