"""Run: commands as operations, each with its process tree, its output and its end."""
