"""The evidence of a log that exists: which alternative is the best, whether to stop, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bai_gym.data import read_table
from bai_gym.data.table import Source
from bai_gym.errors import DataError, ParameterError
from bai_gym.live.estimates import NONE, Estimates, Pull
from bai_gym.live.page import Page
from bai_gym.live.summary import summary
from bai_gym.rewards import REAL, Rewards
from bai_gym.wings import hook

__all__ = ["log_page"]


def log_page(
    log: Source,
    *,
    arm_column: str,
    reward_column: str,
    control: str | None = None,
    item_column: str | None = None,
    rewards: Rewards | str | None = None,
    missing: str = "error",
    guardrails: Mapping[str, str] | None = None,
    more_items: bool = False,
) -> Page:
    """Return what a page says of a log with one row per observation, see :func:`bai_gym.data.read_table`.

    Args:
        log: A CSV or Parquet file, or a data frame. Its rows are taken for independent, and for in order of time.
        arm_column: The column that names the alternative.
        reward_column: The column with the reward: numbers, of which larger ones are better, or true, false, yes and no.
        control: The alternative with which the others are compared; None: there is none.
        item_column: The column that names the item, such as the question, if all were tried on the same ones.
        rewards: The kind of rewards; None: that which the log shows, see :meth:`bai_gym.rewards.Rewards.read`.
        missing: ``"error"``, or ``"drop"`` to leave out rows without an alternative, a reward or a guarded metric.
        guardrails: Limits of other columns, such as ``{"latency": "<= 300"}``: wanted is the best alternative of those
            whose averages keep them, or none.
        more_items: Whether there are more items than those in the log, on which observations can be collected.

    Raises:
        ParameterError: There is no such control or kind of rewards.
        DataError: The log cannot be used, or has two rows of one alternative and item.
    """
    declared = None if rewards is None else Rewards.of(rewards)
    limits = None if guardrails is None else hook("guardrails")(guardrails, reward_column)
    samples = read_table(
        log,
        arm_column=arm_column,
        reward_column=reward_column,
        item_column=item_column,
        rewards=declared or REAL,
        missing=missing,
        other_columns=[*limits.limits] if limits else (),
    )
    kind, names = declared or Rewards.read(samples.rewards), samples.names
    assert samples.rows is not None
    if control is not None and control not in names:
        raise ParameterError(f"control {control!r} is not in column {arm_column!r}, which has {', '.join(names)}"[:300])
    arms = np.repeat(np.arange(samples.num_arms), samples.counts)
    if samples.items is not None:
        pairs, counts = np.unique(np.stack([arms, samples.items], axis=1), axis=0, return_counts=True)
        if counts.max() > 1:
            name = names[pairs[counts.argmax(), 0]]
            raise DataError(f"{name!r} has two rows of one item in column {item_column!r}; each may have one")
    pulls = [
        Pull(
            int(arms[row]),
            float(samples.rewards[row]),
            item=None if samples.items is None else int(samples.items[row]),
            guarded=tuple(samples.others[row].tolist()),
        )
        for row in np.argsort(samples.rows)
    ]
    if limits:
        names = (*names, NONE)
    estimates = Estimates.of(pulls, len(names), rewards=kind, guardrails=limits)
    details = [f"Rewards: {kind}{'' if declared else ', as far as the log shows'}."]
    if samples.dropped:
        details.append(f"Rows without an alternative or a reward, left out: {samples.dropped:,}.")
    return summary(
        estimates,
        pulls,
        names,
        np.argsort(-estimates.values, kind="stable"),
        control=None if control is None else names.index(control),
        before=None,
        ended=None,
        items=None if samples.items is None or more_items else int(samples.items.max()) + 1,
        details=details,
    )
