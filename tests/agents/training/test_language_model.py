"""Language models as agents, played by scripted functions."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.errors import AgentError, ParameterError
from bai_gym.training import LanguageModel

ENV = "BAI-Bernoulli4-v0"
ARM = re.compile(r"^Arm (\d+).*?: (\d+) pulls?(?:, mean (\S+?))?(?:,|$)", re.MULTILINE)
BUDGET = 23


def round_robin(prompt: str) -> str:
    """Pulls the first of the arms with the fewest pulls, then recommends the first with the largest mean."""
    arms = [(int(arm), int(pulls), float(mean or 0)) for arm, pulls, mean in ARM.findall(prompt)]
    if "No pulls are left" in prompt:
        return f"Recommend arm {max(arms, key=lambda arm: arm[2])[0]}."
    return f"Pull arm {min(arms, key=lambda arm: arm[1])[0]}"


def in_one_reply(prompt: str) -> str:
    """The same pulls, all in one reply."""
    return round_robin(prompt) if "No pulls are left" in prompt else "pull " + "0, 1, 2, 3, " * 5 + "0, 1, 2"


class RoundRobin:
    def act(self, observation: dict[str, np.ndarray]) -> int:
        values = observation["pulls"] if observation["remaining"][0] else -observation["means"]
        return int(values.argmin())


def garbage(prompt: str) -> str:
    return "As an assistant I cannot decide 0.5 of that."


def out_of_range(prompt: str) -> str:
    return "recommend arm 7" if "No pulls are left" in prompt else "pull arm 4"


def counts(result: bai_gym.Result) -> list[int]:
    """Return the counts in the note: replies, unreadable replies, random arms."""
    [note] = [note for note in result.notes if "unreadable" in note]
    return [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:replies|unreadable|random)", note)]


@pytest.mark.each("ask", [round_robin, in_one_reply])
def test_a_scripted_model_plays_the_episodes_of_the_same_agent_without_text(ask: object) -> None:
    model = LanguageModel(ask, name="model")  # type: ignore[arg-type]
    one, other = bai_gym.compare([RoundRobin, model], ENV, budgets=[BUDGET], runs=100, seed=1)
    np.testing.assert_array_equal(one.mean_pulls, other.mean_pulls)
    # Rewards have streams of their own for each agent, so the errors are equal in distribution: 4 standard errors.
    assert abs(one.error_probability - other.error_probability) < 0.27
    assert counts(other) == [100 * (BUDGET + 1 if ask is round_robin else 2), 0, 0]


@pytest.mark.each("ask", [garbage, out_of_range])
def test_replies_without_use_are_counted_and_give_no_credit(ask: object, tmp_path: Path) -> None:
    model = LanguageModel(ask, attempts=3)  # type: ignore[arg-type]
    result = bai_gym.evaluate(model, "BAI-Custom-v0", budget=4, runs=60, out=tmp_path)
    assert counts(result) == [60 * 5 * 3, 60 * 5 * 3, 60 * 5]
    # A random one of four arms: 4 standard errors of 0.056.
    assert abs(result.error_probability - 0.75) < 0.225
    assert model.tally["replies"] == 0  # every run has a copy
    again = bai_gym.evaluate(model, "BAI-Custom-v0", budget=4, runs=60, out=tmp_path, reuse=True)
    assert again.seconds == 0 and again.notes == result.notes  # read from the finished chunk


def test_after_an_unreadable_reply_the_prompt_says_why() -> None:
    prompts = []

    def corrects_itself(prompt: str) -> str:
        prompts.append(prompt)
        return "0" if "could not be used" in prompt else "arm nine"

    result = bai_gym.evaluate(LanguageModel(corrects_itself), ENV, budget=2, runs=1)
    assert counts(result) == [6, 3, 0]
    assert prompts[1].startswith(prompts[0]) and "arm nine" in prompts[1]


def test_every_task_and_fixed_confidence() -> None:
    replies = {
        "BAI-TopM-Custom-v0": "recommend 0, 1",
        "BAI-MultiBandit-Custom-v0": "recommend 0, 2",
        "BAI-CustomThresholding-v0": "recommend 0, 1",
        "BAI-CustomGoodArm-v0": "recommend 0",
        "BAI-AllWithin-Custom-v0": "recommend 0, 1",
    }
    listed = {"shuffle": False}
    for env, reply in replies.items():
        model = LanguageModel(lambda prompt, reply=reply: reply if "No pulls are left" in prompt else "0 x99")
        assert bai_gym.evaluate(model, env, budget=5, runs=2, env_kwargs=listed).errors == 0
    stops = LanguageModel(lambda prompt: "recommend 0" if "Arm 1: 2 pulls" in prompt else "pull 1 x2")
    result = bai_gym.evaluate(stops, "BAI-FC-Custom-v0", budget=50, runs=2, env_kwargs=listed)
    assert (result.errors, result.sample_complexity) == (0, 2)


def test_a_model_that_is_shown_names_may_answer_in_them(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("page,bought\na,no\nb,yes\nc,yes\nc,no\n")
    log = {"path": str(tmp_path / "log.csv"), "arm_column": "page", "reward_column": "bought"}
    model = LanguageModel(lambda prompt: "recommend b" if "No pulls are left" in prompt else "pull c", arm_names=True)
    result = bai_gym.evaluate(model, "BAI-Table-v0", budget=3, runs=10, env_kwargs=log)
    assert (result.recommended, result.mean_pulls.tolist()) == ((0, 10, 0), [0.0, 0.0, 3.0])


@pytest.mark.slow
def test_workers_and_finished_chunks_have_the_counts_too(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    # Chunks have 1,000 runs: two of them, for two workers.
    script.write_text(
        "import os\n"
        "import bai_gym\n"
        "from bai_gym.training import LanguageModel\n"
        "def ask(prompt):\n"
        "    return 'pull 0' if '1 pull,' not in prompt else 'maybe 1'\n"
        "for workers in (1, 2, 1):\n"
        "    result = bai_gym.evaluate(LanguageModel(ask, attempts=1), 'BAI-Custom-v0', budget=1, runs=1002,\n"
        "        workers=workers, out='one' if workers == 1 and not os.path.exists('two') else 'two')\n"
        "    print(result.errors, result.notes)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    one, *others = done.stdout.splitlines()
    assert "2,004 replies, 1,002 unreadable replies, 1,002 random arms" in one
    assert others == [one, one]


def test_models_with_locks_are_shared_not_copied() -> None:
    class Client:
        def __init__(self) -> None:
            self.lock, self.calls = threading.Lock(), 0

        def __call__(self, prompt: str) -> str:
            with self.lock:
                self.calls += 1
            return "0"

    client = Client()
    bai_gym.evaluate(LanguageModel(client), ENV, budget=3, runs=5)
    assert client.calls == 20


def test_what_is_refused() -> None:
    number: Any = LanguageModel(lambda prompt: 3)  # type: ignore[arg-type, return-value]
    calls: list[tuple[Callable[[], Any], type[Exception]]] = [
        (lambda: LanguageModel("gpt"), AgentError),  # type: ignore[arg-type]
        (lambda: LanguageModel(garbage, attempts=0), ParameterError),
        (lambda: LanguageModel(garbage).act({}), AgentError),
        (lambda: bai_gym.evaluate(number, ENV, budget=3, runs=1), AgentError),
        (lambda: LanguageModel(garbage, arm_names=["a"]), ParameterError),  # type: ignore[arg-type]
        (lambda: bai_gym.evaluate(LanguageModel(garbage, arm_names=True), ENV, budget=3, runs=1), AgentError),
    ]
    for call, error in calls:
        with pytest.raises(error):
            call()
