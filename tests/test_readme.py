"""The README tells the truth: its links and names exist. `tests/docs/test_pages_run.py` runs what it shows."""

from __future__ import annotations

import re
from pathlib import Path

from bai_gym import agents
from bai_gym.envs.registration import IDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", README) if not t.startswith("https://")]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_environment_and_agent_is_listed() -> None:
    families = re.findall(r"^\| (`BAI-.*?) \|", README, re.MULTILINE)
    named = set()
    for family in re.findall(r"`(BAI-[^`]+)`", " ".join(families)):
        many = re.search(r"\{(.*?)\}", family)
        named |= {re.sub(r"\{.*?\}", part, family) for part in (many[1].split(",") if many else [""])}
    assert named == {entry.id for entry in IDS}
    rows = " ".join(re.findall(r"^\| (`.*?) \|", README, re.MULTILINE))
    assert set(agents.names()) == set(re.findall(r"`([^`]+)`", rows)) - set(re.findall(r"`(BAI-[^`]+)`", rows))
