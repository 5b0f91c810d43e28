"""The arm of the largest of K posterior draws, without drawing all, and the next one of another arm.

Most draws need not be made, since their arm has no chance to be the largest. A draw X is decided in two steps. For a
level L, with a probability p >= P(X >= L) there is a *hit*; else X < L is all that is known. A hit gives a number: from
L on it has the density of X, and below L it too says no more than X < L. :func:`misses` computes 1 - p for all arms, by
sums, products and a division; the hits, which are rare, are drawn by :func:`beyond`. If the value of a draw with X < L
is needed, it is redrawn until X < L holds. So choices have exactly the same distribution as those of
:func:`bai_gym.agents.tools.posteriors.arm_of_largest_draw`, and of draws repeated until another arm wins.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.tools.posteriors import BERNOULLI, GAUSSIAN, STUDENT, Posteriors
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.variances import floored, is_flat
from bai_gym.sampling import TO_FIRST, Episode, Vector
from bai_gym.statistics import FloatArray

__all__ = ["ScreenedPosteriors", "another_winner", "screening", "update_posteriors", "winner"]

FULL = -np.inf  # a level that every draw exceeds
BLOCK = 8
FEW = 32  # up to which drawing all normal numbers is faster than finding out which are needed
FIRST_TRIES = 2  # after which another arm is so rarely the best that hits are looked for


class ScreenedPosteriors(Posteriors):
    """The posteriors of all arms; the vectors have places for a multiple of ``BLOCK`` arms."""

    center: Vector  # means
    spread: Vector  # standard deviations, or scales of Student's distribution
    a: Vector  # of Beta(a, b); else twice the square of the spread
    b: Vector  # of Beta(a, b); else 1 / degrees of freedom
    c: Vector  # of Beta(a, b): a log(a / (a + b)) + b log(b / (a + b))
    miss: Vector  # probabilities of no hit
    products: Vector  # of the probabilities of a block


def screening(num_arms: int) -> dict[str, FloatArray]:
    """Return initial values of the vectors of :class:`ScreenedPosteriors`."""
    blocks = -(-num_arms // BLOCK)
    return {
        **{name: np.zeros(BLOCK * blocks) for name in ("center", "spread", "a", "b", "c", "miss")},
        "products": np.zeros(blocks),
    }


def update_posteriors(e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors) -> None:
    """Update the posterior of the arm pulled last, at the start those of all; call it once for each pull.

    Those of arms whose rewards were all equal depend on the other arms.
    """
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(e.num_arms):
        update_posterior(e, s, w, arm)
    for arm in range(e.num_arms if s.family == STUDENT else 0):
        if is_flat(e.variance[arm], s.pooled):
            update_posterior(e, s, w, arm)


def update_posterior(e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors, arm: int) -> None:
    """Update the posterior of an arm."""
    pulls, mean = e.pulls[arm], e.mean[arm]
    if s.family == BERNOULLI:
        a, b = 1.0 + pulls * mean, 1.0 + pulls * (1.0 - mean)
        mean = a / (a + b)
        w.spread[arm] = np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
        w.c[arm] = a * math.log(mean) + b * math.log(b / (a + b))
    else:
        square = (floored(pulls, e.variance[arm], s.pooled) if s.family == STUDENT else w.variances[arm]) / pulls
        a, b = 2.0 * square, 1.0 / (pulls - 1.0) if s.family == STUDENT and square > 0.0 else 0.0
        w.spread[arm] = np.sqrt(square)
    w.center[arm], w.a[arm], w.b[arm] = mean, a, b


def winner(e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors, rng: np.random.Generator) -> int:
    """Draw from all posteriors, and return the arm of the largest draw."""
    if s.family == GAUSSIAN and e.num_arms <= FEW:
        return largest_normal(e, s, w, rng)
    arm = e.leader  # any one would do
    level = beyond(s, w, arm, FULL, 1.0, rng)
    misses(e, s, w, level, arm)
    return scan(e, s, w, level, np.inf, rng.random(), level, arm, rng)[1]


def another_winner(
    e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors, best: int, tries: int, rng: np.random.Generator
) -> int:
    """Draw up to ``tries`` times until the largest draw is of another arm than ``best``; return it, or else ``best``.

    The level is between that arm and the others. A draw without any hit, of the arm from above or of another one from
    below, fails; so how many fail before the next one with a hit is a geometric number.
    """
    left = float(tries)
    if s.family == GAUSSIAN and e.num_arms <= FEW:
        for _ in range(min(tries, FIRST_TRIES)):
            left -= 1.0
            arm = largest_normal(e, s, w, rng)
            if arm != best:
                return arm
    if left == 0.0:
        return best
    level = level_between(e, s, w, best)
    own_miss = 1.0 - hit(s, w, best, level, -1.0)
    none = own_miss * misses(e, s, w, level, best)
    log_none = np.log(none)
    while none < 1.0:
        left -= 1.0 + np.floor(np.log(1.0 - rng.random()) / log_none)
        if left < 0.0:
            break
        uniform = none + (1.0 - none) * rng.random()  # there is a hit
        own = np.inf  # what is above the level, for now
        if uniform >= own_miss:
            own, uniform = beyond(s, w, best, level, -1.0, rng), rng.random()
        else:
            uniform /= own_miss
        value, arm, ties = scan(e, s, w, level, np.inf, uniform, -np.inf, best, rng)
        if value >= level:
            if own > level:
                own = beyond(s, w, best, FULL, 1.0, rng)
                while own <= level:
                    own = beyond(s, w, best, FULL, 1.0, rng)
            arm = better(e, own, best, value, arm, ties, rng)[1]
        elif own <= level:  # all others are below the level
            misses(e, s, w, own, best)
            arm = scan(e, s, w, own, level, rng.random(), own, best, rng)[1]
            misses(e, s, w, level, best)
        if arm != best:
            return arm
    return best


def largest_normal(e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors, rng: np.random.Generator) -> int:
    """Draw from all posteriors, which are normal, and return the arm of the largest draw."""
    center, spread, draw = w.center, w.spread, w.draw
    for arm in range(e.num_arms):
        draw[arm] = center[arm] + spread[arm] * rng.standard_normal()
    return arm_of_largest(draw, e, rng)


def level_between(e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors, best: int) -> float:
    """Return a level that draws of the arm ``best`` are rarely below, and draws of the others rarely above.

    It lies equally many standard deviations from that arm's mean and from the strongest other one's, nearly. Choices do
    not depend on it; only their time does.
    """
    center, spread, between, level = w.center, w.spread, w.miss, -np.inf
    width = spread[best] + 1e-300
    for arm in range(e.num_arms):
        share = 0.02 + 0.96 * width / (width + spread[arm] + 1e-300)
        between[arm] = center[best] - (center[best] - center[arm]) * share
    between[best] = -np.inf
    for arm in range(e.num_arms):
        level = max(level, between[arm])
    return level


def misses(e: Episode, s: ScreenedPosteriors, w: ScreenedPosteriors, level: float, without: int) -> float:
    """Set the probabilities that arms are not hit, 1 for the arm ``without``, and return their product."""
    center, a, b, c, miss, products = w.center, w.a, w.b, w.c, w.miss, w.products
    if s.family == BERNOULLI:
        log, log_rest = np.log(level), np.log(1.0 - level)
        for arm in range(miss.size):
            miss[arm] = 1.0 - beta_hit(a[arm], b[arm], c[arm], level, log, log_rest, 1.0)
    else:
        for arm in range(miss.size):
            miss[arm] = 1.0 - polar_hit(level - center[arm], a[arm], b[arm])
    miss[without] = 1.0
    for place in range(e.num_arms, miss.size):
        miss[place] = 1.0
    product = 1.0
    for block in range(products.size):
        at = block * BLOCK
        left = (miss[at] * miss[at + 1]) * (miss[at + 2] * miss[at + 3])
        right = (miss[at + 4] * miss[at + 5]) * (miss[at + 6] * miss[at + 7])
        products[block] = left * right
        product *= products[block]
    return product


def scan(
    e: Episode,
    s: ScreenedPosteriors,
    w: ScreenedPosteriors,
    level: float,
    ceiling: float,
    uniform: float,
    best: float,
    holder: int,
    rng: np.random.Generator,
) -> tuple[float, int, int]:
    """Return the largest draw from the level on, its arm, and how many are tied there; of arms and of ``best``.

    The next arm hit is the first for which a uniform number is not below the product of the misses up to it. Draws
    are known not to exceed the ceiling: one that does is made again.
    """
    miss, products, ties, unhit = w.miss, w.products, 1, 1.0
    for block in range(products.size):
        if uniform < unhit * products[block]:
            unhit *= products[block]
            continue
        for arm in range(block * BLOCK, (block + 1) * BLOCK):
            unhit *= miss[arm]
            while uniform >= unhit:
                value = beyond(s, w, arm, level, 1.0, rng)
                uniform, unhit = rng.random(), miss[arm] if value > ceiling else 1.0
                if level <= value <= ceiling:
                    best, holder, ties = better(e, value, arm, best, holder, ties, rng)
    return best, holder, ties


def better(
    e: Episode, value: float, arm: int, best: float, holder: int, ties: int, rng: np.random.Generator
) -> tuple[float, int, int]:
    """Return the larger of a value and the best so far, its arm, and how many arms are tied there."""
    if value == best:
        fewer = e.pulls[arm] < e.pulls[holder] or (e.pulls[arm] == e.pulls[holder] and arm < holder)
        wins = fewer if e.tie == TO_FIRST else rng.random() * (ties + 1) < 1.0
        return best, arm if wins else holder, ties + 1
    return (value, arm, 1) if value > best else (best, holder, ties)


def hit(s: ScreenedPosteriors, w: ScreenedPosteriors, arm: int, level: float, sign: float) -> float:
    """Return the probability that an arm is hit, for draws above a level (sign 1) or below it (sign -1)."""
    if s.family == BERNOULLI:
        return beta_hit(w.a[arm], w.b[arm], w.c[arm], level, np.log(level), np.log(1.0 - level), sign)
    return polar_hit(sign * (level - w.center[arm]), w.a[arm], w.b[arm])


def polar_hit(distance: float, a: float, b: float) -> float:
    """Return the probability of a hit of Student's t, or of the normal distribution, see :func:`polar_draw`.

    It takes an exponential above (d / 2) log(1 + z^2 / d) >= z^2 / (2 + z^2 / d), with z = distance / scale.
    """
    square = distance * distance
    base = a + b * square
    return bound(base / (base + square / 32.0), 0.5, distance > 0.0)


def beta_hit(a: float, b: float, c: float, level: float, log: float, log_rest: float, sign: float) -> float:
    """Return the probability of a hit of Beta(a, b), see :func:`beta_draw`: Chernoff's bound."""
    return bound(1.0 / (1.0 + (c - a * log - b * log_rest) / 32.0), 1.0, sign * ((a + b) * level - a) > 0.0)


