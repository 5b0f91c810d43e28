"""`identify`: any agent on the user's own functions; nothing that was observed is lost."""

from __future__ import annotations

import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.analysis.intervals import wilson
from bai_gym.common.seeding import generator
from bai_gym.errors import AgentError, BaiGymError, BudgetError, InstanceError, OutputError, ParameterError, PullError
from bai_gym.live import identify
from bai_gym.live.estimates import Pull
from bai_gym.live.evidence import Identification
from bai_gym.rewards import BINARY as BINARY_REWARDS
from bai_gym.validation import LARGEST
from bai_gym.wings import ANY, BINARY

MEANS = (0.2, 0.5, 0.9, 0.4)
PATIENCE = 120.0


def noisy(arm: int, rng: np.random.Generator) -> float:
    """Successes out of ten, as a share."""
    return float(rng.binomial(10, MEANS[arm])) / 10.0


def same(one: Identification, two: Identification) -> None:
    assert one.log == two.log
    assert (one.recommendation, one.agent, one.notes) == (two.recommendation, two.agent, two.notes)


def billed(arm: int, rng: np.random.Generator) -> tuple[float, float]:
    """A reward, and what it has cost."""
    return noisy(arm, rng), float(rng.gamma(0.5, 2.0 * (1 + arm)))


# ------------------------------------------------------------------------------------------------ agents


def refusal(name: str) -> str | None:
    """Return why an agent cannot identify the best of four arms, or None."""
    agent, entry = agents.make(name), BUILT_IN[name]
    if agent.knows - {"prior"}:
        return "requires oracle knowledge"
    if entry.arms not in (None, 4):
        return f"is for {entry.arms} arms"
    if "best-arm" not in agent.tasks:
        return "'best-arm'"
    return "compares arms on common items" if agent.uses_pairs else None


@pytest.mark.each("name", agents.names()[::3])
def test_agents_work_or_say_why_not(name: str) -> None:
    entry = BUILT_IN[name]
    pull = (lambda arm, rng: float(rng.random() < MEANS[arm])) if entry.rewards == BINARY else noisy
    arguments: dict[str, Any] = {"num_arms": 4, "budget": entry.largest_budget or 120, "agent": name, "seed": 1}
    if reason := refusal(name):
        with pytest.raises(AgentError, match=f"{name} .*{reason}|{reason}"):
            identify(pull, features=np.eye(4), **arguments)
        return
    found = identify(pull, features=np.eye(4), **arguments)
    assert found.recommendation == 2  # 12 or more standard errors ahead; for rewards of 0 and 1, of this seed
    assert found.pulls.sum() == len(found.log) <= arguments["budget"]
    if entry.rewards == ANY:  # nothing overflows, which would be an error here
        identify(lambda arm, rng: float(rng.choice([-LARGEST, LARGEST])), features=np.eye(4), **arguments)


def test_parameters_can_replace_oracle_knowledge() -> None:
    for agent, offer in (
        ("A-GapE", r"range; give it b=\.\.\., or"),
        ("UCB-E", r"complexity, range; give it a=\.\.\. and b="),
        ("GapE(b=1.0)", "complexity; take an agent"),
    ):
        with pytest.raises(AgentError, match=offer):
            identify(noisy, 4, 100, agent)
    assert identify(noisy, 4, 100, "A-GapE(b=1.0)").agent == "A-GapE(b=1.0)"
    assert identify(noisy, 4, 100, "UCB-E(a=2.0, b=1.0)").recommendation == 2


def test_agents_with_a_prior_take_it_from_their_parameters() -> None:
    if "BayesGap" not in agents.names():
        pytest.skip("the wing of Gaussian processes is not there")
    for agent, offer in (
        (agents.make("BayesGap", kernel=np.eye(4)), r"variances; give it noise_variance=\.\.\."),
        ("BayesGap(noise_variance=0.02)", "no prior here"),
    ):
        with pytest.raises(AgentError, match=offer):
            identify(noisy, 4, 100, agent)
    known = agents.make("BayesGap", kernel=np.eye(4), noise_variance=0.02)
    assert identify(noisy, 4, 100, known).recommendation == 2


class Turns:
    """Pulls the arms in turn, one action at a time, and recommends the best mean."""

    def act(self, observation: dict[str, Any]) -> int:
        assert {name: value.shape for name, value in observation.items()} == {
            "pulls": (4,),
            "means": (4,),
            "variances": (4,),
            "remaining": (1,),
        }
        left = observation["remaining"].item()
        return int(observation["pulls"].argmin() if left else observation["means"].argmax())


