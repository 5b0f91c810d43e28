import numpy as np
import pytest

from bai_gym.datasets import Ratings, complete, movielens_like


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return movielens_like(seed=0)


def test_it_has_the_size_of_movielens_1m(ratings: Ratings) -> None:
    assert (len(ratings), ratings.num_users, ratings.num_items) == (1_000_209, 6_040, 3_952)
    assert ratings.user_index.dtype == ratings.item_index.dtype == np.int32
    assert ratings.values.dtype == np.float32
    cells = ratings.user_index.astype(np.int64) * ratings.num_items + ratings.item_index
    assert (np.diff(cells) > 0).all()  # sorted by user, then movie, and distinct: nobody rates a movie twice
    assert np.bincount(ratings.user_index, minlength=ratings.num_users).min() >= 20
    assert np.bincount(ratings.item_index, minlength=ratings.num_items).min() >= 1


def test_ratings_are_whole_stars_with_every_star_in_use(ratings: Ratings) -> None:
    shares = np.bincount(ratings.values.astype(int)) / len(ratings)
    assert np.unique(ratings.values).tolist() == [1, 2, 3, 4, 5]
    assert (shares[1:] > 0.03).all()


def test_activity_and_popularity_are_long_tailed_like_the_real_ones(ratings: Ratings) -> None:
    # MovieLens 1M: 20, 44, 96, 208, 556, 907 ratings per user; 7, 33, 124, 350, 1052, 1785 per rated movie
    quantiles = [0.25, 0.5, 0.75, 0.95, 0.99]
    users = np.quantile(np.bincount(ratings.user_index), quantiles)
    movies = np.quantile(np.bincount(ratings.item_index), quantiles)
    assert users == pytest.approx([44, 96, 208, 556, 907], rel=0.2)
    assert movies == pytest.approx([33, 124, 350, 1052, 1785], rel=0.25)


def test_the_seed_decides(ratings: Ratings) -> None:
    again, other = movielens_like(0), movielens_like(1)
    assert ratings.values.tobytes() == again.values.tobytes()
    assert ratings.item_index.tobytes() == again.item_index.tobytes()
    assert ratings.values.tobytes() != other.values.tobytes()


@pytest.mark.slow
def test_the_completed_matrix_has_moments_like_the_real_one(ratings: Ratings) -> None:
    result = complete(ratings)
    quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
    # MovieLens 1M, completed with the same settings: the table in the module's docstring
    assert np.quantile(result.variances, quantiles) == pytest.approx([0.064, 0.097, 0.132, 0.19, 0.31], rel=0.3)
    assert np.median(result.means) == pytest.approx(3.436, abs=0.1)
    assert np.std(result.means) == pytest.approx(0.433, rel=0.3)
