"""Several metrics: a pull of an arm gives D numbers; guardrails and Pareto sets."""

from bai_gym.wings import Entry, Registration, Wing

WING = Wing(
    families={
        "metrics": "bai_gym.metrics.problems:metrics_problem",
        "metrics-table": "bai_gym.metrics.problems:table_problem",
    },
    ids=(
        Registration(
            "BAI-Guardrails-v0",
            "metrics",
            2000,
            "the best of four Gaussian arms in one metric, of those whose two guardrails hold; correlation=0.5",
            {
                "means": ((0.5, 0.6, 0.3), (0.9, 0.5, 0.2), (1.2, 0.4, -0.4), (1.0, -0.5, 0.3)),
                "correlation": 0.5,
                "goals": ("max", ">= 0", ">= 0"),
            },
        ),
        Registration(
            "BAI-Pareto-v0",
            "metrics",
            2000,
            "the arms that no other dominates, of six Gaussian arms with two metrics; correlation=0.5",
            {
                "means": ((0.0, 1.0), (0.5, 0.9), (0.8, 0.6), (1.0, 0.0), (0.2, 0.6), (0.6, -0.2)),
                "correlation": 0.5,
            },
        ),
        Registration(
            "BAI-CustomMetrics-v0",
            "metrics",
            2000,
            "your own arms with several metrics: means= of shape (K, D), and goals=; else a demonstration",
            {"means": ((1.0, 1.0), (0.8, 1.6), (0.6, 1.2))},
        ),
        Registration(
            "BAI-MetricsTable-v0",
            "metrics-table",
            2000,
            "your own log with several metrics: path=, arm_column=, goals=; else a synthetic one",
        ),
    ),
    groups={"metrics": "Several metrics"},
    agents={
        "EGE-SR": Entry(".metrics.ege:EGESR", spends_budget=False),
        "EGE-SH": Entry(".metrics.ege:EGESH", spends_budget=False),
        "BFAI-TS": Entry(".metrics.bfai_ts:BFAITS"),
        "TopTwo-TCI": Entry(".metrics.top_two_tci:TopTwoTCI"),
        "APE": Entry(".metrics.ape:APE"),
        "PSI-Elimination": Entry(".metrics.ape:PSIElimination"),
    },
    tasks={"feasible": "bai_gym.metrics.tasks:Feasible", "pareto": "bai_gym.metrics.tasks:ParetoSet"},
    hooks={
        "metrics": "bai_gym.metrics.adapters:in_cells",
        "measured": "bai_gym.metrics.envs:WRAPPERS",
        "guardrails": "bai_gym.metrics.guardrails:Guardrails",
    },
    needs=("live",),
)
