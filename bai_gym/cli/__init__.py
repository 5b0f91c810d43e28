"""The command line: ``bai-gym list | run | plan | advise | reproduce | report | train | data``."""

from bai_gym.cli.main import main

__all__ = ["main"]
