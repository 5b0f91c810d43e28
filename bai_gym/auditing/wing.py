"""The auditor of stopping rules."""

from bai_gym.wings import Command, Wing

__all__ = ["WING"]

WING = Wing(
    commands={
        "audit": Command("bai_gym.auditing.commands.audit:audit", "Test what a stopping rule promises."),
    },
)
