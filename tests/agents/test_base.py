"""What all agents inherit: labels, reset, the plan, and errors that name the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from bai_gym import evaluate
from bai_gym.agents import Agent, SequentialAgent, SequentialHalving, SHAdaVar, Uniform
from bai_gym.agents.base import Plan
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Observation


def observation(pulls: list[int], remaining: int) -> Observation:
    zeros = np.zeros(len(pulls))
    return {"pulls": np.array(pulls), "means": zeros, "variances": zeros, "remaining": np.array([remaining])}


@dataclass(kw_only=True)
class Greedy(Agent):
    """Asks for more than there is, if ``over``; and notes when it looks."""

    over: bool = False

    name: ClassVar[str] = "Greedy"

    def plan(self) -> Plan:
        self.looked = [self.statistics.pulls.tolist()]
        yield [[1, 0]]
        self.looked.append(self.statistics.pulls.tolist())
        yield [[0, 1]]
        self.looked.append(self.statistics.pulls.tolist())
        if self.over:
            yield [[1, 0]]
        return np.array([len(self.looked) - 2])


def run(agent: Greedy) -> int:
    agent.reset(ProblemInfo(2, 2), np.random.default_rng(0))
    agent.act(observation([0, 0], 2))
    agent.act(observation([1, 0], 1))
    return int(agent.act(observation([1, 1], 0)))


def test_a_plan_runs_once_from_top_to_bottom_and_starts_again_after_reset() -> None:
    agent = Greedy()
    for _ in range(2):
        assert run(agent) == 1
        assert agent.looked == [[[0, 0]], [[1, 0]], [[1, 1]]]


def test_a_plan_that_asks_for_more_than_the_budget_is_an_error() -> None:
    with pytest.raises(AgentError, match="asked for 1 pulls with 0 left of the budget"):
        run(Greedy(over=True))


def test_acting_without_reset_is_an_error() -> None:
    agent = Greedy()
    with pytest.raises(AgentError, match="Greedy has not been reset"):
        agent.act(observation([0, 0], 2))
    run(agent)
    with pytest.raises(AgentError, match="reset it before the next episode"):
        agent.act(observation([0, 0], 2))


@pytest.mark.each(
    ("agent", "label"),
    [
        (SHAdaVar(delta=0.05), "SHAdaVar"),
        (SHAdaVar(delta=0.1, ucb=False), "SHAdaVar(delta=0.1, ucb=False)"),
        (SequentialHalving(tie="first", leftover="last"), "SH(tie=first, leftover=last)"),
    ],
)
def test_labels_name_what_differs_from_the_defaults(agent: Any, label: str) -> None:
    assert agent.label == label


def test_an_unknown_tie_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="tie must be 'random' or 'first', not 'lowest'"):
        Uniform(tie="lowest").reset(ProblemInfo(2, 5))  # type: ignore[arg-type]


def test_without_a_generator_every_reset_gets_a_fresh_one() -> None:
    agent = Uniform()
    agent.reset(ProblemInfo(2, 5))
    first = agent.rng
    agent.reset(ProblemInfo(2, 5))
    assert first is not agent.rng and first.random() != agent.rng.random()


def test_a_class_without_a_name_has_its_own_and_what_it_lacks_is_one_line() -> None:
    class Ruled(SequentialAgent):
        pass

    class Planned(Agent):
        pass

    assert (Ruled.name, Planned.name, Agent.name, SequentialHalving.name) == ("Ruled", "Planned", "Agent", "SH")
    for kind, words in (
        (Ruled, "^Ruled has no rule: set"),
        (Planned, r"^Planned needs plan\(\), or allocate"),
    ):
        with pytest.raises(AgentError, match=words):
            evaluate(kind, "BAI-Gaussian8-v0", budget=80, runs=5)
