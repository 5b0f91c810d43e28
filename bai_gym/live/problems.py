"""User functions as arms."""

from __future__ import annotations

import math
from concurrent import futures

import numpy as np

from bai_gym.bandits import Bandit, FeatureBandit
from bai_gym.errors import ParameterError
from bai_gym.live.bandits import FunctionBandit
from bai_gym.live.executor.executor import Executor
from bai_gym.live.executor.functions import PullFunctions
from bai_gym.problems.base import FixedProblem
from bai_gym.rewards import REAL, Rewards

__all__ = ["function_problem"]

DEMO_ANGLES = (20, 35, 45, 60)  # degrees
DEMO_SPEED, DEMO_SPREAD = 20.0, 2.0  # metres per second
GRAVITY = 9.81


def function_problem(
    pull: PullFunctions | None = None,
    num_arms: int | None = None,
    features: object = None,
    timeout: float | None = None,
    on_error: str = "raise",
    retries: int | None = None,
    worst: float | None = None,
    run_in: str | futures.Executor = "auto",
    rewards: Rewards | str | None = None,
) -> FixedProblem:
    """Return the problem in which a pull calls a user function.

    The true means are unknown, so recommendations cannot be scored: the reward of a recommendation is the sample mean
    of the recommended arm (``reward="estimate"``), and the last info holds it as ``estimate``. A batch of episodes
    makes its pulls sequentially.

    Args:
        pull: A function of the arm, or one function for each arm, see :func:`bai_gym.live.identify`. Without a
            parameter ``rng`` it must be deterministic for equal seeds to give equal episodes. None: a demonstration,
            throws at four angles with noisy speed; the reward is their distance in metres.
        num_arms: K; may be left out with one function for each arm.
        features: ``(K, d)`` numbers that describe the arms, for agents that use them.
        timeout: Time limit of a pull in seconds.
        on_error: ``"raise"``, ``"retry"`` or ``"worst"``.
        retries: Number of times that a failed pull is repeated.
        worst: Reward of a failed pull.
        run_in: ``"auto"``, ``"here"``, ``"thread"``, ``"process"``, or an executor, see :func:`bai_gym.live.identify`.
        rewards: The kind of rewards, ``"binary"``, ``"bounded(low, high)"``, ``"counts"`` or ``"real"``, see
            :class:`bai_gym.rewards.Rewards`; a pull that returns another number has failed. None: real.

    Raises:
        ParameterError: If an argument is invalid.
        InstanceError: Malformed features.
    """
    notes: tuple[str, ...] = ()
    if pull is None:
        if num_arms not in (None, len(DEMO_ANGLES)):
            raise ParameterError("num_arms is given without pull: give pull=, a function of the arm, with it")
        pull, num_arms = _throw, len(DEMO_ANGLES)
        notes = ("no functions were given: this is the demonstration, throws at four angles",)
    executor = Executor(
        pull,
        num_arms,
        timeout=timeout,
        on_error=on_error,
        retries=retries,
        worst=worst,
        run_in=run_in,
        rewards=REAL if rewards is None else Rewards.of(rewards),
    )
    bandit: Bandit = FunctionBandit(executor)
    return FixedProblem(bandit if features is None else FeatureBandit(bandit, features), notes)


def _throw(arm: int, rng: np.random.Generator) -> float:
    """Return how far a throw goes, in metres, without air."""
    speed = rng.normal(DEMO_SPEED, DEMO_SPREAD)
    return float(speed**2 / GRAVITY * math.sin(math.radians(2 * DEMO_ANGLES[arm])))
