"""Agents by name."""

from __future__ import annotations

import pytest

from bai_gym import agents
from bai_gym.agents import registry
from bai_gym.errors import ParameterError, UnknownNameError


def test_every_name_makes_an_agent_of_that_name() -> None:
    assert len(set(agents.names())) == len(agents.names()) >= 9
    for name in agents.names():
        assert agents.make(name).label == name
        assert isinstance(agents.make(name), registry.find(name))


def test_parameters_are_passed_on() -> None:
    assert agents.make("SHAdaVar", delta=0.2) == agents.SHAdaVar(delta=0.2)


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown agent 'shadavr'. Did you mean SHAdaVar"):
        agents.make("shadavr")
    with pytest.raises(UnknownNameError, match=r"unknown agent 'gape-v'. Did you mean GapE-V"):
        agents.make("gape-v")
    with pytest.raises(UnknownNameError) as unlike:
        agents.make("zzzzzz")
    assert "Did you mean" not in str(unlike.value) and "`bai-gym list agents` shows all" in str(unlike.value)


def test_unknown_parameters_are_answered_with_the_known() -> None:
    with pytest.raises(ParameterError, match="SH has no parameter 'delta'; it has: tie, allow_small_budget, samples"):
        agents.make("SH", delta=0.1)


def test_registered_agents_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    agents.register("Every time I", lambda mode="cycle": agents.Uniform(mode=mode))
    assert agents.names()[-1] == "Every time I"
    assert agents.make("Every time I", mode="random").mode == "random"


def test_names_cannot_be_taken_twice() -> None:
    with pytest.raises(ParameterError, match="an agent named 'SH' is already registered"):
        agents.register("SH", agents.Uniform)
