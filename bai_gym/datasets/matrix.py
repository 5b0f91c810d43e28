"""A matrix of scores, arms by items, in which cells may be missing.

Nothing is imputed: a missing cell is left out with its item or with its arm, or counts as 0 where it is a failure.
Which of the three is meant can decide which arm is best; :meth:`ScoreMatrix.notes` says when it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bai_gym.errors import DataError
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice

__all__ = ["MISSING", "ScoreMatrix"]

MISSING = {
    "items": "items that some arm has no score for are left out",
    "arms": "arms without a score for some item are left out",
    "zero": "a missing score counts as 0",
}
"""What can be done about missing cells."""

_TIE = 1e-12  # of means, relative to the largest score


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of M arms on Q items; every item is the same for all arms.

    Attributes:
        names: Name of each arm, M of them.
        scores: ``(M, Q)`` float64, NaN where a score is missing.
        rewards: The kind of the scores.
        prices: ``(M,)`` dollars for one item of each arm; None where they are not known.
    """

    names: tuple[str, ...]
    scores: FloatArray
    rewards: Rewards
    prices: FloatArray | None = None

    @property
    def missing(self) -> int:
        """The number of cells without a score."""
        return int(np.isnan(self.scores).sum())

    def complete(self, missing: str = "items") -> ScoreMatrix:
        """Return a matrix without missing cells.

        Args:
            missing: A key of :data:`MISSING`.

        Raises:
            ParameterError: Another value.
            DataError: Nothing is left, fewer than two arms are left, or 0 is not a possible score.
        """
        absent = np.isnan(self.scores)
        if choice(missing, MISSING, "missing") == "zero":
            filled = np.where(absent, 0.0, self.scores)
            refusal = self.rewards.refusal(filled.reshape(-1))
            if refusal is not None:
                raise DataError(f"missing='zero': {refusal}; use missing='items' or 'arms'")
            return replace(self, scores=filled)
        if missing == "items":
            kept = ~absent.any(axis=0)
            if not kept.any():
                raise DataError("missing='items': no item has a score of every arm; use missing='arms'")
            return replace(self, scores=self.scores[:, kept])
        arms = np.flatnonzero(~absent.any(axis=1))
        if len(arms) < 2:
            raise DataError(f"missing='arms': {len(arms)} arms have a score for every item; use missing='items'")
        prices = None if self.prices is None else self.prices[arms]
        return replace(self, names=tuple(self.names[arm] for arm in arms), scores=self.scores[arms], prices=prices)

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
        note = (
            f"{self.missing:,} of {arms * items:,} scores are missing; missing={missing!r}, {MISSING[missing]}: "
            f"{len(used.names)} of {arms} arms and {used.scores.shape[1]} of {items} items"
        )
        found = {mode: names for mode in MISSING if (names := self._best_of(mode))}
        if len(set(found.values())) == 1:
            return (note,)
        which = "; ".join(f"with {mode!r} {' or '.join(names)}" for mode, names in found.items())
        return note, f"the best arm depends on missing=: {which}"

    def _best_of(self, missing: str) -> tuple[str, ...]:
        """The best arms with missing cells treated so; none where that is impossible."""
        try:
            return self.complete(missing).best()
        except DataError:
            return ()
