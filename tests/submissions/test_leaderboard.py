"""The verified leaderboard: cards and evaluations are checked, ranks follow from runs, and a cheat gains nothing."""

from __future__ import annotations

import html.parser
import re
import sys
import textwrap
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bai_gym import api
from bai_gym.cli import main
from bai_gym.errors import BaiGymError
from bai_gym.isolation import box
from bai_gym.results.comparison import Comparison
from bai_gym.submissions.cards import Card, read_card, read_cards
from bai_gym.submissions.evaluation import Evaluation, Task, read_evaluation
from bai_gym.submissions.official import Official, play_all, recalls
from bai_gym.submissions.page import RECALLS, leaderboard_page
from bai_gym.submissions.play import Played, play

LEADERBOARD = Path(__file__).resolve().parents[2] / "leaderboard"
TASKS = (Task("BAI-Gaussian8-v0", 40), Task("BAI-Bernoulli10-v0", 60))
SMALL = """
public_seed = 3
runs = 100
seconds = 60
answer_seconds = 20
memory = 4

[[tasks]]
env = "BAI-Gaussian8-v0"
budget = 40

[[tasks]]
env = "BAI-Bernoulli10-v0"
budget = 60
"""
CARD = 'name = "One"\nagent = "SH"\nauthor = "Me"\nabout = "Halves."\n'


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def played(name: str, agent: str, seed: int, runs: int = 400) -> Played:
    """Return what an agent of the library would have played, without a process of its own."""
    results = []
    for task in TASKS:
        found = api.compare([agent], task.env, budgets=[task.budget], runs=runs, seed=seed, progress=False)
        outcomes = {(name, *key[1:]): outcome for key, outcome in found.outcomes.items()}
        results.append(Comparison(tuple(replace(row, agent=name) for row in found), outcomes))
    return Played(Card(name, agent, author="<i>", about="a & b"), tuple(results), knows=results[0][0].knows)


def official(names: dict[str, str], public: int = 1, fresh: int = 2) -> Official:
    evaluation = Evaluation(public, 400, 60.0, 20.0, 4.0, TASKS, "0123456789ab")
    both = [[played(name, agent, seed) for name, agent in names.items()] for seed in (public, fresh)]
    return Official(evaluation, fresh, "In a box.", tuple(both[0]), tuple(both[1]))


# Files


def test_mistakes_in_evaluations_and_cards_are_told_in_one_line(tmp_path: Path) -> None:
    evaluations = {
        "runs of the evaluation must be above 0, not 0": ("runs = 100", "runs = 0"),
        "the evaluation has no entry 'run'": ("runs = 100", "run = 100"),
        "a task needs the entry 'budget'": ("budget = 60", ""),
        "unknown environment 'BAI-Gaussian9-v0'": ("Gaussian8", "Gaussian9"),
        "a task must ask for the best arm, with a fixed budget": ("BAI-Gaussian8", "BAI-FC-Gaussian64"),
        "budget 5 is below": ("budget = 40", "budget = 5"),
        "memory of the evaluation must be of the type float, not 'much'": ("memory = 4", "memory = 'much'"),
    }
    cards = {
        "the card card.toml needs either an agent of the library, or a file": ('agent = "SH"\n', ""),
        "agent of the card card.toml must be of the library": ('"SH"', '"mine.py:Mine"'),
        "unknown agent 'SHH'": ('"SH"', '"SHH"'),
        "file of the card card.toml must be the name of a file beside it": ('agent = "SH"', 'file = "../x.py"'),
        "name of the card card.toml must be one line of 1 to 40 characters": ('"One"', '"a\\u001b[2J"'),
        "the card card.toml needs the entry 'about'": ('about = "Halves."', ""),
        "cannot be read": ("name", "[name"),
    }
    written(tmp_path / "mine.py", "class Mine:\n    def act(self, observation): return 0\n")
    wrong = []
    for what, cases, text in (("evaluation", evaluations, SMALL), ("card", cards, CARD)):
        for words, (old, new) in cases.items():
            assert old in text
            path = written(tmp_path / f"{what}.toml", text.replace(old, new, 1))
            try:
                (read_evaluation if what == "evaluation" else read_card)(path)
                wrong.append((words, "no error"))
            except BaiGymError as error:
                if words not in str(error):
                    wrong.append((words, str(error)))
    assert not wrong


