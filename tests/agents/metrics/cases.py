"""What the tests of all agents need to know of those for several metrics, see ``tests/agents/cases.py``."""

from bai_gym.metrics import ParetoSet

TASKS = [ParetoSet()]  # of one metric
