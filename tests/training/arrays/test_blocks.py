"""Blocks of pulls in PyTorch: the distribution of the NumPy bandits, and exact derivatives in the counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, ks_2samp

from bai_gym.bandits import BernoulliBandit, GaussianBandit, PoissonBandit
from bai_gym.errors import ParameterError

torch = pytest.importorskip("torch")
from bai_gym.training.arrays import Block, arms_of, draw, merge, pull, start  # noqa: E402

DRAWS = 20_000
LEVEL = 0.001 / 12  # over the comparisons of a test
GAUSSIAN = GaussianBandit([1.0, -2.0, 0.0], [1.0, 0.25, 0.0])
BERNOULLI = BernoulliBandit([0.1, 0.5, 0.95])


def random(seed: int = 0) -> Any:
    return torch.Generator().manual_seed(seed)


def many(bandit: Any) -> Any:
    return bandit.select(np.zeros(DRAWS, np.int64))


@pytest.mark.each("count", [1, 2, 7])
def test_gaussian_blocks_have_the_distribution_of_the_numpy_bandit(count: int) -> None:
    bandit = many(GAUSSIAN)
    counts = np.full(bandit.means.shape, count)
    numpy = bandit.pull_block(counts, np.random.default_rng(1))
    state = merge(start(arms_of(bandit)), draw(arms_of(bandit), torch.as_tensor(counts), random(count)))
    for arm in (0, 1):
        assert ks_2samp(state.means[:, arm], numpy.means[:, arm]).pvalue > LEVEL
        if count > 1:
            assert ks_2samp(state.variances[:, arm], numpy.variances[:, arm]).pvalue > LEVEL
            # A product tells whether the two are independent.
            one, other = (part.means[:, arm] * part.variances[:, arm] for part in (state, numpy))
            assert ks_2samp(one, other).pvalue > LEVEL
    assert state.means[:, 2].abs().max() == 0.0  # no noise
    deviation = np.sqrt(bandit.variances[0] / count)
    error = abs(state.means.double().mean(0).numpy() - bandit.means[0])
    assert (error <= 4.6 * deviation / np.sqrt(DRAWS) + 1e-9).all()  # level 4e-6 each


def test_bernoulli_blocks_are_binomial() -> None:
    bandit = many(BERNOULLI)
    block = draw(arms_of(bandit), torch.full(bandit.means.shape, 5), random(1))
    for arm, mean in enumerate(bandit.means[0]):
        seen = np.bincount(block.sums[:, arm].long().numpy(), minlength=6) / DRAWS
        chances = binom.pmf(np.arange(6), 5, mean)
        assert (abs(seen - chances) <= 4.6 * np.sqrt(chances * (1 - chances) / DRAWS) + 1e-9).all()
    # Of s successes in 5, the sum of squared deviations is s (5 - s) / 5.
    assert torch.allclose(block.squares, block.sums * (5.0 - block.sums) / 5.0)


def test_merging_is_the_same_as_having_all_rewards() -> None:
    first, second = [1.0, 2.0, 6.0], [5.0, 9.0]
    state = start(arms_of(BernoulliBandit([0.5, 0.5]), dtype=torch.float64))
    for rewards in (first, second):
        values = torch.tensor([rewards], dtype=torch.float64)
        squares = ((values - values.mean()) ** 2).sum()
        # The second arm has no pull.
        column = [torch.stack([part, torch.zeros_like(part)])[None] for part in (values.sum(), squares)]
        state = merge(state, Block(torch.tensor([[len(rewards), 0.0]], dtype=torch.float64), *column))
    everything = np.array(first + second)
    assert state.pulls.tolist() == [[5.0, 0.0]]
    assert state.means[0].tolist() == pytest.approx([everything.mean(), 0.0])
    assert state.variances[0].tolist() == pytest.approx([everything.var(ddof=1), 0.0])


@pytest.mark.each("bandit", [GAUSSIAN, BERNOULLI])
def test_real_counts_have_the_exact_derivative(bandit: Any) -> None:
    arms = arms_of(bandit, dtype=torch.float64)
    counts = torch.tensor([[3.5, 0.25, 12.0]], dtype=torch.float64, requires_grad=True)
    step = 1e-5

    def means(shift: float) -> Any:
        at = (counts.detach() + shift).requires_grad_()
        return merge(start(arms), draw(arms, at, random())).means.detach()

    state = merge(start(arms), draw(arms, counts, random()))
    (slope,) = torch.autograd.grad(state.means.sum(), counts)
    assert torch.allclose(slope, (means(step) - means(-step)) / (2.0 * step), rtol=1e-4, atol=1e-7)


def test_whole_counts_can_carry_the_derivative_of_real_ones() -> None:
    arms = arms_of(GAUSSIAN, dtype=torch.float64)
    before = pull(arms, start(arms), torch.ones(1, 3, dtype=torch.float64), random(1))
    whole = torch.tensor([[4.0, 0.0, 2.0]], dtype=torch.float64)
    real = torch.tensor([[3.7, 0.2, 2.1]], dtype=torch.float64, requires_grad=True)
    plain, through = pull(arms, before, whole, random()), pull(arms, before, whole, random(), gradient=real)
    for one, other in zip(plain, through, strict=True):
        assert torch.equal(one, other.detach())
    (slope,) = torch.autograd.grad((through.means * through.pulls).sum(), real, retain_graph=True)
    # mean + (sum - mean m) / (2 c) for the first arm, m = 4 and c = 3.7; the mean without a pull, or without noise.
    added = float(plain.pulls[0, 0] * plain.means[0, 0] - before.means[0, 0])
    assert slope[0].tolist() == pytest.approx([1.0 + (added - 4.0) / 7.4, -2.0, 0.0])
    assert float(torch.autograd.grad(through.pulls.sum(), real)[0].sum()) == 3.0


@pytest.mark.each("expected", [0.2, 0.7, 1.5])
def test_derivatives_of_rounded_counts_are_those_of_expectations(expected: float) -> None:
    number, mean, variance, first = 200_000, 0.5, 2.25, 12
    arms = arms_of(GaussianBandit(np.full((number, 2), mean), variance), dtype=torch.float64)
    before = pull(arms, start(arms), torch.full((number, 2), float(first), dtype=torch.float64), random(1))
    real = torch.full((number, 2), expected, dtype=torch.float64, requires_grad=True)
    whole = torch.floor(real.detach() + torch.rand(number, 2, generator=random(2), dtype=torch.float64))
    after = pull(arms, before, whole, random(3), gradient=real)
    # The variance of a mean of n rewards is v / n, that of a sample variance 2 v^2 / (n - 1).
    down = math.floor(expected)
    for found, value in (
        ((after.means - mean) ** 2, lambda n: variance / n),
        ((after.variances - variance) ** 2, lambda n: 2.0 * variance**2 / (n - 1)),
    ):
        (slope,) = torch.autograd.grad(found.sum(), real, retain_graph=True)
        wanted = value(first + down + 1) - value(first + down)
        error = float(slope.std()) / math.sqrt(2 * number)
        assert abs(float(slope.mean()) - wanted) < 4.0 * error + 0.15 * abs(wanted)
        assert error < 0.05 * abs(wanted)


def test_the_derivative_of_variances_has_the_right_mean() -> None:
    arms = arms_of(GaussianBandit(np.zeros((40_000, 2)), 2.25), dtype=torch.float64)
    freedom = torch.tensor([4.0, 11.0], dtype=torch.float64)
    for whole in (True, False):
        real = (freedom + 1.0).expand(40_000, 2).clone().requires_grad_()
        if whole:
            state = pull(arms, start(arms), real.detach(), random(), gradient=real)
        else:
            state = merge(start(arms), draw(arms, real, random()))
        (slope,) = torch.autograd.grad(((state.variances - 2.25) ** 2).sum(), real)
        # The variance of a sample variance is 2 sigma^4 / f; 5 standard errors.
        wanted = -2.0 * 2.25**2 / freedom**2
        assert ((slope.mean(0) - wanted).abs() < 5.0 * slope.std(0) / 200.0).all()


def test_other_rewards_are_refused() -> None:
    with pytest.raises(ParameterError, match="Gaussian or Bernoulli arms, not those of a PoissonBandit"):
        arms_of(PoissonBandit([1.0, 2.0]))
