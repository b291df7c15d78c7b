"""The terminal inbox. Textual is used only here; `sayso.tui.app.run` is the door."""
