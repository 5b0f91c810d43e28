"""Orders of a newsvendor as arms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from bai_gym.errors import ParameterError
from bai_gym.problems import build
from bai_gym.problems.newsvendor import newsvendor_profits


def test_newsvendor_means_are_those_of_the_continuous_demand() -> None:
    problem = build("newsvendor")
    orders = np.linspace(0.1, 0.3, 8)
    sales = [quad(lambda x: (1 + x**2) ** -20, 0, order)[0] for order in orders]  # E min(D, q) = integral of P(D > x)
    bandit = problem.draw(1, np.random.default_rng(0))
    np.testing.assert_allclose(bandit.means[0], 8 * np.array(sales) - 4 * orders, atol=1e-6)
    assert abs(orders[bandit.means[0].argmax()] - (2 ** (1 / 20) - 1) ** 0.5) < 0.2 / 7
    with pytest.raises(ParameterError):
        build("newsvendor", num_replications=0)


def test_newsvendor_profits_of_a_day() -> None:
    # Order 2, demand 3: 2 x 9 - 2 x 5. Order 2, demand 1: 9 + 1 - 10. The same demands for both orders.
    assert newsvendor_profits(np.array([2.0, 1.0]), np.array([3.0, 1.0])).tolist() == [[8, 0], [4, 4]]
