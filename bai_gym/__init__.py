"""Gymnasium environments, agents and an honest benchmark for fixed-budget best-arm identification.

Importing registers the ids with Gymnasium and nothing more; ``evaluate``, ``compare`` and ``identify`` load the
rest when first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bai_gym.envs.registration import register_all

if TYPE_CHECKING:
    from bai_gym import agents, report
    from bai_gym.agents.citations import cite
    from bai_gym.analysis.paired import PairedTest
    from bai_gym.api import compare, evaluate
    from bai_gym.auditing import Audit, audit
    from bai_gym.live.evidence import Identification
    from bai_gym.live.identify import identify
    from bai_gym.live.study import Study
    from bai_gym.planning import Advice, BudgetPlan, Plans, advise, plan
    from bai_gym.results.aggregate import Aggregate, aggregate
    from bai_gym.results.comparison import Comparison
    from bai_gym.results.leaderboard import Leaderboard, leaderboards
    from bai_gym.results.result import Result

__all__ = [
    "Advice",
    "Aggregate",
    "Audit",
    "BudgetPlan",
    "Comparison",
    "Identification",
    "Leaderboard",
    "PairedTest",
    "Plans",
    "Result",
    "Study",
    "__version__",
    "advise",
    "agents",
    "aggregate",
    "audit",
    "cite",
    "compare",
    "evaluate",
    "identify",
    "leaderboards",
    "plan",
    "report",
]

__version__ = version("bai-gym")

_HOMES = {
    "Advice": "bai_gym.planning",
    "Aggregate": "bai_gym.results.aggregate",
    "Audit": "bai_gym.auditing",
    "BudgetPlan": "bai_gym.planning",
    "Comparison": "bai_gym.results.comparison",
    "Identification": "bai_gym.live",
    "Leaderboard": "bai_gym.results.leaderboard",
    "PairedTest": "bai_gym.analysis.paired",
    "Plans": "bai_gym.planning",
    "Result": "bai_gym.results.result",
    "Study": "bai_gym.live",
    "advise": "bai_gym.planning",
    "aggregate": "bai_gym.results.aggregate",
    "audit": "bai_gym.auditing",
    "cite": "bai_gym.agents.citations",
    "compare": "bai_gym.api",
    "evaluate": "bai_gym.api",
    "identify": "bai_gym.live",
    "leaderboards": "bai_gym.results.leaderboard",
    "plan": "bai_gym.planning",
}

_PACKAGES = ("agents", "report")

register_all()


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _PACKAGES:
        return import_module(f"bai_gym.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
