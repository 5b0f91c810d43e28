"""UCB-E-LRF: a fit and a choice by hand, matrices of rank one, cells that are read once, and the authors' package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from bai_gym.agents import UCBELRF
from bai_gym.agents.paired import low_rank
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.data import ScoreMatrix
from bai_gym.paired import BestRow
from bai_gym.paired.cells import cells_problem
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import BINARY
from bai_gym.statistics import FloatArray


def begun(agent: UCBELRF, rows: int, items: int, seed: int = 0, batch: int = 1) -> UCBELRF:
    """Return the agent at the start of episodes on the cells of a matrix."""
    info = ProblemInfo(rows * items, rows * items, batch, task=BestRow(rows))
    agent.reset(info, np.random.default_rng(seed))
    return agent


def test_a_fit_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(low_rank, "RIDGE", 0.5)
    # argmin (1 - x)^2 + (1/2 - 2 x)^2 + x^2 / 2 = 2 / 5.5 at place 1; argmin (1 - 3 x)^2 + x^2 / 2 = 3 / 9.5 at 2.
    score, factor, at = np.array([1.0, 1.0, 0.5]), np.array([1.0, 3.0, 2.0]), np.array([1, 2, 1])
    np.testing.assert_allclose(low_rank.fitted(score, factor, at, 4), [0.0, 2.0 / 5.5, 3.0 / 9.5, 0.0])


def test_a_choice_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = begun(UCBELRF(batch_size=2, optimism=2.0, tie="first"), 3, 4)
    known = np.array([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1], bool)
    scores = np.array([1.0, 1.0, 1.0, 1.0, 1.0, *[0.0] * 7])
    mean = np.array([9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.2, 0.4, 0.1, 0.1, 0.1, 0.0])
    deviation = np.array([9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.1, 0.3, 0.2, 0.4, 0.3, 0.0])
    monkeypatch.setattr(agent, "predict", lambda *_: (mean, deviation))
    # All of model 0 is known. Bounds: of 1 (1 + 0 + .4 + 1) / 4 = .6, of 2 (.5 + .9 + .7 + 0) / 4 = .525: what is left
    # of model 1, the larger deviation first.
    assert agent.next_cells(scores, known).tolist() == [7, 6]
    agent.optimism = 4.0  # (1 + 0 + .6 + 1.6) / 4 = .8, (.9 + 1.7 + 1.3 + 0) / 4 = .975: two questions of model 2
    assert agent.next_cells(scores, known).tolist() == [9, 10]
    # Means: 1 of model 0, (1 + 0 + .2 + .4) / 4 = .4 of 1, .3 / 4 of 2.
    observation = {"pulls": known[None].astype(np.int64), "means": scores[None], "variances": 0.0 * scores[None]}
    assert agent.recommend(observation).tolist() == [0]
    agent.optimism, known[11] = 2.0, False  # a model that has not been asked comes first
    assert agent.next_cells(scores, known).tolist() == [9, 10]
    assert agent.next_cells(scores, np.ones(12, bool)).size == 0


def test_random_cells_come_first() -> None:
    agent = begun(UCBELRF(random_share=0.5, batch_size=5), 4, 5)
    scores, known = np.zeros(20), np.zeros(20, bool)
    for total in (5, 10):
        known[agent.next_cells(scores, known)] = True
        assert known.sum() == total
    assert agent.minimum_budget(20) == 10
    first = {tuple(agent.next_cells(scores, np.zeros(20, bool)).tolist()) for _ in range(20)}
    assert len(first) == 20


def test_a_matrix_of_rank_one_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    for constant, value in (("DROPPED", 0.0), ("RIDGE", 1e-9), ("ITERATIONS", 100)):
        monkeypatch.setattr(low_rank, constant, value)
    rng = np.random.default_rng(3)
    scores = (rng.uniform(0.2, 1.0, (12, 1)) * rng.uniform(0.2, 1.0, 30)).reshape(-1)

    def farthest(share: float, seed: int, exchange: bool) -> float:
        known = np.random.default_rng(seed).random(scores.size) < share
        agent = begun(UCBELRF(ensemble=8, exchange=exchange), 12, 30)
        mean, _ = agent.predict(np.where(known, scores, 9.0), known)  # what is unknown is not read
        return float(np.abs(mean - scores).max())

    assert max(farthest(0.5, seed, True) for seed in range(4)) < 1e-7
    assert farthest(1.0, 0, False) < 1e-7
    # From random signs least squares may not get away, if no factors are exchanged.
    assert max(farthest(0.5, seed, False) for seed in range(4)) > 1.0


def test_no_cell_is_read_twice_and_all_are_in_the_end() -> None:
    cells = GaussianBandit(np.random.default_rng(0).random((3, 40)), 0.0)
    for budget, tie in ((31, "random"), (40, "first"), (55, "random")):
        agent = UCBELRF(batch_size=4, ensemble=4, tie=tie)
        agent.reset(ProblemInfo(40, budget, 3, task=BestRow(5)), np.random.default_rng(0))
        played = play_blocks(agent, cells, budget, np.random.default_rng(1), BestRow(5))
        assert played.pulls.max() == 1 and (played.pulls.sum(axis=1) == min(budget, 40)).all()
    assert played.recommendation.tolist() == BestRow(5).correct_recommendation(cells.means).tolist()


def answers(models: int, questions: int, seed: int) -> FloatArray:
    """Return scores 0 and 1 of models, the last one the best, on questions that some find hard."""
    rng = np.random.default_rng(seed)
    chances = expit(np.linspace(-1.0, 2.0, models)[:, None] + rng.normal(size=questions))
    return (rng.random(chances.shape) < chances).astype(float)


def test_a_good_model_is_found_with_a_third_of_the_cells() -> None:
    scores = answers(9, 100, 0)
    problem = cells_problem(ScoreMatrix(tuple("ABCDEFGHI"), scores, BINARY), "items")
    agent = UCBELRF(ensemble=16)
    agent.reset(ProblemInfo(900, 300, 20, task=problem.task), np.random.default_rng(0))
    played = play_blocks(agent, problem.draw(20, np.random.default_rng(1)), 300, np.random.default_rng(2), problem.task)
    means = scores.mean(axis=1)
    assert means[played.recommendation].mean() > means.max() - 0.05 > np.sort(means)[-4]


def torch_predictions(scores: FloatArray, known: Any, seed: int) -> tuple[FloatArray, FloatArray, int]:
    """Return what the authors' package predicts, and the model that it asks."""
    torch = pytest.importorskip("torch", reason="banditeval needs PyTorch")
    bandits = pytest.importorskip("banditeval.bandits", reason="the authors' package is not installed")
    from banditeval.factorization import Factorization

    torch.manual_seed(seed)
    observed = torch.tensor(np.where(known, scores, np.nan), dtype=torch.float64)
    torch.set_default_dtype(torch.float64)
    try:
        model = Factorization(*scores.shape, 1, 64, regularizer_weight=0.1, drop_probability=0.05)
        model.fit(observed)
        asked = bandits.upper_confidence_bound_exploration_low_rank_factorization(observed)
    finally:
        torch.set_default_dtype(torch.float32)
    matrices = model().numpy()
    return matrices.mean(axis=0).reshape(-1), matrices.std(axis=0, ddof=1).reshape(-1), int(asked[0, 0])


def test_predictions_and_choices_are_those_of_the_authors_package() -> None:
    scores = answers(40, 150, 1)
    scores[17] = 1.0  # so that there is no doubt which bound is the largest
    for share in (0.1, 0.3):
        known = np.random.default_rng(1).random(scores.shape) < share
        mean, deviation, asked = torch_predictions(scores, known, 0)
        again, spread, _ = torch_predictions(scores, known, 1)
        agent = begun(UCBELRF(), *scores.shape)
        table = scores.reshape(-1), known.reshape(-1)
        own_mean, own_deviation = agent.predict(*table)
        # As close to the package as one seed of it to another one.
        for own, other, repeated in ((own_mean, mean, again), (own_deviation, deviation, spread)):
            assert np.abs(own - other).mean() < 1.5 * np.abs(repeated - other).mean()
        own = {int(agent.next_cells(*table)[0]) // scores.shape[1] for _ in range(3)}
        assert own == {asked} == {17}
