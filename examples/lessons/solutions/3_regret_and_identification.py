"""Solutions of lesson 3."""

import numpy as np


# %% cumulative_regret
def cumulative_regret(pulls, means):
    """Return the expected reward that was lost against pulling the best arm all the time."""
    return (pulls * (means.max() - means)).sum()


# %% ucb_indices
def ucb_indices(pulls, means):
    """Return the index of each arm: mean + sqrt(2 log t / T), and infinity for an arm without a pull."""
    indices = np.full(len(pulls), np.inf)
    seen = pulls > 0
    indices[seen] = means[seen] + np.sqrt(2 * np.log(pulls.sum()) / pulls[seen])
    return indices


# %% thompson
def thompson(successes, pulls, rng):
    """Return the arm of the largest draw from the posteriors."""
    return int(rng.beta(1 + successes, 1 + pulls - successes).argmax())


# %% top_two
def top_two(successes, pulls, rng):
    """Return the arm of a draw, or, every second time, the first other arm that wins a draw."""
    first = thompson(successes, pulls, rng)
    if rng.random() < 0.5:
        return first
    for _ in range(100):
        arm = thompson(successes, pulls, rng)
        if arm != first:
            return arm
    means = (1 + successes) / (2 + pulls)
    means[first] = -1
    return int(means.argmax())
