"""R^go tracking: the rule against a plain transcription, and the exponent in the worst case on a grid."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import xlogy

from bai_gym import agents, evaluate
from bai_gym.agents.learned.network import load_weights, save_weights
from bai_gym.agents.minimax_tracking import FORMAT, SHAPES, SHIPPED, RgoTracking
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, DataError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray

Play = Callable[..., Any]
Weights = dict[str, Any]


@pytest.fixture(scope="module")
def shipped() -> Weights:
    return load_weights(SHIPPED, FORMAT, SHAPES)[0]


def random_weights(num_arms: int, width: int, blocks: int) -> Weights:
    rng = np.random.default_rng(num_arms)
    sizes = {"arms": num_arms, "width": width, "blocks": blocks}
    shapes = {name: tuple(sizes[str(size)] for size in shape) for name, shape in SHAPES.items()}
    return {name: rng.normal(0.0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def shares(w: Weights, means: Any) -> FloatArray:
    """The network as on the page of the agent, for means ``(..., K)``."""
    x = np.clip(means, 0.0, 1.0)
    order = np.argsort(-x, axis=-1, kind="stable")
    h = np.maximum(np.take_along_axis(x, order, -1) @ w["encoder.weight"].T + w["encoder.bias"], 0.0)
    for weight, bias in zip(w["blocks.weight"], w["blocks.bias"], strict=True):
        h = np.maximum(h + h @ weight.T + bias, 0.0)
    s = np.exp(h @ w["out.weight"].T + w["out.bias"])
    r = np.empty_like(s)
    np.put_along_axis(r, order, s / s.sum(axis=-1, keepdims=True), -1)
    same = x[..., :, None] == x[..., None, :]
    return np.asarray((same * r[..., None, :]).sum(-1) / same.sum(-1))


def instances(num_arms: int, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A grid of sample means Q in falling order, of true means P with another best arm than 0, and H(P)."""
    points = (np.arange(size) + 0.5) / size
    every = np.array(list(product(points, repeat=num_arms)))
    q, p = every[(np.diff(every) <= 0.0).all(axis=1)], every
    ordered = np.sort(p, axis=1)
    p = p[(p[:, 0] < ordered[:, -1]) & (ordered[:, -2] < ordered[:, -1])]
    gaps = np.sort(p, axis=1)[:, -1:] - np.sort(p, axis=1)[:, :-1]
    return q, p, (gaps**-2).sum(axis=1)


def exponents(p: FloatArray, h: FloatArray, q: FloatArray) -> FloatArray:
    """H(P) kl(Q_i, P_i), one row for each P."""
    kl = xlogy(q, q / p) + xlogy(1.0 - q, (1.0 - q) / (1.0 - p))
    return np.asarray(h[:, None] * kl)


def worst(rule: Callable[[FloatArray], FloatArray], num_arms: int, size: int) -> float:
    """The smallest exponent that the shares of a rule have on a grid."""
    given, p, h = instances(num_arms, size)
    return min(float((exponents(p, h, q) @ rule(q)).min()) for q in given)


def best_possible(num_arms: int, size: int) -> float:
    """The largest value of :func:`worst`, R^go on the grid: for each Q a linear program over the shares."""
    given, p, h = instances(num_arms, size)
    values = []
    for q in given:
        rows = np.column_stack([-exponents(p, h, q), np.ones(len(p))])
        limits = [(0.0, 1.0)] * num_arms + [(None, None)]
        sums = np.append(np.ones(num_arms), 0.0)[None]
        found = linprog(-np.eye(num_arms + 1)[-1], rows, np.zeros(len(p)), sums, [1.0], limits, method="highs")
        values.append(-found.fun)
    return min(values)


def equal(q: FloatArray) -> FloatArray:
    return np.full(q.size, 1.0 / q.size)


def test_two_arms_are_pulled_equally_where_means_are_equal(tmp_path: Path) -> None:
    # By Pinsker's inequality kl(q, p) >= 2 (q - p)^2, so equal shares have an exponent of at least 1 / 2. No other ones
    # have more: P = (1/2 - r_1 d, 1/2 + r_0 d) and Q = (1/2, 1/2) give 2 r_0 r_1 for small d.
    value = worst(equal, 2, 15)
    assert 0.5 < value < 0.506
    assert value == pytest.approx(best_possible(2, 15), abs=0.001)
    assert worst(lambda q: np.array([0.3, 0.7]), 2, 15) < 0.9 * value
    save_weights(tmp_path / "two.npz", FORMAT, {}, random_weights(2, 6, 1))
    agent = RgoTracking(path=tmp_path / "two.npz")
    agent.reset(ProblemInfo(2, 30), np.random.default_rng(0))
    assert play_blocks(agent, BernoulliBandit([1.0, 1.0]), 30, np.random.default_rng(0)).pulls.tolist() == [[15, 15]]


