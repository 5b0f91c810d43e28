"""Requests of agents: blocks of pulls, or a rule that decides after every pull."""

from bai_gym.sampling.block import Block
from bai_gym.sampling.compiler import precompile
from bai_gym.sampling.dispatcher import Dispatcher
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import NEVER, STOP, TO_FIRST, WAIT, Episode, larger, section, total
from bai_gym.sampling.inlining import noinline
from bai_gym.sampling.late import late_plan, with_assumed
from bai_gym.sampling.plans import Plan, allocations, start
from bai_gym.sampling.requests import Request, check_money, check_priced_request, check_request
from bai_gym.sampling.sequential import Outcome, Rule, Sequential
from bai_gym.sampling.state import PerArm, State, States, Vector
from bai_gym.sampling.stepper import Stepper, batched
from bai_gym.sampling.ties import TieRule, check_tie_rule
from bai_gym.sampling.tournament import Tournament, is_shared, leader, leader_without, renew, top, value_of

__all__ = [
    "NEVER",
    "STOP",
    "TO_FIRST",
    "WAIT",
    "Block",
    "Dispatcher",
    "Engine",
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
    "Tournament",
    "Vector",
    "allocations",
    "batched",
    "check_money",
    "check_priced_request",
    "check_request",
    "check_tie_rule",
    "is_shared",
    "larger",
    "late_plan",
    "leader",
    "leader_without",
    "precompile",
    "noinline",
    "renew",
    "section",
    "start",
    "top",
    "total",
    "value_of",
    "with_assumed",
]
