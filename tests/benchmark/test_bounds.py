"""Which agents a theorem covers, with which parameters, on which rewards."""

from __future__ import annotations

from typing import Any

import pytest

from bai_gym.api import make_cells
from bai_gym.bandits import PoissonBandit
from bai_gym.benchmark.bounds import proved_bounds
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.problems import FixedProblem
from bai_gym.theory import apt_bound, csar_bound, sequential_halving_bound, ugapeb_bound, ugapec_sample_complexity

MEANS = [0.9, 0.5, 0.1]
BERNOULLI = {"means": MEANS, "distribution": "bernoulli"}
GAUSSIAN = {"means": MEANS, "variances": 1.0}


def bounds(*agents: str, env: Any = "BAI-Custom-v0", budget: int = 2000, **keywords: Any) -> dict[str, float]:
    """Return the bounds by agent."""
    cells = make_cells(agents, env, [budget], 0, keywords)
    return {agent: value for (agent, _, _), value in proved_bounds(cells).items()}


def test_values_are_those_of_the_theorems() -> None:
    found = bounds("SH", "UGapEb(b=1.0)", **BERNOULLI)
    assert found["SH"] == min(float(sequential_halving_bound(MEANS, 2000)), 1.0) < 1.0
    assert found["UGapEb(b=1.0)"] == min(float(ugapeb_bound(MEANS, 2000)), 1.0) < 1.0


@pytest.mark.each(
    ("agent", "keywords", "covered"),
    [
        ("SH", BERNOULLI, True),
        ("SH", GAUSSIAN, False),
        ("SH(leftover=last)", BERNOULLI, False),
        ("SH(tie=first)", BERNOULLI, True),
        ("SHVar", GAUSSIAN, True),
        ("SHVar", BERNOULLI, False),
        ("SHAdaVar", GAUSSIAN, False),  # at delta = 0.05 outside the domain
        ("UGapEb", BERNOULLI, False),
        ("UGapEb(scale=2.0, b=1.0)", BERNOULLI, False),
        ("UCB-E(a=theory, b=1.0)", BERNOULLI, True),
        ("UCB-E(b=1.0)", BERNOULLI, False),
        ("GapE(rescaled=False)", BERNOULLI, True),  # b = 1, chosen for binary rewards
        ("GapE(rescaled=False)", GAUSSIAN, False),
        ("GapE", BERNOULLI, False),
        ("Uniform", BERNOULLI, False),
    ],
)
def test_what_is_covered(agent: str, keywords: dict[str, Any], covered: bool) -> None:
    assert bool(bounds(agent, **keywords)) is covered


def test_other_tasks_and_rewards_are_not_covered() -> None:
    assert bounds("SH", env=BestArmEnv(FixedProblem(PoissonBandit(MEANS)), budget=2000)) == {}  # counts have no bound
    assert bounds("UGapEb(b=1.0)", env="BAI-TopM-Custom-v0", **BERNOULLI) == {}
    assert bounds("UGapEb(b=1.0)", epsilon=0.1, **BERNOULLI) == {}
    assert bounds("SH", costs=[1.0, 2.0, 1.0], **BERNOULLI) == {}


def test_bounds_of_drawn_instances_are_averaged_and_clipped() -> None:
    (value,) = bounds("SR", env="BAI-Bernoulli2-v0", budget=500).values()
    assert 0.05 < value < 0.95


def test_thresholding_has_theorems_of_its_own() -> None:
    keywords = {**BERNOULLI, "env": "BAI-CustomThresholding-v0", "threshold": 0.7, "budget": 40_000}
    found = bounds("APT(epsilon=0.0)", "CSAR", "APT", "CSAR(schedule=sr)", "UCBE-T", "Uniform", "UCBEV-T", **keywords)
    assert set(found) == {"APT(epsilon=0.0)", "CSAR", "UCBEV-T"}
    assert found["APT(epsilon=0.0)"] == min(float(apt_bound(MEANS, 0.7, 40_000)), 1.0) < 1.0
    assert found["CSAR"] == min(float(csar_bound(MEANS, 0.7, 40_000)), 1.0) < 1.0
    assert not bounds("CSAR", **{**keywords, "epsilon": 0.1})
    assert not bounds("CSAR", **{**keywords, **GAUSSIAN, "distribution": "gaussian"})


@pytest.mark.each(
    ("agent", "keywords", "covered"),
    [
        ("UGapEc", BERNOULLI, True),
        ("UGapEc(delta=0.2)", BERNOULLI, True),
        ("UGapEc(c=1.0)", BERNOULLI, False),
        ("UGapEc", GAUSSIAN, False),
        ("UGapEc(sigma=1.0)", {**GAUSSIAN, "budget": 20_000}, True),
        ("UGapEc(sigma=0.9)", {**GAUSSIAN, "budget": 20_000}, False),
        ("UGapEc-V", BERNOULLI, False),
    ],
)
def test_theorem_2_covers_agents_that_stop(agent: str, keywords: dict[str, Any], covered: bool) -> None:
    found = bounds(agent, env="BAI-FC-Custom-v0", **{"budget": 5000, **keywords})
    assert found == ({agent: 0.2 if "delta" in agent else 0.1} if covered else {})


def test_theorem_2_needs_a_cap_that_is_large_enough() -> None:
    least = int(ugapec_sample_complexity(MEANS, 0.1))
    assert bounds("UGapEc", env="BAI-FC-Custom-v0", budget=least, **BERNOULLI)
    assert not bounds("UGapEc", env="BAI-FC-Custom-v0", budget=least - 1, **BERNOULLI)
    means = {"means": [0.9, 0.8, 0.1], "distribution": "bernoulli"}
    assert not bounds("UGapEc", env="BAI-FC-Custom-v0", budget=least, **means)
    assert bounds("UGapEc", env="BAI-FC-Custom-v0", budget=least, epsilon=0.4, **means)
    # Of drawn instances some are too hard for the cap: the bound of these is 1.
    (value,) = bounds("UGapEc", env="BAI-FC-Bernoulli10-v0", num_arms=2, budget=5000).values()
    assert 0.15 < value < 0.95