def bound(root: float, factor: float, is_far: bool) -> float:
    """Return factor root^32, or 1 where a draw may well be beyond the level; with root 1 / (1 + c / 32), >= exp(-c)."""
    chance = root * root
    chance *= chance
    chance *= chance
    chance *= chance
    chance *= chance
    return factor * chance if is_far and chance < 1.0 else 1.0


def beyond(
    s: ScreenedPosteriors, w: ScreenedPosteriors, arm: int, level: float, sign: float, rng: np.random.Generator
) -> float:
    """Return the number of an arm that is hit; where the probability of that was 1, as for ``FULL``, it is a draw."""
    chance = 1.0 if level == FULL else hit(s, w, arm, level, sign)
    if s.family == BERNOULLI:
        if sign > 0.0:
            return beta_draw(w.a[arm], w.b[arm], level, chance, rng)
        return 1.0 - beta_draw(w.b[arm], w.a[arm], 1.0 - level, chance, rng)
    return float(w.center[arm] + sign * w.spread[arm] * polar_draw(w.b[arm], chance, rng))


def polar_draw(b: float, chance: float, rng: np.random.Generator) -> float:
    """Return a draw from Student's t with d = 1 / b, or from the normal distribution for b = 0.

    Bailey (1994), "Polar Generation of Random Variates with the t-Distribution", formula 3: with E exponential and an
    angle A uniform, sqrt(d (exp(2 E / d) - 1)) cos(A) is Student; for infinite d it is sqrt(2 E) cos(A). Above a
    positive level the angle is acute and E is large. Hits have both: an exponential above a bound starts again there.
    """
    exponential, angle = rng.standard_exponential(), math.pi * rng.random()
    if chance < 1.0:
        exponential -= math.log(2.0 * chance)
        angle *= 0.5
    return math.cos(angle) * math.sqrt(math.expm1(2.0 * exponential * b) / b if b > 0.0 else 2.0 * exponential)


def beta_draw(a: float, b: float, level: float, chance: float, rng: np.random.Generator) -> float:
    """Return a draw of Beta(a, b), or with a level L above its mean the number of a hit.

    G / (G + H), G and H gamma of shapes a and b, is at least L where D = (1 - L) G - L H >= 0. With n = a + b, the pair
    G n L / a, H n (1 - L) / b has exp(c + t D) times the density there, with t = (n L - a) / (n L (1 - L)) and
    c = a log(a / (n L)) + b log(b / (n (1 - L))). So it is accepted with probability exp(-c - t D) / chance.
    """
    first, second = rng.standard_gamma(a), rng.standard_gamma(b)
    if chance < 1.0:
        n, rest = a + b, 1.0 - level
        first *= n * level / a
        second *= n * rest / b
        above = rest * first - level * second
        c = a * math.log(a / (n * level)) + b * math.log(b / (n * rest))
        tilt = (n * level - a) / (n * level * rest)
        if above < 0.0 or rng.random() * chance >= math.exp(-c - tilt * above):
            return -np.inf
    return first / (first + second)
