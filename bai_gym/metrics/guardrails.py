"""Guardrails of real experiments: limits of what pulls measure beside the reward, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bai_gym.common.seeding import generator
from bai_gym.errors import ParameterError
from bai_gym.live.estimates import NONE, Estimates, Pull
from bai_gym.live.page import Page, trade_off
from bai_gym.live.posterior import Posterior
from bai_gym.live.summary import chance, listed
from bai_gym.metrics.tasks import Feasible
from bai_gym.rewards import REAL, Rewards

__all__ = ["Guardrails"]

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
        try:
            self.limits = dict(sorted(limits.items()))
            if not limits:
                raise ValueError
            self.task = Feasible(("max", *self.limits.values()))
        except (AttributeError, TypeError, ValueError):
            raise ParameterError(
                f"guardrails must be limits of metrics, such as {{'latency': '<= 300'}}, not {limits!r}"
            ) from None
        if reward in limits:
            raise ParameterError(f"{reward!r} is the reward and has a guardrail: give the limit of another metric")
        self.facts = [self.limits, reward]

    def check(self, given: Any, what: str) -> dict[str, float]:
        """Return the reward and the metrics with limits, in that order, from a mapping by name.

        Args:
            given: The mapping; with a named reward, others in it are left out.
            what: What errors call it.

        Raises:
            ParameterError: It is no mapping, one of them is missing or no number, or it is unclear which is the reward.
        """
        named: Any = self.facts[1]
        try:
            (reward,) = [named] if named else given.keys() - self.limits.keys()
            numbers = {name: given[name] for name in (reward, *self.limits)}
        except (AttributeError, LookupError, TypeError, ValueError):
            raise ParameterError(
                f"{what} must give {named or 'one reward (if there are others, reward= names it)'} and "
                f"{listed([*self.limits])}, by name, not {given!r:.80}"
            ) from None
        return {name: REAL.check(number, f"{name} of {what}") for name, number in numbers.items()}

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
        self._metrics = [
            Estimates.of(
                [replace(pull, reward=(pull.reward, *pull.guarded)[d]) for pull in log],
                num_arms,
                rewards=REAL if d else rewards,
            )
            for d in range(task.metrics)
        ]
        means = np.stack([metric.means for metric in self._metrics], axis=-1)  # (K, D)
        above = task.above(means)
        self._kept = (above[:, 1:] >= 0.0).all(axis=-1)
        self._dominated = (above > above[:, None]).all(axis=-1).any(axis=-1)
        self.values = np.append(np.where(self._kept, means[:, 0], -np.inf), NOTHING)
        self.best = np.nan * self.values
        self.known = all(metric.posterior.known for metric in self._metrics)
        if self.known:
            rng = generator(0, "guardrails")  # all posteriors use the same random numbers
            draws = np.stack([rng.permutation(metric.posterior.draws) for metric in self._metrics], axis=-1)
            holds = task.above(draws)[..., 1:] >= 0.0  # (S, K, D - 1)
            self._holds = holds.mean(axis=0)
            values = np.where(holds.all(axis=-1), draws[..., 0], -np.inf)
            self.draws = np.insert(values, num_arms, NOTHING, axis=1)
            self.best = np.bincount(self.draws.argmax(axis=1), minlength=num_arms + 1) / len(draws)

    def extended(self, page: Page, names: Any, order: Any) -> Page:
        """Return a page, whose table has the arms in that order, with what is said of guardrails."""
        (reward, *others), limits = self._metrics, self.guardrails.limits.items()
        return replace(
            page,
            sentences=[*page.sentences, *self.sentences(names, order[0])],
            headings=[*page.headings, *map(" ".join, limits)],
            rows=[
                replace(row, cells=(*row.cells, *self._cells(arm))) for row, arm in zip(page.rows, order, strict=True)
            ],
            figures=[trade_off(names, reward, *given, order[0]) for given in zip(others, limits, strict=True)],
        )

    def sentences(self, names: Any, first: int) -> list[str]:
        """Return which arms keep the guardrails, which are dominated, and how surely a first one keeps them."""
        said = [
            "The best is sought among those that keep all guardrails, by their averages: "
            f"{listed([names[arm] for arm in np.flatnonzero(self._kept)] or [NONE])}.",
            "Dominated, which means worse than another one in all metrics: "
            f"{listed([names[arm] for arm in np.flatnonzero(self._dominated)] or [NONE])}.",
        ]
        if self.known and first < self._kept.size:
            lost = self.draws.max(axis=1) - self.draws[:, first]
            holds = np.isfinite(lost)
            said.append(
                f"{names[first]} keeps all of them with a probability of {chance(holds.mean())}; if so, deciding now "
                f"loses {lost[holds].sum() / max(holds.sum(), 1):.2g} on average."
            )
        return said

    def _cells(self, arm: int) -> list[str]:
        """Return means with intervals, and how surely they keep limits."""
        if not self.known or arm == self._kept.size:
            return ["-"] * len(self.guardrails.limits)
        return [
            f"{metric.means[arm]:.3g} ({metric.intervals[arm, 0]:.3g} to {metric.intervals[arm, 1]:.3g}), holds "
            f"with {chance(holds)}"
            for metric, holds in zip(self._metrics[1:], self._holds[arm], strict=True)
        ]
