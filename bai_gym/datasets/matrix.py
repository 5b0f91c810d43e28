"""A matrix of rewards, items times arms, for arms that are all played on the same items, and its missing cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bai_gym.datasets.table import ArmSamples
from bai_gym.errors import DataError
from bai_gym.validation import choice

__all__ = ["MISSING_CELLS", "RewardMatrix"]

MISSING_CELLS = ("items", "arms", "zero", "error")
_SHOWN = 3  # names in a note


@dataclass(frozen=True, eq=False)
class RewardMatrix:
    """The reward of every arm on every item.

    Attributes:
        names: Name of each arm, K of them.
        rewards: ``(n, K)``, NaN where it is missing.
        source: Name of the file, for messages.
    """

    names: tuple[str, ...]
    rewards: npt.NDArray[np.float64]
    source: str

    @classmethod
    def of(cls, samples: ArmSamples, source: str) -> RewardMatrix:
        """Arrange rewards that were read with their items.

        Raises:
            DataError: If an arm has two rewards on an item.
        """
        assert samples.items is not None
        arms = np.repeat(np.arange(samples.num_arms), samples.counts)
        often = np.bincount(samples.items * samples.num_arms + arms)
        if often.max() > 1:
            item, arm = divmod(int(often.argmax()), samples.num_arms)
            raise DataError(
                f"arm {samples.names[arm]!r} has {often.max()} rewards on one item of {source} (number {item + 1}, in "
                "order of first appearance); paired arms need one reward for each arm and item"
            )
        rewards = np.full((int(samples.items.max()) + 1, samples.num_arms), np.nan)
        rewards[samples.items, arms] = samples.rewards
        return cls(samples.names, rewards, source)

    def complete(self, missing: str) -> tuple[RewardMatrix, tuple[str, ...]]:
        """Return the matrix without missing cells, and notes that say what was done to them.

        Missing cells are never imputed, nor left out arm by arm: arms would then be compared on different items.

        Args:
            missing: ``"items"`` keeps the items that no arm misses, ``"arms"`` the arms that miss no item; ``"zero"``
                counts a missing reward as 0, right only where it is a failure; ``"error"`` rejects the file.

        Raises:
            ParameterError: Another mode.
            DataError: With ``"error"``, if a cell is missing; or if no item, or less than two arms, are left.
        """
        choice(missing, MISSING_CELLS, "missing")
        absent = np.isnan(self.rewards)
        if not absent.any():
            return self, ()
        count = int(absent.sum())
        if missing == "error":
            raise DataError(
                f"{self.source} has no reward for {count} of {absent.size} pairs of arm and item; missing='items' "
                "keeps the items that are complete, 'arms' the arms, 'zero' counts a missing reward as 0"
            )
        kept = self._kept(missing)
        if not len(kept.rewards) or len(kept.names) < 2:
            raise DataError(
                f"missing={missing!r} leaves {len(kept.rewards)} items and {len(kept.names)} arms of {self.source}, in "
                f"which {count} of {absent.size} rewards are missing; expected at least one item and two arms"
            )
        best = {mode: self._kept(mode)._best() for mode in MISSING_CELLS[:3]}
        note = (
            f"{count} of {absent.size} rewards are missing in {self.source}: missing={missing!r} keeps "
            f"{len(kept.rewards)} of {len(self.rewards)} items and {len(kept.names)} of {len(self.names)} arms; "
            f"the best arm is {best[missing]}"
        )
        others = "; ".join(f"{mode!r}: {names}" for mode, names in best.items() if mode != missing)
        if len({names.rpartition(" (")[0] for names in best.values()}) == 1:
            return kept, (f"{note} in all modes",)
        return kept, (note, f"warning: the best arm of {self.source} depends on missing=; {others}")

    def _kept(self, missing: str) -> RewardMatrix:
        absent, rewards, names = np.isnan(self.rewards), self.rewards, self.names
        if missing == "items":
            rewards = rewards[~absent.any(axis=1)]
        elif missing == "arms":
            complete = np.flatnonzero(~absent.any(axis=0))
            rewards, names = rewards[:, complete], tuple(names[arm] for arm in complete)
        else:
            rewards = np.where(absent, 0.0, rewards)
        return RewardMatrix(names, rewards, self.source)

    def _best(self) -> str:
        """Return the names of the arms of largest mean."""
        if not self.rewards.size:
            return "none"
        means = self.rewards.mean(axis=0)
        best = [name for name, mean in zip(self.names, means, strict=True) if mean >= means.max() - 1e-12]
        more = "" if len(best) <= _SHOWN else f" and {len(best) - _SHOWN} more"
        return " = ".join(best[:_SHOWN]) + more + f" ({means.max():.4f})"
