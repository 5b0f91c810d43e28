"""Figures 1 to 6 of Lalitha et al. (2023), "Fixed-Budget Best-Arm Identification with Heterogeneous Reward Variances".

The text gives no grids of budgets and numbers of arms (except their ends in figure 3): those here are ours.
"""

from __future__ import annotations

from typing import Any, Literal

from bai_gym.papers.model import Above, Below, Claim, Close, Experiment, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS"]

PAPER = "Lalitha, Kalantari, Ma, Deoras and Kveton (2023)"
AGENTS = ("Uniform", "SH", "GapE", "GapE-V", "VBR", "SHVar", "SHAdaVar")
PRIOR = ("Uniform", "SH", "GapE", "GapE-V", "VBR")
EARLIER_WITHOUT_COMPLEXITY = ("Uniform", "SH", "VBR")  # those that are not given the complexity
BUDGETS = (1000, 2000, 3000, 5000, 7500, 10000, 15000, 20000)
LARGE_BUDGETS = (2000, 5000, 10000, 20000, 40000)
ARMS = (32, 40, 48, 56, 64)
SMALL = (1000, 2000)  # our reading of "smaller budgets" in the text
LARGE = (10000, 15000, 20000)

NOISY_BEST = "best arm noisy (as the paper's figures behave)"
QUIET_BEST = "best arm quiet (the paper's literal text)"
GRID_NOTE = "The paper's text does not give the grid of the horizontal axis; this one is ours."
PARITY_NOTE = (
    "The text makes the arms of even number noisy, so that the best arm is a quiet one; the figures behave as if it "
    "were noisy. Both are shown."
)
GAPE_NOTE = (
    "GapE is given H, the sum of b^2 / gap^2, as in the theorem that the paper cites; then b cancels in its width "
    "b sqrt(a / T). The paper may instead have taken the sum of 1 / gap^2, with a width b times as large: a second "
    "reading, in panels of their own (H of GapE-V is then that of b = 1)."
)
WIDE_GAPE = {agent: f"{agent}(b_in_complexity=False)" for agent in ("GapE", "GapE-V")}
# Ratings are bounded: the paper's range of GapE, and the sample variance, in place of what would be chosen for them.
WIDE_RATED = {agent: f"{agent}(b=oracle, b_in_complexity=False)" for agent in WIDE_GAPE}
RATED = {**{agent: f"{agent}(b=oracle)" for agent in WIDE_GAPE}, "VBR": "VBR(variance=sample)"}
RATED["SHAdaVar"] = "SHAdaVar(variance=sample)"
WIDE = "widths of GapE b times as large"
ORACLE_NOTE = "GapE and GapE-V are given the complexity and the range of the rewards, SHVar the variances."


def _over_budgets(env: str, budgets: tuple[int, ...], **keywords: Any) -> tuple[Setting, ...]:
    return tuple(Setting(env, budget, budget, keywords) for budget in budgets)


def _over_arms(budget: int, **keywords: Any) -> tuple[Setting, ...]:
    return tuple(Setting(f"BAI-Gaussian{arms}-v0", budget, arms, keywords) for arms in ARMS)


def _with_wide_gape(title: str, settings: tuple[Setting, ...], x: Literal["budget", "num_arms"] = "budget") -> Panel:
    return Panel("wide-gape", f"{title}; {WIDE}", settings, x, variants=WIDE_GAPE)


def _rated(title: str, settings: tuple[Setting, ...]) -> tuple[Panel, Panel]:
    return (
        Panel("", title, settings, variants=RATED),
        Panel("wide-gape", f"{title}; {WIDE}", settings, variants={**RATED, **WIDE_RATED}),
    )


UNIFORM_WORST = Claim(
    "Uniform allocation performs worst.", all_lower(tuple(a for a in AGENTS if a != "Uniform"), ("Uniform",))
)
SH_BEATS_GAPE = Claim("Sequential halving outperforms GapE and GapE-V.", all_lower(("SH",), ("GapE", "GapE-V")))
GAPE_ABOVE_UNIFORM = Claim(
    "GapE and GapE-V improve on uniform allocation.", all_lower(("GapE", "GapE-V"), ("Uniform",))
)

BEST_FOR_MOST_BUDGETS = Claim(
    "SHVar and SHAdaVar perform best for most budgets.", all_lower(("SHVar", "SHAdaVar"), PRIOR), "most"
)
BEST_WITHOUT_COMPLEXITY = Claim(
    "The same among algorithms that are not given the instance's complexity.",
    all_lower(("SHVar", "SHAdaVar"), EARLIER_WITHOUT_COMPLEXITY),
    "most",
)

