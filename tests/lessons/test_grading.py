"""The grader: points for what was earned, a sentence for what went wrong, and the same secret gives the same grade."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.isolation import box, process

pytestmark = pytest.mark.slow

ASSIGNMENT = Path(__file__).resolve().parents[2] / "examples" / "lessons" / "assignment"
SECRET = b"of this test"

ONE_PART = """
title = "Test"
class = "MyAgent"
runs = 1000
level = 0.01
seconds = 60.0
answer_seconds = 15.0
allowed_knowledge = []

[[parts]]
name = "noisy"
env = "BAI-Gaussian64-v0"
budget = 1000

[[criteria]]
asks = "plays"
points = 1

[[criteria]]
asks = "better"
than = "Uniform"
points = 2

[[criteria]]
asks = "not worse"
than = "SH"
points = 4

[[criteria]]
asks = "better"
than = "SHVar"
points = 8
bonus = true
"""

ALLOCATES = """
import numpy as np
from bai_gym.agents import Agent

class MyAgent(Agent):
    name = "MyAgent"
    {before}
    def allocate(self, observation):
        {allocate}
    def recommend(self, observation):
        {recommend}
"""
UNIFORM = (
    "return None if observation['pulls'].any() else np.full((self.batch, self.num_arms), self.budget // self.num_arms)"
)


def agent(
    before: str = "pass", allocate: str = UNIFORM, recommend: str = "return observation['means'].argmax(axis=1)"
) -> str:
    return ALLOCATES.format(before=before, allocate=allocate, recommend=recommend)


@pytest.fixture
def rubric(grade: ModuleType, tmp_path: Path) -> Any:
    path = tmp_path / "rubric.toml"
    path.write_text(ONE_PART, encoding="utf-8")
    return grade.load_rubric(path)


def graded(grade: ModuleType, rubric: Any, tmp_path: Path, code: str, secret: bytes = SECRET, **changes: Any) -> Any:
    file = tmp_path / "student.py"
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    return grade.grade(grade.Submission.read(file), replace(rubric, **changes), secret)


# Points


@pytest.mark.slow
def test_an_agent_that_is_better_than_all_gets_everything(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """Top-two Thompson sampling decides pull by pull: its rule is compiled, and runs, in the student's process."""
    changes = {"seconds": 300.0, "answer_seconds": 100.0}
    result = graded(grade, rubric, tmp_path, "from bai_gym.agents import TTTS as MyAgent", **changes)
    assert (result.points, result.of, result.bonus) == (7.0, 7.0, 8.0)
    assert "spends 1000 of 1000 pulls, and is wrong in" in result.lines[0].reason


