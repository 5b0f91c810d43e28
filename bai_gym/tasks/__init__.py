"""Tasks: the form of a recommendation, and when it is correct.

A recommendation is an array with the axis of episodes first: ``(N,)`` arms, ``(N, K)`` sets (1 for the arms in it, of
given size or any), ``(N, M)`` arms, one for each of M bandits, ``(N, 1)``, an arm or none, or ``(N,)`` candidates that
need not be arms. Every task has an accuracy epsilon: a recommendation is correct if its simple regret is at most
epsilon.
"""

from bai_gym.tasks.arm import BestArm
from bai_gym.tasks.base import Task
from bai_gym.tasks.contrasts import Contrasts
from bai_gym.tasks.each import BestOfEach
from bai_gym.tasks.good_arm import GoodArm
from bai_gym.tasks.naming import TASKS, make_task
from bai_gym.tasks.sets import AllWithin, ArmsAbove, Thresholding, TopM

__all__ = [
    "TASKS",
    "AllWithin",
    "ArmsAbove",
    "BestArm",
    "BestOfEach",
    "Contrasts",
    "GoodArm",
    "Task",
    "Thresholding",
    "TopM",
    "make_task",
]
