"""User-defined arms, by means and variances, or from a log of rewards.

Without arguments each makes a small demonstration, so that every id works out of the box; reports mention it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    FiniteBandit,
    FinitePopulations,
    GaussianBandit,
    SampleTable,
)
from bai_gym.data import ArmSamples, ScoreMatrix, read_table
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems.base import FixedProblem
from bai_gym.rewards import REAL, Rewards
from bai_gym.validation import choice, flag

__all__ = ["custom_problem", "table_problem"]

DEMO_MEANS = (0.5, 0.45, 0.4, 0.3)
DEMO_VARIANCE = 0.25  # about that of Bernoulli arms with these means
DEMO_CORRELATION = 0.5

# Sign-ups in the synthetic log of an A/B test; the log follows from these numbers, without randomness.
DEMO_VISITORS = 1000  # per variant
DEMO_SIGN_UPS = {"long form": 250, "present page": 300, "one field": 340, "one field, quote": 400}


def custom_problem(
    means: object = None,
    variances: object = None,
    distribution: str = "gaussian",
    paired: bool = False,
    correlation: object = None,
    covariance: object = None,
) -> FixedProblem:
    """Return the problem of one fixed instance.

    Args:
        means: ``(K,)`` means. None: the demonstration instance, four arms with means 0.5, 0.45, 0.4 and 0.3 (and
            variances 0.25 where they are Gaussian, and correlation 0.5 where they are paired).
        variances: ``(K,)`` variances of Gaussian arms, or one number for all. None: 1, or those of ``covariance``.
        distribution: ``"gaussian"``, or ``"bernoulli"``, where the means determine the variances.
        paired: Whether the j-th pull of every arm is played on the same item, see
            :class:`bai_gym.paired.PairedGaussianBandit`; Gaussian arms only.
        correlation: Of the rewards of every two paired arms on an item; or a ``(K, K)`` correlation matrix.
        covariance: ``(K, K)`` covariance matrix of paired arms, in place of ``variances`` and ``correlation``.

    Raises:
        InstanceError: Malformed means, variances or covariances; paired arms without a correlation.
        ParameterError: An unknown distribution, variances of Bernoulli arms, variances without means, or a correlation
            of arms that are not paired.
    """
    if choice(distribution, ("gaussian", "bernoulli"), "distribution") == "bernoulli" and variances is not None:
        raise ParameterError("variances cannot be given with distribution='bernoulli': the means determine them")
    if flag(paired, "paired") and distribution == "bernoulli":
        raise ParameterError("paired=True needs Gaussian arms, or a table of your own rewards: see BAI-LLMSelection-v0")
    if not paired and (correlation is not None or covariance is not None):
        raise ParameterError(
            "a correlation or covariance of arms needs paired=True: the pulls of others are independent"
        )
    notes: tuple[str, ...] = ()
    if means is None:
        if variances is not None or covariance is not None:
            raise ParameterError("variances are given without means: give means=[...] too, one per arm")
        means, variances = DEMO_MEANS, DEMO_VARIANCE
        notes = (f"no means were given: this is the demonstration instance with means {', '.join(map(str, means))}",)
        if paired and correlation is None:
            correlation = DEMO_CORRELATION
    if distribution == "bernoulli":
        bandit: Bandit = BernoulliBandit(means)
    elif paired:
        from bai_gym.paired.bandits.gaussian import PairedGaussianBandit  # of a wing

        bandit = PairedGaussianBandit(means, variances, correlation=correlation, covariance=covariance)
    else:
        bandit = GaussianBandit(means, 1.0 if variances is None else variances)
    return FixedProblem(bandit, notes)


def table_problem(
    path: str | Path | None = None,
    arm_column: str | None = None,
    reward_column: str | None = None,
    separator: str | None = None,
    bins: int | None = None,
    arms: Sequence[str | int | float] | None = None,
    missing: str | None = None,
    replace: bool = True,
    rewards: Rewards | str | None = None,
    paired: bool = False,
    item_column: str | None = None,
    cost_column: str | None = None,
) -> FixedProblem:
    """Return the problem whose arms are the values of one column of a log; a pull returns the reward of a random row.

    Args:
        path: A CSV or Parquet file, see :func:`bai_gym.data.read_table`. None, with all else left out too: the
            synthetic log of an A/B test, four variants of a page shown to 1,000 visitors each, reward 1 for a sign-up.
        arm_column: The column that names the arm.
        reward_column: The column with the reward: numbers, or true, false, yes and no.
        separator: One character between the fields of a CSV file; None looks for it.
        bins: Cut a numeric arm column into this many arms.
        arms: The arms wanted, in this order; None: all.
        missing: ``"error"`` (the default of unpaired arms), or ``"drop"`` to leave out rows without an arm or a reward.
            With ``paired=True``, where an arm has no reward on an item: ``"items"`` (the default) keeps the items that
            all arms have a reward on, ``"arms"`` the arms that have one on all items, ``"zero"`` counts a missing
            reward as 0, and ``"error"`` rejects the file.
        replace: Whether a row, or an item, may come again (default). False: only after all others of its arm, see
            :class:`bai_gym.bandits.FiniteBandit`.
        rewards: The kind of rewards, ``"binary"``, ``"bounded(low, high)"``, ``"counts"`` or ``"real"``, see
            :class:`bai_gym.rewards.Rewards`. None: binary if all in the file are 0 or 1, ``"bounded(0, 1)"`` if all are
            between, else real.
        paired: Whether the j-th pull of every arm returns its reward on the same item, see
            :class:`bai_gym.paired.PairedFiniteBandit`.
        item_column: The column that names the item, with ``paired=True`` only; each arm has one row for an item.
        cost_column: The column that says what a row has cost, above 0. The mean over the rows of an arm is the cost of
            a pull of it, and budgets are money. None: ``costs=`` of the environment says so, or pulls have no costs.

    Raises:
        ParameterError: Some of ``path``, ``arm_column`` and ``reward_column`` are given, but not all; one of
            ``paired`` and ``item_column`` without the other; or no such kind of rewards.
        DataError: The file cannot be used, or a reward is not of the kind.
    """
    kind = None if rewards is None else Rewards.of(rewards)
    notes: tuple[str, ...] = ()
    if missing is not None:
        choice(missing, ("error", "drop", "items", "arms", "zero"), "missing")
    if flag(paired, "paired") != (item_column is not None):
        raise ParameterError("paired=True and item_column=, the column that names the items, need each other")
    costs: dict[str, float] = {}
    if path is not None and arm_column is not None and reward_column is not None:
        left_out = "drop" if paired else missing or "error"
        reading: dict[str, Any] = {"separator": separator, "bins": bins, "arms": arms, "missing": left_out}
        try:
            samples = read_table(
                path,
                arm_column=arm_column,
                reward_column=reward_column,
                rewards=kind or REAL,
                item_column=item_column,
                **reading,
            )
        except DataError as error:
            if "has no column" not in str(error):
                raise
            raise DataError(
                f"{error}; a file with a column of rewards for each arm is for BAI-LLMSelection-v0"
            ) from None
        if cost_column is not None:
            prices = read_table(path, arm_column=arm_column, reward_column=cost_column, **reading)
            parts = np.split(prices.rewards, prices.offsets[1:-1])
            costs = {name: float(part.mean()) for name, part in zip(prices.names, parts, strict=True)}
        if paired:
            name = Path(path).name if isinstance(path, str | Path) else "the data frame"
            matrix = ScoreMatrix.of(samples, name, kind)
            from bai_gym.paired.problems import paired_problem  # of a wing

            return _priced(paired_problem(matrix, missing or "items", replace=flag(replace, "replace")), costs)
        if samples.dropped:
            notes = (f"rows of {Path(path).name} without an arm or a reward, left out: {samples.dropped:,}",)
    elif missing not in (None, "error") or any(
        given is not None
        for given in (path, arm_column, reward_column, separator, bins, arms, kind, item_column, cost_column)
    ):
        raise ParameterError(
            "BAI-Table needs path=, arm_column= and reward_column= of your CSV or Parquet file; one with a column of "
            "rewards for each arm is for BAI-LLMSelection-v0"
        )
    else:
        samples = _demo_log()
        notes = ("no path was given: these are synthetic data of an A/B test that never took place",)
    table = SampleTable.of(samples.rewards, samples.offsets, kind)
    every_arm = np.arange(samples.num_arms)[None, :]
    bandit: Bandit = EmpiricalBandit(table, every_arm)
    if not flag(replace, "replace"):
        bandit = FiniteBandit(FinitePopulations.of(table), every_arm)
    return _priced(FixedProblem(bandit, notes, samples.names), costs)


def _priced(problem: FixedProblem, costs: dict[str, float]) -> FixedProblem:
    """Give the arms that are left their costs, if there are any."""
    assert problem.arm_names is not None
    problem.costs = tuple(costs[name] for name in problem.arm_names) if costs else None
    return problem


def _demo_log() -> ArmSamples:
    """Return the log of the demonstration: as many ones per variant as :data:`DEMO_SIGN_UPS` says, else zeros."""
    sign_ups = np.array(list(DEMO_SIGN_UPS.values()))
    rewards = (np.arange(DEMO_VISITORS) < sign_ups[:, None]).astype(np.float64)  # (K, visitors)
    return ArmSamples(tuple(DEMO_SIGN_UPS), rewards.reshape(-1), np.arange(sign_ups.size + 1) * DEMO_VISITORS)
