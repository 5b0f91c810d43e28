"""BibTeX entries of the library and of the agents' papers."""

from __future__ import annotations

import email.message
import re
from importlib.metadata import version
from pathlib import Path

import pytest

import bai_gym
from bai_gym import agents
from bai_gym.agents import citations
from bai_gym.agents.citations import cite, papers
from bai_gym.agents.registry import BUILT_IN
from bai_gym.cli.main import app
from bai_gym.errors import UnknownNameError

ROOT = Path(__file__).parents[2]


def test_every_agent_has_a_paper_and_every_paper_an_agent(is_whole: bool) -> None:
    text = (ROOT / "agents" / "papers.bib").read_text(encoding="utf-8")
    named = {name for line in re.findall(r"  agents = \{(.*)\}", text) for name in line.split(", ")}
    assert all(papers(name) for name in BUILT_IN)
    keys, titles = re.findall(r"^@\w+\{(\w+),$", text, re.M), re.findall(r"^  title = (.*),$", text, re.M)
    assert len(set(keys)) == len(keys) == len(set(titles)) == text.count("\n@")
    cited = {key for name in BUILT_IN for key in papers(name)} - {"baigym"}
    assert (named <= set(BUILT_IN) and set(keys) == cited) if is_whole else cited <= set(keys)
    for name in BUILT_IN:
        for part in cite(name).split("\n\n"):
            assert part.count("{") == part.count("}") and part.startswith("@") and part.endswith("\n}")
            assert "agents =" not in part and "  author = {" in part and "  title = {" in part


def test_an_agent_is_cited_by_its_name_in_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert not app(["cite", "SHAdaVar(delta=0.1)", "SHVar", "SH"], standalone_mode=False)
    out = capsys.readouterr().out
    assert re.findall(r"@\w+\{(\w+)", out) == ["lalitha2023fixed", "karnin2013almost"]
    assert bai_gym.cite("SHVar", "SH") + "\n" == out
    assert re.findall(r"@\w+\{(\w+)", cite("UCB1")) == [*papers("UCB1")] == ["auer2002finite", "bubeck2009pure"]


def test_the_library_is_cited_with_its_version_and_its_address_once_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cite().startswith("@misc{baigym,") and f"Version {version('bai-gym')}" in cite() and "url" not in cite()
    described = email.message.Message()
    described["Project-URL"] = "Homepage, https://example.org/bai-gym"
    monkeypatch.setattr(citations, "metadata", lambda name: described)
    citations._entries.cache_clear()
    try:
        assert "\n  url = {https://example.org/bai-gym},\n" in cite()
    finally:
        citations._entries.cache_clear()


def test_other_agents_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean SHVar"):
        cite("SHvr")
    monkeypatch.setattr(agents.registry, "_AGENTS", {**BUILT_IN, "Mine": object})
    with pytest.raises(UnknownNameError, match="Mine is not part of the library"):
        cite("Mine")
