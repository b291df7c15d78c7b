"""Permissions: what an agent wants to do, the desk that alone allows it, and what was decided."""
