"""Learned agents, and how to train them."""

from bai_gym.wings import Command, Entry, Wing

WING = Wing(
    groups={"training": "Learned"},
    agents={
        "Learned": Entry(".training.agent:Learned", own=True),
        "Universal": Entry(".training.universal:Universal", own=True),
    },
    commands={
        "train": Command("bai_gym.training.commands:app", "Train an agent, then compare it with analytic ones."),
    },
    hooks={
        "model_agent": "bai_gym.agents.training.sb3:SB3Agent",
        "progress": "bai_gym.agents.training.scaled:PROGRESS",
        "scaled": "bai_gym.agents.training.scaled:SCALED",
    },
)
