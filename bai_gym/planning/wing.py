"""Planning: the budget of an experiment, the agent, and what a pilot leaves possible."""

from bai_gym.wings import Command, Registration, Wing

__all__ = ["WING"]

WING = Wing(
    families={
        "pilot": "bai_gym.planning.problems:pilot_problem",
    },
    ids=(
        Registration(
            "BAI-Pilot-v0",
            "pilot",
            1000,
            "the means that your pilot leaves possible: path=, arm_column=, reward_column=; else a synthetic A/B test",
            rewards="binary",
        ),
    ),
    commands={
        "plan": Command("bai_gym.planning.commands:plan", "Plan the budget of an experiment."),
        "advise": Command("bai_gym.planning.commands:advise", "Advise which agent to use."),
    },
)
