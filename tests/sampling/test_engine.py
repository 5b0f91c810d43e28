"""EpisodeSpec in compiled code, uncompiled, and step by step: the same choices; what a user's mistakes lead to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from bai_gym.bandits import BernoulliBandit, EmpiricalBandit, GaussianBandit, PoissonBandit, SampleTable
from bai_gym.errors import AgentError
from bai_gym.sampling import (
    STOP,
    WAIT,
    Engine,
    Episode,
    Outcome,
    PerArm,
    Rule,
    Sequential,
    State,
    States,
    Vector,
    engine,
    larger,
    second_of_largest_index,
    total,
)
from bai_gym.statistics import FloatArray, IntArray, Statistics

pytestmark = pytest.mark.usefixtures("compiled")


class Numbers(State):
    width: float
    lead: float
    count: float
    seen: bool
    level: float = 2.5
    table: Vector
    scores: PerArm


FLAT = 2.0  # a constant of the module, which compiled code may use


def bound(pulls: float, mean: float, variance: float, s: Numbers) -> float:
    return mean + s.width * math.sqrt(FLAT / pulls) if pulls > 0.0 else math.inf


def own_mean(pulls: float, mean: float, variance: float, s: Numbers) -> float:
    return mean


def runner_up_half_of_the_time(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    if e.made % 2 == 0:
        return e.leader
    second = second_of_largest_index(e.indices, e.leader)
    return second if second >= 0 else e.leader


def halve_the_width(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    if e.pulled >= 0:
        s.width /= 2.0
        e.active[leader_of_smallest_mean(e)] = 0
    s.count += 1.0
    return e.made + 10


def drop_the_worst(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    if e.pulled >= 0:
        e.active[leader_of_smallest_mean(e)] = 0
    return e.made + 10


def fewest_pulls_left(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    least = 0
    for arm in range(e.pulls.size):
        if e.active[arm] > e.active[least] or (e.active[arm] == e.active[least] and e.pulls[arm] < e.pulls[least]):
            least = arm
    return least


def leader_of_smallest_mean(e: Episode) -> int:
    worst = -1
    for arm in range(e.mean.size):
        if e.active[arm] == 1 and (worst < 0 or e.mean[arm] < e.mean[worst]):
            worst = arm
    return worst


def lead_is_large(e: Episode, s: Numbers, w: Numbers) -> bool:
    best, second = -np.inf, -np.inf
    for mean in e.mean:
        best, second = max(best, mean), max(second, min(best, mean))
    return best - second > s.lead / math.sqrt(e.made)


RULES = {
    "index": Rule(state=Numbers, index=bound),
    "chooses": Rule(state=Numbers, index=bound, choose=runner_up_half_of_the_time),
    "refresh": Rule(state=Numbers, index=bound, refresh=halve_the_width),
    "drops": Rule(state=Numbers, index=bound, choose=runner_up_half_of_the_time, refresh=drop_the_worst),
    "drops without an index": Rule(state=Numbers, choose=fewest_pulls_left, refresh=drop_the_worst),
    "stops": Rule(state=Numbers, index=bound, stops=lead_is_large),
}


VALUES: dict[str, Any] = {"width": 0.7, "lead": 2.5, "table": np.arange(3.0)}


def start(bandit: Any, runs: int, first: int = 1) -> Statistics:
    counts = np.full((runs, bandit.num_arms), first, np.int64)
    return bandit.pull_block(counts, np.random.default_rng(7))


def play(
    rule: Rule,
    bandit: Any,
    steps: int,
    *,
    tie: str = "first",
    table: bool = True,
    points: tuple[int, ...] = (),
    **more: Any,
) -> Outcome:
    """Play N episodes; without ``table``, all of them step by step, by ``bandit.pull``."""
    begin = start(bandit, bandit.batch)
    made, rng, rewards = bandit.num_arms, np.random.default_rng(1), np.random.default_rng(2)
    request = Sequential(rule, steps, tie, rng, VALUES, **more)
    engine = Engine(request, begin, made, bandit.features, variances=True)

    def pull(rows: IntArray, slots: IntArray) -> FloatArray:
        return bandit.pull(rows * bandit.num_arms + slots, rewards)

    for point in (*points, steps):
        engine.advance(bandit.draws() if table else None, rewards, point, pull)
        assert engine.statistics.pulls.sum(axis=1).max() - begin.pulls[0].sum() <= point
    return engine.outcome


def same(one: Outcome, other: Outcome) -> None:
    for name in ("pulls", "means", "variances"):
        np.testing.assert_allclose(
            getattr(one.statistics, name), getattr(other.statistics, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
    np.testing.assert_array_equal(one.states["count"], other.states["count"])
    np.testing.assert_array_equal(one.stopped, other.stopped)


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Switch compiled code off."""
    return lambda: monkeypatch.setattr(engine, "can_compile", lambda: False)


