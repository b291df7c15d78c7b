"""Every setting, where each value comes from, and where Sayso keeps its files.

Later wins: defaults, the user's TOML, the project's TOML, SAYSO_* in the environment, flags.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.errors import ConfigError
from sayso.files import read_regular
from sayso.language import LANGUAGES
from sayso.log import LEVELS
from sayso.ownership import written_by_others
from sayso.records import field, fields, record
from sayso.setting_values import (
    DAY,
    HOUR,
    MINUTE,
    OneWord,
    answer_wait,
    duration,
    duration_or_none,
    key_table,
    limits,
    path,
    path_or_none,
    paths,
    patterns,
    readable,
    switch,
    text,
    toml,
    web_address,
    whole,
    words,
)
from sayso.text import did_you_mean

if TYPE_CHECKING:
    from sayso.trust import Trust

PROFILES = ("all", "auq", "swissarmyhammer", "ahma", "codenomad", "promptmanager")
RELAYED_PROFILE = "promptmanager"
"""The profile whose questions a relay can carry."""
TRUST = "trust"
"""The folder of the state in which it is noted which files of projects may be used."""
RULES = "rules.toml"
FOLDER_GONE = "The working directory has been removed. Change to one that is there."
STORES = ("postgresql://", "postgres://")
"""How the address of a store begins, where it is not a file in the state directory."""
SECRETS = ("store", "notify_url", "notify_apprise")
"""Settings whose values let others in, or write in your name: errors tell their beginning alone."""
SANDBOXES = ("none", "workspace", "read-only")
"""What commands may be kept to, the strictest last."""
NETWORKS = ("all", "loopback", "none")
"""What of the network they may use there, the strictest last."""
MACHINE_DIR = Path("/etc/sayso")
"""Where the owner of a machine says what holds for all of its users."""
MOST_SETTINGS = 1024 * 1024
"""Bytes of a project's settings; a larger file is not used."""


def _setting(default: Any, read: Callable[[object], Any], about: str, *, anywhere: bool = False) -> Any:
    """A field of Config. Only settings marked `anywhere` may appear in a project's file, even in one that was trusted:
    a repository must not be able to choose where answers go or which commands run."""
    metadata = {"read": read, "about": about, "anywhere": anywhere}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


THEME_NAMES = (
    "dark",
    "light",
    "contrast",
    "terminal",
    *["nord", "gruvbox", "dracula", "solarized", "mocha", "forest", "paper", "latte"],
)


