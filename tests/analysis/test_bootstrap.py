"""Bootstrap of whole runs: its law for one task, what columns share, and the coverage of its intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, kstest

from bai_gym.analysis.bootstrap import check_samples, resample
from bai_gym.errors import ParameterError


def columns_of(*counts: tuple[int, int]) -> list[np.ndarray]:
    """Columns with so many ones in so many runs."""
    return [np.arange(runs) < ones for ones, runs in counts]


@pytest.mark.parametrize(("ones", "runs"), [(0, 20), (3, 20), (400, 1200)])
def test_with_one_task_it_is_the_posterior_of_jeffreys(ones: int, runs: int) -> None:
    drawn = resample(columns_of((ones, runs)), [("a",)], samples=10_000, seed=1, unseen=0.5)
    assert drawn.shape == (10_000, 1)
    assert kstest(drawn[:, 0], beta(ones + 0.5, runs - ones + 0.5).cdf).pvalue > 1e-6


def test_runs_have_one_weight_for_all_columns() -> None:
    right = np.random.default_rng(0).random(1500) < 0.3
    drawn = resample([right, ~right, right], [("a",), ("b",), ("c",)], samples=500, seed=0, unseen=1e-9)
    assert drawn[:, 0] + drawn[:, 1] == pytest.approx(np.ones(500), abs=1e-6)
    assert drawn[:, 0] == pytest.approx(drawn[:, 2], abs=1e-6)
    assert drawn[:, 0].std() == pytest.approx(math.sqrt(0.3 * 0.7 / 1500), rel=0.2)
    other = resample([right], [("a",)], samples=500, seed=1, unseen=1e-9)
    assert abs(np.corrcoef(other[:, 0], drawn[:, 0])[0, 1]) < 0.2  # another seed, other weights


def test_a_column_does_not_depend_on_the_others() -> None:
    # Not in the last digit either: sums of weights are exact, whatever their order.
    rng = np.random.default_rng(0)
    columns = [rng.random(runs) < 0.3 for runs in (1700, 1700, 900, 3, 2000)]
    addresses: list[tuple[str | int, ...]] = [("a", i) for i in range(5)]
    together = resample(columns, addresses, samples=300, seed=4, unseen=0.1)
    for i in range(5):
        alone = resample([columns[i]], [addresses[i]], samples=300, seed=4, unseen=0.1)
        assert alone[:, 0].tolist() == together[:, i].tolist()
    again = resample(columns[::-1], addresses[::-1], samples=300, seed=4, unseen=0.1)
    assert (again[:, ::-1] == together).all()
    assert (resample(columns, addresses, samples=300, seed=5, unseen=0.1) != together).all()


def test_values_beyond_one() -> None:
    # A constant column: only the prior's runs, at 0 and at `most`, move its mean away from 3, and hardly.
    drawn = resample([np.full(50, 3)], [("a",)], samples=200, seed=0, unseen=0.5, most=4.0)
    assert (np.abs(drawn - 3) < 0.5).all() and drawn.std() > 0
    small = resample([np.full(50, 3)], [("a",)], samples=200, seed=0, unseen=0.5, size=0.01, most=4.0)
    assert small.std() < 0.1 * drawn.std()
    prior = resample([np.full(1, 3)], [("a",)], samples=200, seed=0, unseen=100.0, most=4.0)
    assert prior.mean() == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("samples", [99, 2.5, True, "many"])
def test_too_few_samples_are_refused(samples: object) -> None:
    with pytest.raises(ParameterError, match="at least 100"):
        check_samples(samples)
