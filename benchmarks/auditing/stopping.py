"""How many pulls do agents of fixed confidence take, with each proved threshold? The tables of docs/mixtures.md.
How often do they err?

    python benchmarks/auditing/stopping.py                     # four instances, four agents, delta = 0.1
    python benchmarks/auditing/stopping.py --delta 0.01
    python benchmarks/auditing/stopping.py --ids               # all environments of fixed confidence, T3C
    python benchmarks/auditing/stopping.py --errors --runs 10000  # 20 random instances of each class of rewards
    python benchmarks/auditing/stopping.py --defaults --runs 100  # all agents with a delta, 20 instances

A cell has the mean pulls, how many times the lower bound kl(delta, 1 - delta) T* that is, and the wrong runs where
there are any. ``--defaults`` ends with exit code 1 where an agent, with no parameter but delta, errs significantly more
often than delta on one of the instances, whose rewards are real numbers.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from scipy.stats import binom

import bai_gym
from bai_gym import agents
from bai_gym.api import agent_source
from bai_gym.auditing.families import Goal, draw
from bai_gym.auditing.players import AgentPlayer
from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.envs.registration import IDS
from bai_gym.paired import PairedGaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, GoodArm, Task

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

# Rewards, and what an agent is told of them.
CLASSES = {
    "Gaussian, known variances": (Goal("gaussian"), ", sigma=oracle, family=gaussian"),
    "Gaussian, deviations of at most 1": (Goal("gaussian"), ", sigma=1.0, family=gaussian"),
    "Gaussian, unknown variances": (Goal("gaussian"), ", family=student"),
    "sub-Gaussian": (Goal("subgaussian"), ", sigma=1.0, family=gaussian"),
    "Bernoulli": (Goal("bernoulli"), ", family=bernoulli"),
    "bounded": (Goal("bounded"), ", family=bernoulli"),
}
ON_CLASSES = 20
SURE = 1.0 - 1e-5  # that an agent whose error probability is delta is not found to exceed it
LONGEST = 2000  # pulls; what has not stopped by then has not erred


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
            others = [f", threshold={other}"] if agent != "KL-LUCB" or "unknown" not in name else []
            both = (f"{agent}(delta={delta}{more}{one})" for one in ("", *others))
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


def errors(runs: int, delta: float) -> None:
    """Print on how many of the runs each agent errs, on the worst of some random instances of each class of rewards.

    The instances are those that an audit begins with: near ties, tied rivals, quiet arms, rare rewards.
    """
    print("| rewards | agent | most errors | as a share of delta | stopped |\n| --- | --- | ---: | ---: | ---: |")
    for name, (goal, told) in CLASSES.items():
        rng = np.random.default_rng(34)
        instances = [draw(goal, rng).instance for _ in range(ON_CLASSES)]
        for agent in AGENTS[:3]:
            player = AgentPlayer(agent_source(f"{agent}(delta={delta}{told})"), LONGEST)
            wrong, stopped = [], []
            for instance in instances:
                played = player.play(instance, runs, rng)
                wrong.append(int(played.wrong(instance, 0.0).sum()))
                stopped.append(float((played.recommendation >= 0).mean()))
            share = max(wrong) / runs / delta
            print(f"| {name} | `{agent}` | {max(wrong)} | {share:.2f} | {np.mean(stopped):.0%} |", flush=True)


def defaults(runs: int, delta: float) -> bool:
    """Print on how many of the runs each agent errs by default, on the worst of 20 instances; return whether all hold.

    Means are apart by at least the usual indifference zone. Standard deviations differ, and so do units and origins of
    the scale. Agents for features have a linear model with one feature for each arm; of paired arms every two have the
    correlation 0.5.
    """
    print("| agent | errors | on the worst instance | stopped | pulls |\n| --- | ---: | ---: | ---: | ---: |")
    holds = True
    for name in agents.names():
        agent = agents.make(name)
        if not agent.stops or not hasattr(agent, "delta") or not {BestArm.name, GoodArm.name} & agent.tasks:
            continue
        rng, wrong, stopped, pulls = np.random.default_rng(57), [], [], []
        for _ in range(ON_CLASSES):
            bandit, task = real_rewards(agent, runs, rng)
            agent = agents.make(name, delta=delta).suited_to(bandit.rewards)
            info = ProblemInfo(
                bandit.num_arms, CAP, runs, task=task, fixed_confidence=True, truth=bandit, knows=agent.knows
            )
            agent.reset(info, np.random.default_rng(0))
            played = play_blocks(agent, bandit, CAP, rng, task)
            made = played.pulls.sum(axis=1)
            wrong.append(int((~task.correct(bandit.means, played.recommendation) & (made < CAP)).sum()))
            stopped.append(float((made < CAP).mean()))
            pulls.append(float(made.mean()))
        limit = binom.ppf(SURE, runs, delta)
        holds &= max(wrong) <= limit
        note = "" if max(wrong) <= limit else f" (more than {limit:g}, too many)"
        share = f"{sum(wrong)} of {runs * ON_CLASSES:,}"
        print(
            f"| `{name}` | {share} | {max(wrong)}{note} | {np.mean(stopped):.1%} | {np.mean(pulls):,.0f} |", flush=True
        )
    return bool(holds)


def real_rewards(agent: Any, runs: int, rng: np.random.Generator) -> tuple[Bandit, Task]:
    """Return a random instance of Gaussian arms for an agent, and its task."""
    num_arms = int(rng.choice([2, 3, 5]))
    unit, origin = np.exp(rng.uniform(np.log(0.3), np.log(30.0))), rng.normal(0.0, 100.0)
    gaps = np.concatenate(([0.0], rng.uniform(0.3, 1.0, num_arms - 1)))
    means, deviations = origin - unit * rng.permutation(gaps), unit * np.exp(rng.uniform(-0.7, 0.7, num_arms))
    if GoodArm.name in agent.tasks:
        best, second = np.sort(means)[:-3:-1]
        return _repeated(means, deviations, runs), GoodArm(0.5 * (best + second))
    if agent.uses_pairs:
        rows = np.tile(means, (runs, 1))
        return PairedGaussianBandit(rows, np.tile(deviations**2, (runs, 1)), correlation=0.5), BestArm()
    bandit = _repeated(means, deviations, runs)
    return FeatureBandit(bandit, np.eye(num_arms)) if agent.needs_features else bandit, BestArm()


def _repeated(means: FloatArray, deviations: FloatArray, runs: int) -> GaussianBandit:
    return GaussianBandit(np.tile(means, (runs, 1)), np.tile(deviations**2, (runs, 1)))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--delta", type=float, default=0.1)
    parser.add_argument("--ids", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--defaults", action="store_true")
    options = parser.parse_args()
    if options.ids:
        every_id(options.runs, options.delta)
    elif options.defaults:
        sys.exit(not defaults(options.runs, options.delta))
    elif options.errors:
        errors(options.runs, options.delta)
    else:
        instances(options.runs, options.delta)


if __name__ == "__main__":
    main()
