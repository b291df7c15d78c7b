"""`sayso completion`: the script that teaches a shell to complete this command."""

from __future__ import annotations

from sayso.cli import declared
from sayso.cli.program import COMPLETES, program_name
from sayso.cli.terminal import put

SHELLS = ("bash", "zsh", "fish")
BASH = """\
_{program}_completion() {{
    local line told=()
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            plain,*) COMPREPLY+=("${{line#*,}}") ;;
            about,*) line="${{line#*,}}"; told+=("${{line:0:${{COLUMNS:-80}}-2}}") ;;
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default ;;
        esac
    done < <(IFS=$'\\n'; env COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD="$COMP_CWORD" {variable}=bash_complete "$1")
    if [[ ${{#told[@]}} -gt 1 && $COMP_TYPE != 37 && $COMP_TYPE != 42 ]]; then COMPREPLY=("${{told[@]}}"); fi
}}
complete -o nosort -F _{program}_completion {program}
"""
"""Click has a script for it too, which takes labels apart at their blanks and is slow to get at: shells ask for this
whenever one is opened. Questions stand beside ids where these are only listed, and never where bash would put one of
them into the line (37: menu-complete, 42: insert-completions); of what is listed it types the beginning that all have
in common, which is part of an id."""

FISH = """\
function _{program}_completion
    for line in (env {variable}=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) {program})
        set -l told (string split --max 1 , -- $line)
        switch $told[1]
            case dir
                __fish_complete_directories $told[2]
            case file
                __fish_complete_path $told[2]
            case plain
                printf '%s\\n' $told[2]
        end
    end
end
complete --no-files --command {program} --arguments "(_{program}_completion)"
"""
"""Click's takes labels and questions apart at their commas, and goes on with what is before the first."""
ZSH_HAS_COMPDEF = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }"
"""A shell whose `~/.zshrc` has no more than the line in our help knows no completion until it is told to."""


@declared.reader()
@declared.argument("shell", metavar="SHELL", type=declared.one_of(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    SHELL is bash, zsh or fish. It completes commands, options, the ids of open asks, and what answers one.

    \b
    Example:
      eval "$(sayso completion bash)"                                  in ~/.bashrc
      eval "$(sayso completion zsh)"                                   in ~/.zshrc
      sayso completion fish > ~/.config/fish/completions/sayso.fish    once
    """
    put(_script(shell))


def _script(shell: str) -> str:
    if shell == "zsh":
        return _zsh_of_click().replace("    compdef ", f"    {ZSH_HAS_COMPDEF}\n    compdef ", 1)
    return (BASH if shell == "bash" else FISH).format(program=program_name(), variable=COMPLETES)


def _zsh_of_click() -> str:
    from click.shell_completion import ZshComplete

    from sayso.cli.lazy_group import root

    return ZshComplete(root(), {}, program_name(), COMPLETES).source()
