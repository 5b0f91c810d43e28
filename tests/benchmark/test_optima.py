"""Which environments have a known optimum."""

from __future__ import annotations

from typing import Any

import pytest

from bai_gym.api import make_cells
from bai_gym.benchmark.optima import known_optima
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.problems import BernoulliPriorProblem
from bai_gym.theory import optimal_value


def test_the_optimum_is_that_of_the_dynamic_program() -> None:
    cells = make_cells(["Uniform", "SH"], "BAI-Bernoulli3-v0", [6, 12], 0)
    found, missing = known_optima(cells)
    assert found == {("BAI-Bernoulli3-v0", budget): optimal_value(3, budget) for budget in (6, 12)}
    assert missing == []


def test_other_ways_to_the_same_environment() -> None:
    (value,) = known_optima(make_cells(["SH"], "BAI-Bernoulli10-v0", [12], 0, {"num_arms": 4}))[0].values()
    assert value == optimal_value(4, 12)
    env = BestArmEnv(BernoulliPriorProblem(2), budget=9)
    assert known_optima(make_cells(["SH"], env, None, 0))[0] == {("BernoulliPriorProblem", 9): optimal_value(2, 9)}


BERNOULLI = "it is known for Bernoulli arms with means from the uniform prior"
BEST_ARM = "it is known for one best arm with epsilon 0"


@pytest.mark.parametrize(
    ("env", "agent", "keywords", "reason"),
    [
        ("BAI-Gaussian32-v0", "SH", {}, BERNOULLI),
        ("BAI-Custom-v0", "SH", {"means": [0.2, 0.8], "distribution": "bernoulli"}, BERNOULLI),
        ("BAI-Bernoulli2-v0", "SH", {"instance": "fixed"}, BERNOULLI),
        ("BAI-Bernoulli2-v0", "SH", {"epsilon": 0.1}, BEST_ARM),
        ("BAI-TopM-Bernoulli10-v0", "SAR", {}, BEST_ARM),
        ("BAI-Bernoulli3-v0", "SH", {"costs": [1.0, 2.0, 1.0]}, "it is known for a fixed number of pulls"),
        ("BAI-Bernoulli10-v0", "SH", {}, "the optimum of 10 arms with budget 200 is too large to compute"),
    ],
)
def test_elsewhere_one_sentence_says_why_there_is_none(
    env: str, agent: str, keywords: dict[str, Any], reason: str
) -> None:
    found, missing = known_optima(make_cells([agent, agent], env, None, 0, keywords))
    assert found == {} and len(missing) == 1
    assert missing[0].startswith(f"No optimum of {env}") and f": {reason}" in missing[0]
    assert "\n" not in missing[0]
