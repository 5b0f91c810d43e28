"""What the universal agent owes to its features, families, stages and networks: short trainings without one of them.

Usage: python benchmarks/training/ablations.py [--steps 400] [--runs 10000] [--out results/ablations]; the same command resumes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bai_gym
from bai_gym.agents.training.contenders import ARM_FEATURES, STATE_FEATURES
from bai_gym.agents.training.universal import Universal
from bai_gym.training.universal import UniversalRecipe, train_universal

PLACES = (
    ("BAI-Gaussian64-v0", 1000),
    ("BAI-Gaussian8-v0", 100),
    ("BAI-Bernoulli-Setup1-v0", 2000),
    ("BAI-Bernoulli10-v0", 200),
)
OF_THE_GAP = ("behind", "z", "log-z", "leader", "second", "contender")
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "another seed": {"seed": 1},
    "hand-made logits": {"steps": 1},
    "width 16": {"width": 16},
    "no noise": {"without": ("noise",)},
    "no gain": {"without": ("gain",)},
    "no budget": {"without": ("reach", "left", "budget")},
    "gaps alone": {
        "without": tuple(name for name in (*ARM_FEATURES, *STATE_FEATURES) if name not in (*OF_THE_GAP, "end"))
    },
    "no prior": {"families": ("gaussian", "bernoulli")},
    "prior alone": {"families": ("gaussian", "bernoulli-prior")},
    "1 to 3 stages": {"stages": (1, 3)},
    "20 stages": {"stages": (20, 20)},
}


def main() -> None:
    """Train all variants, play each, and print a table of error probabilities."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path("results/ablations"))
    options = parser.parse_args()
    trained = []
    for name, changes in VARIANTS.items():
        recipe = UniversalRecipe(**{"steps": options.steps, **changes})
        trained.append(Universal(path=train_universal(recipe, options.out / name.replace(" ", "-"), device="cpu")))
    print("| " + " | ".join(["trained with", *(f"{env[4:-3]}, {budget:,}" for env, budget in PLACES)]) + " |")
    print("| --- |" + " ---: |" * len(PLACES))
    played = [
        bai_gym.compare(trained, env, budgets=[budget], runs=options.runs, out=options.out / f"{env}-{budget}")
        for env, budget in PLACES
    ]
    for name, *results in zip(VARIANTS, *(comparison.results for comparison in played), strict=True):
        print("| " + " | ".join([name, *(f"{result.error_probability:.4f}" for result in results)]) + " |")


if __name__ == "__main__":
    main()
