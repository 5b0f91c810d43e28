"""The comparison around Gabillon, Ghavamzadeh and Lazaric (2012), "Best Arm Identification: A Unified Approach".

The paper's experiments are in a technical report (HAL 00747005) that could not be consulted. The settings here are
those of the papers that it builds on: the seven set-ups of Audibert, Bubeck and Munos (2010), and several bandits after
Gabillon et al. (2011). So the claims are those of these papers, as far as they are known.

Names of agents are those of the tables, with parameters in the order of the class.
"""

from __future__ import annotations

from typing import Any

from bai_gym.papers.model import Below, Claim, Experiment, Lower, Panel, Setting, all_lower
from bai_gym.wing import SETUP_BUDGETS

__all__ = ["EXPERIMENTS"]

SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
UNIFORM = "Uniform"
UCB_E = "UCB-E(b=1.0)"
UGAPEC, LUCB = "UGapEc(threshold=paper)", "LUCB(threshold=paper)"

EVERY_AGENT = (
    UNIFORM,
    "SH",
    "SR",
    "SHVar",
    "SHAdaVar",
    "VBR",
    UCB_E,
    "A-UCB-E",
    "GapE(b=1.0, rescaled=False)",
    "GapE-V(b=1.0, rescaled=False)",
    "A-GapE(b=1.0)",
    "A-GapE-V(b=1.0)",
    "UGapEb(b=1.0)",
    "UGapEb-V(b=1.0)",
    "A-UGapEb",
    "A-UGapEb-V",
    "UCB1",
    "TS(posterior=normal)",
    "TTTS(posterior=normal, tries=1)",
    "OCBA",
)

MANY_BANDITS = (
    UNIFORM,
    "GapE(b=1.0, rescaled=False)",
    "GapE(b=1.0, scale=8.0, rescaled=False)",
    "GapE-V(b=1.0, rescaled=False)",
    "GapE-V(b=1.0, scale=8.0, rescaled=False)",
    "A-GapE(b=1.0)",
    "A-GapE-V(b=1.0)",
    "UGapEb(b=1.0)",
    "UGapEb(scale=8.0, b=1.0)",
    "UGapEb-V(b=1.0)",
    "UGapEb-V(scale=8.0, b=1.0)",
    "A-UGapEb",
    "A-UGapEb-V",
)
VARIANCE_FORMS = {
    "GapE-V(b=1.0, scale=8.0, rescaled=False)": "GapE(b=1.0, scale=8.0, rescaled=False)",
    "A-GapE-V(b=1.0)": "A-GapE(b=1.0)",
    "UGapEb-V(scale=8.0, b=1.0)": "UGapEb(scale=8.0, b=1.0)",
    "A-UGapEb-V": "A-UGapEb",
}

REPORT_NOTE = (
    "The report with the paper's experiments could not be consulted; settings and claims are those of its sources."
)
BOUND_NOTE = "Agents that need a bound on the rewards are given 1."
SCALE_NOTE = "scale multiplies the exploration for which the theory holds; c that of UCB-E, a = c n / H."


def _setups(budget: dict[int, int], **keywords: Any) -> tuple[Setting, ...]:
    return tuple(Setting(f"BAI-Bernoulli-Setup{n}-v0", pulls, n, keywords) for n, pulls in budget.items())


def _scaled(agent: str, parameter: str, value: float) -> str:
    return f"{agent}(b=1.0)" if value == 1.0 else f"{agent}({parameter}={value}, b=1.0)"


