"""Experiments of Xiong et al. (2024) with linear bandits whose parameter does not change.

The paper is Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
Bandits with Robustness to Non-stationarity". Instances, budgets, numbers of runs and published errors are those of the
authors' code and data (github.com/FFTypeZero/bobw_linear). The claims are read from these data.
"""

from __future__ import annotations

from bai_gym.papers.model import Above, Below, Claim, Experiment, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS"]

AGENTS = G_BAI, PEACE, OD_LINBAI = "G-BAI", "Peace-rho", "OD-LinBAI"
PAPER = "Xiong, Camilleri, Fazel, Jain and Jamieson (2024)"
SOARE = {"num_arms": 11, "scale": 2.0, "noise_variance": 1.0}
SIMULATED = {1010: 0.159, 2010: 0.0788, 3010: 0.0412, 4010: 0.0238, 5010: 0.0129}  # G-BAI, independently, 20,000 runs
MARGIN = 0.02

NOTES = (
    "Peace-rho, a practical form of Peace with rho in the place of the Gaussian width, as in the authors' code.",
    "The paper's own agents, P1-RAGE, P1-Peace and Mixed-Peace, which are for parameters that change, are left out.",
)

EXPERIMENTS = (
    Experiment(
        "linear-fb-soare",
        "The instance of Soare et al. (2014) in ten dimensions, over the budget",
        f"{PAPER}, stationary benchmark",
        (
            Panel(
                "",
                "d = 10, K = 11, angle 0.1",
                tuple(Setting("BAI-LinearAdaptive16-v0", budget, budget, SOARE) for budget in SIMULATED),
            ),
        ),
        AGENTS,
        (
            Claim(
                "OD-LinBAI hardly improves with the budget: it is within 0.05 of 0.43 throughout.",
                (Above(OD_LINBAI, 0.38), Below(OD_LINBAI, 0.48)),
            ),
            Claim(
                f"G-BAI is within {MARGIN:g} of errors that were simulated independently.",
                tuple(
                    statement
                    for budget, error in SIMULATED.items()
                    for statement in (
                        *((Above(G_BAI, error - MARGIN, (budget,)),) if error > MARGIN else ()),
                        Below(G_BAI, error + MARGIN, (budget,)),
                    )
                ),
            ),
        ),
        runs=20_000,
        notes=NOTES,
    ),
    Experiment(
        "linear-fb-multi",
        "A multivariate test: four factors and their interactions",
        f"{PAPER}, multivariate testing, stationary",
        (Panel("", "d = 11, K = 16", (Setting("BAI-LinearFactorial16-v0", 10_000, 10_000),)),),
        AGENTS,
        (
            Claim(
                "OD-LinBAI has the fewest errors.",
                all_lower(OD_LINBAI, AGENTS),
            ),
            Claim("G-BAI has the most errors.", all_lower(AGENTS, G_BAI)),
        ),
        runs=10_000,
        notes=NOTES,
    ),
)
"""The experiments, in order."""
