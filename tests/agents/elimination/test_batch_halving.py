"""Sequential halving in rounds of pulls."""

from __future__ import annotations

import math

import numpy as np

from bai_gym import agents
from bai_gym.agents.elimination.batch_halving import target_pulls
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import start
from bai_gym.statistics import FloatArray, IntArray, Statistics


def play(name: str, streams: FloatArray, **options: object) -> tuple[IntArray, list[list[int]]]:
    """Play with given rewards of each arm, ``(N, K, n)``; return recommendations, and blocks of the first episode."""
    batch, num_arms, budget = streams.shape
    agent = agents.make(name, tie="first", **options)
    agent.reset(ProblemInfo(num_arms, budget, batch), np.random.default_rng(0))
    sums = np.concatenate([np.zeros((batch, num_arms, 1)), streams.cumsum(axis=2)], axis=2)
    seen = {"pulls": np.zeros((batch, num_arms), np.int64), "means": np.zeros((batch, num_arms))}
    seen |= {"variances": np.zeros((batch, num_arms)), "remaining": np.full((batch, 1), budget)}
    plan, outcome, blocks = start(agent, seen), None, []
    while True:
        try:
            block = plan.send(outcome)
        except StopIteration as end:
            return end.value, blocks
        counts = block.counts
        if block.arms is not None:
            counts = np.zeros((batch, num_arms), np.int64)
            np.put_along_axis(counts, block.arms, block.counts, axis=1)
        blocks.append(counts[0].tolist())
        before = np.take_along_axis(sums, seen["pulls"][..., None], 2)[..., 0]
        seen["pulls"] += counts
        after = np.take_along_axis(sums, seen["pulls"][..., None], 2)[..., 0]
        seen["means"][...] = after / np.maximum(seen["pulls"], 1)
        seen["remaining"] -= counts.sum(axis=1, keepdims=True)
        made = Statistics(counts, (after - before) / np.maximum(counts, 1), np.zeros((batch, num_arms)))
        outcome = made if block.arms is None else made.take(block.arms)


def test_targets_by_hand() -> None:
    """Four arms and 16 pulls: two stages of 8 pulls, 2 of each of 4 arms, then 4 of each of 2."""
    assert target_pulls(4, 16, advance_first=False) == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert target_pulls(4, 16, advance_first=True) == [0, 1] * 4 + [2, 3, 4, 5] * 2
    assert target_pulls(3, 11, advance_first=True) == [0] * 3 + [1, 2] * 2


def test_rounds_by_hand() -> None:
    """Four arms of rewards .4, .3, .2, .1, rounds of 6 of 16 pulls.

    Breadth first, the first round has a pull of each arm, and a second one of the first two, since no reward is known.
    The second round has the second pulls of arms 2 and 3, and arms 0 and 1 begin the next stage. Advance first, the
    first round has both pulls of arms 0 to 2. In the second, arm 3 makes its pulls; arm 0 begins the next stage, all of
    whose 4 pulls it makes; the third has those of arm 1.
    """
    streams = np.broadcast_to(np.array([0.4, 0.3, 0.2, 0.1])[None, :, None], (1, 4, 16))
    best, blocks = play("BatchSH", streams, batch_size=6)
    assert blocks == [[2, 2, 1, 1], [2, 2, 1, 1], [2, 2, 0, 0]]
    assert best.tolist() == [0]
    best, blocks = play("ASH", streams, batch_size=6)
    assert blocks == [[2, 2, 2, 0], [4, 0, 0, 2], [0, 4, 0, 0]]
    assert best.tolist() == [0]


def disagreements(settings: int, runs: int, *names: str) -> list[int]:
    """Return how often agents differ from sequential halving in settings that meet the condition of ASH."""
    rng, different = np.random.default_rng(1), [0] * len(names)
    for _ in range(settings):
        num_arms, size = int(rng.integers(2, 24)), int(rng.integers(1, 40))
        least = math.ceil(max(4.0, num_arms / size) * math.ceil(math.log2(num_arms)))
        budget = size * (least + int(rng.integers(least + 1)))
        streams = 0.5 * rng.standard_normal((runs, num_arms, 1)) + rng.standard_normal((runs, num_arms, budget))
        halving, _ = play("SH-Reuse", streams, rounding="equal")
        for place, name in enumerate(names):
            different[place] += int((play(name, streams, batch_size=size)[0] != halving).sum())
    return different


def test_ash_recommends_as_sequential_halving_on_the_same_rewards() -> None:
    advance_first, breadth_first = disagreements(8, 30, "ASH", "BatchSH")
    assert advance_first == 0
    assert breadth_first > 0
