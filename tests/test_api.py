"""Names of agents with parameters, as they are typed and as tables show them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import bai_gym
from bai_gym import agents, compare, evaluate
from bai_gym.api import parse_agent
from bai_gym.errors import BaiGymError, ParameterError, UnknownNameError


@pytest.mark.each(
    ("text", "expected"),
    [
        ("SH", ("SH", {})),
        (" A-GapE ", ("A-GapE", {})),
        ("SHAdaVar(delta=0.1, ucb=False)", ("SHAdaVar", {"delta": 0.1, "ucb": False})),
        ("TTTS(posterior=bernoulli)", ("TTTS", {"posterior": "bernoulli"})),
        ("UCB-E(c=-1)", ("UCB-E", {"c": -1})),
        ("KN(paired=true)", ("KN", {"paired": True})),
        ("Learned(env=BAI-Bernoulli3-v0)", ("Learned", {"env": "BAI-Bernoulli3-v0"})),
        ("Learned(env='BAI-Bernoulli3-v0')", ("Learned", {"env": "BAI-Bernoulli3-v0"})),
        ("Mine(env=BAI-FC-TopM-Custom-v0, m=2)", ("Mine", {"env": "BAI-FC-TopM-Custom-v0", "m": 2})),
    ],
)
def test_words_need_no_quotes(text: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert parse_agent(text) == expected


@pytest.mark.each("text", ["SH(", "SH(1)", "SH(**x)", "SH(x=a-1)", "SH(x=1-a)", "SH(x=a+b)", "SH(x=f(a))"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(ParameterError, match=r"cannot be read; write NAME or NAME\(parameter=value, ...\)"):
        parse_agent(text)


def test_evaluate_passes_on_all_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = {word: object() for word in list(signature(bai_gym.evaluate).parameters)[2:-1]}
    seen: dict[str, Any] = {}
    monkeypatch.setattr("bai_gym.api.compare", lambda agents, env, **given: seen.update(given))
    bai_gym.evaluate("SH", "BAI-Custom-v0", **sent)
    assert seen == {"budgets": [sent.pop("budget")], **sent}


# ------------------------------------------------------------------------------------------------ misuse


@pytest.mark.each(
    "call, meant",
    [
        (lambda: bai_gym.evaluate("SH", "BAI-Custom-v0", budgets=[100]), "budget"),  # type: ignore[call-overload]
        (lambda: bai_gym.compare(["SH"], "BAI-Custom-v0", budget=100), "budgets"),  # type: ignore[call-arg]
    ],
)
def test_a_keyword_that_does_not_exist_is_explained(call: Callable[[], Any], meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"Did you mean {meant}\\b") as caught:
        call()
    assert "\n" not in str(caught.value)


class Failing:
    """An agent with a mistake of its own."""

    def act(self, observation: Any) -> int:
        return int({}["missing"])


@pytest.mark.slow
@pytest.mark.each("workers", [1, 2])
def test_an_exception_of_an_agent_says_whose_it_is(workers: int) -> None:
    with pytest.raises(KeyError) as caught:
        bai_gym.compare([Failing, "SH"], "BAI-Bernoulli3-v0", budgets=[9], runs=2, workers=workers)
    assert any("Failing on BAI-Bernoulli3-v0" in note for note in caught.value.__notes__)


def test_too_little_memory_is_told_in_one_line() -> None:
    class Greedy:
        def act(self, observation: Any) -> int:
            raise MemoryError

    with pytest.raises(ParameterError, match="Greedy on BAI-Bernoulli3-v0"):
        bai_gym.evaluate(Greedy, "BAI-Bernoulli3-v0", budget=9, runs=2)


@pytest.mark.each(
    ("arguments", "names"),
    [
        ({"on_chunk": 5}, "on_chunk"),
        ({"budgets": [9, 9]}, "budget 9"),
        ({"env_kwargs": {"budget": 20}}, "budget"),
        ({"agents": None}, "agents"),
        ({"env_kwargs": {"foo": 1}}, "'foo'.*task.*epsilon"),
        ({"agents": ["TTTS(tries=0)"]}, "tries"),
    ],
)
def test_misuse_is_told_in_one_line(arguments: dict[str, Any], names: str) -> None:
    given = {"agents": ["SH"], "env": "BAI-Bernoulli3-v0", "budgets": [9], "runs": 2, **arguments}
    with pytest.raises(BaiGymError, match=names) as caught:
        bai_gym.compare(given.pop("agents"), given.pop("env"), **given)
    assert "\n" not in str(caught.value)


@pytest.mark.each(("name", "agent"), [("", object), ("Mine", 5), ("a(b", object), (7, object)])
def test_agents_are_registered_by_names(name: Any, agent: Any) -> None:
    with pytest.raises(ParameterError):
        agents.register(name, agent)
    assert name not in agents.names()


def test_what_was_probably_meant_is_said(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("question,gpt,claude\n1,0,1\n2,1,1\n")
    wide = {"path": str(tmp_path / "wide.csv"), "arm_column": "model", "reward_column": "score"}
    env = "BAI-Bernoulli4-v0"
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: evaluate("SR", env, episodes=5), "give runs="),  # type: ignore[call-overload]
        (lambda: compare(["SR"], env, optimum=True), "`bai-gym run ENV --optimum`"),  # type: ignore[arg-type]
        (lambda: evaluate(env, "SR"), "'SR', which is an agent: in Python agents come first"),
        (lambda: evaluate("SH,SR", env), "write --agent SH --agent SR, in Python ['SH', 'SR']"),
        (lambda: evaluate("Sequential Halving", env), "its name is 'SH'"),
        (lambda: evaluate("SR", "BAI-Table-v0", env_kwargs=wide), "for BAI-LLMSelection-v0"),
        (lambda: evaluate("SR", "BAI-Table-v0", env_kwargs={"path": wide["path"]}), "for BAI-LLMSelection-v0"),
        (lambda: compare(["SR", "SR"], env), "SB3Agent(model=..., label=...)"),
        (lambda: setattr(gym.make(env).unwrapped, "budget", 2), "give budget=2 to gym.make"),
        (lambda: setattr(gym.make_vec(env, 2).unwrapped, "budget", 2), "give budget=2 to gym.make_vec"),
    ]
    for call, words in calls:
        with pytest.raises(BaiGymError) as caught:
            call()
        assert words in str(caught.value) and "\n" not in str(caught.value), words
