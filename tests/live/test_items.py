"""Studies with items: all arms are played on the same ones in one order, and no arm on an item twice."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.errors import AgentError, BaiGymError, BudgetError, OutputError, ParameterError, PullError
from bai_gym.live import Study, identify
from bai_gym.live.entries import Entry
from bai_gym.live.estimates import Estimates, Pull
from bai_gym.live.items import Items
from bai_gym.live.journal import Journal, read_journal
from bai_gym.live.leases import Leases
from bai_gym.live.overview import Overview
from bai_gym.live.study import PendingPull
from bai_gym.problems import ProblemInfo

NAMES = ("red", "green", "blue")
QUESTIONS = [{"text": f"question {number}", "answer": number} for number in range(12)]
REWARDS = np.random.default_rng(0).normal([0.0, 1.0, 0.5], 1.0, (12, 3)) + np.linspace(0.0, 5.0, 12)[:, None]


def reward(pull: PendingPull) -> float:
    return float(REWARDS[pull.item["answer"], pull.arm])


def finished(study: Study, outstanding: int = 1) -> list[PendingPull]:
    """Keep so many pulls outstanding, and tell the largest reward first; return all pulls."""
    waiting: list[PendingPull] = []
    made = []
    while not study.ended:
        asked = study.ask(outstanding - len(waiting)) if len(waiting) < outstanding else []
        made += asked
        waiting += asked
        if not waiting:  # the study has ended with this question
            break
        best = max(waiting, key=reward)
        waiting.remove(best)
        study.tell(best, reward(best))
    return made


def by_arm(pulls: list[PendingPull]) -> dict[int, list[int | None]]:
    """Numbers of the items of each arm, in the order of its pulls."""
    played = defaultdict(list)
    for pull in pulls:
        played[pull.arm].append(pull.item_number)
    return played


# ------------------------------------------------------------------------------------------------ one order


def test_every_arm_is_played_on_the_same_items_in_one_random_order() -> None:
    orders = []
    for seed in (1, 1, 2):
        for agent, outstanding in (("Uniform", 7), ("SR", 3), ("TTTS", 4), ("LUCB", 1)):
            study = Study(NAMES, 30, agent, items=iter(QUESTIONS), seed=seed)
            pulls = finished(study, outstanding)
            assert all(pull.item is QUESTIONS[pull.item_number or 0] for pull in pulls), agent
            played = by_arm(pulls)
            longest = max(played.values(), key=len)
            assert len(set(longest)) == len(longest) <= 12, agent
            assert all(items == longest[: len(items)] for items in played.values()), agent
            orders.append(longest[:5])
    assert orders[:4] == orders[4:8] == [orders[0]] * 4  # the seed decides, and no agent
    assert orders[8:] == [orders[8]] * 4 and orders[8] != orders[0] != [0, 1, 2, 3, 4]


def test_leases_end_after_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    leases, times = Leases(), iter([10.0, 14.9, 15.0])
    monkeypatch.setattr("bai_gym.live.leases.time.monotonic", lambda: next(times))
    leases.take(1)
    assert leases.due(5.0) == [] and leases.due(5.0) == [1]


def test_the_order_is_uniformly_random() -> None:
    """6 orders, 600 seeds: chi-squared with 5 degrees of freedom is above 25.7 with probability 1e-4."""
    counts = Counter(tuple(Items(list("abc"), seed).order) for seed in range(600))
    assert len(counts) == 6
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 25.7


def test_a_pull_that_is_handed_out_again_has_its_item_and_the_data_frame_shows_it(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    arguments: dict[str, Any] = {"items": QUESTIONS, "journal": journal, "lease": 0.05}
    with Study(NAMES, 30, "Uniform", **arguments) as study:
        lost = study.ask(5)
    with Study(NAMES, 30, "Uniform", **arguments) as study:
        assert study.ask(5, wait=60.0)[:2] != lost[:2]  # new ones, until the lease has ended
        again = {pull.number: pull for pull in study.outstanding}
        assert [again[pull.number] for pull in lost] == lost
        study.release(lost[1])
        assert [(pull.number, pull.item) for pull in study.ask()] == [(2, lost[1].item)]
        pytest.importorskip("pandas")
        frame = study.pulls_dataframe()
        for column in ("item_number", "item"):
            assert frame[column].tolist()[:5] == [getattr(pull, column) for pull in lost]
    told = [line["item"] for line in map(json.loads, journal.read_text().splitlines()) if "ask" in line]
    assert told[:5] == [pull.item_number for pull in lost]
    head = Overview.of(journal).lines()[0]
    assert "outstanding pulls 10" in head and head.endswith(f"items {len(set(told))} of 12")


# ------------------------------------------------------------------------------------------------ the journal

PROGRAM = """
import sys, pathlib
import numpy as np
from bai_gym.live import Study

