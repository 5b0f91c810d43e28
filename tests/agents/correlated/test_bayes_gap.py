"""BayesGap: by hand, and against a literal reading of the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bai_gym.agents import BayesGap
from bai_gym.bandits import GaussianBandit, GaussianPrior
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.correlated import PriorBandit
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm


def literal(
    prior: np.ndarray, noise: float, budget: int, rewards: list[list[float]], epsilon: float, output: str
) -> tuple[list[int], int]:
    """Algorithm 1 with loops over arms; ties go to the fewest pulls, then the lowest number."""
    arms = len(prior)
    pulls = [0] * arms
    chosen: list[int] = []
    data: list[float] = []
    kept, smallest = 0, np.inf

    def pick(values: list[float], among: list[int]) -> int:
        top = max(values[k] for k in among)
        return min((k for k in among if values[k] >= top - 1e-9), key=lambda k: (pulls[k], k))

    for _ in range(budget + 1):
        if chosen:
            seen = prior[np.ix_(chosen, chosen)] + noise * np.eye(len(chosen))
            gain = np.linalg.solve(seen, prior[chosen])
            mean, spread = gain.T @ np.array(data), np.diag(prior - prior[chosen].T @ gain)
        else:
            mean, spread = np.zeros(arms), np.diag(prior)
        sd = np.sqrt(np.maximum(spread, 0))
        complexity = 0.0
        for k in range(arms):
            others = [i for i in range(arms) if i != k]
            up = max(mean[i] + 3 * sd[i] for i in others) - (mean[k] - 3 * sd[k])
            down = mean[k] + 3 * sd[k] - max(mean[i] - 3 * sd[i] for i in others)
            complexity += max((max(up, down) + epsilon) / 2, epsilon) ** -2
        kappa = sum(1 / prior[k, k] for k in range(arms))
        beta = np.sqrt(max(((budget - arms) / noise + kappa) / (4 * complexity), 1.0))
        upper, lower = mean + beta * sd, mean - beta * sd
        gaps = [max(upper[i] for i in range(arms) if i != k) - lower[k] for k in range(arms)]
        best = pick([-gap for gap in gaps], list(range(arms)))
        rival = pick(list(upper), [k for k in range(arms) if k != best])
        if gaps[best] < smallest:
            kept, smallest = best, gaps[best]
        if len(chosen) < budget:
            arm = pick(list(spread), [best, rival])
            chosen.append(arm)
            data.append(rewards[arm][pulls[arm] % len(rewards[arm])])
            pulls[arm] += 1
    answers = {"best": kept, "last": best, "mean": pick(list(mean), list(range(arms)))}
    return chosen, answers[output]


def own(covariance: Any, **parameters: Any) -> BayesGap:
    return BayesGap(kernel=covariance, tie="first", **parameters)


def test_two_arms_by_hand(trace: Callable[..., Any]) -> None:
    # Prior N(0, I), noise 1, n = 4: (n - K) / 1 + 2 = 4. At first gaps are 6, H = 2 / 9 and beta^2 = 4.5; both B are
    # equal: J = 0, j = 1, both as uncertain, and arm 0 is pulled. It pays 1: mean 1/2, variance 1/2. The bounds of
    # three deviations are 2.621 and -1.621, 3 and -3, so that both gaps are 5.621, H = 0.2532 and beta = 1.987. Then
    # B_0 = 1.987 + 0.905 < B_1 = 1.905 + 1.987, so J = 0 and j = 1, which is less certain: arm 1 is pulled. It pays -2:
    # mean -1, variance 1/2. Arm 0 is ahead by 1.5, and both are as uncertain: arm 0, then arm 1 again, J = 0 always.
    played = trace(own(np.eye(2), noise_variance=1.0), [[1.0, 1.0], [-2.0, -2.0]], 4)
    assert played.arms == [0, 1, 0, 1] and played.recommendation == 0


@settings(max_examples=60)
@given(
    st.integers(2, 5),
    st.integers(1, 14),
    st.sampled_from([0.05, 1.0]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from(["best", "last", "mean"]),
    st.integers(0, 2**32),
)
def test_it_is_the_published_algorithm(
    trace: Callable[..., Any], arms: int, budget: int, noise: float, epsilon: float, output: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(arms, arms))
    prior = roots @ roots.T + 0.1 * np.eye(arms)
    rewards = rng.normal(0.0, 2.0, (arms, budget)).tolist()
    agent = own(prior, noise_variance=noise, output=output)
    played = trace(agent, rewards, budget, task=BestArm(epsilon))
    chosen, answer = literal(prior, noise, budget, rewards, epsilon, output)
    assert played.arms == chosen and played.recommendation == answer


def test_with_fewer_pulls_than_arms_beta_is_one() -> None:
    # (10 - 64) / 0.1 + 64 is below 0: U and L are one standard deviation away.
    prior = GaussianPrior.from_kernel(np.arange(64.0)[:, None], "squared-exponential", length=4.0)
    bandit = PriorBandit(GaussianBandit(prior.draw(50, np.random.default_rng(0)), 0.1), prior)
    agent = BayesGap()
    agent.reset(ProblemInfo(64, 10, 50, truth=bandit, knows=agent.knows), np.random.default_rng(1))
    posterior = agent.posterior
    np.testing.assert_array_equal(agent.beta(posterior, posterior.mean, np.sqrt(posterior.variance)), 1.0)
    rollout = play_blocks(agent, bandit, 10, np.random.default_rng(2))
    assert (rollout.pulls.sum(axis=1) == 10).all()


def test_arms_without_prior_variance_count_for_nothing() -> None:
    agent = own(np.diag([4.0, 0.0, 1.0]), noise_variance=1.0)
    agent.reset(ProblemInfo(3, 30))
    # Deviations 2, 0, 1: within three of them the gaps are 9, 6, 9, and H = 2 / 4.5^2 + 1 / 3^2; 27 + 1/4 + 1 above it.
    beta = agent.beta(agent.posterior, agent.posterior.mean, np.sqrt(agent.posterior.variance))
    assert beta**2 == pytest.approx(28.25 / (4 * (2 / 4.5**2 + 1 / 9)))
