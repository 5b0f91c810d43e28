"""Synthetic ratings of the size and shape of MovieLens 1M, for use without the data: ``MovieLensLike``.

Ratings follow a rank-5 model, ``M_ui = 3.5 + c_i + p_u @ q_i``, with users ``p_u ~ N(0, I_5)``, movies
``q_i = s_i * (uniform direction)``, ``c_i ~ N(0, 0.5^2)`` and ``s_i^2 ~ Gamma``; a rating is M_ui plus Gaussian noise,
rounded to a whole star and clipped to 1..5. The rated pairs are drawn independently of the values. Results on these
ratings are results on this model; they are never called MovieLens.

The model with its normal distributions is a choice of this project. The Gamma distribution (shape 5, mean 0.45), the
noise and the counts were chosen so that the result of :func:`~bai_gym.datasets.complete` has moments like those of the
real data (quantiles over the movies kept; means in stars, variances in squared stars):

====================  =====  =====  =====  =====  =====  =====  =====
quantile                 1%     5%    25%    50%    75%    95%    99%
====================  =====  =====  =====  =====  =====  =====  =====
means, MovieLens 1M   2.307  2.569  3.085  3.436  3.709  3.982  4.140
means, this model     2.656  2.885  3.225  3.474  3.699  3.996  4.190
variances, MovieLens  0.044  0.064  0.097  0.132  0.190  0.310  0.383
variances, this model 0.025  0.049  0.094  0.139  0.196  0.289  0.374
====================  =====  =====  =====  =====  =====  =====  =====

So the variances agree, while the means spread less (standard deviation 0.34 against 0.43): the plain means of the real
movies have standard deviation 0.61 and a long lower tail, those of this model 0.45, and completion shrinks both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bai_gym.datasets.ratings import Ratings
from bai_gym.statistics import IntArray

__all__ = ["movielens_like"]

NUM_USERS = 6040
NUM_MOVIES = 3952
NUM_RATINGS = 1_000_209
MIN_PER_USER = 20

_RANK = 5
_CENTRE = 3.5  # stars
_MOVIE_SD = 0.5  # stars, of c_i
_SPREAD_SHAPE = 5.0  # of the Gamma distribution of s_i^2
_SPREAD_MEAN = 0.45  # squared stars, mean of s_i^2
_NOISE_SD = 0.85  # stars

_USER_SHAPE = 0.766  # of the Weibull distribution of the number of ratings of a user above MIN_PER_USER
_USER_LIMIT = 18.5  # in units of its scale, so that no user rates much more than 2,300 movies
_MOVIE_SHAPE = 0.675  # of the Weibull distribution of the popularity of a movie
_BLOCK = 512  # users whose movies are drawn in one pass


def movielens_like(seed: int = 0) -> Ratings:
    """Draw 1,000,209 ratings of 3,952 movies by 6,040 users.

    Every user rates 20 to about 2,300 movies and none twice, every movie has a rating, and both counts are
    long-tailed.

    Args:
        seed: Of the generator. The same seed gives the same ratings.

    Returns:
        The ratings, sorted by user, then movie; ids count from 1.
    """
    rng = np.random.default_rng(seed)
    users, movies = _who_rates_what(rng)
    tastes = rng.standard_normal((NUM_USERS, _RANK), dtype=np.float32)
    directions = rng.standard_normal((NUM_MOVIES, _RANK), dtype=np.float32)
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    squares = rng.gamma(_SPREAD_SHAPE, _SPREAD_MEAN / _SPREAD_SHAPE, size=NUM_MOVIES)
    movie_factors = directions * np.sqrt(squares)[:, np.newaxis].astype(np.float32)
    effects = rng.normal(_CENTRE, _MOVIE_SD, size=NUM_MOVIES).astype(np.float32)
    values = np.einsum("nr,nr->n", tastes[users], movie_factors[movies])
    values += effects[movies]
    values += _NOISE_SD * rng.standard_normal(NUM_RATINGS, dtype=np.float32)
    np.clip(np.rint(values, out=values), 1.0, 5.0, out=values)
    return Ratings(users, movies, values, _ids(NUM_USERS), _ids(NUM_MOVIES))


def _who_rates_what(rng: np.random.Generator) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Draw the pairs (user, movie) that have a rating, each ``(NUM_RATINGS,)``, sorted by user, then movie.

    A user with d ratings takes d movies without replacement, with chances in proportion to their popularity: those
    with the d smallest of exponential draws divided by popularity (Efraimidis and Spirakis, 2006).
    """
    activity = np.minimum(rng.weibull(_USER_SHAPE, NUM_USERS), _USER_LIMIT)
    counts = MIN_PER_USER + rng.multinomial(NUM_RATINGS - MIN_PER_USER * NUM_USERS, activity / activity.sum())
    popularity = rng.weibull(_MOVIE_SHAPE, NUM_MOVIES)
    rated = np.zeros((NUM_USERS, NUM_MOVIES), dtype=np.bool_)
    for start in range(0, NUM_USERS, _BLOCK):  # some users at a time, so that the draws stay small
        block = slice(start, start + _BLOCK)
        times = rng.standard_exponential((len(counts[block]), NUM_MOVIES)) / popularity
        last = np.take_along_axis(np.sort(times, axis=-1), counts[block, np.newaxis] - 1, axis=-1)
        rated[block] = times <= last
    unseen = np.flatnonzero(~rated.any(axis=0))
    # a movie without a rating takes one from the most rated movie, whose raters are plenty
    most = int(rated.sum(axis=0).argmax())
    givers = rng.choice(np.flatnonzero(rated[:, most]), size=len(unseen), replace=False)
    rated[givers, unseen] = True
    rated[givers, most] = False
    users, movies = np.nonzero(rated)
    return users.astype(np.int32), movies.astype(np.int32)


def _ids(size: int) -> IntArray:
    return np.arange(1, size + 1, dtype=np.int64)
