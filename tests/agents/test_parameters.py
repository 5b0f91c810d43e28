"""Every agent refuses parameters out of their range, and names them."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.bandits import GaussianBandit
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo

CASES = run_path(str(Path(__file__).with_name("cases.py")))
BATCHED = [name for name in agents.names() if agents.make(name).stops and hasattr(agents.make(name), "batch_size")]


def begin(name: str, parameters: dict[str, Any]) -> None:
    """Make and reset an agent, in a world that it is for."""
    agent, entry = agents.make(name, **parameters), BUILT_IN[name]
    truth = CASES["fit"](agents.make(name), GaussianBandit(np.linspace(0.2, 0.8, entry.arms or 3)))
    given = {"task": CASES["usual_task"](agent), "truth": truth, "knows": agent.knows}
    agent.reset(ProblemInfo(truth.num_arms, entry.largest_budget or 500, **given))


@pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
@pytest.mark.each(("names", "parameter", "values"), [*CASES["REFUSED"], (BATCHED, "batch_size", "count")])
def test_parameters_out_of_range_are_refused_and_named(names: list[str], parameter: str, values: Any) -> None:
    for name in names:
        begin(name, {})
        for value in CASES["VALUES"].get(values, values) if isinstance(values, str) else values:
            with pytest.raises(ParameterError, match=f"^{parameter} of {name} "):
                begin(name, {parameter: value})
                pytest.fail(f"{value!r} is accepted by {name}")


@pytest.mark.each(("name", "parameters"), CASES["EXCLUDED"])
def test_parameters_that_do_not_go_together_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=name) as caught:
        begin(name, parameters)
    assert next(iter(parameters)) in str(caught.value)
