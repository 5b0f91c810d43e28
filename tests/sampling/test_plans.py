"""The executor of plans, and adapters by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.adapters import delayed, late, pausing
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.blocks import Blocks
from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.common.rounds import Rounds
from bai_gym.errors import AgentError
from bai_gym.rewards import REAL
from bai_gym.sampling import (
    STOP,
    Block,
    Plan,
    Rule,
    Sequential,
    run,
    singly,
)
from bai_gym.statistics import Observation, Statistics


def first_slot(e: Any, s: Any, w: Any, rng: np.random.Generator) -> int:
    return 0


def fewest(e: Any, s: Any, w: Any, rng: np.random.Generator) -> int:
    return int(np.argmin(e.pulls))


def ended(e: Any, s: Any, w: Any) -> bool:
    return bool(e.pulls[0] >= 2.0)


def of_rule(rule: Rule, steps: int, arms: Any = None, window: Statistics | None = None) -> Sequential:
    chosen = None if arms is None else np.array(arms)
    return Sequential(rule, steps, "first", np.random.default_rng(0), arms=chosen, window=window)


def source_of(means: list[float], budget: int) -> Blocks:
    """Exact blocks of one episode, whose rewards are the means."""
    bandit = GaussianBandit(np.array([means]), 0.0)
    merged = MergedStatistics(1, len(means), budget, variances=True)
    return Blocks(bandit, merged, np.random.default_rng(0))


def scripted(seen: Observation) -> Plan:
    """A block of 3 pulls of arm 0 and 1 of arm 1, then a rule for 4 pulls."""
    yield Block(np.array([[3, 1]]))
    yield of_rule(Rule(choose=fewest), 4)
    return np.array([1])


def test_pauses_by_hand() -> None:
    """Pauses within the block, at its end, within the rule, and after the plan's end."""
    source, paused = source_of([1.0, 2.0], 10), list[Any]()

    def pause(count: int, seen: Observation, recommendation: Any) -> None:
        final = None if recommendation is None else recommendation.tolist()
        paused.append((count, seen["pulls"][0].tolist(), int(seen["remaining"][0, 0]), final))

    begin = pausing(scripted, [1, 3, 4, 6, 9], pause)
    assert run(begin(source.seen), source.play).tolist() == [1]
    assert paused == [
        (1, [1, 0], 9, None),
        (3, [2, 1], 7, None),
        (4, [3, 1], 6, None),
        (6, [3, 3], 4, None),
        (9, [4, 4], 2, [1]),
    ]
    assert source.merged.statistics.means.tolist() == [[1.0, 2.0]]


def test_adapters_compose_by_hand() -> None:
    """Rounds of 3 pulls, [2, 1], [1, 2], [2, 1], arrive a round late: none at the pause after 4, the first after 8."""
    source, paused = source_of([1.0, 2.0], 9), list[Any]()

    def pause(count: int, seen: Observation, recommendation: Any) -> None:
        paused.append((count, seen["pulls"][0].tolist(), source.seen["pulls"][0].tolist()))

    def plan(seen: Observation) -> Plan:
        yield Block(np.array([[5, 4]]))
        return np.array([0])

    rounds = Rounds(3, 1)
    begin = delayed(pausing(late(plan, rounds, REAL), [4, 8], pause), rounds)
    run(begin(source.seen), source.play)
    assert paused == [(4, [0, 0], [3, 1]), (8, [2, 1], [4, 4])]
    assert source.merged.pulls.tolist() == [[5, 4]]


def test_single_pulls_of_a_block_by_hand() -> None:
    """Largest weight / pulls first: arms 2, 0, 2 (6 / 1 before 4 / 1), 0. The second reward of arm 2 never arrives."""
    seen = {"pulls": np.zeros((1, 3), np.int64), "means": np.zeros((1, 3))}
    block = Block(np.array([[2, 2]]), np.array([[0, 2]]), np.array([[4.0, 6.0]]))
    rewards, asked = iter([1.0, 5.0, np.nan, 7.0]), []

    def pull(arms: Any) -> Any:
        asked.append(int(arms[0]))
        return np.array([next(rewards)])

    made = run(singly(block, seen), pull)
    assert asked == [0, 2, 2, 0]
    assert (made.pulls.tolist(), made.means.tolist()) == ([[2, 1]], [[4.0, 5.0]])


def test_single_pulls_of_a_rule_by_hand() -> None:
    """Slot 0, arm 2, until it has two rewards; that of the first pull in the first episode never arrives."""
    seen = {"pulls": np.zeros((2, 3), np.int64), "means": np.zeros((2, 3))}
    request = of_rule(Rule(choose=first_slot, stops=ended), 9, [[2, 0], [2, 1]], Statistics.zeros((2, 2)))
    asked: list[Any] = []

    def pull(arms: Any) -> Any:
        asked.append(arms.tolist())
        return np.array([np.nan if len(asked) == 1 else 3.0, 4.0])

    outcome = run(singly(request, seen), pull)
    assert asked == [[2, 2], [2, 2], [2, STOP]]
    assert outcome.statistics.pulls.tolist() == [[2, 0], [2, 0]]
    assert outcome.statistics.means[:, 0].tolist() == [3.0, 4.0]
    assert outcome.stopped.all()


def test_a_part_that_is_impossible_is_refused_as_its_request_is() -> None:
    source = source_of([1.0, 2.0], 3)
    begin = pausing(scripted, [2], lambda *_: None)
    with pytest.raises(AgentError, match="4 pulls with 3 left"):
        run(begin(source.seen), source.play)
