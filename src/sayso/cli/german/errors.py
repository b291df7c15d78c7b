"""What is wrong and what to do about it: the errors of the commands, of the layers below, and of click."""

from __future__ import annotations

from collections.abc import Mapping

CLICK: Mapping[str, str] = {
    "Error: {text}": "Fehler: {text}",
    "Try '{command} -h' for help.": "Hilfe: {command} -h",
    "\nSee what else may be wrong: sayso doctor": "\nWas sonst noch nicht stimmt: sayso doctor",
    "No such option {name}.": "Die Option {name} gibt es nicht.",
    "No such option {name}. {hint}": "Die Option {name} gibt es nicht. {hint!t}",
    "Did you mean {name}?": "War {name} gemeint?",
    "(Did you mean one of: {names}?)": "War eine von diesen gemeint: {names}?",
    "Missing argument {name}.": "{name} fehlt.",
    "Missing argument {name}. {hint}": "{name} fehlt. {hint!t}",
    "Missing option {name}.": "Die Option {name} fehlt.",
    "Missing command.": "Der Befehl fehlt.",
    "No such command {name}.": "Den Befehl {name} gibt es nicht.",
    "No such command {name}. {hint}": "Den Befehl {name} gibt es nicht. {hint!t}",
    "Choose from:\n\t{choices}": "Zur Wahl stehen:\n\t{choices}",
    "Invalid value for {name}: {why}": "Ungültiger Wert für {name}: {why!t}",
    "Invalid value: {why}": "Ungültiger Wert: {why!t}",
    "Got unexpected extra argument ({words})": "Überzähliges Argument: {words}",
    "Got unexpected extra arguments ({words})": "Überzählige Argumente: {words}",
    "Option {name} requires an argument.": "Die Option {name} braucht einen Wert.",
    "Option {name} does not take a value.": "Die Option {name} nimmt keinen Wert.",
    "{value} is not one of {choices}.": "{value} ist keines von {choices}.",
    "{value} is not in the range {range}.": "{value} liegt nicht im Bereich {range}.",
    "{value} is not a valid integer.": "{value} ist keine ganze Zahl.",
    "{value} is not a valid integer range.": "{value} ist keine ganze Zahl.",
    "{value} is not {what}.": "{value} ist falsch; nötig ist {what}.",
}

