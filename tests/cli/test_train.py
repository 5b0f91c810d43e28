"""Mistakes at ``bai-gym train``: one line that names the thing and the way out, before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SB3 = ("sb3", "BAI-Bernoulli3-v0")


@pytest.mark.each(
    ("words", "part"),
    [
        (("BAI-Bernoulli3-v0",), "No such command 'BAI-Bernoulli3-v0'"),
        (("sb3",), "Missing argument 'env'"),
        ((*SB3, "--minutes", "3"), "No such option: --minutes"),
        ((*SB3, "--steps", "1e4"), "'--steps': '1e4' is not a valid integer"),
        ((*SB3, "--recipe", "widht=3"), "Did you mean width"),
        ((*SB3, "--recipe", "seed=3"), "unknown entry of the recipe 'seed'. (give --seed)"),
        ((*SB3, "--recipe", "width"), "--recipe 'width' cannot be read; write --recipe KEYWORD=VALUE"),
        ((*SB3, "--recipe", "network=[1]"), "unknown network '[1]'"),
        ((*SB3, "--recipe", "width=1e4"), "width must be an integer of at least 1, not 10000.0"),
        (("universal", "BAI-Bernoulli3-v0"), "unexpected extra argument"),
        (("universal", "--minutes", "-1"), "minutes must be"),
        (("universal", "--minutes", "nan"), "minutes must be"),
        (("universal", "--recipe", "epochs=3"), "unknown entry of the recipe 'epochs'"),
        (("universal", "--recipe", "stages=9"), "the fewest and the most, such as 6,20, not 9"),
        (("universal", "--recipe", "stages=6-18"), "the fewest and the most, such as 6,20, not '6-18'"),
        (("universal", "--recipe", "stages=9,4"), "the fewest and the most, not 9 and 4"),
        (("universal", "--recipe", "families=3"), "families must be words"),
        (("universal", "--recipe", "families=poisson"), "families must be some of gaussian"),
        (("universal", "--start-from", "none.npz"), "there is no file of weights 'none.npz'"),
        (("universal", "--agent", "SHvr"), "unknown agent 'SHvr'"),
    ],
)
def test_mistakes_are_found_before_the_work(refused: Callable[..., None], words: tuple[str, ...], part: str) -> None:
    pytest.importorskip("stable_baselines3")
    refused(("train", *words), part)
    assert not Path("results").exists()


def test_a_folder_with_the_name_of_a_file_is_found_before_the_work(
    refused: Callable[..., None], tmp_path: Path
) -> None:
    pytest.importorskip("stable_baselines3")
    (tmp_path / "out" / "results.md").mkdir(parents=True)
    refused(("train", *SB3, "--out", "out"), "cannot write out/results.md: it is a folder")
