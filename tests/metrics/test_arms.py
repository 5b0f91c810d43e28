"""Arms with several metrics: blocks beside single pulls, environments beside each other, and what is refused."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import ks_2samp

import bai_gym  # noqa: F401  # registers the ids
from bai_gym.errors import BaiGymError
from bai_gym.metrics import BernoulliMetrics, GaussianMetrics, TableMetrics
from bai_gym.problems import build

SQUARE = [[0.3, 2.0]] * 2


def test_blocks_have_the_distribution_of_single_pulls() -> None:
    rng, runs = np.random.default_rng(0), 4000
    table = TableMetrics(rng.random((40, 2)).round(1), np.array([0, 25, 40]))
    for bandit in (GaussianMetrics(SQUARE, [1.0, 4.0], 0.9), BernoulliMetrics([[0.3, 0.8]] * 2), table):
        many = bandit.select(np.zeros(runs, np.int64))
        for pulls in (2, 7):  # for two the Wishart matrix is singular
            made = many.pull_block(np.tile([0, pulls], (runs, 1)), rng).cells
            single = np.stack([many.draw(1 + 2 * np.arange(runs), rng) for _ in range(pulls)])
            for one, other in ((made.means, single.mean(axis=0)), (made.variances, single.var(axis=0, ddof=1))):
                pairs = ((array @ [1.0, -0.5]).round(9) for array in (one[1::2], other))
                assert ks_2samp(*pairs, method="asymp").pvalue > 1e-4, bandit  # 12 tests


def test_one_episode_is_a_batch_of_one_and_shows_all_metrics() -> None:
    for env_id in ("BAI-Guardrails-v0", "BAI-Pareto-v0", "BAI-MetricsTable-v0"):
        env, batch = gym.make(env_id, budget=6), gym.make_vec(env_id, num_envs=1, budget=6)
        one, many, means = env.reset(seed=3)[0], batch.reset(seed=3)[0], []
        for _ in range(7):
            for key, value in one.items():
                np.testing.assert_array_equal(value, many[key][0], key)
            means.append(one["metric_means"][0])
            action = np.zeros(env.action_space.shape, np.int64)
            one, many = env.step(action)[0], batch.step(action[None])[0]
        numbers = np.diff(np.arange(7)[:, None] * np.array(means), axis=0)
        np.testing.assert_allclose(one["metric_variances"][0], numbers.var(axis=0, ddof=1), atol=1e-6)


def test_a_log_and_what_cannot_be_played(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("variant,bought,latency\na,1,200\nb,0,300\na,0,240\nb,1,280\nb,1,320\n")
    problem = build("metrics-table", path=path, goals={"bought": "max", "latency": "<= 250"})
    means = problem.draw(1, np.random.default_rng(0)).means[0]
    assert means[:, 1].tolist() == [220.0, 300.0]
    for keywords, match in (
        ({"means": SQUARE, "correlation": 1.0}, "do not fit 2 metrics"),
        ({"means": SQUARE, "distribution": "bernoulli"}, "lie in"),
        ({"delay": 1}, "leave them out"),
    ):
        with pytest.raises(BaiGymError, match=match):
            gym.make("BAI-Pareto-v0", **keywords)
