"""Experiments of this library: one learned agent, trained on other instances, against analytic agents.

These experiments are not from a paper. Their claims are hypotheses, stated here so that the results can refute them.
"""

from __future__ import annotations

import math

from bai_gym.papers.model import Below, Claim, Close, Experiment, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS", "ON_MOVIES"]

SOURCE = "a question of this library"
HYPOTHESES = "Hypotheses of this library"
RUNS = 10_000

UNIVERSAL = "Universal"
HALVING = ("SH", "DSH", "SHAdaVar")
GAPE = "A-GapE(b=1.0)"
OTHERS = (
    "Uniform",
    *HALVING,
    "SR",
    "CR-A",
    "CR-C",
    "VBR",
    "UCB1",
    "A-UCB-E",
    GAPE,
    "A-GapE-V(b=1.0)",
    "A-UGapEb",
    "A-UGapEb-V",
    "OCBA",
    "OCBA-PCS",
    "EB-TC-eps",
)
ON_GAUSSIAN = (*OTHERS, "TS", "TTTS")
ON_BERNOULLI = (*OTHERS, "TS(posterior=bernoulli)", "TTTS(posterior=bernoulli)")

OPTIMUM = "BayesOptimal"
IN_STAGES = tuple(f"Universal(stages={stages})" for stages in (2, 5, 40))

HELD_OUT = (
    "Universal was trained on other instances: its page says which. It is given nothing, nor are the other agents, but "
    "for the range of the rewards (b=1.0) and that they are 0 and 1 (posterior=bernoulli)."
)


def _over_budgets(env: str, *budgets: int) -> tuple[Setting, ...]:
    return tuple(Setting(env, budget, budget) for budget in budgets)


def _cells(env: str, num_arms: int, *budgets: int) -> tuple[Setting, ...]:
    """Return an environment at some budgets, each without the agents that need more pulls."""
    needs = {name: num_arms * math.ceil(math.log2(num_arms)) for name in HALVING}
    return tuple(
        Setting(env, budget, budget, without=frozenset(name for name, least in needs.items() if budget < least))
        for budget in budgets
    )


def _not_worse(margin: float, *others: str) -> tuple[Close, ...]:
    return tuple(Close(UNIVERSAL, other, margin) for other in others)


def _against_all(id: str, title: str, panels: tuple[Panel, ...], others: tuple[str, ...], *claims: Claim) -> Experiment:
    """Return an experiment of Universal against the agents without oracle knowledge, but for RHO: too slow here."""
    return Experiment(
        id,
        title,
        SOURCE,
        panels,
        (UNIVERSAL, *others),
        (
            Claim("Universal is better than every other agent here.", all_lower(UNIVERSAL, others)),
            Claim("Universal is at most 1 % worse than any other agent here.", _not_worse(0.01, *others)),
            *claims,
        ),
        RUNS,
        (HELD_OUT,),
        claims_are=HYPOTHESES,
        reference=UNIVERSAL,
    )


