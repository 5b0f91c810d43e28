"""The web page of results."""

from bai_gym.wings import Command, Wing

WING = Wing(
    commands={
        "report": Command("bai_gym.page.commands:report", "Turn folders of results into one web page."),
    },
)
