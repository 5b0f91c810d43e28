"""Guardrails of real experiments: limits of what pulls measure beside the reward, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bai_gym.common.seeding import generator
from bai_gym.errors import ParameterError
from bai_gym.live.estimates import NONE, Estimates, Pull
from bai_gym.live.posterior import Posterior
from bai_gym.live.summary import chance, listed
from bai_gym.metrics.picture import trade_off
from bai_gym.metrics.tasks import Feasible, ParetoSet
from bai_gym.rewards import REAL, Rewards
from bai_gym.validation import reward as check_number

__all__ = ["Guardrails", "Guards"]

NOTHING = -1e60  # less than any reward: that of no arm


class Guardrails:
    """The limits of metrics, and the name of the reward.

    Args:
        limits: By metric, such as ``{"latency": "<= 300"}``.
        reward: The name of the reward; None: the only metric without a limit.

    Attributes:
        limits: The same, by name.
        task: The task that they state.
        facts: The arguments, as JSON values.

    Raises:
        ParameterError: There is no limit, or one is malformed, or of the reward.
    """

    def __init__(self, limits: Mapping[str, str], reward: str | None = None) -> None:
        """Check the limits."""
        if not isinstance(limits, Mapping) or not limits:
            raise ParameterError(
                f"guardrails must be limits by metric, such as {{'latency': '<= 300'}}, not {limits!r}"
            )
        if reward in limits:
            raise ParameterError(f"{reward!r} is the reward and has a guardrail: give the limit of another metric")
        self.limits, self._reward = dict(sorted(limits.items())), reward
        for name, limit in self.limits.items():
            try:
                self.task = Feasible(("max", limit))
            except ParameterError:
                rule = "a limit such as '<= 300' or '>= 0.9'"
                raise ParameterError(f"the guardrail of {name!r} must be {rule}, not {limit!r}") from None
        self.task = Feasible(("max", *self.limits.values()))
        self.facts = [self.limits, reward]

    def read(self, given: Any, what: str = "it") -> dict[str, float]:
        """Return the reward and the metrics with limits, in that order, from a mapping by name.

        Args:
            given: The mapping; with a named reward, others in it are left out.
            what: What errors call it.

        Raises:
            ParameterError: It is no mapping, one of them is missing or no number, or it is unclear which is the reward.
        """
        others = [name for name in given if name not in self.limits] if isinstance(given, Mapping) else []
        reward = others[0] if self._reward is None and len(others) == 1 else self._reward
        if not {reward, *self.limits} <= {*others, *(given if others else ())}:
            wanted = listed([reward or "one other metric (name it by reward= if there are several)", *self.limits])
            raise ParameterError(f"{what} must give {wanted}, by name, not {given!r:.80}")
        return {name: check_number(given[name], f"{name} of {what}") for name in (reward, *self.limits)}

    def refusal(self, found: Any) -> str | None:
        """Return what is wrong with what a function has returned, as :meth:`bai_gym.rewards.Rewards.refusal` does."""
        try:
            self.read(found[0])
        except ParameterError as error:
            return str(error)
        return None

    def judge(self, log: Sequence[Pull], num_arms: int, rewards: Rewards) -> Guards:
        """Return what pulls of K arms say."""
        return Guards(self, log, num_arms, rewards)


class Guards(Posterior):
    """What pulls say about guardrails, and about the best arm of those that keep them; the number K stands for no arm.

    Metrics are drawn from the posterior independently of each other, although those of a pull may be correlated.

    Args:
        guardrails: The guardrails.
        log: The pulls.
        num_arms: K.
        rewards: The kind of rewards.

    Attributes:
        guardrails: The same.
        values: ``(K + 1,)`` mean rewards, -inf where a sample mean breaks its limit.
        draws: ``(S, K + 1)`` draws of mean rewards, -inf where a limit is broken.
        best: ``(K + 1,)`` probability that the arm, or none, is the right answer.
    """

    def __init__(self, guardrails: Guardrails, log: Sequence[Pull], num_arms: int, rewards: Rewards) -> None:
        """Draw the means."""
        self.guardrails, task = guardrails, guardrails.task
        self._metrics = []
        for d in range(task.metrics):
            pulls = [replace(pull, reward=(pull.reward, *pull.guarded)[d]) for pull in log]
            self._metrics.append(Estimates.of(pulls, num_arms, None, REAL if d else rewards))
        means = np.stack([metric.means for metric in self._metrics], axis=-1)  # (K, D)
        self._kept = (task.above(means)[:, 1:] >= 0.0).all(axis=-1)
        self.values = np.append(np.where(self._kept, means[:, 0], -np.inf), NOTHING)
        goals = ["min" if "<" in goal else "max" for goal in task.goals]
        self._dominated = (ParetoSet(goals).margins(means) > 0.0).any(axis=-1)
        posteriors = [metric.posterior for metric in self._metrics]
        self.known = all(posterior.known for posterior in posteriors)
        self.best = np.full(num_arms + 1, np.nan)
        if self.known:
            rng = generator(0, "guardrails")  # all posteriors use the same random numbers
            draws = np.stack([rng.permutation(posterior.draws) for posterior in posteriors], axis=-1)  # (S, K, D)
            self._holds = task.above(draws)[..., 1:] >= 0.0
            values = np.where(self._holds.all(axis=-1), draws[..., 0], -np.inf)
            self.draws = np.column_stack([values, np.full(len(values), NOTHING)])
            self.best = np.bincount(self.draws.argmax(axis=1), minlength=num_arms + 1) / len(values)

    @property
    def headings(self) -> list[str]:
        """Headings of the columns that :meth:`cells` fills."""
        return [" ".join(limit) for limit in self.guardrails.limits.items()]

    def cells(self, arm: int) -> list[str]:
        """Return what a table says of an arm: means with intervals, and how surely they satisfy limits."""
        if not self.known or arm == self._kept.size:
            return ["-"] * len(self.headings)
        chances = map(chance, self._holds[:, arm].mean(axis=0))
        numbers = ((metric.means[arm], *metric.intervals[arm], next(chances)) for metric in self._metrics[1:])
        return ["{:.4g} ({:.4g} to {:.4g}), holds with {}".format(*shown) for shown in numbers]

    def sentences(self, names: Sequence[str], first: int) -> list[str]:
        """Return which arms keep the guardrails, which are dominated, and how surely a first one keeps them."""
        kept, worse = (
            listed([names[arm] for arm in np.flatnonzero(which)] or [NONE]) for which in (self._kept, self._dominated)
        )
        said = [f"The best is sought among those that keep all guardrails, by their averages: {kept}."]
        said.append(f"Dominated, which means worse than another one in all metrics: {worse}.")
        if self.known and first < self._kept.size:
            holds = self._holds[:, first].all(axis=-1)
            lost = (self.draws.max(axis=1) - self.draws[:, first])[holds]
            loss = f"; if so, deciding now loses {lost.mean():.2g} on average" if lost.size else ""
            said.append(f"{names[first]} keeps them with a probability of {chance(holds.mean())}{loss}.")
        return said

    def figures(self, names: Sequence[str], first: int) -> list[str]:
        """Return a picture of the reward against each metric."""
        reward, *others = self._metrics
        return [
            trade_off(names, reward, metric, limit, first)
            for metric, limit in zip(others, self.guardrails.limits.items(), strict=True)
        ]
