"""Rules: sentences of a person's that allow, ask for or deny what agents want to do."""
