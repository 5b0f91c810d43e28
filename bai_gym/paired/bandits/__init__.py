"""Bandits of the wing ``paired``."""