@record
class Config:
    """The settings of one process, and for each where it came from."""

    store: str = _setting(
        "", text, "Where asks are kept: a `postgresql://` address, or empty for SQLite in the state directory."
    )
    profile: str = _setting(
        "all", OneWord(*PROFILES), "Which tools the MCP server shows, and in whose exact form.", anywhere=True
    )
    ask_timeout: int | None = _setting(
        None,
        duration_or_none,
        "How long a call of `ask_user_questions` waits before it ends as timed out. `none` waits for ever.",
        anywhere=True,
    )
    max_questions: int = _setting(
        4, whole(1, 100), "The most questions one call of `ask_user_questions` may put.", anywhere=True
    )
    max_options: int = _setting(
        4, whole(2, 100), "The most options one question of `ask_user_questions` may have.", anywhere=True
    )
    ask_user_timeout: int | None = _setting(
        None,
        duration_or_none,
        "How long a call of `ask_user` waits that brings no `timeout`. `none`: as long as it takes; in the profile "
        "`promptmanager` 5 minutes.",
        anywhere=True,
    )
    ask_user_max_questions: int = _setting(
        10, whole(1, 100), "The most questions one call of `ask_user` may put.", anywhere=True
    )
    ask_user_max_options: int = _setting(
        1000, whole(2, 10_000), "The most options one question of `ask_user` may have.", anywhere=True
    )
    forms: str = _setting(
        "auto",
        OneWord("auto", "always", "never"),
        "Whether the client's own form shows a question too: `auto` where that takes nothing away from the inbox.",
        anywhere=True,
    )
    approve: bool = _setting(
        False,
        switch,
        "List the tool `approve`, for permission prompts. Only for a client that is told to ask by it.",
    )
    lean: bool = _setting(
        False,
        switch,
        "List `ask_user` and `get_answers` alone in the profile `all`: they take up less of an agent's context.",
    )
    approve_timeout: int | None = _setting(
        None,
        duration_or_none,
        "How long a call of `approve` waits for you before it is denied. `none` waits for ever.",
    )
    form_reaction: int = _setting(
        1500,
        duration,
        "A form that comes back faster than this was not read by a person: nothing is taken from it.",
    )
    heartbeat: int = _setting(
        10_000,
        duration,
        "How often a client that takes progress notifications hears that its call is still held.",
        anywhere=True,
    )
    call_limits: Mapping[str, int] = _setting(
        {},
        limits,
        'How long each client lets a call last, where the built-in value is wrong: `{cursor = "4m", zed = "none"}`, '
        "or `cursor=4m,zed=none` in the environment.",
    )
    notify_desktop: bool = _setting(
        True, switch, "Show a notification on this machine's desktop, where it has one, when nobody is looking."
    )
    notify_command: tuple[str, ...] = _setting(
        (),
        words,
        "A command, as a list of words, that tells you of a question nobody is looking at. The text is on its stdin.",
    )
    notify_url: str = _setting(
        "", web_address, "An address that new questions are posted to: an ntfy topic or any webhook."
    )
    notify_format: str = _setting(
        "auto",
        OneWord("auto", "ntfy", "json"),
        "What `notify_url` is sent: a message as ntfy takes it, or JSON. `auto`: ntfy where the host is called so.",
    )
    notify_apprise: tuple[str, ...] = _setting(
        (), words, "Addresses of apprise services that new questions are sent to. Needs `sayso[apprise]`."
    )
    notify_details: bool = _setting(
        False, switch, "Put the question's own text into notifications that leave this machine."
    )
    away_after: int = _setting(
        300_000,
        duration,
        "How long you count as being there, in front of an inbox or an agent's terminal, after you last touched a key "
        "or moved the pointer in it.",
    )
    notify_after_typing: int = _setting(
        30_000,
        duration,
        "How long after your last key in an agent's own terminal you are notified of what it asks.",
    )
    history: bool = _setting(
        True, switch, "Keep asks after they were delivered. `false` wipes their texts on delivery.", anywhere=True
    )
    keep_ended: int = _setting(7 * DAY, duration, "How long an ask is kept after it ended.")
    keep_undelivered: int = _setting(
        30 * DAY, duration, "How long an answer is kept that its agent has not fetched yet."
    )
    keep_log: int = _setting(365 * DAY, duration, "How long the log keeps what was allowed, denied and run.")
    keep_unattended: int = _setting(
        7 * DAY, duration, "How long a question stays open when no agent is waiting for it any more."
    )
    max_open_asks: int = _setting(
        100, whole(1, 1_000_000), "How many questions one agent may have open at once; a further one is refused."
    )
    max_open_commands: int = _setting(
        100, whole(1, 1_000_000), "How many commands one agent may have under way at once; a further one is refused."
    )
    attachments: int = _setting(
        10, whole(0, 100), "How many pictures and files can go with one answer. 0: none are taken."
    )
    attachments_bytes: int = _setting(
        20_000_000, whole(1000, 100_000_000), "How large all pictures and files of one answer may be together."
    )
    person: str = _setting("", text, "Your name as it is recorded with your answers. Empty: your login name.")
    log_level: str = _setting("info", OneWord(*LEVELS), "How much is logged.", anywhere=True)
    log_file: Path | None = _setting(None, path_or_none, "Log to this file instead of stderr.")
    state_dir: Path = _setting(Path(), path, "Where Sayso keeps its files.")

    # The terminal inbox

    theme: str = _setting(
        "auto",
        OneWord("auto", *THEME_NAMES),
        "Colours of the terminal inbox. `terminal` uses your terminal's own; `auto` is light or dark as it says.",
    )
    language: str = _setting(
        "auto",
        OneWord("auto", *LANGUAGES),
        "Language of the terminal inbox and of the command line. `auto` follows LC_ALL, LC_MESSAGES and LANG.",
    )
    keys: tuple[tuple[str, str], ...] = _setting(
        (), key_table, "Other keys for the terminal inbox: a table of action and key, or keys."
    )
    terminal_notify: str = _setting(
        "auto",
        OneWord("auto", "osc99", "osc777", "osc9", "off"),
        "How the terminal inbox tells you of new asks: `auto` chooses what your terminal understands.",
    )
    terminal_notify_when: str = _setting(
        "away", OneWord("away", "always"), "Tell only while another window has the focus, or always."
    )
    terminal_bell: bool = _setting(True, switch, "Ring the terminal's bell with each notification.")
    terminal_title: bool = _setting(True, switch, "Show the number of open asks in the terminal's title.")
    terminal_mouse: bool = _setting(
        True, switch, "Let the terminal inbox use the mouse. `false` leaves it to your terminal."
    )

    # The web inbox

    web_host: str = _setting(
        "127.0.0.1",
        text,
        "Where the web inbox listens. Anything but loopback lets other machines in: put it behind TLS.",
    )
    web_port: int = _setting(7297, whole(0, 65_535), "The port of the web inbox. `0` takes any that is free.")
    web_url: str = _setting(
        "", web_address, "The address people use for the web inbox, when it is behind a proxy (for TLS, say)."
    )
    web_hosts: tuple[str, ...] = _setting((), words, "Further host names that the web inbox answers to.")
    client_documents: tuple[str, ...] = _setting(
        (),
        words,
        "Hosts such as `claude.ai` from which the descriptions of clients are fetched that name themselves by one when "
        "they sign in; `*` is every public host. Empty: none, and clients register here instead.",
    )

    # Commands

    tools_dir: Path | None = _setting(
        None, path_or_none, "The directory of tool files. Empty: your own, then the project's `.sayso/tools/`."
    )
    tools_from_project: bool = _setting(
        True, switch, "Serve the tool files of the project's `.sayso/tools/` that you trust. `false` leaves them out."
    )
    command_timeout: int | None = _setting(
        30 * MINUTE,
        duration_or_none,
        "How long a command may run when neither the call nor its tool file says. `none` is for ever.",
        anywhere=True,
    )
    inline_ms: int = _setting(
        0,
        whole(0, 60_000),
        "Milliseconds that a background call holds on, so that a quick command returns its result at once.",
        anywhere=True,
    )
    command_roots: tuple[Path, ...] = _setting(
        (), paths, "Directories besides the project that paths in calls of commands may lie in."
    )
    command_grace: int = _setting(
        2000, duration, "How long a command that is stopped has to end by itself before it is killed."
    )
    command_runners: int = _setting(
        4, whole(1, 64), "How many runners are kept ready for the next commands, once there was one."
    )
    command_idle: int = _setting(60_000, duration, "How long runners are kept ready when no command comes.")
    output_bytes: int = _setting(
        10 * 1024 * 1024,
        whole(1024, 2**30),
        "The most bytes kept of each output stream of a command: its beginning and its end.",
    )
    reply_bytes: int = _setting(
        16 * 1024,
        whole(256, 1024 * 1024),
        "The most bytes of each output stream that a result shows to the agent.",
        anywhere=True,
    )
    mask_output: bool = _setting(
        True, switch, "Hide what looks like a password, key or token in the output that agents are shown."
    )
    mask_patterns: tuple[str, ...] = _setting(
        (),
        patterns,
        "Further regular expressions of what to hide: all that matches, or the group `secret` where there is one.",
    )
    keep_operations: int = _setting(7 * DAY, duration, "How long a command's result and output are kept.")
    keep_operations_bytes: int = _setting(
        1024**3, whole(1024 * 1024, 2**50), "The most bytes that results and outputs take; the oldest go first."
    )

    # The sandbox of commands

    sandbox: str = _setting(
        "none",
        OneWord(*SANDBOXES),
        "What commands may change: `workspace` is the project alone, `read-only` nothing. A project's tool file can be "
        "stricter, not more lenient; your own can be either.",
    )
    sandbox_network: str = _setting(
        "none",
        OneWord(*NETWORKS),
        "What of the network a command in a sandbox may use: `none`, `loopback` (one of its own), or `all`.",
    )
    sandbox_write: tuple[Path, ...] = _setting(
        (), paths, "Directories besides the project that commands in the sandbox `workspace` may change."
    )
    sandbox_hide: tuple[Path, ...] = _setting(
        (), paths, "Files and directories that no command in a sandbox may read, besides those that none may."
    )
    sandbox_missing: str = _setting(
        "refuse",
        OneWord("refuse", "run"),
        "What becomes of a command whose sandbox this machine cannot enforce: it is refused, or run without.",
    )

    # Talk

    claude_command: tuple[str, ...] = _setting(
        ("claude",), words, "The command that runs Claude Code for the web page, as a list of words."
    )
    codex_command: tuple[str, ...] = _setting(
        ("codex",), words, "The command that runs Codex for the web page, as a list of words."
    )
    projects_in: tuple[Path, ...] = _setting(
        (),
        paths,
        "Folders below which you can add projects from the web page. Empty: `sayso project add` alone adds them.",
    )
    most_runs: int = _setting(3, whole(1, 100), "How many agents each user may have at work at once from the web page.")
    run_timeout: int | None = _setting(
        4 * HOUR,
        duration_or_none,
        "How long one turn of an agent may take before it is stopped. `none` is for ever.",
    )
    run_rest: int = _setting(
        10 * MINUTE,
        duration,
        "How long an agent that has ended its turn stays ready for your next message before its process ends. The next "
        "message then resumes the conversation in a new one.",
    )
    keep_runs: int = _setting(30 * DAY, duration, "How long a conversation with an agent is kept after its last turn.")
    mcp_ask_user_enabled: bool = _setting(
        True, switch, "Give agents that the web page runs an MCP server to ask you by. Also `mcpAskUserEnabled`."
    )
    mcp_ask_user_timeout: int = _setting(
        300_000,
        answer_wait,
        "How long such an agent waits for your answer where its project does not say. Also `mcpAskUserTimeout`.",
    )
    mcp_ask_user_server_path: Path | None = _setting(
        None,
        path_or_none,
        "Another MCP server for them than `sayso server`: a program, or a `.js` file for node. "
        "Also `mcpAskUserServerPath`.",
    )
    relay_dir: Path = _setting(
        Path("/tmp/claude-ask-user"),  # noqa: S108
        path,
        "Where a file for each run tells its MCP server of the relay. Made private to you; if it is somebody else's, a "
        "directory in `state_dir` is used.",
    )

    project: Path = field(default_factory=Path)
    user_dir: Path = field(default_factory=Path)
    """Where the user's own files for Sayso lie."""
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def project_name(self) -> str:
        """The project as it is recorded: a path may hold bytes that are no text."""
        return os.fsencode(self.project).decode(errors="replace")

    @property
    def database(self) -> Path:
        return self.state_dir / "sayso.db"

    @property
    def bell_dir(self) -> Path:
        return self.state_dir / "bell"

    @property
    def operations_dir(self) -> Path:
        """Where each run of a command has a folder."""
        return self.state_dir / "operations"

    @property
    def attachments_dir(self) -> Path:
        """Where the files of answers lie for agents that read files."""
        return self.state_dir / "attachments"

    @property
    def runs_dir(self) -> Path:
        """Where each run of an agent has a folder."""
        return self.state_dir / "runs"

    @property
    def trees_dir(self) -> Path:
        """Where it is kept what the working tree of each conversation was like at its beginning."""
        return self.state_dir / "trees"

    @property
    def worktrees_dir(self) -> Path:
        """Where conversations have working trees of their own."""
        return self.state_dir / "worktrees"

    @property
    def own_relay_dir(self) -> Path:
        """Takes the place of `relay_dir` where somebody else has that."""
        return self.state_dir / "relay"

    @property
    def gates_dir(self) -> Path:
        """Which gates of servers that sessions share are running."""
        return self.state_dir / "gates"

    @property
    def guarded_dir(self) -> Path:
        """What was accepted of the servers behind `sayso guard`."""
        return self.state_dir / "guarded"

    @property
    def environments_dir(self) -> Path:
        return self.state_dir / "environments"

    @property
    def tools_dirs(self) -> tuple[Path, ...]:
        """Where tool files are looked for, the first of a name wins. Those that are not named need not be there."""
        if self.tools_dir:
            return (self.tools_dir,)
        theirs = (self.project_tools_dir,) if self.tools_from_project else ()
        return (self.user_tools_dir, *theirs)

    def is_of_project(self, folder: Path) -> bool:
        """Whether the project brought what lies in a folder of tool files, so that it has to be trusted first."""
        if folder in (self.user_tools_dir, self.project_tools_dir):
            return folder == self.project_tools_dir
        return folder.resolve().is_relative_to(self.project.resolve())

    @property
    def trust(self) -> Trust:
        """Which files of projects may be used."""
        return _trust_in(self.state_dir)

    @property
    def trust_dir(self) -> Path:
        return self.state_dir / TRUST

    @property
    def project_settings(self) -> Path:
        return settings_of(self.project)

    @property
    def user_rules(self) -> Path:
        """What this person lets agents do, keeps them from, and wants to be asked about."""
        return self.user_dir / RULES

    @property
    def machine_rules(self) -> Path:
        """The same for everybody on this machine."""
        return MACHINE_DIR / RULES

    @staticmethod
    def rules_of(project: Path) -> Path:
        """The same for everybody who works in a project."""
        return project / ".sayso" / RULES

    @property
    def project_tools_dir(self) -> Path:
        return self.project / ".sayso" / "tools"

    @property
    def user_tools_dir(self) -> Path:
        return self.user_dir / "tools"

    @property
    def theme_file(self) -> Path:
        """Where it is noted which colours were chosen in the terminal inbox."""
        return self.state_dir / "theme"

    @property
    def web_addresses_dir(self) -> Path:
        """Where each web inbox notes the address it serves at, so that other commands can name it."""
        return self.state_dir / "web-addresses"

    @property
    def installed_file(self) -> Path:
        """Where it is noted what was put into the files of agents' clients."""
        return self.state_dir / "installed.json"


