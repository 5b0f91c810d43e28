"""Mixtures of likelihood ratios: values by hand and by integrals, supermartingales, least sums, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, norm

from bai_gym.agents.tools.mixtures import (
    bounded_evidence,
    bounded_upper_end,
    gaussian_evidence,
    gaussian_rate,
    log_bounded,
    log_student,
    student_level,
    student_threshold,
)


def log_gaussian(n: float, mean: float, x: float, variance: float = 1.0) -> float:
    """log E(x), by the formula of the page."""

    def part(rho: float) -> float:
        return n * n * (mean - x) ** 2 / (2 * variance * (n + rho)) - 0.5 * math.log(1 + n / rho)

    return float(np.logaddexp(math.log(0.95) + part(20.0), math.log(0.05) + part(1.0)))


def test_values_that_were_computed_before() -> None:
    narrow = 2.0 * math.log(0.95)  # weight of the narrow priors, which count most here
    assert gaussian_evidence(100.0, 1.0, 80.0, 1.0, 0.3) == pytest.approx(-0.0716 + narrow, abs=1e-4)
    # The narrow priors alone give 2.0000 + narrow = 1.8974.
    assert bounded_evidence(100.0, 0.6, 80.0, 0.375, 0.0, -math.inf) == pytest.approx(1.92896, abs=1e-5)
    assert student_level(math.log(3 / 0.1)) == pytest.approx(5.2307, abs=1e-4)
    level = student_level(2.0)
    assert (1 + level) * math.exp(-level) == pytest.approx(math.exp(-2.0))


def test_evidence_is_the_integral_over_the_prior() -> None:
    for n, total, x in [(1, 0.0, 0.3), (12, 4.0, 0.9), (30, 17.5, 0.4)]:

        def ratio(q: float, n: float = n, total: float = total, x: float = x) -> float:
            return float((q / x) ** total * ((1 - q) / (1 - x)) ** (n - total))

        def narrow(q: float, x: float = x, ratio: Callable[[float], float] = ratio) -> float:
            return ratio(q) * float(beta.pdf(q, 20 * x, 20 * (1 - x)))

        def wide(angle: float, ratio: Callable[[float], float] = ratio) -> float:  # q = sin^2: density 2 / pi
            return ratio(math.sin(angle) ** 2) * 2 / math.pi

        found = 0.95 * quad(narrow, 0, 1, limit=200)[0] + 0.05 * quad(wide, 0, math.pi / 2, limit=200)[0]
        assert log_bounded(n, total, x) == pytest.approx(math.log(found), abs=1e-6), (n, total, x)
    assert log_bounded(2.0, 0.4, 0.1) - math.log(0.05) == pytest.approx(
        math.log(quad(lambda q: (q / 0.1) ** 0.4 * ((1 - q) / 0.9) ** 1.6 * beta.pdf(q, 0.5, 0.5), 0, 1)[0]), abs=1e-5
    )
    rewards = np.array([0.4, -0.3, 1.1, 0.2])  # unknown variances, by integrals over effect size and deviation

    deviations = np.exp(np.linspace(-6.0, 6.0, 2001))[:, None]

    def likelihood(effect: float) -> float:
        return float(norm.pdf(rewards, 0.1 + effect * deviations, deviations).prod(axis=1).sum())

    def prior(z: float) -> float:
        return float(0.95 * norm.pdf(z, 0, math.sqrt(0.1)) + 0.05 * norm.pdf(z))

    mixed = quad(lambda z: likelihood(z) * prior(z), -8, 8, limit=200)[0]
    u = (rewards.mean() - 0.1) ** 2 / rewards.var()
    assert float(log_student(np.array(4.0), np.array(u))) == pytest.approx(math.log(mixed / likelihood(0.0)), abs=1e-6)


def test_a_likelihood_ratio_at_the_threshold_is_evidence_of_the_level() -> None:
    """Against every common mean, however the arms share the ratio; and for some share hardly more."""
    grid = np.linspace(0.0, 1.0, 2001)
    for n, m in ((20.0, 20.0), (9.0, 200.0), (150.0, 30.0)):
        over = []
        for v in np.geomspace(1e-3, 10.0, 30):
            pairs = [(n, (0.6 - grid) ** 2 / v), (m, (0.4 - grid) ** 2 / 0.05)]
            least = float(sum(log_student(np.full(grid.shape, c), u) for c, u in pairs).min())
            ratio = float(sum(0.5 * c * np.log1p(u) for c, u in pairs).min())
            if least > 0.0:
                over.append(student_threshold(n, m, least) - ratio)
        assert -0.05 < min(over) < 0.8, (n, m, over)


def test_the_sums_are_the_least_of_a_grid() -> None:
    grid = np.linspace(0.001, 0.999, 999)
    for n, one, m, two in ((100.0, 0.6, 80.0, 0.375), (20.0, 0.9, 30.0, 0.5)):
        bounded = min(log_bounded(n, n * one, x) + log_bounded(m, m * two, x) for x in grid)
        assert bounded_evidence(n, one, m, two, 0.0, -math.inf) == pytest.approx(bounded, abs=0.05)
        gaussian = min(log_gaussian(n, one, x, 0.05) + log_gaussian(m, two, x, 0.08) for x in grid)
        assert gaussian - math.log(4.0) <= gaussian_evidence(n, 0.05, m, 0.08, one - two) <= gaussian


def test_a_bound_that_does_not_suffice_is_enough() -> None:
    exact = bounded_evidence(100.0, 0.6, 80.0, 0.375, 0.0, -math.inf)
    assert bounded_evidence(100.0, 0.6, 80.0, 0.375, 0.0, exact - 1e-6) == pytest.approx(exact)
    assert exact <= bounded_evidence(100.0, 0.6, 80.0, 0.375, 0.0, 50.0) < 50.0


def test_intervals_end_where_the_evidence_suffices() -> None:
    for n, level in ((3.0, 4.0), (50.0, 3.0), (5000.0, 3.0)):
        end = math.sqrt(2.0 * gaussian_rate(n, level) / n)  # at most a half of E is in the other part
        assert level - 1e-9 <= log_gaussian(n, 0.0, end) <= level + math.log(2.0), n
    rng = np.random.default_rng(2)
    for _ in range(200):
        n = float(rng.integers(1, 2000))
        mean = float(rng.choice([0.0, rng.random(), rng.integers(0, n + 1) / n, 1.0]))
        end = bounded_upper_end(n, mean, 4.0)
        assert mean <= end <= 1.0
        if end < 1.0:
            assert log_bounded(n, n * mean, end) == pytest.approx(4.0, abs=1e-6), (n, mean)
        else:
            assert log_bounded(n, n * mean, 1.0 - 1e-9) <= 4.0, (n, mean)


def test_ends_never_fail_near_the_bounds() -> None:
    # 0.91 with two arms, whose Kullback-Leibler bound is the number below 1, and the like; then extremes and others.
    cases = [(1.0, 0.91, math.log(20)), (1.0, 0.9046, math.log(20)), (2.0, 0.57, 30.0), (4663.0, 0.99994895326, 6.2378)]
    cases += [(1.0, mean, math.log(20)) for mean in np.linspace(0.85, 0.95, 101)]
    near = [0.0, 5e-324, 1e-300, 1e-17, 1e-12, 1e-9, 0.01]
    for n in (1.0, 2.0, 50.0, 1e6, 1e12):
        for level in (0.5, math.log(20), 40.0):
            cases += [(n, mean, level) for one in near for mean in (one, 1.0 - one)] + [(n, 1.0 - 2.0**-53, level)]
    plain = np.array([bounded_upper_end(*case) for case in cases])
    means = np.array(cases)[:, 1]
    assert ((means <= plain) & (plain <= 1.0)).all()
    for (n, mean, level), end in zip(cases, plain.tolist(), strict=True):
        if end == 1.0 and n <= 5000.0:  # nothing that the interval need not have is in it
            assert log_bounded(n, n * mean, 1.0 - 1e-11) <= level + 1e-6, (n, mean, level)