@pytest.mark.each("name", RULES)
def test_compiled_uncompiled_and_stepwise_rules_choose_alike(name: str, uncompiled: Callable[[], None]) -> None:
    # Where every reward is its arm's mean, nothing is random but ties, and these go to the first arm.
    means = np.random.default_rng(0).random((40, 5)).round(1)
    means[0] = 0.5
    bandit = GaussianBandit(means, 0.0)
    whole = play(RULES[name], bandit, 60)
    assert name == "stops" or (whole.statistics.pulls.sum(axis=1) == 65).all()
    same(whole, play(RULES[name], bandit, 60, points=(1, 17, 18, 40)))
    same(whole, play(RULES[name], bandit, 60, table=False))
    uncompiled()
    same(whole, play(RULES[name], bandit, 60))
    if name == "stops":
        assert 0 < whole.stopped.sum() < 40
        assert (whole.statistics.pulls.sum(axis=1)[~whole.stopped] == 65).all()
    if name == "refresh":
        assert (whole.states["count"] == 6).all() and len(set(whole.statistics.pulls[1].tolist())) > 2


def sum_of_means(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count = total(e.mean)
    return e.made % e.pulls.size


def largest_mean(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count = -np.inf
    for arm in range(e.mean.size):
        s.count = larger(e.mean[arm], s.count)
    return e.made % e.pulls.size


def test_dropped_arms_are_pulled_no_more() -> None:
    bandit = GaussianBandit(np.random.default_rng(3).normal(size=(30, 6)), 1.0)
    played, before = (play(RULES["drops"], bandit, steps).statistics.pulls for steps in (40, 10))
    assert (played == before).any(axis=1).all()  # an arm that was dropped then


def test_sums_and_maxima_are_the_same_numbers_in_compiled_code(uncompiled: Callable[[], None]) -> None:
    rng = np.random.default_rng(3)
    bandits = [GaussianBandit(rng.standard_normal((5, arms)) / 3.0, 0.0) for arms in (2, 7, 8, 9, 16, 45)]

    def numbers() -> list[Any]:
        return [
            [play(Rule(state=Numbers, choose=choose), each, 3).states["count"].tolist() for choose in rules]
            for each in bandits
        ]

    rules = (sum_of_means, largest_mean)
    found = numbers()
    uncompiled()
    assert found == numbers()  # to the last bit
    for bandit, (sums, largest) in zip(bandits, found, strict=True):
        assert sums == pytest.approx([math.fsum(row) for row in bandit.means], rel=1e-12)
        assert largest == bandit.means.max(axis=1).tolist()


SAMPLES = SampleTable.of(
    np.array([0.0, 1.0, 4.0, 1.0, 1.5, 0.5, 0.5, 2.5, 1.0, -1.0, 2.0, 2.0]), np.array([0, 3, 5, 9, 12])
)
BANDITS = {
    "gaussian": GaussianBandit([1.0, 0.8, 0.8, 0.5], [1.0, 0.2, 2.0, 0.5]),
    "bernoulli": BernoulliBandit([0.6, 0.5, 0.5, 0.1]),
    "poisson": PoissonBandit([1.0, 0.8, 30.0, 0.0]),
    "empirical": EmpiricalBandit(SAMPLES, np.array([[0, 1, 2, 3]])),
    "single precision": EmpiricalBandit(
        replace(SAMPLES, rewards=SAMPLES.rewards.astype(np.float32)), np.array([[0, 1, 2, 3]])
    ),
}


@pytest.mark.each("kind", BANDITS)
def test_compiled_rewards_have_the_distribution_of_the_arms(kind: str) -> None:
    many = BANDITS[kind].select(np.zeros(8000, np.int64))
    tables, pulls = (play(RULES["index"], many, 30, tie="random", table=table).statistics for table in (True, False))
    p_values = []
    for name in ("pulls", "means", "variances"):
        for arm in range(4):
            one, other = (np.round(getattr(part, name)[:, arm], 9) for part in (tables, pulls))
            p_values.append(float(ks_2samp(one, other, method="asymp").pvalue))
    assert min(p_values) * len(p_values) > 0.001
    assert (tables.means != pulls.means).any()


def test_random_ties_are_uniform_in_compiled_code() -> None:
    # Three of four arms have the same index after the first pulls, and one more pull is made.
    bandit = GaussianBandit(np.tile([0.5, 0.5, 0.2, 0.5], (9000, 1)), 0.0)
    extra = play(RULES["index"], bandit, 1, tie="random").statistics.pulls.sum(axis=0) - 9000
    assert extra[2] == 0 and extra.sum() == 9000
    assert chi2_contingency([extra[[0, 1, 3]], [3000, 3000, 3000]]).pvalue > 1e-4


def test_candidates_and_a_window_of_their_own() -> None:
    bandit = GaussianBandit([[0.0, 9.0, 5.0, 1.0]], 0.0)
    window = Statistics(np.array([[2, 0]]), np.array([[7.0, 0.0]]), np.array([[0.5, 0.0]]))
    request = Sequential(
        Rule(index=own_mean),
        3,
        "first",
        np.random.default_rng(0),
        arms=np.array([[2, 3]]),
        window=window,
    )
    engine = Engine(request, window, 11, None, variances=True)
    engine.advance(bandit.draws(), np.random.default_rng(0), 3, lambda rows, slots: np.zeros(0))
    # Arm 2 leads with a mean of 7, and pays 5.
    found = engine.outcome.statistics
    assert found.pulls.tolist() == [[5, 0]]
    np.testing.assert_allclose(found.means, [[29 / 5, 0.0]])
    np.testing.assert_allclose(found.variances[0, 0], (0.5 + 2 * (7 - 5.8) ** 2 + 3 * (5 - 5.8) ** 2) / 4)


def wait_for_a_number(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    if s.count == 0.0:
        return WAIT
    arm = int(s.count) - 1
    s.count = 0.0
    return arm if e.made < 7 else STOP


def test_waiting_episodes_are_supplied_together() -> None:
    bandit = GaussianBandit(np.zeros((3, 4)), 0.0)
    asked: list[list[int]] = []

    def supply(rows: IntArray, states: States, statistics: Statistics) -> None:
        asked.append(rows.tolist())
        states["count"][rows] = 1.0 + rows % 2

    played = play(Rule(state=Numbers, choose=wait_for_a_number), bandit, 9, supply=supply)
    assert played.statistics.pulls.tolist() == [[4, 1, 1, 1], [1, 4, 1, 1], [4, 1, 1, 1]]
    assert played.stopped.all() and asked == [[0, 1, 2]] * 4


def stop_or_wait(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count += 1.0
    if e.mean[0] > 0.5:
        return STOP if s.count == 1.0 else 0  # asked once more, it would pull
    return WAIT if s.count == 1.0 else 1


def test_an_episode_that_has_stopped_stays_so_while_others_wait() -> None:
    bandit = GaussianBandit([[1.0, 0.0], [0.0, 0.0]], 0.0)
    played = play(Rule(state=Numbers, choose=stop_or_wait), bandit, 3, supply=lambda rows, states, seen: None)
    assert played.stopped.tolist() == [True, False] and played.statistics.pulls.tolist() == [[1, 1], [1, 4]]


def choose_in_turn(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count += 1.0
    return int(s.count) % 2 if s.count > 0.0 else WAIT


def test_an_episode_that_has_chosen_is_not_asked_again_while_others_wait() -> None:
    def supply(rows: IntArray, states: States, statistics: Statistics) -> None:
        states["count"][rows] = 0.0

    counts, window = np.array([0.0, -1.0]), Statistics.zeros((2, 2))
    rule = Rule(state=Numbers, choose=choose_in_turn)
    request = Sequential(
        rule, 4, "first", np.random.default_rng(0), {"count": counts, "table": np.zeros(1)}, supply=supply
    )
    engine = Engine(request, window, 0, None, variances=True)
    assert engine.choose().tolist() == [1, 1]


# ------------------------------------------------------------------------------------------------ mistakes


def returns_nothing(pulls: float, mean: float, variance: float, s: Numbers) -> None:
    return None


def takes_too_few(pulls: float, mean: float) -> float:
    return mean


def joins_text(pulls: float, mean: float, variance: float, s: Numbers) -> float:
    return float(str(mean))


def misspells(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    return e.made % numArms  # noqa: F821


def misspells_a_field(e: Any, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    return int(e.pulsl.argmin())


def adds_text(pulls: float, mean: float, variance: float, s: Numbers) -> float:
    return helps(mean) + s.width


def helps(mean: Any) -> float:
    return float(mean + "a")


def draws_an_arm(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count += 1.0
    return int(rng.random() * e.num_arms)


def draws_and_joins(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count += float(str(1.0))
    return int(rng.random() * e.num_arms)


def out_of_range(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    return 17


def test_what_cannot_be_compiled_runs_uncompiled_with_a_warning() -> None:
    means = np.random.default_rng(0).random((5, 3))
    message = r"^joins_text of Mine cannot be compiled \(could not convert string.*\): it runs uncompiled"
    with pytest.warns(UserWarning, match=message) as caught:
        slow = play(Rule(state=Numbers, index=joins_text), GaussianBandit(means, 0.0), 20, agent="Mine")
    assert "\n" not in str(caught[0].message) and "\x1b" not in str(caught[0].message)  # one line, without colours
    same(slow, play(Rule(state=Numbers, index=own_mean), GaussianBandit(means, 0.0), 20))
    with pytest.warns(UserWarning, match="draws_and_joins of Mine cannot be compiled"):
        slow = play(Rule(state=Numbers, choose=draws_and_joins), GaussianBandit(means, 0.0), 20, agent="Mine")
    same(slow, play(Rule(state=Numbers, choose=draws_an_arm), GaussianBandit(means, 0.0), 20))


def test_a_mistake_in_a_rule_begins_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    cases: dict[str, dict[str, Any]] = {
        r"`return e.made % numArms .*` in misspells of Mine raised NameError": {"choose": misspells},
        r"`return int\(e.pulsl.argmin\(\)\)` in misspells_a_field of Mine raised Attr": {"choose": misspells_a_field},
        r"`return float\(mean \+ \"a\"\)` in helps of Mine raised TypeError": {"index": adds_text},
    }
    for compiled_from in (0, 10**9):
        monkeypatch.setattr(engine, "COMPILED_FROM", compiled_from)
        for said, functions in cases.items():
            with pytest.raises(AgentError, match=rf"^line \d+ of test_engine.py: {said}") as caught:
                played_by(**functions)
            cause = caught.value.__cause__
            assert cause is not None and cause.__traceback__ is not None
            assert cause.__traceback__.tb_frame.f_code.co_filename == __file__  # no line of ours before it


def uses_everything(e: Episode, s: Numbers, w: Numbers, rng: np.random.Generator) -> int:
    s.count = int(s.count) + 1
    s.seen = not s.seen
    for arm in range(w.scores.size):
        w.scores[arm] += 10.0 * arm + w.table[arm % w.table.size]
    return e.made % e.pulls.size


def test_fields_are_read_and_written_by_name(uncompiled: Callable[[], None]) -> None:
    bandit = GaussianBandit(np.zeros((3, 9)), 0.0)
    for compiled in (True, False):
        if not compiled:
            uncompiled()
        states = play(Rule(state=Numbers, choose=uses_everything), bandit, 5).states
        assert states["count"].tolist() == [5.0] * 3 and states["seen"].tolist() == [1.0] * 3, compiled
        assert states["table"].tolist() == [[0.0, 1.0, 2.0]] * 3 and states["level"].tolist() == [2.5] * 3, compiled
        assert states["scores"][1].tolist() == [5.0 * (10.0 * arm + arm % 3) for arm in range(9)], compiled


@pytest.mark.each(
    "values", [{"wide": 1.0}, {"width": np.ones(3), "table": 1.0 + np.arange(3)}, {"width": 1.0}], ids=str
)
def test_values_that_do_not_fit_the_fields_are_refused(values: dict[str, Any]) -> None:
    statistics = Statistics.zeros((2, 4))
    request = Sequential(Rule(state=Numbers, index=bound), 1, "first", np.random.default_rng(0), values)
    with pytest.raises(AgentError, match="wide|width|table"):
        Engine(request, statistics, 0, None, variances=False)


def test_fields_and_defaults_are_those_of_all_bases() -> None:
    class Bound(State):
        bound: float = 7.0

    class Both(Numbers, Bound):
        level: float = 3.5
        last: int

    s, w = Both.of(table=[4.0, 5.0], scores=[6.0], last=2)
    assert (s.bound, s.level, s.last, w.table.tolist(), w.scores.tolist()) == (7.0, 3.5, 2, [4.0, 5.0], [6.0])
    s.last, w.scores[0] = 9, 1.0
    assert (s.last, w.scores[0], s.bound, s.width) == (9, 1.0, 7.0, 0.0) and Numbers.of(table=[])[0].level == 2.5


class Limit(State):
    limit: int
    count: int


def until_limit(e: Episode, s: Limit, w: Limit, rng: np.random.Generator) -> int:
    s.count += 1
    return STOP if e.made >= s.limit else e.made % 2


def limited(window: Statistics | None = None) -> Engine:
    """Two episodes that stop at 1 and 3 pulls, or the like from a window on; 8 pulls have been made in any case."""
    limits = {"limit": np.array([1.0, 3.0]) + (8 if window is None else 3)}
    request = Sequential(
        Rule(choose=until_limit, state=Limit), 5, "first", np.random.default_rng(0), limits, window=window
    )
    return Engine(request, window or Statistics.zeros((2, 2)), 8, None, variances=True)


def test_only_the_pulls_of_a_window_count() -> None:
    assert limited().choose().tolist() == [0, 0]
    window = Statistics(np.array([[2, 1], [1, 2]]), np.zeros((2, 2)), np.zeros((2, 2)))
    assert limited(window).choose().tolist() == [1, 1]


def test_an_outcome_is_of_its_moment_and_the_most_pulls_are_those_of_the_longest_episode() -> None:
    engine = limited()
    before = engine.outcome
    engine.advance(None, np.random.default_rng(0), 5, lambda rows, slots: np.zeros(rows.size))
    assert engine.statistics.pulls.sum(axis=1).max() == 3 and engine.stopped.all()
    assert before.states["count"].tolist() == [0.0, 0.0] and engine.outcome.states["count"].tolist() == [2.0, 4.0]


def played_by(**functions: Any) -> None:
    """Play three pulls of two arms by a rule of these functions."""
    play(Rule(state=Numbers, **functions), GaussianBandit([[0.0, 1.0]]), 3, agent="Mine")


def wrong_state(**fields: type) -> None:
    """Define a state with these fields."""
    type("Wrong", (State,), {"__annotations__": {name: kind.__name__ for name, kind in fields.items()}})


@pytest.mark.each(
    ("call", "message"),
    [
        (lambda: played_by(index=returns_nothing), r"returns_nothing\(.*\), the index of Mine, must return a number"),
        (lambda: played_by(index=takes_too_few), r"takes_too_few\(.*\), the index of Mine,: .* takes 2 positional"),
        (lambda: played_by(choose=out_of_range), "out_of_range of Mine chose arm 17"),
        (lambda: played_by(choose=wait_for_a_number), "choose of Mine returned WAIT"),
        (lambda: Rule(stops=lead_is_large), "a rule needs an index or a choice"),
        (lambda: wrong_state(word=str), "field word of Wrong must have the type"),
        (lambda: wrong_state(size=int), "field size of Wrong needs another name"),
    ],
)
def test_mistakes_are_named(call: Callable[[], None], message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