ALIASES = {
    "mcpAskUserEnabled": "mcp_ask_user_enabled",
    "mcpAskUserTimeout": "mcp_ask_user_timeout",
    "mcpAskUserServerPath": "mcp_ask_user_server_path",
}
"""Settings under the names that PromptManager gave them."""

SETTINGS = {name: item for name, item in fields(Config).items() if "read" in item.metadata}


def load(
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
    cwd: Path | None = None,
) -> Config:
    """The settings that hold here and now; a ConfigError names the file, the key, the value and what is allowed."""
    project = project_dir(environ, cwd)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}

    def take(given: Mapping[str, object], source: Callable[[str], str]) -> None:
        for key, value in given.items():
            values[key] = _read(key, value, source(key))
            sources[key] = source(key)

    user, theirs = user_file(environ), settings_of(project)
    spoken = _from_environment(environ)
    take(_toml(user, is_named=bool(environ.get("SAYSO_CONFIG"))), lambda _: str(user))
    # Where the state lies is never a project's word: it is noted there whether such a word counts.
    named = spoken.get("state_dir")
    mine = _read("state_dir", named, "SAYSO_STATE_DIR") if named else values.get("state_dir")
    values["state_dir"] = mine or default_state_dir(environ)
    take(_trusted(theirs, values["state_dir"], project), lambda _: str(theirs))
    take(spoken, lambda key: f"SAYSO_{key.upper()}")
    take({key: value for key, value in (flags or {}).items() if value is not None}, _flag)
    values["person"] = values.get("person") or _login()
    return Config(**values, project=project, user_dir=user.parent, sources=sources)