def test_the_shipped_network_is_nearly_minimax(shipped: Weights) -> None:
    value, optimum = worst(lambda q: shares(shipped, q), 3, 10), best_possible(3, 10)
    assert worst(equal, 3, 10) < 0.75 * optimum
    assert 0.95 * optimum < value <= optimum + 1e-9


def test_it_follows_its_transcription(trace: Play, scripted_blocks: Play, shipped: Weights, tmp_path: Path) -> None:
    for num_arms, every, w in (
        (3, 1, shipped),
        (3, 7, shipped),
        (2, 1, random_weights(2, 5, 0)),
        (5, 3, random_weights(5, 4, 3)),
    ):
        file = tmp_path / f"{num_arms}-{every}.npz"
        save_weights(file, FORMAT, {}, w)
        rng = np.random.default_rng(every)
        inside, binary = rng.random((num_arms, 80)) * 1.4 - 0.2, rng.integers(0, 2, (num_arms, 80)).astype(float)
        outside = rng.random((num_arms, 80)) + np.linspace(-1.0, 1.5, num_arms)[:, None]  # means, too
        for rewards in (inside, binary, outside):
            agent = RgoTracking(every=every, path=file, tie="first")
            played = trace(agent, rewards, 80)
            seen: list[list[float]] = [[] for _ in range(num_arms)]
            for t, arm in enumerate(played.arms):
                if t >= num_arms:
                    if (t - num_arms) % every == 0:
                        r = shares(w, np.array([np.mean(one) for one in seen]))
                    behind = t * r - [len(one) for one in seen]
                    # Ties: the fewest pulls, then the lowest arm; the sums of the network may be rounded differently.
                    tied = np.flatnonzero(behind > behind.max() - 1e-9)
                    assert arm == min(tied, key=lambda one: (len(seen[one]), one))
                else:
                    assert arm == t
                seen[arm].append(rewards[arm][len(seen[arm])])
            assert played.recommendation == int(np.argmax([np.mean(one) for one in seen]))
            blocks = scripted_blocks(agent, rewards, 80)
            assert blocks.pulls[0].tolist() == played.counts(num_arms)
            assert blocks.recommendation[0] == played.recommendation


def test_relabelled_arms_are_pulled_alike(trace: Play) -> None:
    rewards, order = np.random.default_rng(1).random((3, 60)), np.array([2, 0, 1])
    one, other = trace(RgoTracking(), rewards, 60).arms[3:], trace(RgoTracking(), rewards[order], 60).arms[3:]
    assert order[other].tolist() == one and len(set(one)) == 3


def test_equal_arms_are_treated_alike() -> None:
    runs = 4000
    bandit = BernoulliBandit(np.tile([0.5, 0.5, 0.5], (runs, 1)))
    agent = RgoTracking()
    agent.reset(ProblemInfo(3, 40, runs), np.random.default_rng(0))
    rollout = play_blocks(agent, bandit, 40, np.random.default_rng(1))
    # 4.6 standard deviations: level 4e-6.
    counts = np.bincount(rollout.recommendation, minlength=3)
    assert (abs(counts - runs / 3) < 4.6 * np.sqrt(runs * 2 / 9)).all()
    assert np.ptp(rollout.pulls.mean(axis=0)) < 4.6 * np.sqrt(2 / runs) * rollout.pulls.std()


def test_easy_worlds_are_solved_at_every_checkpoint() -> None:
    result = evaluate("R-go-Tracking", "BAI-Custom-v0", budget=90, runs=50, env_kwargs={"means": [0.9, 0.5, 0.1]})
    assert result.errors < 50
    bandit = GaussianBandit([50.0, 10.0, 10.0], 1.0)
    for every in (1, 100):
        agent = RgoTracking(every=every)
        agent.reset(ProblemInfo(3, 60), np.random.default_rng(0))
        assert play_blocks(agent, bandit, 60, np.random.default_rng(0)).recommendation.tolist() == [0]


def test_rewards_outside_the_range_are_doubted() -> None:
    assert RgoTracking().doubts(BernoulliBandit([0.5, 0.4, 0.3])) == ()
    assert "rewards in [0, 1]" in RgoTracking().doubts(GaussianBandit([0.5, 0.4, 0.3], 1.0))[0]


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="R-go-Tracking has weights for 3 arms, and there are 4: .* give path="):
        RgoTracking().reset(ProblemInfo(4, 100))
    with pytest.raises(ParameterError, match="every of R-go-Tracking"):
        RgoTracking(every=0).reset(ProblemInfo(3, 100))
    with pytest.raises(ParameterError, match="there is no file of weights"):
        RgoTracking(path=tmp_path / "none.npz")
    for broken in ({"out.bias": np.zeros(2, np.float32)}, {"blocks.bias": np.zeros(7, np.float32)}):
        save_weights(tmp_path / "broken.npz", FORMAT, {}, {**random_weights(3, 7, 2), **broken})
        with pytest.raises(DataError, match="is damaged"):
            RgoTracking(path=tmp_path / "broken.npz")
    with pytest.raises(DataError):
        agents.make("R-go-Tracking", path=SHIPPED.parent / "universal.npz")