def test_cards_of_a_folder_have_names_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(BaiGymError, match="there are no cards"):
        read_cards(tmp_path)
    written(tmp_path / "b.toml", CARD.replace('agent = "SH"', 'file = "mine.py"\nclass = "Mine"'))
    written(tmp_path / "mine.py", "x = 1\n")
    (card,) = read_cards(tmp_path)
    assert card.submission is not None
    assert (card.submission.code, card.class_name, card.agent) == (b"x = 1\n", "Mine", "")
    written(tmp_path / "a.toml", CARD)
    with pytest.raises(BaiGymError, match="two cards in .* have the name 'One'"):
        read_cards(tmp_path)


def test_the_shipped_cards_are_those_of_the_issue() -> None:
    cards = read_cards(LEADERBOARD / "submissions")
    assert len(cards) == 8
    assert sorted(card.submission.file for card in cards if card.submission) == ["cheat.py", "numpy_halving.py"]
    assert {card.agent for card in cards} >= {"Universal", "Uniform", "SR", "TTTS"}


@pytest.mark.slow
def test_the_shipped_evaluation_has_real_data_and_no_downloads() -> None:
    evaluation = read_evaluation(LEADERBOARD / "evaluation.toml")
    assert 12 <= len(evaluation.tasks) <= 16
    assert sum(task.env.startswith("BAI-LLMAgents") for task in evaluation.tasks) == 3


# Ranks


def test_ranks_and_scores_follow_from_the_runs() -> None:
    """Uniform under two names has equal scores, ranks and intervals; who has failed is in no table."""
    found = official({"a": "Uniform", "b": "SHAdaVar", "c": "Uniform", "Cheat": "SR"})
    broken = Played(found.fresh[3].card, (), "forged.")
    found = Official(found.evaluation, found.fresh_seed, found.isolation, found.public, (*found.fresh[:3], broken))
    assert found.failures == {"Cheat": "forged."}
    places = {place.card.name: place for place in found.places}
    assert set(places) == {"a", "b", "c"} == {row.agent for row in found.boards[0].standings}
    rows = {one.card.name: one.rows for one in found.fresh}
    for name, place in places.items():
        shares = [row.errors / row.runs for row in rows[name]]
        assert place.score.value == pytest.approx(1 - sum(shares) / 2)
        assert place.rank == 1 + sum(other.score.value > place.score.value for other in places.values())
        assert place.rank_interval[0] <= place.rank <= place.rank_interval[1]
    assert places["a"].rank == places["c"].rank and places["a"].rank_interval == places["c"].rank_interval


def test_a_submission_that_knows_the_public_seed_is_pointed_out() -> None:
    """By hand: 100 runs that err in 0 or 2 of some tasks, half of each: a standard error of sqrt(2 / 100) = 0.1414.

    The level of 1e-6 asks for 4.75 of them, 0.672; runs that never differ leave no doubt.
    """
    before = np.repeat([0, 2], 50)
    assert recalls(before, before + 1) and not recalls(before + 1, before) and not recalls(before, before)
    more = before + np.tile([0, 0, 1, 0, 1], 20)  # 0.4 more
    assert not recalls(before, more)


def repeated(one: Played, times: int) -> Played:
    """Return a submission whose first task counts several times, under different names."""
    (row,), (runs,) = one.results[0], one.results[0].outcomes.values()
    envs = [f"{row.env}, {number}" for number in range(times)]
    found = [Comparison((replace(row, env=env),), {(row.agent, env, row.budget): runs}) for env in envs]
    return replace(one, results=tuple(found))


def test_the_tasks_of_a_run_are_not_taken_as_independent() -> None:
    """Sixteen times the same task makes nobody more certain: ranks are those of the task, by McNemar's test."""
    once = official({"a": "Uniform", "b": "SR", "c": "TTTS", "d": "SH"})
    public, fresh = (tuple(repeated(one, 16) for one in played) for played in (once.public, once.fresh))
    often = replace(once, public=public, fresh=fresh)
    of_task = {row.agent: (row.rank, row.rank_interval) for row in once.boards[-1].standings}
    assert once.boards[-1].env == TASKS[0].env and set(of_task.values()) != {(1, (1, 4))}
    assert {place.card.name: (place.rank, place.rank_interval) for place in often.places} == of_task


# The page


