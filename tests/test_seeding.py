"""Seeds are checked, and streams depend on their own address alone."""

from __future__ import annotations

import itertools
import re

import pytest

from bai_gym.common.seeding import check_seed, generator
from bai_gym.errors import ParameterError


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True, 2.0])
def test_anything_else_is_not(seed: object) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"seed must be an integer of at least 0, not {seed!r}")):
        check_seed(seed)


def test_streams_are_the_same_on_every_machine() -> None:
    # Recorded: a change of this value changes all published results.
    assert generator(0, "instances", 0).integers(2**32) == 32054952


def test_different_addresses_give_different_streams() -> None:
    paths = [(), ("a",), ("b",), ("a", 0), ("a", 1), (0, "a"), (0,), (1,), (0, 0), ("ab",), ("a", "b"), ("b", "a")]
    streams = {(seed, path): tuple(generator(seed, *path).random(4)) for seed in (0, 1, 2**40) for path in paths}
    assert len(set(itertools.chain.from_iterable(streams.values()))) == 4 * len(streams)
