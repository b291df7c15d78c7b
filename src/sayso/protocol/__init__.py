"""The Model Context Protocol without I/O, from 2024-11-05 to 2026-07-28: messages in, messages and requests out.

Standard library only, and little of it: a server's first answers are given before anything large is imported.
"""
