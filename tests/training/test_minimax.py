"""Training for R^go tracking: draws, the exponent by hand, the network that plays, and a seed that fixes the bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.learned.network import load_weights
from bai_gym.agents.minimax_tracking import FORMAT, SHAPES, RgoTracking
from bai_gym.errors import ParameterError

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
from bai_gym.training.minimax import (  # noqa: E402
    MinimaxRecipe,
    Shares,
    draw_means,
    train_minimax,
    worst_exponents,
)

SMALL = MinimaxRecipe(steps=10, groups=4, instances=15, estimates=90)


def test_means_are_uniform_given_their_best_arm() -> None:
    random = torch.Generator().manual_seed(0)
    best = draw_means((20_000, 3), True, random).numpy()
    assert (best.argmax(1) == 0).all()
    # The largest of three uniform numbers has mean 3/4, the others 3/8; 6 standard errors.
    assert best.mean(0) == pytest.approx([3 / 4, 3 / 8, 3 / 8], abs=0.012)
    other = draw_means((20_000, 3), False, random).numpy()
    assert np.bincount(other.argmax(1), minlength=3)[0] == 0
    assert other.mean(0) == pytest.approx([3 / 8, 9 / 16, 9 / 16], abs=0.015)


def test_exponents_are_those_of_a_loop() -> None:
    recipe = MinimaxRecipe(groups=2, instances=3, estimates=4)
    network = Shares(3)
    found = worst_exponents(network, recipe, torch.Generator().manual_seed(5)).detach().numpy()
    random = torch.Generator().manual_seed(5)
    true = draw_means((2, 3, 3), True, random).double().numpy()
    seen = draw_means((4, 3), False, random)
    shares, q = network(seen).detach().double().numpy(), seen.double().numpy()
    for group in range(2):
        values: list[Any] = []
        for p in true[group]:
            kl = q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))
            complexity = 1 / (p[0] - p[1]) ** 2 + 1 / (p[0] - p[2]) ** 2
            values += list(complexity * (shares * kl).sum(1))
        assert found[group] == pytest.approx(min(values), rel=1e-3)


def test_a_seed_fixes_the_bytes_and_the_worst_case_improves(tmp_path: Path) -> None:
    losses: list[float] = []
    one = train_minimax(SMALL, tmp_path / "one.npz", on_step=lambda step, loss: losses.append(loss))
    other = train_minimax(SMALL, tmp_path / "other.npz")
    assert len(losses) == SMALL.steps
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes() != train_minimax(replace(SMALL, seed=1), tmp_path / "seed.npz").read_bytes()
    losses.clear()
    longer = replace(SMALL, steps=200, learning_rate=1e-2)
    path = train_minimax(longer, tmp_path / "more.npz", on_step=lambda step, loss: losses.append(loss))
    assert np.mean(losses[-50:]) < 1.1 * np.mean(losses[:20]) < 0.0
    assert RgoTracking(path=path).trained_on["recipe"]["steps"] == 200


def test_the_network_that_is_saved_is_the_one_that_was_trained(tmp_path: Path) -> None:
    recipe = MinimaxRecipe(num_arms=5)
    torch.manual_seed(0)
    network = Shares(5)
    network.save(tmp_path / "weights.npz", recipe)
    w, _ = load_weights(tmp_path / "weights.npz", FORMAT, SHAPES)
    means = np.array([0.1, 0.9, 0.4, 0.2, 0.7])
    order = np.argsort(-means)
    hidden = np.maximum(w["encoder.weight"] @ means[order] + w["encoder.bias"], 0.0)
    for weight, bias in zip(w["blocks.weight"], w["blocks.bias"], strict=True):
        hidden = np.maximum(hidden + weight @ hidden + bias, 0.0)
    shares = np.exp(w["out.weight"] @ hidden + w["out.bias"])
    expected = network(torch.tensor(means, dtype=torch.float32)).detach().numpy()[order]
    np.testing.assert_allclose(shares / shares.sum(), expected, rtol=1e-5)


def test_recipes_out_of_range_are_refused() -> None:
    for wrong in ({"num_arms": 1}, {"steps": 0}, {"groups": 0}, {"instances": 0}, {"learning_rate": 0.0}, {"seed": -1}):
        with pytest.raises(ParameterError):
            MinimaxRecipe(**wrong)
