"""Solutions of lesson 6."""

import numpy as np


# %% share_significant
def share_significant(p_values, level):
    """Return the share of experiments, the rows, that are significant at one of their looks or more."""
    return (p_values < level).any(axis=1).mean()


# %% mixture_ratio
def mixture_ratio(total, pairs):
    """Return the likelihood ratio of some difference against none, from the sum of that many differences."""
    return np.exp(total**2 / (2 * (1 + pairs))) / np.sqrt(1 + pairs)


# %% first_stop
def first_stop(ratios, level):
    """Return the number of pairs after which to stop, the first whose ratio has reached 1 / level; 0: never."""
    reached = ratios >= 1 / level
    return int(reached.argmax()) + 1 if reached.any() else 0
