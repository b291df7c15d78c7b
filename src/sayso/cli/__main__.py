"""`python -m sayso.cli` is `sayso`, also where no script of that name is on the PATH."""

from sayso.cli import main

main()
