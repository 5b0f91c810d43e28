"""Agents by name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bai_gym import agents
from bai_gym.agents import registry
from bai_gym.agents.registry import BUILT_IN, check_rewards
from bai_gym.errors import AgentError, ParameterError, UnknownNameError
from bai_gym.rewards import Rewards


def test_every_name_makes_an_agent_of_that_name() -> None:
    assert len(set(agents.names())) == len(agents.names()) >= 9
    for name in agents.names():
        assert agents.make(name).label == name
        assert isinstance(agents.make(name), registry.find(name))


def test_a_name_and_a_class_never_mean_two_agents() -> None:
    for name, entry in BUILT_IN.items():
        kind = registry.find(name)
        assert getattr(agents, name) is getattr(agents, entry.class_name) is kind
        # Also as Python would write the name: UCB-E is the class UCBE, so no other agent may be called UCBE.
        for spelling in (name, re.sub(r"\W", "", name)):
            assert {other for other in BUILT_IN.values() if other.class_name == spelling} <= {entry}, name


@pytest.mark.each(
    ("name", "accepted", "refused"),
    [
        ("BayesOptimal", ["binary"], ["bounded(0, 1)", "real"]),
        ("SH", ["counts", "real"], []),
    ],
)
def test_rewards_that_an_agent_does_not_accept_are_refused(name: str, accepted: list[str], refused: list[str]) -> None:
    for kind in accepted:
        check_rewards(name, Rewards.of(kind))
    for kind in refused:
        with pytest.raises(AgentError, match=f"^{name} with its default parameters needs rewards .*, and these are "):
            check_rewards(name, Rewards.of(kind))


@pytest.mark.each(
    ("name", "parameters", "knows"),
    [
        ("GapE", {}, {"complexity", "range"}),
        ("GapE-V", {"b": 1.0}, {"complexity"}),
        ("A-GapE", {"b": 1.0}, set()),
        ("UGapEb", {"b": 1.0}, {"complexity"}),
        ("UGapEc", {}, set()),
        ("UCB-E", {"b": 1.0}, {"complexity"}),
        ("UCB-E", {"a": 2.0}, {"range"}),
        ("UCB-E", {"a": "theory"}, {"complexity", "range"}),
        ("UCBE-T", {}, {"complexity"}),
        ("UCBEV-T", {"a": 1.0}, set()),
    ],
)
def test_oracle_knowledge_follows_the_parameters(name: str, parameters: dict[str, Any], knows: set[str]) -> None:
    assert agents.make(name, **parameters).knows == knows


def test_parameters_are_passed_on() -> None:
    assert agents.make("SHAdaVar", delta=0.2) == agents.SHAdaVar(delta=0.2)


def test_unknown_names_are_answered_with_the_nearest() -> None:
    for name, message in (
        ("shadavr", "Did you mean SHAdaVar"),
        ("gape-v", "Did you mean GapE-V"),
        ("zzzzzz", "shows all"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            agents.make(name)


def test_unknown_parameters_are_answered_with_the_known() -> None:
    with pytest.raises(ParameterError, match="SH has no parameter 'delta'; it has: tie, allow_small_budget, leftover"):
        agents.make("SH", delta=0.1)


def test_registered_agents_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    agents.register("Every time I", lambda mode="cycle": agents.Uniform(mode=mode))
    assert agents.names()[-1] == "Every time I"
    assert agents.make("Every time I", mode="random").mode == "random"


def test_names_cannot_be_taken_twice() -> None:
    with pytest.raises(ParameterError, match="an agent named 'SH' is already registered"):
        agents.register("SH", agents.Uniform)
