"""Recorded episodes in the format of the page: facts as JSON, pulls and rewards as compressed bytes."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from bai_gym.page.numbers import short
from bai_gym.results.recording import Recording
from bai_gym.statistics import AnyArray, FloatArray

__all__ = ["facts", "instance", "pack"]

LEVELS = 256
"""Number of different reward values up to which they are stored exactly."""
STEPS = 65535


def facts(recording: Recording) -> dict[str, Any]:
    """Return the facts of an episode except its pulls and its instance."""
    return {
        "agent": recording.agent,
        "env": recording.env,
        "budget": recording.budget,
        "run": recording.run,
        "seed": str(recording.seed),  # JavaScript numbers have 53 bits
        "knows": list(recording.knows),
        "pulls": int(recording.arms.size),
        "stages": _stages(recording),
        "recommendation": list(recording.recommendation),
        "correct": recording.correct,
        "regret": short(recording.simple_regret),
    }


def instance(recording: Recording) -> dict[str, Any]:
    """Return the instance, which recordings of several agents share."""
    names = recording.arm_names
    return {
        "means": [short(value) for value in recording.means],
        "correct_recommendation": list(recording.correct_recommendation),
        "task": recording.task,
        "names": None if names is None else list(names),
    }


def _stages(recording: Recording) -> list[list[Any]]:
    """Return where the candidates change: the first pull, arms that are dropped, and arms that are back.

    Changes, not sets: successive rejects on 357 arms has 356 stages. An agent that requests one pull at a time has no
    stages: its next arm is not a candidate set.
    """
    if 2 * len(recording.stages) > recording.arms.size:
        return []
    every = set(range(recording.means.size))
    stages: list[list[Any]] = []
    before = every
    for first, candidates in recording.stages:
        now = every if candidates is None else set(candidates)
        if now != before:
            stages.append([first, sorted(before - now), sorted(now - before)])
        before = now
    return stages


def pack(recording: Recording) -> tuple[dict[str, Any], str]:
    """Return the storage format of the pulls of an episode, and the pulls as compressed text.

    Arms take one byte each, or two where there are more than 256 of them. Rewards of at most 256 different values are
    exact: a table, and one byte each. Others take two bytes: the nearest of 65,536 values evenly spaced over the range
    of the episode, so that a reward is off by at most 1/131,070 of it. Numbers of two bytes come as all high bytes,
    then all low ones, which compresses better and fixes their byte order.

    Returns:
        The format, for the page's script, and base64 of the deflated bytes: arms, then rewards.
    """
    wide = recording.means.size > 256
    arms = _planes(recording.arms) if wide else recording.arms.astype(np.uint8).tobytes()
    levels, index = np.unique(recording.rewards, return_inverse=True)
    form: dict[str, Any] = {"wide": wide}
    if levels.size <= LEVELS:
        form["levels"] = [float(level) for level in levels]
        rewards = index.astype(np.uint8).tobytes()
    else:
        low, high = float(levels[0]), float(levels[-1])
        form["range"] = [low, high]
        rewards = _planes(np.rint(_share(recording.rewards, low, high) * STEPS))
    return form, base64.b64encode(zlib.compress(arms + rewards, 9)).decode("ascii")


def _share(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return where values lie between two, from 0 to 1; halves, so that the widest range does not overflow."""
    return (values / 2 - low / 2) / (high / 2 - low / 2)


def _planes(values: AnyArray) -> bytes:
    return values.astype(">u2").view(np.uint8).reshape(-1, 2).T.tobytes()
