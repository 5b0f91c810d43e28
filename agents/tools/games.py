"""Matrix games, for the functions of sequential agents."""

from __future__ import annotations

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["solve_game"]


def solve_game(payoff: FloatArray, rows: int, columns: int, width: int, basis: FloatArray, z: FloatArray) -> None:
    """Write to z the mixed strategy of the row player, who maximises; by the simplex method with Bland's rule.

    Payoffs are shifted and scaled to [1, 2], which changes no strategy. The column player then maximises the sum of
    y >= 0 subject to payoff y <= 1; z are the dual variables, which stand in the last row below the slack variables.

    Args:
        payoff: Tableau of ``rows + 1`` rows of ``width`` numbers; each of the first begins with ``columns`` payoffs.
            Overwritten.
        rows: Strategies of the row player.
        columns: Strategies of the column player.
        width: At least columns + rows + 1.
        basis: ``(rows,)`` scratch array.
        z: ``(rows,)``, written.
    """
    last = columns + rows
    low, high = np.inf, -np.inf
    for k in range(rows):
        for c in range(columns):
            low, high = min(low, payoff[k * width + c]), max(high, payoff[k * width + c])
    scale = high - low if high > low else 1.0
    for k in range(rows):
        for c in range(columns):
            payoff[k * width + c] = 1.0 + (payoff[k * width + c] - low) / scale
    for k in range(rows + 1):
        for c in range(columns, last + 1):
            payoff[k * width + c] = 0.0
        if k < rows:
            payoff[k * width + columns + k] = payoff[k * width + last] = 1.0
            basis[k] = columns + k
    for c in range(columns):
        payoff[rows * width + c] = -1.0
    for _ in range(50 * (rows + columns)):
        enters = -1
        for c in range(last):
            if payoff[rows * width + c] < -1e-12:
                enters = c
                break
        if enters < 0:
            break
        leaves, least = -1, np.inf
        for k in range(rows):
            if payoff[k * width + enters] > 1e-12:
                ratio = payoff[k * width + last] / payoff[k * width + enters]
                if ratio < least or (ratio == least and basis[k] < basis[leaves]):
                    leaves, least = k, ratio
        if leaves < 0:
            break
        pivot = payoff[leaves * width + enters]
        for c in range(last + 1):
            payoff[leaves * width + c] /= pivot
        for k in range(rows + 1):
            factor = payoff[k * width + enters]
            if k != leaves and factor != 0.0:
                for c in range(last + 1):
                    payoff[k * width + c] -= factor * payoff[leaves * width + c]
        basis[leaves] = enters
    total = 0.0
    for k in range(rows):
        z[k] = max(payoff[rows * width + columns + k], 0.0)
        total += z[k]
    for k in range(rows):
        z[k] /= total
