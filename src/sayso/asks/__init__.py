"""Asks: what they are, the desk that moves them, the waiting for them, and how they read."""
