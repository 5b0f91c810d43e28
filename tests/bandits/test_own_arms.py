"""A kind of arms of one's own: one file outside the library, and agents play it like any other, in compiled code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym import evaluate
from bai_gym.agents import OCBA, SH, UCBE
from bai_gym.bandits import Bandit
from bai_gym.bandits.draws import Draws
from bai_gym.benchmark.rollout import play_blocks, play_steps
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import InstanceError
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.statistics import Statistics

pytestmark = pytest.mark.usefixtures("compiled")


# The arms of the page, as a reader has them in a module.
PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "your-own-package.md"
(ARMS,) = re.findall(
    r"^```python\n(.*?class LaplaceBandit.*?)^```$",
    PAGE.read_text(encoding="utf-8").partition("Arms of your own")[2],
    re.DOTALL | re.MULTILINE,
)
PAGES: dict[str, Any] = {"__name__": __name__}
exec(compile(ARMS, str(PAGE), "exec"), PAGES)
LaplaceBandit: Any = PAGES["LaplaceBandit"]


class PulledLaplaceBandit(LaplaceBandit):  # type: ignore[misc]
    """The same arms where loops cannot draw from them."""

    def draws(self) -> Draws | None:
        return None


EPISODES, BUDGET = 3000, 80
MEANS, SCALES = np.array([[1.0, 0.8, 0.6, -1.0]]), np.array([[1.0, 0.5, 1.5, 0.7]])
AGENTS: list[Any] = [UCBE(a=8.0, b=1.0), SH(), OCBA()]


def reset(agent: Any, bandit: Bandit) -> None:
    info = ProblemInfo(4, BUDGET, EPISODES, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(1))


def by_blocks(agent: Any, kind: Any) -> Statistics:
    bandit = kind(MEANS, SCALES).select(np.zeros(EPISODES, np.int64))
    reset(agent, bandit)
    # Rewards of their own: what is compared is independent.
    rng = np.random.default_rng([2, kind is LaplaceBandit])
    return play_blocks(agent, bandit, BUDGET, rng).statistics


def in_steps(agent: Any) -> Statistics:
    env = BestArmVectorEnv(FixedProblem(LaplaceBandit(MEANS, SCALES)), EPISODES, BUDGET, shuffle=False)
    observation, _ = env.reset(seed=3)
    reset(agent, LaplaceBandit(MEANS, SCALES).select(np.zeros(EPISODES, np.int64)))
    return play_steps(agent.act, env, observation).statistics


def test_agents_play_them_alike_in_loops_by_pulls_and_in_steps() -> None:
    names = ("pulls", "means", "variances")
    p_values: list[float] = []
    for agent in AGENTS:
        looped = by_blocks(agent, LaplaceBandit)
        for other in (by_blocks(agent, PulledLaplaceBandit), in_steps(agent)):
            assert (looped.pulls.sum(axis=1) == BUDGET).all() and (looped.means != other.means).any()
            for name in names if agent.uses_variances else names[:2]:
                for arm in range(4):
                    one, two = (np.round(getattr(part, name)[:, arm], 9) for part in (looped, other))
                    p_values.append(float(ks_2samp(one, two, method="asymp").pvalue))
    assert min(p_values) * len(p_values) > 0.001


def misspelt(arms: Any, n: int, arm: int, rng: np.random.Generator) -> float:
    return float(arms.mean[n, arm])


@pytest.mark.filterwarnings("ignore:misspelt of UCB-E cannot be compiled")
def test_errors_in_draws_name_it() -> None:
    arms = PAGES["LaplaceArms"](MEANS, SCALES)
    cases: dict[str, Any] = {
        r"Own.draws\(\) raised AttributeError: 'Own' object has no attribute 'mean'": lambda self: self.mean,
        r"Own.draws\(\) must return Draws\(draw, arms\), whose arms are a named tuple": lambda self: (misspelt, arms),
        "misspelt, which draws rewards, raised AttributeError": lambda self: Draws(misspelt, arms),
    }
    for words, draws in cases.items():
        own = type("Own", (LaplaceBandit,), {"draws": draws})
        with pytest.raises(InstanceError, match=words):
            evaluate("UCB-E(a=8.0)", BestArmEnv(FixedProblem(own(MEANS, SCALES)), 20), budget=20, runs=5)
