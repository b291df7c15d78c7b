"""Running commands: runners that leave no process behind, and what the commands print. Plain standard library."""