EXPERIMENTS = (
    _against_all(
        "learned-6",
        "One learned agent for all: Gaussian arms and ratings",
        (
            Panel(
                "gaussian64",
                "64 arms, every second one noisy",
                _cells("BAI-Gaussian64-v0", 64, 256, 1000, 1920, 2000, 5000),
            ),
            *(
                Panel(
                    f"gaussian{arms}",
                    f"{arms} arms, every second one noisy",
                    _cells(f"BAI-Gaussian{arms}-v0", arms, *budgets),
                )
                for arms, budgets in (
                    (32, (128, 960, 5000)),
                    (40, (160, 1200, 5000)),
                    (48, (192, 1440, 5000)),
                    (56, (224, 1680, 5000)),
                    (8, (32, 200, 240)),
                )
            ),
            Panel("ratings", "64 movies of synthetic ratings", _cells("BAI-MovieLensLike64-v0", 64, 256, 1920, 5000)),
        ),
        ON_GAUSSIAN,
        Claim(
            "The error probability of Universal is below 17 %, 7.5 % and 3.5 % at 1,000, 2,000 and 5,000 pulls.",
            (
                Below(UNIVERSAL, 0.17, (1000,)),
                Below(UNIVERSAL, 0.075, (2000,)),
                Below(UNIVERSAL, 0.035, (5000,)),
            ),
            panels=frozenset({"gaussian64"}),
        ),
    ),
    _against_all(
        "learned-7",
        "One learned agent for all: Bernoulli arms",
        (
            *(
                Panel(
                    f"setup{number}",
                    f"classical set-up {number}",
                    _cells(f"BAI-Bernoulli-Setup{number}-v0", arms, 4 * arms, 30 * arms, budget),
                )
                for number, (arms, budget) in enumerate(
                    ((20, 2000), (20, 2000), (20, 2000), (6, 600), (15, 4000), (20, 6000), (30, 6000)), start=1
                )
            ),
            *(
                Panel(f"arms{arms}", f"{arms} arms, uniform prior", _cells(f"BAI-Bernoulli{arms}-v0", arms, *budgets))
                for arms, budgets in ((2, (8, 60, 100)), (3, (12, 40, 90)), (4, (16, 20, 120)), (10, (40, 200, 300)))
            ),
        ),
        ON_BERNOULLI,
    ),
    Experiment(
        "learned-8",
        "One learned agent on numbers of arms that it was not trained on",
        SOURCE,
        (
            Panel(
                "",
                "30 pulls per arm, from 2 to 256 arms",
                tuple(
                    Setting("BAI-Gaussian8-v0", 30 * arms, arms, {"num_arms": arms})
                    for arms in (2, 4, 16, 64, 128, 256)
                ),
                "num_arms",
            ),
        ),
        (UNIVERSAL, "TTTS(tries=1)", "A-UGapEb-V", "SHAdaVar", "SH", "SR", "Uniform"),
        (
            Claim(
                "Universal is better than sequential halving and successive rejects at each number of arms.",
                all_lower(UNIVERSAL, ("SH", "SR")),
            ),
            Claim(
                "Universal is at most 1.5 % worse than any other agent here.",
                _not_worse(0.015, "TTTS(tries=1)", "A-UGapEb-V", "SHAdaVar", "SH", "SR", "Uniform"),
            ),
        ),
        RUNS,
        (HELD_OUT, "It was trained with 2 to 64 arms.", "TTTS draws once for a second arm (tries=1), to save time."),
        claims_are=HYPOTHESES,
        reference=UNIVERSAL,
    ),
    Experiment(
        "learned-9",
        "Universal, the optimum, and the number of stages",
        SOURCE,
        (
            Panel("arms2", "two arms, uniform prior", _over_budgets("BAI-Bernoulli2-v0", 10, 20, 40)),
            Panel("arms3", "three arms, uniform prior", _over_budgets("BAI-Bernoulli3-v0", 10, 20, 30, 40)),
        ),
        (OPTIMUM, UNIVERSAL, *IN_STAGES, GAPE, "Uniform"),
        (
            Claim("Universal is within 1.5 % of the optimum.", (Close(UNIVERSAL, OPTIMUM, 0.015),)),
            Claim("Five stages are within 0.5 % of 20.", (Close("Universal(stages=5)", UNIVERSAL, 0.005),)),
            Claim("Forty stages are within 0.5 % of 20.", (Close("Universal(stages=40)", UNIVERSAL, 0.005),)),
        ),
        RUNS,
        (
            "BayesOptimal is the optimum, which is given the prior; Universal is given nothing, A-GapE the range of "
            "rewards (b=1.0).",
        ),
        claims_are=HYPOTHESES,
        reference=OPTIMUM,
        optimum=True,
    ),
)
"""The experiments, in order."""

ON_MOVIES = (
    _against_all(
        "learned-11",
        "One learned agent for all: ratings of 64 movies",
        (Panel("", "64 movies", _cells("BAI-MovieLens64-v0", 64, 256, 1920, 5000)),),
        ON_GAUSSIAN,
    ),
)
"""The experiment that takes the MovieLens data."""
