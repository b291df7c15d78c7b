"""Programs that run others, by their names."""

from __future__ import annotations

USUAL_FOLDERS = ("", "/bin", "/usr/bin")
"""Where programs are what they are called. Anywhere else another one may be called so."""


def named(text: str) -> frozenset[str]:
    """The words of a text, each a name."""
    return frozenset(text.split())


MOST_TRIED = 20
"""Words of a command of which it is looked at whether something that it runs begins there."""

RUNNERS = named(
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
MAKES = named("make gmake gnumake bmake pmake remake")
NAMED_FIRST = (RUNNERS | MAKES) | named(
    "uv bun deno just cargo poetry pipenv hatch pdm rye bundle nix pnpm yarn npm go gh pip"
)
"""Programs that do something else by each first word, or run it: a rule has to name it."""
NAMED_SECOND = frozenset(
    f"{program} {word}"
    for program, words in {
        "uv": "run tool x",
        "npm": "exec x config set c",
        "pnpm": "exec dlx config set c",
        "yarn": "exec dlx node workspaces config",
        "bun": "run x exec",
        "deno": "run eval",
        "poetry": "run config",
        "pip": "config",
        "pipenv": "run",
        "hatch": "run",
        "pdm": "run",
        "rye": "run",
        "pipx": "run",
        "bundle": "exec",
        "nix": "run shell develop",
        "go": "run env",
        "gh": "alias extension api config",
        "docker": "run exec compose",
        "podman": "run exec compose",
        "kubectl": "run exec",
        "git": "bisect submodule config difftool mergetool filter-branch send-email instaweb hook for-each-repo "
        "credential web--browse daemon",
    }.items()
    for word in words.split()
)
"""The same one word later."""
RUN_BY_SECOND = NAMED_SECOND - frozenset(each for each in NAMED_SECOND if each.startswith("git "))