items = [{"b": 1, "a": {"x", "y", "z"}}, pathlib.Path("q"), (1, 2.5), np.arange(3), {(1, 2): None}, "\\ud83d"]
study = Study(3, 12, items=items, journal=sys.argv[1])
"""


def test_a_study_resumes_with_the_same_items_and_refuses_others(tmp_path: Path) -> None:
    items: list[Any] = [{"a": {"z", "y", "x"}, "b": 1}, Path("q"), [1, 2.5], np.arange(3), {(1, 2): None}, "\ud83d"]
    for hashing in ("1", "2", "3"):  # sets have another order
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "journal")]
        subprocess.run(command, check=True, timeout=120, env={"PYTHONHASHSEED": hashing})
    Study(3, 12, items=items, journal=tmp_path / "journal").close()
    for others in (items[::-1], items[:5], [*items[:5], "x"], [*items[:3], np.arange(4), *items[4:]], None):
        with pytest.raises(OutputError, match="its items is"):
            Study(3, 12, items=others, journal=tmp_path / "journal")


def test_items_that_no_journal_can_recognise_are_refused_with_one(tmp_path: Path) -> None:
    for item in (object(), lambda: 1, [object()], {"f": [print, object()]}, {(1, 2): object()}):
        assert Study(2, 2, "Uniform", items=[item]).ask()[0].item is item
        with pytest.raises(ParameterError, match="item 1 cannot be recognised"):
            Study(2, 2, "Uniform", items=["text at 0x12", item], journal=tmp_path / "journal")


@pytest.mark.each("item", [None, 0, 1])
def test_a_journal_with_another_item_is_refused(item: int | None, tmp_path: Path) -> None:
    journal, items = tmp_path / "journal", ("a", "b", "c", "d")
    with Study(NAMES, 9, "Uniform", items=items, journal=journal) as study:
        (first,) = study.ask()
    log = Journal(journal, read_journal(journal)[0])
    with contextlib.closing(log), log.transaction():
        log.append([Entry("ask", 2, arm="green", item=3 if item == first.item_number else item)])
    with pytest.raises(OutputError, match="pull 2 in the log is on item"):
        Study(NAMES, 9, "Uniform", items=items, journal=journal)


# ------------------------------------------------------------------------------------------------ no item twice


def test_a_budget_that_the_items_do_not_suffice_for_is_refused() -> None:
    costs = [1.0, 2.0, 0.1]
    for most, keywords in ((36, {}), (37.2, {"costs": costs})):
        study = Study(NAMES, most, "Uniform", items=QUESTIONS, **keywords)
        assert study.budget == 36
        assert Counter(pull.arm for pull in finished(study, 5)) == dict.fromkeys(range(3), 12)
        with pytest.raises(BudgetError, match=rf"more than 3 arms can use on 12 items, each once: give {most}"):
            Study(NAMES, most + 1, "Uniform", items=QUESTIONS, **keywords)


def test_the_study_ends_where_an_agent_asks_for_an_arm_that_has_no_items_left(tmp_path: Path) -> None:
    for agent in ("SR", "SH-Reuse", "TTTS"):
        arguments: dict[str, Any] = {"items": QUESTIONS, "journal": tmp_path / agent}
        with Study(NAMES, 36, agent, **arguments) as study:
            counts = Counter(pull.arm for pull in finished(study, 2))
            notes = study.result().notes
        assert max(counts.values()) == 12 and sum(counts.values()) < 36, agent
        assert sum("asked for arm" in note and "once more than there are items" in note for note in notes) == 1, agent
        assert not any("confidence was not reached" in note for note in notes), agent
        with Study(NAMES, 36, agent, **arguments) as again:
            assert again.ended and again.result().notes == notes and again.ask() == [], agent


def test_an_arm_that_was_dropped_is_not_recommended_for_its_first_items() -> None:
    """SR drops the third arm after 7 of 10 items, on which it has .5; over all 10 the others have .42 and .385."""
    study = Study(3, 30, "SR", items=range(10))
    seen: Counter[int] = Counter()
    while pulls := study.ask():
        seen[pulls[0].arm] += 1
        study.tell(pulls[0], (0.6, 0.55, 0.5)[pulls[0].arm] * (seen[pulls[0].arm] <= 7))
    assert study.ended and (seen[2], seen[0]) == (7, 10)
    assert study.result().recommendation == 0


# ------------------------------------------------------------------------------------------------ differences


def paired() -> None:
    """Skip a test of common items where the wing of paired pulls is not there."""
    if "PairedRace" not in agents.names():
        pytest.skip("differences are of that wing")


class Pairs:
    """Pulls the arms in a given order, and keeps what it sees of common items."""

    uses_pairs = True

    def __init__(self, arms: tuple[int, ...]) -> None:
        self.arms = arms
        self.seen: list[tuple[Any, ...]] = []

    def reset(self, info: ProblemInfo) -> None:
        self.info = info
        self.seen.clear()

    def act(self, observation: dict[str, Any]) -> int:
        self.seen.append((observation["pulls"], observation["differences"], observation["difference_variances"]))
        return self.arms[min(int(observation["pulls"].sum()), len(self.arms) - 1)]


def test_an_agent_that_uses_pairs_sees_the_differences_on_common_items() -> None:
    paired()
    agent = Pairs((0, 0, 1, 2, 0, 1, 2, 2, 1, 1, 0, 1, 2, 0, 1))
    study = Study(NAMES, 15, agent, items=QUESTIONS)
    order = list(dict.fromkeys(pull.item_number for pull in finished(study)))
    player = study._state._dispatcher._agent  # the study has a copy of the agent
    assert player.info.paired and player.info.num_items == 12
    assert len(player.seen) == 16
    for pulls, means, variances in player.seen:
        for one, other in np.ndindex(3, 3):
            common = REWARDS[order[: min(pulls[one], pulls[other])]]
            differences = common[:, one] - common[:, other]
            expected = (
                differences.mean() if differences.size else 0.0,
                differences.var(ddof=1) if differences.size > 1 else 0.0,
            )
            np.testing.assert_allclose((means[one, other], variances[one, other]), expected, atol=1e-12)
    with pytest.raises(AgentError, match="a study with items=, or another agent"):
        Study(NAMES, 15, agent)


def test_rewards_that_arrive_in_any_order_give_the_same_differences() -> None:
    paired()

    class Blocks:
        """Pulls every arm five times, in one block."""

        uses_pairs = True

        def allocate(self, observation: dict[str, Any]) -> Any:
            return np.full((1, 3), 5)

        def recommend(self, observation: dict[str, Any]) -> Any:
            assert observation["differences"].shape == (1, 3, 3)
            return observation["means"].argmax(axis=-1)

    ends = []
    for outstanding in (1, 15):
        study = Study(NAMES, 15, Blocks(), items=QUESTIONS)
        finished(study, outstanding)
        ends.append(study._state._dispatcher._seen["differences"].copy())
    np.testing.assert_allclose(*ends, atol=1e-12)
    assert np.abs(ends[0]).max() > 0.1


def test_a_race_ends_once_one_arm_is_left(tmp_path: Path) -> None:
    """Arms are 2 apart, items 15, and rewards differ from that by .3 at most: only differences show it at once."""
    paired()
    rng = np.random.default_rng(4)
    rewards = rng.normal(0.0, 15.0, (60, 1)) + rng.uniform(-0.3, 0.3, (60, 3)) + [0.0, 4.0, 2.0]
    logs = []
    for outstanding in (1, 3):
        journal = tmp_path / str(outstanding)
        arguments: dict[str, Any] = {"budget": 180, "agent": "PairedRace", "items": range(60), "journal": journal}
        with Study(NAMES, **arguments) as study:
            while pulls := study.ask(outstanding):
                for pull in reversed(pulls):
                    study.tell(pull, float(rewards[pull.item, pull.arm]))
            found = study.result()
            assert study.ended
        assert found.recommendation == 1
        assert min(found.pulls) >= 7 and found.pulls.sum() < 90, found.pulls
        with Study(NAMES, **arguments) as again:
            assert again.ended and again.result().log == found.log
        logs.append(found.log)
    assert logs[0] == logs[1]  # a round begins when it has all rewards of the one before, in any order


def test_results_say_where_common_items_break_a_proof() -> None:
    for agent, items, rewards, said in (
        ("T3C", QUESTIONS, "real", ("independent arms", "no item is drawn twice")),
        ("LUCB", QUESTIONS, "bounded(0, 9)", ("no item is drawn twice",)),
        ("SR", QUESTIONS, "real", ()),
        ("T3C", None, "real", ()),
        ("LUCB(b=1.0)", None, "real", ("interval of length 1",)),
        ("LUCB", None, "real", ()),
    ):
        study = Study(NAMES, 12, agent, items=items, rewards=rewards)
        study.tell(study.ask()[0], 1.0)
        notes = [note for note in study.result().notes if "proved" in note]
        assert len(notes) == len(said) and all(map(str.__contains__, notes, said)), (agent, notes)


# ------------------------------------------------------------------------------------------------ evidence


def test_differences_are_those_on_common_items_and_advice_stays_within_them(tmp_path: Path) -> None:
    """Six models, 400 questions, and half of the pulls made: the difference by hand, and no more than what is left."""
    rng = np.random.default_rng(2)
    hard, skill = rng.normal(size=400), np.array([0.5, 0.49, 0.3, 0.3, 0.2, 0.1])
    study = Study(6, 2400, "SH-Reuse(rounding=equal, cap=items)", items=range(400), rewards="binary")
    log: dict[int, dict[Any, float]] = defaultdict(dict)
    for _ in range(796):
        pull = study.ask()[0]
        log[pull.arm][pull.item] = float(skill[pull.arm] + 0.5 * rng.normal() > hard[pull.item])
        study.tell(pull, log[pull.arm][pull.item])
    found = study.result()
    one, other = found.recommendation, found.runner_up
    assert other is not None
    pairs = np.array([log[one][item] - log[other][item] for item in log[one].keys() & log[other].keys()])
    width = 1.96 * pairs.std(ddof=1) / np.sqrt(pairs.size)
    assert found.lead == pytest.approx((pairs.mean(), pairs.mean() - width, pairs.mean() + width), abs=1e-5)
    apart = np.hypot(*found.standard_errors[[one, other]])
    assert width < 0.85 * 1.96 * apart  # than that of independent arms
    found.save(tmp_path / "page.html", control=other)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count(f"on the {pairs.size} items that both were tried on") == 2
    more = re.search(r"after about ([\d,]+) more observations", page)
    assert more and int(more[1].replace(",", "")) <= 2400 - 796 and "Collect more" in page


def test_arms_that_were_dropped_early_are_compared_on_items_of_the_same_difficulty() -> None:
    """Arm 2 has only seen the first items, which were easy; its mean is larger, and it is the worst."""
    rng = np.random.default_rng(0)
    easy = np.repeat([2.0, -1.0], [40, 160])
    rewards = easy[:, None] + np.array([1.0, 0.8, 0.5]) + 0.3 * rng.standard_normal((200, 3))
    log = [Pull(arm, rewards[item, arm], item=item) for item in range(200) for arm in range(3) if arm < 2 or item < 40]
    found = Estimates.of(log, 3)
    assert found.means[2] > found.means[0] + 1.0
    assert found.posterior.best[0] > 0.99 and found.posterior.best[2] < 0.01
    # Items that explain nothing leave everything as it is.
    for pulls in (
        [Pull(0, 1.0, item=0), Pull(1, 0.5, item=1)],
        [Pull(arm % 2, 1.0, item=arm // 2) for arm in range(8)],
    ):
        found = Estimates.of(pulls, 2)
        assert found.pairs is not None and found.pairs.explained == 0.0
        np.testing.assert_array_equal(found.pairs.compared(found.means, np.ones(2))[0], found.pulls)


# ------------------------------------------------------------------------------------------------ identify


def test_identify_calls_the_functions_with_arm_and_item() -> None:
    def scored(arm: Any, item: dict[str, Any]) -> float:
        return float(REWARDS[item["answer"], NAMES.index(arm) if isinstance(arm, str) else arm])

    def with_noise(arm: int, item: dict[str, Any], rng: np.random.Generator) -> float:
        return scored(arm, item) + 1e-9 * rng.random()

    functions = {name: (lambda item, arm=arm: scored(arm, item)) for arm, name in enumerate(NAMES)}
    expected = Study(3, 24, "SH", items=QUESTIONS)
    finished(expected)
    cases: tuple[tuple[Any, dict[str, Any]], ...] = (
        (scored, {"arms": NAMES}),
        (functions, {}),
        (list(functions.values()), {"run_in": "thread"}),
        (with_noise, {"num_arms": 3, "timeout": 60.0}),
    )
    for pull, keywords in cases:
        found = identify(pull, budget=24, agent="SH", items=iter(QUESTIONS), **keywords)
        rewards = [[one.reward for one in log] for log in (found.log, expected.log)]
        np.testing.assert_allclose(*rewards, atol=1e-8, err_msg=str(keywords))
        assert any("same items" in note for note in found.notes)
    with pytest.raises(PullError, match="positional argument"):
        identify(lambda arm: 1.0, 3, 24, items=QUESTIONS)  # type: ignore[misc]


BAD: list[tuple[dict[str, Any], type[BaiGymError], str]] = [
    ({"items": "questions.txt"}, ParameterError, "items must be a list"),
    ({"items": 12}, ParameterError, "items must be a list"),
    ({"items": {"a": 1}}, ParameterError, "items must be a list"),
    ({"items": []}, ParameterError, "items is empty"),
    ({"items": [1, 2]}, BudgetError, "give 6 or less"),
    (
        {"items": range(9), "agent": "TTTS", "earlier": {"arm": ["0", "1"], "reward": [1, 2]}},
        ParameterError,
        "give items or earlier",
    ),
]


@pytest.mark.each(("arguments", "kind", "message"), BAD)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], kind: type[BaiGymError], message: str) -> None:
    with pytest.raises(kind, match=message):
        Study(3, 12, **arguments)
    with pytest.raises(kind, match=message):
        identify(lambda arm, item: 0.0, 3, 12, **arguments)
