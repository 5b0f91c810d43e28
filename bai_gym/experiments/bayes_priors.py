"""Experiments with known normal priors, in the settings of Nguyen, Aouali, György and Vernade (2025).

The paper is "Prior-Dependent Allocations for Bayesian Fixed-Budget Best-Arm Identification in Structured Bandits".
Instances, budgets and the number of runs are those of the authors' code
(github.com/nguyenicolas/Prior_Dependent_Allocations_BAI). The claims are hypotheses of this library.
"""

from __future__ import annotations

from bai_gym.experiments.model import Claim, Experiment, Lower, LowerRegret, Panel, Setting

__all__ = ["EXPERIMENTS"]

PAPER = "Nguyen, Aouali, György and Vernade (2025)"
VALUE, MIXED, D_OPTIMAL = "PI-BAI", "PI-BAI(weights=mixed)", "PI-BAI(weights=D-optimal)"
BOUND, UNIFORM = "PI-BAI(weights=bound)", "PI-BAI(weights=uniform)"
ELIM, ELIM_ALL = "BayesElim", "BayesElim(samples=all)"
STATIC = (D_OPTIMAL, MIXED, BOUND, UNIFORM)
HALVING = (ELIM, ELIM_ALL, "SH")  # which need a pull of every arm in the first stage
NOTES = (
    "Agents that know the prior are given it, and the variance of the rewards; SH, SR and RUE are given neither.",
    "The weights of PI-BAI are rounded, and no pull is lost; the authors' PI-BAI-Opt is weights=mixed, their "
    "PI-BAI-G-Opt is weights=D-optimal.",
)
BUDGETS = tuple(range(20, 301, 40))


def _better(better: str, others: tuple[str, ...], at: tuple[float, ...] | None = None) -> tuple[Lower, ...]:
    return tuple(Lower(better, other, at) for other in others)


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "bayes-mab",
        "A known prior of ten independent arms",
        f"{PAPER}, experiment with independent arms and fixed prior means",
        (
            Panel(
                "",
                "K = 10, prior means 0 to 1, deviations 0.1 to 0.5",
                tuple(
                    Setting("BAI-GaussianPrior10-v0", n, n, without=frozenset(HALVING) if n < 40 else frozenset())
                    for n in BUDGETS
                ),
            ),
        ),
        (VALUE, *STATIC, ELIM, ELIM_ALL, "RUE", "SR", "SH"),
        (
            Claim("Of the allocations from the prior, that of largest value errs least.", _better(VALUE, STATIC)),
            Claim(
                "It has the smallest simple regret of them, which it is made for.",
                tuple(LowerRegret(VALUE, other) for other in STATIC),
            ),
            Claim("It errs less than SR and SH, which react to rewards.", _better(VALUE, ("SR", "SH"))),
            Claim(
                "With 60 pulls and more RUE, which is given nothing, errs less than SR.",
                _better("RUE", ("SR",), tuple(n for n in BUDGETS if n >= 60)),
            ),
            Claim("BayesElim errs less than sequential halving.", _better(ELIM, ("SH",))),
            Claim("BayesElim with all samples errs less than as published.", _better(ELIM_ALL, (ELIM,))),
            Claim(
                "With 100 pulls and more it also errs less than every allocation from the prior.",
                _better(ELIM_ALL, (VALUE, *STATIC), tuple(n for n in BUDGETS if n >= 100)),
            ),
        ),
        runs=10_000,
        notes=NOTES,
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
