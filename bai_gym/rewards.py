"""The kind of rewards: what everybody who runs the experiment knows about the values that a reward can take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import BoolArray, FloatArray
from bai_gym.validation import choice, real, reward

__all__ = ["BINARY", "COUNTS", "OTHER_KIND", "REAL", "UNIT", "Rewards"]

Kind = Literal["binary", "bounded", "counts", "real"]

ALLOWED = "'binary', 'bounded(low, high)', 'counts' or 'real'"
OTHER_KIND = "if it is right, give another kind, such as rewards='real'"


@dataclass(frozen=True)
class Rewards:
    """The kind of rewards of all arms.

    Attributes:
        kind: ``"binary"``: 0 and 1. ``"bounded"``: numbers from ``low`` to ``high``. ``"counts"``: whole numbers
            from 0. ``"real"``: any numbers.
        low: Smallest possible reward; -inf where there is none.
        high: Largest possible reward; inf where there is none.

    Raises:
        ParameterError: An unknown kind, or bounds that do not belong to it.
    """

    kind: Kind
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        """Check the kind, and set the bounds that follow from it."""
        choice(self.kind, get_args(Kind), "the kind of rewards")
        if self.kind == "bounded":
            low, high = real(self.low, "low of bounded rewards"), real(self.high, "high of bounded rewards")
            if not low < high:
                raise ParameterError(f"bounded rewards need low below high, not {low:g} and {high:g}")
            object.__setattr__(self, "low", low)
            object.__setattr__(self, "high", high)
            return
        if (self.low, self.high) not in ((-np.inf, np.inf), _BOUNDS[self.kind]):
            raise ParameterError(f"rewards of the kind {self.kind!r} have no other bounds: give 'bounded(low, high)'")
        for name, value in zip(("low", "high"), _BOUNDS[self.kind], strict=True):
            object.__setattr__(self, name, value)

    @override
    def __str__(self) -> str:
        """Return the text that :meth:`of` reads."""
        return f"bounded({self.low:.15g}, {self.high:.15g})" if self.kind == "bounded" else self.kind

    @property
    def words(self) -> str:
        """What a reward can be, in words: ``"0 or 1"``, ``"numbers from 1 to 5"``."""
        if self.kind == "bounded":
            return f"numbers from {self.low:.15g} to {self.high:.15g}"
        return {"binary": "0 or 1", "counts": "whole numbers from 0", "real": "real numbers"}[self.kind]

    @property
    def width(self) -> float:
        """``high - low``; infinite where rewards are not bounded."""
        return self.high - self.low

    @property
    def in_unit_interval(self) -> bool:
        """Whether all rewards are in [0, 1]."""
        return self.low >= 0.0 and self.high <= 1.0

    @classmethod
    def of(cls, given: object) -> Rewards:
        """Return the kind that a user names.

        Args:
            given: ``"binary"``, ``"bounded(0, 5)"``, ``"counts"`` or ``"real"``; or the object itself.

        Raises:
            ParameterError: If it is something else.
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            if given in _BOUNDS:
                return cls(given)  # type: ignore[arg-type]
            match = re.fullmatch(r"bounded\(\s*([^,\s]+)\s*,\s*([^,\s]+)\s*\)", given.strip())
            if match is not None:
                try:
                    return cls("bounded", float(match[1]), float(match[2]))
                except ValueError:
                    pass  # also bounds that are no numbers, or in the wrong order: the error below says what is allowed
        raise ParameterError(f"rewards must be {ALLOWED}, with low below high, not {given!r}")

    @classmethod
    def read(cls, rewards: FloatArray) -> Rewards:
        """Return the kind that data show: binary where all are 0 or 1, bounded(0, 1) if they are between, else real.

        Other bounds and counts cannot be read from data: a reward that has not occurred may still be possible.

        Args:
            rewards: ``(R,)`` rewards, at least one.
        """
        if ((rewards == 0.0) | (rewards == 1.0)).all():
            return BINARY
        return UNIT if rewards.min() >= 0.0 and rewards.max() <= 1.0 else REAL

    def contains(self, rewards: FloatArray) -> BoolArray:
        """Return which rewards are of this kind.

        Args:
            rewards: ``(R,)`` finite rewards.
        """
        if self.kind == "binary":
            return np.asarray((rewards == 0.0) | (rewards == 1.0))
        inside = (rewards >= self.low) & (rewards <= self.high)
        return np.asarray(inside & (rewards == np.rint(rewards)) if self.kind == "counts" else inside)

    def check(self, value: object, name: str) -> float:
        """Return a reward of this kind; True and False count as 1 and 0.

        Raises:
            ParameterError: If it is none.
        """
        number = reward(value, name)
        if refusal := self.refusal(np.array([number])):
            raise ParameterError(f"{name}: {refusal}")
        return number

    def refusal(self, rewards: FloatArray) -> str | None:
        """Return what is wrong with the first reward that is not of this kind, and the way out; None if all are.

        Args:
            rewards: ``(R,)`` finite rewards.
        """
        inside = self.contains(rewards)
        return None if inside.all() else f"a reward of {rewards[~inside][0]:.6g} is not {self}; {OTHER_KIND}"


_BOUNDS = {"binary": (0.0, 1.0), "counts": (0.0, np.inf), "real": (-np.inf, np.inf)}

BINARY = Rewards("binary")
COUNTS = Rewards("counts")
REAL = Rewards("real")
UNIT = Rewards("bounded", 0.0, 1.0)
