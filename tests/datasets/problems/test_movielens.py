"""Movies as arms: the matching by hand, and against a loop that does what the paper says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bai_gym.datasets import CompletedRatings, MovieLensProblem
from bai_gym.datasets.problems import movielens
from bai_gym.errors import DataError, InstanceError, ParameterError
from bai_gym.problems import build
from bai_gym.problems.heterogeneous import draw_moments

# Three movies and four users, and their moments: means 1, 2.5 and 5, variances 0, 0.25 and 0.
MATRIX = np.array([[1, 1, 1, 1], [2, 3, 2, 3], [5, 5, 5, 5]], np.float32)


DRAW = "build('movielens-like').draw(1, np.random.default_rng(5)).means.tolist()"


def source(matrix: np.ndarray) -> CompletedRatings:
    values = matrix.astype(np.float64)
    return CompletedRatings(
        matrix.astype(np.float32), np.arange(len(matrix)), values.mean(axis=-1), values.var(axis=-1)
    )


def random_source(movies: int, seed: int = 0) -> CompletedRatings:
    rng = np.random.default_rng(seed)
    return source(rng.normal(rng.uniform(1, 5, (movies, 1)), rng.uniform(0.2, 1, (movies, 1)), (movies, 20)))


def targets(monkeypatch: pytest.MonkeyPatch, means: list[float], variances: list[float]) -> None:
    """Let every run draw these moments."""

    def draw(batch: int, num_arms: int, rng: np.random.Generator, *, noisy_best: bool) -> tuple[np.ndarray, np.ndarray]:
        assert num_arms == len(means)
        return np.tile(means, (batch, 1)), np.tile(variances, (batch, 1))

    monkeypatch.setattr(movielens, "draw_moments", draw)


def test_rescaled_matching_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rescaled moments of the movies: (0, 0.05), (0.375, 1.5), (1, 0.05).
    targets(monkeypatch, [0.9, 0.9], [0.1, 1.2])
    bandit = MovieLensProblem(source(MATRIX), 2).draw(20, np.random.default_rng(0))
    assert bandit.candidates.tolist() == [[2, 1]] * 20  # whichever arm chooses first
    # The rewards stay raw ratings.
    assert bandit.means.tolist() == [[5.0, 2.5]] * 20
    assert bandit.variances.tolist() == [[0.0, 0.25]] * 20
    assert set(bandit.pull(np.full(50, 1), np.random.default_rng(0))) == {2.0, 3.0}


def test_variances_count_as_much_as_their_range_says(monkeypatch: pytest.MonkeyPatch) -> None:
    # Squared distances of (0.75, 0.65) to the second and third movie: 0.14 + 0.85^2, and 0.06 + 0.6^2.
    targets(monkeypatch, [0.75, 0.0], [0.65, 0.05])
    bandit = MovieLensProblem(source(MATRIX), 2).draw(5, np.random.default_rng(0))
    assert bandit.candidates.tolist() == [[2, 0]] * 5


def test_raw_matching_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both arms want movie 0, the worst; who comes second takes movie 1. Random order: both ways happen.
    targets(monkeypatch, [0.9, 0.9], [0.1, 1.2])
    bandit = MovieLensProblem(source(MATRIX), 2, matching="raw").draw(40, np.random.default_rng(0))
    found = {tuple(row) for row in bandit.candidates.tolist()}
    assert found == {(0, 1), (1, 0)}


def in_a_loop(problem: MovieLensProblem, means: np.ndarray, variances: np.ndarray, order: np.ndarray) -> np.ndarray:
    chosen = np.empty(means.shape, np.int64)
    for run in range(len(means)):
        free = list(range(problem._means.size))
        for arm in order[run]:
            distances = [
                (problem._means[movie] - means[run, arm]) ** 2 + (problem._variances[movie] - variances[run, arm]) ** 2
                for movie in free
            ]
            chosen[run, arm] = free.pop(int(np.argmin(distances)))  # the first of several nearest ones
    return chosen


def test_matching_is_that_of_a_plain_loop() -> None:
    matching, batch = "raw", 2 * movielens.RUNS_AT_ONCE + 3
    movies = random_source(40)
    doubled = CompletedRatings(  # every movie twice, so that nearest ones tie
        np.tile(movies.matrix, (2, 1)), np.arange(80), np.tile(movies.means, 2), np.tile(movies.variances, 2)
    )
    problem = MovieLensProblem(doubled, 12, matching=matching)
    means, variances = draw_moments(batch, 12, np.random.default_rng(1), noisy_best=True)
    order = np.random.default_rng(2).random((batch, 12)).argsort(axis=-1)
    found = problem._match(means, variances, np.random.default_rng(2))
    np.testing.assert_array_equal(found, in_a_loop(problem, means, variances, order))
    assert (np.diff(np.sort(found)) > 0).all()  # each movie at most once


def test_parameters_are_checked() -> None:
    with pytest.raises(DataError, match="4 arms asked for, but only 3 movies"):
        MovieLensProblem(source(MATRIX), 4)
    with pytest.raises(InstanceError, match="at least 2"):
        MovieLensProblem(source(MATRIX), 1)
    with pytest.raises(ParameterError, match="'rescaled' or 'raw', not 'nearest'"):
        MovieLensProblem(source(MATRIX), 2, matching="nearest")
    with pytest.raises(ParameterError, match="noisy_best must be True or False"):
        MovieLensProblem(source(MATRIX), 2, noisy_best="no")  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_look_alike_is_the_same_in_another_process_without_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "from bai_gym.problems import build; import numpy as np; print(repr(DRAW))".replace("DRAW", DRAW)
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "one"))
    here = repr(eval(DRAW, {"build": build, "np": np}))
    surroundings = os.environ | {"BAI_GYM_CACHE": str(tmp_path / "two"), "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], env=surroundings, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == here
