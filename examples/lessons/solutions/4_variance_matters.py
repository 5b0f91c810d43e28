"""Solutions of lesson 4."""

import numpy as np


# %% shares
def shares(variances, budget):
    """Return the pulls of each arm (not rounded) that make variance / pulls equal for all arms."""
    return budget * variances / variances.sum()


# %% next_arm
def next_arm(variances, pulls):
    """Return the arm to pull next: one without a pull, if there is one, else that of largest variance / pulls."""
    if not pulls.all():
        return int(pulls.argmin())
    return int((variances / pulls).argmax())


# %% upper_bound
def upper_bound(rewards, delta):
    """Return an upper bound on the variance that holds with probability 1 - delta."""
    log, n = np.log(1 / delta), len(rewards)
    if n - 1 <= 4 * log:
        return np.inf
    return np.var(rewards, ddof=1) / (1 - 2 * np.sqrt(log / (n - 1)))
