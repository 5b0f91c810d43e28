"""The third reading of figure 6 of Azizi, Kveton and Ghavamzadeh (2022): the rounding of the authors' program."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "gse_overspending.py"
RUNS = 1_000


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location(FILE.stem, FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[FILE.stem] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module


def test_the_weights_of_the_program_by_hand(program: ModuleType) -> None:
    """Two arms share an axis: the other one gets 1/2, by lengths 0.75^5, 0.75^14, and 0.75^23 back.

    With lengths s of 0.75^k the largest variance after the first step is max(3 / (1 + 2 s), 1.5 / (1 - s)).
    """
    weights = program.program_weights(np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]]))[0]
    first, second, third = 0.75**5, 0.75**14, 0.75**23
    alone = (1 / 3 * (1 - first) + first) * (1 - second) + second
    other = 1 / 3 * (1 - first) * (1 - second) * (1 - third)
    assert weights[0] == pytest.approx(alone * (1 - third), rel=1e-9)
    assert sorted(weights[1:]) == pytest.approx([other, other + third], rel=1e-9)  # either of the two
    assert np.ceil(10 * weights).tolist() == [5, 3, 3]  # 11 pulls
    assert program.program_weights(np.eye(4)[None])[0].tolist() == [0.25] * 4
