"""Options by which programs that seem harmless run others or write files, and other words that a rule must name."""

from __future__ import annotations

import re

from sayso.rules.first_words import first_words, subcommands, without_git_options
from sayso.rules.programs import MAKES, MOST_TRIED, NAMED_FIRST, NAMED_SECOND, named
from sayso.rules.use import Command

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
    "scp": "-S -o -F -D -i -J",
    "sftp": "-S -o -F -D -i -J -b -s -R",
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
    "jest": "-c --config",
    "mypy": "--python-executable --config-file --install-types --junit-xml",
    "ruff": "--config --output-file",
    "bat": "--pager",
    "openssl": "-engine -provider -provider-path",
    "php": "-r -B -R -E -d",
    "lua": "-e -l",
    "tree": "-o",
    **dict.fromkeys(MAKES, "--eval -E -I --include-dir -f --file --makefile -C --directory -D -m -T -V"),
    "ninja": "-C -f -t",
    "cmake": "-B -C -D -E -G -P -S -T --toolchain --preset --graphviz --trace-redirect --profiling-output "
    "--debugger-pipe --debugger-dap-log --install-prefix --prefix --open",
    "just": "--shell --shell-arg --shell-command --set --justfile -f --working-directory -d --command -c --edit -e "
    "--choose --chooser --dotenv-filename --dotenv-path -E --cygpath --tempdir --global-justfile -g --init --fmt",
    "rake": "-f --rakefile -r --require -e --execute -E --execute-continue -p --execute-print -I --libdir -R "
    "--rakelibdir -C --directory",
    **dict.fromkeys(
        ("gradle", "gradlew"),
        "-D --system-prop -I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home "
        "--include-build --project-cache-dir",
    ),
    "pip": "--python --log --cache-dir --target -t --root --prefix --src --report -C --config-settings --global-option "
    "--build-option --editor",
    **dict.fromkeys(("docker bake", "podman bake"), "--set --metadata-file --allow -f --file"),
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
_SAME_BELOW = {
    **dict.fromkeys((f"{program} {word}" for program in ("docker", "podman") for word in _OF_DOCKER), 1),
    "yarn workspace": 2,
}
"""Beginnings after which words mean what they do right after the program, and how many words further on these are."""
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
    words = (name, *words[1:])
    does = subcommands(words)
    told = {option for key in (name, *(each for each, _ in does)) for option in _RISKY.get(key, "").split()}
    found = [word for word in words[1:] if any(is_option(word, option) for option in told)]
    found += [*_programs_among(name, words), *_of_package_manager(name, words), *_run_by(name, words)]
    found += [word for word in words[1:] if name in _WHOLE_NAMES and _long_name(word) in _WHOLE_NAMES[name]]
    if name == "git":
        before = words[1 : len(words) - min(map(len, without_git_options(words))) + 1]
        found += [word for word in before if _BEFORE_THE_SUBCOMMAND.fullmatch(word.partition("=")[0])]
    begins = [place + _SAME_BELOW[each] for each, place in does if each in _SAME_BELOW]
    if len(does) == 1 and begins:
        found += [*words[1 : begins[0]], *risky_options((name, *words[begins[0] :]))]
    elif begins:
        found += words[1:]
    return tuple(found)


_WHOLE_NAMES = {
    "jest": named(
        "globalsetup globalteardown setupfiles setupfilesafterenv testenvironment env runner testrunner reporters "
        "transform resolver testresultsprocessor testsequencer preset rootdir roots projects modulepaths "
        "moduledirectories modulenamemapper haste filter coveragedirectory coveragereporters outputfile cachedirectory "
        "prettierpath globals snapshotserializers init"
    )
}
"""The same for programs of which no option can be cut short: `--coverage` is not `--coverage-directory`."""


def _long_name(word: str) -> str:
    """What an option is called to those who take `--globalSetup` and `--global-setup`, or `--transform.x`, alike."""
    return re.split("[=.]", word)[0].replace("-", "").replace("_", "").lower() if word.startswith("--") else ""


_VERSION = re.compile(r"-?\d+(?:\.\d+)*$")


def _plain_name(word: str) -> str:
    """What a program is called without its version: `python3.12` and `clang-18` do what `python` and `clang` do."""
    name = word.rpartition("/")[2]
    short = _VERSION.sub("", name)
    return short if short in _RISKY or short in _STRANGE or short in NAMED_FIRST else name


_RUN_OTHERS = named("run exec tool x dlx -m")


def _run_by(name: str, words: Command) -> Command:
    """What must be named of a program that another one runs, as in `uv run pytest` and `python -m pytest`."""
    if name in ("npx", "pnpx", "bunx", "uvx"):
        rest = words[1:]
    elif name in NAMED_FIRST | {"python"} and (verbs := [word for word in words[1:MOST_TRIED] if word in _RUN_OTHERS]):
        rest = words[words.index(verbs[0]) + 1 :]
    elif name == "python" and (modules := [word for word in words[1:MOST_TRIED] if _MODULE.match(word)]):
        found = _MODULE.match(modules[0])
        begin = words.index(modules[0]) + 1
        rest = tuple(filter(None, (found["glued"] if found else "", *words[begin:])))
    elif name in _PACKAGE_MANAGERS and words[1:2]:
        # What is no script of the project is a program of its packages.
        rest = words[max(first_words(words)) :]
        rest = rest if rest and _plain_name(rest[0]) in {*_RISKY, *_STRANGE, *_WHOLE_NAMES} else ()
    else:
        return ()
    inner = (rest[place:] for place in range(min(len(rest), MOST_TRIED)))
    known = [each for each in inner if _plain_name(each[0]) in {*_RISKY, *_STRANGE} - _PACKAGE_MANAGERS]
    # The first may be the value of an option, and one after it what is run.
    others = (_own_options((_plain_name(each[0]), *each[1:])) for each in known[1:])
    return (*(risky_options(known[0]) if known else ()), *(word for found in others for word in found))


