"""Experiments of this library: one learned agent, trained on other instances, against analytic agents.

These experiments are not from a paper. Their claims are hypotheses, stated here so that the results can refute them.
"""

from __future__ import annotations

from bai_gym.experiments.model import Below, Claim, Close, Experiment, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

SOURCE = "a question of this library"
HYPOTHESES = "Hypotheses of this library"
RUNS = 10_000

UNIVERSAL = "Universal"
ON_GAUSSIAN = ("TTTS", "A-UGapEb-V", "SHAdaVar", "SH", "SR", "OCBA", "A-UCB-E", "Uniform")
GAPE = "A-GapE(b=1.0)"
TTTS = "TTTS(posterior=bernoulli)"
ON_BERNOULLI = (GAPE, TTTS, "A-UGapEb-V", "A-UCB-E", "SR", "SH", "Uniform")

OPTIMUM = "BayesOptimal"
IN_STAGES = tuple(f"Universal(stages={stages})" for stages in (2, 5, 40))

HELD_OUT = (
    "Universal was trained on other instances: its page says which. It is given nothing, nor are the other agents, but "
    "for the range of the rewards (b=1.0) and that they are 0 and 1 (posterior=bernoulli)."
)


def _over_budgets(env: str, *budgets: int) -> tuple[Setting, ...]:
    return tuple(Setting(env, budget, budget) for budget in budgets)


def _better(*others: str) -> tuple[Lower, ...]:
    return tuple(Lower(UNIVERSAL, other) for other in others)


def _not_worse(margin: float, *others: str) -> tuple[Close, ...]:
    return tuple(Close(UNIVERSAL, other, margin) for other in others)


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "learned-6",
        "One learned agent for all: Gaussian arms and ratings",
        SOURCE,
        (
            Panel(
                "gaussian64", "64 arms, every second one noisy", _over_budgets("BAI-Gaussian64-v0", 1000, 2000, 5000)
            ),
            Panel("gaussian8", "8 arms, every second one noisy", _over_budgets("BAI-Gaussian8-v0", 50, 100, 200, 400)),
            Panel("ratings", "64 movies of synthetic ratings", _over_budgets("BAI-MovieLensLike64-v0", 2000, 5000)),
        ),
        (UNIVERSAL, *ON_GAUSSIAN),
        (
            Claim("Universal is better than every other agent here.", _better(*ON_GAUSSIAN)),
            Claim("Universal is at most 0.5 % worse than any other agent here.", _not_worse(0.005, *ON_GAUSSIAN)),
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
        RUNS,
        (HELD_OUT,),
        claims_are=HYPOTHESES,
        reference=UNIVERSAL,
    ),
    Experiment(
        "learned-7",
        "One learned agent for all: Bernoulli arms",
        SOURCE,
        (
            Panel(
                "setups",
                "the seven classical set-ups",
                tuple(
                    Setting(f"BAI-Bernoulli-Setup{number}-v0", budget, number)
                    for number, budget in enumerate((2000, 2000, 2000, 600, 4000, 6000, 6000), start=1)
                ),
                "setup",
            ),
            Panel("arms2", "two arms, uniform prior", _over_budgets("BAI-Bernoulli2-v0", 20, 60, 100)),
            Panel("arms3", "three arms, uniform prior", _over_budgets("BAI-Bernoulli3-v0", 20, 40, 90)),
            Panel("arms10", "ten arms, uniform prior", _over_budgets("BAI-Bernoulli10-v0", 40, 200, 300)),
        ),
        (UNIVERSAL, *ON_BERNOULLI),
        (
            Claim("Universal is better than every other agent here.", _better(*ON_BERNOULLI)),
            Claim("Universal is at most 1.5 % worse than any other agent here.", _not_worse(0.015, *ON_BERNOULLI)),
        ),
        RUNS,
        (HELD_OUT,),
        claims_are=HYPOTHESES,
        reference=UNIVERSAL,
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
                _better("SH", "SR"),
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
