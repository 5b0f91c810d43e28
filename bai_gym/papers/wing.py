"""Figures of papers, and of this library."""

from bai_gym.wings import Command, Wing

__all__ = ["WING"]

WING = Wing(
    commands={
        "reproduce": Command("bai_gym.papers.commands:reproduce", "Repeat a figure of a paper, and judge its claims."),
    },
)
