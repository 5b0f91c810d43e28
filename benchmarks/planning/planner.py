"""Do planned budgets keep their promise on fresh seeds, and how long does a plan take?

    python benchmarks/planning/planner.py                 # ten random instances, 20,000 runs of each plan: some minutes
    python benchmarks/planning/planner.py --instances 3   # fewer

Plans SH, SR and Uniform for an error probability of 0.05 on random instances of 3 to 20 arms, Gaussian and Bernoulli in
turn, and measures the planned budgets on seeds that the planner has not seen. Ends with exit code 1 where fewer than
95 % of the errors are at most the target, one is below a third of it, or the three plans for 20 arms take more than
20 seconds each.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym import evaluate
from bai_gym.planning import plan

AGENTS = ("SH", "SR", "Uniform")
TARGET = 0.05
RUNS = 20_000
ARMS = (3, 4, 5, 6, 8, 10, 12, 14, 17, 20)
SECONDS = 20.0  # of a plan


@dataclass(frozen=True)
class Check:
    """A planned budget, and what it achieves."""

    arms: int
    distribution: str
    agent: str
    budget: int
    error: float  # on fresh seeds
    seconds: float  # of the plan


def instance(number: int) -> dict[str, Any]:
    """Return the keywords of a random instance; the best arm leads by 0.2 to 0.5 standard deviations."""
    rng = np.random.default_rng([2718, number])
    lead, others = rng.uniform(0.2, 0.5), -rng.gamma(2.0, 0.3, ARMS[number % len(ARMS)] - 1)
    means = np.concatenate([[0.0], others - others.max() - lead])
    if number % 2 == 0:
        return {"means": means.tolist(), "variances": 1.0}
    return {"means": np.clip(0.5 + 0.5 * means, 0.02, 0.98).tolist(), "distribution": "bernoulli"}


def check(number: int, runs: int = RUNS, agents: tuple[str, ...] = AGENTS) -> list[Check]:
    """Plan for an instance, and measure the budgets on other seeds."""
    keywords, rows = instance(number), []
    for agent in agents:
        started = time.perf_counter()
        found = plan(agent, "BAI-Custom-v0", error=TARGET, seed=number, env_kwargs=keywords)[0]
        seconds = time.perf_counter() - started
        if found.budget is None:
            raise SystemExit(f"instance {number} is too hard for {agent}: {keywords}")
        fresh = evaluate(agent, "BAI-Custom-v0", budget=found.budget, runs=runs, seed=10**6, env_kwargs=keywords)
        kind = keywords.get("distribution", "gaussian")
        rows.append(Check(len(keywords["means"]), kind, agent, found.budget, fresh.error_probability, seconds))
    return rows


def kept(rows: list[Check]) -> bool:
    """Return whether the errors are at most the target in 95 % of the plans, and none is below a third of it."""
    good = sum(row.error <= TARGET for row in rows)
    return good >= 0.95 * len(rows) and all(row.error >= TARGET / 3 for row in rows)


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description="Errors of planned budgets on fresh seeds, and seconds of the plans.")
    parser.add_argument("--instances", type=int, default=len(ARMS))
    number = parser.parse_args().instances
    print(f"target {TARGET}; errors in {RUNS:,} runs on fresh seeds")
    print(f"{'arms':>4}  {'rewards':10}{'agent':9}{'budget':>9}{'error':>9}{'seconds':>9}")
    rows: list[Check] = []
    for which in range(number):
        for row in check(which):
            line = f"{row.arms:4}  {row.distribution:10}{row.agent:9}{row.budget:9,}{row.error:9.4f}{row.seconds:9.2f}"
            print(line, flush=True)
            rows.append(row)
    slowest = max(row.seconds for row in rows)
    errors = [row.error for row in rows]
    print(f"{sum(error <= TARGET for error in errors)} of {len(rows)} plans keep the target; errors", end=" ")
    print(f"{min(errors):.4f} to {max(errors):.4f}; the slowest plan took {slowest:.1f} s")
    good = kept(rows) and slowest <= SECONDS
    print("ok" if good else "MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
