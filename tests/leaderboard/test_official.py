"""The leaderboard: its files, the ranks of an official run, its page, and its commands."""

from __future__ import annotations

import html.parser
import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from bai_gym import Comparison, api
from bai_gym.errors import BaiGymError
from bai_gym.leaderboard.apart import Apart
from bai_gym.leaderboard.official import (
    Evaluation,
    Official,
    Played,
    Submission,
    Task,
    play,
    play_all,
    read_evaluation,
    read_submissions,
    recalls,
)
from bai_gym.leaderboard.page import RECALLS, leaderboard_page
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import IntArray, Observation

LEADERBOARD = Path(__file__).resolve().parents[2] / "leaderboard"
TASKS = (Task("BAI-Gaussian8-v0", 40), Task("BAI-Bernoulli10-v0", 60))
SMALL = """
public_seed = 1
runs = 100
seconds = 60

[[tasks]]
env = "BAI-Gaussian8-v0"
budget = 40

[[tasks]]
env = "BAI-Bernoulli10-v0"
budget = 60
"""
LIST = """
[[submissions]]
name = "One"
agent = "SH"
author = "me"
about = "Halves."
"""


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
    return Played(tuple(results), knows=results[0][0].knows)


def official(names: dict[str, str], public: int = 1, fresh: int = 2) -> Official:
    evaluation = Evaluation(public, 400, 60.0, TASKS, "0123456789ab")
    both = {
        Submission(name, agent, author="<i>", about="a & b"): (played(name, agent, public), played(name, agent, fresh))
        for name, agent in names.items()
    }
    return Official(evaluation, fresh, both)


def test_mistakes_in_files_are_told_in_one_line(tmp_path: Path) -> None:
    evaluations = {
        "runs of the evaluation must be above 0, not 0": ("runs = 100", "runs = 0"),
        "the evaluation has no entry 'run'": ("runs = 100", "run = 100"),
        "a task needs the entry 'budget'": ("budget = 60", ""),
        "unknown environment 'BAI-Gaussian9-v0'": ("Gaussian8", "Gaussian9"),
        "a task must ask for the best arm, with a fixed budget": ("BAI-Gaussian8", "BAI-FC-Gaussian64"),
        "budget 5 is below": ("budget = 40", "budget = 5"),
        "seconds of the evaluation must be of the type float, not 'much'": ("seconds = 60", "seconds = 'much'"),
    }
    lists = {
        "a submission needs the entry 'about'": ('about = "Halves."', ""),
        "a submission has no entry 'by'": ('author = "me"', 'by = "me"'),
        "agent of a submission must be of the type str, not 3": ('"SH"', "3"),
        "two submissions have the name 'One'": (LIST, LIST + LIST),
        "cannot be read": ("name", "[name"),
    }
    wrong = []
    for what, cases, text in (("evaluation", evaluations, SMALL), ("list", lists, LIST)):
        for words, (old, new) in cases.items():
            assert old in text
            path = written(tmp_path / f"{what}.toml", text.replace(old, new, 1))
            try:
                (read_evaluation if what == "evaluation" else read_submissions)(path)
                wrong.append((words, "no error"))
            except BaiGymError as error:
                if words not in str(error):
                    wrong.append((words, str(error)))
    assert not wrong


@pytest.mark.slow
def test_what_is_shipped_can_be_read() -> None:
    """Agents of the library and one file; 16 tasks, of which three have real scores of language models."""
    submissions = read_submissions(LEADERBOARD / "submissions.toml")
    (own,) = [one.agent for one in submissions if ".py:" in one.agent]
    assert Path(own.rpartition(":")[0]).is_file()
    evaluation = read_evaluation(LEADERBOARD / "evaluation.toml")
    assert len(evaluation.tasks) == 16
    assert sum(task.env.startswith("BAI-LLMAgents") for task in evaluation.tasks) == 3


