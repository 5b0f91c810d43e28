"""Experiments of Xiong et al. (2024): linear bandits whose parameter may change with time.

The paper is Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
Bandits with Robustness to Non-stationarity". Instances, budgets, numbers of runs and published errors are those of the
authors' code and data (github.com/FFTypeZero/bobw_linear). The claims are read from these data.
"""

from __future__ import annotations

from bai_gym.papers.model import Above, Below, Claim, Close, Experiment, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

G_BAI, P1_RAGE, P1_PEACE, MIXED = "G-BAI", "P1-RAGE", "P1-Peace", "Mixed-Peace"
PEACE, OD_LINBAI = "Peace-rho(order=random)", "OD-LinBAI(order=random)"
ROBUST, ELIMINATING = (G_BAI, P1_RAGE, P1_PEACE, MIXED), (PEACE, OD_LINBAI)
IN_TURNS = ("Peace-rho", "OD-LinBAI")
AGENTS = (*ROBUST, *ELIMINATING)
PAPER = "Xiong, Camilleri, Fazel, Jain and Jamieson (2024)"
SOARE = {"num_arms": 11, "scale": 2.0, "noise_variance": 1.0}
SIMULATED = {1010: 0.159, 2010: 0.0788, 3010: 0.0412, 4010: 0.0238, 5010: 0.0129}  # G-BAI, independently, 20,000 runs
MARGIN = 0.02
WIDE = (5, 6, 7, 8, 9)

PEACE_NOTE = (
    "Peace-rho, a practical form of Peace with rho in the place of the Gaussian width, as in the authors' code."
)
ORDER_NOTE = (
    "Peace-rho and OD-LinBAI pull in random order within each round, as in the authors' code; the papers of these "
    "algorithms do not say an order."
)

EXPERIMENTS: tuple[Experiment, ...] = (
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
                "P1-RAGE has the fewest errors of the six, from 1,010 pulls on.",
                tuple(Lower(P1_RAGE, other) for other in AGENTS if other != P1_RAGE),
            ),
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
        notes=(PEACE_NOTE, ORDER_NOTE),
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
                tuple(Lower(OD_LINBAI, other) for other in AGENTS if other != OD_LINBAI),
            ),
            Claim("G-BAI has the most errors.", tuple(Lower(other, G_BAI) for other in AGENTS if other != G_BAI)),
        ),
        runs=10_000,
        notes=(PEACE_NOTE, ORDER_NOTE),
    ),
    Experiment(
        "linear-fb-drift",
        "The mean of the best arm oscillates, over the magnitude",
        f"{PAPER}, oscillation",
        (
            Panel(
                "",
                "d = 10, K = 11, 10,000 pulls, period 200",
                tuple(
                    Setting("BAI-LinearDrift-Oscillating-v0", 10_000, magnitude, {"magnitude": float(magnitude)})
                    for magnitude in range(1, 10)
                ),
                "magnitude",
            ),
        ),
        (*AGENTS, *IN_TURNS),
        (
            Claim("P1-RAGE never has more errors than G-BAI (by 0.01).", (Close(P1_RAGE, G_BAI, 0.01),)),
            Claim(
                "Peace and OD-LinBAI have the most errors from the magnitude 5 on.",
                tuple(Lower(robust, other, WIDE) for robust in ROBUST for other in ELIMINATING),
            ),
            Claim(
                "Our hypothesis: these errors come from the order of the pulls; if arms take turns, they are fewer.",
                tuple(Lower(turns, other, WIDE) for turns, other in zip(IN_TURNS, ELIMINATING, strict=True)),
            ),
        ),
        runs=1000,
        notes=(PEACE_NOTE, ORDER_NOTE),
        claims_are="Claims of the paper, and hypotheses of this library",
    ),
)
"""The experiments, in order."""
