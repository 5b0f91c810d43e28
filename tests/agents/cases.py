"""What the tests of all agents need to know of each: parameters to try, those refused, and choices by rewards.

Wings have a file of this kind in their folder, with what their agents add. Tests read all by ``run_path``.
"""

from __future__ import annotations

import math
from pathlib import Path
from runpy import run_path
from typing import Any

from bai_gym.bandits import Bandit
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
    ("FBKT", {"phi": 2, "leftover": "scale"}),
    ("GNA", {"sampling": "track", "estimator": "mean"}),
    ("FCVote", {"agent": "UGapEc", "sigma": 1.0}),
    ("EB-TC-eps", {"beta": "ids"}),
    ("RHO", {"objective": "pcs", "epochs": 3}),
    ("RHO", {"prior_mean": 5.0, "prior_sd": 30.0, "sigma": 1.0}),
    ("RUE", {"spread": "unbiased"}),
]

VALUES = {  # that are refused, by what is allowed
    "positive": [0.0, -1.0, math.nan, math.inf, "x", True],
    "at least 0": [-0.1, math.nan, math.inf, [1]],
    "between 0 and 1": [0.0, 1.0, -0.1, math.nan, "abc", None, True],
    "count": [0, -1, 1.5, 2.0, True],
    "at least 2": [1, 2.5],
    "flag": [1, "false"],
    "word": ["x", "", None],
    "word or none": ["x", ""],
}
UGAPE = ["UGapEb", "UGapEb-V", "A-UGapEb", "A-UGapEb-V", "UGapEc", "UGapEc-V"]
GAPE = ["GapE", "GapE-V", "A-GapE", "A-GapE-V"]
ZONE = ["Rinott", "KN"]
REFUSED: list[tuple[list[str], str, str | list[Any]]] = [
    # Elimination
    (["Uniform"], "mode", "word"),
    (["SH"], "allow_small_budget", "flag"),
    (["SH"], "rounding", "word"),
    (["SH", "SR", "Uniform"], "cap", "word"),
    (["SHVar", "SR"], "leftover", "word"),
    (["SHAdaVar"], "delta", "between 0 and 1"),
    (["SHAdaVar"], "ucb", "flag"),
    (["VBR"], "gamma", "positive"),
    (["VBR"], "reject", "word"),
    (["CR-A", "CR-C"], "b", "positive"),
    (["CR-C"], "sigma", "positive"),
    (["DSH"], "output", "word"),
    (["SubsetSH"], "subset", [0, 4, 2.5]),
    (["FBKT"], "phi", "at least 2"),
    (["FBKT"], "leftover", "word"),
    # Bounds and gaps
    (["UCB1", *GAPE, *UGAPE, "LUCB", "UCB-E", "A-UCB-E"], "b", "positive"),
    ([*GAPE, *UGAPE[:4]], "scale", "at least 0"),
    (["GapE"], "rescaled", "flag"),
    (UGAPE[2:4], "refresh", "count"),
    (UGAPE[:2], "output", "word"),
    (UGAPE[4:], "c", "positive"),
    ([*UGAPE[4:], "LUCB"], "delta", "between 0 and 1"),
    (["UCB-E"], "a", ["most", -1.0, math.inf, [1]]),
    (["UCB-E", "A-UCB-E"], "c", "positive"),
    (["OCBA"], "n0", [1]),
    (["EB-TC-eps"], "epsilon", "positive"),
    (["EB-TC-eps"], "beta", ["half", 1.0]),
    (["GNA"], "sampling", "word"),
    (["GNA"], "estimator", "word"),
    (["FCVote"], "delta", [0.0, 0.1, math.nan]),
    (["FCVote"], "first", [2]),
    (["FCVote"], "agent", ["SH"]),
    # Bayesian
    (["TS", "TTTS"], "posterior", "word or none"),
    (["TS", "TTTS"], "sigma", "positive"),
    (["TTTS"], "beta", "between 0 and 1"),
    (["TTTS"], "tries", "count"),
    (["RHO"], "objective", "word"),
    (["RHO"], "epochs", "count"),
    (["RHO"], "prior_mean", [math.inf]),
    (["RHO"], "prior_sd", "positive"),
    (["RHO"], "sigma", "positive"),
    (["RUE"], "spread", "word"),
    # Fixed confidence
    (["T3C", "SE"], "delta", "between 0 and 1"),
    (["T3C"], "family", "word or none"),
    (["TTUCB"], "family", ["bernoulli"]),
    (["T3C"], "threshold", ["kk", "gk16-bernoulli"]),
    (["KL-LUCB"], "threshold", ["kk21"]),
    (["LUCB", "UGapEc"], "threshold", ["union"]),
    (["T3C"], "sigma", "positive"),
    (["lil-UCB"], "sigma", ["oracle"]),
    (["TrackAndStop"], "tracking", "word"),
    (["TrackAndStop"], "lazy", "at least 0"),
    (["EB-TC"], "beta", [1.0, "half"]),
    (["TTTS-GLR"], "tries", "count"),
    (["TTUCB"], "bonus", "word"),
    (["FC-DSH"], "factor", [1.0]),
    (["Tri-BBAI", "Opt-BBAI"], "constants", "word"),
    (ZONE, "delta", [0.0, 0.75]),
    (ZONE, "indifference", "positive"),
    (ZONE, "first_pulls", "at least 2"),
    # Thresholding and good arms
    (["APT"], "epsilon", "at least 0"),
    (["AugUCB"], "rho", "positive"),
    (["AugUCB"], "after", "word"),
    (["UCBE-T", "UCBEV-T"], "c", "positive"),
    (["UCBEV-T"], "index", "word"),
    (["CSAR"], "schedule", "word"),
    (["APT-G", "APGAI"], "delta", "between 0 and 1"),
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
    ("FC-DSH", {"threshold": "gk16"}),
    ("GNA", {"sampling": "track"}),
    ("Uniform", {"cap": "items", "mode": "random"}),
    ("FCVote", {"agent": "UGapEc-V", "sigma": 1.0}),
]

