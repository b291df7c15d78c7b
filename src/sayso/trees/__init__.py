"""Working trees of git: what one was like, what has changed in it since, and putting it back."""
