"""A data set of Minari holds the episodes that were played: the environment plays them again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import bai_gym  # noqa: F401  # registers the ids
from bai_gym.errors import BaiGymError, MissingPackageError, OutputError, ParameterError
from bai_gym.training.offline import export_episodes

minari = pytest.importorskip("minari", reason="needs Minari, which needs NumPy 2")

DETAILS = {"author": "a", "author_email": "a@b", "code_permalink": "c"}  # without them Minari warns


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


@pytest.mark.each(
    ("agent", "env", "keywords"),
    [
        ("SH", "BAI-Gaussian8-v0", {"budget": 30}),
        ("UCB1", "BAI-Gaussian8-v0", {"budget": 40, "batch_size": 8, "delay": 1}),
        ("LUCB(delta=0.2)", "BAI-FC-GK2-v0", {"budget": 300}),
        ("SAR", "BAI-TopM-Bernoulli10-v0", {"budget": 100}),
    ],
)
def test_the_environment_plays_the_episodes_again(agent: str, env: str, keywords: dict[str, Any]) -> None:
    name = f"bandits/{agent.partition('(')[0].lower()}-v0"
    export_episodes(name, agent, env, runs=2, env_kwargs=keywords, **DETAILS)
    dataset = minari.load_dataset(name)
    again = dataset.recover_environment()
    played = list(dataset.iterate_episodes())
    assert [episode.id for episode in played] == [0, 1] and dataset.storage.metadata["algorithm_name"] == agent
    for episode, facts in zip(played, dataset.storage.get_episode_metadata([0, 1]), strict=True):
        observation, _ = again.reset(seed=int(facts["seed"]))
        seen, ends = [observation], []
        for action, reward in zip(episode.actions, episode.rewards, strict=True):
            observation, found, *over, _ = again.step(action)
            assert found == reward
            seen.append(observation)
            ends.append(tuple(over))
        for name, values in episode.observations.items():
            np.testing.assert_array_equal(values, np.stack([one[name] for one in seen]))
        assert ends == list(zip(episode.terminations, episode.truncations, strict=True))
        assert any(ends[-1]) and not any(map(any, ends[:-1]))
    assert not np.array_equal(played[0].observations["means"][-1], played[1].observations["means"][-1])


def test_the_same_seed_gives_the_same_episodes() -> None:
    made = gym.make("BAI-Bernoulli4-v0", budget=20)
    exported = [
        export_episodes(f"bandits/{name}-v0", "TTTS", made, runs=runs, seed=seed, **DETAILS)
        for name, runs, seed in (("one", 3, 0), ("two", 2, 0), ("three", 2, 1))
    ]
    one, two, three = ([episode.actions.tolist() for episode in data.iterate_episodes()] for data in exported)
    assert one[:2] == two != three
    starts = [[facts["seed"] for facts in data.storage.get_episode_metadata([0, 1])] for data in exported]
    assert starts[0] == starts[1] and not set(starts[1]) & set(starts[2])
    said = exported[0].storage.metadata["description"]
    assert said == "3 episodes of TTTS on BAI-Bernoulli4-v0 with budget 20, seed 0"


class Broken:
    """Plays the first episode only."""

    def reset(self, info: Any, rng: Any) -> None:
        self.episodes = getattr(self, "episodes", 0) + 1

    def act(self, observation: Any) -> int:
        return 0 if self.episodes == 1 else 99


def test_mistakes_leave_no_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, kind, message in (
        (("not an id", "SH", "BAI-Bernoulli4-v0"), ParameterError, "must be an id of Minari"),
        (("bandits/sh-v0", "SH", "BAI-Bernoulli4-v0", {"runs": 0}), ParameterError, "runs"),
        (("bandits/sh-v0", "Nobody", "BAI-Bernoulli4-v0"), BaiGymError, "unknown agent"),
        (("bandits/sh-v0", "SH", "BAI-Nothing-v0"), BaiGymError, "unknown environment"),
        (("bandits/sh-v0", Broken(), "BAI-Bernoulli4-v0", {"runs": 2}), BaiGymError, "99"),
    ):
        dataset, agent, env, *keywords = arguments
        with pytest.raises(kind, match=message):
            export_episodes(dataset, agent, env, **DETAILS, **dict(*keywords))
        assert minari.list_local_datasets() == {}
    export_episodes("bandits/sh-v0", "SH", "BAI-Bernoulli4-v0", runs=1, **DETAILS)
    with pytest.raises(OutputError, match="minari delete bandits/sh-v0"):
        export_episodes("bandits/sh-v0", "SH", "BAI-Bernoulli4-v0", **DETAILS)
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingPackageError, match=r"bai-gym\[minari\]"):
        export_episodes("bandits/other-v0", "SH", "BAI-Bernoulli4-v0")
