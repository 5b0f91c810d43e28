"""Which agent can play in which environment: every agent is reset in every environment."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.agents import DPT, ICPE, BayesOptimal
from bai_gym.bandits import Bandit
from bai_gym.errors import BaiGymError, BudgetError
from generate.instances import Environment

__all__ = ["Verdict", "Verdicts", "verdicts"]

Verdicts = dict[tuple[str, str], "Verdict"]
LOOKS = 50  # rewards of each arm that are inspected


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
        rng = np.random.default_rng(0)
        environment.env.reset(seed=0)
        bandit = environment.problem.draw(1, rng)
        low, high, whole = _rewards(bandit, rng)
        for name in agents.names():
            agent = agents.make(name)
            unfit = _unfit(agent, low, high, whole)
            found[name, environment.entry.id] = (
                Verdict(False, reason=unfit) if unfit else _ask(agent, environment, bandit)
            )
    return found


def _ask(agent: Any, environment: Environment, bandit: Bandit) -> Verdict:
    spec, budget = environment.env.episode_spec, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of agents that are meant for more arms, but play all the same
        try:
            try:
                agent.reset(spec.problem_info(bandit, agent.knows), np.random.default_rng(0))
            except BudgetError:
                budget = agent.least_budget(bandit.num_arms, environment.problem.num_features)
                spec = dataclasses.replace(spec, budget=budget)
                agent.reset(spec.problem_info(bandit, agent.knows), np.random.default_rng(0))
        except BaiGymError as error:
            return Verdict(False, reason=str(error))
    return Verdict(True, budget)


def _rewards(bandit: Bandit, rng: np.random.Generator) -> tuple[float, float, bool]:
    """Return the smallest and the largest of some rewards, and whether all are whole numbers."""
    rewards = bandit.pull(np.tile(np.arange(bandit.num_arms), LOOKS), rng)
    return float(rewards.min()), float(rewards.max()), bool((rewards == np.round(rewards)).all())


def _unfit(agent: Any, low: float, high: float, whole: bool) -> str:
    """Return why an agent rejects such rewards, which it would notice only in an episode; empty if it accepts them."""
    share = low >= 0 and high <= 1
    if isinstance(agent, BayesOptimal | DPT | ICPE) and not (share and whole):
        return f"{agent.name} needs rewards of 0 and 1"
    if getattr(agent, "link", "identity") in ("logit", "probit") and not share:
        return f"{agent.name} needs rewards in [0, 1] with its default link, {agent.link!r}"
    return ""
