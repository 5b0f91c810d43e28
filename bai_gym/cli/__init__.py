"""The command line: ``bai-gym list | run | plan | advise | reproduce | merge | report | train | cite | data``."""

from bai_gym.cli.main import main

__all__ = ["main"]
