"""OSE and PROSE: scopes by hand, and the order by lower bounds."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bai_gym import evaluate
from bai_gym.agents.bounds.prose import OSE, PROSE, ScopeState, pull_in_drawn_scope, pull_in_next_scope
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


def test_scopes_that_are_drawn_by_hand(episode: Play) -> None:
    # Bounds at beta = sigma = 1: 1 + 1/2, 1/2 + 1 / sqrt 3 < 1.5, infinite. 8^0.3 = 1.87, 8^0.4 = 2.3, 8^0.6 = 3.5.
    s, w = ScopeState.of(width=1.0, order=[1.0, 0.0, 2.0])
    e = episode([4, 3, 0], [1.0, 0.5, 0.0])
    pulled = [pull_in_drawn_scope(e, s, w, SimpleNamespace(random=lambda u=u: u)) for u in (0.3, 0.4, 0.6)]  # type: ignore[arg-type]
    assert pulled == [1, 0, 2]


def test_prose_by_hand(trace: Play) -> None:
    # Rewards 0, 2, 1; Z = t = 1, 2, then floor(e) = 2 until log t = 2: arm 1 from pull 2 on. At pulls 8 and 10 j = 2,
    # and all arms are in the scope: arm 2 at first, then 2 + 1 / sqrt 7 of arm 1 against 1 + 1.
    played = trace(PROSE(tie="first", beta=1.0), [[0.0], [2.0], [1.0]], 10)
    assert played.arms == [0, 1, 1, 1, 1, 1, 1, 2, 1, 1]
    assert played.recommendation == 1
    assert trace(PROSE(tie="first", beta=1.0, gamma=1e6), [[0.0], [2.0], [1.0]], 10).arms[:4] == [0, 1, 1, 2]


@pytest.mark.each("earlier", [0, 3])
def test_arms_are_sorted_by_lower_bounds(episode: Play, earlier: int) -> None:
    rng, arms = np.random.default_rng(0), 12
    pulls = rng.integers(0, earlier + 1, arms)
    means = np.where(pulls > 0, rng.random(arms), 0.0)
    s, w = ScopeState.of(width=1.0, power=1.0, order=rng.permutation(arms))
    pulled = -1
    for _ in range(200):
        e = episode(pulls, means)._replace(pulled=pulled)
        pulled = pull_in_next_scope(e, s, w, rng)
        with np.errstate(divide="ignore"):
            width = np.where(pulls > 0, 1.0 / np.sqrt(pulls), np.inf)
        order, t = w.order.astype(int), e.made + 1
        scope = order[: int(np.exp(s.turn) + 1e-9) if t > 2 else t]
        assert sorted(order) == list(range(arms)) and (np.diff((means - width)[order][(pulls > 0)[order]]) <= 0).all()
        assert pulled in scope and (means + width)[pulled] == (means + width)[scope].max()
        means[pulled] = (means[pulled] * pulls[pulled] + rng.random()) / (pulls[pulled] + 1)
        pulls[pulled] += 1


def test_the_largest_lower_bound_is_recommended() -> None:
    agent = PROSE(beta=4.0, sigma=0.5)  # bounds 0.5 - 1/2, 0.9 - 1
    agent.reset(ProblemInfo(3, 5), np.random.default_rng(0))
    seen = {"pulls": np.array([[4, 1, 0]]), "means": np.array([[0.5, 0.9, 0.0]]), "variances": np.zeros((1, 3))}
    assert agent.recommend({**seen, "remaining": np.zeros((1, 1), np.int64)}).tolist() == [0]


@pytest.mark.each("agent", [OSE, PROSE])
def test_more_arms_than_pulls(agent: type[OSE]) -> None:
    result = evaluate(agent, "BAI-ManyArms5000-v0", budget=500, runs=50, env_kwargs={"sigma": 0.1})
    assert result.simple_regret < 0.3  # of a random arm 2/3
