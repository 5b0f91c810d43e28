"""Blocks of pulls in PyTorch: sufficient statistics from their exact distribution, differentiable in the counts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import torch

from bai_gym.bandits import ArrangedBandit, Bandit, BernoulliBandit, GaussianBandit
from bai_gym.errors import ParameterError

__all__ = ["Arms", "Block", "State", "arms_of", "draw", "merge", "pull", "start"]

Kind = Literal["gaussian", "bernoulli"]


class Arms(NamedTuple):
    """N instances of K arms.

    Attributes:
        kind: Distribution of the rewards.
        means: ``(N, K)`` true means.
        deviations: ``(N, K)`` true standard deviations.
    """

    kind: Kind
    means: torch.Tensor
    deviations: torch.Tensor


class State(NamedTuple):
    """Sufficient statistics of N episodes, each ``(N, K)`` of floats.

    Attributes:
        pulls: Numbers of pulls.
        means: Sample means; 0 without a pull.
        squares: Sums of squared deviations from the mean.
    """

    pulls: torch.Tensor
    means: torch.Tensor
    squares: torch.Tensor

    @property
    def variances(self) -> torch.Tensor:
        """``(N, K)`` unbiased sample variances; 0 below two pulls."""
        return self.squares / (self.pulls - 1.0).clamp(min=1.0)


class Block(NamedTuple):
    """Sufficient statistics of the pulls of one request, each ``(N, K)`` of floats.

    Attributes:
        pulls: Numbers of pulls.
        sums: Sums of the rewards.
        squares: Sums of squared deviations from the block's own mean.
    """

    pulls: torch.Tensor
    sums: torch.Tensor
    squares: torch.Tensor


def arms_of(bandit: Bandit, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> Arms:
    """Return the instances of a bandit as tensors.

    Raises:
        ParameterError: If its rewards are neither Gaussian nor 0 and 1 (features count as well).
    """
    kinds: dict[type, Kind] = {GaussianBandit: "gaussian", BernoulliBandit: "bernoulli"}
    model = type(bandit.inner if isinstance(bandit, ArrangedBandit) else bandit)
    if model not in kinds:
        raise ParameterError(f"torch batches have Gaussian or Bernoulli arms, not those of a {model.__name__}")
    means, deviations = (
        torch.as_tensor(np.asarray(values), dtype=dtype, device=device)
        for values in (bandit.means, np.sqrt(bandit.variances))
    )
    return Arms(kinds[model], means, deviations)


def start(arms: Arms) -> State:
    """Return the state before the first pull."""
    nothing = torch.zeros_like(arms.means)
    return State(nothing, nothing, nothing)


def draw(arms: Arms, counts: torch.Tensor, generator: torch.Generator) -> Block:
    """Return the statistics of blocks of pulls.

    Whole counts give the exact distribution: binomial successes; or a normal sum and a scaled chi-square. Counts that
    require a gradient are real numbers, and rewards the increments of a Brownian motion with the arm's mean and
    variance; then the sums are differentiable in the counts, with the exact pathwise derivative, and of Gaussian arms
    the sums of squares, with that of the normal approximation of chi-square.

    Args:
        arms: The instances.
        counts: ``(N, K)`` pulls, at least 0.
        generator: Source of randomness, on the device of the arms.
    """
    means, deviations = arms.means, arms.deviations
    pulls = counts.to(means.dtype)
    if arms.kind == "bernoulli" and not counts.requires_grad:
        sums = torch.binomial(pulls, means, generator=generator)
        squares = sums - sums * sums / pulls.clamp(min=1.0)
    else:
        sums = pulls * means + deviations * torch.sqrt(pulls) * _normal(means, generator)
        freedom = (pulls.detach() - 1.0).clamp(min=0.0)
        chi_square = 2.0 * torch._standard_gamma((0.5 * freedom).clamp(min=1e-6), generator=generator)
        squares = torch.where(freedom > 0.0, deviations**2 * chi_square, 0.0)
    if arms.kind == "gaussian" and pulls.requires_grad:
        # The sum of squares is about deviation^2 (f + sqrt(2 f) z) with f degrees of freedom, and so is its derivative.
        noise = (squares - deviations**2 * freedom) / (2.0 * freedom.clamp(min=1.0))
        squares = squares + (deviations**2 + noise) * (pulls - pulls.detach())
    return Block(pulls, sums, squares)


def merge(state: State, block: Block) -> State:
    """Return the state after a block of pulls: the parallel form of the variance formula."""
    pulls = state.pulls + block.pulls
    means = (state.pulls * state.means + block.sums) / pulls.clamp(min=1e-9)
    with torch.no_grad():
        step = block.sums / block.pulls.clamp(min=1e-9) - state.means
        between = step**2 * state.pulls * block.pulls / pulls.clamp(min=1e-9)
    return State(pulls, means, state.squares + block.squares + torch.where(block.pulls > 0.0, between, 0.0))


def pull(
    arms: Arms,
    state: State,
    counts: torch.Tensor,
    generator: torch.Generator,
    *,
    gradient: torch.Tensor | None = None,
) -> State:
    """Return the state after a block of integer numbers of pulls, whose derivatives may be those of real numbers.

    Let counts be random integers of expectation c, such as c rounded up or down at random. With respect to c, the
    expectation of a function of the sums of rewards has the derivative of its first two moments: a pull adds the mean
    to a sum, and the variance to its variance. A sum S of m rewards therefore gets the slope
    mean + (S - m mean) / (2 c). A sum of squared deviations grows by the variance v of a reward and, of Gaussian
    rewards, has 2 v^2 more variance; if m pulls raised it by Q, its slope is v + (Q - m v) / (2 c).

    Args:
        arms: The instances.
        state: The state before.
        counts: ``(N, K)`` pulls, integers.
        generator: Source of randomness, on the device of the arms.
        gradient: ``(N, K)`` the expectations of ``counts``, above 0. None: no derivative with respect to the counts.
    """
    block = draw(arms, counts.detach(), generator)
    after = merge(state, block)
    if gradient is None:
        return after
    through, expected = gradient - gradient.detach(), gradient.detach().clamp(min=1e-9)
    variances = arms.deviations**2
    sum_slope = arms.means + (block.sums - block.pulls * arms.means) / (2.0 * expected)
    grown = (after.squares - state.squares).detach()
    first = 1.0 * ((state.pulls < 0.5) & (block.pulls > 0.5))  # that pull gives the mean, and nothing to the squares
    noise = grown - (block.pulls - first) * variances
    square_slope = variances + noise / (2.0 * (expected - first).clamp(min=1e-9))
    mean_slope = (sum_slope - after.means.detach()) / after.pulls.detach().clamp(min=1e-9)
    return State(after.pulls + through, after.means + mean_slope * through, after.squares + square_slope * through)


def _normal(like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(like.shape, generator=generator, dtype=like.dtype, device=like.device)