def test_a_plain_class_works() -> None:
    found = identify(noisy, 4, 42, Turns)
    assert (found.agent, found.recommendation, found.pulls.tolist()) == ("Turns", 2, [11, 11, 10, 10])


def test_a_plain_class_that_names_no_arm_is_refused() -> None:
    class Lost:
        def act(self, observation: object) -> int:
            return 4

    with pytest.raises(AgentError, match="act must return one arm.*not 4"):
        identify(noisy, 4, 5, Lost())


def test_features_reach_the_agent() -> None:
    seen = []

    class Looks(Turns):
        def reset(self, info: Any) -> None:
            seen.append(info.features)

        def act(self, observation: dict[str, Any]) -> int:
            seen.append(observation["features"])
            return 0

    rows = [[1, 2], [3, 4], [5, 6], [7, 8]]
    identify(noisy, 4, 1, Looks(), features=rows)
    assert [array.tolist() for array in seen] == [[rows], rows, rows]
    for wrong in ([[1.0]] * 3, "abc", np.full((4, 2), np.nan), np.zeros((2, 4, 2))):
        with pytest.raises(InstanceError, match="features"):
            identify(noisy, 4, 100, Looks(), features=wrong)


# ------------------------------------------------------------------------------------------------ evidence


def test_the_evidence_of_a_case_worked_by_hand() -> None:
    log = [Pull(0, 1.0), Pull(1, 5.0), Pull(0, 3.0), Pull(1, 5.0), Pull(0, 5.0), Pull(2, -7.0, "broken")]
    found = Identification.of(0, log, 4, agent="X", budget=8, seed=0)
    # Arm 0: mean 3, unbiased variance 4, so the standard error is sqrt(4 / 3). Arm 1: no spread. Arm 2: one pull.
    assert found.pulls.tolist() == [3, 2, 1, 0]
    np.testing.assert_array_equal(found.means, [3.0, 5.0, -7.0, np.nan])
    np.testing.assert_allclose(found.standard_errors, [math.sqrt(4 / 3), np.nan, np.nan, np.nan], rtol=1e-15)
    assert (found.recommendation, found.runner_up, found.failures.tolist()) == (0, 1, [0, 0, 1, 0])
    assert "1 of 6 pulls failed" in found.notes[0] and "6 of 8 pulls (2 unspent)" in found.notes[1]
    lines = str(found).splitlines()
    assert lines[0] == "X recommends arm 0 after 6 of 8 pulls"
    assert [line.split()[:3] for line in lines[2:6]] == [["0", "3", "3"], ["1", "2", "5"], ["2", "1", "-7"], [*"30-"]]
    assert lines[6].startswith("Its mean is -2 above that of the runner-up, 1; no interval")
    with pytest.raises(ValueError, match="read-only"):
        found.means[0] = 1.0
    assert Identification.of(1, [Pull(1, 2.0)], 3, agent="X", budget=1, seed=0).runner_up is None


def test_pulls_that_the_agent_does_not_ask_for_are_not_made() -> None:
    made = []
    found = identify(lambda arm: made.append(arm) or -arm, 4, 23, "SH")  # type: ignore[func-returns-value]
    assert len(made) == len(found.log) == 22  # two stages of 11 pulls
    assert "(1 unspent)" in found.notes[0]
    assert found.recommendation == 0


def test_the_seed_decides() -> None:
    one, again, other = (identify(noisy, 4, 60, "TTTS", seed=seed) for seed in (1, 1, 2))
    same(one, again)
    assert one.log != other.log


# ------------------------------------------------------------------------------------------------ errors


def fails_at(number: int, how: Any) -> Any:
    made: list[int] = []

    def pull(arm: int) -> float:
        made.append(arm)
        if len(made) == number:
            return float(how())
        return float(arm)

    return pull


