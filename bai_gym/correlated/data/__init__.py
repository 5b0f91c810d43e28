"""Data of the wing ``correlated``."""
