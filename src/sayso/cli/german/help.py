"""What `--help` says: paragraphs on one line each, options, and what stands beside examples."""

from __future__ import annotations

from collections.abc import Mapping

PAGE: Mapping[str, str] = {
    "Usage: ": "Aufruf: ",
    "OPTIONS": "OPTIONEN",
    "ARGS": "ARGUMENTE",
    "Options": "Optionen",
    "Commands": "Befehle",
    "Example:": "Beispiel:",
    "default: ": "Vorgabe: ",
    "Show this message and exit.": "Diese Hilfe zeigen.",
    "Show the version and exit.": "Die Version zeigen.",
    "At most this many.": "Höchstens so viele.",
    "Print a JSON array.": "Als JSON-Liste ausgeben.",
}

ASKS: Mapping[str, str] = {
    "The line between coding agents and the people they work for.": (
        "Die Leitung zwischen Agenten, die programmieren, und den Menschen, für die sie arbeiten."
    ),
    "Agents ask questions, and you answer them here. Without a command it opens your inbox.": (
        "Agenten fragen, und hier antworten Sie. Ohne Befehl öffnet sich Ihr Eingang."
    ),
    "see it work": "ausprobieren",
    "what works, what does not, and how to fix it": "was geht, was nicht, und was zu tun ist",
    "what agents want to know": "was Agenten wissen wollen",
    "answer step by step": "Schritt für Schritt antworten",
    "answer right away": "sofort antworten",
    "Show the asks that can be answered.": "Anfragen zeigen, die sich beantworten lassen.",
    "Those whose agents wait come first, each part oldest first. Of an agent that has many open, the first few are "
    "shown and the others counted; --all shows each.": (
        "Die, auf die Agenten warten, kommen zuerst, jeweils die ältesten vorn. Hat ein Agent viele offen, erscheinen "
        "die ersten und die Zahl der übrigen; --all zeigt jede."
    ),
    "Only the asks of this project.": "Nur die Anfragen dieses Projekts.",
    "Show each ask of an agent that has many.": "Jede Anfrage eines Agenten zeigen, der viele hat.",
    "Print a JSON array of everything about each ask.": "Alles über jede Anfrage als JSON-Liste ausgeben.",
    "Show everything about one ask.": "Alles über eine Anfrage zeigen.",
    "ID is the ask's id or the beginning of it.": "ID ist die ID der Anfrage oder ihr Anfang.",
    "Also what happened to it: when, what, by whom, from where.": "Auch was geschah: wann, was, durch wen, von wo.",
    "Print it as JSON, every text in full.": "Als JSON ausgeben, jeden Text ganz.",
    "Answer an ask.": "Eine Anfrage beantworten.",
    "ID is the ask's id or the beginning of it. VALUE answers its only question: an option's label or #NUMBER, yes or "
    "no, or your own words; several VALUEs choose several options. With several questions give -q KEY=VALUE for each, "
    "where KEY is the question's number or id; repeat a KEY to choose several options, and leave an optional question "
    "out to skip it. A VALUE of - is read from standard input.": (
        "ID ist die ID der Anfrage oder ihr Anfang. VALUE beantwortet ihre einzige Frage: eine Bezeichnung oder "
        "#NUMMER, ja oder nein, oder eigene Worte; mehrere VALUE wählen mehreres. Bei mehreren Fragen steht "
        "-q KEY=VALUE für jede; KEY ist die Nummer oder ID der Frage. Derselbe KEY mehrmals wählt mehreres; eine "
        "freiwillige Frage lässt sich weglassen. Ein VALUE von - kommt von der Standardeingabe."
    ),
    "Without values you are asked at prompts; without an ID too, you are offered what is open.": (
        "Ohne Werte werden Sie gefragt; auch ohne ID steht zur Wahl, was offen ist."
    ),
    "Answer one of several questions.": "Eine von mehreren Fragen beantworten.",
    "Print the answered ask as JSON.": "Die beantwortete Anfrage als JSON ausgeben.",
    "Reject an ask: the agent is told no, and why if you give a reason.": (
        "Eine Anfrage ablehnen. Der Agent erfährt das Nein und, wenn Sie einen nennen, den Grund."
    ),
    "Why; the agent is told. With - it is read from standard input.": (
        "Warum; der Agent erfährt es. Mit - von der Standardeingabe."
    ),
    "Print the rejected ask as JSON.": "Die abgelehnte Anfrage als JSON ausgeben.",
    "Show finished asks, newest first.": "Beendete Anfragen zeigen, die neuesten zuerst.",
    "Only those with this text in a question or an answer.": "Nur die mit diesem Text in Frage oder Antwort.",
    "Ask a person a question and wait for the answer.": "Einen Menschen fragen und auf die Antwort warten.",
    "Prints what was chosen or written, one per line. The exit code is 0 for an answer, 10 when it was rejected, 11 "
    "declined, 12 cancelled, 6 when the time ran out. An ask that was left stays open: the same command again takes it "
    "up, and says on standard error when the answer is older than the command. An older yes or no is not printed: it "
    "is asked again.": (
        "Gibt aus, was gewählt oder geschrieben wurde, eines je Zeile. Der Exit-Code ist 0 bei einer Antwort, 10 "
        "abgelehnt, 11 ausgeschlagen, 12 abgebrochen, 6 Zeit abgelaufen. Eine verlassene Anfrage bleibt offen: "
        "Derselbe Befehl nimmt sie wieder auf und sagt auf der Standardfehlerausgabe, wenn die Antwort älter ist als "
        "er. Ein älteres Ja oder Nein wird nicht ausgegeben: Es wird erneut gefragt."
    ),
    'Without QUESTION the questions are read as JSON from standard input: {"title": ..., "questions": [{"question", '
    '"type", "options", "required", "placeholder", "title", "id"}]}.': (
        'Ohne QUESTION kommen die Fragen als JSON von der Standardeingabe: {"title": ..., "questions": [{"question", '
        '"type", "options", "required", "placeholder", "title", "id"}]}.'
    ),
    "A choice; repeat it for each.": "Etwas zur Wahl; für jedes wiederholen.",
    "Several options may be chosen.": "Mehreres darf gewählt werden.",
    "A yes-or-no question.": "Eine Frage mit ja oder nein.",
    "What it is about, in a few words.": "Worum es geht, in wenigen Worten.",
    "Stop waiting after this long: 90s, 10m. Default: never.": "So lange warten: 90s, 10m. Vorgabe: unbegrenzt.",
    "Read the questions as JSON from standard input.": "Die Fragen als JSON von der Standardeingabe lesen.",
    "Print the whole outcome as JSON.": "Den ganzen Ausgang als JSON ausgeben.",
}

