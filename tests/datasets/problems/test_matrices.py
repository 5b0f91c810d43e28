"""Problems of published matrices of scores, simulated profits, and logs of clicks."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import bai_gym
from bai_gym.data import ScoreMatrix
from bai_gym.datasets import llm_agents
from bai_gym.datasets.problems.matrices import matrix_problem
from bai_gym.errors import MissingDataError, ParameterError
from bai_gym.problems import FixedProblem, build
from bai_gym.rewards import BINARY


def test_an_agent_has_its_exact_mean_after_all_questions() -> None:
    env = gym.make("BAI-LLMAgents-GPQA-v0", budget=198, shuffle=False)
    env.reset(seed=0)
    for _ in range(198):
        observation, *_ = env.step(2)
    assert observation["means"][2] == pytest.approx(0.7475, abs=5e-5)
    assert env.unwrapped.problem.arm_names[2] == "Claude Opus 4.6"
    assert env.step(2)[-1]["correct"]


def test_each_of_three_tied_arms_is_correct() -> None:
    problem = build("llm-agents", data="bfcl")
    assert "Kimi K2.5" in problem.notes[0]
    for name, correct in (("Claude Opus 4.6", True), ("Qwen3 Next 80B A3B", True), ("Qwen3 32B", False)):
        env = gym.make("BAI-LLMAgents-BFCL-v0", budget=1, shuffle=False)
        env.reset(seed=0)
        env.step(0)
        assert env.step(problem.arm_names.index(name))[-1]["correct"] == correct, name
    for scores, notes in (([[1.0, 0.0], [0.0, 1.0]], 1), ([[1.0, 1.0], [0.0, 1.0]], 0)):  # two, too, have a note
        assert len(matrix_problem(ScoreMatrix(("a", "b"), np.array(scores), BINARY)).notes) == notes


def test_what_is_done_about_missing_scores_is_a_keyword_and_a_note() -> None:
    problems = {missing: build("llm-agents", data="mathqa", missing=missing) for missing in ("items", "arms", "zero")}
    assert [problem.num_arms for problem in problems.values()] == [81, 18, 81]
    for missing, problem in problems.items():
        assert f"missing={missing!r}" in problem.notes[0] and "depends on missing" in problem.notes[1]
        best = llm_agents("mathqa").complete(missing).best()
        means = problem.draw(1, np.random.default_rng(0)).means[0]
        assert tuple(np.array(problem.arm_names)[means == means.max()]) == best
    assert build("llm-agents", data="mathqa").notes == problems["items"].notes
    with pytest.raises(ParameterError):
        build("llm-agents", data="mathqa", missing="drop")


def test_successive_rejects_on_real_scores() -> None:
    # Independent questions, a tenth of all cells: .512 in 100,000 runs of another simulator. With 4,000 runs the
    # standard error is .008; the tolerance is 4 of them.
    result = bai_gym.evaluate("SR", "BAI-LLMAgents-GPQA-v0", budget=178, runs=4000)
    assert result.error_probability == pytest.approx(0.512, abs=0.032)


def test_files_of_the_user_replace_the_demonstrations(tmp_path: Path) -> None:
    for family, num_arms in (("alpaca-eval", 32), ("aslib", 8)):
        problem = build(family)
        assert problem.num_arms == num_arms and "do not exist" in problem.notes[0]
        with pytest.raises(MissingDataError):
            build(family, path=tmp_path)
    for number in range(3):
        file = tmp_path / "results" / f"m{number}" / "weighted_alpaca_eval_gpt4_turbo" / "annotations.json"
        file.parent.mkdir(parents=True)
        file.write_text(f'[{{"instruction": "i", "preference": 1.{number}}}, {{"instruction": "j", "preference": 2}}]')
    problem = build("alpaca-eval", path=tmp_path, num_arms=None)
    assert isinstance(problem, FixedProblem) and problem.arm_names == ("m0", "m1", "m2") and problem.notes == ()
    np.testing.assert_allclose(problem.draw(1, np.random.default_rng(0)).means, [[1.5, 1.55, 1.6]])


def test_clicks_of_a_log_of_displays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(10, 1), (10, 0), (2, 0), (2, 0), (0, 1)]
    text = ",timestamp,item_id,position,click\n" + "".join(f"{i},t,{a},3,{c}\n" for i, (a, c) in enumerate(rows))
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="open-bandit-women"):
        build("open-bandit", campaign="women")
    (tmp_path / "open-bandit").mkdir()
    (tmp_path / "open-bandit" / "women.csv").write_text(text)
    problem = build("open-bandit", campaign="women")
    assert problem.arm_names == ("item 0", "item 2", "item 10")
    assert problem.draw(1, np.random.default_rng(0)).means.tolist() == [[1.0, 0.0, 0.5]]
    same = build("open-bandit", path=tmp_path / "open-bandit" / "women.csv")
    assert same.arm_names == problem.arm_names
    with pytest.raises(ParameterError):
        build("open-bandit", campaign="all")
