"""The best arm whose guardrail holds: Lardy, Katsimerou and Koolen (2025), "Constrained Best Arm Identification".

Two of the instances of Figure 2, as read off by others, at delta = 0.01, with a threshold close to the paper's, log(1 /
delta) + log log t. The first claim is the order of the agents in Table 1; Track-and-Stop is by C-tracking there.
"""

from __future__ import annotations

from bai_gym.papers.levels import CAP, level_panel
from bai_gym.papers.model import Below, Claim, Experiment, Fewer, Setting
from bai_gym.wings import FIXED_CONFIDENCE

__all__ = ["EXPERIMENTS"]

ARMS = {"variances": [0.1, 0.09], "correlation": 0.527, **FIXED_CONFIDENCE}
EASY = {"means": [[0.6, 0.5], [0.2, 0.65], [0.19, 0.7], [0.1, 1.0], [0.05, 1.0]], "goals": ["max", "<= 0.75"]}
HARD = {"means": [[1.0, 0.95], [0.85, 0.8], [0.8, 0.75], [0.7, 0.6], [0.65, 0.5]], "goals": ["max", "<= 0.9"]}
INSTANCES = {"easy": EASY, "hard": HARD}
TOP_TWO, EB_TCI, T3C, D_TRACKING, TRACKING = (
    f"{name}(delta=0.01, family=gaussian, threshold=gk16{more})"
    for name, more in (
        ("TopTwo-TCI", ""),
        ("EB-TCI", ""),
        ("T3C", ""),
        ("TrackAndStop", ""),
        ("TrackAndStop", ", tracking=C"),
    )
)
AGENTS = TOP_TWO, TRACKING, D_TRACKING, EB_TCI, T3C

EXPERIMENTS = (
    Experiment(
        "constrained-1",
        "The best arm whose guardrail holds",
        "Lardy, Katsimerou and Koolen (2025), Table 1",
        tuple(
            level_panel(name, f"The {name} instance", Setting("BAI-CustomMetrics-v0", CAP, CAP, {**instance, **ARMS}))
            for name, instance in INSTANCES.items()
        ),
        AGENTS,
        (
            Claim("TopTwo-TCI takes fewer pulls on average than Track-and-Stop.", (Fewer(TOP_TWO, TRACKING),)),
            Claim(
                "Our hypothesis: D-tracking takes fewer pulls on average than C-tracking.",
                (Fewer(D_TRACKING, TRACKING),),
            ),
            Claim(
                "Our hypothesis: T3C takes fewer pulls on average than TopTwo-TCI.",
                (Fewer(T3C, TOP_TWO),),
            ),
            Claim(
                "Our hypothesis: no agent errs with probability 0.01 or more, although the threshold is a heuristic.",
                tuple(Below(agent, 0.01) for agent in AGENTS),
            ),
        ),
        runs=1000,
        notes=("Covariances are neither known nor estimated, variances are known; in the paper both are estimated.",),
        claims_are="Claims of the paper, and hypotheses of this library",
    ),
)
"""The experiments, in order."""
