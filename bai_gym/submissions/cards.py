"""Cards: who plays. A card is a short file of TOML; a submission is a card, and the file of its agent beside it.

```toml
name = "My halving"             # in the leaderboard
file = "my_halving.py"          # beside the card; or agent = "SH(...)", an agent of the library
class = "MyAgent"               # what the file defines
author = "Who wrote it"
about = "What it does, in a sentence."
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bai_gym.agents.loading import is_reference
from bai_gym.api import agent_source
from bai_gym.errors import DataError
from bai_gym.isolation.agent import IsolatedAgent, load_agent, name_agent
from bai_gym.isolation.process import Process, Submission, SubmissionError
from bai_gym.submissions.tables import check_entries, read_table

__all__ = ["Card", "read_card", "read_cards"]

CLASS = "MyAgent"
_ENTRIES: dict[str, type] = {"name": str, "agent": str, "file": str, "class": str, "author": str, "about": str}
LONGEST = {"name": 40, "author": 80, "about": 300}


@dataclass(frozen=True)
class Card:
    """A submission: an agent of the library by its name, or a file that was read before anything was played.

    Attributes:
        name: Its name in the leaderboard.
        agent: The agent of the library; empty for a file.
        submission: The file; None for an agent of the library.
        class_name: The class that the file defines.
        author: Who wrote it.
        about: What it does.
    """

    name: str
    agent: str = ""
    submission: Submission | None = None
    class_name: str = CLASS
    author: str = ""
    about: str = ""

    def load(self, process: Process) -> IsolatedAgent:
        """Return the agent, loaded in a fresh process.

        Raises:
            SubmissionError: If it cannot be loaded.
        """
        if self.submission is None:
            return name_agent(process, self.agent, self.name)
        if self.submission.problem:
            raise SubmissionError(self.submission.problem)
        return load_agent(process, self.submission, self.class_name, self.name)


def read_card(path: Path) -> Card:
    """Read a card, or make one for a file of Python that defines ``MyAgent``.

    Raises:
        DataError: Whatever is wrong with it, in one line.
    """
    if path.suffix == ".py":
        return Card(path.stem, submission=Submission.read(path))
    where = f"the card {path.name}"
    data = read_table(path, "the card")
    check_entries(data, _ENTRIES, ("name", "author", "about"), where)
    for name, most in LONGEST.items():
        if not (data[name].isprintable() and 0 < len(data[name].strip()) <= most):
            raise DataError(f"{name} of {where} must be one line of 1 to {most} characters, not {data[name]!r}")
    card = Card(data["name"], author=data["author"], about=data["about"])
    if ("agent" in data) == ("file" in data) or ("agent" in data and "class" in data):
        raise DataError(f"{where} needs either an agent of the library, or a file and perhaps its class")
    if "agent" in data:
        if is_reference(data["agent"]):  # its code would run in this process
            raise DataError(f"agent of {where} must be of the library (`bai-gym list agents`), not {data['agent']!r}")
        agent_source(data["agent"])
        return replace(card, agent=data["agent"])
    if Path(data["file"]).name != data["file"]:
        raise DataError(f"file of {where} must be the name of a file beside it, not {data['file']!r}")
    return replace(card, submission=Submission.read(path.with_name(data["file"])), class_name=data.get("class", CLASS))


def read_cards(folder: Path) -> tuple[Card, ...]:
    """Read all cards of a folder, sorted by the names of their files.

    Raises:
        DataError: If there is none, two have the same name, or one cannot be read.
    """
    cards = tuple(map(read_card, sorted(folder.glob("*.toml"))))
    if not cards:
        raise DataError(f"there are no cards, files *.toml, in {folder}")
    names = [card.name for card in cards]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"two cards in {folder} have the name {twice!r}")
    return cards
