"""Web Push: messages to browsers that have no page open, through the push service of each browser's maker.

`cryptography` is imported only where something is sent or a key is shown, in the process of `sayso web`.
"""
