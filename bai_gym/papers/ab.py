"""A/B tests: does any division of the budget between two arms beat equal shares?

Wang, Ariu and Proutiere (2023, arXiv 2308.12000) show that no algorithm for two Bernoulli arms is at least as good as
uniform allocation on all instances and better on some, in terms of exponents. OCBA, which for two arms is Neyman
allocation, gains where the variances of Gaussian arms differ.
"""

from __future__ import annotations

from bai_gym.papers.model import Claim, Close, Experiment, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

UNIFORM = "Uniform"
OCBA = "OCBA"
OTHERS = (OCBA, "UGapEb(b=1.0)")
PAIRS = {
    "middle": ("Bernoulli arms of means 0.5 and 0.45", (0.5, 0.45)),
    "low": ("Bernoulli arms of means 0.1 and 0.08", (0.1, 0.08)),
    "rare": ("Bernoulli arms of means 0.02 and 0.015", (0.02, 0.015)),
    "high": ("Bernoulli arms of means 0.95 and 0.93", (0.95, 0.93)),
}
GAUSSIAN = "gaussian"
BUDGETS = (1000, 4000)

EXPERIMENTS = (
    Experiment(
        "ab-1",
        "A/B tests: uniform allocation and its rivals",
        "this library; Bernoulli arms after Wang, Ariu and Proutiere (2023)",
        (
            *(
                Panel(
                    name,
                    title,
                    tuple(Setting("BAI-AB-Bernoulli-v0", n, n, {"means": means}) for n in BUDGETS),
                )
                for name, (title, means) in PAIRS.items()
            ),
            Panel(
                GAUSSIAN,
                "Gaussian arms, standard deviations 1 and 3",
                tuple(Setting("BAI-AB-Gaussian-v0", n, n) for n in (100, 200, 400)),
            ),
        ),
        (UNIFORM, *OTHERS),
        (
            Claim(
                "On Bernoulli arms no agent gains as much as one percentage point over uniform allocation.",
                tuple(Close(UNIFORM, other, 0.01) for other in OTHERS),
                panels=frozenset(PAIRS),
            ),
            Claim(
                "OCBA beats uniform allocation where the variances differ.",
                (Lower(OCBA, UNIFORM),),
                panels=frozenset({GAUSSIAN}),
            ),
        ),
        runs=20_000,
        notes=("UGapEb is given the complexity, the others require no oracle knowledge.",),
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