def test_a_rule_of_another_process_has_the_same_law(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """500 episodes each; the bound is five standard errors of the difference, at most sqrt(2 / 4 / 500)."""
    result = graded(grade, rubric, tmp_path, "from bai_gym.agents import SHAdaVar as MyAgent", runs=500)
    said = float(result.lines[0].reason.rpartition("wrong in ")[2].partition("%")[0]) / 100
    here = bai_gym.evaluate("SHAdaVar", "BAI-Gaussian64-v0", budget=1000, runs=500, seed=6).error_probability
    assert abs(said - here) < 5 * np.sqrt(2 / 4 / 500)


def test_uniform_allocation_gets_the_points_of_playing_alone(grade: ModuleType, rubric: Any) -> None:
    """The template, as students get it; where sequential halving is better, as it is with 4,000 pulls."""
    part = replace(rubric.parts[0], budget=4000)
    result = grade.grade(grade.Submission.read(ASSIGNMENT / "agent.py"), replace(rubric, parts=(part,)), SECRET)
    assert [line.points for line in result.lines] == [1.0, 0.0, 0.0, 0.0]
    reasons = [line.reason for line in result.lines]
    assert "spends 3968 of 4000 pulls on average" in reasons[0]  # 62 for each of 64 arms
    assert reasons[1].endswith("no significant difference.") and reasons[2].endswith("significantly worse.")


@pytest.mark.parametrize("message", ["\n\n| noisy | plays by the rules | 1 of 1 | Well done. |\n", "x" * 100_000])
def test_what_an_agent_says_stays_in_its_cell(grade: ModuleType, rubric: Any, tmp_path: Path, message: str) -> None:
    result = graded(grade, rubric, tmp_path, agent(recommend=f"raise ValueError({message!r})"))
    assert result.points == 0.0 and "raised ValueError" in result.lines[0].reason
    rows = [line for line in result.markdown().splitlines() if line.startswith("| noisy")]
    assert len(rows) == 4 and max(map(len, rows)) < 2000 and all(row.endswith(" |") for row in rows)
    assert rows[0].startswith("| noisy | plays by the rules | 0 of 1 |")


@pytest.mark.slow
def test_sequential_halving_gets_all_but_the_bonus(grade: ModuleType) -> None:
    """With the rubric that is shipped: what a student can build after lesson 2 is enough."""
    rubric = grade.load_rubric(ASSIGNMENT / "rubric.toml")
    submission = grade.Submission.read(ASSIGNMENT.parents[2] / "tests" / "lessons" / "halving_agent.py")
    result = grade.grade(submission, rubric, SECRET)
    assert (result.points, result.of, result.bonus) == (12.0, 12.0, 0.0)


def test_an_agent_may_act_on_one_observation(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    code = """
    class MyAgent:
        def reset(self, info, rng):
            assert info.batch == 1 and info.budget == 200
            self.rng = rng
        def act(self, observation):
            assert observation["means"].shape == (64,)
            if observation["remaining"][0] > 0:
                return observation["pulls"].argmin()
            return int(observation["means"].argmax())
    """
    part = replace(rubric.parts[0], budget=200)
    result = graded(grade, rubric, tmp_path, code, runs=50, parts=(part,), criteria=rubric.criteria[:1])
    assert result.points == 1.0 and "spends 200 of 200 pulls" in result.lines[0].reason


def test_points_are_shared_by_the_parts(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    parts = (replace(rubric.parts[0], name="possible"), replace(rubric.parts[0], name="impossible", budget=63))
    criteria = tuple(replace(criterion, parts=("possible", "impossible")) for criterion in rubric.criteria[:2])
    criteria = (criteria[0], replace(criteria[1], parts=("possible",)))
    result = graded(grade, rubric, tmp_path, agent(), parts=parts, criteria=criteria, runs=10)
    assert [(line.part, line.points, line.of) for line in result.lines if line.criterion == "plays by the rules"] == [
        ("possible", 0.5, 0.5),
        ("impossible", 0.0, 0.5),
    ]
    assert "budget 63 is below the minimum" in result.lines[-1].reason


# Sentences


SENTENCES = {
    "no Python": ("def x(:\n", "loading the file raised SyntaxError: invalid syntax, in line 1 of student.py."),
    "no class": ("x = 1", "there is no class MyAgent in student.py; it has no class at all."),
    "no agent": ("class MyAgent:\n    pass", "MyAgent is not an agent: it needs act(observation), or allocate"),
    "an exception": (
        agent(allocate="return observation['pulls'] / {}['key']"),
        "allocate raised KeyError: 'key', in line 9 of student.py: `return observation['pulls'] / {}['key']`.",
    ),
    "an exit": (
        agent(before="def begin(self, info): raise SystemExit(0)"),
        "reset raised SystemExit: 0, in line 7",
    ),
    "the end of the process": (agent(allocate="import os; os._exit(3)"), "its process ended by itself (exit code 3)."),
    "another shape": (
        agent(allocate="return np.ones(3, int)"),
        "allocate must return counts of shape (10, 64), not (1, 3)",
    ),
    "fractions of pulls": (
        agent(allocate="return np.full((self.batch, self.num_arms), 0.5)"),
        "must return integers, not float64",
    ),
    "more than the budget": (
        agent(allocate="return np.full((self.batch, self.num_arms), 16)"),
        "the agent asked for 1024 pulls with 1000 left of the budget",
    ),
    "an arm that does not exist": (
        agent(recommend="return np.full(self.batch, 64)"),
        "recommend: arm 64 does not exist; arms are numbered 0 to 63.",
    ),
    "an action that is none": (
        "class MyAgent:\n    def act(self, observation): return 'left'",
        "act must return the number of an arm, an int, not 'left'",
    ),
    "an action out of range": (
        "class MyAgent:\n    def act(self, observation): return -1",
        "act: arm -1 does not exist; arms are numbered 0 to 63.",
    ),
    "undeclared knowledge": (
        agent(before="def begin(self, info): self.v = info.variances"),
        "the agent reads 'variances' without having declared it in its `knows`, in line 7 of student.py",
    ),
    "a way around": (
        agent(before="def begin(self, info): self.v = info._truth.means"),
        "reset raised AttributeError: 'NoneType' object has no attribute 'means', in line 7",
    ),
    "knowledge that is not allowed": (
        agent(before="knows = frozenset({'variances', 'prior'})"),
        "it declares to know prior, variances; in this assignment an agent receives only arms and budget.",
    ),
    "knowledge that does not exist": (agent(before="knows = {'answers'}"), "an agent cannot declare to know 'answers'"),
}


@pytest.mark.each("what", SENTENCES)
def test_what_goes_wrong_gets_its_sentence(what: str, grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    code, words = SENTENCES[what]
    result = graded(grade, rubric, tmp_path, code, runs=10)
    assert words in result.lines[0].reason and "\n" not in result.lines[0].reason
    assert (result.points, result.bonus) == (0.0, 0.0)
    assert {line.reason for line in result.lines[1:]} == {"Not played to the end."}


@pytest.mark.parametrize(
    "code",
    [
        "class MyAgent:\n    def act(self, observation):\n        while True: pass",
        "while True: pass",
        agent(allocate="import time; time.sleep(1000)"),
    ],
    ids=["act", "loading", "sleeping"],
)
def test_a_time_limit_ends_what_takes_too_long(code: str, grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    started = time.perf_counter()
    result = graded(grade, rubric, tmp_path, code, runs=10, seconds=0.5)
    assert time.perf_counter() - started < 60
    assert "it took longer than the time limit of 0.5 seconds (when asked to " in result.lines[0].reason


def test_after_a_time_out_the_agent_is_not_asked_again(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """A single answer has a limit, too: a file that hangs costs it once, in whatever part it hangs."""
    parts = tuple(
        replace(rubric.parts[0], name=name, budget=budget) for name, budget in (("a", 64), ("b", 65), ("c", 64))
    )
    code = agent(allocate=f"while self.budget == 65: pass\n        {UNIFORM}")
    asked: list[str] = []
    file = tmp_path / "student.py"
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    plays = replace(rubric.criteria[0], parts=("a", "b", "c"))
    changed = replace(rubric, parts=parts, criteria=(plays,), runs=10, answer_seconds=1.0)
    result = grade.grade(grade.Submission.read(file), changed, SECRET, on_part=asked.append)
    assert asked == ["a", "b"] and [line.points > 0 for line in result.lines] == [True, False, False]
    assert result.lines[1].reason == (
        "it did not answer within 1 seconds (when asked to allocate); is there a loop that never ends?"
    )
    assert result.lines[2].reason == "not played, because the agent ran out of time in part b."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="looks for processes as POSIX has them")
def test_what_the_agent_has_started_ends_with_it_without_a_box(
    grade: ModuleType, rubric: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "strongest", lambda: box.PLAIN)
    note = tmp_path / "pid"
    code = f"""
    import subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    open({str(note)!r}, "w").write(str(child.pid))
    time.sleep(1000)
    """
    graded(grade, rubric, tmp_path, code, seconds=2.0)
    child = int(note.read_text())
    for _ in range(100):  # the kernel may take a moment; a child without a parent may stay behind as a zombie
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{child}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("a process of the student's code is still running")


# What an agent can and cannot see


def test_the_order_of_the_arms_says_nothing(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """In BAI-Gaussian64-v0 arm 0 is nearly always the best; naming it is right once in 64 times here.

    With 1,000 episodes and probability 1/64, more than 50 right ones have a probability below 1e-11.
    """
    result = graded(grade, rubric, tmp_path, agent(recommend="return np.zeros(self.batch, int)"))
    wrong = float(result.lines[0].reason.rpartition("wrong in ")[2].partition("%")[0])
    assert wrong >= 95.0


def test_allowed_knowledge_comes_in_the_agents_own_order(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """Means and variances are shuffled alike: rewards with the variances that were granted are what is seen."""
    check = """
    knows = frozenset({"variances", "range"})
    def begin(self, info):
        self.told, bound = info.variances, info.reward_bound
        assert self.told.shape == (self.batch, 64) and bound.shape == (self.batch,)
    """
    seen = "ratio = observation['variances'] / self.told; assert abs(ratio.mean() - 1) < 0.05 and ratio.std() < 0.5; "
    code = agent(
        before=textwrap.indent(textwrap.dedent(check), "    ").strip(),
        recommend=seen + "return observation['means'].argmax(axis=1)",
    )
    result = graded(grade, rubric, tmp_path, code, allowed_knowledge=("variances", "range"))
    assert result.lines[0].points == 1.0, result.lines[0].reason
    assert ", oracle knowledge range, variances," in result.lines[0].reason


def test_features_come_in_the_agents_own_order(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """Without noise to speak of, least squares over features must fit the means exactly."""
    part = replace(
        rubric.parts[0], env="BAI-LinearSphere16-v0", budget=64, settings={"noise_variance": 1e-18, "num_features": 3}
    )
    fit = "x = observation['features']; m = observation['means'][..., None]; "
    fit += "assert np.allclose(x @ np.linalg.pinv(x) @ m, m, atol=1e-6); return m[..., 0].argmax(axis=1)"
    result = graded(grade, rubric, tmp_path, agent(recommend=fit), parts=(part,), runs=20)
    assert "wrong in 0.0%" in result.lines[0].reason


def test_plans_see_the_outcome_of_their_blocks(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    """GSE-Lin pulls candidate arms in stages: the same distribution as in the runner, within five standard errors."""
    part = replace(rubric.parts[0], env="BAI-LinearSphere16-v0", budget=160, settings={"noise_variance": 1.0})
    code = "from bai_gym.agents import GSELin as MyAgent"
    result = graded(grade, rubric, tmp_path, code, parts=(part,), criteria=rubric.criteria[:1])
    said = float(result.lines[0].reason.rpartition("wrong in ")[2].partition("%")[0]) / 100
    here = bai_gym.evaluate("GSE-Lin", part.env, budget=160, runs=1000, seed=6, env_kwargs=part.settings)
    assert abs(said - here.error_probability) < 5 * np.sqrt(2 / 4 / 1000)


# The same secret, the same grade; reports


def test_the_same_secret_gives_the_same_report(grade: ModuleType, rubric: Any, tmp_path: Path) -> None:
    code = """
    import random
    import numpy as np
    class MyAgent:
        def reset(self, info, rng):
            self.arms, self.rng = info.num_arms, rng
        def act(self, observation):
            draws = self.rng.integers(self.arms), random.randrange(self.arms), np.random.randint(self.arms)
            return int(sum(draws)) % self.arms
    """
    part = replace(rubric.parts[0], budget=70)
    changes = {"parts": (part,), "criteria": rubric.criteria[:2], "runs": 200}
    first, again, other = (graded(grade, rubric, tmp_path, code, secret, **changes) for secret in (b"1", b"1", b"2"))
    assert first.markdown() == again.markdown() and first.json() == again.json()
    assert other.json() != first.json()


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    line = [sys.executable, "-W", "error", str(ASSIGNMENT / "grade.py"), *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment, timeout=300)


def test_many_files_are_graded_into_a_folder(tmp_path: Path) -> None:
    rubric, out = tmp_path / "rubric.toml", tmp_path / "grades"
    rubric.write_text(ONE_PART.replace("runs = 1000", "runs = 20"), encoding="utf-8")
    for name, code in (("anna", agent()), ("ben", "print('hello')\nraise ValueError('| no')")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "agent.py").write_text(code, encoding="utf-8")
    done = command(tmp_path / "anna" / "agent.py", tmp_path / "ben" / "agent.py", "--rubric", rubric, "--out", out)
    assert done.returncode == 0
    assert done.stderr == "anna-agent, file 1 of 2: playing noisy\nben-agent, file 2 of 2: playing noisy\n"
    assert done.stdout.splitlines()[1] == "ben-agent: 0 of 7 points, bonus 0"
    assert sorted(path.name for path in out.iterdir()) == [
        "anna-agent.json",
        "anna-agent.log",
        "anna-agent.md",
        "ben-agent.json",
        "ben-agent.log",
        "ben-agent.md",
        "grades.csv",
    ]
    assert (out / "grades.csv").read_text(encoding="utf-8").splitlines()[2] == "ben-agent,0.0,7.0,0.0"
    assert "hello" in (out / "ben-agent.log").read_text(encoding="utf-8")
    report = (out / "ben-agent.md").read_text(encoding="utf-8")
    assert report.startswith("# Test: ben-agent\n\n**0 of 7 points**\n\nThe submission ran ")
    assert "| noisy | plays by the rules | 0 of 1 | loading the file raised ValueError: &#124; no, in line 2" in report
    data = json.loads((out / "anna-agent.json").read_text(encoding="utf-8"))
    assert data["lines"][0]["points"] == 1.0 and "secret" not in data


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("runs = 1000", "runs = 0", "runs must be at least 1, not 0"),
        ("runs = 1000", "", "the rubric needs the entry 'runs'"),
        ("runs = 1000", "runs = 1000\nrun = 3", "the rubric has no entry 'run'; it can have: title, class, runs"),
        ("runs = 1000", "runs = true", "runs of the rubric must be of the type int, not True"),
        ("level = 0.01", "level = 1.5", "level must be between 0 and 1, not 1.5"),
        ("seconds = 60.0", "seconds = 0", "seconds must be above 0, not 0"),
        ("answer_seconds = 15.0", "answer_seconds = -1", "answer_seconds must be above 0, not -1"),
        ("allowed_knowledge = []", 'allowed_knowledge = ["prior"]', "can hold variances and range, not 'prior'"),
        ("BAI-Gaussian64-v0", "BAI-Gaussian65-v0", "part 'noisy': unknown environment 'BAI-Gaussian65-v0'"),
        ("BAI-Gaussian64-v0", "BAI-FC-Gaussian64-v0", "part 'noisy' must ask for the best arm, with a fixed budget"),
        ("budget = 1000", "budget = 10", "budget 10 is below the minimum of Uniform for 64 arms"),
        ('than = "SH"', 'than = "SHH"', "a criterion compares with 'SHH': unknown agent 'SHH'"),
        ('asks = "plays"', 'asks = "wins"', "asks must be one of 'plays', 'better', 'not worse', not 'wins'"),
        ('asks = "plays"', 'asks = "better"', "'than' names an agent where asks is 'better' or 'not worse'"),
        ("bonus = true", 'parts = ["quiet"]', "parts of a criterion must be some of noisy, not ['quiet']"),
        ("points = 1", "points = -1", "points must be at least 0, not -1"),
        ("[[parts]]", "[[parts", "cannot be read"),
    ],
)
def test_mistakes_in_the_rubric_are_told_in_one_line(
    old: str, new: str, words: str, grade: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rubric.toml"
    assert old in ONE_PART
    path.write_text(ONE_PART.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        grade.main([str(ASSIGNMENT / "agent.py"), "--rubric", str(path)])
    said = capsys.readouterr().err
    assert stopped.value.code == 2
    assert said.startswith("grade.py: ") and words in said and said.count("\n") == 1


def test_a_file_that_is_not_there_is_told() -> None:
    done = command("nobody.py")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "grade.py: there is no file nobody.py\n")


def test_names_of_folders_cannot_do_anything(grade: ModuleType) -> None:
    """They may be the students': no formulas of spreadsheets, no signs of terminals, none twice."""
    files = [Path(folder, "agent.py") for folder in ("anna", "=1+1", "\x1b[2J", "José Ø", "a_b", "a\nb", "\udcff")]
    names = grade.names_of(files)
    assert names == ["anna-agent", "_1_1-agent", "__2J-agent", "José Ø-agent", "a_b-agent", "a_b-agent_", "_-agent"]


def test_a_secret_makes_grades_repeatable(tmp_path: Path) -> None:
    """It is written after the last submission, for its owner alone, and must be long."""
    rubric, secret = tmp_path / "rubric.toml", tmp_path / "secret"
    rubric.write_text(ONE_PART.replace("runs = 1000", "runs = 100"), encoding="utf-8")
    words = (ASSIGNMENT / "agent.py", "--rubric", rubric, "--secret", secret)
    first, again = command(*words), command(*words)
    assert secret.stat().st_mode & 0o777 == 0o600 and len(secret.read_text().strip()) == 64
    assert first.stdout == again.stdout != command(*words[:-1], tmp_path / "other").stdout
    secret.write_text("20417", encoding="utf-8")
    assert "must have 32 to 64 characters, not 5" in command(*words).stderr


# The page for teachers


def test_students_can_grade_the_template() -> None:
    page = (ASSIGNMENT.parent / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`python (grade\.py [^`]*)`", page)
    done = subprocess.run(
        [sys.executable, "-B", *shlex.split(command)], cwd=ASSIGNMENT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and all(": playing " in line for line in done.stderr.splitlines())
    assert done.stdout.startswith("# Find the best arm: agent\n\n**3 of 12 points**\n")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the page's commands are for a POSIX shell")
def test_the_commands_of_the_teachers_page_run(tmp_path: Path) -> None:
    page = (ASSIGNMENT.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    lessons = tmp_path / "examples" / "lessons"
    shutil.copytree(ASSIGNMENT.parent, lessons, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("anna", "ben"):
        (lessons / "assignment" / "submissions" / name).mkdir(parents=True)
        shutil.copy(ASSIGNMENT / "agent.py", lessons / "assignment" / "submissions" / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in blocks:
        done = subprocess.run(
            ["sh", "-ec", block],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and all(": playing " in line for line in done.stderr.splitlines())
    assert (lessons / "solved.ipynb").is_file()
    assert (lessons / "assignment" / "grades" / "ben-agent.md").is_file()


def test_links_of_the_teachers_page_lead_somewhere() -> None:
    page = (ASSIGNMENT.parent / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", page)
    assert targets and [target for target in targets if not (ASSIGNMENT.parent / target).exists()] == []