def test_an_error_ends_the_experiment_and_keeps_what_was_seen(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with pytest.raises(PullError, match=r"^pull 6 \(arm \d\) failed: ZeroDivisionError") as caught:
        identify(fails_at(6, lambda: 1 / 0), 4, 30, journal=journal)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(caught.value.log) == 5
    kept = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    arms = [int(line["arm"]) for line in kept if "ask" in line]
    rewards = [line["reward"] for line in kept if "tell" in line]
    assert list(zip(arms, rewards, strict=False)) == [(pull.arm, pull.reward) for pull in caught.value.log]
    assert len(arms) == 6  # that of the pull that failed, too
    made: list[int] = []
    found = identify(lambda arm: made.append(arm) or float(arm), 4, 30, journal=journal)  # type: ignore[func-returns-value]
    same(found, identify(float, 4, 30))
    assert len(made) == len(found.log) - 5  # the pull that failed is made again, those before it are not


def test_a_reward_of_another_kind_is_a_failed_pull() -> None:
    def half_at_last(arm: int) -> float:
        return 0.5 if arm == 3 else float(arm == 1)

    assert identify(lambda arm: arm == 1, 4, 20, rewards="binary").rewards == BINARY_REWARDS
    message = r"^pull 4 \(arm 3\) failed: what it returned: a reward of 0.5 is not binary; .* rewards='real'$"
    with pytest.raises(PullError, match=message):
        identify(half_at_last, 4, 20, rewards="binary")
    found = identify(half_at_last, 4, 20, rewards="binary", on_error="worst", worst=0)
    assert found.failures[3] > 0 and found.means[3] == 0.0


def test_a_pull_that_hangs_counts_as_the_worst() -> None:
    def stuck(arm: int) -> float:
        time.sleep(3600 if arm == 3 else 0)
        return float(arm)

    started = time.monotonic()
    found = identify(stuck, 4, 8, "Uniform", timeout=0.3, on_error="worst", worst=-1)
    assert time.monotonic() < started + PATIENCE
    assert (found.recommendation, found.failures.tolist()) == (2, [0, 0, 0, 2])
    assert {pull.error for pull in found.log if pull.arm == 3} == {"it took longer than 0.3 seconds"}


BAD: list[tuple[dict[str, Any], type[BaiGymError], str]] = [
    ({"budget": None}, BudgetError, "budget is missing"),
    ({"budget": 3}, BudgetError, "budget 3"),
    ({"budget": 2.5}, BudgetError, "budget"),
    ({"num_arms": None}, ParameterError, "num_arms is missing"),
    ({"seed": -1}, ParameterError, "seed"),
    ({"agent": "SRR"}, BaiGymError, "SRR"),
    ({"agent": 3}, AgentError, "is not an agent"),
    ({"on_error": "worst"}, ParameterError, "needs worst="),
    ({"rewards": "percent"}, ParameterError, "rewards must be"),
    ({"rewards": "binary", "on_error": "worst", "worst": -1}, ParameterError, "worst: a reward of -1 is not binary"),
    (
        {"earlier": {"arm": list("0123"), "reward": [0, 1, 1, 0]}, "on_error": "worst", "worst": -1},
        ParameterError,
        "-1",
    ),
]


@pytest.mark.each(("keywords", "kind", "message"), BAD)
def test_wrong_arguments_are_refused_before_the_first_pull(
    keywords: dict[str, Any], kind: type[BaiGymError], message: str, tmp_path: Path
) -> None:
    def never(arm: int) -> float:
        raise AssertionError

    journal = tmp_path / "journal.jsonl"
    with pytest.raises(kind, match=message):
        identify(never, **{"num_arms": 4, "budget": 20, "journal": journal, **keywords})
    assert not journal.exists()


# ------------------------------------------------------------------------------------------------ journal


@pytest.mark.each("where", [{"run_in": "here"}, {"run_in": "process"}, {"parallel": 2, "run_in": "thread"}])
def test_a_function_may_return_what_a_pull_has_cost(where: dict[str, Any], tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"costs": [1.0, 2.0, 3.0, 4.0], "seed": 5, "journal": tmp_path / "journal"}
    found = identify(billed, 4, 80.0, "SH", **arguments, **where)
    assert found.spent == pytest.approx(sum(pull.cost or 0.0 for pull in found.log))
    outcomes = {billed(arm, generator(5, "pull", number, 0)) for number, arm in enumerate([0, 1, 2, 3], 1)}
    assert outcomes == {(pull.reward, pull.cost) for pull in found.log[:4]}
    same(identify(noisy, 4, 80.0, "SH", **arguments), found)  # of the journal


def test_what_is_no_reward_with_a_cost_is_a_failed_pull() -> None:
    for wrong in ((1.0, -1.0), (1.0, math.nan), (1.0, 1e60), (1.0, "2"), (math.nan, 1.0), (1.0, 2.0, 3.0), [1.0, 2.0]):
        with pytest.raises(PullError, match="must be .*; a pair must be of a reward and a cost of 0 to 1e"):
            identify(lambda arm, wrong=wrong: wrong, 2, 8, costs=[1.0, 2.0])
    with pytest.raises(PullError, match=r"what it returned must be a finite number of at most .*, not \(1.0, 2.0\)$"):
        identify(lambda arm: (1.0, 2.0), 2, 8)


def test_failures_are_kept(tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"on_error": "worst", "worst": -1.0, "journal": tmp_path / "journal.jsonl"}
    found = identify(lambda arm: 1 / arm, 4, 20, **keywords)
    assert found.failures[0] > 0
    same(found, identify(lambda arm: 1 / arm, 4, 20, **keywords))


@pytest.mark.each(
    "changed",
    [{"seed": 1}, {"budget": 51}, {"agent": "SH"}, {"features": np.eye(4)}, {"rewards": "bounded(0, 1)"}],
)
def test_the_journal_of_another_experiment_is_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"num_arms": 4, "budget": 50, "journal": tmp_path / "journal.jsonl"}
    identify(noisy, **keywords)
    with pytest.raises(OutputError, match=f"its {next(iter(changed))} is"):
        identify(noisy, **{**keywords, **changed})


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_experiment_resumes(tmp_path: Path) -> None:
    journal, calls = tmp_path / "journal.jsonl", tmp_path / "calls"
    program = f"""if True:
        import time
        from bai_gym.live import identify

        def pull(arm, rng):
            with open({str(calls)!r}, "a") as file:
                file.write("x")
            time.sleep(0.02)
            return float(rng.normal(arm, 1.0))

        print(identify(pull, 4, 60, "TTTS", seed=5, timeout=60.0, journal={str(journal)!r}))
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, env=environment)
    ended = time.monotonic() + PATIENCE
    while not (journal.exists() and journal.read_bytes().count(b'"tell"') > 10) and time.monotonic() < ended:
        time.sleep(0.005)
    process.kill()
    process.wait()
    kept = journal.read_bytes().count(b'"tell"')
    assert 10 <= kept < 60
    time.sleep(0.2)  # for a worker that was in the middle of a pull
    made = calls.stat().st_size
    assert made - kept in (0, 1)  # at most the pull that was being made is lost
    with journal.open("ab") as file:
        file.write(b'{"tell": 2, "rew')  # and what a machine that loses its power may leave behind
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert calls.stat().st_size == made + 60 - kept

    def pull(arm: int, rng: np.random.Generator) -> float:
        return float(rng.normal(arm, 1.0))

    undisturbed = identify(pull, 4, 60, "TTTS", seed=5)
    assert done.stdout == f"{undisturbed}\n"
    same(undisturbed, identify(pull, 4, 60, "TTTS", seed=5, journal=journal))


def test_equal_rewards_are_no_certainty() -> None:
    log = [Pull(0, 1.0), Pull(0, 1.0), Pull(1, 0.0), Pull(1, 1.0), Pull(2, 0.0)]
    found = Identification.of(0, log, 4, agent="X", budget=5, seed=0)
    expected = [wilson(2, 2), wilson(1, 2), wilson(0, 1), (np.nan, np.nan)]
    np.testing.assert_allclose(found.intervals, expected, atol=1e-4)
    others = Identification.of(
        0, [Pull(0, 5.0), Pull(0, 5.0), Pull(1, 1.0), Pull(1, 2.0)], 2, agent="X", budget=4, seed=0
    )
    assert np.isnan(others.intervals[0]).all() and np.isnan(others.standard_errors[0])
    assert "not estimable" in str(others)


# ------------------------------------------------------------------------------------------------ names, parallel


def test_arms_have_names() -> None:
    seen: list[object] = []

    def pull(name: str) -> float:
        seen.append(name)
        return float(len(name))

    found = identify(pull, arms=["a", "bbb", "cc"], budget=9, agent="Uniform")
    assert seen == ["a", "bbb", "cc"] * 3
    assert (found.recommendation, found.name, found.names) == (1, "bbb", ("a", "bbb", "cc"))
    assert [line.split()[0] for line in str(found).splitlines()[2:5]] == ["bbb", "cc", "a"]
    by_function = identify({"x": lambda: 1.0, "y": lambda: 2.0}, budget=4)
    assert (by_function.name, by_function.names) == ("y", ("x", "y"))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"arms": "ab"}, "arms must be the names"),
        ({"arms": ["a", "b"], "num_arms": 3}, "num_arms is 3 and there are 2 names"),
        ({"parallel": 0}, "parallel"),
        ({"pull": {"x": lambda: 1.0}, "arms": ["x"]}, "whose keys name the arms"),
    ]
    for keywords, message in cases:
        with pytest.raises(ParameterError, match=message):
            identify(**{"pull": pull, "budget": 9, **keywords})


def test_four_threads_find_what_one_finds(tmp_path: Path) -> None:
    one = identify(noisy, 4, 40, "SH", seed=3)
    four = identify(noisy, 4, 40, "SH", seed=3, parallel=4, run_in="here", journal=tmp_path / "journal")
    same(one, four)
    assert identify(noisy, 4, 120, "TTTS", parallel=4, run_in="here").recommendation == 2


@pytest.mark.slow
def test_workers_are_processes(tmp_path: Path) -> None:
    """Three of them; with agents that play by blocks, they find what one finds."""

    def pull(arm: int, rng: np.random.Generator) -> float:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.02)
        return noisy(arm, rng)

    three = identify(pull, 4, 40, "SH", seed=3, parallel=3)
    assert len(list(tmp_path.iterdir())) == 3
    same(three, identify(noisy, 4, 40, "SH", seed=3))


def test_an_error_of_one_worker_loses_no_reward_of_the_others(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"

    def pull(arm: int) -> float:
        if arm == 0:
            raise ValueError("no")
        time.sleep(0.05)
        return float(arm)

    with pytest.raises(PullError, match=r"^pull 1 \(arm 0\) failed: ValueError: no") as caught:
        identify(pull, 4, 12, "Uniform", parallel=4, run_in="here", journal=journal)
    assert [made.arm for made in caught.value.log] == [1, 2, 3]
    found = identify(float, 4, 12, "Uniform", parallel=4, run_in="here", journal=journal)
    assert [made.arm for made in found.log] == [0, 1, 2, 3] * 3


# ------------------------------------------------------------------------------------------------ table and page


class Screen(io.StringIO):
    """Standard error, as a terminal or not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.isatty = lambda: terminal  # type: ignore[method-assign]


