"""How many pulls do agents of fixed confidence take, with each proved threshold? The tables of docs/mixtures.md.

    python benchmarks/stopping.py                     # four instances, four agents, delta = 0.1
    python benchmarks/stopping.py --delta 0.01
    python benchmarks/stopping.py --ids               # all environments of fixed confidence for the best arm, T3C

A cell has the mean pulls, how many times the lower bound kl(delta, 1 - delta) T* that is, and the wrong runs where
there are any.
"""

from __future__ import annotations

import argparse
from typing import Any

import bai_gym
from bai_gym.envs.registration import IDS

FOUR = {"means": [0.5, 0.25, 0.1, 0.0], "variances": [1.0] * 4}
TEN = {"means": [0.3] + [0.0] * 9, "variances": [1.0] * 10}
CUSTOM = "BAI-FC-Custom-v0"
INSTANCES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "four arms, variance 1 known": (CUSTOM, FOUR, ", sigma=1.0, family=gaussian", "kk21-gauss"),
    "ten arms, variance 1 known": (CUSTOM, TEN, ", sigma=1.0, family=gaussian", "kk21-gauss"),
    "four arms, variances unknown": (CUSTOM, FOUR, "", "student"),
    "ten arms, variances unknown": (CUSTOM, TEN, "", "student"),
    "`BAI-FC-GK1-v0`": ("BAI-FC-GK1-v0", {}, "", "gk16-bernoulli"),
    "`BAI-FC-GK2-v0`": ("BAI-FC-GK2-v0", {}, "", "gk16-bernoulli"),
}
AGENTS = ("T3C", "EB-TCI", "TrackAndStop", "KL-LUCB")
OLD = {"binary": "gk16-bernoulli", "real": "student"}
CAP = 1_000_000


def cell(agent: str, env: str, keywords: dict[str, Any], runs: int) -> str:
    """Return what an agent takes on an instance."""
    found = bai_gym.evaluate(agent, env, runs=runs, budget=CAP, env_kwargs=keywords)
    pulls = float(found.mean_pulls.sum())
    ratio = "" if found.lower_bound is None else f" ({pulls / found.lower_bound:.1f})"
    return f"{pulls:,.0f}{ratio}" + (f", {found.errors} wrong" if found.errors else "")


def instances(runs: int, delta: float) -> None:
    """Print the mean pulls of each agent, default and other threshold."""
    print("| instance | " + " | ".join(AGENTS) + " |\n| --- |" + " ---: |" * len(AGENTS))
    for name, (env, keywords, more, other) in INSTANCES.items():
        cells = []
        for agent in AGENTS:
            other = "union" if agent == "KL-LUCB" else other
            if agent == "KL-LUCB" and "unknown" in name:
                cells.append("-")
                continue
            both = (f"{agent}(delta={delta}{more}{one})" for one in ("", f", threshold={other}"))
            cells.append("; ".join(cell(one, env, keywords, runs) for one in both))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def every_id(runs: int, delta: float) -> None:
    """Print the mean pulls of T3C in all environments of fixed confidence that need no keywords."""
    print("| environment | `T3C` | with the threshold of before |\n| --- | ---: | ---: |")
    for entry in IDS:
        if entry.id.startswith("BAI-FC-") and not any(word in entry.id for word in ("Custom", "TopM", "GoodArm")):
            other = OLD["binary" if "Bernoulli" in entry.id or "GK" in entry.id else "real"]
            ours, theirs = (
                cell(f"T3C(delta={delta}{one})", entry.id, {}, runs) for one in ("", f", threshold={other}")
            )
            print(f"| `{entry.id}` | {ours} | {theirs} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--delta", type=float, default=0.1)
    parser.add_argument("--ids", action="store_true")
    options = parser.parse_args()
    if options.ids:
        every_id(options.runs, options.delta)
    else:
        instances(options.runs, options.delta)


if __name__ == "__main__":
    main()
