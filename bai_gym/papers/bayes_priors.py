"""Experiments with known normal priors, in the settings of Nguyen, Aouali, György and Vernade (2025).

The paper is "Prior-Dependent Allocations for Bayesian Fixed-Budget Best-Arm Identification in Structured Bandits".
Instances, budgets and the number of runs are those of the authors' code
(github.com/nguyenicolas/Prior_Dependent_Allocations_BAI). The claims are hypotheses of this library.
"""

from __future__ import annotations

from bai_gym.papers.model import Claim, Close, Experiment, LowerRegret, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS"]

PAPER = "Nguyen, Aouali, György and Vernade (2025)"
VALUE, MIXED, D_OPTIMAL = "PI-BAI", "PI-BAI(weights=mixed)", "PI-BAI(weights=D-optimal)"
BOUND, UNIFORM = "PI-BAI(weights=bound)", "PI-BAI(weights=uniform)"
WARM, WARM_DISCARD = "PI-BAI(weights=TS)", "PI-BAI(weights=TS, discard=True)"
ELIM, ELIM_ALL, GAP = "BayesElim", "BayesElim(samples=all)", "BayesGap"
STATIC = (D_OPTIMAL, MIXED, BOUND, UNIFORM)
HALVING = (ELIM, ELIM_ALL, "SH")  # which need a pull of every arm in the first stage
NOTES = (
    "Agents that know the prior are given it, and the variance of the rewards; SH, SR and RUE are given neither.",
    "The weights of PI-BAI are rounded, and no pull is lost; the authors' PI-BAI-Opt is weights=mixed, their "
    "PI-BAI-G-Opt is weights=D-optimal.",
)
WARM_UP_NOTE = "The authors' PI-BAI-TS is weights=TS with discard=True, in rounded numbers of pulls."
ONE_DRAW = "Features are drawn once, for all runs; the authors' code draws fresh ones for every prior."
RUNS_NOTE = "The paper has 10,000 instances."
BUDGETS = tuple(range(20, 301, 40))
RUNS = 2000


def _over_budgets(env: str, title: str, *budgets: int) -> Panel:
    return Panel("", title, tuple(Setting(env, n, n) for n in budgets))


EXPERIMENTS = (
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
        (VALUE, *STATIC, WARM, WARM_DISCARD, ELIM, ELIM_ALL, "RUE", "SR", "SH"),
        (
            Claim("Of the allocations from the prior, that of largest value errs least.", all_lower(VALUE, STATIC)),
            Claim(
                "It has the smallest simple regret of them, which it is made for.",
                tuple(LowerRegret(VALUE, other) for other in STATIC),
            ),
            Claim("It errs less than SR and SH, which react to rewards.", all_lower(VALUE, ("SR", "SH"))),
            Claim(
                "With 60 pulls and more it errs less than weights from a warm-up, which react to rewards, too.",
                all_lower(VALUE, (WARM,), tuple(n for n in BUDGETS if n >= 60)),
            ),
            Claim(
                "Up to 100 pulls it pays to keep the samples of the warm-up.",
                all_lower(WARM, (WARM_DISCARD,), tuple(n for n in BUDGETS if n <= 100)),
            ),
            Claim(
                "With 60 pulls and more RUE, which is given nothing, errs less than SR.",
                all_lower("RUE", ("SR",), tuple(n for n in BUDGETS if n >= 60)),
            ),
            Claim("BayesElim errs less than sequential halving.", all_lower(ELIM, ("SH",))),
            Claim("BayesElim with all samples errs less than as published.", all_lower(ELIM_ALL, (ELIM,))),
            Claim(
                "With 100 pulls and more it also errs less than every allocation from the prior.",
                all_lower(ELIM_ALL, (VALUE, *STATIC), tuple(n for n in BUDGETS if n >= 100)),
            ),
        ),
        runs=10_000,
        notes=(*NOTES, WARM_UP_NOTE),
        claims_are="Hypotheses of this library",
    ),
    Experiment(
        "bayes-linear",
        "A known prior of thirty arms, linear in four features",
        f"{PAPER}, linear experiment with fixed prior means",
        (_over_budgets("BAI-LinearPrior30-v0", "K = 30, d = 4", 100, 300, 500),),
        (VALUE, D_OPTIMAL, BOUND, UNIFORM, GAP, "RUE", "SR"),
        (
            Claim("The allocation of largest value errs less than an equal one.", all_lower(VALUE, (UNIFORM,))),
            Claim("It errs less than RUE and SR, which know no features.", all_lower(VALUE, ("RUE", "SR"))),
            Claim("It is at most 1.5 % worse than BayesGap, which reacts to rewards.", (Close(VALUE, GAP, 0.015),)),
        ),
        runs=RUNS,
        notes=(*NOTES, ONE_DRAW, RUNS_NOTE),
        claims_are="Hypotheses of this library",
    ),
    Experiment(
        "bayes-hierarchical",
        "A known prior of sixty arms that mix ten effects",
        f"{PAPER}, hierarchical experiment with fixed prior means",
        (_over_budgets("BAI-HierarchicalPrior60-v0", "K = 60, ten effects", 150, 350, 550),),
        (VALUE, D_OPTIMAL, BOUND, UNIFORM, GAP, "RUE", "SR"),
        (
            Claim(
                "Of the allocations from the prior, that of largest value errs least.",
                all_lower(VALUE, (D_OPTIMAL, BOUND, UNIFORM)),
            ),
            Claim(
                "BayesGap, which reacts to rewards, errs less than all of them.",
                all_lower(GAP, (VALUE, D_OPTIMAL, BOUND, UNIFORM)),
            ),
            Claim("With 550 pulls so does RUE, which is given nothing.", all_lower("RUE", (VALUE,), (550,))),
        ),
        runs=RUNS,
        notes=(*NOTES, ONE_DRAW, RUNS_NOTE),
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