COMMANDS: Mapping[str, str] = {
    "Turn commands into tools for agents with JSON files.": ("Aus Befehlen Werkzeuge für Agenten machen."),
    "write .sayso/tools/git.json": "schreibt .sayso/tools/git.json",
    "is every tool file right?": "stimmt jede Werkzeugdatei?",
    "run one as an agent would": "eines ausführen, wie ein Agent es täte",
    "Show the tools that an agent gets here.": "Die Werkzeuge zeigen, die ein Agent hier bekommt.",
    "Print a JSON array with the schema of each tool.": "Mit dem Schema jedes Werkzeugs als JSON-Liste ausgeben.",
    "Check a tool file, a directory of them, or all that hold here. Exit code 1 if anything is wrong.": (
        "Werkzeugdateien prüfen: eine, ein Verzeichnis oder alle hier. Exit-Code 1, wenn etwas nicht stimmt."
    ),
    "Print the faults as a JSON array.": "Die Fehler als JSON-Liste ausgeben.",
    "Print the JSON Schema of tool files, for editors and checks.": (
        "Das JSON-Schema für Werkzeugdateien ausgeben, für Editoren."
    ),
    "Write ready-made tool files into this project. Without a name: say which there are.": (
        "Fertige Werkzeugdateien in dieses Projekt schreiben. Ohne Namen: welche es gibt."
    ),
    "For all your projects instead of this one.": "Für alle Ihre Projekte statt für dieses.",
    "Run a tool as an agent would.": "Ein Werkzeug ausführen, wie ein Agent es täte.",
    "Its arguments are checked, its time limit holds, and no process is left behind.": (
        "Seine Argumente werden geprüft, seine Frist gilt, und kein Prozess bleibt zurück."
    ),
    "A value is read by the type the tool file gives it. Repeat NAME= for a list.": (
        "Ein Wert wird nach seiner Art in der Werkzeugdatei gelesen. NAME= mehrmals ergibt eine Liste."
    ),
    "Print the outcome as JSON.": "Den Ausgang als JSON ausgeben.",
    "See and stop the commands that agents run.": "Befehle der Agenten ansehen und beenden.",
    "Show the operations, newest first.": "Die Vorgänge zeigen, die neuesten zuerst.",
    "Only those of this project.": "Nur die dieses Projekts.",
    "Only those that have not ended.": "Nur die, die noch nicht zu Ende sind.",
    "Print a JSON array of everything about each operation.": "Alles über jeden Vorgang als JSON-Liste ausgeben.",
    "Show how one operation stands or ended, and what it printed last.": (
        "Zeigen, wie ein Vorgang steht und was er zuletzt ausgab."
    ),
    "Print everything as one JSON object.": "Alles als ein JSON-Objekt ausgeben.",
    "Print what a command wrote, secrets masked, as far as it was kept.": (
        "Die aufgehobene Ausgabe eines Befehls zeigen, ohne Geheimnisse."
    ),
    "Its stdout and its stderr are kept apart; where it wrote to both, each stands under its name.": (
        "stdout und stderr werden getrennt aufgehoben; gibt es beide, steht jedes unter seinem Namen."
    ),
    "Only its stdout.": "Nur stdout.",
    "Only its stderr.": "Nur stderr.",
    "Only the last lines.": "Nur die letzten Zeilen.",
    "Only the lines that match.": "Nur die passenden Zeilen.",
    "End a command and every process it has started.": "Einen Befehl und alle seine Prozesse beenden.",
    "Follow what a command writes, until it ends.": "Der Ausgabe eines Befehls folgen, bis er endet.",
    "Both stdout and stderr are shown. Ctrl-C stops the watching, not the command.": (
        "stdout und stderr erscheinen beide. Strg-C beendet das Zusehen, nicht den Befehl."
    ),
}

