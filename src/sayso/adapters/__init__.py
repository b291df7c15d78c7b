"""Adapters: small processes between Talk and agents, each of which speaks one agent's own protocol."""
