"""Learned agents, and how to train them."""

from bai_gym.wings import BINARY, Command, Entry, Wing

__all__ = ["WING"]

WING = Wing(
    groups={"learned": "Learned"},
    agents={
        "Learned": Entry(".training.agent:Learned", own=True),
        "Universal": Entry(".training.universal:Universal", own=True),
        "DPT": Entry(".training.in_context:DPT", rewards=BINARY),
        "ICPE": Entry(".training.in_context:ICPE", rewards=BINARY),
    },
    commands={
        "train": Command("bai_gym.training.commands:app", "Train an agent, then compare it with analytic ones."),
    },
)
