"""Programs that run other programs: what a command really runs, as far as that can be told from its words.

Also options by which programs that seem harmless run others or write files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, pairwise, takewhile

from sayso.records import record, replace
from sayso.rules.use import Command

USUAL_FOLDERS = ("", "/bin", "/usr/bin")
"""Where programs are what they are called. Anywhere else another one may be called so."""


def named(text: str) -> frozenset[str]:
    """The words of a text, each a name."""
    return frozenset(text.split())


@record
class Inside:
    """What a command runs."""

    commands: tuple[Command, ...] = ()
    lines: tuple[str, ...] = ()
    """Texts that a shell takes apart."""
    possible: tuple[Command, ...] = ()
    """What it may run, where each word may be a line of its own: of interest to those who deny it."""
    variables: tuple[str, ...] = ()
    """What it sets for them."""
    doubts: tuple[str, ...] = ()
    is_command: bool = True
    """Whether it does something itself that has to be allowed."""


def inside(words: Command) -> Inside:
    """What a command runs. One that is not found in the usual way may do something else by the same name."""
    folder, _, name = words[0].rpartition("/")
    found = _inside(name, words)
    return found if folder in USUAL_FOLDERS else replace(found, is_command=True)


def _inside(name: str, words: Command) -> Inside:
    if name == "command" and words[1:2] in (("-v",), ("-V",)):
        return Inside()
    if name in _TRANSPARENT:
        return _transparent(name, words)
    if name in _RUNNERS or name in _LATER:
        return Inside(possible=_tails(words))
    if " ".join((name, *words[1:2])) in _RUN_BY_SECOND:
        return Inside(possible=_tails(words[1:]))
    if name == "git":
        return Inside(possible=tuple(_by_git(words)))
    if name in _SHELLS:
        return _shell(words)
    match name:
        case "env":
            return _env(words)
        case "xargs":
            return _xargs(words)
        case "find":
            return _find(words)
        case "test" | "[":
            return _test(words)
        case "printf":
            return _printf(words)
        case "exit" | "logout" | "return" | "break" | "continue" | "shift":
            return Inside(doubts=_sums(name, words[1:]))
        case "alias":
            return Inside(possible=tuple((word.partition("=")[2],) for word in words[1:] if "=" in word))
        case "eval":
            return Inside(lines=(" ".join(words[1:]),))
    return Inside()


_TRANSPARENT: dict[str, tuple[str, int]] = {
    "timeout": (r"--preserve-status|--foreground|-v|--verbose|-k=|--kill-after=.*|-s=|--signal=.*", 1),
    "nice": (r"-n=|-n-?\d+|-\d+|--adjustment=-?\d+", 0),
    "ionice": (r"-c=|-c\d|-n=|-n\d|-t", 0),
    "nohup": (r"", 0),
    "time": (r"-p", 0),
    "stdbuf": (r"-[ioe]=|-[ioe][0L\d]\w*|--(?:input|output|error)=\w+", 0),
    "setsid": (r"-w|--wait|-f|--fork|-c|--ctty", 0),
    "command": (r"-p", 0),
    "builtin": (r"", 0),
    "exec": (r"", 0),
}
"""Programs that run the rest of their words: their options (those with `=` take the next word), and how many words of
their own come first."""

_RUNNERS = named(
    "sudo doas su sg pkexec runuser chroot nsenter unshare ssh setpriv capsh gosu su-exec docker podman kubectl "
    "systemd-run watch parallel script strace ltrace flock busybox toybox entr npx caffeinate arch setarch linux32 "
    "linux64 i386 x86_64 chrt taskset numactl prlimit cpulimit unbuffer valgrind hyperfine screen tmux xvfb-run "
    "dbus-run-session fakeroot proot firejail bwrap torsocks proxychains proxychains4 rlwrap chronic watchexec "
    "nodemon concurrently gtimeout gnice gnohup gtime gstdbuf genv gxargs noglob nocorrect repeat sched - emulate "
    "zargs eatmydata faketime perf nix-shell start-stop-daemon tini dumb-init direnv mise asdf rbenv pyenv nodenv "
    "conda mamba micromamba op aws-vault doppler dotenv dotenvx infisical cross-env env-cmd uvx pipx bunx pnpx"
)
"""Programs, and words before programs, that run others with other rights, elsewhere, again or read otherwise. A rule
that allows what is run does not allow that: it has to name the one that runs it."""
_LATER = named("trap coproc jobs")
"""Words of the shell that run a line later, or beside."""

_SPAN = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_MOST_TRIED = 20
_OTHER_GRAMMAR = named("fish csh tcsh mksh pdksh oksh lksh yash posh bosh elvish nu xonsh rc es")
"""Shells to which quotes may mean something else, so that what is a word to us may be a command to them."""
_SHELLS = named("sh bash dash zsh ksh ash rbash rksh rzsh") | _OTHER_GRAMMAR


def _tails(words: Command) -> tuple[Command, ...]:
    """Its words from each on but the first: where what it runs begins, its options decide."""
    return tuple(words[place:] for place in range(1, min(len(words), _MOST_TRIED)))


def _by_git(words: Command) -> Iterator[Command]:
    """What git may be told to run: in a setting, behind an option, or after some of its subcommands."""
    for place, word in enumerate(words[1:_MOST_TRIED], start=1):
        before, value = words[place - 1], word.partition("=")[2] or word
        if found := _ALIAS_FOR_SHELL.fullmatch(word):
            yield (found[1],)
        elif before in ("-c", "-x", "--exec", "--extcmd") or word.startswith(("--exec=", "--extcmd=")):
            yield (value,)
        elif word.startswith("-x") and "rebase" in words:
            yield (word[2:],)
        if word in _GIT_RUNS:
            yield from _tails(words[place:])


def _transparent(name: str, words: Command) -> Inside:
    known, own = _TRANSPARENT[name]
    rest, fits = _after_options(words[1:], known)
    inner = rest[own:]
    strange = any(word.startswith("-") for word in rest[: own + 1]) or not all(map(_SPAN.fullmatch, rest[:own]))
    if not fits or not inner or strange:
        return Inside(commands=(inner,) if inner else (), doubts=(f"`{name}` is not used plainly",))
    return Inside(commands=(inner,), is_command=False)


def _after_options(words: Command, known: str) -> tuple[Command, bool]:
    """What follows the options, and whether all of these are known."""
    takes_next = {part[:-1] for part in known.split("|") if part.endswith("=")}
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        word = words[place]
        if word == "--":
            return words[place + 1 :], True
        if word in takes_next:
            place += 2
        elif re.fullmatch(known, word) and word not in takes_next:
            place += 1
        else:
            return words[place + 1 :], False
    return words[place:], True


def _shell(words: Command) -> Inside:
    name = words[0].rpartition("/")[2]
    strange = ("its shell is not used plainly",)
    for place, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word):
            plain = word in ("-c", "-lc") and place == 1 and len(words) == 3 and name not in _OTHER_GRAMMAR
            lines = words[place + 1 : place + 2]
            return Inside(lines=lines, is_command=False, doubts=() if plain else strange)
        if not word.startswith("-"):
            break
    plain = len(words) > 1 and not words[1].startswith(("-", "+"))
    return Inside(doubts=() if plain else strange)


def _env(words: Command) -> Inside:
    place, names = 1, list[str]()
    while place < len(words):
        word = words[place]
        if word in ("-i", "-"):
            place += 1
        elif word == "-u":
            place += 2
        elif re.fullmatch(r"[A-Za-z_]\w*=.*", word, re.DOTALL):
            names.append(word.partition("=")[0])
            place += 1
        elif word.startswith("-") or "=" in word:
            rest = (words[place + 1 :],) if words[place + 1 :] else ()
            lines = tuple(each for each in words[place:] if " " in each)
            return Inside(commands=rest, lines=lines, doubts=("`env` is not used plainly",))
        else:
            break
    inner = words[place:]
    if not inner:
        return Inside(variables=tuple(names))
    return Inside(commands=(inner,), variables=tuple(names), is_command=False)


def _xargs(words: Command) -> Inside:
    known = r"-0|--null|-r|--no-run-if-empty|-t|-n=|-n\d+|-P=|-P\d+|-I=|-L=|-L\d+|-d=|-s="
    rest, _ = _after_options(words[1:], known)
    return Inside(
        commands=(rest,) if rest else (), doubts=("`xargs` adds words that nobody sees",), is_command=not rest
    )


def _find(words: Command) -> Inside:
    inner, doubts = list[Command](), list[str]()
    place = 1
    while place < len(words):
        if words[place] in ("-exec", "-execdir", "-ok", "-okdir"):
            ends = [end for end in range(place + 1, len(words)) if _ends_command(words, end)]
            end = ends[0] if ends else len(words)
            inner.append(words[place + 1 : end])
            if words[place].endswith("dir") or (_fills_in(inner[-1]) and not _finds_to_read(words, inner[-1])):
                doubts.append("`find` fills in what nobody sees")
            place = end
            if not ends:
                doubts.append("`find` is not used plainly")
        elif re.fullmatch(r"-delete|-fprint0?|-fprintf|-fls|-files0-from", words[place]):
            doubts.append(f"`find {words[place]}` changes files")
        place += 1
    return Inside(commands=tuple(filter(None, inner)), doubts=tuple(doubts))


def _fills_in(inner: Command) -> bool:
    return any("{}" in word for word in inner)


def _finds_to_read(words: Command, inner: Command) -> bool:
    """Whether each file that a `find` puts into a command is one word for it, which begins as the `find` says where to
    look, and the command only reads: what is found has any name, and may be what no rule allows to change."""
    told = dropwhile(re.compile(r"-[HLP]\Z").match, words[1:])
    begins = takewhile(lambda word: not _EXPRESSION.match(word), told)
    whole = all(word == "{}" for word in inner if "{}" in word)
    plain = all(map(_WHERE_TO_LOOK.fullmatch, begins)) and not any(map(_LOOKS_IN_NEXT.fullmatch, words))
    return whole and plain and only_reads(inner)


_EXPRESSION = re.compile(r"-|[(!]\Z")
_WHERE_TO_LOOK = re.compile(r"[\w./~][\w./ -]*", re.ASCII)
_LOOKS_IN_NEXT = re.compile(r"-[EHLPXdsx]*f|--|-D|-O\d*")
"""After which a `find` may take words for folders, however they begin."""


def _test(words: Command) -> Inside:
    """A shell may take the name of a variable, or a number, for a sum, and runs what stands in the brackets of that."""
    told = words[1:-1] if words[0].endswith("[") else words[1:]
    summed = any(re.fullmatch(r"-(?:v|R|t|eq|ne|lt|le|gt|ge)", word) for word in told)
    strange = any(set(word) & set("[`") or "$(" in word or (summed and not word.isprintable()) for word in told)
    named = summed and any(map(_VARIABLE.fullmatch, told))
    return Inside(doubts=("`test` may run what is in its words",) if strange or named else ())


_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[-+]?[\d.]*|\$\?")
_TEXT_OF_PRINTF = re.compile(r"%%|%-?\d*(?:\.\d+)?[sbqc]")


def _printf(words: Command) -> Inside:
    """Where a number is wanted, zsh and ksh take a word for a sum."""
    told = words[2:] if words[1:2] == ("--",) else words[1:]
    wants_numbers = bool(told) and "%" in _TEXT_OF_PRINTF.sub("", told[0])
    return Inside(doubts=_sums("printf", told[1:]) if wants_numbers else ())


def _sums(name: str, words: Command) -> tuple[str, ...]:
    """A word that is no number may name a variable, and that may hold a sum with a command in its brackets."""
    return () if all(map(_NUMBER.fullmatch, words)) else (f"`{name}` may run what is in a variable",)


def _ends_command(words: Command, place: int) -> bool:
    """A plus is a word like any other unless the files stand before it."""
    return words[place] == ";" or (words[place] == "+" and words[place - 1] == "{}")


# Options

_NPM_OPTIONS = "--script-shell --prefix -C --node-options --userconfig --globalconfig"
_RISKY = {
    "git": "--upload-pack --receive-pack --exec --ext-diff --textconv --output --output-directory "
    "--open-files-in-pager --template --separate-git-dir --config --pathspec-from-file",
    "git clone": "-u -c",
    "git rebase": "-x",
    "git grep": "-O --no-index",
    "git diff": "--no-index",
    "git blame": "--contents",
    "git archive": "-o",
    "git format-patch": "-o",
    "rg": "--pre --hostname-bin",
    "fd": "-x -X --exec --exec-batch",
    "fdfind": "-x -X --exec --exec-batch",
    "tar": "--to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script "
    "--new-volume-script -I -F",
    "sort": "-o --output --compress-program",
    "rsync": "-e --rsh --rsync-path",
    "curl": "-o -O --output --remote-name --remote-name-all -K --config -T --upload-file -D --dump-header "
    "-c --cookie-jar -w --write-out --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc "
    "--output-dir --ssl-sessions --engine",
    "wget": "-O -o -a -e -P -i --output-document --output-file --append-output --execute --directory-prefix "
    "--input-file --use-askpass --config --save-cookies --hsts-file --warc-file --post-file --body-file",
    "sed": "-i -I --in-place -e --expression -f --file",
    "zip": "-T -TT -O --test --unzip-command --output-file",
    "gcc": "-wrapper -fplugin -specs -B",
    "g++": "-wrapper -fplugin -specs -B",
    "cc": "-wrapper -fplugin -specs -B",
    "clang": "-fplugin -fpass-plugin -Xclang -B",
    "docker": "-H --host -c --context --config",
    **dict.fromkeys(
        ("docker build", "podman build"), "-o --output --iidfile --metadata-file --cache-to --secret --ssh"
    ),
    **dict.fromkeys(("docker save", "docker export", "podman save", "podman export"), "-o --output"),
    "eslint": "-c --config --plugin --rulesdir --parser --resolve-plugins-relative-to -f --format -o --output-file",
    "prettier": "--config --plugin",
    "jest": "-c --config --globalSetup --runner --testRunner --reporters --transform --setupFiles",
    "mypy": "--python-executable --config-file --install-types --junit-xml",
    "ruff": "--config --output-file",
    "bat": "--pager",
    "openssl": "-engine -provider -provider-path",
    "php": "-r -B -R -E -d",
    "lua": "-e -l",
    "tree": "-o",
    "make": "--eval -E -I --include-dir -f --file --makefile -C --directory",
    "go": "-exec -toolexec -vettool -ldflags -gcflags -asmflags -gccgoflags -compiler -overlay -modfile "
    "-outputdir -trace",
    "cargo": "--config --manifest-path -C -Z",
    "cargo clippy": "--fix",
    "npm": _NPM_OPTIONS,
    "pnpm": f"{_NPM_OPTIONS} --dir --use-node-version --npm-path --pnpmfile --global-pnpmfile",
    "yarn": f"{_NPM_OPTIONS} --cwd --require --use-yarnrc",
    "bun": f"{_NPM_OPTIONS} --preload -r --require --import --cwd -c --config --env-file -e --eval -p --print --shell "
    "--reporter-outfile",
    "pytest": "-c --config-file -p -o --rootdir --confcutdir --override-ini --basetemp --junitxml --junit-xml --pdbcls "
    "--log-file --pastebin --debug",
    "python": "-c -m -",
    "python3": "-c -m -",
    "node": "-e --eval -p --print -r --require --import --loader",
    "perl": "-e -E -i",
    "ruby": "-e -r -i",
    "print": "-f -P -s -S -v -z",
    "printf": "-v",
    "wait": "-p",
    "jobs": "-x",
}
"""By which options a program runs others, reads other settings or writes files."""
_OF_DOCKER = named("container image builder buildx compose")
_NAMED_FIRST = _RUNNERS | named(
    "uv bun deno make gmake just cargo poetry pipenv hatch pdm rye bundle nix pnpm yarn npm go gh pip"
)
"""Programs that do something else by each first word, or run it: a rule has to name it."""
_NAMED_SECOND = frozenset(
    f"{program} {word}"
    for program, words in {
        "uv": "run tool x",
        "npm": "exec x",
        "pnpm": "exec dlx",
        "yarn": "exec dlx node workspaces",
        "bun": "run x exec",
        "deno": "run eval",
        "poetry": "run",
        "pipenv": "run",
        "hatch": "run",
        "pdm": "run",
        "rye": "run",
        "pipx": "run",
        "bundle": "exec",
        "nix": "run shell develop",
        "go": "run env",
        "gh": "alias extension api",
        "docker": "run exec compose",
        "podman": "run exec compose",
        "kubectl": "run exec",
        "git": "bisect submodule config difftool mergetool filter-branch",
    }.items()
    for word in words.split()
)
"""The same one word later."""
_RUN_BY_SECOND = _NAMED_SECOND - frozenset(each for each in _NAMED_SECOND if each.startswith("git "))
_GIT_RUNS = named("bisect submodule filter-branch for-each-repo")
_ALIAS_FOR_SHELL = re.compile(r"(?:[\w.-]+=)?!(.+)", re.DOTALL)
_SAME_BELOW = {
    **dict.fromkeys((f"{program} {word}" for program in ("docker", "podman") for word in _OF_DOCKER), 2),
    "yarn workspace": 3,
}
"""Beginnings after which words mean what they do right after the program, and how long these are."""
_WHOLLY_NAMED = named(
    "awk gawk mawk nawk vim vi nvim view ex ed emacs gdb lldb strace ltrace script parallel expect osascript"
)
"""Programs whose words are programs: a star stands for none of them."""
_OPTIONS_NAMED = named("less more man")
_BEFORE_THE_SUBCOMMAND = re.compile(r"-c|--config-env|--exec-path|-C|--git-dir|--work-tree")
"""By which git works elsewhere or otherwise."""


def risky_options(words: Command) -> tuple[str, ...]:
    """What of a command a rule must name to allow it: a star does not stand for that."""
    name = _plain_name(words[0])
    told = [*_RISKY.get(name, "").split(), *_RISKY.get(" ".join((name, *words[1:2])), "").split()]
    found = [word for word in words[1:] if any(_is_option(word, option) for option in told)]
    found += [*_programs_among(name, words), *_of_package_manager(name, words), *_run_by(name, words)]
    if name == "git":
        before = words[1 : len(words) - min(map(len, without_git_options(words))) + 1]
        found += [word for word in before if _BEFORE_THE_SUBCOMMAND.fullmatch(word.partition("=")[0])]
    beginning = _SAME_BELOW.get(" ".join((name, *words[1:2])), 0)
    if beginning:
        found += [*words[1:beginning], *risky_options((name, *words[beginning:]))]
    return tuple(found)


_VERSION = re.compile(r"-?\d+(?:\.\d+)*$")


def _plain_name(word: str) -> str:
    """What a program is called without its version: `python3.12` and `clang-18` do what `python` and `clang` do."""
    name = word.rpartition("/")[2]
    short = _VERSION.sub("", name)
    return short if short in _RISKY or short in _STRANGE or short in _NAMED_FIRST else name


_RUN_OTHERS = named("run exec tool x dlx -m")


def _run_by(name: str, words: Command) -> Command:
    """What must be named of a program that another one runs, as in `uv run pytest` and `python -m pytest`."""
    if name in ("npx", "pnpx", "bunx", "uvx"):
        begin = 1
    elif name in _NAMED_FIRST | {"python"} and (
        verbs := [word for word in words[1:_MOST_TRIED] if word in _RUN_OTHERS]
    ):
        begin = words.index(verbs[0]) + 1
    else:
        return ()
    inner = (words[place:] for place in range(begin, min(len(words), begin + _MOST_TRIED)))
    known = (each for each in inner if _plain_name(each[0]) in {*_RISKY, *_STRANGE} - _PACKAGE_MANAGERS)
    return risky_options(next(known, ("",)))


_STRANGE = {
    **dict.fromkeys(("make", "gmake"), r"\w+[:+?!]*=.*"),
    "cargo": r"\+.*",
    "curl": r"--expand-.*",
    "git": r"ext::.*",
    "git diff": r"/.*|~.*|\$.*|(?:.*/)?\.\.(?:/.*)?",
    **dict.fromkeys(
        named("gcc g++ cc c++ clang clang++ ld ar nm objdump strip javac java kotlinc rustc swiftc tsc dotnet mvn"),
        r"@.*|-Wl,.*|-Xlinker|-fuse-ld=.*|--?ld-path=.*|--?plugin.*",
    ),
    **dict.fromkeys(named("pytest mypy ruff pylint"), r"@.*"),
    "npm": r"exec",
    "pnpm": r"--config\..*|exec|dlx",
    "yarn": r"exec|dlx|run|node",
    "go": r"--?test\.(?!run|v|count|short|timeout).*|--?(?:[oC]|(?:cpu|mem|block|mutex|cover)profile)(?:=.*)?",
    "node": r"--(?:run|env[-_]file|experimental[-_](?:default[-_])?(?:loader|config)|test[-_]reporter"
    r"|test[-_]global[-_]setup|build[-_]snapshot|snapshot[-_]blob|openssl[-_]config|redirect[-_]warnings|report[-_]"
    r"|diagnostic[-_]dir).*",
}
"""Words of other shapes by which they do that."""


def _programs_among(name: str, words: Command) -> Command:
    """The words that are programs, or say which."""
    if name in _WHOLLY_NAMED:
        return words[1:]
    if name in _OPTIONS_NAMED:
        return tuple(word for word in words[1:] if word.startswith(("-", "+")))
    if name == "sed":
        return tuple(word for word in _sed_script(words) if not re.fullmatch(_SED_HARMLESS, word))
    shapes = [_STRANGE[key] for key in (name, " ".join((name, *words[1:2]))) if key in _STRANGE]
    found = [word for word in words[1:] for shape in shapes if re.fullmatch(shape, word, re.DOTALL)]
    if name == "tar" and set("".join(words[1:2])) & set("IF"):
        # Its options may stand there without a dash.
        found += words[1:2]
    how_many = 2 if " ".join((name, *words[1:2])) in _NAMED_SECOND else int(name in _NAMED_FIRST)
    return (*words[1 : 1 + how_many], *found)


_PACKAGE_MANAGERS = named("npm pnpm yarn bun")
_OF_PACKAGES = named(
    "add install i ci remove rm uninstall un up update upgrade link unlink import init create exec dlx x publish pack "
    "config set get audit outdated why list ls rebuild prune dedupe store patch cache pm build"
)
"""What they do themselves; any other first word is the name of a script, or the same as `run`."""
_PLAIN_FOR_PACKAGES = named(
    "-s --silent -q --quiet --verbose --json --long --if-present --no-fund --no-audit --save --save-dev --save-exact "
    "--save-optional --no-save --dev --exact --frozen-lockfile --immutable --production --omit=dev --watch --bail "
    "--coverage --only --todo -D -S -E -O -P -w -t"
)
"""Options of theirs that neither run, read nor write anything else."""


def _of_package_manager(name: str, words: Command) -> Command:
    """Its own options: each is also a setting of it, one names the shell, another the registry, in many spellings (npm
    takes them cut short, and with one dash or three). What follows the name of a script is the script's, but not for
    npm, which takes all up to the two dashes."""
    if name not in _PACKAGE_MANAGERS:
        return ()
    verb = next(iter(words[1:2]), "")
    ends = words.index("--") if "--" in words else len(words)
    if name != "npm" and verb not in _OF_PACKAGES and (name, verb) != ("bun", "test"):
        ends = min(ends, 3 if verb == "run" else 2)
    return tuple(word for word in words[1:ends] if word.startswith("-") and word not in _PLAIN_FOR_PACKAGES)


_SED_PLACE = r"(?:\d+|\$|/(?:\\[^\x00-\x1f]|[^/\\\x00-\x1f])*/)"
_SED_WHERE = rf"(?:{_SED_PLACE}(?:,\+?{_SED_PLACE})?)?!?"
_SED_TEXT = r"(?:\\[^\x00-\x1f]|(?!\1)[^\\\x00-\x1f])*"
_SED_HARMLESS = (
    rf"(?a){_SED_WHERE}s([/|,#:@]){_SED_TEXT}\1{_SED_TEXT}\1[gpI0-9]*|{_SED_WHERE}[pdq=](?:; ?{_SED_WHERE}[pdq=])*"
)
"""A script of sed that neither runs, reads nor writes anything. Long ones are compiled when they are first wanted."""


def _sed_script(words: Command) -> Command:
    """The script of a sed, or whatever may be one."""
    told = tuple(word for word in words[1:] if not word.startswith("-"))
    return (
        told if any(_is_option(word, option) for word in words[1:] for option in ("-e", "--expression")) else told[:1]
    )


def _is_option(word: str, option: str) -> bool:
    """Long options can be cut short, and short ones written together with others or with their value."""
    if option.startswith("--"):
        given = word.partition("=")[0]
        return len(given) > 2 and given.startswith("--") and option.startswith(given)
    if len(option) > 2:
        return word.partition("=")[0] in (option, f"-{option}")
    if option == "-":
        return word == "-"
    return word.startswith("-") and not word.startswith("--") and option[1] in word[1:].partition("=")[0]


_GIT_ALONE = (
    r"(?s)--no-pager|--bare|--no-replace-objects|--paginate|-[pP]|--(?:literal|glob|noglob|icase)-pathspecs"
    r"|--no-optional-locks|--no-lazy-fetch|--no-advice|--.*=.*"
)
_GIT_WITH_VALUE = (
    r"-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix|--attr-source|--shallow-file"
)


def without_git_options(words: Command) -> tuple[Command, ...]:
    """A git command without what may stand before its subcommand. The word after an option that is not known may be its
    value or the subcommand, so that there is more than one way to read it."""
    begins, open_places = list[int](), {1}
    while open_places and len(begins) < _MOST_TRIED:
        open_places.remove(place := min(open_places))
        option = "".join(words[place : place + 1])
        if not option.startswith("-"):
            begins.append(place)
            continue
        if not re.fullmatch(_GIT_WITH_VALUE, option):
            open_places.add(place + 1)
        if not re.fullmatch(_GIT_ALONE, option):
            open_places.add(place + 2)
    return tuple((words[0], *words[place:]) for place in begins)


# Reading

WITHOUT_CONTENTS = named("echo printf true false : pwd ls")
"""Whatever their words are, they show of files their names at most."""
_READERS = named("cat head tail wc stat grep egrep fgrep rg find diff cmp date") | WITHOUT_CONTENTS
_GIT_READERS = named("status log show diff blame grep ls-files")


def only_reads(words: Command) -> bool:
    """Whether it is known that a command changes no file, with no option by which it might."""
    reads = words[1:2] and words[1] in _GIT_READERS if words[0] == "git" else words[0] in _READERS
    runs_others = words[0] == "find" and reads_below(words)
    return bool(reads) and not runs_others and not risky_options(words)


_READ_BELOW = named("rg ag ack rgrep ugrep tar bsdtar zip 7z rsync scp cpio")
_BELOW_BY_OPTION = {
    **dict.fromkeys(
        named("grep egrep fgrep zgrep bzgrep xzgrep zstdgrep pcregrep pcre2grep"),
        "-r -R -d --recursive --dereference-recursive --directories",
    ),
    "find": "-exec -execdir -ok -okdir",
    "diff": "-r --recursive -N --new-file --unidirectional-new-file --from-file --to-file",
    "cp": "-r -R -a --recursive --archive",
    "wc": "--files0-from",
    "sort": "--files0-from",
    "du": "--files0-from",
}


_MAY_BE_FOLDER = re.compile(r"(?!-)(?:.*/)?(?:\.{0,2}|[^./]*(?:\.d)?)", re.DOTALL)


def looks_for_names(words: Command) -> bool:
    """Whether a program may take a word for a pattern of names that the shell has left as it is."""
    name = words[0].rpartition("/")[2]
    if name == "curl":
        return any(set(word) & set("{[") for word in words[1:])
    if name != "git":
        return False
    told = (word for before, word in pairwise(words[1:]) if not _TEXT_FOR_GIT.fullmatch(before))
    return any(set(word) & set("*?[") for word in told if not word.startswith("-"))


_TEXT_FOR_GIT = re.compile(r"-\w*[mSGLFCcsD]|--(?:message|grep|author|format|pretty|since|until|date|trailer)")
"""Options of git after which comes what is no file."""


def reads_below(words: Command) -> bool:
    """Whether a command reads what is in folders, or in files that are named elsewhere."""
    name = words[0].rpartition("/")[2]
    if name == "git":
        return words[1:2] in (("grep",), ("archive",))
    if name in ("diff", "zdiff") and any(map(_MAY_BE_FOLDER.fullmatch, words[1:])):
        return True
    told = _BELOW_BY_OPTION.get(name, "").split()
    return name in _READ_BELOW or any(_is_option(word, option) for word in words[1:] for option in told)
