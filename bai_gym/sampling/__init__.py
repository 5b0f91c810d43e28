"""Requests of agents: blocks of pulls, or a rule that decides after every pull."""

from bai_gym.sampling.block import Block
from bai_gym.sampling.compiler import prepare
from bai_gym.sampling.dispatcher import Dispatcher
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import NEVER, STOP, WAIT, Episode, larger, section, total
from bai_gym.sampling.plans import Plan, allocations, start
from bai_gym.sampling.rare import rare
from bai_gym.sampling.requests import Request, check_request
from bai_gym.sampling.sequential import Played, Rule, Sequential, columns
from bai_gym.sampling.stepper import Stepper, batched
from bai_gym.sampling.ties import TieRule, check_tie_rule
from bai_gym.sampling.tournament import Tournament, best_without, leader, leader_without, renew, top, value_of

__all__ = [
    "NEVER",
    "STOP",
    "WAIT",
    "Block",
    "Dispatcher",
    "Engine",
    "Episode",
    "Plan",
    "Played",
    "Request",
    "Rule",
    "Sequential",
    "Stepper",
    "TieRule",
    "Tournament",
    "allocations",
    "batched",
    "best_without",
    "check_request",
    "check_tie_rule",
    "columns",
    "larger",
    "leader",
    "leader_without",
    "prepare",
    "rare",
    "renew",
    "section",
    "start",
    "top",
    "total",
    "value_of",
]
