"""Learned agents, and how to train them."""

from bai_gym.wings import BINARY, Command, Entry, Wing

__all__ = ["WING"]

WING = Wing(
    groups={"learned": "Learned"},
    agents={
        "Learned": Entry(".learned.agent:Learned", own=True),
        "Universal": Entry(".learned.universal:Universal", own=True),
        "DPT": Entry(".learned.in_context:DPT", rewards=BINARY),
        "ICPE": Entry(".learned.in_context:ICPE", rewards=BINARY),
    },
    commands={
        "train": Command("bai_gym.cli.train:app", "Train an agent, then compare it with analytic ones."),
    },
)
