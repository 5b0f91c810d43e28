"""The bridges to Optuna, with Optuna itself."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from bai_gym.errors import MissingPackageError, ParameterError

optuna = pytest.importorskip("optuna")

from bai_gym.live.tuning import BAIPruner, identify_trial  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)

BEST = [0.2, 0.5, 0.3, 0.6, 0.4, 0.5, 0.7, 0.1] * 2  # losses of the first trial on 16 items


def study_of(*trials: list[float], direction: str = "minimize") -> Any:
    """Return a study in which each trial reports these values, and its mean."""
    study = optuna.create_study(direction=direction)
    for values in trials:
        trial = study.ask()
        for step, value in enumerate(values):
            trial.report(value, step)
        study.tell(trial, float(np.mean(values)))
    return study


def running(study: Any, values: dict[int, float]) -> Any:
    """Return a running trial that has reported these values."""
    trial = study.ask()
    for step, value in values.items():
        trial.report(value, step)
    return study.get_trials()[trial.number]


@pytest.mark.each("direction", ["minimize", "maximize"])
def test_a_trial_that_is_worse_on_every_item_is_pruned(direction: str) -> None:
    """The items differ much more than the trials: only pairs can tell."""
    sign = 1 if direction == "minimize" else -1
    study = study_of([sign * value for value in BEST], direction=direction)
    noise = np.tile([0.01, -0.01], 8)
    worse, better, same = (
        running(study, {step: sign * (value + shift) + noise[step] for step, value in enumerate(BEST)})
        for shift in (0.1, -0.1, 0.0)
    )
    pruner = BAIPruner(delta=0.05)
    assert pruner.prune(study, worse)
    assert not pruner.prune(study, better) and not pruner.prune(study, same)
    assert not BAIPruner(delta=1e-9).prune(study, worse)


def test_only_common_items_count() -> None:
    study = study_of(BEST)
    early = running(study, {step: BEST[step] + 0.1 + 0.01 * step for step in range(15, 2, -1)})
    assert BAIPruner().prune(study, early)
    assert not BAIPruner().prune(study, running(study, {step + 100: 9.0 + step for step in range(16)}))
    assert not BAIPruner().prune(study, running(study, {0: 9.0}))
    assert not BAIPruner().prune(study, running(study, {step: float("inf") for step in range(16)}))
    assert not BAIPruner().prune(optuna.create_study(), early)


def test_binary_values_are_tested_by_who_wins() -> None:
    """With n wins and no loss the evidence is (2^(n+1) - 1) / (n + 1), by hand: 18.1 for n = 7 and 31.9 for n = 8 pairs
    that differ; pairs that agree change nothing.
    """
    ones = study_of([1.0] * 12, direction="maximize")
    zeros = study_of([0.0] * 12)
    for wins, pruned in ((6, False), (7, True)):
        lost = {step: float(step >= wins) for step in range(12)}
        evidence = (2 ** (wins + 1) - 1) / (wins + 1)
        assert (evidence >= 1 / 0.055) == pruned
        assert BAIPruner(0.055, "binary").prune(ones, running(ones, lost)) == pruned
        assert BAIPruner(0.055, "binary").prune(zeros, running(zeros, {s: 1.0 - v for s, v in lost.items()})) == pruned
    with pytest.raises(ParameterError, match="trial .*rewards="):
        BAIPruner(rewards="binary").prune(ones, running(ones, {0: 0.5, 1: 1.0}))


def test_equal_trials_are_seldom_pruned_however_often_one_looks() -> None:
    """150 trials as good as a fixed one ask after each of 30 items; false alarms of the test: below 1e-5."""
    rng = np.random.default_rng(0)
    delta, pruned = 0.05, 0
    pruner = BAIPruner(delta)
    for _ in range(150):
        items = rng.normal(0.0, 1.0, 30)
        study = study_of((items + rng.normal(0.0, 0.3, 30)).tolist())
        values = items + rng.normal(0.0, 0.3, 30)
        trial = running(study, {})
        for step, value in enumerate(values.tolist()):
            trial.intermediate_values[step] = value
            if pruner.prune(study, trial):
                pruned += 1
                break
    assert pruned <= binom.isf(1e-5, 150, delta)


def test_optuna_prunes_with_it_and_keeps_the_best() -> None:
    items = np.linspace(-1.0, 1.0, 30)
    calls = 0

    def objective(trial: Any) -> float:
        nonlocal calls
        x, losses = trial.suggest_float("x", -1.0, 1.0), []
        for step in np.random.default_rng(trial.number).permutation(30).tolist():
            calls += 1
            losses.append(abs(x - 0.3) + items[step] ** 2 + 0.05 * np.sin(1e3 * x * (step + 1)))
            trial.report(losses[-1], step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(np.mean(losses))

    best = []
    for pruner, share in ((BAIPruner(), 0.6), (None, 1.0)):
        study = optuna.create_study(pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=0))
        calls = 0
        study.optimize(objective, n_trials=40)
        assert calls <= share * 40 * 30
        best.append(study.best_params)
    assert best[0] == best[1]


def noisy(trial: Any, item: int | None = None) -> float:
    x = trial.suggest_float("x", 0.0, 1.0)
    noise = 0.0 if item is None else 0.1 * np.sin(37.0 * item)
    return (x - 0.5) ** 2 + noise


@pytest.mark.each("direction", ["minimize", "maximize"])
def test_the_best_trials_are_evaluated_again(direction: str) -> None:
    sign = 1.0 if direction == "minimize" else -1.0
    study = optuna.create_study(direction=direction)
    found = {0.1: 0.30, 0.45: 0.20, 0.9: 0.05, 0.6: 0.25, 0.0: 9.0}  # 0.9 was lucky
    for x, value in [*found.items(), (0.9, 0.04)]:
        distributions = {"x": optuna.distributions.FloatDistribution(0.0, 1.0)}
        trial = optuna.trial.create_trial(params={"x": x}, distributions=distributions, value=sign * value)
        study.add_trial(trial)
    for items in (None, range(20)):
        best, evidence = identify_trial(
            study, lambda trial, *item: sign * noisy(trial, *item), 40, top=4, items=items, progress=False
        )
        assert best.params == {"x": 0.45} and best.number == 1
        assert evidence.names == ("trial 5", "trial 1", "trial 3", "trial 0")  # by value, the same parameters once
        assert evidence.name == "trial 1" and evidence.pulls.sum() <= 40


def test_studies_that_have_no_best_trial_are_refused() -> None:
    many = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.raises(ParameterError, match="2 objectives"):
        identify_trial(many, noisy, 10)
    with pytest.raises(ParameterError, match="1 completed"):
        identify_trial(study_of(BEST), noisy, 10)
    with pytest.raises(ParameterError, match="delta"):
        BAIPruner(delta=2.0)
    with pytest.raises(ParameterError, match="family"):
        BAIPruner(rewards="counts")


def test_without_optuna_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("optuna", "optuna.pruners"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "bai_gym.live.tuning.trials")
    with pytest.raises(MissingPackageError, match=r'pip install "bai-gym\[optuna\]"'):
        importlib.import_module("bai_gym.live.tuning.trials")
