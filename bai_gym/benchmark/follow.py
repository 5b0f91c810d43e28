"""Makes the pulls of sampling rules in the fast path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.benchmark.ahead import can_go_ahead, go_ahead, go_ahead_in_stages
from bai_gym.benchmark.record import Record
from bai_gym.sampling import IndexRule, SamplingRule, StagedIndexRule, StoppingRule
from bai_gym.statistics import Statistics

__all__ = ["follow", "follow_until_stopped"]

DROP_SHARE = 0.75  # stopped episodes are dropped when fewer than this share of those carried along are running

OnLook = Callable[[Record], None]
"""Told the record at a checkpoint."""


def follow(
    rule: SamplingRule,
    record: Record,
    bandit: Bandit,
    rng: np.random.Generator,
    points: Sequence[int] = (),
    look: OnLook | None = None,
) -> None:
    """Make the pulls of a sampling rule: one per episode and step, or ahead of their time where that can be.

    Args:
        rule: The rule.
        record: What has happened so far; it is brought up to date.
        bandit: The instances.
        rng: Source of the rewards.
        points: Steps, ascending, at which ``look`` is called; the last one may be that of the rule.
        look: Told the record as it is then.
    """
    window = rule.first_window(lambda: record.statistics)
    due = set(points) - {rule.steps}
    if isinstance(rule, IndexRule) and not due and can_go_ahead(rule, bandit, window):
        rule.answer = go_ahead(rule, bandit, window.unwindow(), rng, variances=record.has_variances)
    else:
        stream = bandit.stream(rule.arms, rng)
        rule.start(window)
        for step in range(1, rule.steps + 1):
            flat = rule.choose()
            rule.update(flat, *window.add(flat, stream.draw(flat), variances=record.has_variances))
            if step in due and look is not None:
                look(record.after(rule.arms, window.unwindow(), step, since=rule.window, add=rule.window is not None))
        rule.answer = window.unwindow()
    if rule.window is None:
        record.set(rule.arms, rule.answer)
    else:
        record.add(rule.arms, rule.answer, since=rule.window)


def follow_until_stopped(
    rule: StoppingRule,
    record: Record,
    bandit: Bandit,
    rng: np.random.Generator,
    points: Sequence[int] = (),
    look: OnLook | None = None,
) -> None:
    """Make the pulls of a rule until it has stopped in every episode, or its steps are used up.

    An episode that has stopped is carried along, its pulls without effect, until enough others have stopped too: to
    drop them one by one would cost more. The arguments are those of :func:`follow`.
    """
    window = rule.first_window(lambda: record.statistics)
    due = set(points) - {rule.steps}
    if isinstance(rule, StagedIndexRule) and not due and can_go_ahead(rule, bandit, window):
        rule.answer = go_ahead_in_stages(rule, bandit, window.unwindow(), rng)
        record.finish(rule.arms, rule.answer)
        return
    final = Statistics(window.pulls.copy(), window.means.copy(), window.variances.copy())
    columns = np.arange(window.pulls.shape[1])
    arms = rule.arms
    stream = bandit.stream(arms, rng)
    rule.start(window)
    running = rule.running.copy()
    for step in range(1, rule.steps + 1):
        going = int(np.count_nonzero(running))
        if going == 0:
            break
        if going < DROP_SHARE * running.size:
            kept = np.flatnonzero(running)
            columns = columns[kept]
            window = Statistics(*(np.ascontiguousarray(array[:, kept]) for array in _arrays(window)))
            arms = None if arms is None else arms[kept]
            stream = bandit.select(columns).stream(arms, rng)
            rule.keep(kept, window)
            running = np.ones(kept.size, dtype=bool)
        flat = rule.choose()
        rule.update(flat, *window.add(flat, stream.draw(flat), variances=record.has_variances))
        ended = np.flatnonzero(running & ~rule.running)
        if ended.size:
            _keep_final(final, window, columns, ended)
            running[ended] = False
        if step in due and look is not None:
            _keep_final(final, window, columns, np.flatnonzero(running))
            look(record.after(rule.arms, final.unwindow(), step, add=False))
    _keep_final(final, window, columns, np.flatnonzero(running))
    rule.answer = final.unwindow()
    record.finish(rule.arms, rule.answer)


def _arrays(statistics: Statistics) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return statistics.pulls, statistics.means, statistics.variances


def _keep_final(final: Statistics, window: Statistics, columns: np.ndarray, ended: np.ndarray) -> None:
    for target, source in zip(_arrays(final), _arrays(window), strict=True):
        target[:, columns[ended]] = source[:, ended]