SETTINGS: Mapping[str, str] = {
    "{source}: there is no setting {key}. {hint}": "{source}: Die Einstellung {key} gibt es nicht. {hint!t}",
    "The settings are {names}.": "Die Einstellungen sind {names}.",
    "{source}: {key} is {value}; it must be {error}.": "{source}: {key} ist {value}; nötig ist {error!t}.",
    "SAYSO_CONFIG is {value}; it must be {error}.": "SAYSO_CONFIG ist {value}; nötig ist {error!t}.",
    "HOME is not set. Set it, or SAYSO_STATE_DIR and SAYSO_CONFIG.": (
        "HOME ist nicht gesetzt. Setzen Sie es, oder SAYSO_STATE_DIR und SAYSO_CONFIG."
    ),
    "The working directory has been removed. Change to one that is there.": (
        "Das Arbeitsverzeichnis wurde gelöscht. Wechseln Sie in eines, das da ist."
    ),
    "{file}: is not UTF-8 text. Save it as UTF-8.": "{file}: ist kein Text in UTF-8. Speichern Sie sie als UTF-8.",
    "{file}: cannot be read ({why}). Check its permissions.": (
        "{file}: lässt sich nicht lesen ({why}). Prüfen Sie die Zugriffsrechte."
    ),
    "{file}: is not valid TOML: {error}. Fix or remove that line.": (
        "{file}: ist kein gültiges TOML: {error}. Berichtigen oder löschen Sie diese Zeile."
    ),
    "{file}: {key} may not be set by a project, only by you. Move it to your own file (`sayso config` names it) or set "
    "SAYSO_{name}.": (
        "{file}: {key} darf kein Projekt setzen, nur Sie selbst. Verschieben Sie es in Ihre eigene Datei "
        "(`sayso config` nennt sie), oder setzen Sie SAYSO_{name}."
    ),
    "log_file: cannot write {file} ({why}). Name a file you can write.": (
        "log_file: {file} lässt sich nicht schreiben ({why}). Nennen Sie eine Datei, die Sie schreiben dürfen."
    ),
    'a time such as "90s", "10m", "12h" or "7d", at most 100 years': (
        'eine Zeit wie "90s", "10m", "12h" oder "7d", höchstens 100 Jahre'
    ),
    'a time from 30 to 900 seconds, such as 90 or "5m"': 'eine Zeit von 30 bis 900 Sekunden, etwa 90 oder "5m"',
    "one of {choices}": "eines von {choices}",
    "true or false": "true oder false",
    "a whole number from {least} to {most}": "eine ganze Zahl von {least} bis {most}",
    'a table of client names and times, such as {cursor = "4m", zed = "none"}, or cursor=4m,zed=none': (
        'eine Tabelle von Clients und Zeiten wie {cursor = "4m", zed = "none"} oder cursor=4m,zed=none'
    ),
    "a list of texts": "eine Liste von Texten",
    "an http:// or https:// address": "eine Adresse mit http:// oder https://",
    "a text, in UTF-8 and without NUL": "ein Text in UTF-8 und ohne NUL",
    "a path": "ein Pfad",
    "a path of a user who exists": "ein Pfad eines Benutzers, den es gibt",
    "a list of paths": "eine Liste von Pfaden",
    "a list of regular expressions": "eine Liste regulärer Ausdrücke",
    "a list of regular expressions; {part} is none ({error})": (
        "eine Liste regulärer Ausdrücke; {part} ist keiner ({error})"
    ),
    'a table such as reject = "x", send = ["ctrl+s", "f10"]': (
        'eine Tabelle wie reject = "x", send = ["ctrl+s", "f10"]'
    ),
    'a table whose values are keys; {name} needs one such as "x" or ["ctrl+s", "f10"]': (
        'eine Tabelle, deren Werte Tasten sind; {name} braucht eine wie "x" oder ["ctrl+s", "f10"]'
    ),
}

