"""Gates: the programs that hooks of clients start, so that their prompts are decided in the inbox as well."""
