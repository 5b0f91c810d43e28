"""Completion of names in the shell; ``bai-gym --install-completion`` sets it up."""

from __future__ import annotations

from collections.abc import Callable

from bai_gym.cli.catalogue import catalogue
from bai_gym.envs.registration import IDS

__all__ = ["AGENTS", "ENVIRONMENTS", "EXPERIMENTS", "RULES"]


def _completer(names: Callable[[], list[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


AGENTS = _completer(lambda: [row["name"] for row in catalogue()["agents"]])
ENVIRONMENTS = _completer(lambda: [entry.id for entry in IDS])
RULES = _completer(
    lambda: [row["name"] for row in (*catalogue()["rules"], *catalogue()["agents"]) if row.get("stops", True)]
)
EXPERIMENTS = _completer(lambda: [row["id"] for row in catalogue()["experiments"]])
