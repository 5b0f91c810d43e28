"""What the tests of all agents need to know of those for several metrics, see ``tests/agents/cases.py``."""

from bai_gym.metrics import Feasible, ParetoSet

TASKS = [ParetoSet(), Feasible()]  # of one metric
CHOICES = [(["BFAI-TS"], [{"posterior": word} for word in ("bernoulli", *["student"] * 4)])]
