"""FC2FB: runs by hand, and an independent simulation, which keeps the bound of Theorem 3.2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from typing_extensions import override

from bai_gym.agents import FC2FB, SequentialAgent, registry
from bai_gym.agents.registry import make
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, State

Play = Callable[..., Any]


def test_the_first_run_that_stops_within_its_share_recommends(trace: Play) -> None:
    # 160 pulls, q = 20: three runs of 53 pulls, of error probabilities 0.4^4, 0.4^2 and 0.4. The first one sees no
    # difference; the second, that arm 0 always pays.
    second, third = (
        trace(make("UGapEc", b=1.0, delta=delta, tie="first"), [[1.0], [0.0]], 53, fixed_confidence=True)
        for delta in (0.16, 0.4)
    )
    agent = FC2FB(agent="UGapEc", b=1.0, delta=0.4, q=20, tie="first")
    played = trace(agent, [[0.5] * 27 + [1.0] * 133, [0.5] * 26 + [0.0] * 134], 160)
    assert played.arms == [0, 1] * 26 + [0] + second.arms and len(third.arms) < len(second.arms) < 53
    assert played.recommendation == 0


def test_where_no_run_stops_all_samples_decide(trace: Play) -> None:
    # 2 runs of 10 pulls, too few to stop. Arm 1 is better in the last one, but not over both.
    rewards = [[0.9] * 5 + [0.4] * 5, [0.1] * 5 + [0.6] * 5]
    played = trace(FC2FB(agent="UGapEc", b=1.0, delta=0.1, q=4, tie="first"), rewards, 20)
    assert (len(played.arms), played.recommendation) == (20, 0)


def test_the_smallest_share_is_by_default_what_the_agent_needs() -> None:
    assert FC2FB().minimum_budget(7) == 2 * make("EB-TCI").minimum_budget(7)
    assert FC2FB(q=100).minimum_budget(7) == 200
    assert FC2FB(q=1).minimum_budget(7) == make("EB-TCI").minimum_budget(7)


class PairState(State):
    level: float  # log(1 / delta)


def alternate(e: Episode, s: PairState, w: PairState, rng: np.random.Generator) -> int:
    return 0 if e.pulls[0] <= e.pulls[1] else 1


def is_decided(e: Episode, s: PairState, w: PairState) -> bool:
    return bool(e.pulls[0] == e.pulls[1] and e.pulls[0] * (e.mean[0] - e.mean[1]) ** 2.0 / 4.0 >= s.level)


@dataclass(kw_only=True)
class Pair(SequentialAgent):
    """Pulls two arms of variance 1 in turn, until their likelihood ratio reaches log(1 / delta)."""

    delta: float = 0.1

    name: ClassVar[str] = "Pair"
    stops: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=alternate, stops=is_decided, state=PairState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {"level": math.log(1.0 / self.delta)}


def simulated(budget: int, runs: int, rng: np.random.Generator) -> float:
    """Return the error probability for means 1/2 and 0, with delta = 1 / e and q = 1, in the words of the paper."""
    stages = int(math.log2(budget))
    answer, share = np.zeros(runs), budget // stages // 2
    total = np.zeros(runs)
    for stage in range(1, stages + 1):
        ahead = np.cumsum(rng.normal(0.5, math.sqrt(2.0), (runs, share)), axis=1)  # of arm 0 over arm 1, in sums
        stops = ahead**2.0 / (4.0 * np.arange(1, share + 1)) >= 2.0 ** (stages - stage)
        last = np.where(stops.any(axis=1), stops.argmax(axis=1), share - 1)
        end = np.sign(ahead[np.arange(runs), last])
        total += np.where(answer == 0.0, ahead[:, -1], 0.0)
        answer = np.where((answer == 0.0) & stops.any(axis=1), end, answer)
    return float((np.where(answer == 0.0, np.sign(total), answer) < 0.0).mean())


def test_an_independent_simulation_agrees_and_keeps_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    # Theorem 3.2 with A = 8 / 0.5^2 = 32, what this test needs for each unit of log(1 / delta): 0.16 for 4,608 pulls.
    # Budgets are such that runs pull both arms equally often. Seeds are fixed; the tolerance is four standard errors.
    monkeypatch.setitem(registry._AGENTS, "Pair", Pair)
    runs = 4000
    for budget in (16, 320, 4608):
        agent = FC2FB(agent="Pair", q=1)
        agent.reset(ProblemInfo(2, budget, runs), np.random.default_rng(budget))
        bandit = GaussianBandit(np.tile([0.5, 0.0], (runs, 1)), 1.0)
        played = play_blocks(agent, bandit, budget, np.random.default_rng(1))
        error, plain = float(played.recommendation.mean()), simulated(budget, runs, np.random.default_rng(2))
        assert abs(error - plain) < 4.0 * math.sqrt(2.0 * max(plain, 1.0 / runs) / runs), (budget, error, plain)
        assert error <= 3.0 * math.exp(-budget / (4.0 + 4.0 * math.log2(budget) * 32.0)), budget
