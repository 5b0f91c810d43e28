"""Requests of agents: blocks of pulls, or a rule that decides after every pull."""

from bai_gym.sampling.block import Block
from bai_gym.sampling.dispatcher import Dispatcher
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import NEVER, STOP, TO_FIRST, WAIT, Episode, larger, total
from bai_gym.sampling.index import (
    Index,
    arm_of_largest_index,
    second_of_largest_index,
    set_index,
)
from bai_gym.sampling.late import late_plan, with_assumed
from bai_gym.sampling.plans import Plan, allocations, start
from bai_gym.sampling.requests import Request, check_request
from bai_gym.sampling.sequential import Outcome, Rule, Sequential
from bai_gym.sampling.state import PerArm, State, States, Vector
from bai_gym.sampling.stepper import Stepper, batched
from bai_gym.sampling.ties import TieRule, check_tie_rule

__all__ = [
    "NEVER",
    "STOP",
    "TO_FIRST",
    "WAIT",
    "Block",
    "Dispatcher",
    "Engine",
    "Index",
    "Episode",
    "Plan",
    "Outcome",
    "PerArm",
    "Request",
    "Rule",
    "Sequential",
    "State",
    "States",
    "Stepper",
    "TieRule",
    "Vector",
    "allocations",
    "arm_of_largest_index",
    "batched",
    "check_request",
    "check_tie_rule",
    "larger",
    "late_plan",
    "second_of_largest_index",
    "set_index",
    "start",
    "total",
    "with_assumed",
]
