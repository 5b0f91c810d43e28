"""RAGE and its rivals with fixed confidence: three experiments of Fiez, Jain, Jamieson and Ratliff (2019).

The paper is "Sequential Experimental Design for Transductive Linear Bandits". Instances and delta = 0.05 are those of
the authors' code (github.com/fiezt/Transductive-Linear-Bandit-Code), with fewer arms or dimensions and more runs.
"""

from __future__ import annotations

from typing import Any

from bai_gym.papers.model import Below, Claim, Experiment, Fewer, Panel, Setting

__all__ = ["EXPERIMENTS"]

PAPER = "Fiez, Jain, Jamieson and Ratliff (2019)"
DELTA, CAP = 0.05, 10_000_000
IDS = "BAI-FC-Linear"
RAGE, STATIC, ORACLE, GAPE = (f"{name}(delta={DELTA})" for name in ("RAGE", "XY-static", "XY-oracle", "LinGapE-GLR"))
NOTES = (
    "The paper repeats each experiment 20 times, with more arms or dimensions.",
    "XY-oracle is given the means; it is the reference of the paper, not a rival.",
)


def _panel(name: str, title: str, env: str, **keywords: Any) -> Panel:
    return Panel(name, title, (Setting(env, CAP, CAP, keywords),), picture="stopping")


def _experiment(name: str, title: str, which: str, panels: tuple[Panel, ...], *others: str, runs: int) -> Experiment:
    agents = (RAGE, STATIC, ORACLE, *others)
    return Experiment(
        f"linear-fc-{name}",
        title,
        f"{PAPER}, {which}",
        panels,
        agents,
        (
            Claim("RAGE takes fewer pulls on average than XY-static.", (Fewer(RAGE, STATIC),)),
            Claim("Our hypothesis: RAGE takes more pulls on average than XY-oracle.", (Fewer(ORACLE, RAGE),)),
            *(
                Claim(
                    f"Our hypothesis: {other.partition('(')[0]} takes fewer pulls on average than RAGE.",
                    (Fewer(other, RAGE),),
                )
                for other in others
            ),
            Claim(
                f"Our hypothesis: no agent errs with probability {DELTA} or more.",
                tuple(Below(agent, DELTA) for agent in agents),
            ),
        ),
        runs=runs,
        notes=NOTES,
        claims_are="Claims of the paper, and hypotheses of this library",
    )


EXPERIMENTS = (
    _experiment(
        "sphere",
        "Linear arms, fixed confidence: random arms on the unit sphere",
        "experiment with arms on the unit sphere",
        tuple(
            _panel(f"k{k}", f"{k} arms, d = 9", f"{IDS}SphereClosest-v0", num_arms=k, num_features=9, alpha=0.0)
            for k in (50, 250)
        ),
        GAPE,
        runs=50,
    ),
    _experiment(
        "transductive",
        "Linear arms, fixed confidence: candidates that are no arms",
        "transductive example",
        tuple(
            _panel(f"d{d}", f"{2 * d} arms, d = {d}", f"{IDS}Transductive20-v0", num_features=d) for d in (5, 10, 20)
        ),
        runs=100,
    ),
    _experiment(
        "manyarms",
        "Linear arms, fixed confidence: many arms in the plane",
        "experiment with many arms",
        tuple(_panel(f"k{k}", f"{k:,} arms, d = 2", f"{IDS}ManyArms-v0", num_arms=k) for k in (100, 1000)),
        GAPE,
        runs=50,
    ),
)
"""The experiments, in order."""
