"""N episodes at a time: the dynamics behind the scalar and the vector environment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from bai_gym.bandits import Bandit, PairStatistics
from bai_gym.envs.pending import PendingRewards
from bai_gym.envs.spaces import observation_space
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import Problem, ProblemInfo, build
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.tasks import BestCandidate
from bai_gym.validation import flag

__all__ = ["Episodes", "make_problem"]


def make_problem(problem: Problem | str, keywords: dict[str, Any], init: Callable[..., None]) -> Problem:
    """Return a problem, built from the name of its family if necessary.

    Args:
        problem: The name, or a problem.
        keywords: Keywords of the family.
        init: The ``__init__`` of the environment: those are the keywords that it does not have.

    Raises:
        UnknownNameError: If there is no such family.
        ParameterError: Neither a name nor a problem, unknown keywords, or values outside their range.
    """
    if isinstance(problem, str):
        own = inspect.signature(init).parameters.values()
        named = [each.name for each in own if each.kind is not each.VAR_KEYWORD]
        return build(problem, named[2:], **keywords)  # without self and the problem
    if not isinstance(problem, Problem):
        raise ParameterError(f"problem must be the name of a family or a Problem, not a {type(problem).__name__}")
    if keywords:
        raise ParameterError(f"{next(iter(keywords))!r} cannot be given with a problem object")
    return problem


class Episodes:
    """N episodes of a problem: their instances, statistics and pulls left.

    Attributes:
        bandit: The current instances.
        statistics: ``(N, K)`` statistics, updated in place.
        remaining: ``(N, 1)`` pulls left, int64, or money left, float64, where arms have costs; updated in place.
        over: ``(N,)`` whether the recommendation has been given.
        features: ``(N, K, d)`` features of the current instances, read-only; None where the problem has none.
        funds: The budget, of pulls or of money.
        pairs: Statistics of the differences on common items, None if they are not observed.
        pending: Rewards that have not arrived; None where every reward arrives before the next pull.
    """

    bandit: Bandit

    def __init__(self, problem: Problem, spec: EpisodeSpec, batch: int, *, pairs: bool = False) -> None:
        """Allocate the arrays; :meth:`begin` draws the instances.

        Raises:
            ParameterError: If the reward needs true means, and they are unknown; or the differences on common items are
                wanted, and arms are not paired.
        """
        if flag(pairs, "pairs") and not problem.paired:
            raise ParameterError(
                "pairs=True observes differences of arms on common items, and arms are not paired here: give "
                "paired=True, where the environment has it, or leave pairs out"
            )
        if pairs and spec.rounds.late:
            raise ParameterError("pairs=True observes differences after every pull: leave out batch_size and delay")
        if not problem.known and spec.reward != "estimate":
            raise ParameterError(
                f"reward={spec.reward!r} needs the true means, which are unknown in a real experiment: leave "
                "reward out, or give reward='estimate'"
            )
        self.problem = problem
        self.episode_spec = spec
        self.num_arms = problem.num_arms
        self.batch = batch
        self._first = np.arange(batch) * self.num_arms
        self.statistics = Statistics.zeros((batch, self.num_arms))
        self.funds = spec.funds
        self.remaining: npt.NDArray[Any] = np.zeros((batch, 1), self.funds.dtype)
        self.over: npt.NDArray[np.bool_] = np.ones(batch, dtype=bool)
        self.features: FloatArray | None = None
        self.pairs = PairStatistics(batch, self.num_arms) if pairs else None
        late = (batch, self.num_arms, spec.budget, spec.rounds) if spec.rounds.late else None
        self.pending = None if late is None else PendingRewards(*late)

    def begin(self, rng: np.random.Generator, rows: IntArray | None = None) -> None:
        """Start new episodes in the given rows (None: in all)."""
        if rows is None:
            self.bandit = self.problem.draw(self.batch, rng)
            rows = np.arange(self.batch)
        else:
            self.bandit.replace(rows, self.problem.draw(rows.size, rng))
        if self.pairs is not None:
            self.bandit.keep_items()
            self.pairs.clear(rows)
        if self.problem.num_features is not None:
            self.features = self._features(self.problem.num_features)
        earlier = self.problem.earlier
        for name in ("pulls", "means", "variances"):
            getattr(self.statistics, name)[rows] = 0 if earlier is None else getattr(earlier, name)
        if self.pending is not None:
            self.pending.clear(rows)
        self.remaining[rows] = self.episode_spec.budget
        self.over[rows] = False

    @property
    def pulls_left(self) -> IntArray:
        """``(N,)`` pulls that are left, at most: those of the cheapest arm, where arms have costs."""
        return self.funds.pulls_left(self.remaining[:, 0])

    def pull_all(self, arms: IntArray, rng: np.random.Generator) -> None:
        """Pull one arm in every episode; all have pulls left, or the money for any arm."""
        if self.pending is not None:
            self.pull_rows(np.arange(self.batch), arms, rng)
            return
        if self.pairs is not None:
            self._pull_pairs(np.arange(self.batch), arms, rng)
        else:
            flat = self._first + arms
            self.statistics.add(flat, self.bandit.pull(flat, rng))
        self.funds.pay(self.remaining, slice(None), arms)

    def pull_one(self, arm: int, rng: np.random.Generator) -> None:
        """Pull an arm of the only episode: :meth:`pull_all` without the time that arrays of one take."""
        if self.pending is not None:
            self.pull_rows(np.zeros(1, np.int64), np.array([arm]), rng)
            return
        flat = _FLAT[arm : arm + 1] if arm < _FLAT.size else np.array([arm])
        if self.pairs is not None:
            rewards = self.pairs.item_rewards(self.bandit, int(self.bandit.take_items(flat, rng)[0]))
            self.statistics.add(arm, float(rewards[arm]))
            self.pairs.add_one(arm, rewards, self.statistics.pulls[0])
        else:
            self.statistics.add(arm, float(self.bandit.pull(flat, rng)[0]))
        self.funds.pay(self.remaining, 0, arm)

    def pull_rows(self, rows: IntArray, arms: IntArray, rng: np.random.Generator) -> None:
        """Pull one arm in each of the given episodes."""
        flat = self._first[rows] + arms[rows]
        if self.pairs is not None:
            self._pull_pairs(rows, arms[rows], rng)
        elif self.pending is not None:
            self.pending.add(rows, flat, self.bandit.pull(flat, rng), self.statistics)
        else:
            self.statistics.add(flat, self.bandit.pull(flat, rng))
        self.funds.pay(self.remaining, rows, arms[rows])

    def _pull_pairs(self, rows: IntArray, arms: IntArray, rng: np.random.Generator) -> None:
        """Pull ``(R,)`` arms whose differences to others are observed."""
        assert self.pairs is not None
        flat = self._first[rows] + arms
        rewards = self.bandit.item_rewards(rows, self.bandit.take_items(flat, rng))
        self.statistics.add(flat, rewards[np.arange(rows.size), arms])
        self.pairs.add(rows, arms, rewards, self.statistics.pulls[rows])

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
        pulls, means = self.statistics.pulls[rows], self.statistics.means[rows]
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
        earlier = 0 if self.problem.earlier is None else int(self.problem.earlier.pulls.max())
        spec, pairs = self.episode_spec, self.pairs is not None
        return observation_space(
            self.num_arms,
            self.funds,
            self.problem.num_features,
            earlier,
            pairs=pairs,
            rounds=spec.rounds,
            task=spec.task,
        )

    def observation(self, *, copy: bool) -> Observation:
        """Return the observation of all episodes, as copies or as the live arrays."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "pulls": self.statistics.pulls,
            "means": self.statistics.means,
            "variances": self.statistics.variances,
            "remaining": self.remaining,
        }
        if self.features is not None:
            arrays["features"] = self.features
        if isinstance(self.episode_spec.task, BestCandidate):
            candidates = self.episode_spec.task.candidates
            arrays["candidates"] = np.broadcast_to(candidates, (self.batch, *candidates.shape))
        arrays |= {name: np.broadcast_to(fact, (self.batch, fact.size)) for name, fact in self.funds.facts.items()}
        if self.pending is not None:
            arrays["pending"] = self.pending.counts
        if self.pairs is not None:
            arrays["differences"] = self.pairs.means
            arrays["difference_variances"] = self.pairs.variances
        return {name: array.copy() for name, array in arrays.items()} if copy else arrays

    def problem_info(self, knows: Iterable[str] = ()) -> ProblemInfo:
        """Return what agents receive before the current episodes.

        Args:
            knows: Knowledge to grant from the true instances, elements of ``bai_gym.problems.KNOWLEDGE``.
        """
        return self.episode_spec.problem_info(self.bandit, knows)


_FLAT = np.arange(4096)  # slices of it are index arrays of one, cheaper than building them
