"""Training of the universal agent: the network that plays is the one that was trained, and a seed fixes its bytes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.training.universal import Universal, outputs
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.errors import DataError, ParameterError
from bai_gym.tasks import AllWithin, BestArm, GoodArm, Task, Thresholding, TopM

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
from bai_gym.training import families, universal  # noqa: E402
from bai_gym.training.arrays import State  # noqa: E402
from bai_gym.training.families import Group  # noqa: E402
from bai_gym.training.universal import Network, Networks, UniversalRecipe, play, train_universal  # noqa: E402

SMALL = UniversalRecipe(steps=5, stages=(2, 3), size=64, width=8)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints and validation at the scale of these tests."""
    monkeypatch.setattr(universal, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(universal, "VALIDATION_GROUPS", 1)
    monkeypatch.setattr(universal, "STAGES_AT_PLAY", 3)


@pytest.mark.each("num_arms", [2, 3, 64, 256])
def test_numpy_and_torch_give_the_same_outputs(num_arms: int) -> None:
    weights = Universal().networks
    networks = Networks(len(weights["any"]["arm.bias"])).double()
    for kind, network in networks.named_children():
        network.load_state_dict({name: torch.as_tensor(array) for name, array in weights[kind].items()})
    rng = np.random.default_rng(num_arms)
    means = rng.uniform(0.1, 0.9, (30, num_arms))
    tasks: list[Task] = [BestArm(), Thresholding(0.5), TopM(num_arms // 2), GoodArm(0.7), AllWithin(0.1)]
    for bandit in (GaussianBandit(means, rng.uniform(0.1, 2.0, means.shape)), BernoulliBandit(means)):
        kind = "binary" if isinstance(bandit, BernoulliBandit) else "any"
        for most, task in itertools.product((1, 2, 300), tasks):
            seen = bandit.pull_block(rng.integers(1, most + 1, means.shape), rng)
            squares = seen.variances * (seen.pulls - 1)
            state = State(*(torch.as_tensor(array, dtype=torch.float64) for array in (seen.pulls, seen.means, squares)))
            numbers = np.tile(task.numbers(num_arms), (30, 1))
            group = Group("gaussian", means, means, np.ones(1, np.int64), task, numbers)
            for left in (0.0, 5.0, 1e6):
                with torch.no_grad():
                    found = networks.of(group.kind if kind == "any" else "bernoulli")(
                        state, torch.full((30, 1), left, dtype=torch.float64), group
                    )
                expected = outputs(weights[kind], kind, seen, np.full((30, 1), left), task)
                for one, other in zip(expected, found, strict=True):
                    np.testing.assert_allclose(one, other.numpy(), atol=1e-6, err_msg=f"{task}")


def test_an_episode_spends_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    whole = universal.pull

    def recorded(arms: Any, state: State, counts: Any, *args: Any, **options: Any) -> State:
        made.append(counts)
        return whole(arms, state, counts, *args, **options)

    monkeypatch.setattr(universal, "pull", recorded)
    group = families.draw_group(np.random.default_rng(1), size=200)
    network, seen = Networks(8).of(group.kind), []
    network.register_forward_pre_hook(lambda _, given: seen.append(given[0].pulls.sum(1) + given[1][:, 0]))
    margins = play(network, group, 6, torch.Generator().manual_seed(0))
    pulls = torch.stack(made).detach()
    totals = np.repeat(group.budgets, len(group.means) // len(group.budgets))
    for spent_and_left in seen:  # what the network is shown
        assert spent_and_left.tolist() == pytest.approx(totals.tolist())
    assert pulls.sum((0, 2)).tolist() == pytest.approx(totals.tolist())
    assert torch.allclose(pulls, pulls.round(), atol=1e-3) and pulls.min() >= 0.0
    assert margins.shape == group.means.shape and not torch.isnan(margins).any()


def test_every_step_has_instances_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[bytes] = []
    whole = universal.draw_group

    def recorded(*args: Any, **options: Any) -> Any:
        group = whole(*args, **options)
        drawn.append(group.means.tobytes())
        return group

    monkeypatch.setattr(universal, "draw_group", recorded)
    train_universal(replace(SMALL, steps=2), tmp_path)
    assert len(set(drawn)) == len(drawn) == 1 + 2 * 2 * universal.BATCHES


def test_gradients_reach_every_weight() -> None:
    network = Network(8, "any")
    torch.nn.init.normal_(network.out.weight, std=0.1)  # starts at 0, which lets nothing through
    group = families.draw_group(np.random.default_rng(2), ("gaussian",), size=300)
    universal._loss(network, group, 3, torch.Generator().manual_seed(0)).backward()
    for name, value in network.named_parameters():
        assert torch.isfinite(value.grad).all() and value.grad.abs().sum() > 0.0, name


def test_no_episode_has_a_large_part_in_the_gradient() -> None:
    # Of two episodes each may have a norm of 1.5: that of the first, 5, is cut to it, the second stays as it is.
    found = universal._bounded(torch.tensor([[3.0, -4.0], [0.5, 0.0]]))
    assert found.tolist() == [pytest.approx([0.9, -1.2]), [0.5, 0.0]]


def test_trained_twice_and_killed_between_gives_the_same_bytes(tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def kill(done: int, loss: float) -> None:
        assert np.isfinite(loss)
        if done == 3:  # one step after a checkpoint
            raise Killed

    whole = train_universal(SMALL, tmp_path / "one", device="cpu").read_bytes()
    with pytest.raises(Killed):
        train_universal(SMALL, tmp_path / "two", device="cpu", on_step=kill)
    assert agents.make("Universal", path=tmp_path / "two" / "weights.npz").trained_on["steps"] == 2
    assert train_universal(SMALL, tmp_path / "two", device="cpu").read_bytes() == whole
    stored = torch.load(tmp_path / "one" / "checkpoint.pt")
    assert any((stored["average"][name] != value).any() for name, value in stored["networks"].items())
    for name in ("checkpoint.pt", "curve.jsonl", "recipe.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    other = replace(SMALL, seed=1)
    assert train_universal(other, tmp_path / "three", device="cpu").read_bytes() != whole


def test_a_time_limit_ends_at_a_checkpoint_and_is_resumed(tmp_path: Path) -> None:
    first = train_universal(SMALL, tmp_path, device="cpu", minutes=0.0)
    assert agents.make("Universal", path=first).trained_on["steps"] == 1
    last = train_universal(SMALL, tmp_path, device="cpu")
    assert train_universal(SMALL, tmp_path, device="cpu") == last  # has nothing left to do
    agent = agents.make("Universal", path=last)
    assert agent.trained_on["steps"] == 5 and agent.trained_on["recipe"]["width"] == 8
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in curve] == [0, 5]


def test_the_command_trains_and_compares(tmp_path: Path, outcome: Callable[..., tuple[object, str, str]]) -> None:
    words = "train universal --steps 3 --runs 20 --agent SH --out ."
    words += "".join(f" --recipe {entry}" for entry in ("stages=2,4", "size=120", "width=8", "families=gaussian"))
    code, out, _ = outcome(*words.split())
    assert not code and "3 of 3 steps" in out and "Universal" in out and "SH" in out
    facts = agents.make("Universal", path=tmp_path / "weights.npz").trained_on
    assert facts["recipe"]["stages"] == [2, 4] and facts["recipe"]["families"] == ["gaussian"]
    assert (tmp_path / "results.parquet").exists()


def test_training_starts_from_other_weights(tmp_path: Path) -> None:
    first = train_universal(SMALL, tmp_path / "first", device="cpu")
    more = replace(SMALL, seed=1, learning_rate=1e-9)
    second = train_universal(more, tmp_path / "second", device="cpu", start_from=first)
    found = agents.make("Universal", path=second)
    assert found.trained_on["recipe"]["start"]["recipe"]["seed"] == 0
    for kind, network in agents.make("Universal", path=first).networks.items():
        for name, array in network.items():
            np.testing.assert_allclose(found.networks[kind][name], array, atol=1e-3)  # the last rate is 0.0001
    with pytest.raises(ParameterError, match="has layers of width 8, not 16"):
        train_universal(UniversalRecipe(width=16), tmp_path / "third", device="cpu", start_from=first)


def test_a_network_learns_the_same_beside_the_other_and_alone(tmp_path: Path) -> None:
    both = Universal(path=train_universal(SMALL, tmp_path / "both", device="cpu")).networks
    for kind, names in (("any", ["gaussian"]), ("binary", ["bernoulli", "bernoulli-prior"])):
        alone = replace(SMALL, families=tuple(names))
        found = Universal(path=train_universal(alone, tmp_path / kind, device="cpu")).networks
        for name, array in both[kind].items():
            np.testing.assert_array_equal(found[kind][name], array, err_msg=f"{kind} {name}")


def test_steps_along_the_gradient_lower_the_loss_on_other_rewards() -> None:
    torch.manual_seed(0)
    network = Network(16, "any")
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    group = families.draw_group(np.random.default_rng(1), ("gaussian",), size=800)

    def loss(seed: int) -> Any:
        return universal._loss(network, group, 5, torch.Generator().manual_seed(seed))

    with torch.no_grad():
        before = np.mean([float(loss(1000 + seed)) for seed in range(4)])
    for step in range(40):
        optimizer.zero_grad()
        loss(step).backward()
        optimizer.step()
    with torch.no_grad():
        after = np.mean([float(loss(1000 + seed)) for seed in range(4)])
    assert after < before - 0.1


def test_mistakes_are_answered_in_one_line(tmp_path: Path) -> None:
    train_universal(SMALL, tmp_path, device="cpu", minutes=0.0)
    with pytest.raises(ParameterError, match=r"another recipe \(seed 0 there, 7 here\)"):
        train_universal(replace(SMALL, seed=7), tmp_path, device="cpu")
    (tmp_path / "checkpoint.pt").write_bytes(b"no checkpoint")
    with pytest.raises(DataError, match="is damaged: delete it to begin again"):
        train_universal(SMALL, tmp_path, device="cpu")
    wrong = {
        "steps": 0,
        "seed": -1,
        "width": 0,
        "stages": (5, 4),
        "size": 1,
        "learning_rate": 0.0,
        "questions": ["best"],
    }
    for name, value in wrong.items():
        with pytest.raises(ParameterError, match=name):
            replace(SMALL, **{name: value})  # type: ignore[arg-type]
