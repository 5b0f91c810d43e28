"""What the tests of all agents need to know of each: parameters to try, those refused, and choices by rewards.

Wings have a file of this kind in their folder, with what their agents add. Tests read all by ``run_path``.
"""

from __future__ import annotations

import math
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit, FeatureBandit
from bai_gym.tasks import BestArm, GoodArm, Task, Thresholding

WINGS = [run_path(str(file)) for file in sorted(Path(__file__).parent.glob("*/cases.py"))]

# Parameters that agents need in the contract, and other parameters that it is tested with.
NEEDED: dict[str, dict[str, Any]] = {}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("Uniform", {"mode": "random"}),
    ("SH", {"rounding": "equal"}),
    ("SH-Reuse", {"leftover": "last"}),
    ("SHVar-Reuse", {"leftover": "last"}),
    ("SHAdaVar", {"ucb": False}),
    ("SHAdaVar-Reuse", {"leftover": "last"}),
    ("GapE-V", {"rescaled": False, "b": 1.0}),
    ("VBR", {"reject": "ucb", "early": True}),
    ("SR", {"leftover": "last"}),
    ("UCB-E", {"a": "theory", "b": 1.0}),
    ("UCB-E", {"a": 0.0, "b": 1.0}),
    ("TTTS", {"posterior": "normal", "sigma": 1e-4, "beta": 0.8}),
    ("OCBA", {"n0": 3}),
    ("AugUCB", {"after": "apt"}),
    ("UCBEV-T", {"index": "bernstein"}),
    ("CSAR", {"schedule": "sr"}),
    ("CR-A", {"sigma": 20.0}),
    ("DSH", {"output": "mean"}),
    ("FC2FB", {"agent": "UGapEc", "sigma": 1.0}),
    ("FC2FB", {"agent": "UGapEc", "sigma": 1.0, "q": 1}),
    ("EB-TC-eps", {"beta": "ids"}),
    ("PROSE", {"beta": 1.0, "gamma": 4.0}),
    ("RHO", {"epochs": 3}),
    ("RHO", {"prior_mean": 5.0, "prior_sd": 30.0, "sigma": 1.0}),
    ("RUE", {"spread": "unbiased"}),
]

# Values that an agent refuses, beside those that all refuse of a parameter of that name.
UGAPE = ["UGapEb", "UGapEb-V", "A-UGapEb", "A-UGapEb-V", "UGapEc", "UGapEc-V"]
GAPE = ["GapE", "GapE-V", "A-GapE", "A-GapE-V"]
ZONE = ["Rinott", "KN"]
REFUSED: list[tuple[list[str], str, list[Any]]] = [
    ([*UGAPE[4:], "UCB-E", "A-UCB-E", "UCBE-T", "UCBEV-T"], "c", [0.0]),
    (["UCB-E"], "a", ["most", -1.0, math.inf, [1]]),
    (["EB-TC-eps"], "epsilon", [0.0]),
    (["EB-TC-eps", "EB-TC"], "beta", ["half", 1.0]),
    (["OSE", "PROSE"], "beta", [0.0, math.inf]),
    (["FC2FB"], "agent", ["SH"]),
    (["FC2FB"], "delta", [0.6]),
    (["FC2FB"], "q", [0, 1.5]),
    (["TTUCB"], "family", ["bernoulli"]),
    (["T3C"], "threshold", ["kk", "gk16-bernoulli"]),
    (["KL-LUCB"], "threshold", ["kk21"]),
    (["LUCB", "UGapEc"], "threshold", ["union"]),
    (ZONE, "delta", [0.75, 1.0 - 1.0 / 3.0]),  # that of a guess among three arms
]

