"""Figures of Mukherjee, Naveen, Sudarsanam and Ravindran (2017), "Thresholding Bandits with Augmented UCB".

The claims are those of section 4. Claims about a curve refer to the end of the runs, unless the paper says otherwise.
"Comparable" is read as: at most 5 % worse.

Names of agents are those of the tables, with parameters in the order of the class.
"""

from __future__ import annotations

from collections.abc import Mapping

from bai_gym.papers.model import Above, Below, Claim, Close, Experiment, Lower, Panel, Setting, all_lower
from bai_gym.problems.thresholding import IN_CODE
from bai_gym.theory import threshold_h1, threshold_sigma_h1

__all__ = ["EXPERIMENTS"]

BUDGET = 10_000
EVERY = 100
MARGIN = 0.05
UNIFORM = "Uniform(mode=random)"
UNAWARE = ("UCBE-T", "APT", "CSAR", UNIFORM)
AGENTS = ("AugUCB", "UCBEV-T", *UNAWARE)
UCBEVS = ("AugUCB", "UCBEV-T(c=0.25)", "UCBEV-T", "UCBEV-T(c=256)")

CURVE_NOTE = (
    "Curves show intermediate budgets of runs of 10,000 pulls: UCBE-T, UCBEV-T, AugUCB and CSAR plan with all of them."
)
SPREAD_NOTE = (
    "Two readings of the paper's variances: as its text has it, and as standard deviations, with which the errors are "
    "small enough to compare."
)
CODE_NOTE = (
    "A third reading, as in the authors' program (https://github.com/Subhojyoti/tbandit_IJCAI, code/): standard "
    "deviations, its set-ups and its forms of the algorithms. UCBE-T and UCBEV-T are given the exploration a that the "
    "program computes from the true means and spreads of arms 0 to 9: its complexities leave the 90 others out."
)

# Error percentages after 10,000 pulls in the files that the paper's figures plot: 500 runs, results/budgetTest*/ in
# https://github.com/Subhojyoti/tbandit_IJCAI, as named in expt.tex.
PUBLISHED = {
    "Arithmetic": {"AugUCB": 9.8, "UCBEV-T": 8.8, "UCBE-T": 22.6, "APT": 16.8, "CSAR": 32.8, UNIFORM: 55.0},
    "Geometric": {"AugUCB": 9.6, "UCBEV-T": 3.6, "UCBE-T": 18.4, "APT": 16.0, "CSAR": 34.8, UNIFORM: 52.6},
    "ThreeGroups": {"AugUCB": 7.0, "UCBEV-T": 4.4, "UCBE-T": 20.0, "APT": 12.0, "CSAR": 25.0, UNIFORM: 48.4},
    "TwoGroups": {"AugUCB": 41.0, "UCBEV-T": 46.4, "UCBE-T": 52.0, "APT": 48.6, "CSAR": 78.8, UNIFORM: 87.2},
    "Advanced": {"AugUCB": 43.2, "UCBEV-T": 46.6, "UCBE-T": 74.2, "APT": 75.8, "CSAR": 94.6, UNIFORM: 81.8},
}
PUBLISHED_UCBEV = {"UCBEV-T(c=0.25)": 99.0, "UCBEV-T(c=256)": 80.2}  # of experiment 6


def _in_code(name: str) -> dict[str, str]:
    """Return the forms that the agents have in the authors' program.

    It takes the standard deviations for variances in the complexity of UCBEV-T as well.
    """
    setup = IN_CODE[name]
    a = (BUDGET - 100) / threshold_h1(setup.means, 0.5)
    spreads = [setup.below] * 5 + [setup.above] * 5
    a_v = (8 / 9) * (BUDGET - 200) / threshold_sigma_h1(setup.means, spreads, 0.5, squared=True)
    explorations = {"UCBEV-T": a_v, "UCBEV-T(c=0.25)": 0.25 * a_v, "UCBEV-T(c=256)": 256 * a_v}
    return {
        "AugUCB": "AugUCB(width=code)",
        "UCBE-T": f"UCBE-T(a={a:.4g})",
        "CSAR": "CSAR(schedule=code)",
        **{agent: f"UCBEV-T(index=bernstein, a={value:.4g})" for agent, value in explorations.items()},
    }


