"""User functions behind one interface, and checks of the numbers they return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.common.seeding import generator
from bai_gym.errors import ParameterError
from bai_gym.rewards import REAL
from bai_gym.validation import LARGEST, integer, real

__all__ = ["FailedPullError", "Functions", "Outcome", "PullFunctions", "Stream", "one_line"]

PullFunctions = Callable[..., Any] | Sequence[Callable[..., Any]]
"""A function of the arm, or one for each arm."""
Stream = tuple[int | str, ...]
"""A seed and the address of a random stream under it, see :func:`bai_gym.common.seeding.generator`."""

_SHOWN = 200  # characters of a message


class FailedPullError(Exception):
    """A pull without a reward or an exception: no number, a timeout, or a dead process."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a pull.

    Attributes:
        reward: A number of the kind of rewards; with guardrails, numbers by name.
        error: Reason why the reward is not an observed value; None for an observed reward.
        cost: What the pull has cost, if the function has said so; else None.
    """

    reward: Any
    error: str | None = None
    cost: float | None = None


class Functions:
    """One function of the arm, or one function for each arm.

    Functions with a parameter named ``rng`` receive a NumPy generator, so that simulations are reproducible.

    Args:
        pull: A callable that takes the arm (0 to K-1) and returns its reward, or a sequence of K callables that take
            nothing.
        num_arms: K, at least 2; None with a sequence: its length.
        arms: ``(K,)`` names that one function of the arm receives in the place of its number; None: the number.
        items: What the functions can be played on; they take one of these as a further argument. None: nothing.
        priced: Whether they may return a pair, the reward and what the pull has cost.
        rewards: The kind of what they return, or guardrails.

    Attributes:
        num_arms: K.
        takes_rng: Whether some function takes a generator.

    Raises:
        ParameterError: Neither form, or as many functions as there are no arms.
    """

    def __init__(
        self,
        pull: PullFunctions,
        num_arms: int | None = None,
        arms: Sequence[object] | None = None,
        items: Sequence[Any] | None = None,
        priced: bool = False,
        rewards: Any = REAL,
    ) -> None:
        """Determine the form."""
        several = isinstance(pull, Sequence | np.ndarray) and not isinstance(pull, str | bytes)
        functions: list[Any] = list(pull) if several else [pull]  # type: ignore[arg-type]
        wrong = [number for number, function in enumerate(functions) if not callable(function)]
        if wrong:
            entry = f"its entry {wrong[0]} is {one_line(repr(functions[wrong[0]]))}" if several else f"not {pull!r}"
            raise ParameterError(
                "pull must be a function of the arm, pull(arm) -> reward, or a list of functions without arguments, "
                f"one for each arm; {entry}"
            )
        if several and num_arms is not None and num_arms != len(functions):
            raise ParameterError(
                f"pull has {len(functions)} functions and num_arms is {num_arms}: give one for each arm"
            )
        if not several and num_arms is None:
            raise ParameterError("num_arms is missing: with one function for all arms, say how many arms there are")
        counted = len(functions) if num_arms is None else num_arms
        self.num_arms = integer(counted, "num_arms", least=2)
        self._by_arm = functions if several else None
        self._arms, self._items, self._priced, self._rewards = arms, items, priced, rewards
        self._function: Callable[..., Any] = functions[0]
        self._takes_rng = [_takes_rng(function) for function in functions]
        self.takes_rng = any(self._takes_rng)

    def __call__(self, arm: int, stream: Stream, item: int | None = None) -> Outcome:
        """Pull an arm once.

        Args:
            arm: 0 to K-1.
            stream: Source of the generator, for functions that take one.
            item: Number of the item, where there are any.

        Raises:
            FailedPullError: If the returned value is no number that can be a reward, and no such number with a cost.
            Exception: An exception of the function.
        """
        seed, *path = stream
        which = 0 if self._by_arm is None else arm
        keywords = {"rng": generator(int(seed), *path)} if self._takes_rng[which] else {}
        played_on = () if self._items is None or item is None else (self._items[item],)
        if self._by_arm is None:
            value = self._function(arm if self._arms is None else self._arms[arm], *played_on, **keywords)
        else:
            value = self._by_arm[arm](*played_on, **keywords)
        try:
            if self._priced and isinstance(value, tuple) and len(value) == 2:
                paid = real(value[1], "cost", least=0, most=LARGEST)
                return Outcome(self._rewards.check(value[0], "what it returned"), cost=paid)
            return Outcome(self._rewards.check(value, "what it returned"))
        except ParameterError as error:
            pair = f"; a pair must be of a reward and a cost of 0 to {LARGEST:g}" if self._priced else ""
            raise FailedPullError(f"{error}{pair}") from None


def one_line(text: str, length: int = _SHOWN) -> str:
    """Return a text in one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 3] + "..."


def _takes_rng(function: Callable[..., Any]) -> bool:
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False
