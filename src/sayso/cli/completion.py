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
    put(BASH.format(program=program_name(), variable=COMPLETES) if shell == "bash" else _script_of_click(shell))


def _script_of_click(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from sayso.cli.lazy_group import root

    script = get_completion_class(shell)
    assert script is not None
    return script(root(), {}, program_name(), COMPLETES).source()
