"""Solutions of lesson 9."""

import numpy as np


# %% standard_error
def standard_error(first, second, number, same):
    """Return the standard error of the difference of two mean scores after that many questions to each model."""
    if same:
        return np.sqrt(np.var(first - second) / number)
    return np.sqrt((np.var(first) + np.var(second)) / number)


# %% questions_each
def questions_each(dollars, prices, active):
    """Return how many questions each active model can be asked, equally many, for the given dollars."""
    return int(dollars // np.sum(prices[active]))