STORE: Mapping[str, str] = {
    "{source}: store begins with {given}; it must be a postgresql:// address, or empty for SQLite in the state "
    "directory.": (
        "{source}: store beginnt mit {given}; nötig ist eine Adresse mit postgresql://, oder leer für SQLite im "
        "Zustandsverzeichnis."
    ),
    "The store at {where} cannot be used: {why} ({file}).": (
        "Der Speicher {where} lässt sich nicht benutzen: {why} ({file})."
    ),
    "{told} Set SAYSO_STATE_DIR to a folder you can use.": (
        "{told!t} Setzen Sie SAYSO_STATE_DIR auf einen Ordner, den Sie benutzen dürfen."
    ),
    "{told} Check who may write there, or set SAYSO_STATE_DIR to a folder that you can.": (
        "{told!t} Prüfen Sie, wer dort schreiben darf, oder setzen Sie SAYSO_STATE_DIR auf einen Ordner, in dem Sie es "
        "dürfen."
    ),
    "{told} Free some space.": "{told!t} Schaffen Sie Platz.",
    "{told} Move the folder away; a file belongs there.": (
        "{told!t} Verschieben Sie den Ordner; dorthin gehört eine Datei."
    ),
    "The store at {where} does not work: {error}. `sayso config` shows where it is set.": (
        "Der Speicher {where} geht nicht: {error}. `sayso config` zeigt, wo er eingestellt ist."
    ),
    "The store at {where} does not work: {error}. Check that the server runs and that the address, user and password "
    "are right (`sayso config` shows where it is set).": (
        "Der Speicher {where} geht nicht: {error}. Prüfen Sie, ob der Server läuft und ob Adresse, Benutzer und "
        "Passwort stimmen (`sayso config` zeigt, wo er eingestellt ist)."
    ),
    "The file {where} is damaged or is not a Sayso store ({error}). Move it away to start with an empty one, or "
    "restore a copy of it.": (
        "Die Datei {where} ist beschädigt oder kein Speicher von Sayso ({error}). Verschieben Sie sie, um leer zu "
        "beginnen, oder spielen Sie eine Kopie zurück."
    ),
    "The store at {where} cannot be written ({error}). Check the permissions of its folder.": (
        "Der Speicher {where} lässt sich nicht schreiben ({error}). Prüfen Sie die Zugriffsrechte seines Ordners."
    ),
    "The store at {where} cannot be written: {error}. Grant this user the rights.": (
        "Der Speicher {where} lässt sich nicht schreiben: {error}. Geben Sie diesem Benutzer die Rechte."
    ),
    "The store at {where} cannot be written ({error}): the disk is full, a quota or limit is reached, or it fails. "
    "Nothing of the last step was kept.": (
        "Der Speicher {where} lässt sich nicht schreiben ({error}): Die Platte ist voll, eine Grenze ist erreicht, "
        "oder sie versagt. Vom letzten Schritt blieb nichts."
    ),
    "No space is left for the store at {where}. Free some space; nothing of the last step was kept.": (
        "Für den Speicher {where} ist kein Platz mehr. Schaffen Sie Platz; vom letzten Schritt blieb nichts."
    ),
    "No space is left for the store at {where}. Nothing of the last step was kept.": (
        "Für den Speicher {where} ist kein Platz mehr. Vom letzten Schritt blieb nichts."
    ),
    "The store at {where} was busy for {n} seconds. Try again.": (
        "Der Speicher {where} war {n} Sekunden lang beschäftigt. Bitte noch einmal."
    ),
    "The store at {where} was busy for {n} tries. Try again.": (
        "Der Speicher {where} war {n} Versuche lang beschäftigt. Bitte noch einmal."
    ),
    "The store at {where} changed under a held lock.": "Der Speicher {where} hat sich trotz Sperre geändert.",
    "What is at {where} is not a Sayso store, or is damaged: its schema version is {version}. Move it away, or set "
    "SAYSO_STATE_DIR or SAYSO_STORE to another place.": (
        "{where} ist kein Speicher von Sayso oder beschädigt: Die Version seines Schemas ist {version}. Verschieben "
        "Sie ihn, oder setzen Sie SAYSO_STATE_DIR oder SAYSO_STORE auf einen anderen Ort."
    ),
    "The store at {where} has schema version {version}, this Sayso knows up to {newest}. Upgrade Sayso here, or set "
    "SAYSO_STATE_DIR or SAYSO_STORE to another store.": (
        "Der Speicher {where} hat die Schemaversion {version}, dieses Sayso kennt sie bis {newest}. Aktualisieren Sie "
        "Sayso hier, oder setzen Sie SAYSO_STATE_DIR oder SAYSO_STORE auf einen anderen Speicher."
    ),
    "PostgreSQL needs one more package: install Sayso again, with '.[postgres]' for the dot.": (
        "PostgreSQL braucht ein weiteres Paket: Installieren Sie Sayso neu, mit '.[postgres]' statt des Punkts."
    ),
    "{folder} cannot be created, or does not stay. Check what is there or removes it.": (
        "{folder} lässt sich nicht anlegen oder bleibt nicht. Prüfen Sie, was dort ist oder es entfernt."
    ),
    "{folder} belongs to somebody else. Remove it, or set SAYSO_STATE_DIR to a shorter path.": (
        "{folder} gehört jemand anderem. Entfernen Sie es, oder setzen Sie SAYSO_STATE_DIR auf einen kürzeren Pfad."
    ),
}

