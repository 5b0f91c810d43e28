"""DPT and ICPE: the learned posterior against the exact one, draws from it, symmetries, files and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

from bai_gym import evaluate
from bai_gym.agents.training import in_context
from bai_gym.agents.training.in_context import DPT, FOLDER, ICPE, InContextNetworks, candidates, expected_certainty
from bai_gym.agents.training.playing import environments
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, DataError, ParameterError, UnknownNameError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray, Statistics

SHIPPED = environments(FOLDER)
ARMS = {"BAI-Bernoulli3-v0": (3, 40), "BAI-Bernoulli10-v0": (10, 200)}
both = pytest.mark.each("agent", [DPT, ICPE])
every_network = pytest.mark.each("env", SHIPPED)


def best_probabilities(pulls: IntArray, successes: IntArray) -> FloatArray:
    """P(arm i is the best | data) of ``(N, K)`` Bernoulli arms with uniform prior, by the midpoint rule."""
    x = (np.arange(2000) + 0.5) / 2000
    posterior = stats.beta(1 + successes[..., None], 1 + (pulls - successes)[..., None])
    density, below = posterior.pdf(x), posterior.cdf(x)  # (N, K, 2000)
    others = [np.delete(below, arm, axis=1).prod(axis=1) for arm in range(pulls.shape[1])]
    return np.asarray((density * np.stack(others, axis=1)).mean(axis=-1))


def statistics(pulls: Any, successes: Any) -> Statistics:
    """Statistics ``(N, K)`` of rewards of 0 and 1."""
    pulls = np.atleast_2d(pulls)
    means = np.atleast_2d(successes) / pulls
    return Statistics(pulls, means, means * (1.0 - means) * pulls / np.maximum(pulls - 1, 1))


def histories(num_arms: int, budget: int, runs: int) -> tuple[Statistics, IntArray]:
    """Histories that DPT and ICPE meet: of instances with uniform means, with very different pulls of the arms."""
    rng = np.random.default_rng(num_arms)
    shares = rng.dirichlet(np.ones(num_arms), runs)
    pulls = 1 + rng.multinomial(rng.integers(budget - num_arms + 1, size=runs), shares)
    successes = rng.binomial(pulls, rng.random((runs, num_arms)))
    return statistics(pulls, successes), successes


def began(agent: Any, bandit: Any, budget: int) -> Any:
    info = ProblemInfo(bandit.num_arms, budget, bandit.batch, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    return agent


@every_network
def test_the_probabilities_are_those_of_the_posterior(env: str) -> None:
    num_arms, budget = ARMS[env]
    seen, successes = histories(num_arms, budget, 150)
    exact = best_probabilities(seen.pulls, successes)
    found = DPT(env=env).networks.probabilities(seen)
    assert exact.sum(axis=1) == pytest.approx(np.ones(150), abs=1e-4)
    assert found.sum(axis=1) == pytest.approx(np.ones(150))
    assert np.abs(found - exact).mean() < 0.02
    # What the recommendation loses by the approximation, in probability.
    chosen = np.take_along_axis(exact, found.argmax(axis=1)[:, None], 1)[:, 0]
    assert (exact.max(axis=1) - chosen).mean() < 0.01


@every_network
def test_a_permutation_of_the_arms_permutes_what_the_networks_say(env: str) -> None:
    num_arms, budget = ARMS[env]
    seen, _ = histories(num_arms, budget, 50)
    order = np.random.default_rng(0).permutation(num_arms)
    other = Statistics(seen.pulls[:, order], seen.means[:, order], seen.variances[:, order])
    networks = DPT(env=env).networks
    np.testing.assert_allclose(networks.probabilities(other), networks.probabilities(seen)[:, order], atol=1e-4)
    given = [
        {"pulls": s.pulls, "means": s.means, "variances": s.variances, "remaining": np.full((50, 1), 7)}
        for s in (seen, other)
    ]
    one, two = (networks.values.logits(observation) for observation in given)
    np.testing.assert_allclose(two, one[:, order], atol=1e-4)


def test_dpt_draws_arms_with_their_probabilities() -> None:
    runs = 20_000
    agent = began(DPT(env="BAI-Bernoulli3-v0"), BernoulliBandit(np.full((runs, 3), 0.5)), 40)
    seen = statistics(np.tile([4, 5, 3], (runs, 1)), np.tile([3, 2, 1], (runs, 1)))
    expected = agent.networks.probabilities(seen)[0]
    drawn = np.bincount(agent.choose(seen, 10), minlength=3)
    assert stats.chisquare(drawn, runs * expected).pvalue > 0.001
    assert (agent.recommend({"pulls": seen.pulls, "means": seen.means, "variances": seen.variances}) == 0).all()


@both
def test_it_plays_any_number_of_arms_and_solves_an_easy_world(agent: Any) -> None:
    for num_arms in (2, 20):
        means = np.where(np.arange(num_arms) == 1, 1.0, 0.0)
        bandit = BernoulliBandit(np.tile(means, (50, 1)))
        player = began(agent(), bandit, 3 * num_arms)
        rollout = play_blocks(player, bandit, 3 * num_arms, np.random.default_rng(1))
        assert (rollout.statistics.pulls.sum(axis=1) == 3 * num_arms).all()
        assert (rollout.recommendation == 1).all()


@both
def test_other_rewards_than_0_and_1_are_refused(agent: Any) -> None:
    bandit = GaussianBandit([0.2, 0.5, 0.7], 1.0)
    with pytest.raises(AgentError, match="rewards of 0 and 1"):
        play_blocks(began(agent(), bandit, 12), bandit, 12, np.random.default_rng(1))


@both
def test_parameters_are_checked_in_one_line(agent: Any, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes((FOLDER / "BAI-Bernoulli3-v0.npz").read_bytes()[:900])
    of_learned = FOLDER.parent / "weights" / "BAI-Bernoulli3-v0.npz"
    given: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"env": "BAI-Bernoulli2-v0"}, UnknownNameError, "unknown trained environment"),
        ({"env": "BAI-Bernoulli3-v0", "path": "mine.npz"}, ParameterError, "not both"),
        ({"path": tmp_path / "none.npz"}, ParameterError, "no file of weights"),
        ({"path": of_learned}, DataError, "damaged"),
        ({"path": damaged}, DataError, "damaged"),
    ]
    for keywords, error, word in given:
        with pytest.raises(error, match=word):
            agent(**keywords)


@every_network
def test_shipped_weights_say_where_they_come_from(env: str, tmp_path: Path) -> None:
    facts = DPT(env=env).trained_on
    assert (facts["num_arms"], facts["budget"]) == ARMS[env]
    assert facts["command"].startswith(f"bai-gym train in-context {env} ")
    assert facts["recipe"]["env"] == env and env in gym.registry
    assert "/" not in json.dumps(facts)
    file = FOLDER / f"{env}.npz"
    assert file.stat().st_size < 100_000
    InContextNetworks.load(file).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == file.read_bytes()


# ------------------------------------------------------------------------------------------------ planning


def test_candidates_by_hand() -> None:
    # Of top-two sampling arm 0 is the leader with probability 1/2, and the challenger with 1/4 x (1/2) / (3/4), twice.
    found = candidates(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]))
    leads = 0.5 * 0.5 + 0.5 * (2 * 0.25 * 0.5 / 0.75)
    np.testing.assert_allclose(found[:, 0], [[1 / 3] * 3, [0.5, 0.25, 0.25], [leads, *[(1 - leads) / 2] * 2]])
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    np.testing.assert_allclose(found[1, 1], [0.0, 1.0, 0.0], atol=1e-6)


def test_simulated_certainty_is_that_of_the_posterior_after_the_pulls() -> None:
    # All outcomes of the pulls, from the beta-binomial distribution, with the exact posterior after each of them.
    pulls, successes, plan = np.array([3, 4, 2]), np.array([2, 1, 1]), np.array([2, 0, 3])
    arms = [stats.betabinom(more, 1 + s, 1 + n - s) for n, s, more in zip(pulls, successes, plan, strict=True)]
    outcomes = np.stack(np.meshgrid(*[np.arange(more + 1) for more in plan], indexing="ij"), axis=-1).reshape(-1, 3)
    chances = np.prod([arm.pmf(outcomes[:, k]) for k, arm in enumerate(arms)], axis=0)
    exact = best_probabilities(np.tile(pulls + plan, (len(outcomes), 1)), successes + outcomes).max(axis=1)
    runs = 500
    seen = statistics(np.tile(pulls, (runs, 1)), np.tile(successes, (runs, 1)))
    plans = np.stack([np.tile(plan, (runs, 1)), np.tile(plan[::-1], (runs, 1)), np.zeros((runs, 3), np.int64)])
    found = expected_certainty(DPT(env="BAI-Bernoulli3-v0").networks, seen, plans, np.random.default_rng(0))
    assert found[0].mean() == pytest.approx(chances @ exact, abs=0.02)
    now = best_probabilities(pulls[None], successes[None]).max()
    assert found[2] == pytest.approx(np.full(runs, now), abs=0.02)
    assert found[0].mean() > now + 0.02


def test_planning_solves_an_easy_world_with_any_budget_and_any_number_of_arms() -> None:
    for num_arms, budget in ((2, 5), (5, 16), (20, 90)):
        means = np.where(np.arange(num_arms) == 1, 1.0, 0.0)
        bandit = BernoulliBandit(np.tile(means, (20, 1)))
        rollout = play_blocks(began(DPT(play="planning"), bandit, budget), bandit, budget, np.random.default_rng(1))
        assert (rollout.statistics.pulls.sum(axis=1) == budget).all()
        assert (rollout.recommendation == 1).all()
    for budget in (1, 4):
        agent = DPT(env="BAI-Bernoulli3-v0", play="planning", allow_small_budget=True)
        assert evaluate(agent, "BAI-Bernoulli3-v0", budget=budget, runs=20, seed=0).runs == 20


def test_planning_looks_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def noted(networks: Any, seen: Statistics, plans: IntArray, rng: np.random.Generator) -> FloatArray:
        planned.extend(set(plans.sum(axis=2).ravel().tolist()))
        return expected_certainty(networks, seen, plans, rng)

    monkeypatch.setattr(in_context, "expected_certainty", noted)
    bandit = BernoulliBandit(np.full((2, 3), 0.5))
    play_blocks(began(DPT(env="BAI-Bernoulli3-v0", play="planning"), bandit, 33), bandit, 33, np.random.default_rng(1))
    assert planned == list(range(30, 0, -3))  # after a pull of each arm, in ten parts


def test_planning_is_refused_without_binary_rewards_or_the_uniform_prior(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="play of DPT"):
        DPT(play="plan")
    networks = InContextNetworks.load(FOLDER / "BAI-Bernoulli3-v0.npz")
    for env in ("BAI-Bernoulli-Setup4-v0", "mine"):
        path = tmp_path / "weights.npz"
        InContextNetworks(networks.posterior, networks.values, {**networks.facts, "env": env}).save(path)
        assert DPT(path=path).play == "sampling"
        with pytest.raises(ParameterError, match="for Bernoulli arms"):
            DPT(path=path, play="planning")
    bandit = GaussianBandit([0.2, 0.5, 0.7], 1.0)
    with pytest.raises(AgentError, match="rewards of 0 and 1"):
        play_blocks(began(DPT(play="planning"), bandit, 12), bandit, 12, np.random.default_rng(1))
