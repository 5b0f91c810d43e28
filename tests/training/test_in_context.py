"""Training of DPT and ICPE: histories, the exported networks, a seed that fixes the bytes, and the command."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bai_gym.agents.training.in_context import ICPE, InContextNetworks
from bai_gym.errors import DataError, ParameterError

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
from bai_gym.cli.main import main  # noqa: E402
from bai_gym.training.in_context import (  # noqa: E402
    SCALE,
    ArmLogits,
    InContextRecipe,
    draw_histories,
    train_in_context,
)

ENV = "BAI-Bernoulli3-v0"
SMALL = InContextRecipe(ENV, {"budget": 6}, steps=3, value_steps=2, width=4)


def test_histories_pull_every_arm_and_spend_any_part_of_the_budget() -> None:
    runs = 20_000
    statistics, best = draw_histories(InContextRecipe(ENV).built, runs, np.random.default_rng(0))
    made = statistics.pulls.sum(axis=1)
    assert statistics.pulls.min() == 1
    # Uniform on 3, ..., 40: mean 21.5, standard deviation 11; 4 standard errors.
    assert (made.min(), made.max()) == (3, 40) and made.mean() == pytest.approx(21.5, abs=0.32)
    # Arms are alike, so each is the best one, and gets the pulls, equally often.
    assert np.bincount(best) == pytest.approx(runs / 3, abs=270)
    assert statistics.pulls.mean(axis=0) == pytest.approx(np.full(3, 21.5 / 3), abs=0.3)
    # With c = 1, which is one history in eleven, one arm gets all pulls but the first ones.
    long = statistics.pulls[made > 20]
    assert (long.max(axis=1) == long.sum(axis=1) - 2).mean() == pytest.approx(1 / 11, abs=0.05)


def test_the_network_that_is_exported_is_the_one_that_was_trained() -> None:
    torch.manual_seed(0)
    network = ArmLogits(8, "binary")
    statistics, _ = draw_histories(InContextRecipe(ENV).built, 20, np.random.default_rng(0))
    left = np.full((20, 1), 5)
    given = (statistics.pulls, statistics.means, statistics.variances, left)
    expected = network(*(torch.tensor(array, dtype=torch.float32) for array in given)).detach().numpy()
    seen = dict(zip(("pulls", "means", "variances", "remaining"), given, strict=True))
    np.testing.assert_allclose(network.export({}).logits(seen), expected, atol=1e-4)


def test_a_seed_fixes_the_bytes_and_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    parts: list[tuple[str, int, int]] = []
    one = train_in_context(SMALL, tmp_path / "one", on_part=lambda *part: parts.append(part))
    assert parts == [("predicting", n, 3) for n in (1, 2, 3)] + [("exploring", n, 2) for n in (1, 2)]
    other = train_in_context(SMALL, tmp_path / "other")
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes() != train_in_context(replace(SMALL, seed=1), tmp_path / "seed").read_bytes()
    parts.clear()
    assert train_in_context(SMALL, tmp_path / "one", on_part=lambda *part: parts.append(part)) == one
    assert not parts
    with pytest.raises(ParameterError, match=r"holds the training of another recipe \(seed 0 there, 2 here\)"):
        train_in_context(replace(SMALL, seed=2), tmp_path / "one")
    facts = ICPE(path=one).trained_on
    assert facts["command"] == (
        "bai-gym train in-context BAI-Bernoulli3-v0 --set budget=6 --steps 3 --seed 0 --recipe value_steps=2 "
        "--recipe width=4"
    )


def test_an_interrupted_training_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bai_gym.training.in_context.STEPS_PER_ROUND", 2)
    recipe = replace(SMALL, value_steps=5)
    whole = train_in_context(recipe, tmp_path / "whole").read_bytes()
    assert not (tmp_path / "whole" / "checkpoint.pt").exists()
    monkeypatch.setattr("bai_gym.training.in_context.STORE_SECONDS", 0.0)
    made: list[tuple[str, int]] = []

    def interrupt(stage: str, done: int, _: int) -> None:
        made.append((stage, done))
        raise KeyboardInterrupt

    for _ in range(8):  # after each step
        with pytest.raises(KeyboardInterrupt):
            train_in_context(recipe, tmp_path / "parts", on_part=interrupt)
    assert made == [("predicting", n) for n in (1, 2, 3)] + [("exploring", n) for n in (1, 2, 3, 4, 5)]
    assert train_in_context(recipe, tmp_path / "parts").read_bytes() == whole
    (tmp_path / "parts" / "weights.npz").unlink()
    (tmp_path / "parts" / "checkpoint.pt").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"checkpoint.pt is damaged: delete it to begin again"):
        train_in_context(recipe, tmp_path / "parts")


@pytest.mark.slow
def test_both_networks_learn(tmp_path: Path) -> None:
    networks = InContextNetworks.load(train_in_context(replace(SMALL, steps=400, value_steps=400, width=16), tmp_path))
    runs = 8000
    statistics, best = draw_histories(SMALL.built, runs, np.random.default_rng(1))
    q = networks.probabilities(statistics)
    # The error probability that q states is the real one, and lower than that of a random arm of largest mean.
    right = (q.argmax(axis=1) == best).mean()
    top = statistics.means == statistics.means.max(axis=1, keepdims=True)
    assert right == pytest.approx(q.max(axis=1).mean(), abs=0.03)
    assert right > (top / top.sum(axis=1, keepdims=True))[np.arange(runs), best].mean()
    # The value of the last pull is the expected increase of the largest q; a reward is 1 with the posterior mean.
    gains = np.zeros((runs, 3))
    for arm in range(3):
        chance = (statistics.sums[:, arm] + 1) / (statistics.pulls[:, arm] + 2)
        for reward, probability in ((1.0, chance), (0.0, 1.0 - chance)):
            after = statistics.copy()
            after.add(np.arange(runs) * 3 + arm, np.full(runs, reward))
            gains[:, arm] += probability * (networks.probabilities(after).max(axis=1) - q.max(axis=1))
    seen = {"pulls": statistics.pulls, "means": statistics.means, "variances": statistics.variances}
    values = networks.values.logits({**seen, "remaining": np.ones((runs, 1))}) / SCALE
    early = statistics.pulls.sum(axis=1) == 5  # the only states in which one pull is left
    assert np.abs(values - gains)[early].mean() < 0.03
    assert np.corrcoef(values[early].ravel(), gains[early].ravel())[0, 1] > 0.5


@pytest.mark.each(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be"),
        ({"value_steps": 0}, "value_steps must be"),
        ({"width": 0}, "width must be"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"seed": -1}, "seed must be"),
        ({"env": "BAI-TopM-Bernoulli10-v0"}, "one arm after a fixed budget"),
        ({"env": "BAI-FC-Bernoulli10-v0"}, "one arm after a fixed budget"),
        ({"env_kwargs": {"budget": 3}}, "budget 3 leaves nothing to decide after one pull of each of 3 arms"),
        ({"env": "BAI-None-v0"}, "BAI-None-v0"),
    ],
)
def test_recipes_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(Exception, match=message) as raised:
        InContextRecipe(**{"env": ENV, **options})
    assert type(raised.value).__module__ == "bai_gym.errors" and "\n" not in str(raised.value)


def run(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Run the command line in this process; return what it prints."""
    monkeypatch.setattr("warnings.showwarning", lambda *_: None)  # main replaces it
    monkeypatch.setattr(sys, "argv", ["bai-gym", *words])
    with pytest.raises(SystemExit):
        main()
    found = capsys.readouterr()
    return found.out, found.err


def test_the_command_trains_and_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = SMALL.command().split()[1:]
    out, err = run([*words, "--out", "mine", "--runs", "20"], monkeypatch, capsys)
    assert not err and out.startswith(SMALL.command())
    for shown in ("DPT(mine)", "ICPE(mine)", "Uniform", "weights: mine/weights.npz"):
        assert shown in out
    for wrong in ("imitate=none", "stages=3,4", "steps=5"):
        out, err = run([*words, "--recipe", wrong], monkeypatch, capsys)
        assert "unknown entry of the recipe" in err and len(err.strip().splitlines()) == 1


def test_another_task_is_refused_with_the_way_out() -> None:
    with pytest.raises(ParameterError, match="not the task of BAI-TopM.*train another policy there, with"):
        InContextRecipe("BAI-TopM-Bernoulli10-v0")