ASKS: Mapping[str, str] = {
    "No ask has the id {id}. `sayso list` shows the open ones, `sayso history` the others.": (
        "Keine Anfrage hat die ID {id}. `sayso list` zeigt die offenen, `sayso history` die anderen."
    ),
    "No ask has the id {id}. It may have been deleted: ended asks are kept for a while only.": (
        "Keine Anfrage hat die ID {id}. Vielleicht wurde sie gelöscht: Beendete bleiben nur eine Weile."
    ),
    "{id} is not an id. Ids are made of 0-9 and a-f; `sayso list` shows them.": (
        "{id} ist keine ID. IDs bestehen aus 0-9 und a-f; `sayso list` zeigt sie."
    ),
    "The id {id} fits more than one. Give more of it:\n{ids}": "Die ID {id} passt auf mehrere. Mehr davon:\n{ids}",
    "This ask can no longer be answered: it is {state} since {when}.": (
        "Diese Anfrage lässt sich nicht mehr beantworten: {state!t} seit {when}."
    ),
    "Already {state} in {where} by {person} at {when}. Your answer was not used.": (
        "Schon {state!t} von {person} ({where!t}), {when}. Ihre Antwort wurde nicht verwendet."
    ),
    "Ask {id} is the question of the agent that runs this command ({why}), and an agent may not settle its own. Only a "
    "person can, from a terminal that the agent did not start. This attempt was recorded.": (
        "Anfrage {id} stammt von dem Agenten, der diesen Befehl ausführt ({why!t}), und die eigene darf kein Agent "
        "entscheiden. Das kann nur ein Mensch, in einem Terminal, das der Agent nicht gestartet hat. Dieser Versuch "
        "wurde festgehalten."
    ),
    "it runs in the session {session}": "er läuft in der Sitzung {session}",
    "it descends from process {pid}": "er stammt von Prozess {pid} ab",
    "{variable} is set": "{variable} ist gesetzt",
    "This command was started by an agent ({why}), and an agent may not {wanted}: with that it could speak for a "
    "person. Run it yourself, in a terminal that no agent started. This attempt was recorded.": (
        "Diesen Befehl hat ein Agent gestartet ({why!t}). Ein Agent darf das nicht ({wanted!t}): Damit könnte er für "
        "einen Menschen sprechen. Führen Sie ihn selbst aus, in einem Terminal, das kein Agent gestartet hat. Dieser "
        "Versuch wurde festgehalten."
    ),
    "make tokens for agents": "Token für Agenten anlegen",
    "make sign-in links or API tokens": "Links zum Anmelden oder API-Token anlegen",
    "add users": "Benutzer anlegen",
    "say where agents run and what they may do there": "festlegen, wo Agenten laufen und was sie dort dürfen",
    "decide what another may do": "entscheiden, was ein anderer darf",
    "question {number}": "Frage {number}",
    "question {number} ({id})": "Frage {number} ({id})",
    "is {n} characters long; at most {most} are allowed. Shorten it.": (
        "ist {n} Zeichen lang; erlaubt sind höchstens {most}. Kürzen Sie es."
    ),
    "holds half of a surrogate pair, which is no character. Remove or replace it.": (
        "enthält ein halbes Surrogatpaar, also kein Zeichen. Entfernen oder ersetzen Sie es."
    ),
    "there is no such question. The questions are {known}.": "Diese Frage gibt es nicht. Die Fragen sind {known}.",
    "{chosen} is not one of its options. They are {labels}.": "{chosen} steht nicht zur Wahl, sondern {labels}.",
    "the same option is chosen twice.": "Dasselbe ist zweimal gewählt.",
    "an answer is required.": "Eine Antwort ist nötig.",
    "an answer is required. Choose from {labels}.": "Eine Antwort ist nötig. Zur Wahl stehen {labels}.",
    "the answer's own text is empty. Write something, or leave it out.": (
        "Die eigenen Worte sind leer. Schreiben Sie etwas, oder lassen Sie sie weg."
    ),
    "it takes yes or no, not {given}.": "Erlaubt sind ja und nein, nicht {given}.",
    "only one choice is allowed.": "Nur eine Wahl ist erlaubt.",
    "an agent that is allowed something is told nothing else, so your note would not reach it. Leave the note out, or "
    "do not allow this: then the agent gets your words.": (
        "Wem etwas erlaubt wird, dem wird sonst nichts gesagt: Ihre Anmerkung käme nicht an. Lassen Sie sie weg, oder "
        "erlauben Sie es nicht; dann bekommt der Agent Ihre Worte."
    ),
    "The user rejected these questions. No reason was given. Do not assume an answer.": (
        "Die Fragen wurden abgelehnt, ohne einen Grund."
    ),
    "The user rejected these questions. Reason: {reason} Do not assume an answer.": (
        "Die Fragen wurden abgelehnt. Grund: {reason}"
    ),
    "The user declined to answer. Do not assume an answer.": "Eine Antwort wurde ausgeschlagen.",
    "The user cancelled the questions. Do not assume an answer.": "Die Fragen wurden abgebrochen.",
    "A newer question took the place of this one.": "Eine neuere Frage hat diese ersetzt.",
    "Nobody answered for so long that the question expired. Ask again if it still matters.": (
        "So lange hat niemand geantwortet, dass die Frage verfallen ist. Fragen Sie wieder, wenn sie noch wichtig ist."
    ),
}

