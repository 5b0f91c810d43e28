"""Pulls of the user's own functions: timeouts, and what happens when one fails.

``functions`` calls them and reads what they return, ``callers`` says where they run (here, in a thread, or in a worker
process that can be killed, whose side of the talk is ``worker``), and ``puller`` has the error policy.
"""

from bai_gym.pulling.callers import PLACES
from bai_gym.pulling.functions import Functions
from bai_gym.pulling.puller import POLICIES, Outcome, Puller

__all__ = ["PLACES", "POLICIES", "Functions", "Outcome", "Puller"]
