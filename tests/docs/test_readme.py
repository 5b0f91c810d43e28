"""The README tells the truth: its links and names exist. `test_pages_run.py` runs what it shows."""

from __future__ import annotations

import re
from pathlib import Path

from bai_gym import agents
from bai_gym.envs.registration import IDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", README) if not t.startswith("https://")]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_id_that_is_named_is_registered() -> None:
    named = set(re.findall(r"BAI-[\w-]+", README))
    assert len(named) >= 20
    assert named <= {entry.id for entry in IDS}


def test_every_agent_that_is_named_is_registered() -> None:
    listed = README.partition("\nThe agents:\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([^`]+)`", listed))
    assert len(named) >= 30
    assert named <= set(agents.names())


def test_the_first_example_ends_with_a_correct_answer() -> None:
    (code,) = re.findall(r"```python\n(import gymnasium.*?)```", README, re.DOTALL)
    said: list[str] = []
    exec(code, {"print": said.append})
    assert said == ["correct"]
