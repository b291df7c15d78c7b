"""Sayso: the line between coding agents and the people they work for."""

__version__ = "0.1.0"
