"""The instances that the universal agent is trained on: a mixture of questions, and families of arms.

Registered environments are not among them. Variances never alternate with the rank of the arm, as those of
``BAI-Gaussian64-v0`` do. Means of Bernoulli arms are random draws, differ by random increments, or are scattered around
one or two levels or around a power of the rank: none of them form groups of equal means, a geometric or an arithmetic
progression, as those of the set-ups do; and they are not drawn from the uniform distribution. Rewards are never
ratings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bai_gym.agents.training.contenders import of_rivals, rivals
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import BestArm, BestOfEach, Task, Thresholding, TopM

__all__ = ["DEVIATIONS", "FAMILIES", "GAPS", "QUESTIONS", "Group", "draw_group", "hardness"]

Kind = Literal["gaussian", "bernoulli"]

FAMILIES = ("gaussian", "bernoulli", "bernoulli-prior")
SHARES = {"gaussian": 0.5, "bernoulli": 0.3, "bernoulli-prior": 0.2}
KIND: dict[str, Kind] = {"gaussian": "gaussian", "bernoulli": "bernoulli", "bernoulli-prior": "bernoulli"}
QUESTIONS = {"best-arm": 0.4, "top-m": 0.2, "thresholding": 0.25, "best-of-each": 0.15}
GAPS = ("power", "geometric", "groups", "few", "increments", "normal", "uniform", "beta")
DRAWN = ("increments", "normal", "uniform", "beta")  # shapes that are random
BERNOULLI_GAPS = ("increments", "normal", "scattered", "ranks")
DEVIATIONS = {
    "equal": 0.13,
    "lognormal": 0.13,
    "subset": 0.16,
    "sparse": 0.08,
    "trend": 0.14,
    "best": 0.11,
    "growing": 0.25,
}
FEWEST, MOST = 2, 64  # arms
LEAST = 1e-6  # gap, of means that are equal
SHORTEST, LONGEST = 2.0, 300.0  # pulls per arm


@dataclass(frozen=True)
class Group:
    """Instances of the same number of arms and one kind of reward, in equal parts, each of one family and budget.

    Attributes:
        kind: Distribution of the rewards.
        means: ``(N, K)`` true means; the first arm is the best, of several bandits that of each.
        deviations: ``(N, K)`` true standard deviations.
        budgets: ``(P,)`` pulls of an episode of each part, which has N / P instances in a row.
        task: The question.
        numbers: ``(N, ...)`` the numbers of the task in each instance.
    """

    kind: Kind
    means: FloatArray
    deviations: FloatArray
    budgets: IntArray
    task: Task
    numbers: FloatArray


def draw_group(
    rng: np.random.Generator,
    families: Sequence[str] = FAMILIES,
    questions: Sequence[str] = tuple(QUESTIONS),
    *,
    size: int = 8000,
    most: int = 400,
    parts: int = 3,
) -> Group:
    """Draw a kind of reward, a question, a number of arms (2 to 64), and for each part a family, budget and instances.

    Args:
        rng: Source of randomness.
        families: Families to draw from, some of :data:`FAMILIES`.
        questions: Tasks to draw from, some of :data:`QUESTIONS`.
        size: Approximate number of instances times arms.
        most: Largest number of instances, up to rounding.
        parts: Number of parts.

    Raises:
        ParameterError: If there is no such family, or no such question.
    """
    check_words("families", families, FAMILIES)
    check_words("questions", questions, QUESTIONS)
    first, question = _choose(rng, families, SHARES), _choose(rng, questions, QUESTIONS)
    same = [family for family in families if KIND[family] == KIND[first]]
    bandits = round(_log_uniform(rng, 2, 12)) if question == "best-of-each" else 1
    num_arms = round(_log_uniform(rng, 3 if question == "top-m" else FEWEST, MOST // bandits))
    batch = math.ceil(min(size / num_arms / bandits, most) / parts)
    drawn = [_draw(rng, _choose(rng, same, SHARES), batch * bandits, num_arms) for _ in range(parts)]
    means, deviations, budgets = zip(*drawn, strict=True)
    shape = (batch * parts, num_arms * bandits)
    task: Task = BestArm() if bandits == 1 else BestOfEach(bandits)
    if question == "top-m":
        task = TopM(int(rng.integers(2, max(num_arms // 2, 2) + 1)))
    numbers = np.tile(task.numbers(shape[1]), (shape[0], 1))
    group = Group(
        KIND[first],
        np.concatenate(means).reshape(shape),
        np.concatenate(deviations).reshape(shape),
        bandits * np.array(budgets),
        task,
        numbers,
    )
    if question == "thresholding":
        group = replace(group, task=Thresholding(0.0), numbers=_thresholds(rng, group.means))
    return group if question in ("best-arm", "best-of-each") else _as_hard(rng, group)


def _thresholds(rng: np.random.Generator, means: FloatArray) -> FloatArray:
    """Return ``(N, 2)`` thresholds between two arms that follow one another, or beyond all, and an accuracy of 0."""
    batch, num_arms = means.shape
    means = -np.sort(-means, axis=1)
    step = (means.std(axis=1, keepdims=True) + LEAST) * rng.uniform(0.1, 1.0, (batch, 2))
    ends = np.concatenate([means[:, :1] + step[:, :1], means, means[:, -1:] - step[:, 1:]], axis=1)
    above = rng.integers(0, num_arms + 1, (batch, 1))
    room = np.take_along_axis(-np.diff(ends, axis=1), above, 1)
    above[room == 0.0] = 0  # nothing lies between equal means, but something above all
    high, low = (np.take_along_axis(ends, above + k, 1) for k in (0, 1))
    return np.concatenate([high + (low - high) * rng.uniform(0.15, 0.85, (batch, 1)), np.zeros((batch, 1))], axis=1)


def _as_hard(rng: np.random.Generator, group: Group) -> Group:
    """Return the instances so noisy, or with 0 and 1 so many pulls, that z of the hardest comparison is as drawn."""
    found = rivals(group.means, group.task, group.numbers)
    gaps = found.side * (group.means - of_rivals(group.means, found, np)) - found.offset
    gaps = np.maximum(gaps, 1e-3 * gaps.max(axis=1, keepdims=True) + LEAST)
    squares = group.deviations**2
    shares = squares / gaps**2
    parts, batch = len(group.budgets), len(group.means) // len(group.budgets)
    error = squares * shares.sum(axis=1, keepdims=True) / shares / np.repeat(group.budgets, batch)[:, None]
    now = (gaps / np.sqrt(error + of_rivals(error, found, np))).min(axis=1)
    factor = rng.uniform(0.8, 4.2, len(now)) * _noise(rng, 0.15, now.shape) / now
    if group.kind == "gaussian":
        return replace(group, deviations=group.deviations / factor[:, None])
    num_arms = group.means.shape[1]
    most = np.median(factor.reshape(parts, batch), axis=1) ** 2 * group.budgets
    return replace(group, budgets=np.ceil(np.clip(most, SHORTEST * num_arms, LONGEST * num_arms)).astype(np.int64))


def _choose(rng: np.random.Generator, words: Sequence[str], weights: Mapping[str, float]) -> str:
    shares = np.array([weights[word] for word in words])
    return words[rng.choice(len(words), p=shares / shares.sum())]


def _draw(rng: np.random.Generator, family: str, batch: int, num_arms: int) -> tuple[FloatArray, FloatArray, int]:
    """Return ``(N, K)`` means, ``(N, K)`` standard deviations and the budget of instances of one family."""
    budget = math.ceil(num_arms * _log_uniform(rng, SHORTEST, LONGEST))
    if family == "bernoulli-prior":
        budget = math.ceil(num_arms * _log_uniform(rng, SHORTEST, 60.0))
        a, b = np.exp(rng.normal(0.0, 0.6, size=2))
        means = -np.sort(-np.clip(rng.beta(a, b, (batch, num_arms)), 0.002, 0.998))
        return means, np.sqrt(means * (1.0 - means)), budget
    shapes = GAPS if family == "gaussian" else BERNOULLI_GAPS
    shape = shapes[rng.integers(len(shapes))]
    drawn = shape in DRAWN
    # z of the hardest comparison under a good static allocation: neither hopeless nor trivial. Of gaps that are drawn,
    # the typical one, so that some instances are hard and others easy.
    z = np.full((batch, 1), rng.uniform(1.2, 5.5)) if drawn else rng.uniform(0.8, 4.2) * _noise(rng, 0.15, (batch, 1))
    gaps = _gaps(shape, batch, num_arms, rng)
    if family == "bernoulli":
        top = rng.uniform(0.05, 0.98, (batch, 1))
        means, deviations = top, np.sqrt(top * (1.0 - top)) * np.ones((batch, num_arms))
        for _ in range(3):
            factor = _factor(z, hardness(gaps, deviations, budget), drawn)
            # Gaps that do not fit below the best mean are made smaller, all by one factor: then the instance is harder.
            factor = np.minimum(factor, 0.97 * top / gaps.max(axis=1, keepdims=True))
            means = top - factor * gaps
            deviations = np.sqrt(means * (1.0 - means))
        return means, deviations, budget
    deviations = _deviations(_choose(rng, tuple(DEVIATIONS), DEVIATIONS), gaps, rng)
    return -gaps, deviations / _factor(z, hardness(gaps, deviations, budget), drawn), budget


def check_words(name: str, words: Sequence[str], allowed: Collection[str]) -> None:
    """Raise :class:`ParameterError` unless these are some of the allowed ones, and at least one."""
    if not words or set(words) - set(allowed):
        raise ParameterError(f"{name} must be some of {', '.join(allowed)}, not {', '.join(words) or 'none'}")


def hardness(gaps: FloatArray, deviations: FloatArray, budget: float) -> FloatArray:
    """Return ``(N, 1)`` the smallest gap over its standard error, if pulls go by squared deviation over squared gap.

    Args:
        gaps: ``(N, K)``, 0 for the first arm only.
        deviations: ``(N, K)``.
        budget: Pulls of all arms.
    """
    shares = (deviations[:, 1:] / gaps[:, 1:]) ** 2
    best = deviations[:, :1] * np.sqrt((shares**2 / deviations[:, 1:] ** 2).sum(axis=1, keepdims=True))
    total = shares.sum(axis=1, keepdims=True) + best
    errors = deviations[:, :1] ** 2 / best + deviations[:, 1:] ** 2 / shares
    return np.asarray(np.sqrt(budget / total * (gaps[:, 1:] ** 2 / errors).min(axis=1, keepdims=True)))


def _factor(z: FloatArray, now: FloatArray, drawn: bool) -> FloatArray:
    factor = z / now
    return np.full_like(factor, np.median(factor)) if drawn else factor


def _gaps(shape: str, batch: int, num_arms: int, rng: np.random.Generator) -> FloatArray:
    """Return ``(N, K)`` gaps of some scale: 0, then increasing but for a little noise."""
    size = num_arms - 1
    rank = np.arange(1, num_arms)
    if shape == "power":
        gaps = (rank / size) ** rng.uniform(0.3, 2.5, (batch, 1))
    elif shape == "geometric":
        gaps = 1.0 - rng.uniform(0.3, 0.95, (batch, 1)) ** rank
    elif shape == "groups":
        gaps = np.where(rank <= rng.integers(0, num_arms // 2 + 1, (batch, 1)), rng.uniform(0.15, 0.9, (batch, 1)), 1.0)
    elif shape == "few":
        gaps = np.where(rank <= rng.integers(1, 4, (batch, 1)), rng.uniform(0.1, 0.6, (batch, 1)), 1.0)
    elif shape in ("scattered", "ranks"):  # some contenders and the others, or a power: all gaps with a random factor
        if shape == "scattered":
            contenders = np.floor((0.5 * num_arms + 1.0) ** rng.random((batch, 1))) * (rng.random((batch, 1)) > 0.15)
            gaps = np.where(rank <= contenders, rng.uniform(0.1, 0.9, (batch, 1)), 1.0)
        else:
            gaps = (rank / size) ** rng.uniform(0.2, 2.5, (batch, 1))
        gaps = np.sort(gaps * _noise(rng, rng.uniform(0.1, 0.5), (batch, size)), axis=1)
    elif shape == "increments":
        steps = rng.gamma(np.exp(rng.uniform(-2.5, 1.5, (batch, 1))), size=(batch, size)) + 1e-3
        steps[:, 0] *= np.exp(rng.uniform(-1.0, 2.0, batch))
        gaps = np.cumsum(steps, axis=1)
    else:
        if shape == "normal":
            values = rng.standard_normal((batch, num_arms))
        elif shape == "uniform":
            values = rng.random((batch, num_arms))
        else:
            values = rng.beta(rng.uniform(0.5, 4.0, (batch, 1)), rng.uniform(0.5, 4.0, (batch, 1)), (batch, num_arms))
        values = -np.sort(-values, axis=1)
        gaps = values[:, :1] - values[:, 1:]
    mean = gaps.mean(axis=1, keepdims=True)
    gaps = gaps + rng.uniform(0.0, 0.08, (batch, 1)) * mean * np.abs(rng.standard_normal((batch, size)))
    gaps = np.maximum(gaps, 1e-3 * gaps.max(axis=1, keepdims=True))
    return np.concatenate([np.zeros((batch, 1)), gaps], axis=1)


def _deviations(pattern: str, gaps: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return ``(N, K)`` standard deviations of some scale."""
    batch = len(gaps)
    quality = 1.0 - gaps / gaps.max(axis=1, keepdims=True)  # 1 for the best arm, 0 for the worst
    deviations = np.ones(gaps.shape)
    if pattern == "lognormal":
        deviations = np.exp(rng.uniform(0.1, 0.9, (batch, 1)) * rng.standard_normal(gaps.shape))
    elif pattern == "subset":
        noisy = rng.random(gaps.shape) < rng.uniform(0.1, 0.9, (batch, 1))
        deviations = np.where(noisy, rng.uniform(1.5, 4.0, (batch, 1)), 1.0)
        deviations *= np.exp(rng.uniform(-1.0, 1.0, (batch, 1)) * quality * noisy)
    elif pattern == "sparse":
        noisy = rng.random(gaps.shape) < rng.uniform(0.1, 0.4, (batch, 1))
        deviations = np.where(noisy, np.exp(rng.uniform(1.0, 3.2, (batch, 1))), 1.0)
    elif pattern == "growing":  # with the mean in some arms, as noise of counts and of money does
        noisy = rng.random(gaps.shape) < rng.uniform(0.3, 1.0, (batch, 1))
        deviations += noisy * rng.uniform(0.5, 3.0, (batch, 1)) * quality
    elif pattern == "trend":
        deviations = np.exp(rng.uniform(-1.3, 1.3, (batch, 1)) * quality)
    elif pattern == "best":
        deviations[:, 0] = np.exp(rng.uniform(-1.2, 1.2, batch))
    return np.asarray(deviations * np.sqrt(rng.uniform(0.6, 1.4, gaps.shape)))


def _noise(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> FloatArray:
    return np.exp(scale * rng.standard_normal(shape))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))
