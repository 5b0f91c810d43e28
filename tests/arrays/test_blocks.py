"""Blocks of pulls in PyTorch: the distribution of the NumPy bandits, and exact derivatives in the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, ks_2samp

from bai_gym.bandits import BernoulliBandit, GaussianBandit, PoissonBandit
from bai_gym.errors import ParameterError

torch = pytest.importorskip("torch")
from bai_gym.arrays import Block, State, arms_of, draw, merge, start  # noqa: E402

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
    whole = torch.tensor([[4.0, 0.0, 2.0]], dtype=torch.float64)
    real = torch.tensor([[3.7, 0.2, 2.1]], dtype=torch.float64, requires_grad=True)
    plain, through = draw(arms, whole, random()), draw(arms, whole, random(), gradient=real)
    for one, other in zip(plain, through, strict=True):
        assert torch.equal(one, other.detach())
    (slope,) = torch.autograd.grad(through.sums.sum(), real, retain_graph=True)
    # mean + (sum - mean m) / (2 m) for the first arm, whose m is 4; the mean for the third, which has no noise.
    expected = 1.0 + (float(plain.sums[0, 0]) - 4.0) / 8.0
    assert slope[0, [0, 2]].tolist() == pytest.approx([expected, 0.0])
    assert float(torch.autograd.grad(through.pulls.sum(), real)[0].sum()) == 3.0
    assert isinstance(merge(start(arms), through), State)


def test_the_derivative_of_variances_has_the_right_mean() -> None:
    arms = arms_of(GaussianBandit(np.zeros((40_000, 2)), 2.25), dtype=torch.float64)
    freedom = torch.tensor([4.0, 11.0], dtype=torch.float64)
    for whole in (True, False):
        real = (freedom + 1.0).expand(40_000, 2).clone().requires_grad_()
        block = draw(arms, real.detach(), random(), gradient=real) if whole else draw(arms, real, random())
        off = (merge(start(arms), block).variances - 2.25) ** 2
        (slope,) = torch.autograd.grad(off.sum(), real)
        # The variance of a sample variance is 2 sigma^4 / f; 5 standard errors.
        wanted = -2.0 * 2.25**2 / freedom**2
        assert ((slope.mean(0) - wanted).abs() < 5.0 * slope.std(0) / 200.0).all()


def test_other_rewards_are_refused() -> None:
    with pytest.raises(ParameterError, match="Gaussian or Bernoulli arms, not those of a PoissonBandit"):
        arms_of(PoissonBandit([1.0, 2.0]))
