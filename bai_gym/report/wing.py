"""The report page."""

from bai_gym.wings import Command, Wing

__all__ = ["WING"]

WING = Wing(
    commands={
        "report": Command("bai_gym.cli.report:report", "Turn folders of results into one web page."),
    },
)
