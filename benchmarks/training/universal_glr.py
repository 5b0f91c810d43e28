"""Train the weights of Universal-GLR: an evolution strategy finds those of fewest pulls on random questions.

    pip install "bai-gym[speed]" cma
    python benchmarks/training/universal_glr.py --seconds 1500 --out weights.json

It starts from T3C with the adaptive share of the leader. In each generation 12 candidates play the same 24 groups of
ten random instances; what counts is the mean, over groups, of their pulls divided by those of that T3C. Written are an
average of the means of the search, and what it takes to repeat it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cma
import numpy as np

from bai_gym import agents
from bai_gym.agents.fixed_confidence.universal_glr import UniversalGLR
from bai_gym.bandits import Bandit, BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM

INSTANCES = 10  # of a group
EPISODES = {False: 12, True: 4}  # of an instance: of short groups, of long ones
MOST = {False: 1200, True: 12_000}  # mean pulls of a group that is trained on
CAP = 100_000
START = (*[0.0] * 12, 1.0)


@dataclass
class Group:
    """Instances of one question, each played several times."""

    family: str
    task: Task
    delta: float
    bandit: Bandit
    usual: Any = None

    def pulls(self, agent: Any, seed: int) -> Any:
        """Return the mean pulls of each instance."""
        shape = self.bandit.means.shape
        info = ProblemInfo(shape[1], CAP, shape[0], task=self.task, truth=self.bandit, knows=agent.knows,
                           fixed_confidence=True)  # fmt: skip
        agent.reset(info, np.random.default_rng([seed, 0]))
        played = play_blocks(agent, self.bandit, CAP, np.random.default_rng([seed, 1]), self.task)
        return played.statistics.pulls.sum(axis=1).reshape(INSTANCES, -1).mean(axis=1)

    def options(self) -> dict[str, Any]:
        """Return the parameters of an agent."""
        sigma = {"sigma": "oracle"} if self.family == "gaussian" else {}
        return {"delta": self.delta, "family": self.family, **sigma}


def draw_group(rng: np.random.Generator) -> Group:
    """Draw a question and its instances; best arms are four in ten."""
    while True:
        family = str(rng.choice(["gaussian", "bernoulli", "student"]))
        arms = int(rng.choice([2, 3, 4, 5, 6, 8, 10, 15, 20, 30]))
        which = rng.choice(["best", "best", "best", "best", "top", "top", "each", "each", "threshold", "good"])
        arms = arms if which == "best" else min(max(arms, 4) // 2 * 2, 16)
        long = bool(rng.random() < 0.25)
        level = 0.5 if family == "bernoulli" else 0.0
        task: Task = {
            "best": BestArm(),
            "top": TopM(int(rng.integers(1, arms // 2 + 1))),
            "each": BestOfEach(2),
            "threshold": Thresholding(level),
            "good": GoodArm(level),
        }[which]
        drawn = [draw_instance(rng, family, task, arms, long) for _ in range(INSTANCES)]
        means, deviations = (np.repeat(np.array(part), EPISODES[long], axis=0) for part in zip(*drawn, strict=True))
        bandit: Bandit = BernoulliBandit(means) if family == "bernoulli" else GaussianBandit(means, deviations**2)
        group = Group(family, task, float(rng.choice([0.1, 0.01])), bandit)
        group.usual = group.pulls(agents.make("T3C", beta="ids", **group.options()), int(rng.integers(2**31)))
        if group.usual.mean() <= MOST[long]:
            return group


def draw_instance(rng: np.random.Generator, family: str, task: Task, arms: int, long: bool) -> tuple[Any, Any]:
    """Draw means and standard deviations whose answer is neither trivial nor hopeless."""
    while True:
        shape = rng.integers(4)
        if shape == 0:
            means = rng.normal(size=arms)
        elif shape == 1:
            means = rng.uniform(-1.0, 1.0, arms)
        elif shape == 2:
            means = -(np.sort(rng.random(arms)) ** rng.uniform(0.5, 2.0))
        else:
            means = np.where(rng.random(arms) < 0.3, 0.8, 0.0) + rng.normal(0.0, 0.05, arms)
        deviations = np.ones(arms)
        if family == "bernoulli":
            means = rng.uniform(0.1, 0.5) * means
            means += rng.uniform(0.25, 0.75) - means.mean()
            if means.min() < 0.02 or means.max() > 0.98:
                continue
        else:
            means = rng.uniform(0.3, 2.0) * means
            if family == "student" and rng.random() < 0.5:
                deviations = np.exp(rng.normal(0.0, 0.5, arms))
        means = rng.permutation(means)
        gap, noise = smallest_gap(means, task), 0.25 if family == "bernoulli" else deviations.max() ** 2
        least = 0.02 if isinstance(task, Thresholding | GoodArm) else 0.04
        if (least / 20.0 <= gap**2 / noise <= least) if long else (least <= gap**2 / noise <= 2.0):
            return means, deviations


def smallest_gap(means: Any, task: Task) -> float:
    """Return the smallest distance that an answer rests on."""
    if isinstance(task, GoodArm):
        return float(abs(means.max() - task.threshold))
    if isinstance(task, Thresholding):
        return float(np.abs(means - task.threshold).min())
    falling = -np.sort(-means.reshape(2 if isinstance(task, BestOfEach) else 1, -1), axis=1)
    m = task.m if isinstance(task, TopM) else 1
    return float((falling[:, m - 1] - falling[:, m]).min())


def ratio(job: tuple[Any, list[Group], int]) -> float:
    """Return the mean over groups of the pulls with these weights, in units of the usual ones."""
    weights, groups, seed = job
    kind = type("Candidate", (UniversalGLR,), {"weights": tuple(weights)})
    ratios = [group.pulls(kind(**group.options()), seed + k) / group.usual for k, group in enumerate(groups)]
    return float(np.mean(np.minimum(ratios, 3.0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1500.0, help="of the search, after the groups are drawn")
    parser.add_argument("--groups", type=int, default=150, help="drawn in all")
    parser.add_argument("--played", type=int, default=24, help="groups of a generation")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("weights.json"))
    parser.add_argument("--start", type=Path, help="what an earlier search has written")
    given = parser.parse_args()
    start = json.loads(given.start.read_text())["weights"] if given.start else START
    rng = np.random.default_rng(given.seed)
    groups = [draw_group(rng) for _ in range(given.groups)]
    search = cma.CMAEvolutionStrategy(start, 0.3, {"popsize": 12, "seed": given.seed, "verbose": -9})
    average, started = np.array(start, float), time.monotonic()
    with multiprocessing.get_context("spawn").Pool(given.workers) as pool:
        while time.monotonic() - started < given.seconds:
            played = [groups[k] for k in rng.choice(len(groups), given.played, replace=False)]
            seed, candidates = int(rng.integers(2**31)), search.ask()
            found = pool.map(ratio, [(one, played, seed) for one in candidates], chunksize=1)
            search.tell(candidates, found)
            average += 0.1 * (search.mean - average)
            facts = {"generations": search.countiter, "seed": given.seed, "groups": given.groups}
            given.out.write_text(json.dumps({"weights": np.round(average, 3).tolist(), **facts}) + "\n")
            print(search.countiter, round(time.monotonic() - started), np.round([min(found), np.mean(found)], 4),
                  round(search.sigma, 3), np.round(average, 2).tolist(), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
