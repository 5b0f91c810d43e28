"""A matrix of scores, arms by items, in which cells may be missing.

Nothing is imputed: a missing cell is left out with its item or with its arm, or counts as 0 where it is a failure.
Which of the three is meant can decide which arm is best; :meth:`ScoreMatrix.notes` says when it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bai_gym.data.table import ArmSamples
from bai_gym.errors import DataError
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice

__all__ = ["MISSING", "ScoreMatrix"]

MISSING = {
    "items": "items that some arm has no score for are left out",
    "arms": "arms without a score for some item are left out",
    "zero": "a missing score counts as 0",
    "error": "missing scores are refused",
}
"""What can be done about missing cells."""

_SHOWN = 3  # names of tied arms in a note
_TIE = 1e-12  # of means, relative to the largest score


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of M arms on Q items; every item is the same for all arms.

    Attributes:
        names: Name of each arm, M of them.
        scores: ``(M, Q)`` float64, NaN where a score is missing.
        rewards: The kind of the scores.
        prices: ``(M,)`` dollars for one item of each arm; None where they are not known.
        source: Where the scores come from, for messages.
    """

    names: tuple[str, ...]
    scores: FloatArray
    rewards: Rewards
    prices: FloatArray | None = None
    source: str = "the scores"

    @classmethod
    def of(cls, samples: ArmSamples, source: str, kind: Rewards | None = None) -> ScoreMatrix:
        """Arrange rewards that were read with their items.

        Args:
            samples: Rewards with items.
            source: Name of the file, for messages.
            kind: The kind of the rewards; None: that which they show, see :meth:`bai_gym.rewards.Rewards.read`.

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
        scores = np.full((samples.num_arms, int(samples.items.max()) + 1), np.nan)
        scores[arms, samples.items] = samples.rewards
        return cls(samples.names, scores, kind or Rewards.read(samples.rewards), source=source)

    @property
    def missing(self) -> int:
        """The number of cells without a score."""
        return int(np.isnan(self.scores).sum())

    def complete(self, missing: str = "items") -> ScoreMatrix:
        """Return a matrix without missing cells.

        Missing cells are never imputed, nor left out arm by arm: arms would then be compared on different items.

        Args:
            missing: A key of :data:`MISSING`.

        Raises:
            ParameterError: Another value.
            DataError: With ``"error"``, if a cell is missing; if no item or fewer than two arms are left; or if 0 is
                not a possible score.
        """
        choice(missing, MISSING, "missing")
        absent = np.isnan(self.scores)
        if not absent.any():
            return self
        if missing == "error":
            raise DataError(
                f"{self.source} has no reward for {absent.sum():,} of {absent.size:,} pairs of arm and item; "
                "missing='items' keeps the items that are complete, 'arms' the arms, 'zero' counts a missing one as 0"
            )
        if missing == "zero":
            filled = np.where(absent, 0.0, self.scores)
            refusal = self.rewards.refusal(filled.reshape(-1))
            if refusal is not None:
                raise DataError(f"missing='zero': {refusal}; use missing='items' or 'arms'")
            return replace(self, scores=filled)
        items, arms = np.arange(absent.shape[1]), np.arange(absent.shape[0])
        if missing == "items":
            items = np.flatnonzero(~absent.any(axis=0))
        else:
            arms = np.flatnonzero(~absent.any(axis=1))
        if not items.size or arms.size < 2:
            raise DataError(
                f"missing={missing!r} leaves {items.size} items and {arms.size} arms of {self.source}, in which "
                f"{absent.sum():,} of {absent.size:,} rewards are missing; expected at least one item and two arms"
            )
        prices = None if self.prices is None else self.prices[arms]
        names = tuple(self.names[arm] for arm in arms)
        return replace(self, names=names, scores=self.scores[np.ix_(arms, items)], prices=prices)

    def best(self) -> tuple[str, ...]:
        """Return the names of the arms with the largest mean of the scores that are there, ties included."""
        means = np.nanmean(self.scores, axis=1)
        return tuple(np.array(self.names)[means >= means.max() - _TIE * max(1.0, float(np.abs(means).max()))].tolist())

    def notes(self, missing: str = "items") -> tuple[str, ...]:
        """Return what every report must say about missing cells; nothing where none are missing.

        Args:
            missing: What is done about them, a key of :data:`MISSING`.
        """
        if not self.missing:
            return ()
        used, (arms, items) = self.complete(missing), self.scores.shape
        best = {mode: names for mode in MISSING if (names := self._best_of(mode))}
        note = (
            f"{self.missing:,} of {arms * items:,} scores of {self.source} are missing; missing={missing!r}, "
            f"{MISSING[missing]}: {len(used.names)} of {arms} arms and {used.scores.shape[1]} of {items} items"
        )
        if len(set(best.values())) == 1:
            return (f"{note}; the best arm is {_listed(best[missing])}, as with any other value of missing=",)
        which = "; ".join(f"with {mode!r} {_listed(names)}" for mode, names in best.items())
        return note, f"warning: the best arm of {self.source} depends on missing=: {which}"

    def _best_of(self, missing: str) -> tuple[str, ...]:
        """The best arms with missing cells treated so; none where that is impossible."""
        try:
            return self.complete(missing).best()
        except DataError:
            return ()


def _listed(names: tuple[str, ...]) -> str:
    """Return the names of tied arms, many of them cut short."""
    more = "" if len(names) <= _SHOWN else f" or {len(names) - _SHOWN} more"
    return " or ".join(names[:_SHOWN]) + more
