"""Solutions of lesson 1."""

import numpy as np


# %% recommend
def recommend(observation):
    """Return the arm of largest sample mean, of those that have been pulled."""
    means = np.where(observation["pulls"] > 0, observation["means"], -np.inf)
    return int(means.argmax())


# %% greedy
def greedy(observation):
    """Return the arm to pull: each arm once, then always the one of largest sample mean."""
    if not observation["pulls"].all():
        return int(observation["pulls"].argmin())
    return int(observation["means"].argmax())


# %% interval
def interval(errors, runs):
    """Return both ends of Wilson's interval for the error probability, at level 95 %."""
    p, z = errors / runs, 1.96
    centre = (p + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z / (1 + z**2 / runs) * np.sqrt(p * (1 - p) / runs + z**2 / (4 * runs**2))
    return centre - half, centre + half
