"""Solutions of lesson 7."""

import numpy as np


# %% discordant
def discordant(wrong_a, wrong_b):
    """Return the number of runs in which only A was wrong, and of those in which only B was."""
    return int((wrong_a & ~wrong_b).sum()), int((wrong_b & ~wrong_a).sum())


# %% holm
def holm(p_values):
    """Return the p-values adjusted by Holm's method, in the order in which they were given."""
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return adjusted


# %% shuffled
def shuffled(means, variances, rng):
    """Return means and variances, (episodes, arms), with the arms of each episode in a random order of its own."""
    order = rng.permuted(np.tile(np.arange(means.shape[1]), (means.shape[0], 1)), axis=1)
    return np.take_along_axis(means, order, axis=1), np.take_along_axis(variances, order, axis=1)