def _top_m(setup: int, m: int, epsilon: float) -> Panel:
    n = SETUP_BUDGETS[setup]
    return Panel(
        f"setup{setup}-m{m}-epsilon{epsilon:.2f}".replace(".", "-"),
        f"set-up {setup}, the m = {m} best arms, epsilon = {epsilon:g}",
        tuple(
            Setting(f"BAI-TopM-Bernoulli-Setup{setup}-v0", pulls, pulls, {"m": m, "epsilon": epsilon})
            for pulls in (n // 4, n // 2, n, 2 * n)
        ),
    )


EXPERIMENTS = (
    Experiment(
        "ugape-1",
        "Every agent on the seven Bernoulli set-ups",
        "settings of Audibert, Bubeck and Munos (2010), section 6",
        (Panel("", "set-ups 1 to 7, at the budgets of the paper", _setups(SETUP_BUDGETS), "setup"),),
        EVERY_AGENT,
        (
            Claim("Successive rejects outperforms uniform allocation on every set-up.", all_lower(("SR",), UNIFORM)),
            Claim(
                "UCB-E, given the complexity, outperforms uniform allocation on every set-up.",
                all_lower((UCB_E,), UNIFORM),
            ),
            Claim(
                "UCB-E that estimates the complexity outperforms uniform allocation on every set-up.",
                all_lower(("A-UCB-E",), UNIFORM),
            ),
            Claim("UCB-E, given the complexity, outperforms successive rejects.", all_lower((UCB_E,), "SR"), "most"),
        ),
        runs=10000,
        notes=(
            REPORT_NOTE,
            BOUND_NOTE,
            "The budgets of set-ups 3 and 5 are uncertain.",
            "TS and TTTS take normal rewards of standard deviation 1/2 for granted, the largest in [0, 1].",
        ),
    ),
    Experiment(
        "ugape-2",
        "How much the exploration matters: UGapEb and UCB-E, given the complexity",
        "settings of Audibert, Bubeck and Munos (2010), section 6",
        (Panel("", "set-ups 1 to 7, at the budgets of the paper", _setups(SETUP_BUDGETS), "setup"),),
        (
            *(_scaled("UGapEb", "scale", scale) for scale in SCALES),
            *(_scaled("UCB-E", "c", scale) for scale in SCALES),
            "A-UGapEb",
            "A-UCB-E",
            "SR",
            UNIFORM,
        ),
        (
            Claim(
                "Tuning matters: with eight times the exploration of the theory UGapEb is better, on most set-ups.",
                all_lower(("UGapEb(scale=8.0, b=1.0)",), "UGapEb(b=1.0)"),
                "most",
            ),
            Claim(
                "With the best of these explorations UGapEb outperforms uniform allocation, on most set-ups.",
                all_lower(("UGapEb(scale=8.0, b=1.0)",), UNIFORM),
                "most",
            ),
        ),
        runs=1000,
        notes=(REPORT_NOTE, BOUND_NOTE, SCALE_NOTE),
    ),
    Experiment(
        "ugape-3",
        "Several best arms, with an accuracy",
        "problem of Gabillon, Ghavamzadeh and Lazaric (2012), section 2",
        tuple(
            _top_m(setup, m, epsilon)
            for setup, m in ((3, 2), (3, 3), (4, 2), (5, 2), (5, 3), (6, 2))
            for epsilon in (0.0, 0.05, 0.1)
        ),
        ("Uniform", "SAR", "UGapEb(scale=8.0, b=1.0)", "A-UGapEb", "A-UGapEb-V", UGAPEC, LUCB),
        (
            Claim(
                "UGapE that estimates the complexity outperforms uniform allocation at most budgets.",
                all_lower(("A-UGapEb",), UNIFORM),
                "most",
            ),
            Claim("SAR outperforms uniform allocation at most budgets.", all_lower(("SAR",), UNIFORM), "most"),
        ),
        runs=1000,
        notes=(REPORT_NOTE, BOUND_NOTE, SCALE_NOTE, "UGapEc and LUCB (delta 0.1) are stopped by the budget."),
    ),
    Experiment(
        "ugape-4",
        "Several bandits that share a budget",
        "settings after Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), section 5",
        (
            Panel(
                "",
                "multi-bandit set-ups 1 to 3",
                tuple(
                    Setting(f"BAI-MultiBandit{number}-v0", budget, number)
                    for number, budget in ((1, 700), (2, 1000), (3, 1400))
                ),
                "setup",
            ),
        ),
        MANY_BANDITS,
        (
            Claim(
                "Where variances differ (set-ups 2 and 3) the forms that estimate them are better.",
                tuple(Lower(form, plain, (2, 3)) for form, plain in VARIANCE_FORMS.items()),
            ),
            Claim(
                "Forms that estimate the complexity outperform uniform allocation on all set-ups.",
                all_lower(("A-GapE-V(b=1.0)", "A-UGapEb-V"), UNIFORM),
            ),
        ),
        runs=1000,
        notes=(REPORT_NOTE, BOUND_NOTE, SCALE_NOTE),
    ),
    Experiment(
        "ugape-5",
        "Fixed confidence: pulls until 90 % are certain",
        "problem of Gabillon, Ghavamzadeh and Lazaric (2012), section 2",
        (
            Panel(
                "",
                "set-ups 1, 2 and 4, epsilon = 0.05, delta = 0.1",
                tuple(
                    Setting(f"BAI-FC-Bernoulli-Setup{number}-v0", 1_000_000, number, {"epsilon": 0.05})
                    for number in (1, 2, 4)
                ),
                "setup",
            ),
        ),
        (UGAPEC, "UGapEc-V", LUCB),
        (
            Claim(
                "UGapEc, UGapEc-V and LUCB err with probability below delta = 0.1.",
                tuple(Below(agent, 0.1) for agent in (UGAPEC, "UGapEc-V", LUCB)),
            ),
        ),
        runs=500,
        notes=(REPORT_NOTE, BOUND_NOTE, "The budget is the cap at which an episode would be truncated."),
    ),
)
"""The experiments, in order."""
