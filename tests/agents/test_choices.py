"""What agents choose by the kind of rewards, for every registered agent, and that they then play without error."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    FeatureBandit,
    GaussianBandit,
    PairedFiniteBandit,
    PoissonBandit,
    PriorBandit,
    SampleTable,
)
from bai_gym.benchmark.protocol import notes, suited
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.gaussian_process import GaussianPrior
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.tasks import BestArm, GoodArm, Task, Thresholding
from bai_gym.wings import BINARY, UNIT

MEANS = np.array([0.2, 0.3, 0.8, 0.4])
KINDS = ("binary", "bounded(0, 1)", "bounded(0, 10)", "counts", "real")
GLR = ["TrackAndStop", "T3C", "TTTS-GLR", "EB-TC", "EB-TCI", "FWS", "AdaHedge-BR"]
INTERVALS = ["KL-LUCB", "KL-Racing", "Tri-BBAI", "Opt-BBAI"]
SUB_GAUSSIAN = ["TTEI", "TTUCB", "SE", "lil-UCB", "FC-DSH"]
GIVEN_RANGE = ["CR-A", "CR-C", "UCB1", "A-UCB-E", "A-UGapEb", "A-UGapEb-V", "UGapEc", "UGapEc-V", "LUCB", "FCVote"]
GIVEN_RANGE += ["APT-G", "HDoC", "LUCB-G", "APGAI"]
TRUE_RANGE = ["GapE", "GapE-V", "A-GapE", "A-GapE-V"]
VARIANCES = ["SHAdaVar", "SHAdaVar-Reuse", "VBR", "OCBA", "OCBA-PCS", "GNA", "NA-AIPW", "Rinott", "KN"]
VARIANCES += ["PairedOCBA"]
LINEAR = ["LinUCB", "LinGapE", "LinGapE-Greedy", "LinGapE-GLR", "LinTrackAndStop", "LinFWS", "LinGame", "LinGame-C"]
LINEAR += ["RAGE", "XY-static", "XY-adaptive", "XY-oracle"]
CORRELATED = ["BayesGap", "GP-UCB", "BayesUCB", "GP-TS", "PI", "EI", "KG"]
PRIOR = ["PI-BAI", "BayesElim"]
JEFFREYS, STUDENT = {"variance": "jeffreys"}, {"family": "student"}


def gaussian(sigma: float) -> dict[str, Any]:
    return {"family": "gaussian", "sigma": sigma}


CHOICES: list[tuple[list[str], list[dict[str, Any]]]] = [  # by kind, in the order of KINDS
    (["TS", "TTTS"], [{"posterior": word} for word in ("bernoulli", *["student"] * 4)]),
    (GLR, [{"family": "bernoulli"}, {"family": "bernoulli"}, gaussian(5.0), STUDENT, STUDENT]),
    (INTERVALS, [{"family": "bernoulli"}, {"family": "bernoulli"}, gaussian(5.0), gaussian(0.5), gaussian(0.5)]),
    (SUB_GAUSSIAN, [gaussian(sigma) for sigma in (0.5, 0.5, 5.0, 0.5, 0.5)]),
    (GIVEN_RANGE, [{"b": b} for b in (1.0, 1.0, 10.0, 1.0, 1.0)]),
    (TRUE_RANGE, [{"b": b} for b in (1.0, 1.0, 10.0, "oracle", "oracle")]),
    (VARIANCES, [JEFFREYS, {}, {}, {}, {}]),
    (LINEAR, [{"sigma": sigma} for sigma in (0.5, 0.5, 5.0, "oracle", "oracle")]),
    (CORRELATED, [{"noise_variance": noise} for noise in (0.25, *["oracle"] * 4)]),
    (PRIOR, [{"sigma": sigma} for sigma in (0.5, *["oracle"] * 4)]),
    (["Learned"], [{"env": f"BAI-{env}-v0"} for env in ("Bernoulli10", *["Gaussian8"] * 4)]),
    (["PairedRace"], [{"family": family} for family in (*KINDS[:3], "gaussian", "gaussian")]),
    (["LSA"], [{"alpha": alpha} for alpha in (1.0, 1.0, 0.01, 1.0, 1.0)]),
]
BY_NAME = {name: chosen for listed, chosen in CHOICES for name in listed}


class Sampled(EmpiricalBandit):
    """Samples of rewards of a given kind."""

    kind: Rewards

    @property
    def rewards(self) -> Rewards:
        return self.kind


def bandit_of(kind: str, means: np.ndarray[Any, Any], batch: int) -> Bandit:
    """Return arms of these means, in units of the largest reward; bounded rewards are multiples of a fifth of it."""
    rows = np.tile(means, (batch, 1))
    if kind == "binary":
        return BernoulliBandit(rows)
    if kind == "counts":
        return PoissonBandit(rows)
    if kind == "real":
        return GaussianBandit(rows, 0.25)
    rewards = Rewards.of(kind)
    samples = rewards.high * (np.arange(5) <= 5 * means[:, None] - 0.5) * 1.0
    table = SampleTable.of(samples.ravel(), np.arange(0, 5 * len(means) + 1, 5))
    sampled = Sampled(table, np.tile(np.arange(len(means)), (batch, 1)))
    sampled.kind = rewards
    return sampled


@pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
@pytest.mark.each("name", agents.names())
def test_every_default_plays_every_kind_of_rewards_with_what_it_chooses(name: str) -> None:
    entry = BUILT_IN[name]
    for place, kind in enumerate(KINDS):
        if (entry.rewards == BINARY and kind != "binary") or (entry.rewards == UNIT and place > 1):
            continue
        means = MEANS[1 : 1 + (entry.arms or (3 if entry.rewards == BINARY else 4) - 1)]
        played: Bandit = FeatureBandit(bandit_of(kind, means, 8), np.eye(len(means)))
        played = PriorBandit(played, GaussianPrior(np.eye(len(means))))
        if agents.make(name).uses_pairs:
            scores = np.random.default_rng(0).integers(0, 2, (300, len(means))).astype(float)
            played = PairedFiniteBandit(scores, np.tile(np.arange(len(means)), (8, 1)), kind=Rewards.of(kind))
        agent = suited(agents.make(name), played.rewards)
        expected = BY_NAME[name][place] if name in BY_NAME else {}
        assert agent.chosen(agent.rewards) == expected, kind
        assert (f"chosen for {kind} rewards" in "".join(notes(agent))) == bool(expected)
        assert agent.label == agents.make(name).label
        assert ("oracle" in expected.values()) <= bool(agent.knows & {"range", "variances", "complexity"})
        task = next(t for t in (BestArm(), Thresholding(0.5), GoodArm(0.5)) if t.name in agent.tasks)
        budget = min(max(80, agent.minimum_budget(len(means))), entry.largest_budget or 1000)
        info = _info(agent, played, budget, task)
        agents_own = agents.make(name)
        agents_own.reset(info, np.random.default_rng(0))
        assert agents_own.rewards == played.rewards
        assert agents_own.least_budget(len(means), len(means)) == agent.least_budget(len(means), len(means))
        play_blocks(agents_own, played, budget, np.random.default_rng(1), task)


def _info(agent: Any, played: Bandit, budget: int, task: Task) -> ProblemInfo:
    # What the agent knows where it has chosen is enough: nothing else is granted.
    return ProblemInfo(played.num_arms, budget, played.batch, task=task, truth=played, knows=agent.knows)


def test_a_given_parameter_is_not_chosen() -> None:
    for name, given in (("TS", {"posterior": "student"}), ("T3C", {"family": "gaussian", "sigma": 1.0})):
        agent = suited(agents.make(name, **given), Rewards.of("binary"))
        assert agent.chosen(agent.rewards) == {} and not notes(agent)
        assert {parameter: agent.setting(parameter) for parameter in given} == given


def test_a_given_sigma_or_threshold_selects_the_family() -> None:
    real = Rewards.of("real")
    for given, family in (({"sigma": 1.0}, "gaussian"), ({"threshold": "kk21-gauss"}, "gaussian"), ({}, "student")):
        assert suited(agents.make("T3C", **given), real).setting("family") == family, given


# Six variants that convert at 2 to 6 %: before rewards were known to be binary, many defaults erred in half of the runs
# or more, because an arm with two zeros had no variance.
CONVERSIONS = {"means": [0.02, 0.03, 0.035, 0.04, 0.045, 0.06], "distribution": "bernoulli"}
RUNS = dict.fromkeys(("DPT", "ICPE", "Learned", "RHO"), 500)  # slow ones; 4,000 of all others
ALLOWED = 1.3  # times the error of SR
NORMAL = {"OCBA": 1.6, "SHAdaVar": 1.6}  # derived for normal rewards, which a note says; their own limits
BASELINE = {"Uniform"}  # others are measured against it, and it claims nothing


def plays_conversions(name: str) -> bool:
    """Whether an agent is one of a fixed budget that can be given six binary arms, and no more than that."""
    entry, kind = BUILT_IN[name], BUILT_IN[name].load()
    needs_more = kind.stops or kind.uses_pairs or kind.needs_features or name in CORRELATED + PRIOR  # these a prior
    return not (needs_more or entry.arms or entry.largest_budget) and "best-arm" in agents.make(name).tasks


@cache
def conversions(name: str) -> Any:
    return bai_gym.evaluate(name, "BAI-Custom-v0", runs=RUNS.get(name, 4000), budget=2400, env_kwargs=CONVERSIONS)


@pytest.mark.slow
@pytest.mark.each("name", sorted(name for name in agents.names() if name in BUILT_IN and plays_conversions(name)))
def test_conversions(name: str) -> None:
    """An agent that errs 1.3 times as often as SR is accepted in 97.7 % of the cases; one at 1.53 is rejected in 98 %.

    For 4,000 runs: the standard error of the excess over what is allowed would be 0.0103 if the two errors were
    independent; they have the same instances, which makes it no larger.
    """
    result, other = conversions(name), conversions("SR")
    error, sr = result.error_probability, other.error_probability
    said = [note for note in result.notes if note.startswith(f"{name}: ") and " chosen for " not in note]
    limit = NORMAL.get(name, ALLOWED)
    excess = error - limit * sr
    margin = 2.0 * np.sqrt(error * (1.0 - error) / result.runs + limit**2 * sr * (1.0 - sr) / other.runs)
    assert excess <= margin or name in BASELINE or (said and name not in NORMAL), (error, sr)
    assert any("derived for normal rewards" in note for note in said) >= (name in NORMAL)