AGENTS: Mapping[str, str] = {
    "Register Sayso with the agents on this machine.": "Sayso bei den Agenten auf diesem Rechner eintragen.",
    "Without CLIENT: all that are found. It uses the client's own command where there is one, and else edits its file: "
    "everything else in it stays as it is, a copy is kept beside it, and a file that cannot be read is left alone. "
    "Running it again changes nothing. `sayso uninstall` takes it back.": (
        "Ohne CLIENT: bei allen gefundenen. Hat der Client einen eigenen Befehl dafür, wird er benutzt, sonst seine "
        "Datei bearbeitet: Alles andere darin bleibt, eine Kopie liegt daneben, und eine unlesbare Datei wird nicht "
        "angerührt. Ein zweites Mal ändert nichts. `sayso uninstall` nimmt es zurück."
    ),
    "It also lets these agents call the tools that ask you, each by its name, without a prompt of their client: "
    "without that, an agent that runs without a terminal cannot ask at all. No tool that runs a command is allowed by "
    "it.": (
        "Außerdem dürfen diese Agenten die Werkzeuge, die Sie fragen, ohne Rückfrage ihres Clients aufrufen, jedes "
        "beim Namen: Sonst könnte ein Agent ohne Terminal gar nicht fragen. Kein Werkzeug, das einen Befehl ausführt, "
        "wird dadurch erlaubt."
    ),
    "CLIENT is claude-code, codex, cursor, vscode, gemini, opencode, qwen, copilot, claude-desktop, goose, zed, cline "
    "or windsurf.": (
        "CLIENT ist claude-code, codex, cursor, vscode, gemini, opencode, qwen, copilot, claude-desktop, goose, zed, "
        "cline oder windsurf."
    ),
    "all that are found": "alle gefundenen",
    "one of them, and late answers by a hook": "einer davon, und späte Antworten durch einen Hook",
    "what would change in this project": "was sich in diesem Projekt ändern würde",
    "what to paste": "was einzufügen ist",
    "In this project's files instead of your own.": "In den Dateien dieses Projekts statt in Ihren.",
    "Claude Code: hand late answers over at the agent's next step.": (
        "Claude Code: späte Antworten beim nächsten Schritt übergeben."
    ),
    "Let agents call the tools that ask you unprompted (default).": (
        "Agenten die Werkzeuge, die Sie fragen, ohne Rückfrage aufrufen lassen (Vorgabe)."
    ),
    "Claude Code: keep long calls, of all servers, waiting.": "Claude Code: lange Aufrufe aller Server warten lassen.",
    "Only the tools ask_user and get_answers.": "Nur die Werkzeuge ask_user und get_answers.",
    "Also a skill and a paragraph that tell the agent when and how to ask.": (
        "Auch ein Skill und ein Absatz, die dem Agenten sagen, wann und wie er fragt."
    ),
    "Show what would change, and change nothing.": "Zeigen, was sich ändern würde, und nichts ändern.",
    "Print what to run or to paste, and change nothing.": (
        "Ausgeben, was auszuführen oder einzufügen ist, und nichts ändern."
    ),
    "Remove Sayso from agents' configurations.": "Sayso aus den Einstellungen der Agenten entfernen.",
    "Without CLIENT, from every client that has it. Entry, permission to ask, hook, skill and paragraph go. A file "
    "that nobody changed since is as it was before, to the byte; from any other only what is ours is cut out.": (
        "Ohne CLIENT: bei jedem Client, der es hat. Eintrag, Erlaubnis zu fragen, Hook, Skill und Absatz gehen. Eine "
        "seither unveränderte Datei ist danach Byte für Byte wie zuvor; aus jeder anderen verschwindet nur das Unsere."
    ),
    "From this project's files instead of your own.": "Aus den Dateien dieses Projekts statt aus Ihren.",
    "See what works, what does not, and how to fix it.": "Was geht, was nicht, und was zu tun ist.",
    "It checks settings, store, bell, permissions, versions, the entries and limits of every client, the hook, tool "
    "files, notifications and the browser, and says what is enforced and what is not. It changes nothing and sends "
    "nothing.": (
        "Geprüft werden Einstellungen, Speicher, Klingel, Zugriffsrechte, Versionen, Einträge und Fristen jedes "
        "Clients, der Hook, Werkzeugdateien, Hinweise und der Browser; und es steht da, was gesichert ist und was "
        "nicht. Nichts wird geändert oder gesendet."
    ),
    "With --client it starts the server that is registered with that client, exactly as the client would, and takes a "
    "question all the way: handshake, a question in your inbox, an answer.": (
        "Mit --client startet es den dort eingetragenen Server genau wie der Client und geht den ganzen Weg einer "
        "Frage: Verbindung, eine Frage in Ihrem Eingang, eine Antwort."
    ),
    "The exit code is 0 when everything is fine, 1 when there are warnings, 2 when something does not work.": (
        "Der Exit-Code ist 0, wenn alles in Ordnung ist, 1 bei Warnungen, 2, wenn etwas nicht geht."
    ),
    "Ask a question the way this client would.": "Fragen, wie dieser Client es täte.",
    "Print the findings as JSON.": "Das Ergebnis als JSON ausgeben.",
    "Serve one agent over MCP on standard input and output.": ("Einen Agenten über MCP bedienen, an stdin und stdout."),
    "Agents' clients start this command themselves; `sayso install` tells them how. It ends when the client does. With "
    "ASK_USER_CONFIG in the environment, questions go to the web page that the file of that name tells of.": (
        "Die Clients der Agenten starten diesen Befehl selbst; `sayso install` sagt ihnen, wie. Er endet mit dem "
        "Client. Mit ASK_USER_CONFIG in der Umgebung gehen Fragen an die Seite, die diese Datei nennt."
    ),
    "Which tools are shown, and in whose exact form.": "Welche Werkzeuge erscheinen, und in wessen genauer Form.",
    "How long a call waits for an answer: 90s, 10m, none.": "Wie lange ein Aufruf auf Antwort wartet: 90s, 10m, none.",
    "The most questions in one call.": "Höchstens so viele Fragen in einem Aufruf.",
    "The most options of one question.": "Höchstens so viel zur Wahl in einer Frage.",
    "The directory of tool files, each of which makes tools of a command.": (
        "Das Verzeichnis der Werkzeugdateien, deren jede aus einem Befehl Werkzeuge macht."
    ),
    "List the tool for permission prompts.": "Das Werkzeug für Erlaubnisfragen anbieten.",
    "List ask_user and get_answers alone.": "Nur ask_user und get_answers anbieten.",
    "How much is logged: debug, info, warning or error.": "Wie viel im Protokoll steht: debug, info, warning, error.",
    "Log to this file instead of stderr.": "Das Protokoll in diese Datei statt nach stderr schreiben.",
    "Hand late answers to the agent that asked. Claude Code runs it.": (
        "Späte Antworten übergeben. Claude Code führt es aus."
    ),
    "It reads the event that Claude Code hands to hooks, and prints the answers that came after their calls had ended, "
    "each of them once. `sayso install claude-code --hook` sets it up.": (
        "Liest das Ereignis, das Claude Code seinen Hooks gibt, und gibt die Antworten aus, die nach dem Ende ihrer "
        "Aufrufe kamen, jede einmal. `sayso install claude-code --hook` richtet es ein."
    ),
}

