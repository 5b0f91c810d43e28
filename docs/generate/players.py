"""Which agent can play in which environment: every agent is reset in every environment."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.agents.registry import check_rewards
from bai_gym.bandits import Bandit
from bai_gym.errors import BaiGymError, BudgetError
from generate.instances import Environment

__all__ = ["Verdict", "Verdicts", "verdicts"]

Verdicts = dict[tuple[str, str], "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether an agent with its default parameters plays in an environment with its own.

    Attributes:
        plays: Whether it does.
        budget: The least budget with which it does, where the default one is too small.
        reason: Why it does not.
    """

    plays: bool
    budget: int | None = None
    reason: str = ""


def verdicts(environments: tuple[Environment, ...]) -> Verdicts:
    """Return the verdict on every pair, by name of the agent and id."""
    found = {}
    for environment in environments:
        environment.env.reset(seed=0)
        bandit = environment.problem.draw(1, np.random.default_rng(0))
        for name in agents.names():
            found[name, environment.entry.id] = _ask(agents.make(name), environment, bandit)
    return found


def _ask(agent: Any, environment: Environment, bandit: Bandit) -> Verdict:
    spec, budget = environment.env.episode_spec, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of agents that are meant for more arms, but play all the same
        try:
            check_rewards(agent.name, bandit.rewards)
            try:
                agent.reset(spec.problem_info(bandit, agent.knows), np.random.default_rng(0))
            except BudgetError:
                budget = agent.least_budget(bandit.num_arms, environment.problem.num_features)
                spec = dataclasses.replace(spec, budget=budget)
                agent.reset(spec.problem_info(bandit, agent.knows), np.random.default_rng(0))
        except BaiGymError as error:
            return Verdict(False, reason=str(error))
    return Verdict(True, budget)
