"""Paired pulls: arms that are played on the same items."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.paired.bandits.base import PairedBandit
    from bai_gym.paired.bandits.differences import PairStatistics
    from bai_gym.paired.bandits.finite import PairedFiniteBandit
    from bai_gym.paired.bandits.gaussian import PairedGaussianBandit
    from bai_gym.paired.cells import BestRow

__all__ = [
    "BestRow",
    "PairStatistics",
    "PairedBandit",
    "PairedFiniteBandit",
    "PairedGaussianBandit",
]

__getattr__, __dir__ = lazily(__name__)