def settings_of(project: Path) -> Path:
    """Where a project says something about settings."""
    return project / ".sayso" / "config.toml"


def language_setting(environ: Mapping[str, str] = os.environ) -> str:
    """The setting `language` alone, `auto` where the settings cannot be read: that has to be told in some language."""
    try:
        named = environ.get("SAYSO_LANGUAGE") or _toml(user_file(environ)).get("language")
    except ConfigError:
        named = None
    return named if isinstance(named, str) else "auto"


def user_file(environ: Mapping[str, str] = os.environ) -> Path:
    if named := environ.get("SAYSO_CONFIG"):
        try:
            return path(named)
        except ValueError as error:
            raise ConfigError(f"SAYSO_CONFIG is {named!r}; it must be {error}.") from error
    home = environ.get("XDG_CONFIG_HOME") or (environ.get("APPDATA") if os.name == "nt" else None)
    return (Path(home) if home else _home(environ) / ".config") / "sayso" / "config.toml"


def default_state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    home = environ.get("XDG_STATE_HOME") or (environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(home) if home else _home(environ) / ".local" / "state") / "sayso"


def _home(environ: Mapping[str, str]) -> Path:
    if (home := environ.get("HOME")) and os.name != "nt":
        return Path(home)
    try:
        return Path.home()
    except RuntimeError as error:
        raise ConfigError("HOME is not set. Set it, or SAYSO_STATE_DIR and SAYSO_CONFIG.") from error


