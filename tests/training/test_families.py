"""Training instances: well-formed, of the announced hardness, and without the environments that are held out."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.errors import ParameterError

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
from bai_gym.training.families import FAMILIES, QUESTIONS, Group, draw_group, hardness  # noqa: E402


def groups(
    count: int, families: tuple[str, ...] = FAMILIES, questions: tuple[str, ...] = tuple(QUESTIONS)
) -> list[Group]:
    rng = np.random.default_rng(0)
    return [draw_group(rng, families, questions, size=600) for _ in range(count)]


def test_instances_are_well_formed() -> None:
    kinds, questions, sizes, borders = set(), set(), [], set[float]()
    for group in groups(90):
        batch, num_arms = group.means.shape
        kinds.add(group.kind)
        sizes.append(num_arms)
        assert 2 <= num_arms <= 64 and batch % len(group.budgets) == 0
        assert (group.budgets >= 2 * num_arms).all() and (group.budgets <= 300 * num_arms + 1).all()
        by_bandit = group.means.reshape(batch, group.task.num_bandits, -1)
        assert (by_bandit[..., :1] >= by_bandit).all()
        questions.add(group.task.name)
        group.task.check_arms(num_arms)
        assert group.numbers.shape == (batch, len(group.task.numbers(num_arms)))
        if group.task.name == "thresholding":  # no arm is at the border, which is anywhere
            assert (group.means != group.numbers[:, :1]).all()
            borders |= {*(group.means >= group.numbers[:, :1]).mean(axis=1)}
        assert np.isfinite(group.deviations).all() and (group.deviations > 0.0).all()
        if group.kind == "bernoulli":
            np.testing.assert_allclose(group.deviations**2, group.means * (1.0 - group.means))
    assert kinds == {"gaussian", "bernoulli"} and questions == {*QUESTIONS}
    assert {0.0, 1.0} < borders
    assert min(sizes) <= 3 and max(sizes) > 50  # of 2 to 64, by their logarithms: 7 % are above 50


def test_hardness_of_two_equal_arms() -> None:
    # Half of 100 pulls each: a gap of 1 has the standard error sqrt(1/50 + 1/50) = 1/5.
    assert hardness(np.array([[0.0, 1.0]]), np.ones((1, 2)), 100).tolist() == [[pytest.approx(5.0)]]
    # Twice the deviations: half of that.
    assert hardness(np.array([[0.0, 1.0]]), np.full((1, 2), 2.0), 100).tolist() == [[pytest.approx(2.5)]]


def test_held_out_families_do_not_occur() -> None:
    for group in groups(40, ("bernoulli", "bernoulli-prior"), ("best-arm",)):
        # The classical set-ups have at most four different means, or regular gaps.
        if group.means.shape[1] > 5:
            gaps = np.diff(group.means, axis=1)
            assert (np.ptp(gaps, axis=1) > 1e-9).all()
            ends = np.isin(group.means, (0.002, 0.998))  # where draws beyond them are moved to
            assert all(len(set(means.round(9))) > 4 for means in group.means[ends.sum(axis=1) < 2])
    for group in groups(60, ("gaussian",), ("best-arm",)):
        # In BAI-Gaussian64-v0 every second arm is the noisier one, for many arms without exception.
        if group.means.shape[1] >= 16:
            turns = np.diff(np.sign(np.diff(group.deviations, axis=1)), axis=1) != 0
            assert not turns.all(axis=1).any()


def test_unknown_families_are_refused() -> None:
    for families in ((), ("gaussian", "gausian")):
        with pytest.raises(ParameterError, match="families must be some of gaussian, bernoulli, bernoulli-prior"):
            groups(1, families)
    with pytest.raises(ParameterError, match="questions must be some of best-arm, top-m"):
        groups(1, questions=("best",))
