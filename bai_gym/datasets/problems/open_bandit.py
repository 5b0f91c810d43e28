"""Which item is clicked most often? Logs of items that were displayed at random, of the Open Bandit Dataset."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bai_gym.bandits import FiniteBandit, FinitePopulations, SampleTable
from bai_gym.data import read_table, require
from bai_gym.problems.base import FixedProblem
from bai_gym.validation import choice

__all__ = ["CAMPAIGNS", "open_bandit_problem"]

CAMPAIGNS = {"men": 34, "women": 46}  # with the number of items


def open_bandit_problem(campaign: str = "men", path: str | Path | None = None) -> FixedProblem:
    """Return the problem of finding the item with the largest click rate among items displayed uniformly at random.

    An arm is an item, of 34 (men) or 46 (women), with about 290 or 220 displays each. A pull is a display of the item
    that was not yet drawn, see :class:`bai_gym.bandits.FiniteBandit`; the reward is 1 for a click, else 0. There are 46
    clicks in the 10,000 displays of each campaign, so the true means of this problem, the click rates of the log, say
    little about the click rates of the items: the problem is to find what is best in the log. Displays of different
    items are those of different visitors, and cannot be paired. The position on the page, of three, is not used: items
    were at all of them equally often, up to chance.

    Args:
        campaign: ``"men"`` or ``"women"``.
        path: A copy of ``men.csv`` or ``women.csv`` of the folder ``obd/random`` of the repository; None: the data set
            ``open-bandit-men`` or ``open-bandit-women`` in the data directory.

    Raises:
        ParameterError: Another campaign.
        MissingDataError: The file is not there.
        DataError: It cannot be used.

    Source: Saito, Aihara, Matsutani and Narita (2021), "Open Bandit Dataset and Pipeline: Towards Realistic and
    Reproducible Off-Policy Evaluation" (arXiv 2008.07146).
    """
    file = require(f"open-bandit-{choice(campaign, CAMPAIGNS, 'campaign')}") if path is None else path
    samples = read_table(file, arm_column="item_id", reward_column="click", separator=",")
    populations = FinitePopulations.of(SampleTable.of(samples.rewards, samples.offsets))
    names = tuple(f"item {name}" for name in samples.names)
    return FixedProblem(FiniteBandit(populations, np.arange(samples.num_arms)[None, :]), arm_names=names)
