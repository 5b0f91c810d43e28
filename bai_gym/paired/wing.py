"""Paired pulls: arms that are played on the same items."""

from bai_gym.wings import Entry, Registration, Wing

WING = Wing(
    ids=(
        Registration(
            "BAI-PairedCustom-v0",
            "custom",
            1000,
            "your own arms, played on the same items: means=[...] with correlation= or covariance=; "
            "else a demonstration",
            {"paired": True},
        ),
        Registration(
            "BAI-PairedGaussian10-v0",
            "custom",
            480,
            "ten Gaussian arms played on the same items, one better by 0.3 than nine equal ones, correlation=0.5",
            {"means": (0.3, *(0.0,) * 9), "correlation": 0.5, "paired": True},
        ),
        Registration(
            "BAI-PairedLLMSelection-v0",
            "llm-selection",
            400,
            "your own matrix of scores, all models asked the same questions in the same order; else 8 synthetic models",
            {"paired": True},
            rewards="binary",
        ),
        Registration(
            "BAI-PairedLLMSelectionLike32-v0",
            "llm-selection-like",
            3200,
            "32 synthetic language models, all asked the same questions in the same order; needs no data",
            {"num_arms": 32, "paired": True},
            rewards="binary",
        ),
    ),
    groups={"paired": "Paired pulls"},
    agents={
        "PairedOCBA": Entry(".paired.ocba:PairedOCBA", own=True),
        "PairedSR": Entry(".paired.rejects:PairedSR", spends_budget=False, own=True),
        "PairedRace": Entry(".paired.race:PairedRace", own=True),
        "UCB-E-LRF": Entry(".paired.low_rank:UCBELRF", spends_budget=False),
    },
    hooks={
        "compared": "bai_gym.paired.adapters:comparing",
        "differences": "bai_gym.paired.envs:WRAPPERS",
        "paired_arms": "bai_gym.paired.bandits.gaussian:PairedGaussianBandit",
        "paired_problem": "bai_gym.paired.problems:paired_problem",
    },
)
