"""N episodes at a time: the dynamics behind the scalar and the vector environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from bai_gym.bandits import Bandit
from bai_gym.envs.actions import ActionEncoding
from bai_gym.envs.spaces import action_space, observation_space
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import Problem, ProblemInfo
from bai_gym.problems.numbering import Numbering
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray, Statistics

__all__ = ["Episodes"]


class Episodes:
    """N episodes of a problem: their instances, statistics and pulls left.

    Attributes:
        bandit: The current instances.
        statistics: ``(N, K)`` statistics, updated in place.
        shown: ``(N, K)`` statistics that agents have observed: the same, unless a wrapper holds some back.
        remaining: ``(N, 1)`` pulls left, int64, or money left, float64, where arms have costs; updated in place.
        over: ``(N,)`` whether the recommendation has been given.
        features: ``(N, K, d)`` features of the current instances, read-only; None where the problem has none.
        numbering: How the current episodes number their arms; None: as the problem lists them.
        funds: The budget, of pulls or of money.
        action_encoding: The actions.
        everyone: ``(N,)`` the numbers of all episodes.
        outcomes: ``(R,)`` the rewards that the last pulls drew, of the R episodes that pulled.
    """

    bandit: Bandit

    def __init__(self, problem: Problem, spec: EpisodeSpec, batch: int) -> None:
        """Allocate the arrays; :meth:`begin` draws the instances."""
        self.problem = problem
        self.episode_spec = spec
        self.num_arms = problem.num_arms
        self.batch = batch
        self.everyone = np.arange(batch)
        self._first = self.everyone * self.num_arms
        self._start = problem.start
        self._start_pulls = int(self._start.pulls.max())
        self.statistics = self.shown = Statistics.zeros((batch, self.num_arms))
        self.funds = spec.funds
        self.action_encoding = ActionEncoding(self.num_arms, spec.task, fixed_confidence=spec.may_stop)
        self.remaining: AnyArray = np.zeros((batch, 1), self.funds.dtype)
        self.over: BoolArray = np.ones(batch, dtype=bool)
        self.features: FloatArray | None = None
        constants = {**spec.task.constants, **self.funds.facts}
        self._constants = {key: np.repeat(array[None], batch, axis=0) for key, array in constants.items()}
        self.numbering: Numbering | None = None
        self.outcomes: Any = np.zeros(batch)

    def begin(self, rng: np.random.Generator, rows: IntArray | None = None, budget: Any = None) -> None:
        """Start new episodes in the given rows (None: in all), with a budget (None: that of the specification)."""
        size = self.batch if rows is None else rows.size
        drawn = self.problem.draw(size, rng)
        self._check_features(drawn)
        listed = drawn.means
        numbering = self.episode_spec.number(self.problem, size, rng)
        if numbering is not None:
            drawn = numbering.arrange(drawn)
        if rows is None:
            self.bandit, self.numbering, self._listed = drawn, numbering, listed
            rows = self.everyone
        else:
            self._listed[rows] = listed
            self.bandit.replace(rows, drawn)
            if self.numbering is not None and numbering is not None:
                self.numbering.replace(rows, numbering)
        if self.problem.num_features is not None:
            self.features = self.bandit.features
        start = self._start
        if numbering is not None:
            if self._constants:
                for key, array in numbering.constants(self.episode_spec.task, self.funds.facts).items():
                    self._constants[key][rows] = array
            if self._start_pulls:
                start = numbering.start(start)
        for name in ("pulls", "means", "variances"):
            getattr(self.statistics, name)[rows] = getattr(start, name)
        self.remaining[rows] = self.episode_spec.draw_budget(budget, size, rng)
        self.over[rows] = False

    @property
    def pulls_left(self) -> IntArray:
        """``(N,)`` pulls that are left, at most: those of the cheapest arm, where arms have costs."""
        return self.funds.pulls_left(self.remaining[:, 0])

    def pull_all(self, arms: IntArray, rng: np.random.Generator) -> Any:
        """Pull one arm in every episode; all have pulls left, or the money for any arm. Return what it costs there."""
        flat = self._first + arms
        self.outcomes = self._draw(flat, rng)
        return self.funds.pay(self.remaining, slice(None), flat, self._constants)

    def pull_one(self, arm: int, rng: np.random.Generator) -> Any:
        """Pull an arm of the only episode: :meth:`pull_all` without the time that arrays of one take."""
        flat = _FLAT[arm : arm + 1] if arm < _FLAT.size else np.array([arm])
        self.outcomes = float(self.bandit.pull(flat, rng)[0])
        self.statistics.add(arm, self.outcomes)
        return self.funds.pay(self.remaining, 0, arm, self._constants)

    def pull_rows(self, rows: IntArray, arms: IntArray, rng: np.random.Generator) -> Any:
        """Pull one of ``(R,)`` arms in each of ``(R,)`` episodes, and return what it costs there."""
        flat = self._first[rows] + arms
        self.outcomes = self._draw(flat, rng)
        return self.funds.pay(self.remaining, rows, flat, self._constants)

    def _draw(self, flat: IntArray, rng: np.random.Generator) -> Any:
        """Pull ``(R,)`` arms ``episode * K + arm`` of different episodes, and return the rewards."""
        outcomes = self.bandit.pull(flat, rng)
        self.statistics.add(flat, outcomes)
        return outcomes

    def check_pulls(self, rows: Any, arms: Any) -> None:
        """Raise an error unless one arm in each of some episodes can be pulled.

        Raises:
            ParameterError: If a number is one that may be recommended, and of no arm.
            BudgetError: If a pull costs more than is left.
        """
        self.action_encoding.check_pulls(arms)
        self.funds.check_affordable(self.remaining, rows, arms, self._constants)

    def masks(self) -> BoolArray:
        """Return ``(N, n)`` which actions are allowed next, see :meth:`ActionEncoding.masks`."""
        allowed = self.funds.affordable(self.remaining, self._constants)
        return self.action_encoding.masks(self.pulls_left <= 0, allowed)

    def recommend(self, rows: IntArray, recommendations: IntArray) -> tuple[FloatArray, dict[str, AnyArray]]:
        """End the given episodes with a recommendation.

        Args:
            rows: ``(R,)`` episodes.
            recommendations: ``(R, ...)`` their recommendations.

        Returns:
            ``(R,)`` rewards, and the entries of ``info``: ``correct`` and ``simple_regret`` ``(R,)``, and
            ``correct_recommendation`` ``(R, ...)``; where the true means are unknown, ``estimate`` ``(R,)`` instead.
            Where arms have costs, also ``unspent`` ``(R,)``, the money left.

        Raises:
            ParameterError: If a recommendation is not of the task's form.
        """
        task = self.episode_spec.task
        recommendations = task.check(recommendations, rows.size, self.num_arms, "the recommendation", ParameterError)
        self.over[rows] = True
        rest = self.funds.rest(self.remaining[rows, 0])
        if not self.problem.known:
            estimates = self._estimates(rows, recommendations)
            return estimates, {"estimate": estimates, **rest}
        numbering, chosen = None if self.numbering is None else self.numbering.select(rows), recommendations
        means = self.bandit.means[rows]
        if numbering is not None:  # a task may distinguish the arms that the problem lists
            means, chosen = self._listed[rows], numbering.listed(task, recommendations)
        regret, correct = task.simple_regret(means, chosen), task.correct(means, chosen)
        right = task.correct_recommendation(means)
        info = {
            "correct": correct,
            "simple_regret": regret,
            "correct_recommendation": right if numbering is None else numbering.shown(task, right),
            **rest,
        }
        if self.episode_spec.reward == "estimate":
            return self._estimates(rows, recommendations), info
        rewards = (
            0.0 - regret if self.episode_spec.reward == "simple_regret" else correct.astype(np.float64)
        )  # avoids -0.0
        return rewards, info

    def _estimates(self, rows: IntArray, recommendations: IntArray) -> FloatArray:
        """Return the mean of the rewards of the recommended arms, ``(R,)``.

        An arm without a pull counts as the worst arm pulled, so that recommending it never pays off; 0 without any
        pull.
        """
        pulls, means = self.shown.pulls[rows], self.shown.means[rows]
        worst = np.where(pulls > 0, means, np.inf).min(axis=-1, keepdims=True)
        means = np.where(pulls > 0, means, np.where(np.isinf(worst), 0.0, worst))
        if recommendations.ndim == 1:
            return np.take_along_axis(means, recommendations[:, None], -1)[:, 0]
        task, num_arms = self.episode_spec.task, self.num_arms
        return np.array(
            [row[[*task.arms(one, num_arms)]].mean() for row, one in zip(means, recommendations, strict=True)]
        )

    def _check_features(self, bandit: Bandit) -> None:
        length = self.problem.num_features
        if length is not None and (bandit.features is None or bandit.features.shape[-1] != length):
            found = "none" if bandit.features is None else str(bandit.features.shape[-1])
            raise InstanceError(
                f"{type(self.problem).__name__} has num_features={length}, and draws bandits with {found}: "
                "both must be the same"
            )

    def observation_space(self) -> spaces.Dict:
        """Return the space of one episode's observations."""
        task, start, rewards = self.episode_spec.task, self._start_pulls, self.problem.rewards
        features = self.problem.num_features
        return observation_space(self.num_arms, self.funds, features, start, task=task, rewards=rewards)

    def action_space(self) -> spaces.Space[Any]:
        """Return the space of one episode's actions."""
        return action_space(self.num_arms, self.episode_spec.task, fixed_confidence=self.episode_spec.may_stop)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the observation of all episodes: the live arrays, which pulls update until the next :meth:`begin`."""
        arrays: dict[str, AnyArray] = {
            "pulls": self.statistics.pulls,
            "means": self.statistics.means,
            "variances": self.statistics.variances,
            "remaining": self.remaining,
        }
        if self.features is not None:
            arrays["features"] = self.features
        return {**arrays, **self._constants}

    def problem_info(self, knows: Iterable[str] = ()) -> ProblemInfo:
        """Return what agents receive before the current episodes.

        Args:
            knows: Knowledge to grant from the true instances, elements of ``bai_gym.problems.KNOWLEDGE``.

        Raises:
            ResetNeeded: Before the first reset.
        """
        if not hasattr(self, "bandit"):
            raise ResetNeeded("instances are drawn by reset(): call it before problem_info()")
        return self.episode_spec.problem_info(self.bandit, knows, self.numbering, self.problem.arm_names)


_FLAT = np.arange(4096)  # slices of it are index arrays of one, cheaper than building them
