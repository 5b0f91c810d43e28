"""The report page, and the leaderboard."""

from bai_gym.wings import Command, Wing

__all__ = ["WING"]

WING = Wing(
    commands={
        "leaderboard": Command(
            "bai_gym.leaderboard.commands:app", "Check a submission to the leaderboard, or play all of them."
        ),
        "report": Command("bai_gym.page.commands:report", "Turn folders of results into one web page."),
    },
)