PAGES: Mapping[str, str] = {
    "Serve the inbox to your browser, and the MCP tools over HTTP.": (
        "Den Eingang im Browser öffnen, und MCP über HTTP."
    ),
    "It prints a link that signs one browser in, once, within a quarter of an hour. Other machines can reach it only "
    "with --host; put it behind TLS then. Ctrl-C stops it, and no question or answer is lost.": (
        "Gibt einen Link aus, der einen Browser anmeldet, einmal, innerhalb einer Viertelstunde. Andere Rechner "
        "erreichen ihn nur mit --host; dann gehört TLS davor. Strg-C beendet es; keine Frage und keine Antwort geht "
        "verloren."
    ),
    "Listen here instead of on loopback; lets other machines in.": "Hier hören statt nur auf diesem Rechner.",
    "Listen on this port; 0 takes a free one.": "Auf diesem Port hören; 0 nimmt einen freien.",
    "The address people use, when it is behind a proxy.": "Die Adresse für Menschen, wenn ein Proxy davor steht.",
    "Who the link or token is for. By default you.": "Für wen der Link oder das Token ist. Vorgabe: Sie.",
    "Print another sign-in link, and serve nothing.": "Nur einen weiteren Link zum Anmelden ausgeben.",
    "Print a token for scripts, and serve nothing.": "Nur ein Token für Skripte ausgeben.",
    "Print the link or token as JSON.": "Den Link oder das Token als JSON ausgeben.",
    "Manage the directories in which the web page may start agents.": (
        "Verzeichnisse, in denen die Seite Agenten starten darf."
    ),
    "Let agents be started in DIR, or change how they run there.": (
        "Agenten in DIR starten lassen, oder ändern, wie sie dort laufen."
    ),
    "What the page calls it. By default its last part.": "Wie die Seite es nennt. Vorgabe: der letzte Teil.",
    "Whose project it is: nobody else sees it. By default yours.": (
        "Wem das Projekt gehört: Sonst sieht es niemand. Vorgabe: Ihnen."
    ),
    "Which agent works there.": "Welcher Agent dort arbeitet.",
    "Whether the agent can ask you. It can by default.": "Ob der Agent Sie fragen kann. Vorgabe: ja.",
    "How long it waits for an answer: 30 to 900. Else as mcp_ask_user_timeout says.": (
        "Wie lange er auf Antwort wartet: 30 bis 900. Sonst wie in mcp_ask_user_timeout."
    ),
    "The model it uses. By default its own choice.": "Sein Modell. Vorgabe: seine eigene Wahl.",
    "What it may do without asking you.": "Was er tun darf, ohne Sie zu fragen.",
    "Print the project as JSON.": "Das Projekt als JSON ausgeben.",
    "Show the projects here, and how many agents are at work in each.": (
        "Die Projekte zeigen, und wie viele Agenten darin arbeiten."
    ),
    "Let no more agents be started in PROJECT.": "In PROJECT keine Agenten mehr starten lassen.",
    "PROJECT is an id, a name or a directory. What was said there stays for a while.": (
        "PROJECT ist eine ID, ein Name oder ein Verzeichnis. Was dort gesagt wurde, bleibt eine Weile."
    ),
    "Rewrite the settings of every project's workspace.": "Die Einstellungen aller Arbeitsverzeichnisse neu schreiben.",
    "Do that after an upgrade or a change of settings.": "Nach einer Aktualisierung oder geänderten Einstellungen.",
    "Stop the agents at work in PROJECT, or all of them.": "Die Agenten in PROJECT beenden, oder alle.",
    "Every process of theirs ends as well, and what they ask is cancelled.": (
        "Auch alle ihre Prozesse enden, und was sie fragen, wird abgebrochen."
    ),
    "The same as `sayso project sync`, as PromptManager calls it.": (
        "Dasselbe wie `sayso project sync`, für PromptManager."
    ),
    "Manage who may sign in to the web inbox.": "Wer sich am Eingang im Browser anmelden darf.",
    "Let a person in, or let them in again after they were revoked.": (
        "Jemanden hereinlassen, auch wieder nach einer Sperre."
    ),
    "Show everyone who may sign in, and who no longer may.": "Alle zeigen, die sich anmelden dürfen oder durften.",
    "Shut a person out at once, and their agents.": "Jemanden sofort aussperren, mit seinen Agenten.",
    "Their sessions, links and API tokens end, and so do the tokens of their agents.": (
        "Sitzungen, Links und API-Token enden, und die Token der Agenten auch."
    ),
    "Manage which agents may connect over HTTP.": "Welche Agenten sich über HTTP verbinden dürfen.",
    "Make a token for an agent. It is shown this once.": (
        "Ein Token für einen Agenten anlegen. Es wird einmal gezeigt."
    ),
    "The project this agent works in.": "Das Projekt, in dem dieser Agent arbeitet.",
    "Its questions are for this user alone.": "Seine Fragen sind nur für diesen Benutzer.",
    "Print the token as JSON.": "Das Token als JSON ausgeben.",
    "Show the tokens, without their secrets.": "Die Token zeigen, ohne ihre Geheimnisse.",
    "Shut an agent out at once.": "Einen Agenten sofort aussperren.",
    "Show each setting, its value and where it comes from.": "Jede Einstellung mit Wert und Herkunft zeigen.",
    "Below them are the files that were looked at. Later ones win: defaults, your file, the project's file, SAYSO_* in "
    "the environment, a command's options.": (
        "Darunter stehen die gelesenen Dateien. Das Spätere gilt: Vorgaben, Ihre Datei, die des Projekts, SAYSO_* in "
        "der Umgebung, Optionen eines Befehls."
    ),
    "Print settings and files as JSON.": "Einstellungen und Dateien als JSON ausgeben.",
    "See Sayso work: a sample agent asks you three questions.": "Ausprobieren: Ein Beispielagent stellt drei Fragen.",
    "The agent is a real MCP client that starts a real server. Everything happens in a temporary folder that is "
    "removed at the end. Without a terminal nothing is answered for you: the demo says how to answer from another one, "
    "and waits while standard input is open, for ten minutes at most. With --web and without a terminal it plays the "
    "person as well, and ends.": (
        "Der Agent ist ein echter MCP-Client und startet einen echten Server. Alles geschieht in einem Ordner, der am "
        "Ende verschwindet. Ohne Terminal antwortet niemand für Sie: Die Vorführung sagt, wie es aus einem anderen "
        "geht, und wartet, solange die Standardeingabe offen ist, höchstens zehn Minuten. Mit --web und ohne Terminal "
        "spielt sie auch den Menschen und endet."
    ),
    "Serve the page too: answer there or in the terminal.": "Auch die Seite öffnen: dort oder im Terminal antworten.",
    "Port of the page. By default any free one.": "Port der Seite. Vorgabe: irgendein freier.",
    "Print the completion script for a shell.": "Das Skript zum Vervollständigen für eine Shell ausgeben.",
    "SHELL is bash, zsh or fish. It completes commands, options and the ids of open asks.": (
        "SHELL ist bash, zsh oder fish. Es vervollständigt Befehle, Optionen und die IDs offener Anfragen."
    ),
    "in ~/.bashrc": "in ~/.bashrc",
    "in ~/.zshrc": "in ~/.zshrc",
}

HELP = {**PAGE, **ASKS, **COMMANDS, **AGENTS, **PAGES}
