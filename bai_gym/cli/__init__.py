"""The command line, ``bai-gym``; :mod:`bai_gym.cli.main` lists its commands."""

from bai_gym.cli.main import main

__all__ = ["main"]
