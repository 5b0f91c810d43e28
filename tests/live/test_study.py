"""Ask and tell: no reward is lost, nothing is handed out beyond the budget, and the order does not matter."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

import bai_gym
from bai_gym.errors import (
    AgentError,
    BaiGymError,
    BudgetError,
    DataError,
    InstanceError,
    MissingPackageError,
    OutputError,
    ParameterError,
)
from bai_gym.live import Identification, Study
from bai_gym.live.entries import Entry
from bai_gym.live.estimates import Pull
from bai_gym.live.journal import Journal, read_journal
from bai_gym.live.overview import Overview
from bai_gym.live.study import PendingPull
from bai_gym.rewards import COUNTS, Rewards

NAMES = ("red", "green", "blue")
MEANS = (0.0, 2.0, 1.0)


def reward(pull: PendingPull, seed: int = 0) -> float:
    """A reward that depends on the pull alone, so that it does not matter who makes it, and when."""
    return float(np.random.default_rng([seed, pull.number]).normal(MEANS[pull.arm]))


def finished(study: Study, outstanding: int = 1, seed: int = 0) -> Identification:
    """Keep so many pulls outstanding, and tell the largest reward first."""
    waiting: list[PendingPull] = []
    while not study.ended:
        waiting += study.ask(outstanding - len(waiting)) if len(waiting) < outstanding else []
        if not waiting:  # the agent's rule has ended the study
            break
        best = max(waiting, key=lambda pull: reward(pull, seed))
        waiting.remove(best)
        study.tell(best, reward(best, seed))
    return study.result()


# ------------------------------------------------------------------------------------------------ ask and tell


def test_pulls_have_numbers_and_names() -> None:
    study = Study(NAMES, 12, "Uniform")
    pulls = study.ask(5)
    assert pulls == [PendingPull(n + 1, n % 3, NAMES[n % 3]) for n in range(5)]
    assert study.outstanding == tuple(pulls)
    assert all(study.tell(pull, 1.0) for pull in pulls[:4]) and study.tell(5, -3)
    assert study.outstanding == ()
    assert study.log == (Pull(0, 1.0), Pull(1, 1.0), Pull(2, 1.0), Pull(0, 1.0), Pull(1, -3.0))
    assert Study(3, 12).ask()[0].name == "0"


def test_before_the_end_the_result_is_the_largest_mean_so_far() -> None:
    study = Study(NAMES, 12)
    with pytest.raises(ParameterError, match="no reward has been reported yet"):
        study.result()
    for pull in study.ask(3):
        study.tell(pull, MEANS[pull.arm])
    found = study.result()
    assert (found.name, study.ended) == ("green", False)
    assert found.notes[0].startswith("the study has not ended")
    end = finished(study)
    assert study.ended and study.ask() == [] and not any("not ended" in note for note in end.notes)


def test_an_agent_that_plays_by_blocks_waits_for_the_block_and_is_the_same_in_any_order() -> None:
    serial = finished(Study(NAMES, 60, "SH"))
    for outstanding in (2, 7, 60):
        found = finished(Study(NAMES, 60, "SH"), outstanding)
        assert found.log == serial.log and found.recommendation == serial.recommendation
    study = Study(NAMES, 60, "SR")
    block = study.ask(60)
    assert len(block) < 60 and study.ask() == [] and not study.ended
    for pull in block:
        study.tell(pull, reward(pull))
    assert study.ask() != []


def test_a_pull_that_is_told_twice_counts_once_and_the_journal_keeps_both(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with Study(NAMES, 12, journal=journal) as study:
        (pull,) = study.ask()
        assert [study.tell(pull, 1.0), study.tell(pull, 2.0)] == [True, False]
        assert study.log == (Pull(pull.arm, 1.0),)
    assert read_journal(journal)[1][1:] == [Entry("tell", 1, reward=1.0), Entry("tell", 1, reward=2.0)]
    with Study(NAMES, 12, journal=journal) as study:
        assert study.log == (Pull(pull.arm, 1.0),)


def test_a_pull_that_nobody_tells_is_handed_out_again_with_its_number(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with Study(NAMES, 9, "Uniform", journal=journal) as dies:
        lost = dies.ask(9)
    with Study(NAMES, 9, "Uniform", journal=journal) as study:
        assert study.ask() == [] and study.outstanding == tuple(lost)
        study.release(lost[4], 2)
        assert study.ask(5) == [lost[4], lost[1]]
        study.release()
        assert study.ask(3) == lost[:3]
    with Study(NAMES, 9, "Uniform", journal=journal, lease=0.2) as study:
        assert study.ask(9) == lost[3:]  # those released and not yet handed out
        assert study.ask(9) == []
        assert sorted(pull.number for pull in study.ask(9, wait=60.0)) == list(range(1, 10))  # the lease has ended
        for pull in lost:
            study.tell(pull, reward(pull))
        assert study.ended and study.ask(wait=math.inf) == []
    with Study(NAMES, 9, "Uniform", journal=journal, exclusive=True) as study:
        assert study.outstanding == ()
    with Study(NAMES, 10, "Uniform", journal=tmp_path / "other", exclusive=True) as study:
        study.ask(2)
    with Study(NAMES, 10, "Uniform", journal=tmp_path / "other", exclusive=True) as study:
        assert [pull.number for pull in study.ask(3)] == [1, 2, 3]


def test_several_open_studies_work_on_one_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    one, two = (Study(NAMES, 24, "TTTS", journal=journal) for _ in range(2))
    with one, two:
        while not one.ended:
            for pull in [*one.ask(2), *two.ask(2)]:
                (two if pull.number % 3 else one).tell(pull, reward(pull))
        assert one.result().log == two.result().log and len(one.log) == 24
        assert str(one.result()) == str(two.result())


def test_threads_may_share_a_study() -> None:
    study = Study(NAMES, 300, "SH")

    def work() -> None:
        while pulls := study.ask(2, wait=math.inf):
            for pull in pulls:
                study.tell(pull, reward(pull))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert study.result().log == finished(Study(NAMES, 300, "SH")).log


@pytest.mark.slow
@pytest.mark.each(("agent", "outstanding"), [("SH", 8), ("SR", 8), ("TTTS", 1)])
def test_the_outcome_has_the_distribution_of_the_environment(agent: str, outstanding: int) -> None:
    """Rewards arrive largest first. False alarm of each comparison: below 1e-4 (four standard errors)."""
    runs, budget = 200, 12
    env = {"means": MEANS, "variances": [1.0] * 3}
    expected = bai_gym.evaluate(agent, "BAI-Custom-v0", budget=budget, runs=20_000, env_kwargs=env)
    found = [finished(Study(3, budget, agent, seed=seed), outstanding, seed + 1) for seed in range(runs)]
    error = np.mean([one.recommendation != 1 for one in found])
    p = expected.error_probability
    assert 0.02 < p < 0.3
    assert abs(error - p) < 4.0 * math.sqrt(p * (1.0 - p) * (1 / runs + 1 / 20_000))
    shares = np.array([one.pulls for one in found])
    pulls = np.asarray(expected.mean_pulls)
    assert (np.abs(shares.mean(axis=0) - pulls) <= 4.0 * shares.std(axis=0) / math.sqrt(runs - 1) + 0.1).all()


# ------------------------------------------------------------------------------------------------ functions, frames


def test_a_function_makes_the_pulls_and_what_it_raises_loses_none(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with Study(NAMES, 60, "SH", journal=journal) as study:
        assert len(study.optimize(reward, pulls=7).log) == 7 and not study.ended

        def broken(pull: PendingPull) -> float:
            raise KeyError(pull.name)

        for function, kind in ((broken, KeyError), (str, ParameterError)):
            with pytest.raises(kind):
                study.optimize(function)
            assert [pull.number for pull in study.outstanding] == [8]
    with Study(NAMES, 60, "SH", journal=journal) as study:
        found = study.optimize(reward)
        assert study.ended and study.best_arm == found.name == "green"
        assert found.log == finished(Study(NAMES, 60, "SH")).log
        for wrong in ({"function": 3}, {"function": reward, "pulls": 0}):
            with pytest.raises(ParameterError):
                study.optimize(**wrong)  # type: ignore[arg-type]


def test_the_pulls_become_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    study = Study(NAMES, 12, "Uniform")
    assert len(study.pulls_dataframe()) == 0
    study.ask(4)
    study.tell(2, True)
    study.tell(3, -1, error="broken")
    frame = study.pulls_dataframe()
    assert frame["number"].tolist() == [1, 2, 3, 4] and frame["name"].tolist() == [*NAMES, "red"]
    assert frame["reward"].tolist()[1:3] == [1.0, -1.0] and frame["error"][2] == "broken"
    assert frame["reward"].isna().tolist() == [True, False, False, True] and frame["error"].isna().sum() == 3
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="pip install pandas"):
        study.pulls_dataframe()


# ------------------------------------------------------------------------------------------------ stopping, costs


def test_an_agent_of_fixed_confidence_ends_the_study_and_later_rewards_are_kept() -> None:
    for seed in range(20):
        study = Study(NAMES, 500, "LUCB(delta=0.1, b=0.5)")
        waiting: list[PendingPull] = []
        while not study.ended:
            waiting += study.ask(4 - len(waiting)) if len(waiting) < 4 else []
            if waiting:  # else it was sure when it was asked
                first = waiting.pop(0)
                study.tell(first, reward(first, seed))
        if waiting:  # pulls were outstanding when it was sure
            break
    made = len(study.log)
    assert made < 400 and study.ask(4) == [] and study.outstanding == tuple(waiting)
    assert study.tell(waiting[0], 0.5)
    found, capped = study.result(), finished(Study(NAMES, 10, "LUCB(delta=0.1)"))
    assert (found.name, len(found.log)) == ("green", made + 1)
    unsure = [any("confidence was not reached" in note for note in one.notes) for one in (found, capped)]
    assert unsure == [False, True]


def test_a_budget_in_cost_is_kept() -> None:
    costs = {"red": 0.1, "blue": 1.0, "green": 2.5}
    for agent, pulls in (("CR-A", 4), ("TTTS", 120), ("SR", 120), ("SH", 120), ("OCBA", 120), ("LUCB", 120)):
        study = Study(NAMES, 12.0, agent, costs=costs)
        assert study.budget == pulls  # 12 / 2.5 for CR-A, whatever it chooses; else 12 / 0.1 at most
        found = finished(study, 3)
        spent = sum(costs[NAMES[pull.arm]] for pull in found.log)
        assert spent <= 12.0 + 1e-9
        assert agent == "CR-A" or spent > 12.0 - 3.6  # until a pull was not affordable, or a round of all
        assert found.spent == pytest.approx(spent) and f"{len(found.log)} pulls for {spent:g} of 12" in str(found)
    for budget, pulls in ((1.0, 10), (0.3, 3)):  # in spite of rounding
        assert len(finished(Study(2, budget, "Uniform", costs=[0.1, 0.1])).log) == pulls


def told_costs(study: Study, cost: float | Callable[[PendingPull], float], outstanding: int = 1) -> float:
    """Finish a study whose pulls cost something else than expected, and return what they have cost."""
    total = 0.0
    while not study.ended:
        for pull in study.ask(outstanding):
            paid = cost(pull) if callable(cost) else cost
            total += paid
            assert study.tell(pull, reward(pull), cost=paid)
    return total


def test_a_pull_may_cost_more_or_less_than_expected() -> None:
    for agent, cost, pulls in (
        ("Uniform", 1.0, 6),
        ("Uniform", 2.0, 3),  # after two pulls 2 are left, and a third is expected to cost 1
        ("Uniform", 5.0, 2),  # the budget is exceeded by what the last one costs more
        ("TTTS", 1.5, 4),
        ("SR", 100.0, 1),
    ):
        study = Study(NAMES, 6.0, agent, costs=[1.0, 1.0, 1.0])
        assert told_costs(study, cost) == pulls * cost, (agent, cost)
        assert study.result().spent == pulls * cost, (agent, cost)
    # Halving: 24 / (1 + 1 + 2) = 6 pulls of each arm in the first stage, for 24 or 12; in the second, 24 or 36 are left
    # for two arms that cost 1 and 2.
    for share, last in ((1.0, 8), (0.5, 12)):
        study = Study(NAMES, 48.0, "SH", costs=[1.0, 1.0, 2.0])
        told_costs(study, lambda pull, share=share: share * (2.0 if pull.arm == 2 else 1.0))
        assert study.result().pulls.tolist() == [6, 6 + last, 6 + last]


def test_whatever_pulls_cost_a_study_ends_with_a_recommendation() -> None:
    costs = (0.1, 0.5, 1.0)
    more = np.random.default_rng(0).gamma(0.5, 4.0, (2, 200))  # what pulls cost more than expected
    for agent, extra in itertools.product(("SR", "SH-Reuse", "Uniform", "TTTS", "LUCB(b=0.5)", "CR-A"), more):
        study = Study(NAMES, 10.0, agent, costs=costs)
        spent = told_costs(study, lambda pull, extra=extra: costs[pull.arm] + extra[pull.number], 3)
        # Three were outstanding at most.
        assert spent <= 10.0 + np.sort(extra[: len(study.log) + 1])[-3:].sum() + 1e-9, agent
        assert study.result().ended, agent


def test_optimize_takes_a_reward_with_a_cost() -> None:
    studies = [Study(NAMES, 31.0, "SH", costs=[1.0, 2.0, 3.0]) for _ in range(2)]
    told_costs(studies[0], 1.5)
    assert studies[1].optimize(lambda pull: (reward(pull), 1.5)).log == studies[0].log
    with pytest.raises(ParameterError, match="reward of pull 1 must be"):
        Study(NAMES, 31).optimize(lambda pull: (1.0, 1.5))


def test_what_pulls_have_cost_is_kept(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"costs": [1.0, 2.0, 3.0], "journal": tmp_path / "journal.jsonl"}
    with Study(NAMES, 31.0, "SH", **arguments) as study:
        for _ in range(4):
            first, second = study.ask(2)
            study.tell(second, reward(second), cost=0.25)
            study.tell(first, reward(first))
        expected = study.result()
    seen = Overview.of(arguments["journal"])
    assert seen.found is not None and seen.log == expected.log
    with Study(NAMES, 31.0, "SH", **arguments) as study:
        assert study.result().notes == expected.notes and study.log == expected.log
        told = [arguments["costs"][pull.arm] if pull.cost is None else pull.cost for pull in study.log]
        assert study.pulls_dataframe()["cost"].tolist() == told and told.count(0.25) == 4
        assert seen.found.spent == pytest.approx(expected.spent) == sum(told)
        alone = Study(NAMES, 31.0, "SH", costs=arguments["costs"])
        for pull in study.log:  # asked in the same order, one at a time
            alone.tell(alone.ask()[0], pull.reward, cost=pull.cost)
        for one in (study, alone):
            told_costs(one, 0.5)
        assert study.log == alone.log and str(study.result()) == str(alone.result())


def test_a_cost_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="give the study costs=, or leave it out"):
        Study(NAMES, 12).tell(1, 0.0, cost=1.0)
    study = Study(NAMES, 12, costs=[1.0, 2.0, 3.0])
    study.ask()
    for wrong in (-1.0, math.nan, math.inf, 1e60, "2", True):  # what the journal could not be read with, too
        with pytest.raises(ParameterError, match="cost must be"):
            study.tell(1, 0.0, cost=wrong)  # type: ignore[arg-type]
    assert study.tell(1, 0.0, cost=0) and study.log == (Pull(0, 0.0, cost=0.0),)


# ------------------------------------------------------------------------------------------------ earlier results


def test_earlier_results_count_from_a_file_or_a_data_frame(tmp_path: Path) -> None:
    rows = {"page": ["red", "green", "red", "blue", "blue"], "sales": [1.0, 4.0, 3.0, 0.0, 1.0]}
    path = tmp_path / "log.csv"
    path.write_text("page,sales\n" + "\n".join(f"{a},{r}" for a, r in zip(*rows.values(), strict=True)))
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"arm_column": "page", "reward_column": "sales"}
    found = set()
    for earlier in (path, rows, pandas.DataFrame(rows), polars.DataFrame(rows), pyarrow.table(rows)):
        study = Study(None, 12, "TTTS", earlier=earlier, **columns)
        before = study.result()
        assert study.names == ("blue", "green", "red") and before.pulls.tolist() == [2, 1, 2]
        np.testing.assert_allclose(before.means, [0.5, 4.0, 2.0])
        np.testing.assert_allclose(before.standard_errors, [0.5, np.nan, 1.0])  # variances 1/2 and 2, of two each
        end = finished(study)
        assert end.pulls.sum() == 12 + 5 and len(end.log) == 12
        found.add(str(end))
    assert len(found) == 1 and "the statistics include 5 earlier results" in end.notes
    named = Study(["new", *NAMES], 12, "UCB1", earlier=rows, **columns)
    assert named.result().pulls.tolist() == [0, 2, 1, 2]


def test_a_study_keeps_to_the_kind_of_its_rewards(tmp_path: Path) -> None:
    zeros_and_ones = {"arm": ["red", "green", "blue"], "reward": [0, 1, 1]}
    shares = {"arm": ["red", "green", "blue"], "reward": [0, 0.5, 1]}
    cases: list[tuple[dict[str, Any], str, float, float | None]] = [
        ({}, "real", -3.5, None),
        ({"rewards": "bounded(1, 5)"}, "bounded(1, 5)", 5.0, 5.5),
        ({"rewards": COUNTS}, "counts", 7.0, 7.5),
        ({"earlier": zeros_and_ones}, "binary", 0.0, 0.5),
        ({"earlier": shares}, "bounded(0, 1)", 0.5, -0.5),
        ({"earlier": zeros_and_ones, "rewards": "real"}, "real", 0.5, None),
    ]
    for keywords, kind, good, bad in cases:
        study = Study(NAMES, 12, "UCB1", **keywords)
        assert study.rewards == Rewards.of(kind), keywords
        (pull,) = study.ask()
        if bad is not None:
            with pytest.raises(ParameterError, match=f"pull 1: a reward of {bad} is not"):
                study.tell(pull, bad)
        assert study.tell(pull, good) and study.result().rewards == study.rewards, keywords
    with Study(NAMES, 12, "UCB1", journal=tmp_path / "journal", rewards="binary"):
        assert "rewards 0 (binary)" in Overview.of(tmp_path / "journal").lines()[0]
    with pytest.raises(OutputError, match="its rewards is"):
        Study(NAMES, 12, "UCB1", journal=tmp_path / "journal", rewards="real")


def test_the_notes_say_what_the_agent_has_chosen_for_its_rewards() -> None:
    for rewards, posterior in (("binary", "bernoulli"), ("real", "student")):
        study = Study(3, 30, "TTTS", rewards=rewards)
        study.tell(study.ask()[0], 1.0)
        assert f"TTTS: posterior='{posterior}', chosen for {rewards} rewards" in study.result().notes


# ------------------------------------------------------------------------------------------------ more arms, more pulls


def test_a_journal_is_earlier_results_and_errors_name_that_way(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with Study(NAMES, 12, "TTTS", journal=first, rewards="bounded(-99, 99)") as study:
        made = study.optimize(reward)
    for changes in ({"budget": 40}, {"arms": [*NAMES, "pink"]}):
        with pytest.raises(OutputError, match="and this one as earlier= to go on"):
            Study(**{"arms": NAMES, "budget": 12, "agent": "TTTS", "journal": first, **changes})
    with Study([*NAMES, "pink"], 40, "TTTS", earlier=first, journal=second) as study:
        assert study.rewards == made.rewards
        found = study.optimize(lambda pull: float(pull.arm), pulls=5)
    assert found.earlier is not None and found.earlier.tolist() == [*made.pulls, 0] and found.pulls.sum() == 17
    again = Study(None, 9, "TTTS", earlier=str(second))
    assert again.names == (*NAMES, "pink")
    again.optimize(lambda pull: float(pull.arm), pulls=1)
    assert again.result().pulls.sum() == 18
    with pytest.raises(DataError, match="'pink', which is not among the arms"):
        Study(NAMES, 9, "TTTS", earlier=second)
    with pytest.raises(DataError, match="second: "):
        Study(None, 9, "TTTS", earlier=second, rewards="binary")


def test_an_arm_can_be_added_to_a_running_study(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"arms": ["a", "b"], "budget": 30, "agent": "TTTS", "journal": tmp_path / "journal"}
    with Study(**arguments) as study, Study(**arguments) as other:
        (pull,) = study.ask()
        with pytest.raises(ParameterError, match=r"outstanding \(1\): tell their rewards"):
            study.add_arm("c")
        study.tell(pull, 0.0)
        study.optimize(lambda pull: 0.1 * pull.arm, pulls=9)
        with pytest.raises(ParameterError, match="'a' twice"):
            study.add_arm("a")
        study.add_arm("c")
        assert other.outstanding == () and other.names == ("a", "b", "c") == study.names
        found = other.optimize(lambda pull: float(pull.arm + pull.number % 2))
        assert found.name == "c" and found.pulls.sum() == 30 and found.pulls[2] > 5
        assert any("arm c was added after 10 pulls" in note for note in found.notes)
        with pytest.raises(ParameterError, match="has handed out its last pull"):
            other.add_arm("d")
        assert str(study.result()) == str(found)
    with Study(**arguments) as study:
        assert study.ended and str(study.result()) == str(found)
    assert Overview.of(tmp_path / "journal").names == ("a", "b", "c")
    with pytest.raises(AgentError, match="SR cannot start"):
        Study(3, 30, "SR").add_arm("d")
    for keywords in ({"costs": [1, 2, 3]}, {"items": range(30)}, {"features": np.eye(3)}):
        with pytest.raises(ParameterError, match="no arm can be added to a study with costs, items or features"):
            Study(3, 30, "TTTS", **keywords).add_arm("d")  # type: ignore[arg-type]
    study = Study(["a", "b"], 400, "LUCB(b=1)", rewards="real", earlier={"arm": ["a", "b"], "reward": [0, 1]})
    study.optimize(lambda pull: 0.5, pulls=9)
    study.add_arm("c")
    found = study.optimize(lambda pull: float(pull.arm), pulls=9)
    assert found.earlier is not None and found.earlier.tolist() == [1, 1, 0]
    assert any("its error probability is at most delta for each start" in note for note in found.notes)


# ------------------------------------------------------------------------------------------------ errors

BAD: list[tuple[dict[str, Any], type[BaiGymError], str]] = [
    ({"arms": "abc"}, ParameterError, "arms"),
    ({"arms": ["a"]}, ParameterError, "at least two arms"),
    ({"arms": ["a", "a"]}, ParameterError, "'a' twice"),
    ({"arms": ["a", 3]}, ParameterError, "not 3"),
    ({"arms": ["a", "\ud83d\ude00"]}, ParameterError, "must be text"),
    ({"arms": None}, ParameterError, "arms is missing"),
    ({"arms": np.array(3)}, ParameterError, "arms must be the names"),
    ({"arms": np.ma.masked}, ParameterError, "arms must be the names"),
    ({"arms": np.ma.array(["a", "b"], mask=[0, 1])}, ParameterError, "not masked"),
    ({"arms": 10**9}, ParameterError, "arms must be an integer in 2..1000000"),
    ({"items": np.array(1.0)}, ParameterError, "items must be a list"),
    ({"exclusive": np.array([1, 2])}, ParameterError, "exclusive must be True or False"),
    ({"costs": np.ma.array([1, 2, 3], mask=[0, 1, 0])}, ParameterError, "costs must be"),
    ({"budget": 3}, BudgetError, "budget 3"),
    ({"budget": 3.5}, BudgetError, "budget"),
    ({"costs": [1, 2]}, ParameterError, "costs"),
    ({"costs": [1, 2, 0]}, ParameterError, "cost"),
    ({"costs": {"red": 1, "green": 1, "blue": 1, "pink": 1}}, ParameterError, "'pink'"),
    ({"lease": 0}, ParameterError, "lease"),
    ({"agent": "SHVar"}, AgentError, "oracle knowledge"),
    ({"features": [[1.0]] * 4}, InstanceError, "features"),
    ({"earlier": {"arm": ["red", "blue"], "reward": [1, 2]}}, AgentError, "SR cannot start"),
    ({"earlier": {"arm": ["red", "pink"], "reward": [1, 2]}, "agent": "TTTS"}, DataError, "'pink'"),
    ({"earlier": {"name": ["red"], "reward": [1]}, "agent": "TTTS"}, DataError, "'arm'"),
    ({"earlier": {"arm": ["red"], "reward": [2]}, "rewards": "binary", "agent": "TTTS"}, DataError, "row 1, is 2"),
    ({"rewards": "bounded(1, 0)"}, ParameterError, "rewards must be"),
]


@pytest.mark.each(("arguments", "kind", "message"), BAD)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], kind: type[BaiGymError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        Study(**{"arms": NAMES, "budget": 30, "journal": tmp_path / "journal", **arguments})
    assert not (tmp_path / "journal").exists()


WRONG_REWARDS = (math.nan, "1", None, 1.1e50, 10**400, 1 + 2j, np.complex128(1 + 2j), np.complex64(1), np.ma.masked)


def test_wrong_calls_are_refused_and_change_nothing(tmp_path: Path) -> None:
    with Study(NAMES, 12, journal=tmp_path / "journal") as study:
        with pytest.raises(ParameterError, match="pull 1 was never handed out"):
            study.tell(1, 1.0)
        (pull,) = study.ask()
        before = (tmp_path / "journal").read_bytes()
        calls: list[tuple[str, Callable[[], object]]] = [
            *(("reward of pull . must", partial(study.tell, pull, wrong)) for wrong in WRONG_REWARDS),
            *(("error must", partial(study.tell, pull, 1.0, error=wrong)) for wrong in (404, b"no", ValueError())),
            *(("pull must", partial(study.release, wrong)) for wrong in (1.0, "1", True)),
            ("pull 2 was never handed out", partial(study.release, 2)),
            ("n must", partial(study.ask, 0)),
        ]
        for message, call in calls:
            with pytest.raises(ParameterError, match=message):
                call()
        assert (tmp_path / "journal").read_bytes() == before
        assert study.tell(pull, 1.0)
    with pytest.raises(OutputError, match="is closed"):
        study.ask()


def test_every_call_that_is_accepted_is_read_back(tmp_path: Path) -> None:
    rewards = [True, np.True_, np.int8(3), np.float32(0.1), -0.0, 1e50, -1e50, 5e-324]
    rewards += [Decimal("0.3"), Fraction(1, 3), np.array(2.5)]
    errors = [None, "", "no\n\u00e9\0", "\ud83d\ude00", np.str_("text")]
    arguments: dict[str, Any] = {"budget": 60, "agent": "Uniform", "journal": tmp_path / "journal"}
    names = ("red", "gr\u00e9\U0001f600en", 'b"l,ue\n')
    with Study(names, **arguments) as study:
        pulls = study.ask(np.int64(58), wait=np.float64(0.0))  # type: ignore[arg-type]
        for pull, (value, error) in zip(pulls, itertools.product(rewards, errors), strict=False):
            handle = (pull, pull.number, np.int64(pull.number))[pull.number % 3]
            assert study.tell(handle, value, error=error), (value, error)  # type: ignore[arg-type]
            assert not study.tell(pull, 7)
        study.release()
        study.ask(3)
        before = study.log, study.outstanding, str(study.result())
    assert len(before[0]) == len(rewards) * len(errors)
    with Study(names, **arguments) as study:
        assert (study.log, study.outstanding, str(study.result())) == before
        study.result().save(tmp_path / "page.html")


@pytest.mark.each(
    ("entry", "message"),
    [
        (Entry("ask", 2, arm="red"), "pull 2 in the log is of arm red, and the agent now asks for arm green"),
        (Entry("ask", 3, arm="green"), "pull 3 in the log is of arm green"),
        (Entry("tell", 2, reward=1.0), "entry of pull 2, which was not handed out"),
        (Entry("recommend", 1, arm="red"), "recommends arm red, and the agent now recommends nothing yet"),
        (Entry("end", 1), "the log ends after 1 pulls, and the agent now asks for more"),
    ],
)
def test_a_journal_that_does_not_follow_is_refused(entry: Entry, message: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with Study(NAMES, 12, "Uniform", journal=journal) as study:
        study.ask()
    log = Journal(journal, read_journal(journal)[0])
    with contextlib.closing(log), log.transaction():
        log.append([entry])
    with pytest.raises(OutputError, match=message):
        Study(NAMES, 12, "Uniform", journal=journal)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_after_a_full_disk_the_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = tmp_path / "journal"
    with Study(NAMES, 12, "Uniform", journal=journal) as study:
        (pull,) = study.ask()
        write = os.fsync

        def full(file: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match=r'not in it: \{"ask": 2, "arm": "green"\}'):
            study.ask()
        monkeypatch.setattr(os, "fsync", write)
        assert study.tell(pull, 1.0)
        assert len(study.ask()) == 1


def test_waiting_ends(tmp_path: Path) -> None:
    study = Study(NAMES, 6, "Uniform")
    study.ask(6)
    started = time.monotonic()
    assert study.ask(wait=0.2) == []
    assert 0.2 <= time.monotonic() - started < 60.0