# Parameters that exclude each other, or need another one.
EXCLUDED: list[tuple[str, dict[str, Any]]] = [
    ("UCB-E", {"a": 1.0, "c": 2.0}),
    ("UCBE-T", {"a": 1.0, "c": 2.0}),
    ("UCBEV-T", {"a": 1.0, "c": 2.0}),
    ("CR-A", {"b": 2.0, "sigma": 1.0}),
    ("HDoC", {"b": 2.0, "sigma": 1.0}),
    ("UGapEc", {"b": 2.0, "sigma": 1.0}),
    ("LUCB", {"b": 2.0, "sigma": 1.0}),
    ("EB-TC", {"beta": "ids", "select": "tracking"}),
    ("Uniform", {"cap": "items", "mode": "random"}),
]

# Choices by rewards, in the order of KINDS.
KINDS = ("binary", "bounded(0, 1)", "bounded(0, 10)", "counts", "real")
GLR = ["TrackAndStop", "T3C", "TTTS-GLR", "EB-TC", "EB-TCI", "FWS", "AdaHedge-BR", "Universal-GLR"]
INTERVALS = ["KL-LUCB", "KL-Racing", "Tri-BBAI"]
SUB_GAUSSIAN = ["TTUCB", "SE"]
GIVEN_RANGE = ["CR-A", "CR-C", "UCB1", "A-UCB-E", *UGAPE[2:4]]
RANGE_OR_VARIANCES = [*UGAPE[4:], "LUCB", "APT-G", "HDoC", "LUCB-G", "APGAI"]
VARIANCES = ["SHAdaVar", "SHAdaVar-Reuse", "VBR", "OCBA", "OCBA-PCS", *ZONE]
BERNOULLI, STUDENT = {"family": "bernoulli"}, {"family": "student"}


def gaussian(sigma: float | str) -> dict[str, Any]:
    return {"family": "gaussian", "sigma": sigma}


CHOICES: list[tuple[list[str], list[dict[str, Any]]]] = [
    (["TS", "TTTS"], [{"posterior": word} for word in ("bernoulli", *["student"] * 4)]),
    ([*GLR, *INTERVALS], [BERNOULLI, BERNOULLI, gaussian(5.0), STUDENT, STUDENT]),
    (["FC2FB"], [{}, {}, {"sigma": 5.0}, {}, {}]),
    (SUB_GAUSSIAN, [*(gaussian(sigma) for sigma in (0.5, 0.5, 5.0)), STUDENT, STUDENT]),
    (["OSE", "PROSE"], [{"sigma": sigma} for sigma in (0.5, 0.5, 5.0, 1.0, 1.0)]),
    (GIVEN_RANGE, [{"b": b} for b in (1.0, 1.0, 10.0, 1.0, 1.0)]),
    (RANGE_OR_VARIANCES, [{"b": 1.0}, {"b": 1.0}, {"b": 10.0}, {}, {}]),
    (GAPE, [{"b": b} for b in (1.0, 1.0, 10.0, "oracle", "oracle")]),
    (VARIANCES, [{"variance": "jeffreys"}, {}, {}, {}, {}]),
    (["LSA"], [{"alpha": alpha} for alpha in (1.0, 1.0, 0.01, 1.0, 1.0)]),
]

for wing in WINGS:
    NEEDED |= wing.get("NEEDED", {})
    VARIANTS += wing.get("VARIANTS", [])
    REFUSED += wing.get("REFUSED", [])
    EXCLUDED += wing.get("EXCLUDED", [])
    CHOICES += wing.get("CHOICES", [])


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """The bandit as the agent needs it: with features, a prior or common items that say nothing about the best arm."""
    for wing in WINGS:
        bandit = wing["fit"](agent, bandit) if "fit" in wing else bandit
    return FeatureBandit(bandit, np.eye(bandit.num_arms)) if agent.needs_features else bandit


def usual_task(agent: Any) -> Task:
    """The first task that the agent supports."""
    tasks = (BestArm(), Thresholding(0.5), GoodArm(0.5), *(task for wing in WINGS for task in wing.get("TASKS", ())))
    return next(task for task in tasks if task.name in agent.tasks)
