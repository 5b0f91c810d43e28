"""The leaderboard, and agents in processes of their own."""

from bai_gym.wings import Command, Wing

WING = Wing(
    commands={
        "leaderboard": Command(
            "bai_gym.leaderboard.commands:app", "Check a submission to the leaderboard, or play all of them."
        ),
    },
    needs=("page",),
)
