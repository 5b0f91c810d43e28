"""Bandits of the wing ``linear``."""
