"""Envs of the wing ``training``."""
