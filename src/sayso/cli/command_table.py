"""The table of commands with what each does, and what the program says of itself. Imports nothing that reads them."""

from __future__ import annotations

from sayso.cli.texts import mark

ABOUT = """\
The line between coding agents and the people they work for.

Agents ask questions, and you answer them here. Without a command it opens your inbox.

\b
Example:
  sayso demo                     see it work
  sayso install                  connect the agents on this machine
  sayso doctor                   what works, what does not, and how to fix it
  sayso list                     what agents want to know
  sayso answer 3f2a91bc          answer step by step
  sayso answer 3f2a91bc SQLite   answer right away
  sayso allow 3f2a91bc           see what an agent wants to do, and allow it
"""
PLAIN = mark("The inbox line by line, for screen readers and simple terminals.")
OPTIONS = {
    "--version": "Show the version and exit.",
    "--plain": PLAIN,
    "-h, --help": "Show this message and exit.",
}
GROUPS = {
    mark("Answering"): {
        "list": mark("Show the asks that can be answered."),
        "show": mark("Show everything about one ask."),
        "answer": mark("Answer an ask."),
        "reject": mark("Reject an ask: the agent is told no, and why if you give a reason."),
        "snooze": mark("Put an ask off: it is not in your inbox until WHEN."),
        "allow": mark("Allow what an agent wants to do, exactly as it is shown."),
        "deny": mark("Deny what an agent wants to do, and say why if you like."),
        "history": mark("Show finished asks, newest first."),
        "log": mark("Show what was allowed and denied, and what ran, newest last."),
        "rules": mark("Show the rules that hold here, and how often each decided."),
        "agents": mark("Show the agents at work, those that wait for you first."),
        "away": mark("Say that you are away: what agents ask waits in the inbox."),
        "back": mark("Say that you are back at your terminals."),
    },
    mark("Asking, and running commands"): {
        "ask": mark("Ask a person a question and wait for the answer."),
        "tools": mark("Turn commands into tools for agents with JSON files."),
        "ops": mark("See and stop the commands that agents run."),
        "trust": mark("Look at what a project brings, and let Sayso use it."),
    },
    mark("Connecting agents"): {
        "install": mark("Register Sayso with the agents on this machine."),
        "uninstall": mark("Remove Sayso from agents' configurations."),
        "doctor": mark("See what works, what does not, and how to fix it."),
        "server": mark("Serve one agent over MCP on standard input and output."),
        "guard": mark("Put another MCP server behind a gate."),
        "hook": mark("Hand late answers to the agent that asked."),
        "gate": mark("Bring a client's permission prompts into the inbox."),
    },
    mark("In the browser, and over the network"): {
        "web": mark("Serve the inbox to your browser, and the MCP tools over HTTP."),
        "project": mark("Manage the directories in which the web page may start agents."),
        "sync-workspaces": mark("The same as `sayso project sync`, as PromptManager calls it."),
        "user": mark("Manage who may sign in to the web inbox."),
        "chat": mark("Be asked in a chat, and answer there."),
        "token": mark("Manage which agents may connect over HTTP."),
    },
    mark("Sayso itself"): {
        "config": mark("Show each setting, its value and where it comes from."),
        "backup": mark("Copy all that Sayso keeps into one file."),
        "restore": mark("Put back what a backup has."),
        "demo": mark("See Sayso work: a sample agent asks you three questions."),
        "completion": mark("Print the completion script for a shell."),
    },
}
"""The commands with what each does, in the order of the help. Each is `command` in the module `sayso.cli.<name>`, and
says the same of itself there; here it is told without importing any."""
COMMANDS = {name: about for commands in GROUPS.values() for name, about in commands.items()}
