"""The parts of the generator: docstrings, numbers, who plays where, what people wrote."""

from __future__ import annotations

import base64
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("griffe")

CAMPAIGNS = pytest.importorskip("bai_gym.datasets.problems.open_bandit").CAMPAIGNS

import gymnasium as gym  # noqa: E402

from bai_gym import agents  # noqa: E402
from bai_gym.agents.registry import find  # noqa: E402
from bai_gym.bandits import BernoulliBandit  # noqa: E402
from bai_gym.envs.registration import IDS  # noqa: E402
from bai_gym.errors import BaiGymError  # noqa: E402
from bai_gym.problems import FAMILIES, BernoulliPriorProblem, FixedProblem, build  # noqa: E402
from bai_gym.sampling import Rule  # noqa: E402
from bai_gym.tasks import BestArm, Thresholding  # noqa: E402
from bai_gym.theory import best_arm_h1  # noqa: E402
from generate.agents import Written, agent_text, written_pages  # noqa: E402
from generate.complexities import complexity_rows, number  # noqa: E402
from generate.docstrings import code_table, oneline, parse  # noqa: E402
from generate.formulas import drawing, typeset  # noqa: E402
from generate.instances import FEATURES_OF_DATA, description, environments  # noqa: E402
from generate.notebooks import notebook_page  # noqa: E402
from generate.pictures import picture  # noqa: E402
from generate.players import verdicts  # noqa: E402
from generate.project import LESSONS, outside_page  # noqa: E402
from generate.rules import plain_rule  # noqa: E402
from generate.tree import BLOCK, PAGE, tree  # noqa: E402


class Documented:
    """First paragraph of :class:`Documented`.

    Second one, see :func:`~bai_gym.theory.gaps` and :class:`NoSuchThing`.

    Args:
        size: K, at least 2; see
            :meth:`method`.
        rest: The others.

    Raises:
        ValueError: Never.

    Knows nothing.

    Paper: Somebody (2020), "Title",
    section 1.
    """

    def method(self) -> None:
        """Do nothing."""


def test_a_docstring_in_parts() -> None:
    told = parse(Documented)
    here = Documented.__module__
    first = f'<autoref identifier="{here}.Documented" optional><code>Documented</code></autoref>'
    assert told.paragraphs[0] == f"First paragraph of {first}."
    assert told.paragraphs[1] == (
        'Second one, see <autoref identifier="bai_gym.theory.complexity.gaps" optional><code>gaps</code></autoref> and '
        '<autoref identifier="NoSuchThing" optional><code>NoSuchThing</code></autoref>.'
    )
    assert told.paragraphs[2:] == ("Knows nothing.",)
    assert list(told.parameters) == ["size", "rest"]
    assert told.parameters["size"].startswith("K, at least 2; see\n<autoref")
    assert told.sources == ('Paper: Somebody (2020), "Title",\nsection 1.',)


def test_cells_and_tables() -> None:
    assert oneline("a | b\n  `float | None`") == "a \\| b `float | None`"
    block = "==== ====\nkey  what\n==== ====\n1    one\n==== ===="
    assert code_table(f"Before.\n\n{block}\n\nAfter.") == f"Before.\n\n```text\n{block}\n```\n\nAfter."
    assert code_table("No table = here.") == "No table = here."


@pytest.mark.each(
    ("value", "shown"),
    [
        (0.12345, "0.123"),
        (48.8, "48.8"),
        (32032.6, "32,000"),
        (1e9, "1.00e+09"),
        (float("inf"), "infinite"),
        (7.0, "7"),
    ],
)
def test_numbers_as_people_write_them(value: float, shown: str) -> None:
    assert number(value) == shown


def test_complexities_of_a_bandit_by_hand() -> None:
    problem = FixedProblem(BernoulliBandit([0.5, 0.4, 0.3]))
    # Gaps 0.1, 0.1, 0.2: H_1 = 100 + 100 + 25; H_2 = max(1 x 100, 2 x 100, 3 x 25).
    values = [value for _, value in complexity_rows(problem, BestArm(), drawn=False)]
    assert values == ["225", "200"]
    # Distances to 0.35: 0.15, 0.05, 0.05; 44.4 + 400 + 400, and max(400, 2 x 400, 3 x 44.4).
    values = [value for _, value in complexity_rows(problem, Thresholding(0.35), drawn=False)]
    assert values == ["844", "800"]
    problem = BernoulliPriorProblem(3)
    drawn = np.sort(best_arm_h1(problem.draw(500, np.random.default_rng(0)).means))
    middle, low, high = (number(float(drawn[place])) for place in (249, 49, 449))
    assert complexity_rows(problem, BestArm(), drawn=True)[0][1] == f"{middle} ({low} to {high})"


