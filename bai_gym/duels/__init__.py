"""Duels: a pull compares two items, and the task is to find the item that wins."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.duels.bandits import DuelBandit
    from bai_gym.duels.live import Winner, identify_duels
    from bai_gym.duels.problems import BradleyTerry, battles_problem, duels_problem, verdicts_problem
    from bai_gym.duels.ranking import ranking
    from bai_gym.duels.tasks import Condorcet

__all__ = [
    "BradleyTerry",
    "Condorcet",
    "DuelBandit",
    "Winner",
    "battles_problem",
    "duels_problem",
    "identify_duels",
    "ranking",
    "verdicts_problem",
]

__getattr__, __dir__ = lazily(__name__)
