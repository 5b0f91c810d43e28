"""The auditor of stopping rules."""

from bai_gym.wings import Command, Wing

WING = Wing(
    commands={
        "audit": Command("bai_gym.auditing.commands.audit:audit", "Test what a stopping rule promises."),
    },
    catalogue="bai_gym.auditing.gallery:rows",
    hooks={"reproduce_audits": "bai_gym.auditing.commands.audits:reproduce_audits"},
    needs=("paired",),
)
