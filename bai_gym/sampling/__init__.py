"""How an agent asks for pulls: whole blocks of counts, or a sampling rule that chooses one pull after another."""

from bai_gym.sampling.argmax import ArgmaxTable, TieRule, check_tie_rule
from bai_gym.sampling.block import Block
from bai_gym.sampling.requests import Request, check_request
from bai_gym.sampling.rule import IndexRule, SamplingRule, StoppingRule
from bai_gym.sampling.stages import StagedIndexRule
from bai_gym.sampling.stepper import Allocator, Stepper, batched

__all__ = [
    "Allocator",
    "ArgmaxTable",
    "Block",
    "IndexRule",
    "Request",
    "SamplingRule",
    "StagedIndexRule",
    "Stepper",
    "StoppingRule",
    "TieRule",
    "batched",
    "check_request",
    "check_tie_rule",
]
