"""KN on common items: errors and pulls where they are known."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.agents import KN
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.paired import PairedGaussianBandit
from bai_gym.problems import ProblemInfo


@pytest.mark.slow
def test_errors_and_pulls_in_the_slippage_configuration() -> None:
    # Ten arms, a gap and a zone of 0.3, delta = 0.1, correlation 0.5; 4,000 runs, four standard errors.
    runs = 4000
    bandit = PairedGaussianBandit([0.3] + [0.0] * 9, 1.0, correlation=0.5).select(np.zeros(runs, np.int64))
    agent = KN(indifference=0.3, paired=True)
    agent.reset(ProblemInfo(10, 10**6, runs, truth=bandit), np.random.default_rng(0))
    played = play_blocks(agent, bandit, 10**6, np.random.default_rng(1))
    assert (played.recommendation != 0).mean() == pytest.approx(0.061, abs=4 * np.sqrt(0.06 / runs))
    assert played.pulls.sum(axis=1).mean() == pytest.approx(421, abs=12)
