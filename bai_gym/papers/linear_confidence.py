"""Linear best-arm identification with fixed confidence: all agents on the instance of Soare, Lazaric and Munos (2014).

The set-up, d = 6, an angle of 0.1, four levels and 1,000 runs, is that of the public code of Wang, Tzeng and Proutiere
(2021). There, the agents stop by a heuristic threshold; here each has its proved one.
"""

from __future__ import annotations

from bai_gym.papers.levels import CAP, FIRST, at_level, level_panel
from bai_gym.papers.model import Below, Claim, Experiment, Fewer, Panel, Setting

__all__ = ["EXPERIMENTS"]

DELTAS = (0.1, 0.01, 0.001, 0.0001)
ENV = "BAI-FC-LinearSoare6-v0"

GAPE, TRACKING, FWS = at_level("LinGapE-GLR"), at_level("LinTrackAndStop"), at_level("LinFWS")
RAGE, STATIC, ORACLE = at_level("RAGE"), at_level("XY-static"), at_level("XY-oracle")
AGENTS = (GAPE, TRACKING, FWS, RAGE, STATIC, ORACLE)


def _level(delta: float) -> Panel:
    return level_panel(f"delta{delta}", f"delta = {delta}", Setting(ENV, CAP, CAP), delta, AGENTS)


PANELS = {delta: _level(delta) for delta in DELTAS}

EXPERIMENTS = (
    Experiment(
        "linear-fc-soare",
        "Linear arms, fixed confidence: six unit vectors and a close rival",
        "Soare, Lazaric and Munos (2014); Wang, Tzeng and Proutiere (2021), authors' code",
        tuple(PANELS.values()),
        tuple(agent(FIRST) for agent in AGENTS),
        (
            *(
                Claim(
                    f"Our hypothesis: no agent errs with probability {delta} or more.",
                    tuple(Below(agent(FIRST), delta) for agent in AGENTS),
                    panels=frozenset({panel.name}),
                )
                for delta, panel in PANELS.items()
            ),
            Claim(
                "RAGE takes fewer pulls on average than XY-static.",
                (Fewer(RAGE(FIRST), STATIC(FIRST)),),
            ),
            Claim(
                "LinTrackAndStop and LinFWS take fewer pulls on average than XY-static.",
                tuple(Fewer(agent(FIRST), STATIC(FIRST)) for agent in (TRACKING, FWS)),
            ),
            Claim(
                "Our hypothesis: LinGapE-GLR takes fewer pulls on average than every other agent that knows no means.",
                tuple(Fewer(GAPE(FIRST), agent(FIRST)) for agent in AGENTS[1:-1]),
            ),
        ),
        runs=1000,
        notes=(
            "T* is 222.25: no agent can take fewer than 222.25 log(1 / (2.4 delta)) pulls on average.",
            "Thresholds are those of this library, proved; the authors' agents stop by log((1 + log t) / delta).",
        ),
        claims_are="Claims of the paper, and hypotheses of this library",
    ),
)
"""The experiments, in order."""