def test_a_picture_is_the_same_every_time() -> None:
    problem = BernoulliPriorProblem(4)
    first = picture(problem, BestArm(), drawn=True)
    assert first == picture(problem, BestArm(), drawn=True)
    assert first.count("draw ") >= 3 and "#d55e00" in first
    assert "draw 1" not in picture(FixedProblem(BernoulliBandit([0.5, 0.4])), BestArm(), drawn=False)


@pytest.mark.each("family", FAMILIES)
def test_every_keyword_of_every_family_has_a_meaning(family: str) -> None:
    import inspect

    told = description(family, lambda thing: None)
    assert told.paragraphs
    assert set(inspect.signature(FAMILIES[family]).parameters) <= {
        name for name, text in told.parameters.items() if text
    }


def test_stand_ins_have_the_shape_of_the_data(small_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(small_data))
    for family, features in FEATURES_OF_DATA.items():
        assert build(family, num_arms=8).num_features == features
    for campaign, items in CAMPAIGNS.items():
        assert build("open-bandit", campaign=campaign).num_arms == items
    assert {entry.family for entry in IDS if entry.data} == {*FEATURES_OF_DATA, "movielens", "open-bandit"}


SOME = (
    "BAI-Bernoulli3-v0",
    "BAI-Logistic8-v0",
    "BAI-GP10-v0",
    "BAI-FC-Custom-v0",
    "BAI-Function-v0",
)