COMMANDS: Mapping[str, str] = {
    "Argument {place} is not valid UTF-8 text.": "Argument {place} ist kein Text in UTF-8.",
    "There is no command {name}. {hint}": "Den Befehl {name} gibt es nicht. {hint!t}",
    "The commands are {names}.": "Die Befehle sind {names}.",
    # sayso answer
    "Say which ask is answered: sayso answer ID -q KEY=VALUE. `sayso list` shows the ids.": (
        "Welche Anfrage? sayso answer ID -q KEY=VALUE. `sayso list` zeigt die IDs."
    ),
    "Without a terminal give the answer as well: sayso answer ID VALUE, or -q KEY=VALUE.": (
        "Ohne Terminal muss die Antwort dabeistehen: sayso answer ID VALUE, oder -q KEY=VALUE."
    ),
    "Give either VALUEs or -q KEY=VALUE, not both.": "Entweder VALUE oder -q KEY=VALUE, nicht beides.",
    "This ask has {n} questions, so say which one is answered: {keys}.": (
        "Diese Anfrage hat {n} Fragen; sagen Sie, welche beantwortet wird: {keys}."
    ),
    "Only one value can be read from standard input ({sign}).": (
        "Nur ein Wert kann von der Standardeingabe kommen ({sign})."
    ),
    "Standard input holds more than {n} bytes. Shorten it.": (
        "Die Standardeingabe hat mehr als {n} Bytes. Kürzen Sie sie."
    ),
    "Standard input is not UTF-8 text (byte {n}).": "Die Standardeingabe ist kein Text in UTF-8 (Byte {n}).",
    "takes one value, got {n}. Put quotes around a value of several words.": (
        "nimmt einen Wert, nicht {n}. Setzen Sie mehrere Wörter in Anführungszeichen."
    ),
    "{number} is a number and also the label of another option. Type #{number} or #{other}.": (
        "{number} ist eine Nummer und zugleich anders bezeichnet. Gemeint ist #{number} oder #{other}?"
    ),
    "{value} is the label of more than one option. Say which by its number: {numbers}.": (
        "{value} heißt mehr als eines. Sagen Sie mit der Nummer, welches: {numbers}."
    ),
    "{text} is no option, but close to {label}. Give #{number} for that one; to send your own words as they are, put "
    "{quotes}.": (
        "{text} steht nicht zur Wahl, ist aber nahe an {label}. Dafür: #{number}. Um Ihre eigenen Worte so zu senden: "
        "{quotes!t}."
    ),
    "double quotes inside the shell's: '\"...\"'": "doppelte Anführungszeichen in denen der Shell: '\"...\"'",
    'them in double quotes: "..."': 'in doppelten Anführungszeichen: "..."',
    "there is no option #{number}; its options are #1 to #{most}. To say the number itself, put it in double quotes.": (
        "#{number} gibt es nicht; zur Wahl stehen #1 bis #{most}. Um die Zahl selbst zu sagen, setzen Sie sie in "
        "doppelte Anführungszeichen."
    ),
    "it takes yes or no (or y, n, true, false), not {given}.": "Erlaubt sind ja und nein (oder y, n), nicht {given}.",
    "{pair} names no question. Write KEY=VALUE; the keys are {known}.": (
        "{pair} nennt keine Frage. Schreiben Sie KEY=VALUE; die Schlüssel sind {known}."
    ),
    "{pair} fits more than one question. Write KEY=VALUE; the keys are {known}.": (
        "{pair} passt auf mehr als eine Frage. Schreiben Sie KEY=VALUE; die Schlüssel sind {known}."
    ),
    # sayso ask
    "Give either QUESTION or --stdin, not both.": "Entweder QUESTION oder --stdin, nicht beides.",
    'Say what to ask: sayso ask "QUESTION?", or JSON on standard input.': (
        'Was ist die Frage? sayso ask "QUESTION?", oder JSON an der Standardeingabe.'
    ),
    "--multi needs the options to choose from: -o LABEL -o LABEL.": (
        "--multi braucht, was zur Wahl steht: -o LABEL -o LABEL."
    ),
    "--confirm takes yes or no, so -o cannot be given with it.": (
        "--confirm heißt ja oder nein; -o geht nicht zusammen damit."
    ),
    "-o, --multi and --confirm go with a QUESTION.": "-o, --multi und --confirm gehören zu einer QUESTION.",
    "standard input": "Standardeingabe",
    "is not JSON: {error}.": "ist kein JSON: {error}.",
    "expected an object with questions, got {given}.": "erwartet wird ein Objekt mit Fragen, nicht {given}.",
    "expected 1 to {most} questions, got {n}.": "erwartet werden 1 bis {most} Fragen, nicht {n}.",
    "a question of type {kind} takes no options. Leave them out.": (
        "Bei einer Frage der Art {kind} steht nichts zur Wahl. Lassen Sie options weg."
    ),
    "expected one of {kinds}, got {given}.": "erwartet wird eines von {kinds}, nicht {given}.",
    "there is no such field. The fields are {names}.": "Dieses Feld gibt es nicht. Die Felder sind {names}.",
    "{id} is taken by another question. Give each its own.": (
        "{id} hat schon eine andere Frage. Geben Sie jeder eine eigene."
    ),
    # sayso demo
    "The page could not be served. {said}": "Die Seite ließ sich nicht öffnen. {said!t}",
    "The sample agent did not ask anything. {said}": "Der Beispielagent hat nichts gefragt. {said!t}",
    "The sample agent ended without an answer. {said}": "Der Beispielagent endete ohne Antwort. {said!t}",
    "It said:\n{told}": "Er sagte:\n{told}",
    # sayso install
    "No agent's client was found on this machine. Name one: {command} install claude-code. The clients are {names}.": (
        "Auf diesem Rechner wurde kein Client eines Agenten gefunden. Nennen Sie einen: {command} install claude-code. "
        "Die Clients sind {names}."
    ),
    "--hook and --foreground are for Claude Code. Name claude-code too, or leave them out.": (
        "--hook und --foreground sind für Claude Code. Nennen Sie auch claude-code, oder lassen Sie sie weg."
    ),
    "None of these clients reads skills or instructions from a file. Leave --skill out.": (
        "Keiner dieser Clients liest Skills oder Anweisungen aus einer Datei. Lassen Sie --skill weg."
    ),
    "{client} has no file of its own in projects. Leave --project out.": (
        "{client} hat in Projekten keine eigene Datei. Lassen Sie --project weg."
    ),
    "There is no client {name}. {hint}": "Den Client {name} gibt es nicht. {hint!t}",
    "The clients are {names}.": "Die Clients sind {names}.",
    "{file}: {error} The file was left as it is.": "{file}: {error!t} Die Datei blieb, wie sie ist.",
    "cannot be read ({why}). Check its permissions.": "lässt sich nicht lesen ({why}). Prüfen Sie die Zugriffsrechte.",
    "is not UTF-8 text. Save it as UTF-8 and run this again.": (
        "ist kein Text in UTF-8. Speichern Sie sie als UTF-8, und führen Sie dies noch einmal aus."
    ),
    "changed while this ran. Run this again.": "wurde inzwischen geändert. Führen Sie dies noch einmal aus.",
    "cannot be written ({why}). Check its permissions.": (
        "lässt sich nicht schreiben ({why}). Prüfen Sie die Zugriffsrechte."
    ),
    "cannot be copied to {copy} ({why}), so it is left alone.": "lässt sich nicht nach {copy} kopieren ({why}).",
    'cannot take a variable: {error}. Fix its "env" and run this again.': (
        'nimmt keine Variable auf: {error}. Berichtigen Sie "env", und führen Sie dies noch einmal aus.'
    ),
    "is somebody else's. Rename it and run this again.": (
        "gehört jemand anderem. Benennen Sie sie um, und führen Sie dies noch einmal aus."
    ),
    'cannot take a rule: {error}. Fix its "{where}" and run this again.': (
        'nimmt keine Regel auf: {error}. Berichtigen Sie "{where}", und führen Sie dies noch einmal aus.'
    ),
    'cannot take a hook: {error}. Fix its "hooks" and run this again.': (
        'nimmt keinen Hook auf: {error}. Berichtigen Sie "hooks", und führen Sie dies noch einmal aus.'
    ),
    "{folder}: cannot be made ({why}). `sayso doctor` says more.": (
        "{folder}: lässt sich nicht anlegen ({why}). `sayso doctor` sagt mehr."
    ),
    "is written in a way that cannot be changed without touching the rest. Change it by hand.": (
        "ist so geschrieben, dass sich nichts ändern lässt, ohne den Rest anzurühren. Ändern Sie sie von Hand."
    ),
    "has no table at its top level, so there is no place for an entry. Is this the right file?": (
        "hat zuoberst keine Tabelle, also keinen Platz für einen Eintrag. Ist das die richtige Datei?"
    ),
    "is not valid {notation}: {error}. Fix it and run this again.": (
        "ist kein gültiges {notation}: {error}. Berichtigen Sie sie, und führen Sie dies noch einmal aus."
    ),
    "has something other than a table as {step}. Fix that and run this again.": (
        "hat unter {step} keine Tabelle. Berichtigen Sie das, und führen Sie dies noch einmal aus."
    ),
    "is somebody else's skill. Rename its folder, or leave --skill out.": (
        "ist der Skill von jemand anderem. Benennen Sie den Ordner um, oder lassen Sie --skill weg."
    ),
    # sayso ops
    "No operation has the id {id}. Old ones are deleted after a while.": (
        "Kein Vorgang hat die ID {id}. Alte werden nach einer Weile gelöscht."
    ),
    "{id} is not an id of an operation. They are made of 0-9 and a-f.": (
        "{id} ist keine ID eines Vorgangs. Sie bestehen aus 0-9 und a-f."
    ),
    "No operation has the id {id}. `sayso ops list` shows them.": (
        "Kein Vorgang hat die ID {id}. `sayso ops list` zeigt sie."
    ),
    # sayso project
    "There is no project {name} here. `sayso project list` shows them.": (
        "Das Projekt {name} gibt es hier nicht. `sayso project list` zeigt sie."
    ),
    "There is no project {name} of yours here. `sayso project list` shows them.": (
        "Ein Projekt {name} von Ihnen gibt es hier nicht. `sayso project list` zeigt sie."
    ),
    "There is no project {name}. `sayso project list` shows them.": (
        "Das Projekt {name} gibt es nicht. `sayso project list` zeigt sie."
    ),
    "{name} fits several projects. Give the id of one: {ids}.": (
        "{name} passt auf mehrere Projekte. Geben Sie die ID eines davon an: {ids}."
    ),
    "{folder} is not a directory that is there.": "{folder} ist kein vorhandenes Verzeichnis.",
    "is {given}; it must be from {least} to {most} seconds.": "ist {given}; nötig sind {least} bis {most} Sekunden.",
    "{file} must hold an object, and {servers} in it another. It was left alone. Fix it, then try again.": (
        "{file} muss ein Objekt enthalten, und darin {servers} ein weiteres. Sie wurde nicht angerührt. Berichtigen "
        "Sie sie, dann noch einmal."
    ),
    "{file} cannot be read ({why}). It was left alone.": (
        "{file} lässt sich nicht lesen ({why}). Sie wurde nicht angerührt."
    ),
    "{file} is not JSON ({error}). It was left alone. Fix it, then try again.": (
        "{file} ist kein JSON ({error}). Sie wurde nicht angerührt. Berichtigen Sie sie, dann noch einmal."
    ),
    "{file} cannot be written ({why}). It was left as it was.": (
        "{file} lässt sich nicht schreiben ({why}). Sie blieb, wie sie war."
    ),
    # sayso tools
    "There is no ready-made tool file {name}. There are {names}.": (
        "Die Werkzeugdatei {name} ist nicht fertig vorhanden. Es gibt {names}."
    ),
    "There is no tool {name} here. {hint}": "Das Werkzeug {name} gibt es hier nicht. {hint!t}",
    "`sayso tools list` shows them.": "`sayso tools list` zeigt sie.",
    "{meant} `sayso tools list` shows them.": "{meant!t} `sayso tools list` zeigt sie.",
    "is no argument of {tool}. Write NAME=VALUE; it takes {known}.": (
        "ist kein Argument von {tool}. Schreiben Sie NAME=VALUE; es nimmt {known}."
    ),
    "expected a JSON {kind}, got {given}.": "erwartet wird {kind} in JSON, nicht {given}.",
    # sayso token, sayso user, sayso web
    "There is no user {name}. Add them with `sayso user add {name}`.": (
        "Den Benutzer {name} gibt es nicht. `sayso user add {name}` legt ihn an."
    ),
    "There is no user {name} to revoke. `sayso user list` shows them.": (
        "Den Benutzer {name} gibt es nicht. `sayso user list` zeigt alle."
    ),
    "There is no token {name} to revoke. `sayso token list` shows them.": (
        "Das Token {name} gibt es nicht. `sayso token list` zeigt alle."
    ),
    "{name} is taken, perhaps by a revoked token. Choose another name.": (
        "{name} ist vergeben, vielleicht an ein gesperrtes Token. Wählen Sie einen anderen Namen."
    ),
    "{name} is not a name. Use {allowed}.": "{name} ist kein Name. Erlaubt sind {allowed!t}.",
    "letters, digits and . _ @ + -, beginning with a letter or digit, at most 64 characters": (
        "Buchstaben, Ziffern und . _ @ + -, mit einem Buchstaben oder einer Ziffer am Anfang, höchstens 64 Zeichen"
    ),
    "There is no such session. It may have ended already.": (
        "Diese Sitzung gibt es nicht. Vielleicht ist sie schon beendet."
    ),
    "{name} was revoked. `sayso user add {name}` lets them in again; --user names another.": (
        "{name} ist gesperrt. `sayso user add {name}` lässt wieder herein; --user nennt jemand anderen."
    ),
    "Cannot listen on {host}:{port}: {why}. If `sayso web` already runs there, `sayso web --link` makes a link to it; "
    "else choose another place with --host and --port.": (
        "Auf {host}:{port} lässt sich nicht hören: {why}. Läuft dort schon `sayso web`, macht `sayso web --link` einen "
        "Link dazu; sonst wählen Sie mit --host und --port einen anderen Ort."
    ),
}

ERRORS = {**CLICK, **SETTINGS, **STORE, **ASKS, **COMMANDS}
