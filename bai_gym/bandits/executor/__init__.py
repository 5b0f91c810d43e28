"""Pulls of the user's own functions: timeouts, and what happens when one fails.

``functions`` calls them and reads what they return, ``callers`` says where they run (here, in a thread, or in a worker
process that can be killed, whose side of the talk is ``worker``), and ``executor`` has the error policy.
"""

from bai_gym.bandits.executor.callbacks import PLACES
from bai_gym.bandits.executor.executor import POLICIES, Executor, Outcome
from bai_gym.bandits.executor.functions import Functions

__all__ = ["PLACES", "POLICIES", "Functions", "Outcome", "Executor"]
