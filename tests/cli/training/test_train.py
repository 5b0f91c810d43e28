"""Mistakes at ``bai-gym train``: one line that names the thing and the way out, before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bai_gym.agents.training import agent
from bai_gym.results.reader import read_results

SHIPPED = Path(agent.__file__).parent / "weights" / "BAI-Bernoulli3-v0.npz"
SB3 = ("sb3", "BAI-Bernoulli3-v0")


@pytest.mark.each(
    ("words", "part"),
    [
        (("BAI-Bernoulli3-v0",), "No such command 'BAI-Bernoulli3-v0'"),
        ((*SB3, "--recipe", "widht=3"), "Did you mean width"),
        ((*SB3, "--recipe", "seed=3"), "unknown entry of the recipe 'seed'. (give --seed)"),
        ((*SB3, "--recipe", "width"), "--recipe 'width' cannot be read; write --recipe KEYWORD=VALUE"),
        ((*SB3, "--recipe", "network=[1]"), "unknown network '[1]'"),
        ((*SB3, "--recipe", "algo=dqn"), "unknown algo 'dqn'"),
        ((*SB3, "--steps", "0", "--recipe", "imitate=none"), "nothing to do"),
        (("sb3", "BAI-FC-Bernoulli10-v0", "--agent", "SH"), "SH does not decide when to stop"),
        (("universal", "--minutes", "-1"), "minutes must be"),
        (("universal", "--recipe", "stages=9"), "the fewest and the most, such as 6,20, not 9"),
        (("universal", "--recipe", "families=3"), "families must be words"),
        (("universal", "--start-from", "none.npz"), "there is no file of weights 'none.npz'"),
        (("universal", "--agent", "SHvr"), "unknown agent 'SHvr'"),
    ],
)
def test_mistakes_are_found_before_the_work(refused: Callable[..., None], words: tuple[str, ...], part: str) -> None:
    pytest.importorskip("stable_baselines3")
    refused(("train", *words), part)
    assert not Path("results").exists()


def test_the_comparison_is_not_on_the_seed_of_the_training(
    command: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("stable_baselines3")
    from bai_gym.training.learning import Trained

    trained = Trained(SHIPPED, SHIPPED)
    monkeypatch.setattr("bai_gym.training.train", lambda *given, **others: trained)
    command("train", *SB3, "--seed", "5", "--agent", "Uniform", "--runs", "4", "--out", "out")
    (table,) = read_results(Path("out"))
    assert [row.seed for row in table.results] == [6, 6]


def test_a_folder_with_the_name_of_a_file_is_found_before_the_work(
    refused: Callable[..., None], tmp_path: Path
) -> None:
    pytest.importorskip("stable_baselines3")
    (tmp_path / "out" / "results.md").mkdir(parents=True)
    refused(("train", *SB3, "--out", "out"), "cannot write out/results.md: it is a folder")
