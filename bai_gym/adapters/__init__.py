"""Adapters, from plans to plans: each is the room of an ability that neither agents nor sources of rewards know of."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bai_gym.adapters.checkpoints import Checkpoints, checkpoints_of, pausing
from bai_gym.adapters.late import acting, delayed, late, stepper_of, with_assumed
from bai_gym.bandits import Bandit
from bai_gym.common.rounds import Rounds
from bai_gym.sampling import Start, start
from bai_gym.statistics import Observation

__all__ = [
    "Checkpoints",
    "acting",
    "adapted",
    "checkpoints_of",
    "delayed",
    "late",
    "pausing",
    "stepper_of",
    "with_assumed",
]


def adapted(
    agent: Any,
    bandit: Bandit,
    rounds: Rounds,
    checkpoints: Sequence[int],
    pause: Callable[[int, Observation, Any], None],
) -> Start:
    """Return the plan of an agent that has been reset, as blocks play it, which give all rewards at once.

    Args:
        agent: The agent; with ``uses_pairs = True`` it sees differences of paired arms.
        bandit: The instances.
        rounds: When rewards arrive.
        checkpoints: Pull counts, ascending and below the budget.
        pause: What is called at a checkpoint, see :func:`pausing`.
    """
    begin = late(partial(start, agent), rounds, bandit.rewards)
    begin = delayed(pausing(begin, checkpoints, pause), rounds)
    if not getattr(agent, "uses_pairs", False):
        return begin
    from bai_gym.paired.adapters import comparing  # of a wing

    return comparing(begin, bandit)
