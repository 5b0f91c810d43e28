"""Rows of a table as arms: which rows, what is shown of them, and what they pay."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.data import FeatureTable
from bai_gym.datasets import RowsProblem, automobile_like
from bai_gym.datasets.problems import rows
from bai_gym.datasets.problems.rows import distinct_rows
from bai_gym.errors import DataError, InstanceError, MissingDataError, ParameterError
from bai_gym.problems import build
from bai_gym.statistics import FloatArray

LEVEL = 0.001


def table(num_rows: int, columns: int = 3) -> FeatureTable:
    """Column c of row r is r + c / 10, rescaled: every value tells its row."""
    values = np.arange(num_rows)[:, None] + np.arange(columns) / 10.0
    return FeatureTable.rescaled([f"c{column}" for column in range(columns)], values)


def drawn(problem: RowsProblem, batch: int = 1, seed: int = 0) -> tuple[FeatureBandit, FloatArray]:
    bandit = problem.draw(batch, np.random.default_rng(seed))
    assert bandit.features is not None
    assert bandit.features.shape == (batch, problem.num_arms, problem.num_features)
    return bandit, bandit.features


def test_arms_are_rows_with_the_other_columns_as_features() -> None:
    source = automobile_like()
    for target, others in (("price", [0, 1, 2, 3, 4]), ("x2", [0, 2, 3, 4, 5])):
        bandit, features = drawn(RowsProblem(source, target, 6), 20)
        position = source.columns.index(target)
        for run, arm in itertools.product(range(20), range(6)):
            (row,) = np.flatnonzero(source.values[:, position] == bandit.means[run, arm])
            np.testing.assert_array_equal(features[run, arm], source.values[row, others])
        assert isinstance(bandit.inner, GaussianBandit)
        assert (bandit.variances == 0.1).all()
    other, more = drawn(RowsProblem(source, "x2", 6, intercept=True, noise_variance=2.5), 20)
    np.testing.assert_array_equal(more[..., :5], features)
    assert (more[..., 5] == 1.0).all() and (other.variances == 2.5).all()
    for keywords, match in (({"num_arms": 1}, "at least 2"), ({"noise_variance": 0.0}, "noise_variance")):
        with pytest.raises((InstanceError, ParameterError), match=match):
            RowsProblem(table(9), "c0", **keywords)


@given(st.data())
def test_rows_are_distinct(data: st.DataObject) -> None:
    num_rows = data.draw(st.integers(2, 60))
    num_arms = data.draw(st.integers(2, num_rows))
    batch = data.draw(st.integers(1, 30))
    found = distinct_rows(num_rows, batch, num_arms, np.random.default_rng(data.draw(st.integers(0, 9))))
    assert (found.shape, found.dtype) == ((batch, num_arms), np.int64)
    assert found.min() >= 0 and found.max() < num_rows
    assert (np.diff(np.sort(found, axis=1)) > 0).all()


@pytest.mark.each(("num_rows", "num_arms"), [(6, 3), (5, 3)])  # at most half, and more
def test_every_ordered_choice_is_equally_likely(num_rows: int, num_arms: int) -> None:
    choices = list(itertools.permutations(range(num_rows), num_arms))
    found = distinct_rows(num_rows, 200 * len(choices), num_arms, np.random.default_rng(1))
    counts = dict.fromkeys(choices, 0)
    for choice in map(tuple, found.tolist()):
        counts[choice] += 1
    assert chisquare(list(counts.values())).pvalue > LEVEL / 4


def test_permutations_do_not_repeat_themselves_from_part_to_part(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = distinct_rows(7, 9, 6, np.random.default_rng(0))
    monkeypatch.setattr(rows, "ENTRIES_AT_ONCE", 15)  # two runs at a time
    parts = distinct_rows(7, 9, 6, np.random.default_rng(0))
    np.testing.assert_array_equal(parts, whole)


def test_no_more_rows_than_there_are() -> None:
    bandit, _ = drawn(RowsProblem(table(5), "c0", 5), 20)
    assert np.sort(bandit.means).tolist() == [[0.0, 0.25, 0.5, 0.75, 1.0]] * 20
    with pytest.raises(DataError, match="6 arms asked for, but the data have only 5 rows; give at most that many"):
        RowsProblem(table(5), "c0", 6)


# The data sets


def test_cars(small_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(small_data))
    problem = build("automobile")
    assert isinstance(problem, RowsProblem)
    assert (problem.num_arms, problem.num_features, problem.noise_variance) == (8, 5, 0.1)
    assert problem.notes == ("3 of 30 prices are missing in the data; they are the mean of the others",)
    bandit, features = drawn(problem, 200)
    # The prices of the small file are linear in the weight, the first feature; the missing ones are not.
    fit = np.polyfit(features[..., 0].ravel(), bandit.means.ravel(), 1)
    misfit = np.abs(np.polyval(fit, features[..., 0]) - bandit.means)
    assert 0.02 < (misfit > 0.05).mean() < 0.2
    monkeypatch.setenv("BAI_GYM_DATA", str(small_data / "nowhere"))
    with pytest.raises(MissingDataError, match="'automobile' is not in .*nowhere: run `bai-gym data fetch automobile`"):
        build("automobile")
    given = build("automobile", path=str(small_data / "automobile" / "imports-85.data"), num_arms=4, intercept=True)
    assert (given.num_arms, given.num_features) == (4, 6)


@pytest.mark.each("target", ["pm", "motor_speed"])
def test_moments_of_a_motor(small_data: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(small_data))
    problem = build("electric-motor", target=target)
    assert isinstance(problem, RowsProblem)
    assert (problem.num_arms, problem.num_features, problem.noise_variance, problem.notes) == (8, 11, 0.1, ())
    raw = np.loadtxt(small_data / "electric-motor" / "measures_v2.csv", delimiter=",", skiprows=1)
    names = (small_data / "electric-motor" / "measures_v2.csv").read_text().split("\n", 1)[0].split(",")
    position = names.index(target)
    scaled = (raw - raw.min(axis=0)) / np.maximum(np.ptp(raw, axis=0), 1e-9)
    bandit, features = drawn(problem, 10)
    for run, arm in itertools.product(range(10), range(8)):
        row = np.abs(scaled[:, position] - bandit.means[run, arm]).argmin()
        np.testing.assert_allclose(bandit.means[run, arm], scaled[row, position], atol=1e-12)
        np.testing.assert_allclose(features[run, arm], np.delete(scaled[row, :12], position), atol=1e-12)


def test_other_targets_are_refused_before_the_file_is_looked_for() -> None:
    for target in ("torque", "PM", None, ["pm"]):
        with pytest.raises(
            ParameterError, match="target must be one of 'pm', 'stator_winding', .*, 'motor_speed', not "
        ):
            build("electric-motor", target=target)


def test_the_look_alike_has_a_seed_of_its_own() -> None:
    problem, same, other = (build("automobile-like", table_seed=seed) for seed in (0, 0, 1))
    draws = [each.draw(20, np.random.default_rng(5)).means for each in (problem, same, other)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()
    assert any("synthetic" in note for note in problem.notes)
    assert isinstance(problem, RowsProblem)
    assert (problem.num_arms, problem.num_features) == (8, 5)
    with pytest.raises(ParameterError, match="seed must be an integer of at least 0, not -1"):
        build("automobile-like", table_seed=-1)
