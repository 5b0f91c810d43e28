"""Probabilities of being best, losses, and what further rewards would add, against simulations of their own."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.analysis.posterior import MeansPosterior
from bai_gym.live.posterior import Posterior
from bai_gym.rewards import BINARY, COUNTS, REAL, UNIT, Rewards

TOLERANCE = 0.035  # four standard errors of 4,000 draws


def posterior(pulls: list[int], means: list[float], variances: list[float], rewards: Rewards = REAL) -> Posterior:
    return Posterior(np.array(pulls), np.array(means), np.array(variances), rewards)


def test_probabilities_and_losses_are_those_of_the_posterior() -> None:
    given = np.array([30, 40]), np.array([0.6, 0.55]), np.array([0.02, 0.03]), UNIT
    found, draws = Posterior(*given), MeansPosterior(*given).draw(100_000, np.random.default_rng(1))[0]
    better = (draws[:, 0] > draws[:, 1]).mean()
    assert found.best == pytest.approx([better, 1 - better], abs=TOLERANCE) and found.better(0, 1) == found.best[0]
    loss = np.maximum(draws[:, 1] - draws[:, 0], 0.0).mean()
    assert found.loss(0) == pytest.approx(loss, rel=0.15) and found.loss(1) - found.loss(0) > 0
    assert posterior([50] * 3, [0.0, 0.0, -2.0], [50.0] * 3).candidates.size == 3
    assert posterior([400] * 3, [0.0, 0.0, -90.0], [100.0] * 3).candidates.tolist() in ([0, 1], [1, 0])
    for unknown in (
        posterior([1, 1], [0.0, 2.0], [0.0] * 2),
        posterior([3, 0], [0.0, np.nan], [1.0, 0.0]),
        posterior([2, 2], [1.5, 2.5], [0.0, 0.0], COUNTS),
    ):
        assert not unknown.known and np.isnan(unknown.best).all()
    assert posterior([1, 1], [0.25, 0.5], [0.0] * 2, UNIT).known  # their bounds say how much they can vary


def test_no_loss_is_beyond_the_bounds() -> None:
    """A leader at 0.97 cannot be 0.1 below another arm, however little is known of that."""
    rng = np.random.default_rng(0)
    for rewards, low, width in ((UNIT, 0.0, 1.0), (Rewards.of("bounded(-3, 5)"), -3.0, 8.0), (BINARY, 0.0, 1.0)):
        for few in (1, 2, 5):
            pulls, shares = np.array([64, few, few]), np.array([0.969, 0.6, 0.4])
            variances = np.array([0.01, 0.08, 0.24])
            if rewards == BINARY:
                shares = np.rint(pulls * shares) / pulls
                variances = shares * (1 - shares) * pulls / np.maximum(pulls - 1, 1)
            found = Posterior(pulls, low + width * shares, width**2 * variances, rewards)
            draws, noise = MeansPosterior(pulls, low + width * shares, width**2 * variances, rewards).draw(4000, rng)
            assert found.loss(0) < width * (1 - shares[0]) + 0.02 * width, (rewards, few)
            assert draws.min() >= low and draws.max() <= low + width and noise.min() >= 0.0, (rewards, few)
            assert noise.max() <= width**2 / 4, (rewards, few)
    counts = MeansPosterior(np.array([3, 3]), np.array([0.0, 4.0]), np.array([0.0, 5.0]), COUNTS)
    assert counts.draw(4000, rng)[0].min() >= 0.0


def test_no_unit_is_too_small_or_too_large() -> None:
    for scale in (1e-160, 1e-20, 1.0, 1e49):
        found = posterior([3, 5, 2], [1.0 * scale, 2.0 * scale, 0.5 * scale], [(0.3 * scale) ** 2, scale**2, 0.0])
        assert found.best == pytest.approx(posterior([3, 5, 2], [1.0, 2.0, 0.5], [0.09, 1.0, 0.0]).best, abs=0.01), (
            scale
        )
        assert 0.0 < found.loss(0) / scale < 5.0, scale
    far = MeansPosterior(np.array([3, 60]), np.array([0.0, 1e6]), np.array([0.0, 1e6]), COUNTS)
    draws, _ = far.draw(4000, np.random.default_rng(0))
    assert np.isfinite(draws).all() and draws.min() >= 0.0


def test_few_rewards_are_drawn_towards_those_of_the_other_arms() -> None:
    # A variance of two rewards that are nearly equal: that of the others is more likely.
    given = np.array([2, 40, 40]), np.array([0.5, 0.0, 0.1]), np.array([1e-8, 1.0, 1.0])
    for rewards, scale in ((REAL, 1.0), (Rewards.of("bounded(-10, 10)"), 1.0), (UNIT, 0.01)):
        means = given[1] if scale == 1.0 else 0.5 + 0.1 * given[1]
        draws, noise = MeansPosterior(given[0], means, scale * given[2], rewards).draw(4000, np.random.default_rng(0))
        assert np.median(noise[:, 0]) > 0.6 * scale, rewards
        lead = (means[0] - means[1:].mean(), np.mean(draws[:, 0]) - means[1:].mean())
        assert 0.0 < lead[1] < 0.7 * lead[0], rewards
    # Many arms whose variances differ keep their own.
    own = np.array([0.5] * 5 + [4.0] * 5)
    noise = MeansPosterior(np.full(10, 200), np.arange(10.0), own, REAL).draw(4000, np.random.default_rng(0))[1]
    assert np.median(noise, axis=0) == pytest.approx(own, rel=0.15)


def test_further_rewards_give_the_probability_that_they_promise() -> None:
    pulls, means, variances = np.array([400] * 3), np.array([1.0, 0.0, -50.0]), np.array([100.0] * 3)
    found = Posterior(pulls, means, variances, REAL)
    rng = np.random.default_rng(1)
    truth = MeansPosterior(pulls, means, variances, REAL).draw(100_000, rng)[0][:, :2]
    chances = {}
    for multiple in (0.25, 0.5, 1, 2, 4, 8, 16):
        each = round(multiple * 600)
        new = truth + 10 / np.sqrt(each) * rng.standard_normal(truth.shape)
        after = (400 * means[:2] + each * new) / (400 + each)
        chances[2 * each] = ((after[:, 0] > after[:, 1]) == (truth[:, 0] > truth[:, 1])).mean()
    for wanted in (0.9, 0.93, 0.95):
        more, reached = found.further(wanted)
        assert reached >= wanted and reached == pytest.approx(chances[more], abs=0.025)
        assert more == 300 or chances[more // 2] < wanted + 0.025  # half as many are not enough
    more, reached = found.further(0.9999)
    assert more == 16 * 1200 and reached == pytest.approx(chances[more], abs=0.025)
    # No more than the budget and the items leave.
    assert found.further(0.9999, most=1000)[0] == 1000
    assert found.further(0.9999, each=np.array([30, 10, 90]))[0] == 40
    assert found.further(0.9999, most=1) == found.further(0.9, each=np.zeros(3)) == (0, found.best.max())
