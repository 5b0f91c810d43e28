"""N episodes at a time: the dynamics behind the scalar and the vector environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from bai_gym.bandits import Bandit
from bai_gym.envs.spaces import observation_space
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import Problem, ProblemInfo
from bai_gym.statistics import FloatArray, IntArray, Statistics

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
        funds: The budget, of pulls or of money.
    """

    bandit: Bandit

    def __init__(self, problem: Problem, spec: EpisodeSpec, batch: int) -> None:
        """Allocate the arrays; :meth:`begin` draws the instances."""
        self.problem = problem
        self.episode_spec = spec
        self.num_arms = problem.num_arms
        self.batch = batch
        self._first = np.arange(batch) * self.num_arms
        self._start = problem.start
        self.statistics = self.shown = Statistics.zeros((batch, self.num_arms))
        self.funds = spec.funds
        self.remaining: npt.NDArray[Any] = np.zeros((batch, 1), self.funds.dtype)
        self.over: npt.NDArray[np.bool_] = np.ones(batch, dtype=bool)
        self.features: FloatArray | None = None
        constants = {**spec.task.constants, **self.funds.facts}
        self._constants = {key: np.broadcast_to(array, (batch, *array.shape)) for key, array in constants.items()}

    def begin(self, rng: np.random.Generator, rows: IntArray | None = None) -> None:
        """Start new episodes in the given rows (None: in all)."""
        if rows is None:
            self.bandit = self.problem.draw(self.batch, rng)
            rows = np.arange(self.batch)
        else:
            self.bandit.replace(rows, self.problem.draw(rows.size, rng))
        if self.problem.num_features is not None:
            self.features = self._features(self.problem.num_features)
        for name in ("pulls", "means", "variances"):
            getattr(self.statistics, name)[rows] = getattr(self._start, name)
        self.remaining[rows] = self.episode_spec.budget
        self.over[rows] = False

    @property
    def pulls_left(self) -> IntArray:
        """``(N,)`` pulls that are left, at most: those of the cheapest arm, where arms have costs."""
        return self.funds.pulls_left(self.remaining[:, 0])

    def pull_all(self, arms: IntArray, rng: np.random.Generator) -> None:
        """Pull one arm in every episode; all have pulls left, or the money for any arm."""
        flat = self._first + arms
        self.statistics.add(flat, self.bandit.pull(flat, rng))
        self.funds.pay(self.remaining, slice(None), arms)

    def pull_one(self, arm: int, rng: np.random.Generator) -> None:
        """Pull an arm of the only episode: :meth:`pull_all` without the time that arrays of one take."""
        flat = _FLAT[arm : arm + 1] if arm < _FLAT.size else np.array([arm])
        self.statistics.add(arm, float(self.bandit.pull(flat, rng)[0]))
        self.funds.pay(self.remaining, 0, arm)

    def pull_rows(self, rows: IntArray, arms: IntArray, rng: np.random.Generator) -> None:
        """Pull one arm in each of the given episodes."""
        flat = self._first[rows] + arms[rows]
        self.statistics.add(flat, self.bandit.pull(flat, rng))
        self.funds.pay(self.remaining, rows, arms[rows])

    def recommend(self, rows: IntArray, recommendations: IntArray) -> tuple[FloatArray, dict[str, npt.NDArray[Any]]]:
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
        task, means = self.episode_spec.task, self.bandit.means[rows]
        recommendations = task.check(recommendations, rows.size, self.num_arms, "the recommendation", ParameterError)
        self.over[rows] = True
        unspent = {"unspent": self.remaining[rows, 0]} if self.funds.facts else {}
        if not self.problem.known:
            estimates = self._estimates(rows, recommendations)
            return estimates, {"estimate": estimates, **unspent}
        regret = task.simple_regret(means, recommendations)
        correct = task.correct(means, recommendations)
        info = {
            "correct": correct,
            "simple_regret": regret,
            "correct_recommendation": task.correct_recommendation(means),
            **unspent,
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

    def _features(self, length: int) -> FloatArray:
        features = self.bandit.features
        if features is None or features.shape[-1] != length:
            found = "none" if features is None else str(features.shape[-1])
            raise InstanceError(
                f"{type(self.problem).__name__} has num_features={length}, and draws bandits with {found}: "
                "both must be the same"
            )
        return features

    def observation_space(self) -> spaces.Dict:
        """Return the space of one episode's observations."""
        spec, start = self.episode_spec, int(self._start.pulls.max())
        return observation_space(self.num_arms, self.funds, self.problem.num_features, start, task=spec.task)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the observation of all episodes: the live arrays, which pulls update until the next :meth:`begin`."""
        arrays: dict[str, npt.NDArray[Any]] = {
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
        """
        return self.episode_spec.problem_info(self.bandit, knows)


_FLAT = np.arange(4096)  # slices of it are index arrays of one, cheaper than building them