def _panels(number: int, name: str, agents: tuple[str, ...]) -> tuple[Panel, ...]:
    env = f"BAI-Thresholding100-{name}-v0"
    in_code = {agent: form for agent, form in _in_code(name).items() if agent in agents}
    readings: tuple[tuple[str, str, dict[str, str], dict[str, str]], ...] = (
        ("", "spreads as variances", {}, {}),
        ("deviations", "spreads as standard deviations", {"spread": "deviation"}, {}),
        ("code", "as in the authors' program", {"spread": "code"}, in_code),
    )
    return tuple(
        Panel(
            short,
            f"experiment {number}, {text}",
            (Setting(env, BUDGET, BUDGET, keywords),),
            "checkpoint",
            EVERY,
            variants=variants,
        )
        for short, text, keywords, variants in readings
    )


def _as_published(errors: Mapping[str, float]) -> Claim:
    statements: list[Above | Below] = []
    for agent, percent in errors.items():
        statements += [Below(agent, round(percent / 100 + MARGIN, 3))] if percent < 100 * (1 - MARGIN) else []
        statements += [Above(agent, round(percent / 100 - MARGIN, 3))] if percent > 100 * MARGIN else []
    text = ", ".join(f"{agent} {percent} %" for agent, percent in errors.items())
    return Claim(
        f"Errors after 10,000 pulls are within 5 % of those in the authors' data files: {text}.",
        tuple(statements),
        panels=frozenset({"code"}),
    )


BEST = Claim(
    "UCBEV-T, given the complexity, outperforms all other algorithms.", all_lower("UCBEV-T", ("AugUCB", *UNAWARE))
)
COMPARABLE = Claim(
    "AugUCB, without oracle knowledge, is comparable with UCBEV-T.", (Close("AugUCB", "UCBEV-T", MARGIN),)
)
AWARE = Claim("AugUCB outperforms UCBE-T, APT, CSAR and uniform allocation.", all_lower("AugUCB", UNAWARE))
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
        _panels(number, name, AGENTS),
        AGENTS,
        (*claims, _as_published(PUBLISHED[name])),
        runs=500,
        notes=(CURVE_NOTE, SPREAD_NOTE, CODE_NOTE),
    )


EXPERIMENTS = (
    _figure("a", 1, "Arithmetic", "arithmetic means", (BEST, COMPARABLE, AWARE, SATURATES)),
    _figure(
        "b",
        2,
        "Geometric",
        "geometric means",
        (
            Claim("AugUCB outperforms the other algorithms, except UCBEV-T.", AWARE.statements),
            Claim("UCBEV-T outperforms AugUCB.", (Lower("UCBEV-T", "AugUCB"),)),
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
            Claim("UCBEV-T performs very well in comparison with the others.", all_lower("UCBEV-T", UNAWARE)),
            Claim("AugUCB catches up with UCBEV-T.", (Close("AugUCB", "UCBEV-T", MARGIN),)),
            Claim("AugUCB significantly outperforms the algorithms that are not variance-aware.", AWARE.statements),
            SATURATES,
        ),
    ),
    Experiment(
        "augucb-1f",
        "Thresholding: UCBEV-T with other explorations",
        "Mukherjee et al. (2017), Figure 1(f), experiment 6",
        _panels(6, "Advanced", UCBEVS),
        UCBEVS,
        (
            Claim(
                "UCBEV-T with 1/4 or 256 times the exploration is significantly outperformed by AugUCB.",
                all_lower("AugUCB", ("UCBEV-T(c=0.25)", "UCBEV-T(c=256)")),
            ),
            _as_published(
                {**{agent: PUBLISHED["Advanced"][agent] for agent in ("AugUCB", "UCBEV-T")}, **PUBLISHED_UCBEV}
            ),
        ),
        runs=500,
        notes=(CURVE_NOTE, SPREAD_NOTE, CODE_NOTE),
    ),
)
"""The experiments, in order."""
