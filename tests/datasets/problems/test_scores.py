"""Matrices of scores: models by questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.data import read_scores
from bai_gym.datasets import ScoresProblem, item_response_scores
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems import build

MATRIX = "question,gpt,small,big\nq1,1,0,1\nq2,0,0,1\nq3,1,0,1\nq4,0,1,0\n"


def written(folder: Path, content: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(content, encoding="utf-8")
    return path


def test_an_arm_pulled_as_often_as_there_are_questions_has_its_exact_mean(tmp_path: Path) -> None:
    matrix = {"path": written(tmp_path, MATRIX), "question_column": "question"}
    env = gym.make("BAI-LLMSelection-v0", **matrix, budget=8, shuffle=False)
    env.reset(seed=0)
    for action in (0, 1, 2, 2, 0, 0, 2, 0):
        observation, *_ = env.step(action)
    assert observation["means"][0] == 0.5  # after all 4 questions
    *_, info = env.step(2)
    assert info["correct"] and env.unwrapped.problem.arm_names == ("gpt", "small", "big")


def test_long_and_wide_files_are_the_same_arms(tmp_path: Path) -> None:
    wide = build("llm-selection", path=written(tmp_path, MATRIX), question_column="question", arms=["big", "gpt"])
    long = tmp_path / "long.csv"
    long.write_text("model,score\n" + "".join(f"big,{s}\n" for s in (1, 1, 1, 0)) + "gpt,1\ngpt,0\ngpt,1\ngpt,0\n")
    same = build("table", path=long, arm_column="model", reward_column="score", replace=False)
    blocks = [
        problem.draw(3, np.random.default_rng(0)).pull_block(np.full((3, 2), 3), np.random.default_rng(1))
        for problem in (wide, same)
    ]
    np.testing.assert_array_equal(blocks[0].means, blocks[1].means)
    with pytest.raises(ParameterError):
        build("table", replace="no")
    with pytest.raises(ParameterError):
        build("llm-selection", question_column="question")
    declared = build("llm-selection", path=written(tmp_path, "a,b\n1,5\n4,2\n"), rewards="bounded(1, 5)")
    assert str(declared.draw(1, np.random.default_rng(0)).rewards) == "bounded(1, 5)"


def test_scores_may_be_words_be_missing_and_come_as_a_data_frame(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b\ntrue;False\nTRUE;\nno;yes\n")
    samples = read_scores(path, missing="drop")
    assert (samples.names, samples.dropped) == (("a", "b"), 1)
    assert samples.rewards.tolist() == [1.0, 1.0, 0.0, 0.0, 1.0]
    assert samples.counts.tolist() == [3, 2]
    assert read_scores({"x": [0.5, 1.0], "y": [2, 3]}).means.tolist() == [0.75, 2.5]


@pytest.mark.each(
    ("content", "keywords", "error", "complaint"),
    [
        (MATRIX, {}, DataError, "column 'question' .*question_column='question' leaves the column out"),
        (MATRIX, {"question_column": "id"}, DataError, "no column 'id'"),
        (MATRIX, {"arms": ["gpt", "gpt"]}, ParameterError, "twice"),
        ("a,b\n1,\n", {}, DataError, "column 'b' .* row 1, is empty"),
        ("a,b\n1,\n", {"missing": "drop"}, DataError, "'b' .* has no scores"),
        ("a,a\n1,0\n", {}, DataError, "2 columns named 'a'"),
    ],
)
def test_a_matrix_that_cannot_be_used(
    tmp_path: Path, content: str, keywords: dict[str, object], error: type[Exception], complaint: str
) -> None:
    with pytest.raises(error, match=complaint):
        read_scores(written(tmp_path, content), **keywords)  # type: ignore[arg-type]


def test_the_demonstration_has_a_single_best_model() -> None:
    means = build("llm-selection").draw(1, np.random.default_rng(0)).means
    assert np.count_nonzero(means == means.max()) == 1


def test_every_episode_has_other_models_and_fresh_questions() -> None:
    problem = build("llm-selection-like", num_arms=4, num_questions=20)
    assert isinstance(problem, ScoresProblem)
    bandit = problem.draw(200, np.random.default_rng(0))
    assert np.unique(bandit.means, axis=0).shape[0] > 190
    whole = bandit.pull_block(np.full((200, 4), 20), np.random.default_rng(1))
    np.testing.assert_array_equal(whole.means, bandit.means)
    with pytest.raises(DataError):
        build("llm-selection-like", num_arms=257)


def test_questions_tell_models_apart_to_different_degrees() -> None:
    """Among those of middling difficulty, the correlation with a model's mean differs by more than chance, 0.018."""
    scores = item_response_scores(3000, 300)
    difficulty = scores.mean(axis=0)
    middling = scores[:, (difficulty > 0.35) & (difficulty < 0.65)]
    assert np.std([np.corrcoef(question, scores.mean(axis=1))[0, 1] for question in middling.T]) > 0.06


def test_many_distinct_scores_make_chunks_smaller() -> None:
    from bai_gym.api import make_cells
    from bai_gym.envs.scalar import BestArmEnv

    graded = ScoresProblem(np.random.default_rng(0).random((2, 50_000)), 2)
    assert make_cells(["Uniform"], BestArmEnv(graded, 100), None, 0)[0].chunk_runs == 2**28 // (16 * 50_010)


GAPS = "question,gpt,small,big\nq1,1,0,1\nq2,0,,1\nq3,1,0,1\nq4,1,1,0\n"


needs_pairs = pytest.mark.skipif(
    "BAI-PairedLLMSelection-v0" not in gym.registry, reason="the wing of paired arms is not here"
)


@needs_pairs
def test_paired_models_are_asked_the_same_questions(tmp_path: Path) -> None:
    path = written(tmp_path, GAPS)
    found = {
        missing: build("llm-selection", path=path, question_column="question", paired=True, missing=missing)
        for missing in (None, "arms", "zero")
    }
    means = {missing: problem.draw(1, np.random.default_rng(0)).means[0] for missing, problem in found.items()}
    np.testing.assert_allclose(means[None], [1, 1 / 3, 2 / 3])
    np.testing.assert_allclose(means["arms"], [0.75, 0.75])
    np.testing.assert_allclose(means["zero"], [0.75, 0.25, 0.75])
    assert found["arms"].arm_names == ("gpt", "big")
    assert [len(problem.notes) for problem in found.values()] == [2, 2, 2]  # the best arm depends on it
    (agreed,) = build(
        "llm-selection",
        path=written(tmp_path, GAPS.replace("q4,1,1,0", "q4,1,1,1")),
        arms=["small", "big"],
        paired=True,
    ).notes
    assert "the best arm is big" in agreed and "warning" not in agreed
    with pytest.raises(DataError, match="has no reward for 1 of 12 pairs"):
        build("llm-selection", path=path, question_column="question", paired=True, missing="error")


@needs_pairs
def test_synthetic_models_can_be_paired() -> None:
    env: Any = gym.make("BAI-PairedLLMSelectionLike32-v0", pairs=True)
    env.reset(seed=0)
    for arm in (0, 1, 1, 0):
        observation, *_ = env.step(arm)
    assert env.unwrapped.problem_info().paired
    assert set(observation["differences"].ravel().tolist()) <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert not gym.make("BAI-PairedLLMSelection-v0", paired=False).unwrapped.problem.paired
