"""Chats, both ways: an ask arrives with its options as buttons, and what a linked person says there is its answer.

They run inside `sayso web`, which is there for as long as somebody wants to be reached, and only where one was added.
`aiohttp` is imported when the first of them is.
"""
