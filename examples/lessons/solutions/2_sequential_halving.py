"""Solutions of lesson 2."""

import numpy as np


# %% number_of_rounds
def number_of_rounds(num_arms):
    """Return how many rounds it takes until one arm is left."""
    return int(np.ceil(np.log2(num_arms)))


# %% pulls_per_arm
def pulls_per_arm(budget, num_arms, num_active):
    """Return how often each active arm is pulled in a round."""
    return budget // (number_of_rounds(num_arms) * num_active)


# %% better_half
def better_half(active, means, rng):
    """Return the arms of the larger half of the means."""
    order = np.lexsort([rng.random(len(means)), -np.asarray(means)])  # by mean, ties by a random number
    return np.asarray(active)[order[: (len(active) + 1) // 2]]


# %% sequential_halving
def sequential_halving(pull, num_arms, budget, rng):
    """Return the recommended arm; pull(arm, times) returns so many rewards of an arm."""
    active = np.arange(num_arms)
    while len(active) > 1:
        times = pulls_per_arm(budget, num_arms, len(active))
        means = np.array([pull(arm, times).mean() for arm in active])
        active = better_half(active, means, rng)
    return int(active[0])