# Choices by rewards, in the order of KINDS.
KINDS = ("binary", "bounded(0, 1)", "bounded(0, 10)", "counts", "real")
GLR = ["TrackAndStop", "T3C", "TTTS-GLR", "EB-TC", "EB-TCI", "FWS", "AdaHedge-BR"]
INTERVALS = ["KL-LUCB", "KL-Racing", "Tri-BBAI", "Opt-BBAI"]
SUB_GAUSSIAN = ["TTEI", "TTUCB", "SE", "lil-UCB", "FC-DSH"]
GIVEN_RANGE = ["CR-A", "CR-C", "UCB1", "A-UCB-E", *UGAPE[2:], "LUCB", "FCVote", "APT-G", "HDoC", "LUCB-G", "APGAI"]
VARIANCES = ["SHAdaVar", "SHAdaVar-Reuse", "VBR", "OCBA", "OCBA-PCS", "GNA", "NA-AIPW", *ZONE]
BERNOULLI, STUDENT = {"family": "bernoulli"}, {"family": "student"}


def gaussian(sigma: float) -> dict[str, Any]:
    return {"family": "gaussian", "sigma": sigma}


CHOICES: list[tuple[list[str], list[dict[str, Any]]]] = [
    (["TS", "TTTS"], [{"posterior": word} for word in ("bernoulli", *["student"] * 4)]),
    (GLR, [BERNOULLI, BERNOULLI, gaussian(5.0), STUDENT, STUDENT]),
    (INTERVALS, [BERNOULLI, BERNOULLI, gaussian(5.0), gaussian(0.5), gaussian(0.5)]),
    (SUB_GAUSSIAN, [gaussian(sigma) for sigma in (0.5, 0.5, 5.0, 0.5, 0.5)]),
    (GIVEN_RANGE, [{"b": b} for b in (1.0, 1.0, 10.0, 1.0, 1.0)]),
    (GAPE, [{"b": b} for b in (1.0, 1.0, 10.0, "oracle", "oracle")]),
    (VARIANCES, [{"variance": "jeffreys"}, {}, {}, {}, {}]),
    (["LSA"], [{"alpha": alpha} for alpha in (1.0, 1.0, 0.01, 1.0, 1.0)]),
]

for wing in WINGS:
    NEEDED |= wing["NEEDED"]
    VARIANTS += wing["VARIANTS"]
    REFUSED += wing["REFUSED"]
    EXCLUDED += wing["EXCLUDED"]
    CHOICES += wing["CHOICES"]


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """The bandit as the agent needs it: with features, a prior or common items that say nothing about the best arm."""
    for wing in WINGS:
        bandit = wing["fit"](agent, bandit)
    return bandit


def usual_task(agent: Any) -> Task:
    """The first task that the agent supports."""
    return next(task for task in (BestArm(), Thresholding(0.5), GoodArm(0.5)) if task.name in agent.tasks)