def test_a_terminal_shows_a_table_and_other_places_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bai_gym.live.terminal._PAUSE", 0.0)
    for terminal, progress in ((True, False), (False, True), (True, True)):
        screen = Screen(terminal)
        monkeypatch.setattr(sys, "stderr", screen)
        identify(noisy, 4, 12, "Uniform", progress=progress)
        assert bool(screen.getvalue()) == (terminal and progress)
    drawings = screen.getvalue().split("\x1b[J")
    assert len(drawings) == 12 + 2 and drawings[-1] == ""  # one for each pull, and the removal
    assert drawings[5].startswith("5 of 12 pulls; largest mean so far: 2\n")
    assert all(drawing.endswith("\x1b[6F") for drawing in drawings[1:-1])  # a title, the head and four arms


def test_the_page_shows_the_evidence_and_loads_nothing(tmp_path: Path) -> None:
    log = [Pull(0, 1.0), Pull(1, 5.0), Pull(0, 3.0), Pull(1, 6.0), Pull(0, 5.0)]
    names = ("<b>plain</b>", "large & loud", "new")
    found = Identification.of(1, log, 3, agent="X", budget=8, seed=0, names=names)
    found.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    root = ElementTree.fromstring(f"<body>{page.partition('<body>')[2].partition('</body>')[0]}</body>")
    cells = [[cell.text for cell in row.findall("td")][:4] for row in root.iter("tr")][1:-1]
    assert cells == [
        ["large & loud", "2", "5.50", "4.52 to 6.48"],  # 5.5 +- 1.96 sqrt(0.5 / 2)
        ["<b>plain</b>", "3", "3.00", "0.74 to 5.26"],  # 3 +- 1.96 sqrt(4 / 3)
        ["new", "0", "-", "not estimable"],
    ]
    # The axis, from 0.74 to 6.48, of 208 pixels.
    ticks = {text.text: float(text.get("x", "")) for text in root.iter("text")}
    assert ticks == pytest.approx({str(tick): 16 + 208 * (tick - 0.7368) / 5.7432 for tick in range(1, 7)}, abs=0.1)
    # 2.5 +- 1.96 sqrt(0.25 + 4 / 3)
    text = " ".join(root.itertext())
    assert "2.50 above that of the runner-up, <b>plain</b> (95 % interval 0.03 to 4.97)" in text
    assert "average, with its 95 % interval" in text and not list(root.iter("rect"))
    assert not re.search(r"https?:|<script|<link|<img|url\(", page)
    with pytest.raises(OutputError, match="cannot be written"):
        found.save(tmp_path)
