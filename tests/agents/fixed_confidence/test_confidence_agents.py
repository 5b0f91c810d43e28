"""Agents of fixed confidence: rounds by hand, matrix games, units and labels that do not matter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest, ks_2samp, norm

from bai_gym import agents
from bai_gym.agents.fixed_confidence import ada_hedge, fws, kl_lucb, top_two, track_and_stop
from bai_gym.agents.fixed_confidence.ada_hedge import AdaHedgeState
from bai_gym.agents.fixed_confidence.fws import FWSState
from bai_gym.agents.fixed_confidence.kl_lucb import KLLUCBState
from bai_gym.agents.fixed_confidence.stopping import BERNOULLI, ConfidenceAgent, ConfidenceState
from bai_gym.agents.fixed_confidence.top_two import TopTwoState
from bai_gym.agents.fixed_confidence.track_and_stop import TrackingState
from bai_gym.agents.fixed_confidence.universal_glr import UniversalGLR
from bai_gym.agents.tools.divergences import divergence_inside
from bai_gym.agents.tools.games import solve_game
from bai_gym.agents.tools.questions import contrast_values, set_errors, two_means
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Engine
from bai_gym.statistics import Statistics
from bai_gym.tasks import BestArm
from bai_gym.theory import bernoulli_kl, optimal_weights

Play = Callable[..., Any]
RNG = np.random.default_rng(0)
UNION = 6  # log(4 K N^2 / delta)
LEVEL = 1e-5  # of each test of a distribution
BEST = BestArm.contrasts


def asked(num_arms: int) -> dict[str, Any]:
    """What rules need to ask for the best arm."""
    values = contrast_values(BestArm(), num_arms, 1, "first", RNG)
    return {**values, "order": values["order"][0]}


# ------------------------------------------------------------------------------------------------ Track-and-Stop


def test_d_tracking_by_hand(episode: Play) -> None:
    s, w = TrackingState.of(due=1e9, share=np.array([0.1, 0.45, 0.3, 0.15]), **asked(4))
    # t = 100: sqrt(t) - K / 2 = 8. An arm of 8 pulls comes first; of 9 pulls, t w - N is 1, 4, 5, -10.
    assert track_and_stop.d_tracking(episode([8, 42, 25, 25], [0.0] * 4), s, w, RNG, BEST) == 0
    assert track_and_stop.d_tracking(episode([9, 41, 25, 25], [0.0] * 4), s, w, RNG, BEST) == 2


def test_c_tracking_by_hand(episode: Play) -> None:
    # t = 9, K = 4: at least 1 / (2 sqrt 25) = 0.1. Above it 0.6, 0.2, 0, 0 are left of w, of which 3/4 and 1/4 of the
    # remaining 0.6 are given.
    s, w = TrackingState.of(due=1e9, share=np.array([0.7, 0.3, 0.0, 0.0]), **asked(4))
    e = episode([3, 2, 2, 2], [0.0] * 4)
    assert track_and_stop.c_tracking(e, s, w, RNG, BEST) == 0
    assert w.total.tolist() == pytest.approx([3.55, 2.25, 2.1, 2.1])
    # Again, after a pull of arm 0: sums 4.1, 2.5, 2.2, 2.2 against 4, 2, 2, 2 pulls.
    e.pulls[0] += 1
    assert track_and_stop.c_tracking(e._replace(pulled=0), s, w, RNG, BEST) == 1
    assert w.total.tolist() == pytest.approx([4.1, 2.5, 2.2, 2.2])


def test_proportions_are_those_of_the_sample_means(episode: Play) -> None:
    e = episode([5, 4, 2], [1.0, 0.7, 0.2])
    for values, expected in (
        ({"variances": np.full(3, 0.25)}, optimal_weights([1.0, 0.7, 0.2], 0.25)),
        ({"family": BERNOULLI, "bernoulli": True, "variances": np.zeros(3)}, optimal_weights([1 - 1e-6, 0.7, 0.2])),
    ):
        s, w = TrackingState.of(**values, cost=np.ones(3), lazy=0.5, is_known=True, **asked(3))
        track_and_stop.find_proportions(e, s, w, RNG, BEST)
        np.testing.assert_allclose(w.share, expected, atol=1e-6)
        assert s.due == 16.5
        w.share[:] = 0.0
        track_and_stop.find_proportions(e._replace(made=16), s, w, RNG, BEST)  # too early for another search
        assert not w.share.any()
        track_and_stop.find_proportions(e._replace(made=17), s, w, RNG, BEST)
        assert w.share.any()


# ------------------------------------------------------------------------------------------------ top two


def pair_state(num_arms: int, **values: Any) -> tuple[TopTwoState, TopTwoState]:
    """The state of a top-two agent that tracks a share of 1/2, for Gaussian rewards of variance 1."""
    given = {"variances": np.ones(num_arms), "beta": 0.5, "tracks": True, **asked(num_arms)}
    return TopTwoState.of(**{**given, **values})


def test_challengers_by_hand(episode: Play) -> None:
    # Leader 0. W = 0.25 / (2 (1/4 + 1)) = 0.1 and 0.01 / (2 (1/4 + 1/64)) = 0.019; with log N 0.1 and 4.18.
    e = episode([4, 1, 64], [1.0, 0.5, 0.9])
    for rule, challenger in ((top_two.eb_tc, 2), (top_two.eb_tci, 1)):
        s, w = pair_state(3)
        # The leader is pulled as long as it has at most half of the times: 0 of 1, 1 of 2, not 2 of 3, 2 of 4.
        expected = [0, 0, challenger, 0, challenger, 0]
        assert [rule(e, s, w, RNG, BEST) for _ in range(6)] == expected
        assert (w.led[0], w.own[0]) == (6.0, 4.0)


def test_the_leader_has_its_share(episode: Play) -> None:
    e = episode([3, 1], [1.0, 0.0])
    # "ids": N_C / (N_B + N_C) for equal variances; for Bernoulli rewards p = 3/4 and the parts 3 log(4/3), log 4.
    own = 3 * math.log(4 / 3)
    for values, share in (({"beta": 0.3}, 0.3), ({}, 0.25), ({"family": BERNOULLI}, own / (own + math.log(4)))):
        s, w = pair_state(2, **{"beta": 0.0, **values}, tracks=False)
        rng = np.random.default_rng(0)
        led = sum(top_two.eb_tc(e, s, w, rng, BEST) == 0 for _ in range(10_000))
        assert binomtest(led, 10_000, share).pvalue > LEVEL


def test_the_bonus_of_ttucb(episode: Play) -> None:
    # Pulls 1 and 100: arm 0 leads where sqrt(g v) (1 - 1/10) exceeds the gap of 1.
    log_t = math.log(101)
    rate = 2 * 1.2**2 * log_t + 2 * math.log(2 + 1.2 * log_t) + 2
    g = brentq(lambda u: u - math.log(u) - rate, 1, 100)
    for share, leads in ((0.99, 1), (1.01, 0)):
        s, w = pair_state(2, variances=np.full(2, share / (0.81 * g)))
        e = episode([1, 100], [0.0, 1.0])
        assert [top_two.ttucb(e, s, w, RNG, BEST) for _ in range(3)] == [leads, leads, 1 - leads]


def choices(agent: Any, pulls: list[float], means: list[float], runs: int = 20_000) -> np.ndarray:
    """How often each arm is pulled next, in many episodes with the same statistics."""
    agent.reset(ProblemInfo(len(pulls), 1000, runs, fixed_confidence=True), np.random.default_rng(1))
    columns = (np.tile(np.array(column, float), (runs, 1)) for column in (pulls, means, [0.0] * len(pulls)))
    chosen = Engine(agent.sequential(1), Statistics(*columns), int(sum(pulls)), None, variances=True).choose()
    return np.bincount(chosen, minlength=len(pulls))


@pytest.mark.each("name", ["T3C", "TTTS-GLR"])
def test_leaders_are_drawn_from_the_posterior(name: str) -> None:
    # Arm 1 is drawn above arm 0 with probability p, and pulled with p beta + (1 - p) (1 - beta).
    p = float(norm.cdf(-0.3 / (0.7 * math.sqrt(1 / 4 + 1 / 9))))
    second = choices(agents.make(name, sigma=0.7, beta=0.8), [4, 9], [0.3, 0.0])[1]
    assert binomtest(int(second), 20_000, 0.8 * p + 0.2 * (1 - p)).pvalue > LEVEL
    # Beta(2, 1) and Beta(1, 2): p = 1/6.
    second = choices(agents.make(name, family="bernoulli", beta=0.8), [1, 1], [1.0, 0.0])[1]
    assert binomtest(int(second), 20_000, 0.8 / 6 + 0.2 * 5 / 6).pvalue > LEVEL


def test_challengers_of_drawn_leaders() -> None:
    # Arm 0 leads surely. W of arm 1 is 1 / (2 (1/400 + 1/100)) = 40, of arm 2 it is 4 / (2 (1/400 + 1/9)) = 17.6, both
    # below the threshold for so small a delta.
    for name, options in (("T3C", {}), ("TTTS-GLR", {"tries": 1})):
        agent = agents.make(name, sigma=0.1, delta=1e-30, **options)
        counts = choices(agent, [400, 100, 9], [1.0, 0.9, 0.8], 2000)
        assert counts[1] == 0 and abs(counts[0] - 1000) < 100


def steered(*weights: float) -> type[UniversalGLR]:
    """Universal-GLR with other weights."""
    return type("Steered", (UniversalGLR,), {"weights": weights})


def test_without_corrections_the_universal_rule_is_t3c() -> None:
    for given in ({"family": "bernoulli"}, {"family": "gaussian", "sigma": 1.0}):
        one, other = steered(*[0.0] * 12, 1.0)(**given), agents.make("T3C", beta="ids", **given)
        shares = [choices(agent, [9, 4, 16, 1], [4 / 9, 0.5, 0.375, 1.0]) for agent in (one, other)]
        assert shares[0].min() > 0 and np.array_equal(shares[0], shares[1]), given


def test_the_universal_rule_by_hand() -> None:
    # As above, without draws: 40 + b log 100 < 17.6 + b log 9 where b < -9.3. The part of arm 0 is 1/5, or 9/409.
    nothing, width = [0.0] * 3, -50.0
    for b, c, d, expected in ((-10.0, math.log(3), 0.0, [1500, 500, 0]), (-10.0, 0.0, 1.0, [400, 1600, 0]),
                              (-9.0, 0.0, 1.0, [44, 0, 1956])):  # fmt: skip
        agent = steered(width, *nothing, b, *nothing, c, *nothing, d)(family="gaussian", sigma=0.1, delta=1e-30)
        assert np.abs(choices(agent, [400, 100, 9], [1.0, 0.9, 0.8], 2000) - expected).max() < 100, (b, c, d)


# ------------------------------------------------------------------------------------------------ intervals


def test_kl_lucb_by_hand(episode: Play) -> None:
    # Rates log(120 N^2): U_1 = sqrt(2 log 120) = 3.094, U_2 = 0.5 + 1.137, L_0 = 1 - 1.944: 4.038 too little.
    e = episode([4, 1, 16], [1.0, 0.0, 0.5])
    for epsilon, expected in ((0.0, [0, 1, 0]), (4.03, [0, 1, 0]), (4.05, [STOP] * 3)):
        s, w = KLLUCBState.of(epsilon=epsilon, threshold=UNION, level=math.log(10), variances=np.ones(3))
        assert [kl_lucb.pull_pair(e, s, w, RNG) for _ in range(3)] == expected


def test_a_dropped_arm_is_not_recommended(trace: Play) -> None:
    # With n pulls widths are 0.31 and 0.25: arm 0 is dropped after round 1 (1.3 against 2), and arm 2 after round 2
    # (0.3 against 1.2). The arm that is left then has a smaller mean than arm 0.
    agent = agents.make("KL-Racing", sigma=0.1, delta=0.1, threshold="union", tie="first")
    played = trace(agent, [[1.3], [2.0, 0.4], [1.5, -0.9]], 20, fixed_confidence=True)
    assert (played.arms, played.recommendation) == ([0, 1, 2, 1, 2], 1)


def test_all_bad_arms_are_dropped_at_once_or_the_worst_alone(trace: Play) -> None:
    for name, arms in (("SE", [0, 1, 2]), ("KL-Racing", [0, 1, 2, 1, 2])):
        played = trace(agents.make(name, sigma=0.1, tie="first"), [[0.0], [0.1], [9.0]], 20, fixed_confidence=True)
        assert (played.arms, played.recommendation) == (arms, 2), name
    # An arm goes when its interval ends below the other's: n >= 2 (log 80 + 2 log n), with 21 pulls.
    agent = agents.make("SE", sigma=0.5, threshold="union", tie="first")
    assert trace(agent, [[1.0], [0.0]], 100, fixed_confidence=True).arms == [0, 1] * 21


# ------------------------------------------------------------------------------------------------ games


def fws_state(x: Any, **values: Any) -> tuple[FWSState, FWSState]:
    k = len(x)
    more = {name: np.zeros(k - 1) for name in ("by_first", "by_second")}
    given = {"variances": np.ones(k), "tableau": np.zeros((k + 1) * (2 * k + 1)), **asked(k), **more, **values}
    return FWSState.of(**given, x=np.array(x))


@pytest.mark.each(
    ("means", "x", "made", "z"),
    [
        # t = 30, so that J are arms within 30^-0.9 / 3 = 0.016. f_1 = 0.023 and f_2 = 0.071: J = {1}. p = 0.8125, and
        # the slopes are 0.018 and 0.049.
        ([1.0, 0.5, 0.0], [0.5, 0.3, 0.2], 30, [0.0, 1.0, 0.0]),
        # J = {1, 2}. Slopes 0.092 by the best and 0.163 by the other: the best, as both others have half each.
        ([1.0, 0.0, 0.0], [0.4, 0.3, 0.3], 30, [1.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [0.8, 0.1, 0.1], 30, [0.0, 0.5, 0.5]),  # 0.006 and 0.395
        # floor(t / K) = 9 is a square.
        ([1.0, 0.5, 0.0], [0.5, 0.3, 0.2], 28, [1 / 3] * 3),
    ],
)
def test_fws_by_hand(episode: Play, means: Any, x: Any, made: int, z: Any) -> None:
    s, w = fws_state(x)
    arm = fws.frank_wolfe(episode([15, 10, 5], means, made=made, pulled=0), s, w, RNG, BEST)
    assert w.z.tolist() == pytest.approx(z)
    moved = [a * (made - 1) / made + b / made for a, b in zip(x, z, strict=True)]
    assert w.x.tolist() == pytest.approx(moved)
    assert arm == np.argmax(np.array(moved) / [15, 10, 5])
    first, arrays = fws_state([0.0] * 3)  # proportions are equal at first
    fws.frank_wolfe(episode([9, 9, 9], means), first, arrays, RNG, BEST)
    assert arrays.x.tolist() == pytest.approx([1 / 3] * 3)


def test_divergences_of_bernoulli_means_are_finite(episode: Play) -> None:
    e, (s, w) = episode([2, 3], [1.0, 0.2]), ConfidenceState.of(family=BERNOULLI)
    assert divergence_inside(e, s, w, 0, 0.5) == pytest.approx(bernoulli_kl(1 - 1e-6, 0.5))
    s, w = ConfidenceState.of(family=BERNOULLI, **asked(2))
    BEST(e.mean, w, w.given)
    assert two_means(e, s, w, 0, np.array([1.0, 3.0])) == pytest.approx((0.4, 0.4))
    s, w = ConfidenceState.of(variances=np.array([1.0, 0.25]), **asked(2))
    set_errors(e, s, w)
    BEST(e.mean, w, w.given)
    assert two_means(e, s, w, 0, np.array([1.0, 1.0])) == pytest.approx((0.36, 0.36))  # weights 1 and 4
    assert divergence_inside(e, s, w, 1, 0.7) == pytest.approx(0.5)


def test_ada_hedge_by_hand(episode: Play) -> None:
    # Weights are equal at first, the closest rival is arm 1, and both would have the mean 0.75. Bounds are
    # sqrt(2 log(12) / 4) = 1.115 away: gains 1.365^2 / 2 = 0.931 of both, and log(12) / 4 = 0.621 of arm 2.
    s, w = AdaHedgeState.of(variances=np.ones(3), losses=np.zeros(9), leads=True, **asked(3))
    e = episode([4, 4, 4], [1.0, 0.5, 0.0])
    assert ada_hedge.play_round(e, s, w, RNG, BEST) == 0
    level = math.log(12)
    gain = (0.25 + math.sqrt(level / 2)) ** 2 / 2
    assert w.gain.tolist() == pytest.approx([gain, gain, level / 4])
    assert w.losses.tolist() == pytest.approx([-gain, -gain, -level / 4, *[0.0] * 6])
    # Mix loss at the rate log(3) / 0.01: 0 before, then -gain - log(2 / 3) / rate, but for a third term of e^-34.
    mix_gap = 0.01 + gain + math.log(2 / 3) * 0.01 / math.log(3) - (2 * gain + level / 4) / 3
    assert w.mix_gap.tolist() == pytest.approx([mix_gap, 0.01, 0.01])
    assert w.total.tolist() == pytest.approx([4 + 1 / 3] * 3)
    # The next round: weights in proportion to exp(log(3) / D times the gain).
    e.pulls[0] += 1
    assert ada_hedge.play_round(e._replace(made=13, pulled=0), s, w, RNG, BEST) == 1
    ratio = math.exp(math.log(3) / mix_gap * (gain - level / 4))
    share = np.array([ratio, ratio, 1.0]) / (2 * ratio + 1)
    np.testing.assert_allclose(w.share, share)
    np.testing.assert_allclose(w.total, 4 + 1 / 3 + share)


def test_gains_of_bernoulli_means(episode: Play) -> None:
    # At level log 8 / 4 the mean 1/2 has the bounds 1/2 -+ x, and d(1/2 + x, q) is the larger for q = 0.4; a mean of
    # 1 has the bound 1, whose divergence from q near 1 is nearly 0, so log(8) / 4 is the largest.
    e = episode([4, 4], [0.5, 1.0])
    s, w = AdaHedgeState.of(family=BERNOULLI, variances=np.zeros(2))
    high = brentq(lambda q: bernoulli_kl(0.5, q) - math.log(8) / 4, 0.5, 1 - 1e-12)
    assert ada_hedge.optimistic_gain(e, s, w, 0, 0.4, math.log(8)) == pytest.approx(bernoulli_kl(high, 0.4))
    assert ada_hedge.optimistic_gain(e, s, w, 0, 0.6, math.log(8)) == pytest.approx(bernoulli_kl(1 - high, 0.6))
    assert ada_hedge.optimistic_gain(e, s, w, 1, 0.9, math.log(8)) == pytest.approx(math.log(8) / 4)


def test_matrix_games_by_hand() -> None:
    cycle = [[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]
    for payoff, expected in (
        ([[3.0, -1.0], [-2.0, 4.0]], [0.6, 0.4]),  # 3 p - 2 (1 - p) = -p + 4 (1 - p)
        (cycle, [1 / 3] * 3),
        ([[2.0], [5.0], [3.0]], [0.0, 1.0, 0.0]),
    ):
        rows, columns = np.shape(payoff)
        table, z = np.zeros((rows + 1, 2 * rows + 1)), np.zeros(rows)
        table[:rows, :columns] = payoff
        solve_game(table.reshape(-1), rows, columns, 2 * rows + 1, np.zeros(rows), z)
        assert z == pytest.approx(expected)


def play(name: str, bandit: Any, episodes: int, seed: int = 0, **parameters: Any) -> Rollout:
    agent = agents.make(name, **parameters)
    batch = bandit.select(np.zeros(episodes, np.int64))
    info = ProblemInfo(bandit.num_arms, 100_000, episodes, fixed_confidence=True, truth=batch, knows=agent.knows)
    agent.reset(info, np.random.default_rng([seed, 0]))
    return play_blocks(agent, batch, 100_000, np.random.default_rng([seed, 1]))


EVERY = [
    name
    for name in agents.names()
    if isinstance(agent := agents.make(name), ConfidenceAgent) and agent.plays(BestArm())
]


@pytest.mark.each("name", EVERY)
def test_units_and_labels_do_not_matter(name: str) -> None:
    """The numbers of pulls have the same distribution after a shift, a change of scale, in another order of arms."""
    means, order = np.array([1.0, 0.5, 0.2]), np.array([2, 0, 1])
    one = play(name, GaussianBandit(means, 0.04), 200, sigma=0.2)
    moved = play(name, GaussianBandit(30.0 * means[order] - 7.0, 36.0), 200, seed=1, sigma=6.0)
    assert ks_2samp(one.pulls.sum(1), moved.pulls.sum(1), method="asymp").pvalue > 1e-4
    for place, arm in enumerate(order):
        assert ks_2samp(one.pulls[:, arm], moved.pulls[:, place], method="asymp").pvalue > 1e-4
