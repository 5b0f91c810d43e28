"""The command line: ``bai-gym`` with list, run, plan, advise, reproduce, study, merge, report, train, cite, data."""

from bai_gym.cli.main import main

__all__ = ["main"]
