"""Every agent refuses parameters out of their range, and names them; wordings are those of `bai_gym.validation`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit, PairedGaussianBandit, PriorBandit
from bai_gym.errors import ParameterError
from bai_gym.gaussian_process import GaussianPrior
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, GoodArm, Thresholding

POSITIVE = [0.0, -1.0, math.nan, math.inf, "x", True]
AT_LEAST_0 = [-0.1, math.nan, math.inf, [1]]
BETWEEN_0_AND_1 = [0.0, 1.0, -0.1, math.nan, "abc", None, True]
COUNT = [0, -1, 1.5, 2.0, True]
FLAG = [1, "false"]
WORD = ["x", "", None]

UGAPE = ["UGapEb", "UGapEb-V", "A-UGapEb", "A-UGapEb-V", "UGapEc", "UGapEc-V"]
GAPE = ["GapE", "GapE-V", "A-GapE", "A-GapE-V"]
LINEAR = ["LinUCB", "LinGapE", "LinGapE-Greedy"]
LINEAR_CONFIDENCE = ["LinGapE-GLR", "LinTrackAndStop", "LinFWS", "LinGame", "LinGame-C"]
LINEAR_ROUNDS = ["RAGE", "XY-static", "XY-adaptive", "XY-oracle"]
ZONE = ["Rinott", "KN", "NM"]
STOPPING = [name for name in agents.names() if agents.make(name).stops and name not in LINEAR_ROUNDS]

REFUSED: list[tuple[list[str], str, list[Any]]] = [
    # Elimination
    (["Uniform"], "mode", WORD),
    (["SH"], "allow_small_budget", FLAG),
    (["SH"], "rounding", WORD),
    (["SH", "SR", "Uniform"], "cap", WORD),
    (["SHVar", "SR"], "leftover", WORD),
    (["SHAdaVar"], "delta", BETWEEN_0_AND_1),
    (["SHAdaVar"], "ucb", FLAG),
    (["VBR"], "gamma", POSITIVE),
    (["VBR"], "reject", WORD),
    (["CR-A", "CR-C"], "b", POSITIVE),
    (["CR-C"], "sigma", POSITIVE),
    (["DSH"], "output", WORD),
    (["SubsetSH"], "subset", [0, 4, 2.5]),
    (["FBKT"], "phi", [1, 2.5]),
    (["FBKT"], "leftover", WORD),
    # Bounds and gaps
    (["UCB1", *GAPE, *UGAPE, "LUCB", "UCB-E", "A-UCB-E"], "b", POSITIVE),
    ([*GAPE, *UGAPE[:4]], "scale", AT_LEAST_0),
    (["GapE"], "rescaled", FLAG),
    (UGAPE[2:4], "refresh", COUNT),
    (UGAPE[:2], "output", WORD),
    (UGAPE[4:], "c", POSITIVE),
    ([*UGAPE[4:], "LUCB"], "delta", BETWEEN_0_AND_1),
    (["UCB-E"], "a", ["most", -1.0, math.inf, [1]]),
    (["UCB-E", "A-UCB-E"], "c", POSITIVE),
    (["OCBA"], "n0", [1]),
    (["EB-TC-eps"], "epsilon", POSITIVE),
    (["EB-TC-eps"], "beta", ["half", 1.0]),
    (["GNA"], "sampling", WORD),
    (["GNA"], "estimator", WORD),
    (["FCVote"], "delta", [0.0, 0.1, math.nan]),
    (["FCVote"], "first", [2]),
    (["FCVote"], "agent", ["SH"]),
    # Bayesian
    (["TS", "TTTS"], "posterior", WORD[:-1]),
    (["TS", "TTTS"], "sigma", POSITIVE),
    (["TTTS"], "beta", BETWEEN_0_AND_1),
    (["TTTS"], "tries", COUNT),
    (["BayesGap", "EI"], "output", WORD),
    (["EI", "PI"], "xi", AT_LEAST_0),
    (["GP-UCB"], "delta", BETWEEN_0_AND_1),
    (["GP-UCB"], "scale", AT_LEAST_0),
    (["BayesUCB"], "c", AT_LEAST_0),
    (["KG"], "candidates", COUNT),
    (["EI"], "noise_variance", [-1.0, "much"]),
    (["RHO"], "objective", WORD),
    (["RHO"], "epochs", COUNT),
    (["RHO"], "prior_mean", [math.inf]),
    (["RHO"], "prior_sd", POSITIVE),
    (["RHO"], "sigma", POSITIVE),
    (["RUE"], "spread", WORD),
    (["BayesElim"], "samples", WORD),
    (["PI-BAI"], "weights", WORD),
    (["PI-BAI"], "alpha", [-0.1, 1.1]),
    (["PI-BAI"], "warm_up", COUNT),
    (["PI-BAI"], "discard", FLAG),
    (["PI-BAI"], "sigma", POSITIVE),
    # Fixed confidence
    (["T3C", "SE"], "delta", BETWEEN_0_AND_1),
    (["T3C"], "family", WORD[:-1]),
    (["TTUCB"], "family", ["bernoulli"]),
    (["T3C"], "threshold", ["kk", "gk16-bernoulli"]),
    (["KL-LUCB"], "threshold", ["kk21"]),
    (["LUCB", "UGapEc"], "threshold", ["union"]),
    (STOPPING, "batch_size", COUNT),
    (["T3C"], "sigma", POSITIVE),
    (["lil-UCB"], "sigma", ["oracle"]),
    (["TrackAndStop"], "tracking", WORD),
    (["TrackAndStop"], "lazy", AT_LEAST_0),
    (["EB-TC"], "beta", [1.0, "half"]),
    (["TTTS-GLR"], "tries", COUNT),
    (["TTUCB"], "bonus", WORD),
    (["FC-DSH"], "factor", [1.0]),
    (["Tri-BBAI", "Opt-BBAI"], "constants", WORD),
    (ZONE, "delta", [0.0, 0.75]),
    (ZONE, "indifference", POSITIVE),
    (ZONE, "first_pulls", [1, 2.5]),
    # Paired
    (["PairedRace"], "delta", BETWEEN_0_AND_1),
    (["PairedRace"], "family", ["x", "real", "counts", 1]),
    (["PairedRace"], "first_items", [1, 2.5]),
    (["PairedSR"], "cap", WORD),
    (["PairedOCBA"], "n0", [1, 2.5]),
    (["PairedOCBA"], "horizon", POSITIVE),
    (["PairedOCBA"], "variance", ["x", ""]),
    (["NM"], "variance", WORD),
    (["FRace"], "test", WORD),
    (["FRace"], "adjust", WORD),
    (["FRace"], "level", BETWEEN_0_AND_1),
    (["FRace"], "first_test", [1, 2.5]),
    (["FRace"], "each_test", COUNT),
    (["WilcoxonRace"], "p_threshold", BETWEEN_0_AND_1),
    (["WilcoxonRace"], "startup", [-1, 1.5]),
    (["WilcoxonRace"], "items", COUNT),
    # Structured
    (LINEAR, "delta", BETWEEN_0_AND_1),
    (LINEAR, "lam", POSITIVE),
    (LINEAR, "sigma", [0.0, "big"]),
    (LINEAR, "S", AT_LEAST_0),
    (["LinUCB"], "alpha", AT_LEAST_0),
    (["LinUCB"], "model", WORD),
    (LINEAR[1:], "radius", WORD),
    ([*LINEAR_CONFIDENCE, *LINEAR_ROUNDS], "delta", BETWEEN_0_AND_1),
    ([*LINEAR_CONFIDENCE, *LINEAR_ROUNDS], "sigma", [0.0, "big"]),
    (LINEAR_CONFIDENCE, "threshold", WORD),
    (LINEAR_CONFIDENCE, "elimination", WORD),
    (LINEAR_CONFIDENCE, "rho", POSITIVE),
    (["LinTrackAndStop"], "lazy", AT_LEAST_0),
    (["LinTrackAndStop"], "iterations", COUNT),
    (["RAGE"], "drops", WORD),
    (["RAGE"], "r0", COUNT),
    (["XY-adaptive"], "alpha", [*POSITIVE, 1.1]),
    (["XY-adaptive"], "estimate", WORD),
    (["UCB-GLM"], "link", WORD),
    (["UCB-GLM"], "alpha", [*AT_LEAST_0, "theory"]),
    (["UCB-GLM"], "penalty", POSITIVE),
    (["UCB-GLM"], "newton_steps", COUNT),
    (["Peace-rho", "Mixed-Peace", "P1-RAGE", "P1-Peace", "XY-BAI"], "iterations", COUNT),
    (["P1-RAGE"], "rounds", COUNT),
    (["Peace-rho", "OD-LinBAI"], "order", WORD),
    (["GSE-Lin"], "eta", [1, 2.5, "k"]),
    (["GSE-Lin"], "intercept", FLAG),
    (["GSE-Lin-FWG", "GSE-Lin-Wynn", "GSE-Log-FWG"], "iterations", COUNT),
    (["GSE-Lin-FWG"], "rounding", WORD),
    (["GSE-Log"], "penalty", AT_LEAST_0),
    # Thresholding and good arms
    (["APT"], "epsilon", AT_LEAST_0),
    (["AugUCB"], "rho", POSITIVE),
    (["AugUCB"], "after", WORD),
    (["UCBE-T", "UCBEV-T"], "c", POSITIVE),
    (["UCBEV-T"], "index", WORD),
    (["CSAR"], "schedule", WORD),
    (["APT-G", "APGAI"], "delta", BETWEEN_0_AND_1),
    # Learned
    (["Universal"], "stages", COUNT),
    (["DPT"], "play", WORD),
]


def begin(name: str, parameters: dict[str, Any]) -> None:
    """Make and reset an agent, in a world that it is for."""
    agent, entry = agents.make(name, **parameters), BUILT_IN[name]
    k, budget = entry.arms or 3, entry.largest_budget or 500
    bandit: Bandit = GaussianBandit(np.linspace(0.2, 0.8, k))
    if agent.uses_pairs:
        bandit = PairedGaussianBandit(bandit.means, 1.0, correlation=0.5)
    truth = PriorBandit(FeatureBandit(bandit, np.eye(k)), GaussianPrior(np.eye(k)))
    task = next(task for task in (BestArm(), Thresholding(0.5), GoodArm(0.5)) if task.name in agent.tasks)
    agent.reset(ProblemInfo(k, budget, task=task, truth=truth, knows=agent.knows))


@pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
@pytest.mark.each(
    ("name", "parameter", "values"), [(name, p, values) for names, p, values in REFUSED for name in names]
)
def test_parameters_out_of_range_are_refused_and_named(name: str, parameter: str, values: list[Any]) -> None:
    begin(name, {})
    for value in values:
        with pytest.raises(ParameterError, match=f"^{parameter} of {name} "):
            begin(name, {parameter: value})
            pytest.fail(f"{value!r} is accepted")


# Parameters that exclude each other, or need another one.
EXCLUDED: list[tuple[str, dict[str, Any]]] = [
    ("UCB-E", {"a": 1.0, "c": 2.0}),
    ("UCBE-T", {"a": 1.0, "c": 2.0}),
    ("UCBEV-T", {"a": 1.0, "c": 2.0}),
    ("CR-A", {"b": 2.0, "sigma": 1.0}),
    ("HDoC", {"b": 2.0, "sigma": 1.0}),
    ("UGapEc", {"b": 2.0, "sigma": 1.0}),
    ("LUCB", {"b": 2.0, "sigma": 1.0}),
    ("EB-TC", {"beta": "ids", "select": "tracking"}),
    ("FC-DSH", {"threshold": "gk16"}),
    ("GNA", {"sampling": "track"}),
    ("Uniform", {"cap": "items", "mode": "random"}),
    ("FCVote", {"agent": "UGapEc-V", "sigma": 1.0}),
    ("EI", {"nu": 2.5}),
    ("EI", {"length": 2.0, "kernel": np.eye(3)}),
]


@pytest.mark.each(("name", "parameters"), EXCLUDED)
def test_parameters_that_do_not_go_together_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=name) as caught:
        begin(name, parameters)
    assert next(iter(parameters)) in str(caught.value)
