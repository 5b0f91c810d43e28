"""Real experiments: studies, and functions that the user has."""

from bai_gym.wings import Command, Registration, Wing

__all__ = ["WING"]

WING = Wing(
    families={
        "function": "bai_gym.live.problems:function_problem",
    },
    ids=(
        Registration(
            "BAI-Function-v0",
            "function",
            100,
            "your own functions: pull=, num_arms=, timeout=, on_error=; else four for demonstration; "
            "see bai_gym.live.identify",
            {"reward": "estimate"},
        ),
    ),
    commands={
        "decide": Command("bai_gym.live.commands.decide:decide", "Decide by a log that you have."),
        "study": Command("bai_gym.live.commands.study:study", "Show a running study."),
    },
)
