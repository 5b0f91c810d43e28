"""What the tests of all agents need to know of learned ones, see ``tests/agents/cases.py``."""

from __future__ import annotations

from typing import Any

from bai_gym.bandits import Bandit

NEEDED: dict[str, dict[str, Any]] = {}
VARIANTS: list[tuple[str, dict[str, Any]]] = []
REFUSED: list[tuple[list[str], str, list[Any]]] = []
EXCLUDED: list[tuple[str, dict[str, Any]]] = []
CHOICES = [(["Learned"], [{"env": f"BAI-{env}-v0"} for env in ("Bernoulli10", *["Gaussian8"] * 4)])]


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """Return the arms as they are."""
    return bandit
