"""Every agent has its hand-written part of the documentation, in the file of its module, in one form."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from bai_gym import agents
from bai_gym.agents import SequentialAgent
from bai_gym.agents.registry import find

pytest.importorskip("matplotlib")


FOLDER = Path(__file__).parents[2] / "docs" / "agents"
COMMON = {field.name for field in fields(SequentialAgent)}
FRONT_MATTER = re.compile(r"\A---\nagents:\n((?:  \S+: \S[^\n]*\n)+)---\n\n## ")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INPUT = re.compile(r"^input:.*\n(?: {7}.*\n)*", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def names(self) -> list[str]:
        found = FRONT_MATTER.match(self.text)
        assert found, "the file begins with ---, agents:, lines of a name and words, ---, an empty line and a section"
        return re.findall(r"^  (\S+):", found[1], re.MULTILINE)

    def section(self, title: str) -> str:
        return re.split(r"^## ", self.text.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]

    @property
    def inputs(self) -> str:
        return "".join(INPUT.findall("".join(code for _, code in FENCE.findall(self.section("Pseudo-code")))))

    @property
    def code(self) -> str:
        """All code of the pseudo-code, in fences and in the text, but for the inputs."""
        section = self.section("Pseudo-code")
        fenced = "".join(INPUT.sub("", code) for _, code in FENCE.findall(section))
        return fenced + "\n".join(re.findall(r"`([^`]+)`", FENCE.sub("", section)))


PAGES = [Page(path) for path in sorted(FOLDER.rglob("*.md"))]
PLACES = [(page, name) for page in PAGES for name in page.names]


def names_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_agent_has_one_page() -> None:
    assert sorted(name for _, name in PLACES) == sorted(agents.names())


@pytest.mark.each(("page", "name"), PLACES, ids=[name for _, name in PLACES])
def test_agents_stand_in_the_file_of_their_module(page: Page, name: str) -> None:
    folder, module = find(name).__module__.removeprefix("bai_gym.agents.").split(".")[:2]
    assert page.path == FOLDER / folder / f"{'learned' if name == 'Learned' else module}.md"


@pytest.mark.each(("page", "name"), PLACES, ids=[name for _, name in PLACES])
def test_pseudo_code_uses_every_parameter(page: Page, name: str) -> None:
    parameters = [field.name for field in fields(find(name)) if field.name not in COMMON]  # type: ignore[arg-type]
    assert [parameter for parameter in parameters if not names_word(page.inputs, parameter)] == []
    assert [parameter for parameter in parameters if not names_word(page.code, parameter)] == []


@pytest.mark.each(("page", "name"), PLACES, ids=[name for _, name in PLACES])
def test_sources_are_those_of_the_class(page: Page, name: str) -> None:
    paragraphs = [one_line(text) for text in (inspect.getdoc(find(name)) or "").split("\n\n")]
    cited = " ".join(text for text in paragraphs if text.startswith(("Paper:", "Source:", "Sources:")))
    said = one_line(page.section("Source")).lower()
    titles = re.findall(r'"([A-Z][^"]{20,}?),?"', cited)
    assert [title for title in titles if title.lower() not in said] == []
    assert [year for year in re.findall(r"\b(?:19|20)\d\d\b", cited) if year not in said] == []
