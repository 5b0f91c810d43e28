"""Names of agents with parameters, as they are typed and as tables show them."""

from __future__ import annotations

from typing import Any

import pytest

from bai_gym.api import agent_source, parse_agent
from bai_gym.benchmark.protocol import describe
from bai_gym.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SH", ("SH", {})),
        (" A-GapE ", ("A-GapE", {})),
        ("SHAdaVar(delta=0.1, ucb=False)", ("SHAdaVar", {"delta": 0.1, "ucb": False})),
        ("TTTS(posterior=bernoulli)", ("TTTS", {"posterior": "bernoulli"})),
        ("UCB-E(c=-1)", ("UCB-E", {"c": -1})),
        ("Learned(env=BAI-Bernoulli3-v0)", ("Learned", {"env": "BAI-Bernoulli3-v0"})),
        ("Learned(env='BAI-Bernoulli3-v0')", ("Learned", {"env": "BAI-Bernoulli3-v0"})),
        ("Mine(env=BAI-FC-TopM-Custom-v0, m=2)", ("Mine", {"env": "BAI-FC-TopM-Custom-v0", "m": 2})),
    ],
)
def test_words_need_no_quotes(text: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert parse_agent(text) == expected


@pytest.mark.parametrize("text", ["SH(", "SH(1)", "SH(**x)", "SH(x=a-1)", "SH(x=1-a)", "SH(x=a+b)", "SH(x=f(a))"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(ParameterError, match=r"cannot be read; write NAME or NAME\(parameter=value, ...\)"):
        parse_agent(text)


def test_what_a_table_shows_can_be_typed() -> None:
    shown = "Learned(env=BAI-Gaussian8-v0)"
    assert describe(agent_source(shown).make()) == shown
