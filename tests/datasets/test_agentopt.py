"""Matrices of scores that ship with the package."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from bai_gym import datasets
from bai_gym.datasets import LLM_AGENTS, llm_agents
from bai_gym.errors import ParameterError

BUNDLED = Path(datasets.__file__).parent / "bundled"
DIGESTS = {
    "bfcl-prices.csv": "7008937f6a5e13f9a82fe74f94a975f025964daf413f7e61e70d72725774a454",
    "bfcl-scores.csv": "d7fce994798c9b54f406a50bc62e357728026988dbc3bb100b9373ee4c2876b3",
    "gpqa-prices.csv": "cfd78901fc9fdc25ef1ae6a1f24dd75746deb1c216fd49a4361a648326178be2",
    "gpqa-scores.csv": "83bd6dec5e53eaee9457d3b2c817b207061167cc9e756060090a0cf935e84350",
    "hotpotqa-prices.csv": "9dc2acb4fcb93305dbe08a4e60aacd8aebdd38413562faca2ba489417d290702",
    "hotpotqa-scores.csv": "560b70e91237c219fba102c328511f2e948842b63b134f30b0da6826e22a2667",
    "mathqa-prices.csv": "d6aff4fe3ede67838e394418e8c51f5a699d8b86aadcf0ab861f73e142ca0ced",
    "mathqa-scores.csv": "86ef16f43fa34083c459265ca79f5cc429ac9a10ff4115f2c54b9a17728fc4db",
}
OPUS = "answer=Claude Opus 4.6 + critic="
MATHQA_TWINS = (f"{OPUS}Claude Haiku 4.5", f"{OPUS}Qwen3 Next 80B A3B")
MATHQA_HAIKU = ("answer=Claude Haiku 4.5 + critic=Qwen3 32B",)
HOTPOTQA = ("planner=Ministral 3 8B + solver=Claude Opus 4.6",)


def test_the_bundled_files_are_those_of_the_notice() -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in BUNDLED.glob("*.csv")}
    assert found == DIGESTS
    assert "Apache License" in (BUNDLED / "LICENSE-Apache-2.0.txt").read_text(encoding="utf-8")
    notice = (BUNDLED / "NOTICE.md").read_text(encoding="utf-8")
    assert all(commit in notice for commit in ("eb1983e", "4659265")) and "no statement about products" in notice


@pytest.mark.each(
    ("data", "shape", "missing", "kind", "best", "mean", "dollars"),
    [
        ("gpqa", (9, 198), 0, "binary", ("Claude Opus 4.6",), 0.7475, 4.7103),
        ("bfcl", (9, 200), 0, "binary", ("Claude Opus 4.6", "Kimi K2.5", "Qwen3 Next 80B A3B"), 0.7, 84.8049),
        ("hotpotqa", (81, 200), 32, "bounded(0, 1)", HOTPOTQA, 0.7427, 51.9012),
        ("mathqa", (81, 200), 1239, "binary", MATHQA_TWINS[:1], 0.9884, 123.8724),
    ],
)
def test_bundled_scores(
    data: str, shape: tuple[int, int], missing: int, kind: str, best: tuple[str, ...], mean: float, dollars: float
) -> None:
    matrix = llm_agents(data)
    assert (matrix.scores.shape, matrix.missing, str(matrix.rewards), matrix.best()) == (shape, missing, kind, best)
    means = np.nanmean(matrix.scores, axis=1)
    assert means.max() == pytest.approx(mean, abs=5e-5)
    assert matrix.prices is not None and matrix.prices.shape == shape[:1] and (matrix.prices > 0).all()
    assert matrix.prices.sum() * shape[1] == pytest.approx(dollars)
    # The source printed the accuracies with four digits, those of GPQA and HotpotQA in percent.
    printed = np.genfromtxt(BUNDLED / f"{data}-prices.csv", delimiter=",", skip_header=1, usecols=2)
    np.testing.assert_allclose(means, printed / (100 if printed.max() > 1 else 1), atol=5.1e-5)


@pytest.mark.each(
    ("data", "missing", "shape", "best", "mean"),
    [
        ("hotpotqa", "items", (81, 190), HOTPOTQA, 0.7364),
        ("hotpotqa", "arms", (68, 200), HOTPOTQA, 0.7427),
        ("hotpotqa", "zero", (81, 200), HOTPOTQA, 0.7427),
        ("mathqa", "items", (81, 135), MATHQA_TWINS, 0.9926),
        ("mathqa", "arms", (18, 200), MATHQA_HAIKU, 0.945),
        ("mathqa", "zero", (81, 200), MATHQA_HAIKU, 0.945),
    ],
)
def test_who_wins_in_each_mode(
    data: str, missing: str, shape: tuple[int, int], best: tuple[str, ...], mean: float
) -> None:
    used = llm_agents(data).complete(missing)
    assert (used.scores.shape, used.best()) == (shape, best)
    assert used.scores.mean(axis=1).max() == pytest.approx(mean, abs=5e-5)
    assert len(llm_agents(data).notes(missing)) == {"hotpotqa": 1, "mathqa": 2}[data]


def test_bundled_scores_are_shared_and_cannot_be_changed() -> None:
    assert llm_agents("gpqa") is llm_agents("gpqa")
    with pytest.raises(ValueError, match="read-only"):
        llm_agents("gpqa").scores[0] = 1.0
    with pytest.raises(ParameterError, match=", ".join(map(repr, LLM_AGENTS[:2]))):
        llm_agents("mmlu")