def test_ranks_and_scores_follow_from_the_runs() -> None:
    """Uniform under two names has equal scores, ranks and intervals; who has failed is in no table."""
    run = official({"a": "Uniform", "b": "SHAdaVar", "c": "Uniform", "d": "SR"})
    last = next(one for one in run.played if one.name == "d")
    run = replace(run, played={**run.played, last: (run.played[last][0], Played((), "it hangs"))})
    assert run.failures == {last: "it hangs"}
    places = {place.submission.name: place for place in run.places}
    assert set(places) == {"a", "b", "c"} == {row.agent for row in run.boards[0].standings}
    for one in run.ranked:
        rows = [row for comparison in run.played[one][1].results for row in comparison]
        place = places[one.name]
        assert place.score.value == pytest.approx(1 - sum(row.errors / row.runs for row in rows) / 2)
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
    few = np.repeat([0, 1], 75)  # variances 0.25 and 0.49: 4.75 sqrt(0.74 / 150) = 0.334
    assert recalls(few, few + np.tile([0, 0, 1, 0, 1], 30))


def repeated(one: Played, times: int) -> Played:
    """Return a submission whose first task counts several times, under different names."""
    (row,), (runs,) = one.results[0], one.results[0].outcomes.values()
    envs = [f"{row.env}, {number}" for number in range(times)]
    found = [Comparison((replace(row, env=env),), {(row.agent, env, row.budget): runs}) for env in envs]
    return replace(one, results=tuple(found))


def test_the_tasks_of_a_run_are_not_taken_as_independent() -> None:
    """Sixteen times the same task makes nobody more certain: ranks are those of the task, by McNemar's test."""
    once = official({"a": "Uniform", "b": "SR", "c": "TTTS", "d": "SH"})
    both = {one: (repeated(public, 16), repeated(fresh, 16)) for one, (public, fresh) in once.played.items()}
    often = replace(once, played=both)
    of_task = {row.agent: (row.rank, row.rank_interval) for row in once.boards[-1].standings}
    assert once.boards[-1].env == TASKS[0].env and set(of_task.values()) != {(1, (1, 4))}
    assert {place.submission.name: (place.rank, place.rank_interval) for place in often.places} == of_task


