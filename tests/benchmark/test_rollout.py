"""Playing agents by blocks, pull by pull and one by one: what is counted, and one-line errors for broken contracts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import evaluate
from bai_gym.errors import AgentError

ARMS = {"means": [1.0, 0.8, 0.8, 0.5], "variances": [1.0, 0.2, 2.0, 0.5]}


class Own:
    """The skeleton of a user's own agent: pulls every arm twice, recommends the largest mean."""

    def reset(self, info: Any) -> None:
        self.shape = (info.batch, info.num_arms)

    def allocate(self, observation: Any) -> Any:
        return np.full(self.shape, 2) if observation["pulls"].sum() == 0 else None

    def recommend(self, observation: Any) -> Any:
        return observation["means"].argmax(axis=-1)


@pytest.mark.each("path", ["blocks", "steps"])
def test_pulls_that_nobody_asked_for_are_not_counted(path: str) -> None:
    # In the steps the environment goes on until the budget is spent, with the arm that would be recommended.
    result = evaluate(Own, "BAI-Custom-v0", budget=20, runs=30, env_kwargs=ARMS, path=path)
    assert result.mean_pulls.tolist() == [2.0] * 4
    assert result.unspent == 12.0


def answering(counts: Any = None, arms: Any = None) -> type[Own]:
    """Return an agent that once asks for the pulls, or recommends the arms, given as a function of the batch."""

    class Wrong(Own):
        def allocate(self, observation: Any) -> Any:
            return super().allocate(observation) if counts is None else counts(self.shape[0])

        def recommend(self, observation: Any) -> Any:
            return super().recommend(observation) if arms is None else arms(self.shape[0])

    return Wrong


WRONG = {
    "float counts": (
        answering(lambda n: np.full((n, 4), 1.0)),
        "allocate must return integers, not float64",
    ),
    "negative counts": (answering(lambda n: np.tile([3, -1, 0, 0], (n, 1))), "the agent asked for a negative number"),
    "unequal totals": (
        answering(lambda n: np.eye(n, 4, dtype=int)),
        "the agent must ask for equally many pulls in every episode of a batch",
    ),
    "too many pulls": (
        answering(lambda n: np.full((n, 4), 3)),
        r"the agent asked for 12 pulls with 9 left of the budget",
    ),
    "too few arms": (
        answering(lambda n: np.ones((n, 3), int)),
        r"allocate must return counts of shape \(6, 4\), not \(6, 3\)",
    ),
    "ragged": (answering(lambda n: [[1, 2], [3]]), "allocate must return counts of pulls, a Block"),
    "recommends beyond": (
        answering(arms=lambda n: np.full(n, 4)),
        "recommend: arm 4 does not exist; arms are numbered 0 to 3",
    ),
    "recommends below": (answering(arms=lambda n: np.full(n, -1)), "recommend: arm -1 does not exist"),
    "recommends floats": (answering(arms=lambda n: np.zeros(n)), r"recommend must be 6 integer\(s\)"),
}


@pytest.mark.each("path", ["blocks", "steps"])
@pytest.mark.each("case", WRONG)
def test_broken_contracts_of_blocks(case: str, path: str) -> None:
    agent, words = WRONG[case]
    with pytest.raises(AgentError, match=words) as caught:
        evaluate(agent, "BAI-Custom-v0", budget=9, runs=6, env_kwargs=ARMS, path=path)
    assert "\n" not in str(caught.value)


@pytest.mark.each("action", [4, -1, 1.0, None, np.array([0, 1])])
@pytest.mark.each("last", [False, True])
def test_broken_contracts_of_single_actions(action: Any, last: bool) -> None:
    class Acting:
        def act(self, observation: Any) -> Any:
            return action if bool(observation["remaining"][0] == 0) is last else 0

    with pytest.raises(AgentError, match="^act must return one arm") as caught:
        evaluate(Acting, "BAI-Custom-v0", budget=5, runs=2, env_kwargs=ARMS)
    assert "\n" not in str(caught.value)


@pytest.mark.each("arms", [[0, 1], [0, 1, 4], [0.0, 1.0, 2.0], 0, [[0], [1], [2]]])
def test_broken_contracts_of_batched_actions(arms: Any) -> None:
    class Acting:
        batched = True

        def act(self, observation: Any) -> Any:
            return np.array(arms)

    with pytest.raises(AgentError, match="^act(:| must be) ") as caught:
        evaluate(Acting, "BAI-Custom-v0", budget=5, runs=3, env_kwargs=ARMS)
    assert "\n" not in str(caught.value)


def test_undeclared_knowledge() -> None:
    class Peeking(Own):
        def reset(self, info: Any) -> None:
            super().reset(info)
            self.variances = info.variances

    with pytest.raises(AgentError, match="'variances'"):
        evaluate(Peeking, "BAI-Custom-v0", budget=9, runs=6, env_kwargs=ARMS)

    class Declaring(Peeking):
        knows = ("variances",)

    assert evaluate(Declaring, "BAI-Custom-v0", budget=9, runs=6, env_kwargs=ARMS).knows == ("variances",)
