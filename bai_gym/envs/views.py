"""What wrappers change about observations, set by keywords: late rewards, differences of pairs, scaled vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from bai_gym.common.budget import Costs
from bai_gym.common.rounds import AT_ONCE, Rounds
from bai_gym.errors import ParameterError
from bai_gym.problems import Problem
from bai_gym.validation import choice, flag, integer

__all__ = ["View"]

OBSERVATIONS = ("statistics", "scaled")


@dataclass(frozen=True, kw_only=True)
class View:
    """What wrappers change about the observations of an episode; by default nothing.

    Attributes:
        pairs: Whether differences of paired arms are observed.
        rounds: When the rewards of pulls arrive, see :class:`bai_gym.envs.late.LateRewards`.
        progress: Whether every step is rewarded.
        observation: ``"statistics"``, or ``"scaled"``: a flat vector of bounded numbers.
    """

    pairs: bool = False
    rounds: Rounds = AT_ONCE
    observation: str = "statistics"
    progress: bool = False

    @staticmethod
    def checked(
        problem: Problem, costs: Costs | None, *, pairs: bool, batch_size: int, delay: int, observation: str
    ) -> dict[str, Any]:
        """Return the fields, of the keywords that are described at :meth:`bai_gym.envs.specification.EpisodeSpec.of`.

        Raises:
            ParameterError: If one is invalid, or does not go with the problem, with costs or with another.
        """
        rounds = Rounds(integer(batch_size, "batch_size", least=1), integer(delay, "delay", least=0))
        if rounds.late and costs is not None:
            raise ParameterError(
                "costs need batch_size=1 and delay=0: a round is a number of pulls, and with costs the budget is money"
            )
        if flag(pairs, "pairs") and not problem.paired:
            raise ParameterError(
                "pairs=True observes differences of arms on common items, and arms are not paired here: give "
                "paired=True, where the environment has it, or leave pairs out"
            )
        if pairs and rounds.late:
            raise ParameterError("pairs=True observes differences after every pull: leave out batch_size and delay")
        choice(observation, OBSERVATIONS, "observation")
        return {"pairs": pairs, "rounds": rounds, "observation": observation}

    def check_plain(self) -> None:
        """Raise :class:`ParameterError` if it needs a wrapper."""
        if self.pairs or self.rounds.late or self.progress or self.observation != OBSERVATIONS[0]:
            raise ParameterError(
                "pairs, batch_size, delay, observation and reward='progress' are for wrappers: use gym.make, or "
                "bai_gym.envs.wrappers.make_env"
            )

    def seen_by(self, agent: Any) -> Self:
        """Return the same with what an agent observes: statistics, with differences if it has ``uses_pairs = True``."""
        pairs = bool(getattr(agent, "uses_pairs", False))
        return replace(self, pairs=pairs, observation=OBSERVATIONS[0], progress=False)
