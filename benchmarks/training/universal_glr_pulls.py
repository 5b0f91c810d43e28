"""Compare the pulls of Universal-GLR with those of other agents on thirty instances, none of which it was trained on.

python benchmarks/training/universal_glr_pulls.py --runs 400 --delta 0.1
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

import bai_gym
from bai_gym import agents
from bai_gym.api import parse_agent

AGENTS = ("Universal-GLR", "T3C", "EB-TCI", "TrackAndStop", "T3C(beta=ids)", "EB-TCI(beta=ids)")
CUSTOM = "BAI-FC-Custom-v0"
GAUSSIAN = ([1, 0.5, 0, 0, 0], [1, 0.8, 0.6, 0.4, 0.2, 0], [0.5, 0], [1] + [0] * 11)
UNEQUAL = (([0.5, 0, 0], [1.0, 0.25, 4.0]), (np.linspace(1, 0, 8).tolist(), [0.5, 2.0] * 4))
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"task": "top-m", "m": 2},
    {"task": "best-of-each", "num_bandits": 2},
    {"task": "thresholding", "threshold": 0.35},
    {"task": "good-arm", "threshold": 0.35},
    {"task": "all-within", "epsilon": 0.4},
)


def instances() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an environment and its parameters."""
    for setup in range(1, 8):
        yield f"BAI-FC-Bernoulli-Setup{setup}-v0", {}
    for name in ("GK1", "GK2", "Menard", "Bernoulli10", "Gaussian64", "TopM-Bernoulli-Setup3", "TopM-Bernoulli-Setup5"):
        yield f"BAI-FC-{name}-v0", {}
    for means in GAUSSIAN:
        yield CUSTOM, {"means": means, "variances": 1.0}
    for means, variances in UNEQUAL:
        yield CUSTOM, {"means": means, "variances": variances}
    for question in QUESTIONS:
        yield CUSTOM, {"means": [1.0, 0.55, 0.75, 0.0, 0.2, 0.1], "variances": 1.0, **question}
        yield CUSTOM, {"means": [0.9, 0.55, 0.7, 0.15, 0.2, 0.1], "distribution": "bernoulli", **question}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--delta", type=float, default=0.1)
    parser.add_argument("--agents", nargs="*", default=AGENTS)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print("| instance |", " | ".join(given.agents), "|", flush=True)
    print("| --- |", "---: |" * len(given.agents), flush=True)
    pulls, errors = [], np.zeros(len(given.agents), int)
    for environment, options in instances():
        results = []
        for name in given.agents:
            base, parameters = parse_agent(name)
            agent = agents.make(base, delta=given.delta, **parameters)
            results.append(
                bai_gym.evaluate(agent, environment, runs=given.runs, workers=given.workers, progress=False,
                                 env_kwargs={"budget": 1_000_000, **options})
            )  # fmt: skip
        pulls.append([float(np.sum(result.mean_pulls)) for result in results])
        errors += [result.errors for result in results]
        print(f"| {environment} {options or ''} |", " | ".join(f"{one:,.0f}" for one in pulls[-1]), "|", flush=True)
    ratios = np.array(pulls) / np.array(pulls)[:, :1]
    print("| geometric mean of pulls / those of the first |", " | ".join(
        f"{one:.3f}" for one in np.exp(np.log(ratios).mean(axis=0))), "|")  # fmt: skip
    print("| instances on which the first has fewer |", " | ".join(map(str, (ratios > 1.0).sum(axis=0))), "|")
    print(f"| errors in {given.runs * len(pulls)} runs |", " | ".join(map(str, errors)), "|")


if __name__ == "__main__":
    main()