def project_dir(environ: Mapping[str, str] = os.environ, cwd: Path | None = None) -> Path:
    """The project an agent works in: what its client says, else the working directory."""
    named = environ.get("CLAUDE_PROJECT_DIR")
    if named and Path(named).is_dir():
        return Path(named)
    try:
        return cwd or Path.cwd()
    except FileNotFoundError as error:
        raise ConfigError(FOLDER_GONE) from error


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-")


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    named = {key: environ.get(f"SAYSO_{key.upper()}") for key in SETTINGS}
    return {key: value for key, value in named.items() if value}


def _toml(file: Path, *, is_named: bool = False) -> dict[str, object]:
    """What the person's file says. One that was named has to be there: a name with a slip in it, or of a file that has
    moved, must not pass for no settings and no rules."""
    try:
        data, place = file.read_bytes(), written_by_others(file)
    except (FileNotFoundError, NotADirectoryError) as error:
        if is_named:
            raise ConfigError(
                f"SAYSO_CONFIG names {file}, which is not there. "
                "Correct it, make that file (it may be empty), or unset SAYSO_CONFIG."
            ) from error
        return {}
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}). Check its permissions.") from error
    if place:
        raise ConfigError(f"{file}: somebody else can write {place}. Make it your own: chown and chmod go-w.")
    return _settings_in(data, file)


