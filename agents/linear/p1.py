"""P1-RAGE and P1-Peace: designs of a virtual elimination, mixed with the G-optimal one, and no arm is ever dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear.inverse_propensity import MixedDesignAgent
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import integer

__all__ = ["P1Peace", "P1RAGE"]


@dataclass(kw_only=True)
class P1RAGE(MixedDesignAgent):
    """Half of the pulls by the G-optimal design, half by the average design of an elimination that is only imagined.

    With rho the least largest variance of a difference of two arms, over designs, there are E = ceil(log2 rho) epochs
    of floor(n / E) pulls. Each begins, after a first pull by the G-optimal design, with a virtual run of RAGE on the
    present estimates: round i takes the XY-design of the arms S that are left, and keeps those whose estimated gap is
    at most 2^-i. The pulls of the epoch are independent draws from the average of these designs, mixed in equal parts
    with the G-optimal one. Estimates are by inverse propensities over all pulls, so a parameter that changes with time
    does not bias them; the next virtual run starts from all arms.

    Gaps are compared with 2^-i, in the unit of the rewards: give them a scale on which the gaps that matter lie between
    2^-rounds and 1.

    Paper: Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
    Bandits with Robustness to Non-stationarity", P1-RAGE, in the form of its experiments, with a new design per epoch
    instead of one per pull.

    Args:
        rounds: Most rounds of a virtual elimination, default 15 as in the authors' code.
        iterations: Most steps for each design, see :func:`bai_gym.linear.designs.xy_optimal`; default 1000.

    Minimum budget: the larger of min(K, d) and 2 + ceil(log2 min(K, d)), which is at least E; below it, where that is
    allowed, there are at most n epochs.
    """

    rounds: int = 15

    name: ClassVar[str] = "P1-RAGE"

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        integer(self.rounds, f"rounds of {self.name}", least=1)

    @override
    def focused(self, rows: IntArray, theta: FloatArray) -> FloatArray:
        """Return the average design of a virtual run of RAGE."""
        values = (self.coordinates[rows] @ theta[..., None])[..., 0]
        left, sums, made = self.everything[rows], np.zeros(values.shape), np.zeros((len(rows), 1))
        for number in range(1, self.rounds + 1):
            several = np.flatnonzero(left.sum(axis=-1) > 1)
            if not several.size:
                break
            sums[several] += self.designs.find(rows[several], left[several])[0]
            made[several] += 1.0
            best = np.where(left, values, -np.inf).max(axis=-1, keepdims=True)
            left &= best - values <= 2.0**-number
        return sums / made


@dataclass(kw_only=True)
class P1Peace(MixedDesignAgent):
    """P1-RAGE with a virtual run of Peace in the place of RAGE: each round halves rho, the difficulty that is left.

    A round of the virtual elimination takes the XY-design of the arms S that are left, and keeps the longest sequence
    of them, best estimates first, whose rho is at most half, until one is left. It does not depend on the scale of the
    rewards. See :class:`P1RAGE` for the epochs and the estimates.

    Paper: Xiong, Camilleri, Fazel, Jain and Jamieson (2024), P1-Peace of its experiments.

    Args:
        iterations: Most steps for each design, see :func:`bai_gym.linear.designs.xy_optimal`; default 1000.

    Minimum budget: as that of P1-RAGE.
    """

    name: ClassVar[str] = "P1-Peace"

    @override
    def focused(self, rows: IntArray, theta: FloatArray) -> FloatArray:
        """Return the average design of a virtual run of Peace."""
        place = self.places(rows, theta, self.everything[rows])
        left, sums, made = self.everything[rows], np.zeros(place.shape), np.zeros((len(rows), 1))
        several = np.arange(len(rows))
        while several.size:
            weights, rho = self.designs.find(rows[several], left[several])
            sums[several] += weights
            made[several] += 1.0
            left[several] = self.designs.halved(rows[several], left[several], place[several], rho)
            several = several[(left[several].sum(axis=-1) > 1) & (rho > 0.0)]
        return sums / made
