"""The command line: ``bai-gym list | run | plan | reproduce | report | train | data``."""

from bai_gym.cli.main import main

__all__ = ["main"]
