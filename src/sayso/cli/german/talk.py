"""What commands say themselves: lists, prompts, what happened, what to do next."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "pending": "offen",
    "answered": "beantwortet",
    "rejected": "abgelehnt",
    "declined": "ausgeschlagen",
    "cancelled": "abgebrochen",
    "timed out": "Zeit abgelaufen",
    "timed_out": "Zeit abgelaufen",
    "superseded": "ersetzt",
    "expired": "verfallen",
    "allowed": "erlaubt",
    "denied": "nicht erlaubt",
    "waiting": "wartet",
    "in its form": "im Formular",
    "at work": "Agent arbeitet",
    "not waiting": "wartet nicht",
    "queued": "in der Warteschlange",
    "running": "läuft",
    "completed": "gelungen",
    "failed": "fehlgeschlagen",
    "lost": "verloren",
    "added": "eingetragen",
    "changed": "geändert",
    "already there": "schon da",
    "removed": "entfernt",
    "restored": "wiederhergestellt",
    "was not there": "war nicht da",
    "new": "neu",
    "opened": "geöffnet",
    "attended": "Agent wartet wieder",
    "unattended": "Agent wartet nicht mehr",
    "resumed": "Sitzung fortgesetzt",
    "delivered": "vom Agenten empfangen",
    "refused": "nicht angenommen",
    "command line": "Befehlszeile",
    "terminal": "Terminal",
    "browser": "Browser",
    "now": "jetzt",
    "yes": "ja",
    "no": "nein",
    "Yes": "Ja",
    "No": "Nein",
}

ASKS: Mapping[str, str] = {
    "an agent": "ein Agent",
    "An agent": "Ein Agent",
    "someone": "jemand",
    "{agent} in {where}": "{agent} in {where}",
    "ID": "ID",
    "AGE": "ALTER",
    "STATUS": "STATUS",
    "CLIENT": "CLIENT",
    "PROJECT": "PROJEKT",
    "QUESTION": "FRAGE",
    "ENDED": "BEENDET",
    "OUTCOME": "AUSGANG",
    "QUESTION AND ANSWER": "FRAGE UND ANTWORT",
    "No questions are waiting.": "Es warten keine Fragen.",
    "No questions are waiting in {project}.": "In {project} warten keine Fragen.",
    "No questions are waiting. `sayso history` shows those that ended.": (
        "Es warten keine Fragen. `sayso history` zeigt die beendeten."
    ),
    "No questions are waiting. To get some:": "Es warten keine Fragen. So kommen welche:",
    "see it work with a sample agent": "mit einem Beispielagenten ausprobieren",
    "connect the agents on this machine": "die Agenten auf diesem Rechner verbinden",
    "check that it works": "prüfen, ob alles geht",
    "your inbox, here in the terminal": "Ihr Eingang, hier im Terminal",
    "your inbox, in a browser": "Ihr Eingang, im Browser",
    "… and {size} more of {agent}: --all shows each.": "… und {size} weitere von {agent}: --all zeigt jede.",
    "… and more: --limit shows more than {n}.": "… und weitere: --limit zeigt mehr als {n}.",
    "Answer one: sayso answer {id}    See all of it: sayso show {id}": (
        "Beantworten: sayso answer {id}    Alles dazu: sayso show {id}"
    ),
    "the agent waits for the answer": "der Agent wartet auf die Antwort",
    "the agent's client shows it in a form of its own; an answer from here arrives once that is closed": (
        "der Client des Agenten zeigt es in einem eigenen Formular; eine Antwort von hier kommt an, wenn das zu ist"
    ),
    "the agent went on without waiting; it gets the answer when it comes back for it": (
        "der Agent arbeitet weiter, ohne zu warten; er bekommt die Antwort, wenn er sie abholt"
    ),
    "no call of the agent waits now; it gets the answer when it asks the same again": (
        "der Agent wartet gerade nicht; er bekommt die Antwort, wenn er dasselbe wieder fragt"
    ),
    "can still be answered": "kann noch beantwortet werden",
    "No finished ask matches.": "Keine beendete Anfrage passt dazu.",
    "No ask has ended yet. `sayso list` shows the open ones.": (
        "Noch ist keine Anfrage beendet. `sayso list` zeigt die offenen."
    ),
    "(its texts were not kept)": "(die Texte wurden nicht aufgehoben)",
    "{first} (+{more} more)": "{first} (+{more} weitere)",
    "{span} ago": "vor {span}",
    "\n… ({n} more characters; --json shows all)": "\n… (noch {n} Zeichen; --json zeigt alles)",
    "\n… ({n} more lines; --json shows all)": "\n… (noch {n} Zeilen; --json zeigt alles)",
    "in your own words": "in eigenen Worten",
    "choose one, or use your own words": "eine auswählen, oder eigene Worte",
    "choose any, or use your own words": "beliebig viele auswählen, oder eigene Worte",
    "yes or no": "ja oder nein",
    "; optional": "; freiwillig",
    "   for example: ": "   zum Beispiel: ",
    " (recommended)": " (empfohlen)",
    "(skipped)": "(übersprungen)",
    "own words: ": "eigene Worte: ",
    "note: ": "Anmerkung: ",
    "  Reason: ": "  Grund: ",
    "Ask": "Anfrage",
    "Status": "Status",
    "Asked": "Gefragt",
    "From": "Von",
    "Call": "Aufruf",
    "Title": "Titel",
    "Limit": "Frist",
    "{call} of {tool}": "{call} von {tool}",
    "waits until {when}": "wartet bis {when}",
    "in {place}": "in {place}",
    "branch {branch}": "Branch {branch}",
    "on {host}": "auf {host}",
    "process {pid}": "Prozess {pid}",
    " by {person}": " von {person}",
    " in {place}": " in {place}",
    " by {person} in {place}": " von {person} ({place})",
    " through {client}'s own form": " über das eigene Formular von {client}",
    " through the client's own form": " über das eigene Formular des Clients",
    "the client": "dem Client",
    ", after the wait had timed out": ", nach Ablauf der Wartezeit",
    "The agent got it {when}.": "Der Agent hat es {when} empfangen.",
    "The agent has not fetched it yet.": "Der Agent hat es noch nicht abgeholt.",
    "Events": "Was geschah",
    "\nAnswer it: sayso answer {id}    Turn it down: sayso reject {id}": (
        "\nBeantworten: sayso answer {id}    Ablehnen: sayso reject {id}"
    ),
    "Nothing was sent. The ask stays open.": "Nichts wurde gesendet. Die Anfrage bleibt offen.",
    "{done}. The agent has your answer.": "{done}. Der Agent hat Ihre Antwort.",
    "{done}. The agent has been told.": "{done}. Der Agent weiß es.",
    "{done}. Waiting for the agent to fetch it.": "{done}. Der Agent hat es noch nicht abgeholt.",
    "{done}. The agent's client still shows its own form; the agent is told once that is closed.": (
        "{done}. Der Client des Agenten zeigt noch sein eigenes Formular; der Agent erfährt es, wenn das zu ist."
    ),
    "{done}. The agent went on without waiting; it is told when it comes back for this.": (
        "{done}. Der Agent arbeitet weiter, ohne zu warten; er erfährt es, wenn er es abholt."
    ),
    "{done}. The agent is not waiting now; it will be told when it asks again.": (
        "{done}. Der Agent wartet gerade nicht und erfährt es, wenn er wieder fragt."
    ),
    "{asker} has a question for you.": "{asker} hat eine Frage an Sie.",
    "{asker} has {n} questions for you.": "{asker} hat {n} Fragen an Sie.",
    "At any prompt /b goes back, /r rejects the whole ask, /q leaves it open.": (
        "Jederzeit geht /b zurück, /r lehnt die ganze Anfrage ab, /q lässt sie offen."
    ),
    "Your answer; an empty line ends it": "Ihre Antwort; eine leere Zeile beendet sie",
    "Number, label or own words": "Nummer, Bezeichnung oder eigene Worte",
    "Numbers or labels with commas between, or own words": (
        "Nummern oder Bezeichnungen mit Kommas dazwischen, oder eigene Worte"
    ),
    "y or n": "y für ja, n für nein",
    " (empty skips)": " (leer überspringt)",
    "y allows it": "y erlaubt es",
    "n denies it": "n verweigert es",
    "It takes y or n.": "Erlaubt sind y (ja) und n (nein).",
    "It takes y or n, not {given}. /r says no with a reason.": (
        "Erlaubt sind y und n, nicht {given}. /r lehnt mit einem Grund ab."
    ),
    "That was typed before this could be read, so it counts for nothing. Type it again.": (
        "Das kam, bevor dies zu lesen war, und zählt deshalb nicht. Bitte noch einmal."
    ),
    "Which one, 1 to {n}? ": "Welche, 1 bis {n}? ",
    "Your answers": "Ihre Antworten",
    "Send them? y sends, a number changes that answer, r rejects, q leaves: ": (
        "Senden? y sendet, eine Nummer ändert diese Antwort, r lehnt ab, q lässt offen: "
    ),
    "Why? The agent is told; empty for no reason: ": "Warum? Der Agent erfährt es; leer: ohne Grund: ",
    "Asked: {id}. Waiting for a person: sayso answer {id}": (
        "Gefragt: {id}. Warten auf einen Menschen: sayso answer {id}"
    ),
    "More lines came after that answer was complete; they were dropped. To add them, go /b back.": (
        "Nach dem Ende dieser Antwort kamen weitere Zeilen; sie wurden verworfen. Um sie anzufügen: /b geht zurück."
    ),
    "This was answered {ago} ago, before this command: {said}. It is asked again.": (
        "Das wurde vor {ago} beantwortet, vor diesem Befehl: {said}. Es wird erneut gefragt."
    ),
    "This was asked before, and settled {ago} ago, before this command.": (
        "Schon einmal gefragt, und vor {ago} entschieden, vor diesem Befehl."
    ),
    "This was asked before and is taken up again: {id}. Waiting for a person: sayso answer {id}": (
        "Schon einmal gefragt, geht weiter: {id}. Warten auf einen Menschen: sayso answer {id}"
    ),
    "\nThe ask stays open. Run the same command again to wait for its answer.": (
        "\nDie Anfrage bleibt offen. Derselbe Befehl wartet wieder auf ihre Antwort."
    ),
    "Nobody answered in time. The ask stays open; the same command again takes it up.": (
        "Niemand hat rechtzeitig geantwortet. Die Anfrage bleibt offen; derselbe Befehl nimmt sie wieder auf."
    ),
}

OTHERS: Mapping[str, str] = {
    # sayso config
    "SETTING": "EINSTELLUNG",
    "VALUE": "WERT",
    "FROM": "AUS",
    "FILE": "DATEI",
    "PATH": "PFAD",
    "default": "Vorgabe",
    "your settings": "Ihre Einstellungen",
    "project settings": "Einstellungen des Projekts",
    "store": "Speicher",
    "found": "gefunden",
    "absent": "nicht da",
    # sayso demo
    "There is no terminal here to answer in, and nothing is answered for you. Answer from another one:": (
        "Hier ist kein Terminal zum Antworten, und niemand antwortet für Sie. Antworten Sie aus einem anderen:"
    ),
    "Waiting while standard input is open, for ten minutes at most.": (
        "Es wird gewartet, solange die Standardeingabe offen ist, höchstens zehn Minuten."
    ),
    "The sample agent is starting. It connects to `sayso server` over MCP and asks…": (
        "Der Beispielagent startet. Er verbindet sich über MCP mit `sayso server` und fragt…"
    ),
    "Press Enter to run the sample agent.": "Enter startet den Beispielagenten.",
    "Or type a letter, then Enter: c to connect an agent of your own, q to end the demo.": (
        "Oder ein Buchstabe, dann Enter: c verbindet einen eigenen Agenten, q beendet die Vorführung."
    ),
    "Open this link in a browser. It signs you in, once, within {n} minutes:": (
        "Öffnen Sie diesen Link in einem Browser. Er meldet Sie an, einmal, innerhalb von {n} Minuten:"
    ),
    "It asks you three questions; answer them in the browser or here.": (
        "Er stellt Ihnen drei Fragen; antworten Sie im Browser oder hier."
    ),
    "1 question": "1 Frage",
    "{n} questions": "{n} Fragen",
    "An agent of yours can ask on this page while the demo runs. For Claude Code, run:": (
        "Solange die Vorführung läuft, kann Ihr eigener Agent auf dieser Seite fragen. Für Claude Code:"
    ),
    "There is no terminal here, so the demo plays the person as well. Run it in a terminal to answer yourself.": (
        "Hier ist kein Terminal, also spielt die Vorführung auch den Menschen. In einem Terminal antworten Sie selbst."
    ),
    "The sample person signed in on the page and chose what was recommended, or the first option.": (
        "Der Beispielmensch hat sich auf der Seite angemeldet und das Empfohlene oder das Erste gewählt."
    ),
    "Sayso is running, until this demo ends.": "Sayso läuft, bis diese Vorführung endet.",
    "Or type q, then Enter, to leave it unanswered.": "Oder q, dann Enter: unbeantwortet lassen.",
    "Answer in the browser. Or press Enter to answer here.": ("Antworten Sie im Browser. Oder Enter: hier antworten."),
    "Answer in the browser. Or press Enter to answer here, in the terminal inbox.": (
        "Antworten Sie im Browser. Oder Enter: hier antworten, im Eingang im Terminal."
    ),
    "It asks:": "Er fragt:",
    "Nothing was sent, so the agent received nothing: Sayso never makes up an answer.": (
        "Nichts wurde gesendet, also hat der Agent nichts bekommen: Sayso erfindet nie eine Antwort."
    ),
    "What the agent received": "Was der Agent bekommen hat",
    "That was a demo, and nothing of it is kept. To keep an inbox:": (
        "Das war eine Vorführung; nichts davon bleibt. Für einen Eingang, der bleibt:"
    ),
    # sayso doctor
    "warning": "Warnung",
    "FAULT": "FEHLER",
    "1 fault": "1 Fehler",
    "{n} faults": "{n} Fehler",
    "1 warning": "1 Warnung",
    "{n} warnings": "{n} Warnungen",
    "Everything is fine.": "Alles ist in Ordnung.",
    # sayso install, sayso uninstall
    "Found: {clients}.": "Gefunden: {clients}.",
    "Connect Sayso to each of them?": "Sayso mit allen verbinden?",
    "{done} in {file}": "{done} in {file}",
    ", by `{program} mcp add`": ", durch `{program} mcp add`",
    "{title}: already there, nothing would change.": "{title}: schon da, nichts würde sich ändern.",
    "{title}: would be connected": "{title}: würde verbunden",
    "{title}: would be connected by running\n  {command}\nso that the file says": (
        "{title}: würde verbunden durch\n  {command}\nDann steht in der Datei"
    ),
    "{file}: nothing would change.": "{file}: Nichts würde sich ändern.",
    "or": "oder",
    "Not done: {why}": "Nicht geschehen: {why}",
    "hook: ": "Hook: ",
    "calls in the foreground: ": "Aufrufe im Vordergrund: ",
    "permission to ask you: ": "Erlaubnis, Sie zu fragen: ",
    "Nothing was changed.": "Nichts wurde geändert.",
    "Allowed without a prompt of the client: {tools}. They ask you, and run no command.": (
        "Ohne Rückfrage des Clients erlaubt: {tools}. Sie fragen Sie und führen keinen Befehl aus."
    ),
    "{client} takes no such permission from a project. Everybody runs for themselves: {command}": (
        "{client} nimmt eine solche Erlaubnis nicht von einem Projekt an. Alle führen selbst aus: {command}"
    ),
    "Claude Code in a terminal moves a call to the background after two minutes. A later answer of yours is then "
    "presented to the agent as no user input. A setting of Claude Code prevents it, for all MCP servers, not only for "
    "Sayso: their long calls keep the agent waiting too.": (
        "Claude Code im Terminal verlegt einen Aufruf nach zwei Minuten in den Hintergrund. Eine spätere Antwort gilt "
        "dem Agenten dann nicht als Ihre Eingabe. Eine Einstellung von Claude Code verhindert das, für alle "
        "MCP-Server, nicht nur für Sayso: Auch auf deren lange Aufrufe wartet der Agent dann."
    ),
    "Add the setting?": "Die Einstellung eintragen?",
    "Answers after two minutes need a setting of Claude Code: {command}": (
        "Antworten nach zwei Minuten brauchen eine Einstellung von Claude Code: {command}"
    ),
    "An answer that comes after its call has ended can reach Claude Code at its next step, by a hook.": (
        "Eine Antwort, die nach dem Ende ihres Aufrufs kommt, kann Claude Code beim nächsten Schritt erreichen: durch "
        "einen Hook."
    ),
    "Add the hook?": "Den Hook eintragen?",
    "Late answers can come by a hook: {command}": "Späte Antworten können durch einen Hook kommen: {command}",
    "Restart the agent and tell it: ask me with sayso when a decision is mine.": (
        "Starten Sie den Agenten neu und sagen Sie ihm: Frag mich mit sayso, wenn eine Entscheidung bei mir liegt."
    ),
    "Whether all is well: {command} doctor    Your inbox: {command}": (
        "Ob alles gut ist: {command} doctor    Ihr Eingang: {command}"
    ),
    "There was nothing to take back.": "Es gab nichts zurückzunehmen.",
    "There was nothing to take back from {clients}.": "Bei {clients} gab es nichts zurückzunehmen.",
    # sayso ops
    "STATE": "ZUSTAND",
    "TOOL": "WERKZEUG",
    "COMMAND": "BEFEHL",
    "needs say-so": "braucht Erlaubnis",
    "needs say-so: it runs when a person allows it.": "braucht Erlaubnis: läuft, wenn ein Mensch es erlaubt.",
    "Decide it: sayso answer {id}": "Entscheiden: sayso answer {id}",
    "(sequence)": "(Folge)",
    "a sequence": "eine Folge",
    "See one: sayso ops show {id}    Stop one: sayso ops cancel {id}": (
        "Ansehen: sayso ops show {id}    Beenden: sayso ops cancel {id}"
    ),
    "No command is running.": "Kein Befehl läuft.",
    "No command has been run. Agents get them from tool files: sayso tools init git": (
        "Noch kein Befehl wurde ausgeführt. Agenten bekommen sie aus Werkzeugdateien: sayso tools init git"
    ),
    "Operation {id}": "Vorgang {id}",
    "Tool": "Werkzeug",
    "State": "Zustand",
    "Command": "Befehl",
    "In": "In",
    "{client}, in {project}": "{client}, in {project}",
    "It had ended already: {state}.": "Schon zu Ende: {state}.",
    "\n[{n} bytes were not kept]\n": "\n[{n} Bytes wurden nicht aufgehoben]\n",
    "[{n} bytes of its {stream} were not kept]": "[{n} Bytes von {stream} wurden nicht aufgehoben]",
    # sayso project
    "NAME": "NAME",
    "USER": "BENUTZER",
    "AGENT": "AGENT",
    "ASKS": "FRAGT",
    "AT WORK": "BEI DER ARBEIT",
    "DIRECTORY": "VERZEICHNIS",
    "There are no projects yet. `sayso project add DIR` adds one.": (
        "Es gibt noch keine Projekte. `sayso project add DIR` legt eines an."
    ),
    "{owner} can start {agent} in {folder} from the page: `sayso web`, then Talk.": (
        "{owner} kann {agent} in {folder} von der Seite aus starten: `sayso web`, dann Talk."
    ),
    "No more agents are started in {folder}.": "In {folder} werden keine Agenten mehr gestartet.",
    "{done} of {n} workspaces are up to date.": "{done} von {n} Arbeitsverzeichnissen sind auf dem neuesten Stand.",
    "1 agent told to stop.": "1 Agent wird beendet.",
    "{n} agents told to stop.": "{n} Agenten werden beendet.",
    # sayso server
    "Waiting for an MCP client on standard input. Clients start this by themselves; `sayso demo` shows one.": (
        "Warten auf einen MCP-Client an der Standardeingabe. Clients starten dies selbst; `sayso demo` zeigt einen."
    ),
    "Ctrl-C ends it.": "Strg-C beendet es.",
    # sayso token, sayso user
    "SINCE": "SEIT",
    "REVOKED": "GESPERRT",
    "anyone": "alle",
    "There are no tokens yet. `sayso token add NAME` makes one.": (
        "Es gibt noch keine Token. `sayso token add NAME` legt eines an."
    ),
    "The agent sends it as `Authorization: Bearer …`. It is not shown again; `sayso token revoke {name}` ends it.": (
        "Der Agent sendet es als `Authorization: Bearer …`. Es wird nicht wieder gezeigt; "
        "`sayso token revoke {name}` sperrt es."
    ),
    "The token {name} is of no use from now on.": "Das Token {name} gilt ab jetzt nicht mehr.",
    "{name} may sign in. `sayso web --link --user {name}` prints a link for them.": (
        "{name} darf sich anmelden. `sayso web --link --user {name}` gibt einen Link dafür aus."
    ),
    "There are no users yet. `sayso web` adds you; `sayso user add NAME` adds others.": (
        "Es gibt noch keine Benutzer. `sayso web` legt Sie an, `sayso user add NAME` andere."
    ),
    "{name} is shut out, from now on.": "{name} ist ab jetzt ausgesperrt.",
    "Refused at {when}: an agent tried to {wanted} ({why}).": "Abgewiesen {when}: Ein Agent wollte {wanted} ({why}).",
    # sayso tools
    "MODE": "ART",
    "SAY-SO": "ERLAUBNIS",
    "WHAT IT DOES": "WAS ES TUT",
    "waits": "wartet",
    "background": "Hintergrund",
    "once": "einmal",
    "each time": "jedes Mal",
    "SAY-SO: whether a person must allow a call before it runs. It is asked for in your inbox.": (
        "ERLAUBNIS: ob ein Mensch einen Aufruf erlauben muss, bevor er läuft. Gefragt wird in Ihrem Eingang."
    ),
    "There are no tool files here. These are ready-made: {names}": (
        "Hier gibt es keine Werkzeugdateien. Fertig vorhanden sind: {names}"
    ),
    "Write one into this project: sayso tools init git": "Eine in dieses Projekt schreiben: sayso tools init git",
    "1 tool": "1 Werkzeug",
    "{n} tools": "{n} Werkzeuge",
    "1 tool file": "1 Werkzeugdatei",
    "{n} tool files": "{n} Werkzeugdateien",
    "{files}, {n} of them wrong.": "{files}, davon {n} mit Fehlern.",
    "{files}, all right.": "{files}, alles richtig.",
    "{file} is there already and was left alone.": "{file} ist schon da und wurde nicht angerührt.",
    "Wrote {file} with {tools}. Agents that are connected see them at once.": (
        "{file} mit {tools} geschrieben. Verbundene Agenten sehen sie sofort."
    ),
    "1 tool file was left out; `sayso tools validate` says why.": (
        "1 Werkzeugdatei wurde ausgelassen; `sayso tools validate` sagt, warum."
    ),
    "{n} tool files were left out; `sayso tools validate` says why.": (
        "{n} Werkzeugdateien wurden ausgelassen; `sayso tools validate` sagt, warum."
    ),
    "It needs a person's say-so first: sayso answer {id}": "Erst muss ein Mensch es erlauben: sayso answer {id}",
    "Interrupted; the command and all its processes have ended.": (
        "Unterbrochen; der Befehl und alle seine Prozesse sind beendet."
    ),
    # sayso web
    "Sayso is at {page}    Ctrl-C stops it.": "Sayso ist unter {page}    Strg-C beendet es.",
    "Warning: {host} is reachable from other machines without TLS; anyone between can read along.\n"
    "Put a proxy with TLS in front of it and give its address as --url.": (
        "Warnung: {host} ist für andere Rechner ohne TLS erreichbar; wer dazwischen ist, kann mitlesen.\n"
        "Stellen Sie einen Proxy mit TLS davor und geben Sie dessen Adresse als --url an."
    ),
    "One agent goes on without the page. `sayso web` finds it again; `sayso project stop` stops it.": (
        "Ein Agent arbeitet ohne die Seite weiter. `sayso web` findet ihn wieder; `sayso project stop` beendet ihn."
    ),
    "{n} agents go on without the page. `sayso web` finds them again; `sayso project stop` stops them.": (
        "{n} Agenten arbeiten ohne die Seite weiter. `sayso web` findet sie wieder; `sayso project stop` beendet sie."
    ),
    "\nSign in as {name}. This works once, within {n} minutes:\n": (
        "\nAnmelden als {name}. Das geht einmal, innerhalb von {n} Minuten:\n"
    ),
    "If your browser does not find that address, this is the same link:": (
        "Findet Ihr Browser diese Adresse nicht, ist dies derselbe Link:"
    ),
    "Acts as {name} until {when}. It is not shown again; `sayso user revoke {name}` ends it.": (
        "Handelt als {name} bis {when}. Wird nicht wieder gezeigt; `sayso user revoke {name}` beendet es."
    ),
    "No web inbox seems to be running here. Start it with `sayso web`.": (
        "Hier scheint kein Eingang im Browser zu laufen. `sayso web` startet ihn."
    ),
    "To answer from your phone, serve it to your network: sayso web --host 0.0.0.0": (
        "Um vom Telefon zu antworten, für Ihr Netz öffnen: sayso web --host 0.0.0.0"
    ),
    "For a code to scan with your phone, make this window {n} lines high: sayso web --link": (
        "Für einen Code, den Ihr Telefon liest, dieses Fenster {n} Zeilen hoch machen: sayso web --link"
    ),
}

TALK = {**WORDS, **ASKS, **OTHERS}
