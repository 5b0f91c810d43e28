"""Pareto sets: EGE-SR and EGE-SH with a budget, APE with fixed confidence, of Kone, Kaufmann and Richert.

Kone, Kaufmann and Richert (2024), "Bandit Pareto Set Identification: the Fixed Budget Setting": the notebook of the
authors' program (github.com/cyrille-kone/ege) shows twelve Bernoulli arms and a figure, whose claims these are. Means
are read off its plot to within 0.002; their complexity is 352, where the notebook prints 354.

Kone, Kaufmann and Richert (2023), "Adaptive Algorithms for Relaxed Pareto Set Identification": instances of their later
program (github.com/cyrille-kone/psips), one from a trial of 20 vaccinations (Munro et al. 2021, COV-BOOST, The Lancet
398, 2258-2276), with a figure of APE and racing at delta = 0.01.
"""

from __future__ import annotations

import numpy as np

from bai_gym.papers.levels import CAP, level_panel
from bai_gym.papers.model import Below, Claim, Experiment, Fewer, Panel, Setting, all_lower
from bai_gym.wings import FIXED_CONFIDENCE

__all__ = ["EXPERIMENTS"]

ENV = "BAI-CustomMetrics-v0"
NOTEBOOK = (
    (0.32, 0.916),
    (0.833, 0.714),
    (0.946, 0.575),
    (0.367, 0.57),
    (0.517, 0.494),
    (0.07, 0.458),
    (0.214, 0.448),
    (0.227, 0.42),
    (0.746, 0.316),
    (0.746, 0.119),
    (0.476, 0.078),
    (0.227, 0.066),
)
FIVE = ((0.25283, 0.50962), (0.49083, 0.04864), (0.40865, 0.86249), (0.08211, 0.37149), (0.99131, 0.39293))
COV_BOOST = (  # means of the logarithms of anti-spike IgG, neutralising antibodies and the cellular response
    (9.505, 6.856, 4.562),
    (9.293, 6.641, 4.036),
    (9.054, 6.407, 3.564),
    (10.213, 7.489, 4.428),
    (10.047, 7.2, 4.362),
    (8.344, 5.666, 3.512),
    (8.222, 5.455, 3.64),
    (9.746, 7.273, 4.71),
    (10.427, 7.61, 4.718),
    (8.938, 6.188, 3.844),
    (7.807, 5.263, 3.97),
    (8.85, 6.589, 4.734),
    (8.441, 6.153, 4.589),
    (9.929, 7.391, 4.749),
    (9.683, 7.203, 4.912),
    (7.515, 5.308, 3.955),
    (7.265, 4.99, 4.016),
    (8.616, 6.333, 4.663),
    (10.345, 7.77, 5.003),
    (8.293, 5.922, 3.867),
)
VARIANCES = (0.70437, 0.82846, 1.53743)  # of one person

BERNOULLI = {"distribution": "bernoulli"}
TRIAL = {"means": (np.array(COV_BOOST) / np.sqrt(VARIANCES) / 2).tolist(), "variances": 0.25}  # as of Bernoulli arms
BUDGETS = (144, 188, 233, 277, 322, 366, 411, 455, 500)
APE, RACING = "APE(delta=0.01, sigma=0.5)", "PSI-Elimination(delta=0.01, sigma=0.5)"
GENERAL = ("LUCB", "EB-TCI")
OTHERS = tuple(f"{name}(delta=0.01)" for name in GENERAL)


def _panel(name: str, title: str, budgets: tuple[int, ...], arms: dict[str, object]) -> Panel:
    return Panel(name, title, tuple(Setting(ENV, n, n, arms) for n in budgets))


def _stopping(name: str, title: str, arms: dict[str, object], without: tuple[str, ...] = ()) -> Panel:
    setting = Setting(ENV, CAP, CAP, {**arms, **FIXED_CONFIDENCE}, frozenset(without))
    return level_panel(name, title, setting)


EXPERIMENTS = (
    Experiment(
        "ege-1",
        "Pareto sets with a fixed budget",
        "Kone, Kaufmann and Richert (2024), the notebook of the authors' program",
        (
            _panel("", "Twelve Bernoulli arms with two metrics", BUDGETS, {"means": NOTEBOOK, **BERNOULLI}),
            _panel("covboost", "20 vaccinations with three metrics", (500, 1000, 2000), TRIAL),
        ),
        ("EGE-SR", "EGE-SH", "Uniform", *GENERAL),
        (
            Claim("EGE-SR errs less than uniform allocation.", all_lower("EGE-SR", "Uniform"), panels=frozenset({""})),
            Claim(
                "From 233 pulls on, EGE-SH errs less than uniform allocation.",
                all_lower("EGE-SH", "Uniform", BUDGETS[2:]),
                panels=frozenset({""}),
            ),
            Claim(
                "EGE-SR errs less than EGE-SH at most budgets.",
                all_lower("EGE-SR", "EGE-SH"),
                "most",
                frozenset({""}),
            ),
            Claim(
                "Our hypothesis: on the trial, too, EGE-SR and EGE-SH err less than uniform allocation.",
                all_lower(("EGE-SR", "EGE-SH"), "Uniform"),
                panels=frozenset({"covboost"}),
            ),
            Claim(
                "Our hypothesis: LUCB and EB-TCI, which know the task by its contrasts, err less than EGE-SR at most "
                "budgets.",
                all_lower(GENERAL, "EGE-SR"),
                "most",
            ),
        ),
        runs=1000,
        notes=("The authors' programs resolve ties of Bernoulli means otherwise.",),
        claims_are="Claims of the paper, and hypotheses of this library",
    ),
    Experiment(
        "ape-1",
        "Pareto sets with fixed confidence",
        "Kone, Kaufmann and Richert (2023), instances and figure of the authors' later program",
        (
            _stopping("covboost", "20 vaccinations with three metrics", TRIAL, OTHERS),
            _stopping("bernoulli", "Five Bernoulli arms with two metrics", {"means": FIVE, **BERNOULLI}),
        ),
        (APE, RACING, *OTHERS),
        (
            Claim("APE takes fewer pulls on average than racing with elimination.", (Fewer(APE, RACING),)),
            Claim(
                "Our hypothesis: neither of them errs with probability delta = 0.01 or more.",
                (Below(APE, 0.01), Below(RACING, 0.01)),
            ),
            Claim(
                "Our hypothesis: LUCB and EB-TCI take fewer pulls on average than APE.",
                tuple(Fewer(agent, APE) for agent in OTHERS),
                panels=frozenset({"bernoulli"}),
            ),
        ),
        runs=500,
        notes=(
            "The bonus is the proved one of this library; that of the authors' program is smaller.",
            "LUCB and EB-TCI would take long on the trial, and are left out there.",
        ),
        claims_are="Claims of the paper, and hypotheses of this library",
    ),
)
"""The experiments, in order."""
