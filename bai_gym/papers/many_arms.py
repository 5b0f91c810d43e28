"""OSE and PROSE on 5,000 arms: Pilliat (2026), "Adaptive Algorithms for Infinitely Many-Armed Bandits".

Means, numbers of arms, pulls and trials are those of the slides on the author's website, whose figure shows medians.
The claims are what that figure shows.
"""

from __future__ import annotations

from bai_gym.papers.model import Claim, Experiment, LowerRegret, Panel, Setting

__all__ = ["EXPERIMENTS"]

UCB = "PROSE(gamma=1000000.0)"
ALPHAS = {"quarter": 0.25, "half": 0.5, "one": 1.0, "two": 2.0}


def _panel(name: str, alpha: float, pulls: int) -> Panel:
    setting = Setting("BAI-ManyArms5000-v0", pulls, pulls, {"alpha": alpha})
    return Panel(f"{name}-{pulls}", f"alpha = {alpha:g}, {pulls:,} pulls", (setting,), picture="regrets")


EXPERIMENTS = (
    Experiment(
        "prose-1",
        "Simple regret on 5,000 arms",
        "Pilliat (2026), section 5",
        tuple(_panel(name, alpha, pulls) for name, alpha in ALPHAS.items() for pulls in (5000, 50_000)),
        ("PROSE", "OSE", UCB),
        (
            Claim("PROSE has the lowest simple regret.", (LowerRegret("PROSE", "OSE"), LowerRegret("PROSE", UCB))),
            Claim(
                "With as many pulls as arms, the simple regret of UCB is the largest.",
                (LowerRegret("OSE", UCB),),
                panels=frozenset(f"{name}-5000" for name in ALPHAS),
            ),
        ),
        runs=2000,
        notes=(f"UCB is {UCB}, of which all arms are in the scope. BSH, the fourth algorithm there, is left out.",),
    ),
)
"""The experiments, in order."""
