"""Which share of the calls, or of the dollars, finds the best language-model agent? The tables of docs/datasets/savings.md.

    python benchmarks/datasets/savings.py                   # budgets in calls; the same command resumes
    python benchmarks/datasets/savings.py --money           # budgets in dollars
    python benchmarks/datasets/savings.py --draw FILE.png   # also draws the errors

Brute force asks every agent every question. The budget of an algorithm, a share of that, rises along SHARES until the
probability of failure is at most 10 % (upper end of the 95 % Wilson interval). Between two points of this grid the
limits are interpolated: a share is printed with the shares at which the lower and the upper limit reach 10 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bai_gym
from bai_gym.analysis.intervals import wilson
from bai_gym.datasets import llm_agents
from bai_gym.errors import BudgetError

RUNS = {"GPQA": 2000, "BFCL": 2000, "HotpotQA": 1000, "MathQA": 1000}
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
PAIRED = ("PairedSR(cap=items)", "PairedRace")  # for common questions alone
# These ask no model a question twice.
CAPPED = ("SH-Reuse(rounding=equal, cap=items)", "SR(cap=items)", "Universal(cap=items)")
BY_CALLS = ("Uniform", "SH", "SH-Reuse(rounding=equal)", "SR", *CAPPED, *PAIRED, "Universal")
DRAWN = ("Uniform", "SH", *CAPPED, PAIRED[0])
BY_MONEY = ("Uniform", "Uniform(costs=sqrt)", "SH-Reuse(rounding=equal)", "SR", "Universal", CAPPED[-1])
STOPPING = "T3C(delta=0.1)"
ORDERS = {"independent": False, "common": True}
ALLOWED = 0.1  # probability of failure
POINT = 0.01 + 1e-9  # of accuracy


@dataclass(frozen=True)
class Played:
    """An algorithm at one share of the budget of brute force.

    Attributes:
        share: The share.
        runs: Number of runs.
        errors: Runs that recommend an agent that is not the best.
        misses: Runs that recommend an agent more than a point below the best.
        dollars: Mean price of the calls, as a share of the price of brute force.
    """

    share: float
    runs: int
    errors: int
    misses: int
    dollars: float


def play(algorithm: str, matrix: str, share: float, paired: bool, money: bool, out: Path) -> Played:
    """Play an algorithm with a share of the calls, or of the dollars, of brute force."""
    scores = llm_agents(matrix.lower()).complete("items")
    assert scores.prices is not None
    arms, questions = scores.scores.shape
    price = questions * float(scores.prices.sum())
    keywords: dict[str, Any] = {"paired": paired}
    budget: float = int(share * arms * questions + 1e-9)
    if money:
        keywords["costs"], budget = scores.prices.tolist(), share * price
    comparison = bai_gym.compare(
        [algorithm],
        f"BAI-LLMAgents-{matrix}-v0",
        budgets=[budget],
        runs=RUNS[matrix],
        env_kwargs=keywords,
        out=out,
        progress=False,
    )
    (result,) = comparison.results
    misses = int((comparison.regrets(result.agent) > POINT).sum())
    return Played(share, result.runs, result.errors, misses, float(result.mean_pulls @ scores.prices) / price)


def climb(algorithm: str, matrix: str, paired: bool, money: bool, out: Path) -> list[Played]:
    """Raise the share until neither errors nor misses are too many; leave out budgets that are too small."""
    played: list[Played] = []
    for share in SHARES:
        try:
            played.append(play(algorithm, matrix, share, paired, money, out))
        except BudgetError:
            continue
        if max(limits(played[-1], failures)[1] for failures in ("errors", "misses")) <= ALLOWED:
            break
    return played


def limits(played: Played, failures: str) -> tuple[float, float]:
    """Return the interval of the probability of ``"errors"`` or ``"misses"``."""
    return wilson(getattr(played, failures), played.runs)


def crossing(values: Sequence[float], probabilities: Sequence[float]) -> float | None:
    """Return the value at which the probability first falls to ALLOWED, interpolated; None if it does not."""
    reached = [i for i, probability in enumerate(probabilities) if probability <= ALLOWED]
    if not reached:
        return None
    end = reached[0]
    if end == 0:
        return values[0]
    start = end - 1
    weight = (probabilities[start] - ALLOWED) / (probabilities[start] - probabilities[end])
    return values[start] + weight * (values[end] - values[start])


def needed(played: Sequence[Played], failures: str) -> str:
    """Return the share of the budget that suffices, with its interval, and the share of the dollars."""
    low, high = zip(*(limits(one, failures) for one in played), strict=True)
    shares = [one.share for one in played]
    last = crossing(shares, high)
    if last is None:
        return "not with 100 % | "
    first, dollars = crossing(shares, low), crossing([one.dollars for one in played], high)
    return f"{100 * last:.0f} % ({100 * (first or last):.0f} to {100 * last:.0f}) | {100 * (dollars or 0):.0f} %"


def stopped(matrix: str, out: Path) -> str:
    """Return how many runs of an agent of fixed confidence stop before it has made the calls of brute force."""
    arms, questions = llm_agents(matrix.lower()).complete("items").scores.shape
    comparison = bai_gym.compare(
        [STOPPING],
        f"BAI-LLMAgents-{matrix}-v0",
        budgets=[arms * questions],
        runs=200,
        env_kwargs={"fixed_confidence": True},
        out=out,
        progress=False,
    )
    (result,) = comparison.results
    return f"{STOPPING} stops before all calls are made in {result.runs - result.truncated} of {result.runs} runs"


def draw(path: Path, climbs: dict[tuple[str, str, str], list[Played]]) -> None:
    """Draw the error probabilities over the shares, a panel for each matrix."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(RUNS), figsize=(12, 3.4), sharey=True, layout="constrained")
    for (matrix, algorithm, order), played in climbs.items():
        if algorithm not in DRAWN:
            continue
        panel = axes[list(RUNS).index(matrix)]
        color = f"C{DRAWN.index(algorithm)}"
        shares = [one.share for one in played]
        estimates = [one.errors / one.runs for one in played]
        low, high = zip(*(limits(one, "errors") for one in played), strict=True)
        common = order == "common"
        panel.plot(
            shares, estimates, color=color, linestyle="-" if common else ":", label=algorithm if common else None
        )
        panel.fill_between(shares, low, high, color=color, alpha=0.15, linewidth=0)
        panel.set_title(matrix)
        panel.set_xlabel("share of the calls of brute force")
    for panel in axes:
        panel.axhline(ALLOWED, color="grey", linewidth=0.8, linestyle="--")
        panel.set(xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("error probability")
    axes[list(RUNS).index("BFCL")].legend(fontsize=8)  # where there is room
    figure.savefig(path, dpi=110)


def main() -> None:
    """Play all, and print a table for each matrix."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/savings"))
    parser.add_argument("--money", action="store_true", help="budgets in dollars")
    parser.add_argument("--draw", type=Path, help="file of the figure")
    options = parser.parse_args()
    climbs = {}
    for matrix, runs in RUNS.items():
        print(f"\n{matrix}, {runs:,} runs\n", flush=True)
        print("| algorithm | questions | best | dollars | within a point | dollars |")
        print("| --- | --- | ---: | ---: | ---: | ---: |")
        for algorithm in BY_MONEY if options.money else BY_CALLS:
            for order, paired in ORDERS.items():
                if algorithm in PAIRED and not paired:
                    continue
                played = climb(algorithm, matrix, paired, options.money, options.out)
                climbs[matrix, algorithm, order] = played
                found = " | ".join(needed(played, failures) for failures in ("errors", "misses"))
                print(f"| {algorithm} | {order} | {found} |", flush=True)
        if not options.money:
            print(f"\n{stopped(matrix, options.out)}", flush=True)
    if options.draw:
        draw(options.draw, climbs)


if __name__ == "__main__":
    main()
