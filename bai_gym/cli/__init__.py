"""The command line, ``bai-gym``; ``main`` lists its commands."""

from bai_gym.cli.main import main

__all__ = ["main"]