@pytest.mark.slow
@pytest.mark.each("env_id", SOME)
def test_verdicts_are_what_happens(env_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that is said to play comes through some steps; another one is refused, or meets a reward not for it."""
    monkeypatch.setattr("bai_gym.sampling.engine.COMPILED_FROM", math.inf)  # a few steps do not need it
    chosen = tuple(environment for environment in environments() if environment.entry.id == env_id)
    for (name, _), verdict in verdicts(chosen).items():
        env: Any = gym.make(env_id, **({} if verdict.budget is None else {"budget": verdict.budget})).unwrapped
        agent = agents.make(name)
        try:
            observation, _ = env.reset(seed=0)
            agent.reset(env.problem_info(agent.knows), np.random.default_rng(0))
            for _ in range(min(env.budget + 1, 60)):
                observation, _, terminated, _, _ = env.step(agent.act(observation))
                if terminated:
                    break
            came_through = True
        except BaiGymError:
            came_through = False
        assert came_through == verdict.plays, (name, verdict)


def test_what_people_wrote_is_read_and_checked(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text(
        "---\nagents:\n  SH: halving\n  SHVar: halving by variance\n---\n\n## Idea\n\nHalve.\n\n### SH\n\nEqually.\n\n"
        "### SHVar\n\nBy variance.\n\n### Both\n\nStop.\n\n## Source\n\nA paper.\n",
        encoding="utf-8",
    )
    both = "### Both\n\nStop.\n\n## Source\n\nA paper."
    assert written_pages(tmp_path) == {
        "SH": Written("halving", f"## Idea\n\nHalve.\n\nEqually.\n\n{both}", boost=2),
        "SHVar": Written("halving by variance", f"## Idea\n\nHalve.\n\nBy variance.\n\n{both}"),
    }
    (tmp_path / "two.md").write_text("---\nagents: {SH: halving}\n---\n\nAgain.\n", encoding="utf-8")
    with pytest.raises(ValueError, match="two.md is about SH, and so is another file"):
        written_pages(tmp_path)
    (tmp_path / "two.md").write_text("---\nagents: {Nobody: none}\n---\n", encoding="utf-8")
    with pytest.raises(ValueError, match="'Nobody', which is not the name of an agent"):
        written_pages(tmp_path)
    for text in ("## Idea\n", "---\nagents: [SH]\n---\n"):
        (tmp_path / "two.md").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="two.md must begin with front matter"):
            written_pages(tmp_path)


def test_a_page_has_what_people_wrote() -> None:
    chosen = tuple(environment for environment in environments() if environment.entry.id == "BAI-Bernoulli4-v0")
    found = verdicts(chosen)
    text = agent_text("SR", chosen, found, Written("rejects", "## Idea\n\nOne in $K$.\n\n## Source\n\nThe paper."))
    assert text.startswith("---\nsearch:\n  boost: 1\n---\n\n# SR: rejects\n") and text.count("## Idea") == 1
    assert re.search(r"One in <svg [^\n]*</svg>\.", text)
    assert "bai-gym run BAI-Bernoulli4-v0 --agent SR --runs 100" in text
    text = agent_text("SR", chosen, found, None)
    assert text.startswith("# SR\n") and "## Idea" in text


def test_links_of_files_from_outside(tmp_path: Path) -> None:
    file = tmp_path / "CHANGES.md"
    file.write_text(
        "[a](docs/architecture.md#x) [b](CONTRIBUTING.md) [c](LICENSE) [d](https://e.org/f) [g](#h)\n[i](j.ipynb)"
    )
    assert outside_page(file) == "[a](architecture.md#x) [b](contributing.md) c [d](https://e.org/f) [g](#h)\ni"
    lessons = outside_page(Path(__file__).resolve().parents[2] / LESSONS / "README.md")
    assert "](1_first_episode.md)" in lessons and "assignment.ipynb)" not in lessons  # what is handed out is no page


def test_formulas_are_drawn_in_the_text_and_code_stays() -> None:
    text = typeset("A $x^2$, `$HOME`\n\n```bash\necho $HOME $x\n```\n\n$$a,\n\\qquad \\text{one word}$$")
    assert text == (
        f"A {drawing('x^2')}, `$HOME`\n\n```bash\necho $HOME $x\n```\n\n"
        f'<p class="formula">{drawing("a,")}</p>\n<p class="formula">{drawing(" " + chr(92) + "text{one word}")}</p>'
    )
    square = drawing("x < y")
    assert 'aria-label="x &lt; y"' in square and "\n" not in square and "http" not in square
    wide, narrow = (float(re.findall(r"width: ([0-9.]+)em", drawing(tex))[0]) for tex in (r"\text{a b}", r"\text{ab}"))
    assert wide > narrow  # spaces in words count
    deep = float(re.findall(r"vertical-align: -([0-9.]+)em", drawing(r"\frac{a}{b}"))[0])
    assert deep > float(re.findall(r"vertical-align: -([0-9.]+)em", drawing("a"))[0])  # it hangs below the line
    with pytest.raises(ValueError, match="Unknown symbol"):
        typeset(r"$\nothing$")


def test_a_notebook_becomes_a_page(tmp_path: Path) -> None:
    file = tmp_path / "one.ipynb"
    picture = base64.b64encode(b"png").decode()
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "See [two](two.ipynb) and [code](a.py): $x$."]},
        {
            "cell_type": "code",
            "source": ["1 + 1"],
            "outputs": [
                {"output_type": "stream", "text": ["printed\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                {"output_type": "display_data", "data": {"image/png": picture, "text/plain": ["<Figure>"]}},
                {"output_type": "execute_result", "data": {"image/svg+xml": ["<svg>", "</svg>"], "text/plain": ["P"]}},
            ],
        },
    ]
    file.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    text, figures = notebook_page(file, Path("examples", "one.ipynb"))
    assert figures == {"one-1.png": b"png", "one-2.svg": b"<svg></svg>"}
    assert text.startswith("# Title\n\nDownload [one.ipynb](one.ipynb){ download }, ")
    assert f"\n\nSee [two](two.md) and code: {drawing('x')}.\n\n```python\n1 + 1\n```\n\n```text\nprinted\n```" in text
    assert text.endswith(
        "\n\n```text\n2\n```\n\n![What the cell above draws](one-1.png)\n\n![What the cell above draws](one-2.svg)\n"
    )


def test_pages_show_every_rule_of_a_module() -> None:
    shown: dict[str, str] = {}
    for name in agents.names():
        module = find(name).__module__
        shown[module] = shown.get(module, "") + "".join(plain_rule(agents.make(name)))
    for module, text in shown.items():
        for rule in (value for value in vars(sys.modules[module]).values() if isinstance(value, Rule)):
            for function in (rule.index, rule.choose, rule.refresh, rule.stops):
                assert function is None or function.__name__ in text, (module, function)


def test_the_picture_of_the_library_is_that_of_its_folders() -> None:
    found = BLOCK.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None and found[0] == tree(), "run `python -m generate.tree` in docs/"
    assert tree().count("\n") < 50  # a screen