_MODULE = re.compile(r"-[A-Za-z]*m(?P<glued>.*)", re.DOTALL)


_STRANGE = {
    **dict.fromkeys(MAKES, r"(?!--[a-z-]+=[\w.-]*\Z).*[=$].*"),
    **dict.fromkeys(("just", "rake"), r"[^-].*=.*"),
    **dict.fromkeys(
        ("mvn", "mvnw", "mvnd"),
        r"@.*|-D(?!(?:skipTests|skipITs|test|it\.test|groups|maven\.test\.skip|failIfNoTests|style\.color"
        r"|surefire\.failIfNoSpecifiedTests)(?:=|\Z)).*|--define|-f(?!ae\Z|f\Z|n\Z).*|-[slt](?:[./~].*)?|-g[st].*"
        r"|--(?:file|(?:global-)?settings|(?:global-)?toolchains|log-file)(?:=.*)?",
    ),
    "cargo": r"\+.*",
    "curl": r"--expand-.*",
    "git": r"ext::.*",
    "git diff": r"/.*|~.*|\$.*|(?:.*/)?\.\.(?:/.*)?",
    **dict.fromkeys(
        named("gcc g++ cc c++ clang clang++ ld ar nm objdump strip javac java kotlinc rustc swiftc tsc dotnet"),
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
        return tuple(word for word in _sed_scripts(words) if not re.fullmatch(_SED_HARMLESS, word))
    found, does = list[str](), subcommands(words)
    shapes = [_STRANGE[key] for key in (name, *(each for each, _ in does)) if key in _STRANGE]
    found += [word for word in words[1:] for shape in shapes if re.fullmatch(shape, word, re.DOTALL)]
    if name == "tar" and set("".join(words[1:2])) & set("IF"):
        # Its options may stand there without a dash.
        found += words[1:2]
    if name == "cmake" and "--" in words:
        # These are for the program that it builds with.
        found += words[words.index("--") :]
    if name == "ssh":
        found += _ssh_options(words)
    ends = [1, *(first_words(words) if name in NAMED_FIRST else ())]
    seconds = [(each, place) for each, place in does if each in NAMED_SECOND]
    ends += [place for each, begin in seconds for place in (begin, *first_words(words, begin + 1, each))]
    return (*words[1 : max(ends) + 1], *found) if len(ends) > 1 else tuple(found)


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
    # After an option it is not certain which word is the first that is none.
    verb = next(iter(words[1:2]), "")
    ends = words.index("--") if "--" in words else len(words)
    if name != "npm" and verb not in _OF_PACKAGES and (name, verb) != ("bun", "test") and not verb.startswith("-"):
        ends = min(ends, 3 if verb == "run" else 2)
    return tuple(word for word in words[1:ends] if word.startswith("-") and word not in _PLAIN_FOR_PACKAGES)


_SED_PLACE = r"(?:\d+|\$|/(?:\\[^\x00-\x1f]|[^/\\\x00-\x1f])*/)"
_SED_WHERE = rf"(?:{_SED_PLACE}(?:,\+?{_SED_PLACE})?)?!?"
_SED_TEXT = r"(?:\\[^\x00-\x1f]|(?!\1)[^\\\x00-\x1f])*"
_SED_HARMLESS = (
    rf"(?a){_SED_WHERE}s([/|,#:@]){_SED_TEXT}\1{_SED_TEXT}\1[gpI0-9]*|{_SED_WHERE}[pdq=](?:; ?{_SED_WHERE}[pdq=])*"
)
"""A script of sed that neither runs, reads nor writes anything. Long ones are compiled when they are first wanted."""


_SED_ALONE = (
    r"-[nErsuz]+|--|--(?:quiet|silent|debug|posix|sandbox|regexp-extended|separate|unbuffered|null-data"
    r"|zero-terminated)"
)
"""Options of every sed that take no value. Of another one the next word may be that, or the script: with GNU `-l` takes
a number, elsewhere nothing."""


def _sed_scripts(words: Command) -> Command:
    """The script of a sed, or whatever may be one."""
    told = tuple(word for word in words[1:] if not word.startswith("-"))
    alone = all(re.fullmatch(_SED_ALONE, word) for word in words[1:] if word.startswith("-"))
    return told[:1] if alone else told


def _ssh_options(words: Command) -> Command:
    """Its options, also those between the host and what is run there, that run something here, write files or read
    other settings."""
    ends = [place for host in first_words(words) for place in first_words(words, host + 1)]
    return tuple(word for word in words[1 : max(ends)] if re.match(r"-\w*[EeFIiJLoRDSWw]", word, re.ASCII))


def _own_options(words: Command) -> Command:
    """What must be named of a program, whatever it may run."""
    told = _RISKY.get(words[0], "").split()
    found = [word for word in words[1:] if any(is_option(word, option) for option in told)]
    return (*found, *_programs_among(words[0], words))


def is_option(word: str, option: str) -> bool:
    """Long options can be cut short, or spelt in another way, and short ones written together with others or with their
    value."""
    if option.startswith("--"):
        given = word.partition("=")[0]
        return len(given) > 2 and given.startswith("--") and _long_name(option).startswith(_long_name(word))
    if len(option) > 2:
        return word.partition("=")[0] in (option, f"-{option}")
    if option == "-":
        return word == "-"
    return word.startswith("-") and not word.startswith("--") and option[1] in word[1:].partition("=")[0]