class Outline(html.parser.HTMLParser):
    """Checks that elements end in order, and collects those that load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link"):
            self.open.append(tag)
        self.active += [name for name, value in attrs if name in ("src", "href") and value != "data:,"]
        self.active += [tag] if tag in ("script", "iframe", "object", "img") else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_escapes_what_submissions_say() -> None:
    names = {"<script>alert(1)</script>": "Uniform", "b": "SHVar"}
    page = leaderboard_page(official(names))
    outline = Outline()
    outline.feed(page)
    assert outline.open == [] and outline.active == []
    assert "&lt;script&gt;alert(1)" in page and "a &amp; b" in page
    assert '<span class="chip">variances</span>' in page and RECALLS not in page
    assert page == leaderboard_page(official(names)) != leaderboard_page(official(names, fresh=9))


class Oracle:
    """Is given what a process apart is given, and the means: notes the best arms by its first random number."""

    label = "by_heart"  # random numbers depend on it
    knows = frozenset({"complexity"})
    batched = True
    best: ClassVar[dict[float, list[int]]] = {}

    def reset(self, info: ProblemInfo, rng: np.random.Generator) -> None:
        self.best[rng.random()] = info.means.argmax(axis=1).tolist()

    def act(self, observation: Observation) -> IntArray:
        return np.zeros(len(observation["means"]), dtype=np.int64)


@pytest.mark.slow
def test_who_has_learnt_the_public_seed_by_heart_gains_nothing(tmp_path: Path) -> None:
    """It is never wrong with that seed, guesses with the fresh one, which ranks it, and its line says so."""
    evaluation = read_evaluation(written(tmp_path / "evaluation.toml", SMALL))
    for task in evaluation.tasks:
        api.evaluate(
            Oracle, task.env, budget=task.budget, runs=evaluation.runs, seed=evaluation.public_seed, progress=False
        )
    code = f"""
    import numpy as np
    BEST = {Oracle.best}
    class MyAgent:
        batched = True
        def reset(self, info, rng):
            self.best = BEST.get(rng.random(), [0] * info.batch)
        def act(self, observation):
            return np.array(self.best)
    """
    submission = Submission("by_heart", f"{written(tmp_path / 'by_heart.py', code)}:MyAgent")
    found = play_all([submission], evaluation, 5)
    assert found.failures == {}
    (place,) = found.places
    assert place.public.value == 1.0 and place.score.value < 0.25 and place.recalls  # guesses: 1/8 and 1/10
    assert RECALLS in leaderboard_page(found)


def test_each_task_has_the_whole_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []

    class Watched(Apart):
        def reset(self, info: ProblemInfo, rng: np.random.Generator) -> None:
            left.append(self._process.left)
            super().reset(info, rng)

    monkeypatch.setattr("bai_gym.leaderboard.official.Apart", Watched)
    played = play(Submission("One", "SH"), read_evaluation(written(tmp_path / "evaluation.toml", SMALL)), 3)
    assert not played.failure and left.count(60.0) == len(TASKS)


@pytest.mark.slow
def test_who_fails_is_not_ranked(tmp_path: Path) -> None:
    evaluation = read_evaluation(written(tmp_path / "evaluation.toml", SMALL.replace("seconds = 60", "seconds = 5")))
    base = """
    import time
    class MyAgent:
        knows = set()
        def reset(self, info): {body}
        def act(self, observation): return 0
    """
    cases = {
        f"{TASKS[0]}: the agent took longer than the time limit of 5 seconds": "time.sleep(100)",
        f"{TASKS[1]}: reset raised AssertionError: binary": "assert str(info.rewards) == 'real', info.rewards",
        "would tell it the true means": "pass\n    knows = {'complexity'}",
    }
    for words, body in cases.items():
        path = written(tmp_path / "mine.py", textwrap.dedent(base).format(body=body))
        failure = play(Submission("MyAgent", f"{path}:MyAgent"), evaluation, 3).failure
        assert words in failure and "\n" not in failure


@pytest.mark.slow
def test_the_commands_check_and_run(tmp_path: Path, outcome: Callable[..., tuple[object, str, str]]) -> None:
    """The same fresh seed gives the same bytes of page and table."""
    folder = tmp_path / "leaderboard"
    written(folder / "evaluation.toml", SMALL.replace("runs = 100", "runs = 20"))
    bad = '[[submissions]]\nname = "Bad"\nagent = "bad.py:Bad"\nauthor = "me"\nabout = "Fails."\n'
    written(folder / "submissions.toml", LIST + bad)
    written(folder / "bad.py", "class Bad:\n    def act(self, observation): raise ValueError('no')\n")
    command = partial(outcome, "leaderboard")
    code, out, _ = command("check", "SH")
    assert code == 0 and out.splitlines()[-1] == "SH: plays by the rules."
    project = Path(__file__).resolve().parents[2] / "examples/leaderboard/assignment/project"
    code, out, _ = command("check", f"{project}/starter.py:Starter", "--evaluation", f"{project}/evaluation.toml")
    assert code == 0 and out.endswith("starter.py:Starter: plays by the rules.\n")
    code, out, _ = command("check", "leaderboard/bad.py:Bad")
    assert code == 1 and "act raised ValueError: no (line 2 of bad.py" in out
    code, out, _ = command("run", "--out", "out")
    assert code == 0 and "1. One: " in out and "not ranked: Bad: " in out
    page = (tmp_path / "out" / "leaderboard.html").read_text(encoding="utf-8")
    (seed,) = re.findall(r"leaderboard run --fresh-seed (\d+)", page)
    assert command("run", "--out", "again", "--fresh-seed", seed)[0] == 0
    for name in ("leaderboard.csv", "leaderboard.html"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    code, out, error = command("check", "SH", "--evaluation", "none.toml")
    assert (code, out, error.count("\n")) == (2, "", 1)
