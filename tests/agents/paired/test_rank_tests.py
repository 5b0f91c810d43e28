"""Tests by ranks, against SciPy and against the formulas of race and irace."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, friedmanchisquare, rankdata, t, wilcoxon

from bai_gym.agents.paired.rank_tests import friedman_worse, signed_rank


def test_signed_ranks_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    for items in (2, 5, 12, 40, 60):
        plain = rng.normal(size=(6, items))
        tied = np.round(plain)
        for d in (*plain, *(row for row in tied if row.any())):
            known = {"alternative": "greater", "correction": False, "method": "approx"}
            one = float(signed_rank(d[None])[0])
            assert one == pytest.approx(float(wilcoxon(d, zero_method="wilcox", **known).pvalue)), items
            split = float(signed_rank(d[None], split_zeros=True)[0])
            assert split == pytest.approx(float(wilcoxon(d, zero_method="zsplit", **known).pvalue)), items
        for d in plain:
            method = "exact" if items <= 50 else "approx"
            expected = wilcoxon(d, alternative="greater", correction=False, method=method).pvalue
            assert float(signed_rank(d[None], exact=True)[0]) == pytest.approx(float(expected), rel=1e-9), items
    # Exact p-values are for ranks without ties.
    same = signed_rank(tied[:1, :12], split_zeros=True)
    assert signed_rank(tied[:1, :12], exact=True, split_zeros=True) == same
    assert signed_rank(np.zeros((1, 4))).tolist() == [0.5]


def test_friedman_and_the_critical_difference_are_those_of_race() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for items, arms, digits in [(5, 3, 9), (8, 4, 0), (20, 5, 0), (12, 6, 9)]:
        for _ in range(20):
            x = np.round(rng.normal(size=(items, arms)) + np.linspace(1.5, 0.0, arms) * rng.integers(2), digits)
            r = np.array([rankdata(row) for row in x])
            ties = sum((u**3 - u).sum() for u in (np.unique(row, return_counts=True)[1] for row in x))
            sums, a = r.sum(axis=0), (r**2).sum()
            bottom = items * arms * (arms + 1) - ties / (arms - 1)
            statistic = 12 * ((sums - items * (arms + 1) / 2) ** 2).sum() / bottom
            assert statistic == pytest.approx(friedmanchisquare(*x.T).statistic)
            worse = np.zeros(arms, bool)
            if chi2.sf(statistic, arms - 1) < 0.05:
                freedom = (items - 1) * (arms - 1)
                width = t.ppf(0.975, freedom) * np.sqrt(2 * (items * a - (sums**2).sum()) / freedom)
                worse = sums.max() - sums > width
                found += 1
            assert friedman_worse(x[None], 0.95).tolist() == [worse.tolist()]
    assert found > 20
    assert not friedman_worse(np.zeros((1, 6, 3)), 0.95).any()
    # Rewards that differ by rounding are equal.
    assert not friedman_worse(np.array([[[0.3, 0.1 + 0.2, 0.3]] * 30]), 0.95).any()
