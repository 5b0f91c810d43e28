"""The items of a study: questions, instances or seeds, on which all arms are played in one order."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bai_gym.common.seeding import generator
from bai_gym.errors import ParameterError
from bai_gym.live.executor.functions import one_line
from bai_gym.validation import members

__all__ = ["Items", "Turns", "check_items"]

_ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]+")  # of an object in memory, another one in every process


class Items:
    """The items of a study, in a random order: the j-th pull of every arm is played on ``order[j]``.

    Files of questions are often sorted, by topic or difficulty, and agents take the first pulls of an arm for a random
    sample. So the items are shuffled.

    Args:
        values: The items, at least one; values of any kind.
        seed: Seed of the order.

    Attributes:
        values: The items, as given.
        order: A random permutation of their numbers, 0 to n-1.

    Raises:
        ParameterError: If they are no such collection.
    """

    def __init__(self, values: Iterable[Any], seed: int) -> None:
        """Shuffle their numbers."""
        self.values = check_items(values)
        self.order: list[int] = generator(seed, "items").permutation(len(self.values)).tolist()

    def __len__(self) -> int:
        """Return their number n."""
        return len(self.values)

    def digest(self) -> str:
        """Return a digest of the items in their given order, the same in every process.

        Texts, numbers, lists, dicts, sets and arrays are compared by what they contain, all else by ``repr``.

        Raises:
            ParameterError: If the ``repr`` of an item is another one in every process.
        """
        content = hashlib.sha256()
        for number, value in enumerate(self.values):
            try:
                text = _text(value)
            except _AddressError as error:
                raise ParameterError(
                    f"item {number} cannot be recognised when the journal is opened again, because of {error}: give "
                    "values such as texts, numbers or paths, and look your objects up by them"
                ) from None
            content.update(f"{len(text)}:{text}".encode(errors="backslashreplace"))
        return content.hexdigest()[:16]


class Turns:
    """Which item each pull is played on: the j-th pull of every arm on ``order[j]``.

    Args:
        items: The items; None: pulls are independent.
        num_arms: K.

    Attributes:
        numbers: Numbers of the items of the pulls handed out; None without items.
        exhausted: The arm that was asked for when it had been played on all items; None: there was none.
    """

    def __init__(self, items: Items | None, num_arms: int) -> None:
        """Begin with the first item."""
        self.numbers: list[int | None] = []
        self.exhausted: int | None = None
        self._items = items
        self._made = [0] * num_arms  # pulls of each arm

    def has_item(self, arm: int) -> bool:
        """Return whether an arm can be played once more, and note if it cannot."""
        if self._items is None or self._made[arm] < len(self._items):
            return True
        self.exhausted = arm
        return False

    def add_arm(self) -> None:
        """Take account of one more arm."""
        self._made.append(0)

    def take(self, arm: int) -> None:
        """Give the next pull of an arm its item."""
        self.numbers.append(None if self._items is None else self._items.order[self._made[arm]])
        self._made[arm] += 1


def check_items(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the items.

    Raises:
        ParameterError: If they are no collection, or a text or dict, or if there are none.
    """
    items = None if isinstance(values, Mapping) else members(values)
    if items is None:
        raise ParameterError(f"items must be a list of questions, instances or seeds, not {one_line(repr(values), 80)}")
    if not items:
        raise ParameterError("items is empty: give at least one item, or leave items out")
    return items


class _AddressError(Exception):
    """A ``repr`` that has an address in memory."""


def _text(value: Any) -> str:
    """Return a text that is the same for equal values in every process."""
    try:
        return json.dumps(value, sort_keys=True, default=_comparable)
    except (TypeError, ValueError):  # keys that are no text, or a circle
        return str(_comparable(value))


def _comparable(value: Any) -> Any:
    """Return what stands for a value that JSON does not have."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    text = repr(value)
    if _ADDRESS.search(text):
        raise _AddressError(one_line(text, 80))
    return text
