"""Thompson sampling and top-two Thompson sampling: posteriors, choices, and the law of the screened draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bai_gym import evaluate
from bai_gym.agents import TS, TTTS
from bai_gym.agents.posteriors import POSTERIORS, Posterior
from bai_gym.agents.thompson_rules import NONE, TopTwoRule
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, BudgetError, ParameterError
from bai_gym.problems import Briefing
from bai_gym.statistics import Statistics

Play = Callable[..., Any]
LEVEL = 0.001
RUNS = 40_000
SIGMA = 0.7


def window(pulls: list[float], means: list[float], variances: list[float] | None = None, runs: int = 1) -> Statistics:
    columns = (pulls, means, [0.0] * len(pulls) if variances is None else variances)
    return Statistics(*(np.tile(np.array(column, float)[:, None], (1, runs)) for column in columns))


def laws(kind: str, w: Statistics) -> list[Any]:
    """The posteriors of the arms of the first episode."""
    found: list[Any] = []
    for pulls, mean, variance in zip(w.pulls[:, 0], w.means[:, 0], w.variances[:, 0], strict=True):
        if kind == "bernoulli":
            successes = round(mean * pulls)
            found.append(stats.beta(1 + successes, 1 + pulls - successes))
        elif kind == "normal":
            found.append(stats.norm(mean, SIGMA / math.sqrt(pulls)))
        else:
            found.append(stats.t(pulls - 1, mean, math.sqrt(variance / pulls)))
    return found


CASES = {
    "bernoulli": ([1, 4, 9, 30], [1.0, 0.25, 2 / 3, 0.5], [0.0] * 4),
    "normal": ([1, 2, 7, 40], [0.2, 0.5, 0.0, 0.4], [0.0] * 4),
    "student": ([2, 3, 8, 400], [0.2, 0.5, 0.0, 0.4], [1.0, 0.5, 2.0, 9.0]),
}


def posterior(kind: str, runs: int = 1) -> Posterior:
    return POSTERIORS[kind](window(*CASES[kind], runs=runs), SIGMA, "TTTS")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", CASES)
def test_draws_have_the_law_of_the_posterior(kind: str) -> None:
    model, rng = posterior(kind, RUNS), np.random.default_rng(1)
    out = np.empty((4, RUNS))
    model.draw(rng, out)
    again = model.draw_columns(np.zeros(RUNS, np.int64), rng)
    pairs = model.draw_pairs(np.arange(4) * RUNS + 5, RUNS, rng).T
    for draws in (out, again, pairs):
        p_values = [stats.kstest(draws[arm], law.cdf).pvalue for arm, law in enumerate(laws(kind, model._window))]
        assert min(p_values) > LEVEL / 36
        assert abs(np.corrcoef(draws.clip(-3, 3)) - np.eye(4)).max() < 4.5 / math.sqrt(RUNS)


@pytest.mark.parametrize("kind", CASES)
def test_probabilities_of_exceeding_and_their_bounds(kind: str) -> None:
    model = posterior(kind)
    for arm, law in enumerate(laws(kind, model._window)):
        flat = np.array([arm])
        for chance in (0.999, 0.6, 0.3, 0.02, 1e-5, 1e-9):
            level = np.array([law.isf(chance)])
            assert model.exceed(level, flat)[0] == pytest.approx(chance, rel=1e-6)
            assert model.exceeded_with(np.array([chance]), flat)[0] == pytest.approx(level[0], rel=1e-6, abs=1e-9)
            assert model.exceed_bound(level, np.array([0]))[arm, 0] >= chance * (1 - 1e-9)
        if chance < 1e-8 and kind == "normal":
            assert model.exceed_bound(level, np.array([0]))[arm, 0] < 1e-7  # it rules something out


@pytest.mark.parametrize("kind", CASES)
def test_updates_give_the_tables_of_a_fresh_start(kind: str) -> None:
    rng = np.random.default_rng(0)
    rewards = (rng.random((3, 40)) < 0.4) * 1.0
    first = POSTERIORS[kind].first_pulls
    w = Statistics.zeros((3, 1))
    for reward in rewards[:, :first].T:
        for arm in range(3):
            w.add(np.array([arm]), reward[arm : arm + 1])
    w = Statistics(w.pulls.astype(float), w.means, w.variances)
    model = POSTERIORS[kind](w, SIGMA, "TS")
    for step in range(first, 40):
        flat = np.array([step % 3])
        model.update(flat, *w.add(flat, rewards[step % 3, step : step + 1]))
    np.testing.assert_allclose(model.tables, POSTERIORS[kind](w, SIGMA, "TS").tables, rtol=1e-12)


class Slow(TopTwoRule):
    """All draws of all arms."""

    PLAIN = 100


def choices(rule: type[TopTwoRule], kind: str, case: Any, runs: int = RUNS, tries: int = 100) -> np.ndarray:
    """How often each arm is pulled first; the k-th bin counts what comes after the search."""
    drawn = rule(1, lambda w: POSTERIORS[kind](w, SIGMA, "TTTS"), 0.5, 100, tie="random", rng=np.random.default_rng(5))
    drawn.start(window(*case, runs=runs))
    return np.bincount(drawn.choose() // runs, minlength=len(case[0]))


CLEAR_LEADERS = {
    "bernoulli": ([60, 40, 50, 5], [0.8, 0.45, 0.56, 0.2], [0.0] * 4),
    "normal": ([30, 30, 20, 4], [1.2, 0.75, 0.55, -0.3], [0.0] * 4),
    "student": ([20, 12, 8, 3], [1.2, 0.6, 0.3, -0.4], [0.4, 0.3, 0.5, 0.2]),
}


@pytest.mark.parametrize("kind", CASES)
def test_screened_draws_have_the_law_of_plain_ones(kind: str) -> None:
    # Other arms are the largest in about 1 of 100 draws, so that few, several and all draws are needed.
    fast, slow = (choices(rule, kind, CLEAR_LEADERS[kind]) for rule in (TopTwoRule, Slow))
    assert fast[0] < 0.9 * RUNS and (slow[1:3] > 100).all()
    assert stats.chi2_contingency(np.stack([fast, slow])).pvalue > LEVEL / 3


@pytest.mark.parametrize("kind", CASES)
def test_a_screened_search_by_itself(kind: str) -> None:
    runs, tries = RUNS, 30
    rng = np.random.default_rng(6)
    rule = TopTwoRule(1, lambda w: POSTERIORS[kind](w, SIGMA, "TTTS"), 0.5, 100, tie="random", rng=rng)
    rule.start(window(*CASES[kind], runs=runs))  # type: ignore[arg-type]
    leaders, columns = np.full(runs, 2), np.arange(runs)
    found = [
        np.bincount(search(leaders, columns, tries) - NONE, minlength=5) for search in (rule._plain, rule._screened)
    ]
    table = np.stack(found)
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > LEVEL / 3


def test_two_arms_are_chosen_with_the_probabilities_of_the_paper() -> None:
    # P(arm 1 larger) = p: arm 1 is pulled with probability p beta + (1 - p) (1 - beta), up to the end after 100 draws.
    case = ([4.0, 9.0], [0.3, 0.0], [0.0, 0.0])
    p = stats.norm.cdf(-0.3 / (SIGMA * math.sqrt(1 / 4 + 1 / 9)))
    for beta in (0.5, 0.8):
        rule = TopTwoRule(
            1, lambda w: POSTERIORS["normal"](w, SIGMA, ""), beta, 100, tie="random", rng=np.random.default_rng(7)
        )
        rule.start(window(*case, runs=RUNS))
        second = int((rule.choose() // RUNS).sum())
        assert stats.binomtest(second, RUNS, p * beta + (1 - p) * (1 - beta)).pvalue > LEVEL / 2


def test_thompson_sampling_pulls_with_the_probability_of_being_best() -> None:
    case = ([4.0, 9.0], [0.3, 0.0], [0.0, 0.0])
    p = stats.norm.cdf(-0.3 / (SIGMA * math.sqrt(1 / 4 + 1 / 9)))
    agent = TS(posterior="normal", sigma=SIGMA)
    agent.reset(Briefing(2, 20, RUNS), np.random.default_rng(8))
    rule: Any = agent.rule(1)
    rule.start(window(*case, runs=RUNS))
    assert stats.binomtest(int((rule.choose() // RUNS).sum()), RUNS, p).pvalue > LEVEL


def test_the_arm_cheapest_to_confuse_by_hand() -> None:
    # Certain posteriors: I = arm 0 for ever. Costs (m_0 - m_j)^2 / (1/T_0 + 1/T_j), all v being the smallest:
    # 1 / (1/4 + 1/9) = 2.77, 4 / (1/4 + 1/2) = 5.33, 1.44 / (1/4 + 1/3) = 2.47.
    case = ([4, 9, 2, 3], [3.0, 2.0, 1.0, 1.8], [0.0] * 4)
    counts = choices(TopTwoRule, "student", case, runs=400)
    assert counts[[1, 2]].sum() == 0 and abs(counts[0] - 200) < 50 and counts[3] == 400 - counts[0]
    # With variances: 1 / (1/4 + 0.9/9) = 2.86; 1.44 / (1/4 + 2/3) = 1.57; 4 / (1/4 + 8/2) = 0.94.
    rng = np.random.default_rng(0)
    rule = TopTwoRule(1, lambda w: POSTERIORS["student"](w, 1.0, ""), 0.5, 100, tie="first", rng=rng)
    rule.start(window(case[0], case[1], [1.0, 0.9, 8.0, 2.0]))  # type: ignore[arg-type]
    assert rule._cheapest(np.array([0]), np.array([0])).tolist() == [2]


def test_tied_certain_arms_share_the_pulls() -> None:
    # Arms 0 and 1 are certain and equal, 2 is certain and below: I and J are 0 and 1.
    counts = choices(TopTwoRule, "student", ([2, 2, 2], [1.0, 1.0, 0.0], [0.0] * 3))
    assert counts[2] == 0 and abs(counts[0] - RUNS / 2) < 4 * math.sqrt(RUNS / 4)


def test_first_pulls_and_minimum_budgets(trace: Play) -> None:
    for kind in (TS, TTTS):
        assert kind().minimum_budget(5) == 10 and kind(posterior="bernoulli").minimum_budget(5) == 5
        assert trace(kind(tie="first"), [[0.5, 1.0], [0.0, 1.0], [0.25, 2.0]], 9).arms[:6] == [0, 1, 2] * 2
        played = trace(kind(tie="first", posterior="bernoulli"), [[1.0], [0.0], [1.0]], 3)
        assert (played.arms, played.recommendation) == ([0, 1, 2], 0)
        with pytest.raises(BudgetError, match="below the minimum"):
            kind(posterior="normal").reset(Briefing(5, 4))


def test_variances_are_read_by_student_alone() -> None:
    for kind in (TS, TTTS):
        assert kind().uses_variances
        assert not kind(posterior="bernoulli").uses_variances and not kind(posterior="normal").uses_variances


def recommend(agent: Any, pulls: list[int], means: list[float]) -> int:
    agent.reset(Briefing(len(pulls), 200), np.random.default_rng(0))
    arms = agent.recommend({"pulls": np.array([pulls]), "means": np.array([means]), "remaining": np.array([[0]])})
    return int(arms[0])


def test_recommendations() -> None:
    assert recommend(TS(), [5, 9, 4], [0.9, 0.1, 0.5]) == 1
    assert recommend(TTTS(), [5, 9, 4], [0.9, 0.1, 0.5]) == 0
    # Posterior means (1 + s) / (2 + T): 2/3 after 1 of 1, 10/12 after 9 of 10.
    assert recommend(TTTS(posterior="bernoulli"), [1, 10], [1.0, 0.9]) == 1
    assert recommend(TTTS(posterior="normal"), [1, 10], [1.0, 0.9]) == 0


@pytest.mark.parametrize("kind", [TS, TTTS])
@pytest.mark.parametrize("rewards", [[[0.5], [0.0]], [[1.0, 0.25], [0.0]], [[1.0, 2.0], [1.0]], [[-1.0, 1.0], [0.0]]])
def test_bernoulli_refuses_other_rewards(trace: Play, kind: Any, rewards: Any) -> None:
    message = f"{kind.name} with posterior='bernoulli' needs rewards of 0 and 1.*use posterior='student'"
    with pytest.raises(AgentError, match=message):
        trace(kind(posterior="bernoulli"), rewards, 40)
    bandit = GaussianBandit([0.5, 0.0], 1.0)
    agent = kind(posterior="bernoulli")
    agent.reset(Briefing(2, 40, 1), np.random.default_rng(0))
    with pytest.raises(AgentError, match=message):
        play_blocks(agent, bandit, 40, np.random.default_rng(0))


@pytest.mark.parametrize("kind", [TS, TTTS])
@pytest.mark.parametrize("posterior", POSTERIORS)
def test_extreme_rewards_give_no_warning(kind: Any, posterior: str) -> None:
    means = np.tile([0.0, 1.0, 1.0, 0.5, 0.0, 0.02, 0.98], (300, 1))
    agent = kind(posterior=posterior, sigma=1e-9)
    agent.reset(Briefing(7, 300, 300), np.random.default_rng(0))
    rollout = play_blocks(agent, BernoulliBandit(means), 300, np.random.default_rng(1))
    assert (rollout.pulls.sum(axis=1) == 300).all()


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (TS(posterior="cauchy"), "posterior of TS must be one of 'student', 'bernoulli', 'normal', not 'cauchy'"),
        (TTTS(posterior=""), "posterior of TTTS must be one of"),
        (TS(sigma=0.0), "sigma of TS must be a positive number, not 0.0"),
        (TTTS(sigma=math.nan), "sigma of TTTS must be a positive number, not nan"),
        (TTTS(beta=0.0), "beta of TTTS must lie strictly between 0 and 1, not 0.0"),
        (TTTS(beta=1.0), "beta of TTTS"),
        (TTTS(beta=math.nan), "beta of TTTS"),
    ],
)
def test_parameters_out_of_range(agent: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        agent.reset(Briefing(3, 20))


def test_without_tries_the_cheapest_arm_to_confuse_is_pulled() -> None:
    # Costs of the arms 1 and 2 against arm 0, with sigma the same: 0.25 / (1/9 + 1/9) = 1.125, 1 / (1/9 + 1/1) = 0.9.
    means, pulls = [5.0, 4.5, 4.0], [9.0, 9.0, 1.0]
    rule = TopTwoRule(
        1, lambda w: POSTERIORS["normal"](w, 0.01, ""), 0.5, 0, tie="random", rng=np.random.default_rng(8)
    )
    rule.start(window(pulls, means, [0.0, 0.0, 0.0], runs=RUNS))
    counts = np.bincount(rule.choose() // RUNS, minlength=3)
    assert counts[1] == 0 and abs(counts[0] / RUNS - 0.5) < 0.05


@pytest.mark.parametrize("tries", [-1, 1.5, True])
def test_tries_are_whole_numbers(tries: object) -> None:
    with pytest.raises(ParameterError, match="tries of TTTS must be a whole number of at least 0"):
        evaluate(TTTS(tries=tries), "BAI-Custom-v0", budget=20, runs=1)  # type: ignore[arg-type]
