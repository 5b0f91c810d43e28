"""Few batches: sequential halving in rounds, and fixed confidence in three batches.

Koyamada, Nishimori and Ishii (2024), "A Batch Sequential Halving Algorithm without Performance Degradation": their
theorem on ten Bernoulli arms; instances and claims are ours. Jin, Yang, Tang, Xiao and Xu (2024), "Optimal Batched Best
Arm Identification": two instances of the authors' code (github.com/panxulab/Optimal-Batched-Best-Arm-Identification),
drawn there with seed 1, uniform in [0.2, 0.4] and normal between 0 and 0.4, except for the best arm; 1,000 runs.
"""

from __future__ import annotations

from bai_gym.papers.levels import CAP, FIRST, at_level, level_panel
from bai_gym.papers.model import Below, Claim, Close, Experiment, Fewer, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

HALVING = "SH-Reuse(rounding=equal)"
ADVANCE, BREADTH = "ASH(batch_size=10)", "BatchSH(batch_size=10)"
LARGE_ADVANCE, LARGE_BREADTH = "ASH(batch_size=100)", "BatchSH(batch_size=100)"
MARGIN = 0.015

DELTAS = (0.1, 0.01, 0.000001)
MEANS = {
    "uniform": (0.5, 0.3441, 0.2, 0.2605, 0.2294, 0.2185, 0.2373, 0.2691, 0.2794, 0.3078),
    "normal": (0.6, 0.0478, 0.2638, 0.1501, 0.0244, 0.2084, 0.1355, 0.1232, 0.3166, 0.3803),
}

TRACKING = at_level("TrackAndStop", "lazy=0.01")
TRI, TRI_RUNS = at_level("Tri-BBAI"), at_level("Tri-BBAI", "constants=paper-runs")
ON_MEANS = (TRACKING, TRI, TRI_RUNS)


def _name(family: str, delta: float) -> str:
    return f"{family}-delta{delta}".replace(".", "-")


def _level(family: str, delta: float) -> Panel:
    setting = Setting("BAI-FC-Custom-v0", CAP, CAP, {"means": MEANS[family], "distribution": "bernoulli"})
    return level_panel(_name(family, delta), f"{family} means, delta = {delta}", setting, delta, ON_MEANS)


def _at(delta: float, *families: str) -> frozenset[str]:
    return frozenset(_name(family, delta) for family in families or MEANS)


EXPERIMENTS = (
    Experiment(
        "ash-1",
        "Sequential halving in rounds of 10 and of 100 pulls",
        "Koyamada, Nishimori and Ishii (2024), theorem on ASH",
        (
            Panel(
                "",
                "10 Bernoulli arms, uniform means",
                tuple(Setting("BAI-Bernoulli10-v0", budget, budget) for budget in (200, 400, 800)),
            ),
        ),
        (HALVING, ADVANCE, BREADTH, LARGE_ADVANCE, LARGE_BREADTH),
        (
            Claim(
                "In 20 rounds and more, with which it is proved to recommend the same, ASH errs as often as sequential "
                "halving, up to 1.5 %.",
                (Close(ADVANCE, HALVING, MARGIN), Close(HALVING, ADVANCE, MARGIN)),
            ),
            Claim(
                "Our hypothesis: so does the breadth-first form, for which nothing is proved here.",
                (Close(BREADTH, HALVING, MARGIN), Close(HALVING, BREADTH, MARGIN)),
            ),
            Claim(
                "Our hypothesis: in 2 rounds both err more often than sequential halving.",
                (Lower(HALVING, LARGE_ADVANCE, (200.0,)), Lower(HALVING, LARGE_BREADTH, (200.0,))),
            ),
            Claim(
                "Our hypothesis: in 4 rounds and more, below the theorem's 16, both err as often, up to 1.5 %.",
                (
                    Close(LARGE_ADVANCE, HALVING, MARGIN, (400.0, 800.0)),
                    Close(LARGE_BREADTH, HALVING, MARGIN, (400.0, 800.0)),
                ),
            ),
        ),
        runs=20_000,
        notes=("That recommendations are the same on the same rewards is tested apart, and holds without exception.",),
        claims_are="Claims of the paper, and hypotheses of this library",
    ),
    Experiment(
        "bbai",
        "Ten Bernoulli arms with fixed confidence, in few batches",
        "Jin, Yang, Tang, Xiao and Xu (2024), instances of the authors' code",
        tuple(_level(family, delta) for family in MEANS for delta in DELTAS),
        tuple(agent(FIRST) for agent in ON_MEANS),
        (
            *(
                Claim(
                    f"With proved constants no agent errs with probability {delta} or more.",
                    tuple(Below(agent(FIRST), delta) for agent in (TRACKING, TRI)),
                    panels=_at(delta),
                )
                for delta in DELTAS[:2]
            ),
            *(
                Claim(
                    f"With the constants of the authors' runs Tri-BBAI errs with a probability below {delta}.",
                    (Below(TRI_RUNS(FIRST), delta),),
                    panels=_at(delta),
                )
                for delta in DELTAS[:2]
            ),
            Claim(
                "Few batches have a price: Track-and-Stop takes fewer pulls on average, as proved.",
                (Fewer(TRACKING(FIRST), TRI(FIRST)),),
            ),
        ),
        runs=1000,
        notes=(
            "The authors' runs have one instance of each family for all levels; these are they, to four digits.",
            "Track-and-Stop computes its proportions again when t has grown by 1 % (lazy=0.01).",
            "Opt-BBAI, the paper's other agent, is left out.",
        ),
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
