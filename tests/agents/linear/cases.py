"""What the tests of all agents need to know of those with features, see ``tests/agents/cases.py``."""

from __future__ import annotations

from typing import Any

# LinUCB has to be told how large means may be: of arms far beyond that it stays with the first that it pulls.
NEEDED: dict[str, dict[str, Any]] = {"LinUCB": {"S": 60.0}}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("GSE-Log", {"link": "identity"}),
    ("UCB-GLM", {"link": "identity"}),
    ("UCB-GLM", {"link": "identity", "alpha": 3.0, "penalty": 1.0, "newton_steps": 1}),
    ("LinUCB", {"S": 60.0, "model": "disjoint"}),
    ("LinGapE", {"radius": "determinant"}),
]

UCB = ["LinUCB", "LinGapE", "LinGapE-Greedy"]
CONFIDENCE = ["LinGapE-GLR", "LinTrackAndStop", "LinFWS"]
ROUNDS = ["RAGE", "XY-static", "XY-oracle"]
REFUSED: list[tuple[list[str], str, list[Any]]] = [
    (["UCB-GLM"], "penalty", [0.0]),
]
CHOICES = [([*UCB, *CONFIDENCE, *ROUNDS], [{"sigma": sigma} for sigma in (0.5, 0.5, 5.0, "oracle", "oracle")])]