def _settings_in(data: bytes, file: Path) -> dict[str, object]:
    try:
        return {ALIASES.get(key, key): value for key, value in toml(data.decode()).items()}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text. Save it as UTF-8.") from error
    except ValueError as error:
        raise ConfigError(f"{file}: is not valid TOML: {error}. Fix or remove that line.") from error


def _trust_in(state_dir: Path) -> Trust:
    # Only now: most projects bring nothing, and a fast start is a feature.
    from sayso.trust import Trust

    return Trust(state_dir / TRUST)


def _trusted(file: Path, state_dir: Path, project: Path) -> dict[str, object]:
    """What a project's file says, if a person has trusted it as it is. Else nothing of it is even read as settings."""
    try:
        data = read_regular(file, MOST_SETTINGS)
    except OSError:
        return {}
    given = _settings_in(data, file) if _trust_in(state_dir).of(project).trusts(file, data) else {}
    for key in given:
        if key in SETTINGS and not SETTINGS[key].metadata["anywhere"]:
            raise ConfigError(
                f"{file}: {key} may not be set by a project, only by you. Move it to your own file "
                f"(`sayso config` names it) or set SAYSO_{key.upper()}."
            )
    return given


def _read(key: str, value: object, source: str) -> Any:
    if key not in SETTINGS:
        hint = did_you_mean(key, SETTINGS, f"The settings are {', '.join(SETTINGS)}.")
        raise ConfigError(f"{source}: there is no setting {key!r}. {hint}")
    try:
        return SETTINGS[key].metadata["read"](value)
    except ValueError as error:
        raise ConfigError(f"{source}: {key} is {told(key, value)}; it must be {error}.") from error


def told(key: str, value: object) -> str:
    """What was given for a setting, as an error may say it."""
    return f"{beginning(value)!r}…" if key in SECRETS and isinstance(value, str) else repr(value)


def beginning(value: object) -> str:
    """The first word of what may hold a secret: enough to see what is wrong with it."""
    return "".join(takewhile(str.isalpha, str(value)))[:12]


def unknown_store(source: str, value: object) -> str:
    """What is wrong with a store that is none of STORES."""
    if given := beginning(value):
        return (
            f"{source}: store begins with {given!r}; "
            "it must be a postgresql:// address, or empty for SQLite in the state directory."
        )
    return (
        f"{source}: store is not an address; "
        "it must be a postgresql:// address, or empty for SQLite in the state directory."
    )


_LOGINS = ("LOGNAME", "USER", "LNAME", "USERNAME")


def system_user() -> str:
    """Whom the system takes this process for, whatever its environment says."""
    try:
        import pwd

        return readable(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError, OSError):
        return _login()


def _login() -> str:
    """As `getpass.getuser` has it, which imports more than a server's start should cost."""
    named = next((os.environ[name] for name in _LOGINS if os.environ.get(name)), "")
    try:
        if not named:
            import pwd

            named = pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError, OSError):
        return "someone"
    return readable(named)