EXPERIMENTS = (
    Experiment(
        "shvar-1",
        "Mean rewards and variances of the 64 arms of the Gaussian bandit",
        f"{PAPER}, figure 1",
        (
            Panel("", NOISY_BEST, _over_budgets("BAI-Gaussian64-v0", (5000,))),
            Panel("literal", QUIET_BEST, _over_budgets("BAI-Gaussian64-v0", (5000,), noisy_best=False)),
        ),
        notes=(PARITY_NOTE,),
        instances=1,
    ),
    Experiment(
        "shvar-2",
        "Gaussian bandit with 64 arms, over the budget",
        f"{PAPER}, figure 2",
        (
            Panel("", NOISY_BEST, _over_budgets("BAI-Gaussian64-v0", BUDGETS)),
            Panel("literal", QUIET_BEST, _over_budgets("BAI-Gaussian64-v0", BUDGETS, noisy_best=False)),
            _with_wide_gape(NOISY_BEST, _over_budgets("BAI-Gaussian64-v0", BUDGETS)),
        ),
        AGENTS,
        (
            UNIFORM_WORST,
            Claim(
                "GapE and GapE-V are only slightly better than uniform allocation (better, by less than 0.1).",
                (
                    *all_lower(("GapE", "GapE-V"), ("Uniform",)),
                    Close("Uniform", "GapE", 0.1),
                    Close("Uniform", "GapE-V", 0.1),
                ),
            ),
            SH_BEATS_GAPE,
            Claim("SHVar outperforms all algorithms at all budgets.", all_lower(("SHVar",), (*PRIOR, "SHAdaVar"))),
            Claim(
                "SHVar outperforms all algorithms that are not given the instance's complexity, at all budgets.",
                all_lower(("SHVar",), (*EARLIER_WITHOUT_COMPLEXITY, "SHAdaVar")),
            ),
            Claim("At smaller budgets VBR outperforms SHAdaVar.", all_lower(("VBR",), ("SHAdaVar",), SMALL)),
            Claim("At larger budgets SHAdaVar outperforms VBR.", all_lower(("SHAdaVar",), ("VBR",), LARGE)),
            Claim(
                "At larger budgets SHAdaVar approaches SHVar (at 20,000 pulls within 0.01).",
                (Close("SHAdaVar", "SHVar", 0.01, (20000,)),),
            ),
        ),
        notes=(GRID_NOTE, PARITY_NOTE, GAPE_NOTE, ORACLE_NOTE),
    ),
    Experiment(
        "shvar-3",
        "Gaussian bandit at a budget of 5,000, over the number of arms",
        f"{PAPER}, figure 3",
        (
            Panel("", NOISY_BEST, _over_arms(5000), "num_arms"),
            Panel("literal", QUIET_BEST, _over_arms(5000, noisy_best=False), "num_arms"),
            _with_wide_gape(NOISY_BEST, _over_arms(5000), "num_arms"),
        ),
        AGENTS,
        (
            UNIFORM_WORST,
            SH_BEATS_GAPE,
            Claim(
                "SHVar and SHAdaVar have the lowest error probabilities for all numbers of arms.",
                all_lower(("SHVar", "SHAdaVar"), PRIOR),
            ),
            Claim(
                "The same among algorithms that are not given the instance's complexity.",
                all_lower(("SHVar", "SHAdaVar"), EARLIER_WITHOUT_COMPLEXITY),
            ),
            Claim(
                "With 32 arms the other algorithms err with probability about 0.05 or less (below 0.06).",
                tuple(Below(agent, 0.06, (32,)) for agent in PRIOR),
            ),
            Claim(
                "With 64 arms the other algorithms err with probability above 0.1.",
                tuple(Above(agent, 0.1, (64,)) for agent in PRIOR),
            ),
        ),
        notes=(GRID_NOTE, PARITY_NOTE, GAPE_NOTE, ORACLE_NOTE),
    ),
    Experiment(
        "shvar-4",
        "Means and variances of the ratings of 64 movies, in two runs",
        f"{PAPER}, figure 4",
        (Panel("", "64 movies", _over_budgets("BAI-MovieLens64-v0", (5000,))),),
        instances=2,
    ),
    Experiment(
        "shvar-5",
        "MovieLens bandit with 64 movies, over the budget",
        f"{PAPER}, figure 5",
        (*_rated("64 movies", _over_budgets("BAI-MovieLens64-v0", BUDGETS)),),
        AGENTS,
        (
            BEST_FOR_MOST_BUDGETS,
            BEST_WITHOUT_COMPLEXITY,
            UNIFORM_WORST,
            GAPE_ABOVE_UNIFORM,
            Claim(
                "At smaller budgets VBR performs poorly (SHVar and SHAdaVar are better).",
                all_lower(("SHVar", "SHAdaVar"), ("VBR",), SMALL),
            ),
            Claim(
                "At larger budgets VBR is on par with SHVar and SHAdaVar (within 0.02).",
                (Close("VBR", "SHVar", 0.02, LARGE), Close("VBR", "SHAdaVar", 0.02, LARGE)),
            ),
        ),
        notes=(GRID_NOTE, GAPE_NOTE, ORACLE_NOTE),
    ),
    Experiment(
        "shvar-6",
        "MovieLens bandit with 128 movies, over the budget",
        f"{PAPER}, figure 6",
        (*_rated("128 movies", _over_budgets("BAI-MovieLens128-v0", LARGE_BUDGETS)),),
        AGENTS,
        (
            BEST_FOR_MOST_BUDGETS,
            BEST_WITHOUT_COMPLEXITY,
            UNIFORM_WORST,
            GAPE_ABOVE_UNIFORM,
            Claim(
                "VBR performs poorly for all budgets (SHVar and SHAdaVar are better).",
                all_lower(("SHVar", "SHAdaVar"), ("VBR",)),
            ),
        ),
        notes=(GRID_NOTE, GAPE_NOTE, ORACLE_NOTE),
    ),
)
"""The figures, in order."""
