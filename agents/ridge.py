"""Ridge regression on the features of arms, one pull at a time, for N episodes: what linear bandits are played with."""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.ridge_forms import cheapest_form
from bai_gym.bandits.linear import check_features
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import Briefing
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Ridge", "longest", "noise_deviation", "shared_features"]

LARGEST_RATIO = 1e12  # of n L^2 to lam: beyond it, rounding errors would be seen
DRIFT = 1e-12  # relative errors of variances beyond which everything is computed afresh


class Ridge:
    """The regression theta = A^-1 sum y x, A = lam I + sum x x^T over the pulls, as seen from the arms.

    Args:
        features: ``(N, K, d)``, or ``(1, K, d)`` for all episodes, see :func:`shared_features`.
        lam: Weight of the identity, positive.
        batch: N.
        separate: Whether each arm has a regression of its own, as if all arms were orthogonal.

    Attributes:
        scores: ``(N, K)`` estimates x^T theta.
        variances: ``(N, K)`` x^T A^-1 x.
        log_det: ``(N,)`` log det A - log det lam I.
        scale: ``(N,)`` the largest absolute score so far, from which errors of rounding follow.
    """

    def __init__(self, features: FloatArray, lam: float, batch: int, *, separate: bool = False) -> None:
        """Choose how to keep the matrices."""
        groups = np.arange(features.shape[1]) if separate else None
        self._form = cheapest_form(features, lam, batch, groups)
        self._rows = np.arange(batch)

    def start(self, window: Statistics) -> None:
        """Take in the pulls of the past.

        Args:
            window: ``(K, N)`` statistics; a reference is kept, and read when everything is computed afresh.
        """
        arms, batch = window.pulls.shape
        self._window = window
        self._made = int(window.pulls[:, 0].sum())
        self._sums = window.sums.reshape(-1)
        # One column more, for an arm that does not exist.
        self._tables = np.zeros((2, batch, arms + 1))
        self.scores: FloatArray = self._tables[0, :, :-1]
        self.variances: FloatArray = self._tables[1, :, :-1]
        self.scale: FloatArray = np.zeros(batch)
        self._work = np.empty((batch, arms))
        self._fit()

    def _fit(self) -> None:
        sums = self._sums.reshape(self._window.pulls.shape).T
        self.scores[...], self.variances[...], self.log_det = self._form.fit(self._window.pulls.T, sums)
        self._note_scale()
        self._fitted = self._made
        self._due = max(2 * self._made, len(self._window.pulls))
        self._largest = self.variances.max(axis=1)

    def _note_scale(self) -> None:
        for best in (self.scores.argmax(axis=1), self.scores.argmin(axis=1)):
            np.maximum(self.scale, np.abs(self.scores[self._rows, best]), out=self.scale)

    def _has_drifted(self) -> bool:
        """Return whether errors of rounding could be seen: each pull adds one in proportion to A^-1 at the start."""
        error = np.finfo(np.float64).eps * math.sqrt(self._made - self._fitted) * self._largest
        return bool((error > DRIFT * self.variances.max(axis=1)).any())

    def covariances(self, arms: IntArray) -> FloatArray:
        """Return ``(N, K)`` x_a^T A^-1 x_k for one arm a of each episode and all arms k; free to be overwritten."""
        return self._form.covariances(arms)

    def add(self, flat: IntArray, pulls: FloatArray, means: FloatArray) -> None:
        """Take in one reward in each episode.

        Args:
            flat: ``(N,)`` positions ``arm * N + episode`` of the pulled arms.
            pulls: ``(N,)`` pulls of those arms after the reward.
            means: ``(N,)`` their means.
        """
        sums = pulls * means
        rewards = sums - self._sums[flat]
        self._sums[flat] = sums
        self._made += 1
        if self._made >= self._due:
            self._due = 2 * self._made
            if self._has_drifted():
                self._fit()
                return
        arms = flat // self._rows.size
        variance = self.variances[self._rows, arms]
        share = 1.0 / (1.0 + variance)
        step = (rewards - self.scores[self._rows, arms]) * share
        self.log_det += np.log1p(variance)
        where, row = self._form.add(arms)
        if where is None:
            np.multiply(row, row, out=self._work)
            self._work *= share[:, None]
            self.variances -= self._work
            np.maximum(self.variances, 0.0, out=self.variances)
            row *= step[:, None]
            self.scores += row
            self._note_scale()
        else:
            at = self._rows[:, None], where
            self._tables[1][at] = np.maximum(self._tables[1][at] - row * row * share[:, None], 0.0)
            scores = self._tables[0][at] + row * step[:, None]
            self._tables[0][at] = scores
            np.maximum(self.scale, np.abs(scores).max(axis=1), out=self.scale)


def shared_features(briefing: Briefing, lam: float, agent: str) -> FloatArray:
    """Return ``(1, K, d)`` features where all episodes have the same ones, else ``(N, K, d)``, checked.

    Args:
        briefing: Of arms that have features.
        lam: Weight of the identity in the regression.
        agent: Whose parameter lam is, for errors.

    Raises:
        InstanceError: If features are not finite numbers, or too large.
        ParameterError: If lam is too small for numbers of 16 digits.
    """
    features = briefing.features
    assert features is not None  # the agent needs them, and says so
    same = features.strides[0] == 0 or bool((features == features[:1]).all())
    found = check_features(features[:1] if same else features)
    length, budget = float(longest(found).max()), briefing.budget
    if not math.isfinite(budget * length * length):
        raise InstanceError(f"{agent} cannot use features as large as these: divide them by a number")
    least = budget * length**2 / LARGEST_RATIO
    if lam < least:
        raise ParameterError(
            f"lam of {agent} is {lam:g}, too small for {budget} pulls of arms of length {length:g}: "
            f"give at least {1.01 * least:.3g}"
        )
    return found


def longest(features: FloatArray) -> FloatArray:
    """Return ``(N,)`` the length of the longest arm, from ``(N, K, d)`` features."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(np.einsum("nkd,nkd->nk", features, features).max(axis=1)))


def noise_deviation(sigma: float | None, briefing: Briefing) -> FloatArray:
    """Return ``(N,)`` standard deviations of the noise: sigma, or the largest that the briefing tells."""
    if sigma is not None:
        return np.full(briefing.batch, float(sigma))
    return np.asarray(np.sqrt(briefing.variances.max(axis=1)))
