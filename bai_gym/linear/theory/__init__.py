"""Theory of the wing ``linear``."""
