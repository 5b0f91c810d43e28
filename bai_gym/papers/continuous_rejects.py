"""Experiments of Wang, Tzeng and Proutiere (2023), on continuous rejects: Bernoulli arms, six shapes of means.

The paper is "Best Arm Identification with Fixed Budget: A Large Deviation Perspective". Instances, sizes, budgets and
the number of runs are those of the authors' code (github.com/rctzeng/NeurIPS2023-CR). The claims are those of the
abstract.
"""

from __future__ import annotations

from bai_gym.papers.model import Claim, Experiment, Lower, Panel, Setting
from bai_gym.problems.setups import SHAPES

__all__ = ["EXPERIMENTS"]

AGENTS = ("CR-A", "CR-C", "SR", "SH", "A-UGapEb", "Uniform")
TITLES = {
    "OneGroup": "one group of suboptimal arms",
    "TwoGroups": "two groups of suboptimal arms",
    "Linear": "means on a line",
    "Concave": "means on a concave curve",
    "Convex": "means on a convex curve",
    "Stair": "means on a stair",
}
BUDGETS = {
    "OneGroup": {10: range(4000, 8001, 800), 20: range(6000, 16001, 2000), 40: range(20000, 40001, 5000)},
    "TwoGroups": {10: range(2000, 8001, 1200), 20: range(4000, 19001, 3000), 40: range(5000, 25001, 5000)},
    "Linear": {10: range(2000, 4001, 400), 20: range(2000, 10001, 2000), 40: range(15000, 25001, 5000)},
    "Concave": {10: range(400, 2001, 500), 20: range(400, 2001, 500), 40: range(2000, 4001, 400)},
    "Convex": {10: range(500, 2501, 500), 20: range(1500, 4001, 500), 40: range(2000, 6001, 800)},
    "Stair": {5: range(800, 2401, 400), 6: range(1000, 2501, 500), 10: range(1000, 5001, 1000)},
}
NOTES = (
    "SR and SH follow their papers; the authors' code has no roundings in SR, and stops halving at two arms in SH.",
    "A-UGapEb stands for the UGapEb of that code, which estimates the complexity by the sample means; A-UGapEb raises "
    "the estimated gaps.",
)


def _panel(shape: str, size: int) -> Panel:
    arms = len(SHAPES[shape](size))
    return Panel(
        f"{arms}-arms",
        f"{TITLES[shape]}, {arms} arms",
        tuple(Setting(f"BAI-Shape-{shape}-v0", n, n, {"size": size}) for n in BUDGETS[shape][size]),
    )


def _better(worse: str) -> tuple[Lower, ...]:
    return Lower("CR-A", worse), Lower("CR-C", worse)


EXPERIMENTS = tuple(
    Experiment(
        f"cr-{number}",
        f"Continuous rejects: {TITLES[shape]}",
        f"Wang, Tzeng and Proutiere (2023), experiments, instance {number}",
        tuple(_panel(shape, size) for size in BUDGETS[shape]),
        AGENTS,
        (
            Claim("CR-A and CR-C outperform successive rejects.", _better("SR")),
            Claim("CR-A and CR-C outperform sequential halving.", _better("SH")),
            Claim("CR-A and CR-C outperform UGapEb that estimates the complexity.", _better("A-UGapEb")),
        ),
        runs=40_000,
        notes=NOTES,
    )
    for number, shape in enumerate(SHAPES, start=1)
)
"""The experiments, in order."""
