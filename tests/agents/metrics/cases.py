"""What the tests of all agents need to know of those for several metrics, see ``tests/agents/cases.py``."""

from typing import Any

from bai_gym.metrics import Feasible, ParetoSet

TASKS = [ParetoSet(), Feasible()]  # of one metric
BERNOULLI, STUDENT = {"family": "bernoulli"}, {"family": "student"}
FAMILIES: list[Any] = [BERNOULLI, BERNOULLI, {"family": "gaussian", "sigma": 5.0}, STUDENT, STUDENT]
CHOICES = [
    (["BFAI-TS"], [{"posterior": word} for word in ("bernoulli", *["student"] * 4)]),
    (["TopTwo-TCI"], FAMILIES),
]
