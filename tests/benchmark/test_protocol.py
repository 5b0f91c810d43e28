"""What the runner asks of an agent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.benchmark.protocol import Traits, describe, knowledge, notes, reset
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo


class Acting:
    def act(self, observation: Any) -> int:
        return 0


class Allocating:
    def allocate(self, observation: Any) -> None:
        return None

    def recommend(self, observation: Any) -> Any:
        return np.zeros(1, int)


class Half:
    def allocate(self, observation: Any) -> None:
        return None


def test_two_shapes_of_agents() -> None:
    assert not Traits.of(Acting()).allocates
    assert Traits.of(Allocating()).allocates


@pytest.mark.each("agent", [Half(), object(), 3, None])
def test_anything_else_is_refused(agent: object) -> None:
    with pytest.raises(AgentError, match=r"is not an agent: it needs act\(observation\), or allocate"):
        Traits.of(agent)


def test_acting_on_batches_is_declared_and_needs_act() -> None:
    class Both(Acting):
        batched = True

    class Only(Allocating):
        batched = True

    assert Traits.of(Both()).acts_on_batches
    assert not Traits.of(Only()).acts_on_batches
    assert not Traits.of(Acting()).acts_on_batches


def test_the_label_goes_before_the_name_before_the_class() -> None:
    agent: Any = Acting()
    assert describe(agent) == "Acting"
    agent.name = "mine"
    assert describe(agent) == "mine"
    agent.label = "mine(a=1)"
    assert describe(agent) == "mine(a=1)"


def test_knowledge_and_notes() -> None:
    agent: Any = Acting()
    for declared in ((), {"range"}, ["variances", "range"]):
        agent.knows = declared
        assert knowledge(agent) == set(declared)
    agent.knows = {"the best arm"}
    with pytest.raises(ParameterError, match="'the best arm'"):
        knowledge(agent)
    for said, kept in (("one note", ("one note",)), (["a", "b"], ("a", "b")), ((), ())):
        agent.notes = said
        assert notes(agent) == kept


def test_reset_gets_as_many_arguments_as_it_takes() -> None:
    info, rng, seen = ProblemInfo(3, 10), np.random.default_rng(0), list[Any]()
    for method, expected in (
        (lambda: seen.append("called"), ["called"]),
        (lambda info: seen.append(info), [info]),
        (lambda *given: seen.extend(given), [info, rng]),
        (lambda info, rng=None, more=7, *, other=8: seen.extend([info, rng, more, other]), [info, rng, 7, 8]),
    ):
        seen.clear()
        agent: Any = Acting()
        reset(agent, info, rng)  # without one
        agent.reset = method
        reset(agent, info, rng)
        assert seen == expected
    for method in (lambda a, b, third: None, lambda a, *, third: None):
        agent.reset = method
        with pytest.raises(AgentError, match="reset of Acting needs 'third'"):
            reset(agent, info, rng)
