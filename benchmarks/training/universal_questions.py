"""Compare the errors of Universal with those of other agents on sixty problems of questions other than the best arm.

python benchmarks/training/universal_questions.py --runs 10000 --workers 2       # two hours; the same command resumes

Every agent that plays a problem without oracle knowledge plays ``--screen`` runs; the best ones of these play as many
as Universal, with another seed. None of the problems is among those that Universal was trained on, and two of the five
questions, a good arm and all arms within epsilon of the best, are not.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import bai_gym
from bai_gym import agents
from bai_gym.api import make_cells
from bai_gym.errors import BaiGymError
from bai_gym.statistics import FloatArray

ENVIRONMENTS = {
    "top-m": "BAI-TopM-Custom-v0",
    "thresholding": "BAI-CustomThresholding-v0",
    "best-of-each": "BAI-MultiBandit-Custom-v0",
    "good-arm": "BAI-CustomGoodArm-v0",
    "all-within": "BAI-AllWithin-Custom-v0",
}
PULLS_PER_ARM = (10, 40)
AT = 20  # pulls per arm at which the hardest contrast is 1.5 standard errors wide if all arms get as many
FINALISTS = 2
FIRST = ("EB-TCI", "LUCB", "TTTS", "T3C")  # of agents without an error in the first runs


def families() -> Iterator[tuple[str, FloatArray, FloatArray | None]]:
    """Yield name, means of some scale, and standard deviations of some scale; none for rewards 0 and 1."""
    rng = np.random.default_rng(2026)
    yield "normal draws, equal variances", rng.standard_normal(16), np.ones(16)
    yield "uniform draws, lognormal variances", rng.random(12), np.exp(0.6 * rng.standard_normal(12))
    yield "groups, alternating variances", np.repeat([1.0, 0.6, 0.2], [3, 5, 8]), np.tile([1.0, 2.0], 8)
    yield "equal steps, rewards 0 and 1", np.linspace(1.0, 0.0, 12), None
    yield "geometric, large variances in half", 0.6 ** np.arange(8), rng.permutation(np.repeat([1.0, 3.0], 4))
    yield "normal draws, rewards 0 and 1", rng.standard_normal(32), None


def widest(means: FloatArray, low: int, high: int) -> float:
    """Return the middle of the largest gap between means that follow one another, from one rank to another."""
    after = low + int(np.argmax(means[low:high] - means[low + 1 : high + 1]))
    return float(0.5 * (means[after] + means[after + 1]))


def problems(question: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of a family, and the parameters of an environment."""
    for name, means, deviations in families():
        means = -np.sort(-means)
        first, wide = widest(means, 0, len(means) // 3), widest(means, len(means) // 4, len(means) // 2)
        numbers: dict[str, Any] = {}
        if question == "top-m":
            numbers, gap = {"m": 3}, means[2] - means[3]
        elif question == "thresholding":
            numbers = {"threshold": wide}
            gap = abs(means - numbers["threshold"]).min() * np.sqrt(2.0)
        elif question == "best-of-each":
            # Bandit b has arms b, b + 4, b + 8 and so on; a bandit of equal groups gets a better arm.
            means = means.reshape(-1, 4).T.ravel()
            if deviations is not None:
                deviations = deviations.reshape(-1, 4).T.ravel()
            of_each = means.reshape(4, -1)
            of_each[of_each[:, 0] == of_each[:, 1], 0] += 0.4
            numbers, gap = {"num_bandits": 4}, (of_each[:, 0] - of_each[:, 1]).min()
        elif question == "good-arm":
            numbers = {"threshold": first}
            gap = (means[0] - numbers["threshold"]) * np.sqrt(2.0)
        else:
            numbers = {"epsilon": means[0] - wide}
            gap = abs(means - wide).min()
        noise = gap * np.sqrt(AT / 2.0) / 1.5
        options: dict[str, Any]
        if deviations is None:  # noise 0.5 at most: the means are drawn together around one half instead
            scale = min(0.5 / noise, 0.9 / np.ptp(means))
            middle = 0.5 * (means.min() + means.max())
            means = 0.5 + scale * (means - middle)
            options = {"distribution": "bernoulli"}
            if "threshold" in numbers:
                numbers["threshold"] = 0.5 + scale * (numbers["threshold"] - middle)
            if "epsilon" in numbers:
                numbers["epsilon"] *= scale
        else:
            options = {"variances": (noise / np.sqrt((deviations**2).mean()) * deviations) ** 2}
        yield name, {"means": means.tolist(), **{key: np.asarray(value).tolist() for key, value in
                     {**options, **numbers}.items()}}  # fmt: skip


def players(environment: str, budget: int, options: dict[str, Any]) -> Iterator[str]:
    """Yield the agents that play without oracle knowledge, but for Universal."""
    for name in agents.names():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                agent = make_cells([name], environment, [budget], 0, options)[0].check()
        except BaiGymError:
            continue
        if not (name.startswith("Universal") or agent.knows):
            yield name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--screen", type=int, default=300)
    parser.add_argument("--questions", nargs="*", default=list(ENVIRONMENTS), choices=ENVIRONMENTS)
    parser.add_argument("--agent", default="Universal")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", default="results/universal-questions", help="folder; the same command resumes")
    given = parser.parse_args()

    def play(name: str, runs: int, seed: int) -> float:
        result = bai_gym.evaluate(
            name, environment, budget=budget, runs=runs, seed=seed, workers=given.workers, env_kwargs=options,
            progress=False, out=given.out,
        )  # fmt: skip
        return result.errors / runs

    print(f"| question | family | pulls | {given.agent} | best others |\n| --- | --- | ---: | ---: | --- |")
    for question in given.questions:
        counts: Counter[str] = Counter()
        environment = ENVIRONMENTS[question]
        for family, options in problems(question):
            for each in PULLS_PER_ARM:
                budget = each * len(options["means"])
                screened = {name: play(name, given.screen, 1) for name in players(environment, budget, options)}
                best = sorted(screened, key=lambda name: (screened[name], name not in FIRST))[:FINALISTS]
                own = play(given.agent, given.runs, 2)
                others = {name: play(name, given.runs, 2) for name in best}
                least = min(others.values())
                noise = 2.0 * np.sqrt(own * (1.0 - own) / given.runs)
                counts["cells"] += 1
                counts["lower"] += int(own < least)
                counts["within 5 %"] += int(own <= 1.05 * least + noise)
                counts["within 20 %"] += int(own <= 1.2 * least + noise)
                told = ", ".join(f"{name} {error:.4f}" for name, error in sorted(others.items(), key=lambda x: x[1]))
                print(f"| {question} | {family} | {budget} | {own:.4f} | {told} |", flush=True)
        print(f"| {question} | | | | {dict(counts)} |", flush=True)


if __name__ == "__main__":
    main()
