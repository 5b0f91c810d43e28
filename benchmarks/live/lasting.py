"""How often do intervals at all times miss the mean of any arm, or of the recommended one? A table of docs/mixtures.md.

    python benchmarks/live/lasting.py              # 2,000 runs, 1,000 pulls of each of 2, 20 and 200 arms: three minutes
    python benchmarks/live/lasting.py --runs 200   # a first look

All arms have the same mean, and take turns. The recommended arm is that of largest mean. One looks once, at the end, or
after every pull. In brackets: intervals that hold for each arm alone with probability 95 %, not for all.

The limits of a sum of rewards outside which the interval misses the mean are found once for each number of pulls, so
every look is a comparison.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numba
import numpy as np

from bai_gym.agents.tools.mixtures import gaussian_rate, log_bounded, student_width
from bai_gym.sampling.compiler import jitted

ARMS = (2, 20, 200)
EVER = 0.05
NORMAL, UNKNOWN, SKEWED, BINARY, BOUNDED = range(5)
# Rewards: their kind and mean. The variances of Gaussian rewards are 1. Bounded ones that vary little hardly ever miss.
REWARDS = {
    "Gaussian, known variances": (NORMAL, 0.0),
    "Gaussian, unknown variances": (UNKNOWN, 0.0),
    "Bernoulli, mean 0.5": (BINARY, 0.5),
    "Bernoulli, mean 0.05": (BINARY, 0.05),
    "bounded: 0 or 1, a tenth uniform": (BOUNDED, 0.5),
}
# Of the results of a run: which intervals, and when.
ANY, CHOSEN, ANY_END, CHOSEN_END = range(4)
NOT_NORMAL = {"exponential, taken for Gaussian of unknown variances": (SKEWED, 0.0)}  # nothing is proved
_log_bounded = jitted(log_bounded)


def smallest_sum(n: int, mean: float, level: float) -> float:
    """Return the smallest sum of n rewards in [0, 1], of 0 and those from 1 on, with log E(mean) <= level."""
    if log_bounded(n, 0.0, mean) <= level:
        return 0.0
    low, high = 1.0, max(n * mean, 1.0)
    if log_bounded(n, low, mean) <= level:
        return 0.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        if log_bounded(n, middle, mean) > level:
            low = middle
        else:
            high = middle
    return high


def limits(kind: int, mean: float, pulls: int, level: float) -> np.ndarray:
    """Return ``(pulls + 1, 2)`` least and largest sums whose interval has the mean; for UNKNOWN see is_out."""
    ends = np.zeros((pulls + 1, 2))
    for n in range(1, pulls + 1):
        if kind == NORMAL:
            end = math.sqrt(2.0 * n * gaussian_rate(n, level))
            ends[n] = -end, end
        elif kind in (UNKNOWN, SKEWED):
            u = student_width(n, 1.0, level) ** 2 if n > 1 else math.inf
            ends[n] = math.inf if math.isinf(u) else u / (1.0 + u)
        else:
            ends[n] = smallest_sum(n, mean, level), n - smallest_sum(n, 1.0 - mean, level)
    return ends


@numba.njit(error_model="numpy")
def is_out(kind: int, n: int, total: float, square: float, ends: np.ndarray, mean: float, level: float) -> bool:
    """Return whether the interval misses the mean. For unknown variances: (m - mean)^2 > u v, written in sums."""
    if kind == UNKNOWN or kind == SKEWED:
        return total * total > ends[n, 0] * n * square
    if kind == BOUNDED and (0.0 < total < 1.0 or 0.0 < n - total < 1.0):
        return _log_bounded(n, total, mean) > level
    return total < ends[n, 0] or total > ends[n, 1]


@numba.njit(error_model="numpy")
def play(
    kind: int, mean: float, arms: int, ends: np.ndarray, levels: np.ndarray, found: np.ndarray, rng: np.random.Generator
) -> None:
    """Set ``(runs, levels, 4)`` whether intervals miss: of any arm and of the leader, at any time and at the end."""
    pulls = ends.shape[1] - 1
    for run in range(len(found)):
        totals, squares, out = np.zeros(arms), np.zeros(arms), np.zeros((len(levels), arms))
        means = np.full(arms, -np.inf)
        leader = 0
        for n in range(1, pulls + 1):
            for arm in range(arms):
                if kind <= UNKNOWN:
                    reward = rng.standard_normal()
                elif kind == SKEWED:
                    reward = rng.standard_exponential() - 1.0
                elif kind == BOUNDED and rng.random() < 0.1:
                    reward = rng.random()
                else:
                    reward = 1.0 if rng.random() < mean else 0.0
                totals[arm] += reward
                squares[arm] += reward * reward
                before, means[arm] = means[arm], totals[arm] / n
                if arm == leader and means[arm] < before:
                    leader = np.argmax(means)
                elif means[arm] > means[leader] or (means[arm] == means[leader] and arm < leader):
                    leader = arm
                for k in range(len(levels)):
                    out[k, arm] = is_out(kind, n, totals[arm], squares[arm], ends[k], mean, levels[k])
                    found[run, k, ANY] = max(found[run, k, ANY], out[k, arm])
                    found[run, k, CHOSEN] = max(found[run, k, CHOSEN], out[k, leader])
        for k in range(len(levels)):
            found[run, k, ANY_END] = out[k].max()
            found[run, k, CHOSEN_END] = out[k, leader]


def misses(rewards: str, arms: int, pulls: int, runs: int, rng: np.random.Generator) -> Any:
    """Return ``(2, 4)`` shares of runs in which intervals miss: joint ones and single ones; which and when as above."""
    kind, mean = {**REWARDS, **NOT_NORMAL}[rewards]
    levels = np.log([arms / EVER, 1.0 / EVER])
    ends = np.stack([limits(kind, mean, pulls, level) for level in levels.tolist()])
    found = np.zeros((runs, 2, 4))
    play(kind, mean, arms, ends, levels, found, rng)
    return found.mean(axis=0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--pulls", type=int, default=1000, help="of each arm")
    options = parser.parse_args()
    print("| rewards | arms | any, one look | recommended, one look | any, all looks | recommended, all looks |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for rewards in (*REWARDS, *NOT_NORMAL):
        for arms in ARMS:
            joint, single = misses(rewards, arms, options.pulls, options.runs, np.random.default_rng(0))
            cells = [f"{joint[which]:.4f} ({single[which]:.3f})" for which in (ANY_END, CHOSEN_END, ANY, CHOSEN)]
            print(f"| {rewards} | {arms} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
