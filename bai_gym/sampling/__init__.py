"""Requests of agents: blocks of pulls, or a rule that decides after every pull."""

from typing import TYPE_CHECKING

from bai_gym.lazy import lazily
from bai_gym.sampling.block import Block
from bai_gym.sampling.checkpoints import pausing
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import NEVER, STOP, TO_FIRST, WAIT, Episode, total
from bai_gym.sampling.index import (
    Index,
    arm_of_largest_index,
    larger,
    second_of_largest_index,
    set_index,
)
from bai_gym.sampling.late import late, pulls_made, with_assumed
from bai_gym.sampling.plans import Current, Plan, Start, allocations, execute, result_of, start
from bai_gym.sampling.requests import Part, Request, check_request, engine_of, singly
from bai_gym.sampling.sequential import Outcome, Rule, Sequential
from bai_gym.sampling.state import PerArm, State, States, Vector
from bai_gym.sampling.stepper import Stepper, batched
from bai_gym.sampling.ties import TieRule, check_tie_rule

if TYPE_CHECKING:
    from bai_gym.sampling.dispatcher import Dispatcher

__all__ = [
    "NEVER",
    "STOP",
    "TO_FIRST",
    "WAIT",
    "Block",
    "Current",
    "Dispatcher",
    "Engine",
    "Index",
    "Episode",
    "Plan",
    "Outcome",
    "Part",
    "PerArm",
    "Request",
    "Rule",
    "Sequential",
    "Start",
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
    "engine_of",
    "execute",
    "larger",
    "late",
    "pausing",
    "pulls_made",
    "result_of",
    "second_of_largest_index",
    "set_index",
    "singly",
    "start",
    "total",
    "with_assumed",
]

__getattr__, __dir__ = lazily(__name__)
