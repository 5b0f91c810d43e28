"""Agents with a joint model of all means: what they pull, what they know, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import chi2_contingency
from sklearn.gaussian_process.kernels import RBF

from bai_gym import agents
from bai_gym.agents import EI, GPTS, GPUCB, KG, PI, BayesGap, BayesUCB
from bai_gym.agents.correlated import GaussianProcessAgent
from bai_gym.agents.correlated.improvement import log_improvement
from bai_gym.agents.correlated.knowledge_gradient import log_expected_rise
from bai_gym.bandits import FeatureBandit, GaussianBandit, GaussianPrior
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.correlated import GaussianPosterior, GaussianProcessProblem, PriorBandit
from bai_gym.errors import BaiGymError
from bai_gym.problems import ProblemInfo

NAMES = [name for name in agents.names() if isinstance(agents.make(name), GaussianProcessAgent)]
MEAN = np.array([0.0, 0.3, 0.25, -2.0])
COVARIANCE = np.array([[4.0, 0.5, 0.0, 1.0], [0.5, 0.01, 0.0, 0.1], [0.0, 0.0, 0.5, 0.0], [1.0, 0.1, 0.0, 9.0]])
COVARIANCE[1, 1] = 0.2
SD = np.sqrt(np.diag(COVARIANCE))


def believing(agent: GaussianProcessAgent, budget: int = 20) -> GaussianPosterior:
    """The posterior of an agent that has been told MEAN and COVARIANCE as its prior, noise of variance 0.5."""
    prior = PriorBandit(GaussianBandit(np.zeros(4), 0.5), GaussianPrior(COVARIANCE, MEAN))
    agent.reset(ProblemInfo(4, budget, truth=prior, knows=agent.knows), np.random.default_rng(0))
    return agent.posterior


@pytest.mark.each("pull", [1, 7, 400])
def test_indices_are_those_of_the_papers(pull: int) -> None:
    beta = 2 * math.log(4 * pull**2 * math.pi**2 / (6 * 0.05))
    short = (MEAN - 0.3 - 0.01 * 3.0) / SD
    z = (MEAN - 0.3) / SD
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    expected: list[tuple[Any, Any]] = [
        (GPUCB(delta=0.05), MEAN + math.sqrt(beta) * SD),
        (GPUCB(delta=0.05, scale=0.01), MEAN + math.sqrt(0.01 * beta) * SD),
        (BayesUCB(), MEAN + SD * ndtri(1 - 1 / max(pull, 2))),
        (BayesUCB(c=2.0), MEAN + SD * ndtri(1 - 1 / (max(pull, 2) * math.log(20) ** 2))),
        (PI(), ndtr(short)),
        (EI(), (MEAN - 0.3) * ndtr(z) + SD * density),
    ]
    for agent, values in expected:
        assert agent.choose(believing(agent), pull).tolist() == [values.argmax()], agent.label


def test_bounds_are_as_wide_as_in_the_papers() -> None:
    # Two arms of deviations 1 and 2: the second is pulled where the first leads by less than its bound is narrower.
    for agent, width in (
        (GPUCB(delta=0.05), math.sqrt(2 * math.log(2 * 9 * math.pi**2 / (6 * 0.05)))),
        (BayesUCB(), float(ndtri(1 - 1 / 3))),
    ):
        for more, arm in ((-1e-3, 1), (1e-3, 0)):
            truth = PriorBandit(
                GaussianBandit(np.zeros(2), 0.5), GaussianPrior(np.diag([1.0, 4.0]), [width + more, 0.0])
            )
            agent.reset(ProblemInfo(2, 20, truth=truth, knows=agent.knows), np.random.default_rng(0))
            assert agent.choose(agent.posterior, 3).tolist() == [arm], agent.label


def test_improvements_by_hand_and_far_out() -> None:
    # z = 0: sd phi(0). z = 1: phi(1) + Phi(1) = 0.2419707 + 0.8413447. Certain ones: what they are, at least 0.
    values = np.exp(log_improvement(np.array([0.0, 2.0, 1.5, -1.0]), np.array([3.0, 2.0, 0.0, 0.0])))
    np.testing.assert_allclose(values, [3 * 0.3989423, 2 * 1.0833155, 1.5, 0.0], rtol=1e-6)
    # phi(z) / z^2 (1 - 3 / z^2 + 15 / z^4 - ...), and increasing everywhere.
    for z in (-50.0, -9e3, -2e4, -1e8):
        series = -0.5 * z * z - 0.5 * math.log(2 * math.pi) - 2 * math.log(-z) + math.log1p(-3 / z**2 + 15 / z**4)
        assert log_improvement(np.array([z]), np.ones(1))[0] == pytest.approx(series, rel=1e-9)
    grid = -np.geomspace(1e-3, 1e7, 4001)
    assert (np.diff(log_improvement(grid, np.ones(4001))) < 0).all()


def test_expected_improvement_tells_arms_apart_however_small_it_is() -> None:
    # Arm 0 is known, and leads by 200 and 100 standard deviations: both improvements are 0 in floating point.
    prior = GaussianPrior(np.diag([0.0, 1.0, 4.0]), [200.0, 0.0, 0.0])
    agent = EI(noise_variance=1.0)
    agent.reset(ProblemInfo(3, 5, truth=PriorBandit(GaussianBandit(np.zeros(3)), prior), knows=agent.knows))
    assert {int(agent.choose(agent.posterior, 1)[0]) for _ in range(20)} == {2}


def test_thompson_pulls_an_arm_as_often_as_it_is_the_best() -> None:
    runs = 20_000
    agent = GPTS(kernel=COVARIANCE, noise_variance=0.5)
    agent.reset(ProblemInfo(4, 5, runs), np.random.default_rng(0))
    chosen = np.bincount(agent.choose(agent.posterior, 1), minlength=4)
    draws = np.random.default_rng(1).multivariate_normal(np.zeros(4), COVARIANCE, runs)
    table = np.stack([chosen, np.bincount(draws.argmax(axis=1), minlength=4)])
    assert chi2_contingency(table).pvalue > 0.001


# ------------------------------------------------------------------------------------------------ knowledge gradient


@pytest.mark.each("lines", [1, 3, 30])
def test_expected_rises_are_the_integral(lines: int) -> None:
    rng = np.random.default_rng(lines)
    a, b = rng.normal(size=(40, lines)), rng.normal(size=(40, lines))
    b[0], a[1] = 0.7, 0.2  # parallel lines; lines through one point
    b[2, 0] = b[2, -1]
    z = np.linspace(-9.0, 9.0, 60_001)
    weights = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    integral = [
        ((p[:, None] + q[:, None] * z).max(axis=0) * weights).sum() - p.max() for p, q in zip(a, b, strict=True)
    ]
    np.testing.assert_allclose(np.exp(log_expected_rise(a, b)), integral, atol=1e-7)


def test_the_expected_rise_of_two_lines_by_hand() -> None:
    # max(0, Z - 1) less 0: phi(1) - Phi(-1) = 0.2419707 - 0.1586553. And max(Z, -Z): E|Z| = sqrt(2 / pi).
    rises = np.exp(log_expected_rise(np.array([[0.0, -1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [1.0, -1.0]])))
    np.testing.assert_allclose(rises, [0.0833155, math.sqrt(2 / math.pi)], rtol=1e-6)


@pytest.mark.each("candidates", [1, 2, 16])
def test_the_knowledge_gradient_is_that_of_every_candidate(candidates: int) -> None:
    agent = KG(candidates=candidates)
    posterior = believing(agent)
    gains = []
    for arm in range(4):
        shift = COVARIANCE[arm] / math.sqrt(COVARIANCE[arm, arm] + 0.5)
        gains.append(float(np.exp(log_expected_rise(MEAN[None], shift[None]))[0]))
    # Without correlation: the arm's own shift against the best other arm.
    own = np.diag(COVARIANCE) / np.sqrt(np.diag(COVARIANCE) + 0.5)
    others = np.array([0.3, 0.25, 0.3, 0.3])
    rank = np.argsort(-log_improvement(-np.abs(MEAN - others), own))[:candidates]
    assert agent.choose(posterior, 1).tolist() == [max(rank, key=lambda arm: gains[arm])]


def test_the_best_arm_is_a_candidate_by_its_lead() -> None:
    # It leads by 3, with a deviation of 1; the second has one of 2, and so the larger chance of a change.
    truth = PriorBandit(GaussianBandit(np.zeros(3), 0.5), GaussianPrior(np.diag([1.0, 4.0, 0.1]), [3.0, 0.0, 0.0]))
    agent = KG(candidates=1)
    agent.reset(ProblemInfo(3, 20, truth=truth, knows=agent.knows), np.random.default_rng(0))
    assert agent.choose(agent.posterior, 1).tolist() == [1]


# ------------------------------------------------------------------------------------------------ model and knowledge


def grid(runs: int, arms: int = 12) -> PriorBandit:
    return GaussianProcessProblem(arms).draw(runs, np.random.default_rng(0))


def play(agent: GaussianProcessAgent, bandit: Any, budget: int, seed: int = 1) -> Any:
    agent.reset(
        ProblemInfo(bandit.num_arms, budget, bandit.batch, truth=bandit, knows=agent.knows), np.random.default_rng(seed)
    )
    return play_blocks(agent, bandit, budget, np.random.default_rng(seed + 1))


@pytest.mark.each("name", NAMES)
def test_the_same_model_in_four_ways(name: str) -> None:
    bandit = grid(30)
    covariance = bandit.prior.covariance[0]
    given: list[dict[str, Any]] = [
        {},
        {"kernel": "exponential", "noise_variance": 0.1},
        {"kernel": "squared-exponential", "length": math.sqrt(0.5), "noise_variance": 0.1},
        {"kernel": covariance / 4.0, "amplitude": 2.0, "noise_variance": 0.1},
        {"kernel": RBF(math.sqrt(0.5)), "noise_variance": 0.1},
    ]
    rollouts = [play(agents.make(name, tie="first", **one), bandit, 9) for one in given]
    for other in rollouts[1:]:
        np.testing.assert_array_equal(other.pulls, rollouts[0].pulls)
        np.testing.assert_array_equal(other.recommendation, rollouts[0].recommendation)


def test_knowledge_and_features_follow_from_the_parameters() -> None:
    for make in (BayesGap, KG):
        assert make().knows == {"prior", "variances"} and not make().needs_features
        assert make(noise_variance=1.0).knows == {"prior"}
        assert make(kernel="matern", noise_variance=1.0).knows == frozenset() and make(kernel="matern").needs_features
        assert make(kernel=np.eye(3)).knows == {"variances"} and not make(kernel=np.eye(3)).needs_features
        assert make(kernel=RBF()).needs_features
        assert make().minimum_budget(1000) == 1
    assert BayesGap(kernel=np.eye(3)).label == "BayesGap(kernel=covariance 3x3)"
    # An oracle's noise is that of the noisiest arm.
    agent = EI()
    truth = PriorBandit(GaussianBandit(np.zeros(3), [0.5, 2.0, 1.0]), GaussianPrior(np.eye(3)))
    agent.reset(ProblemInfo(3, 5, truth=truth, knows=agent.knows), np.random.default_rng(0))
    assert agent.posterior.noise.tolist() == [2.0]


def test_only_pulled_arms_are_recommended_if_asked(trace: Callable[..., Any]) -> None:
    # The only pull pays less than the prior mean of the others.
    for output, arm in (("mean", 1), ("pulled", 0)):
        agent = EI(kernel=np.eye(3), noise_variance=1.0, output=output, tie="first")
        played = trace(agent, [[-1.0]] * 3, 1)
        assert (played.arms, played.recommendation) == ([0], arm)


@pytest.mark.each("name", NAMES)
def test_after_all_pulls_the_posterior_is_that_of_the_observation(name: str, trace: Callable[..., Any]) -> None:
    agent = agents.make(name, kernel=COVARIANCE, noise_variance=0.5, prior_mean=0.4)
    rewards = np.random.default_rng(0).normal(size=(4, 10))
    played = trace(agent, rewards, 10)
    chosen = np.array(played.arms)
    data = [rewards[arm][(chosen[:i] == arm).sum()] for i, arm in enumerate(chosen)]
    seen = COVARIANCE[np.ix_(chosen, chosen)] + 0.5 * np.eye(10)
    mean = 0.4 + COVARIANCE[:, chosen] @ np.linalg.solve(seen, np.array(data) - 0.4)
    np.testing.assert_allclose(agent.posterior.mean[0], mean, atol=1e-10)
    if name != "BayesGap":
        assert played.recommendation == mean.argmax()


@pytest.mark.each(
    ("parameters", "named"),
    [
        ({"kernel": "mattern"}, "Did you mean matern"),
        ({"kernel": 3}, "kernel of EI"),
        ({"kernel": np.eye(3)}, "covariance of EI"),
        ({"kernel": -np.eye(4)}, "prior covariance"),
        ({"kernel": np.ones((4, 3))}, "prior covariance"),
        ({"prior_mean": math.inf}, "prior mean"),
    ],
)
def test_priors_that_cannot_be_used_are_refused(parameters: dict[str, Any], named: str) -> None:
    agent = agents.make("EI", **parameters)
    bandit = PriorBandit(FeatureBandit(GaussianBandit(np.zeros(4)), np.eye(4)), GaussianPrior(np.eye(4)))
    with pytest.raises(BaiGymError, match=named) as caught:
        agent.reset(ProblemInfo(4, 10, truth=bandit, knows=agent.knows))
    assert "\n" not in str(caught.value)