class Outline(html.parser.HTMLParser):
    """Checks that elements end in order, and collects those that load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "line", "circle"):
            self.open.append(tag)
        self.active += [name for name, value in attrs if name in ("src", "href") and value != "data:,"]
        self.active += [tag] if tag in ("script", "iframe", "object", "img") else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_escapes_what_submissions_say() -> None:
    names = {"<script>alert(1)</script>": "Uniform", "b": "SHVar"}
    page = leaderboard_page(official(names))
    outline = Outline()
    outline.feed(page)
    assert outline.open == [] and outline.active == []
    assert "&lt;script&gt;alert(1)" in page and "a &amp; b" in page
    assert '<span class="chip">variances</span>' in page and "In a box." in page and RECALLS not in page
    assert page == leaderboard_page(official(names))


def test_two_official_runs_differ_in_the_fresh_seed_alone() -> None:
    one, other = (official({"a": "Uniform", "b": "SH"}, fresh=seed) for seed in (2, 9))
    assert [place.public for place in sorted(one.places, key=lambda place: place.card.name)] == [
        place.public for place in sorted(other.places, key=lambda place: place.card.name)
    ]
    assert leaderboard_page(one) != leaderboard_page(other)


# Playing


@pytest.fixture
def boxed() -> None:
    if "in a box" not in box.strongest().words:
        pytest.skip("no namespaces on this system")


@pytest.mark.slow
def test_a_cheat_gains_nothing_and_harms_nobody(boxed: None, tmp_path: Path) -> None:
    """The shipped cheat between an agent of the library and a file: both play as without it, byte for byte."""
    evaluation = read_evaluation(written(tmp_path / "evaluation.toml", SMALL))
    shipped = LEADERBOARD / "submissions"
    first, cheat, last = (read_card(shipped / f"{name}.toml") for name in ("uniform", "cheat", "numpy_halving"))
    found = play_all([first, cheat, last], evaluation, 5)
    assert list(found.failures) == ["Cheat"]
    verdict = found.failures["Cheat"]
    assert verdict == f"{TASKS[0]}: its process answered with something else than it was asked for."
    alone = play_all([first, last], evaluation, 5)
    assert alone.failures == {}
    assert found.places == alone.places


@pytest.mark.slow
def test_limits_and_knowledge_are_enforced(tmp_path: Path) -> None:
    evaluation = read_evaluation(
        written(tmp_path / "evaluation.toml", SMALL.replace("answer_seconds = 20", "answer_seconds = 2"))
    )
    base = """
    import time
    import numpy as np
    class MyAgent:
        {body}
        def allocate(self, observation):
            return None
        def recommend(self, observation):
            return np.zeros(len(observation["means"]), int)
    """
    cases = {
        "it did not answer within 2 seconds (when asked to reset)": "def reset(self, info): time.sleep(100)",
        "it declares to know complexity, which would give the true means away": "knows = {'complexity'}",
        "the agent reads 'variances' without having declared it": "def reset(self, info): info.variances",
    }
    if sys.platform.startswith("linux"):
        cases["reset raised MemoryError"] = "def reset(self, info): self.all = [np.empty(2**27) for _ in range(10)]"
    wrong = {}
    for words, body in cases.items():
        path = written(tmp_path / "mine.py", base.format(body=body))
        failure = play(read_card(path), evaluation, 3).failure
        if words not in failure or "\n" in failure:
            wrong[words] = failure
    assert not wrong


@pytest.mark.slow
def test_the_commands_check_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "leaderboard" / "evaluation.toml", SMALL.replace("runs = 100", "runs = 20"))
    cards = tmp_path / "leaderboard" / "submissions"
    written(cards / "one.toml", CARD)
    protected: list[bool] = []
    monkeypatch.setattr(box, "protect_memory", lambda: protected.append(True))  # not this process, for other tests
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main replaces it
    monkeypatch.chdir(tmp_path)

    def command(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bai-gym", "leaderboard", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        assert isinstance(left.value.code, int)
        return (left.value.code, *capsys.readouterr())

    code, out, _ = command("check", cards / "one.toml")
    assert code == 0 and out.splitlines()[-2:] == [box.strongest().words, "One: plays by the rules."]
    code, out, _ = command("check", written(tmp_path / "bad.py", "print('hello')\n"), "--log", "log.txt")
    assert code == 1 and "bad: there is no class MyAgent in bad.py" in out
    assert "hello" in (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert command("run", "--out", "out")[0] == 0
    page = (tmp_path / "out" / "leaderboard.html").read_text(encoding="utf-8")
    (seed,) = re.findall(r"leaderboard run --fresh-seed (\d+)", page)
    assert command("run", "--out", "again", "--fresh-seed", seed)[0] == 0
    for name in ("leaderboard.csv", "leaderboard.html"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    assert len(protected) == 4
    code, out, error = command("check", "none.toml")
    assert (code, out, error.count("\n")) == (2, "", 1)
