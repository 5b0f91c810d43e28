"""Every agent refuses parameters out of their range, and names them."""

from __future__ import annotations

import math
from dataclasses import fields
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
REFUSED = [(name, parameter, values) for names, parameter, values in CASES["REFUSED"] for name in names]
# By what is allowed: values that are refused of parameters of these names, beside words that say nothing, and NaN.
OUT_OF_RANGE: list[tuple[str, list[Any]]] = [
    ("b sigma gamma lam rho indifference prior_sd horizon", [0.0, -1.0, math.inf, True]),  # positive
    ("scale xi S lazy c epsilon penalty alpha noise_variance", [-0.1, math.inf, [1]]),  # at least 0
    ("delta level p_threshold", [0.0, 1.0, -0.1, None, True]),  # between 0 and 1
    ("batch_size tries epochs candidates iterations rounds stages newton_steps refresh warm_up r0", [0, -1, 1.5, True]),
    ("each_test items", [0, 1.5]),
    ("first_pulls first_items first_test phi eta n0", [1, 2.5]),  # at least 2
    ("allow_small_budget ucb rescaled discard intercept plain early reuse weighted b_in_complexity", [1, "false"]),
]
VALUES = {name: values for names, values in OUT_OF_RANGE for name in names.split()}
OTHERS = {"agent", "env", "path", "kernel"}  # agents, files and arrays have errors of their own


def begin(name: str, parameters: dict[str, Any]) -> None:
    """Make and reset an agent, in a world that it is for."""
    agent, entry = agents.make(name, **parameters), BUILT_IN[name]
    truth = CASES["fit"](agents.make(name), GaussianBandit(np.linspace(0.2, 0.8, entry.arms or 3)))
    given = {"task": CASES["usual_task"](agent), "truth": truth, "knows": agent.knows}
    agent.reset(ProblemInfo(truth.num_arms, entry.largest_budget or 500, **given))


@pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
@pytest.mark.each("name", agents.names())
def test_parameters_out_of_range_are_refused_and_named(name: str) -> None:
    begin(name, {})
    known = [field.name for field in fields(agents.make(name)) if field.init and field.name not in OTHERS]
    given = [(parameter, ["?", math.nan, *VALUES.get(parameter, [])]) for parameter in known]
    for parameter, values in given + [(parameter, values) for other, parameter, values in REFUSED if other == name]:
        named = parameter.replace("_", "[_ ]")
        for value in values:
            with pytest.raises(ParameterError, match=rf"\b{named}\b"):
                begin(name, {parameter: value})
                pytest.fail(f"{parameter}={value!r} is accepted")


@pytest.mark.each(("name", "parameters"), CASES["EXCLUDED"])
def test_parameters_that_do_not_go_together_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=name) as caught:
        begin(name, parameters)
    assert next(iter(parameters)) in str(caught.value)
