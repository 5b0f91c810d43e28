"""Cars: the real file where it is, small ones by hand, and the distribution of the synthetic table."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kstest

from bai_gym.datasets import automobile_like, read_automobile
from bai_gym.errors import DataError, ParameterError

LEVEL = 0.001
NAMES = (
    "symboling,normalized-losses,make,fuel-type,aspiration,num-of-doors,body-style,drive-wheels,engine-location,"
    "wheel-base,length,width,height,curb-weight,engine-type,num-of-cylinders,engine-size,fuel-system,bore,stroke,"
    "compression-ratio,horsepower,peak-rpm,city-mpg,highway-mpg,price\n"
)


def car(width: object, weight: object, engine: object, city: object, highway: object, price: object) -> str:
    return (
        f"3,?,alfa-romero,gas,std,two,convertible,rwd,front,88.60,168.80,{width},48.80,{weight},dohc,four,{engine},"
        f"mpfi,3.47,2.68,9.00,111,5000,{city},{highway},{price}\n"
    )


FOUR = [
    car(60, 1500, 100, 20, 30, 5000),
    car(65, 2500, 150, 30, 30, "?"),
    car(70, 3500, 300, 40, 30, 6000),
    car(61, 2000, 200, 25, 30, 13000),
]
# In the order curb-weight, width, engine-size, city-mpg, highway-mpg (the same for all: 0), price. The mean of the
# known prices is 8000, and 3/8 of the way from 5000 to 13000.
RESCALED = [
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.5, 0.5, 0.25, 0.5, 0.0, 0.375],
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.125],
    [0.25, 0.1, 0.5, 0.25, 0.0, 1.0],
]


def write(folder: Path, content: str) -> Path:
    path = folder / "imports-85.data"
    path.write_bytes(content.encode())
    return path


@pytest.mark.each(
    "content",
    [
        "".join(FOUR),
        "".join(FOUR).replace("\n", "\r\n"),
        NAMES + "".join(FOUR),
        NAMES.replace("-", "_").upper() + "".join(FOUR).replace("?", ""),
        NAMES.replace("make", "Make of car") + "".join(FOUR).replace("alfa-romero", "alfa-romeo"),
    ],
)
def test_four_cars_by_hand(tmp_path: Path, content: str) -> None:
    table = read_automobile(write(tmp_path, content))
    assert table.columns == ("curb-weight", "width", "engine-size", "city-mpg", "highway-mpg", "price")
    np.testing.assert_allclose(table.values, RESCALED, rtol=1e-15)
    assert table.notes == ("1 of 4 prices are missing in the data; they are the mean of the others",)


@pytest.mark.each(
    ("content", "complaint"),
    [
        (FOUR[0].rsplit(",", 1)[0] + "\n", "Expected 26 columns, got 25"),
        (FOUR[0] + car(1, 1, "?", 1, 1, 1), "column 'engine-size' of .*, row 2, is missing"),
        (FOUR[1] * 2, "has no price of any car"),
        (NAMES.replace("price", "cost") + FOUR[0], "has no column 'price'"),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        read_automobile(write(tmp_path, content))


def test_a_file_is_read_again_only_when_it_changes(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(FOUR))
    table = read_automobile(path)
    assert read_automobile(str(path)) is table
    write(tmp_path, "".join(FOUR[:3]))
    assert read_automobile(path).num_rows == 3


# The synthetic table


def test_it_has_the_size_of_the_real_one_and_says_that_it_is_not() -> None:
    table = automobile_like()
    assert table.columns == ("x1", "x2", "x3", "x4", "x5", "price")
    assert table.values.shape == (205, 6)
    assert ((0.0 < table.values[:, :5]) & (table.values[:, :5] < 1.0)).all()
    assert (table.values[:, 5].min(), table.values[:, 5].max()) == (0.0, 1.0)
    (note,) = table.notes
    assert "synthetic" in note and "not the real data" in note
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0


def test_the_seed_decides() -> None:
    assert automobile_like(3) is automobile_like(3)
    assert automobile_like().values.tobytes() == automobile_like(0).values.tobytes()
    assert (automobile_like(3).values[:, :5] != automobile_like(4).values[:, :5]).all()
    for wrong in (-1, 1.5, True, [1]):
        with pytest.raises(ParameterError, match="seed must be an integer of at least 0"):
            automobile_like(wrong)  # type: ignore[arg-type]


SEEDS = 200


def test_features_are_uniform_with_the_correlation_of_the_model() -> None:
    features = np.array([automobile_like(seed).values[:, :5] for seed in range(10 * SEEDS)])  # (S, R, 5)
    # Rows are independent; one coordinate of all of them is a sample of the uniform distribution.
    for coordinate in range(5):
        assert kstest(features[:, :, coordinate].reshape(-1), "uniform").pvalue > LEVEL / 5
    # 12 times the covariance of two coordinates is their correlation: of 410,000 rows, with standard error below
    # 12 sqrt(1 / 80) / sqrt(410,000) = 0.0021, as (x - 1/2)^2 (y - 1/2)^2 has a mean of at most that of (x - 1/2)^4.
    centred = features.reshape(-1, 5) - 0.5
    correlations = 12.0 * (centred.T @ centred) / len(centred)
    assert correlations[np.triu_indices(5, 1)] == pytest.approx([0.6] * 10, abs=4.0 * 0.0021)


def test_prices_follow_the_model() -> None:
    """Regress the price on x and |x|^2: the coefficient of |x|^2 over the residual deviation is 0.3 / 0.1.

    Rescaling leaves the ratio alone. For one table it has the distribution of a noncentral t, with mean 3 c, c =
    sqrt(v / 2) gamma((v - 1) / 2) / gamma(v / 2), for v = 205 - 7 residual degrees of freedom. So the weights,
    uniform on [0, 1], come out as 0.5 / 0.1 c on average.
    """
    ratios, variances, weights = [], [], []
    for seed in range(SEEDS):
        values = automobile_like(seed).values
        features, price = values[:, :5], values[:, 5]
        design = np.column_stack([(features**2).sum(axis=-1), features, np.ones(205)])
        inverse = np.linalg.inv(design.T @ design)
        coefficients = inverse @ design.T @ price
        deviation = np.sqrt(((price - design @ coefficients) ** 2).sum() / (205 - 7))
        ratios.append(coefficients[0] / deviation)
        variances.append(inverse[0, 0])
        weights.append(coefficients[1:6] / deviation)
    bias = math.sqrt(99.0) * math.exp(math.lgamma(98.5) - math.lgamma(99.0))
    error = math.sqrt(np.mean(variances) / SEEDS)
    assert np.mean(ratios) == pytest.approx(3.0 * bias, abs=4.0 * error)
    assert np.mean(weights) == pytest.approx(5.0 * bias, abs=4.0 * np.std(weights) / math.sqrt(SEEDS))
