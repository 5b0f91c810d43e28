"""Gymnasium environments, agents and an honest benchmark for fixed-budget best-arm identification.

Importing registers the ids with Gymnasium and nothing more; ``evaluate``, ``compare`` and ``identify`` load the
rest when first used.
"""

import _signal as signal  # built in: the import of signal itself would take so long that Ctrl-C can fall into it
import sys

if (
    "".join(sys.orig_argv[1:2]).endswith(("bai-gym", "bai-gym.exe"))
    and signal.getsignal(signal.SIGINT) != signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command is imported Ctrl-C ends it without a traceback

from importlib.metadata import version
from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily
from bai_gym.envs.registration import register_all

if TYPE_CHECKING:
    from bai_gym import agents, report
    from bai_gym.agents.citations import cite
    from bai_gym.analysis.paired import PairedTest
    from bai_gym.api import compare, evaluate
    from bai_gym.results.aggregate import Aggregate, aggregate
    from bai_gym.results.comparison import Comparison
    from bai_gym.results.leaderboard import Leaderboard, leaderboards
    from bai_gym.results.result import Result

__all__ = [
    "Aggregate",
    "Comparison",
    "Leaderboard",
    "PairedTest",
    "Result",
    "__version__",
    "agents",
    "aggregate",
    "cite",
    "compare",
    "evaluate",
    "leaderboards",
    "report",
]

__version__ = version("bai-gym")

register_all()

__getattr__, __dir__ = lazily(__name__)
