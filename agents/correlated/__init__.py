"""Correlated."""
