"""What cannot fit into memory is refused, with what does."""

from __future__ import annotations

import re
from typing import Any

import pytest

import bai_gym
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.parallel import memory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"runs": 10**12}, "runs"),
        ({"runs": 2, "env_kwargs": {"num_arms": 10**10}}, "num_arms"),
        ({"runs": 1000, "env_kwargs": {"num_arms": 10**8}}, "num_arms"),
    ],
)
def test_the_largest_that_fits_is_named(arguments: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "total_memory", lambda: 64e9)
    with pytest.raises(ParameterError, match=rf"^{name}=.* the largest {name} that fits is \d+$"):
        bai_gym.evaluate("SH", "BAI-Gaussian8-v0", **arguments)


def test_what_is_named_fits() -> None:
    with pytest.raises(InstanceError) as caught:
        memory.check_memory(10**15, 8, "things", InstanceError)
    largest = int(re.findall(r"\d+$", str(caught.value))[0])
    memory.check_memory(largest, 8, "things", InstanceError)
    with pytest.raises(InstanceError):
        memory.check_memory(largest + 2, 8, "things", InstanceError)
