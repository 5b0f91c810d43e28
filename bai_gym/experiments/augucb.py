"""Figures of Mukherjee, Naveen, Sudarsanam and Ravindran (2017), "Thresholding Bandits with Augmented UCB".

The claims are those of section 4. Claims about a curve refer to the end of the runs, unless the paper says otherwise.
"Comparable" is read as: at most 5 % worse.

Names of agents are those of the tables, with parameters in the order of the class.
"""

from __future__ import annotations

from bai_gym.experiments.model import Claim, Close, Experiment, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

BUDGET = 10_000
EVERY = 100
MARGIN = 0.05
UNIFORM = "Uniform(mode=random)"
UNAWARE = ("UCBE", "APT", "CSAR", UNIFORM)
AGENTS = ("AugUCB", "UCBEV", *UNAWARE)

CURVE_NOTE = (
    "Curves show intermediate budgets of runs of 10,000 pulls: UCBE, UCBEV, AugUCB and CSAR plan with all of them."
)
SPREAD_NOTE = (
    "Two readings of the paper's variances: as its text has it, and as standard deviations, with which the errors are "
    "small enough to compare."
)


def _panels(number: int, name: str) -> tuple[Panel, ...]:
    env = f"BAI-Thresholding100-{name}-v0"
    return tuple(
        Panel(
            short,
            f"experiment {number}, spreads as {words}",
            (Setting(env, BUDGET, BUDGET, keywords),),
            "checkpoint",
            EVERY,
        )
        for short, words, keywords in (
            ("", "variances", {}),
            ("deviations", "standard deviations", {"spread": "deviation"}),
        )
    )


def _better(better: str, worse: tuple[str, ...], at: tuple[int, ...] | None = None) -> tuple[Lower, ...]:
    return tuple(Lower(better, other, at) for other in worse)


BEST = Claim("UCBEV, given the complexity, outperforms all other algorithms.", _better("UCBEV", ("AugUCB", *UNAWARE)))
COMPARABLE = Claim("AugUCB, without oracle knowledge, is comparable with UCBEV.", (Close("AugUCB", "UCBEV", MARGIN),))
AWARE = Claim("AugUCB outperforms UCBE, APT, CSAR and uniform allocation.", _better("AugUCB", UNAWARE))
SATURATES = Claim(
    "CSAR performs well initially (here: better than uniform allocation after 5,000 pulls), and ends at a higher error "
    "than AugUCB.",
    (Lower("CSAR", UNIFORM, (BUDGET // 2,)), Lower("AugUCB", "CSAR")),
)


def _figure(letter: str, number: int, name: str, title: str, claims: tuple[Claim, ...]) -> Experiment:
    return Experiment(
        f"augucb-1{letter}",
        f"Thresholding: {title}",
        f"Mukherjee et al. (2017), Figure 1({letter}), experiment {number}",
        _panels(number, name),
        AGENTS,
        claims,
        runs=500,
        notes=(CURVE_NOTE, SPREAD_NOTE),
    )


EXPERIMENTS: tuple[Experiment, ...] = (
    _figure("a", 1, "Arithmetic", "arithmetic means", (BEST, COMPARABLE, AWARE, SATURATES)),
    _figure(
        "b",
        2,
        "Geometric",
        "geometric means",
        (
            Claim("AugUCB outperforms the other algorithms, except UCBEV.", AWARE.statements),
            Claim("UCBEV outperforms AugUCB.", (Lower("UCBEV", "AugUCB"),)),
            SATURATES,
        ),
    ),
    _figure("c", 3, "ThreeGroups", "three groups", (BEST, COMPARABLE, AWARE, SATURATES)),
    _figure("d", 4, "TwoGroups", "two groups", (BEST, COMPARABLE, AWARE, SATURATES)),
    _figure(
        "e",
        5,
        "Advanced",
        "two groups, advanced",
        (
            Claim("UCBEV performs very well in comparison with the others.", _better("UCBEV", UNAWARE)),
            Claim("AugUCB catches up with UCBEV.", (Close("AugUCB", "UCBEV", MARGIN),)),
            Claim("AugUCB significantly outperforms the algorithms that are not variance-aware.", AWARE.statements),
            SATURATES,
        ),
    ),
    Experiment(
        "augucb-1f",
        "Thresholding: UCBEV with other explorations",
        "Mukherjee et al. (2017), Figure 1(f), experiment 6",
        _panels(6, "Advanced"),
        ("AugUCB", "UCBEV(c=0.25)", "UCBEV", "UCBEV(c=256)"),
        (
            Claim(
                "UCBEV with 1/4 or 256 times the exploration is significantly outperformed by AugUCB.",
                _better("AugUCB", ("UCBEV(c=0.25)", "UCBEV(c=256)")),
            ),
        ),
        runs=500,
        notes=(CURVE_NOTE, SPREAD_NOTE),
    ),
)
"""The experiments, in order."""
