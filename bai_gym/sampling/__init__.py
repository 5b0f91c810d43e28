"""Requests of agents: blocks of pulls, or a rule that decides after every pull."""

from bai_gym.sampling.block import Block
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import NEVER, STOP, TO_FIRST, WAIT, Episode, total
from bai_gym.sampling.index import (
    Index,
    arm_of_largest_index,
    larger,
    second_of_largest_index,
    set_index,
)
from bai_gym.sampling.plans import Current, Plan, Start, allocations, execute, run, start
from bai_gym.sampling.requests import Part, Request, check_request, checked, engine_of, singly
from bai_gym.sampling.sequential import Outcome, Rule, Sequential
from bai_gym.sampling.state import PerArm, Scratch, State, States, Values, Vector
from bai_gym.sampling.stepper import Stepper, batched, pulls_made
from bai_gym.sampling.ties import TieRule

__all__ = [
    "NEVER",
    "STOP",
    "TO_FIRST",
    "WAIT",
    "Block",
    "Current",
    "Engine",
    "Index",
    "Episode",
    "Plan",
    "Outcome",
    "Part",
    "PerArm",
    "Request",
    "Rule",
    "Scratch",
    "Sequential",
    "Start",
    "State",
    "States",
    "Stepper",
    "TieRule",
    "Values",
    "Vector",
    "allocations",
    "arm_of_largest_index",
    "batched",
    "check_request",
    "checked",
    "engine_of",
    "execute",
    "larger",
    "pulls_made",
    "run",
    "second_of_largest_index",
    "set_index",
    "singly",
    "start",
    "total",
]
