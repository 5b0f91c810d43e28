"""Duels: answers and contrasts by hand, outcomes in any numbering, and agents beside simulations of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.special import expit

from bai_gym import evaluate
from bai_gym.duels import (
    BradleyTerry,
    Condorcet,
    DuelBandit,
    battles_problem,
    duels_problem,
    identify_duels,
    verdicts_problem,
)
from bai_gym.duels.ranking import ranking
from bai_gym.duels.strengths import differences, fitted
from bai_gym.duels.tasks import pair, pairs
from bai_gym.errors import AgentError, BaiGymError, DataError, InstanceError, ParameterError, PullError

ID = "BAI-Condorcet-Custom-v0"
STRENGTHS = np.array([1.2, 0.4, 0.0, -0.3, -0.8])
CLEAR = 1 / (1 + np.exp(STRENGTHS[None, :] - STRENGTHS[:, None]))


def test_answers_by_hand() -> None:
    task, means = Condorcet(), np.array([0.6, 0.4, 0.7])  # 0 beats 1, 2 beats 0, 1 beats 2: nobody beats all
    assert (
        [pair(i, j, 4) for i, j in zip(*pairs(4), strict=True)]
        == [*range(6)]
        == [pair(j, i, 4) for i, j in zip(*pairs(4), strict=True)]
    )
    np.testing.assert_allclose(task.simple_regret(np.stack([means] * 3), np.arange(3)), [0.1, 0.1, 0.2])
    assert task.correct_recommendation(np.array([[0.4, 0.7, 0.8], [0.6, 0.2, 0.3]])).tolist() == [1, 2]
    c = task.contrasts_at(np.array([0.4, 0.7, 0.8]))  # 1 beats all: what 0 and 2 lose
    assert c.first.tolist() == [-1, 1, 2] and c.second.tolist() == [0, -1, -1] and c.group.tolist() == [0, 1, 1]
    assert c.offset.tolist() == [-0.5, 0.5, 0.5]
    assert task.first_arm(np.array([2, 0]), 6).tolist() == [pair(2, 3, 4), pair(0, 1, 4)]
    for arms in (1, 2, 4, 5, 7):
        with pytest.raises(ParameterError, match="all pairs"):
            task.check_arms(arms)


def test_a_wrong_answer_has_a_group_of_contrasts_that_is_overturned() -> None:
    rng, task, found = np.random.default_rng(0), Condorcet(), 0
    for true in rng.random((200, 6)):
        right, overturned = task.correct_recommendation(true), set()
        if not task.correct(true, right):
            continue
        for sample in rng.random((60, 6)):
            c, answer = task.contrasts_at(sample), task.correct_recommendation(sample)
            assert 3 <= c.first.size <= task.most_contrasts(6) and (c.gaps(sample) >= 0).all()
            sides = np.stack(pairs(4))[:, np.maximum(c.first, c.second)]
            losers = np.where(c.first >= 0, sides[1], sides[0])
            assert {*losers.tolist()} == {*range(4)} - {int(answer)} and np.unique(c.group).size == 3
            if answer != right:
                over = c.gaps(true) < 0
                groups = [group for group in np.unique(c.group) if over[c.group == group].all()]
                assert groups, (true, sample)
                named = [set(np.maximum(c.first, c.second)[c.group == group].tolist()) for group in groups]
                own = {pair(int(right), other, 4) for other in range(4) if other != right}
                overturned |= set.union(*(group for group in named if group <= own))
                found += 1
        assert len(overturned) <= task.overturned(6)
    assert found > 1000


def test_blocks_and_single_duels_have_the_same_moments() -> None:
    rng = np.random.default_rng(0)
    bandit = DuelBandit([0.5, 0.2, 0.0], [0.3, 0.0, 1.0])
    assert bandit.means.tolist() == [[0.65, 0.2, 0.5]] and bandit.rewards.high == 1.0
    single = np.stack([bandit.pull(np.arange(3), rng) for _ in range(20_000)])
    assert {*np.unique(single).tolist()} == {0.0, 0.5, 1.0}
    many = bandit.select(np.zeros(20_000, np.int64)).draw_blocks(slice(None), np.full(60_000, 5), rng)
    for values, of in ((single.mean(axis=0), 1), (many.means.reshape(-1, 3).mean(axis=0), 5)):
        error = np.sqrt(bandit.variances[0] / (20_000 * of))
        assert (np.abs(values - bandit.means[0]) <= 4 * error).all(), values
    np.testing.assert_allclose(many.variances.reshape(-1, 3).mean(axis=0), bandit.variances[0], rtol=0.03, atol=1e-12)
    for wins, ties in (([0.5, 0.6], [0.5, 0.5]), ([-0.1, 0.5], None), ([0.5, 0.5], [0.1, 0.1, 0.1])):
        with pytest.raises(InstanceError):
            DuelBandit(wins, ties)


def test_items_are_shuffled_and_nothing_is_won_without_a_duel() -> None:
    bandit, order = DuelBandit([0.6, 0.7, 0.2], [0.1, 0.0, 0.3]), np.array([[2, 0, 1]])
    turned = bandit.arranged(np.array([[1, 2, 0]]), order)  # (2, 0), (2, 1), (0, 1)
    np.testing.assert_allclose(turned.wins, [[0.3, 0.5, 0.6]])
    np.testing.assert_allclose(turned.means, [[0.3, 0.65, 0.65]])

    class First:
        def allocate(self, observation: Any) -> Any:
            return np.eye(10, dtype=np.int64)[[0] * len(observation["pulls"])] * observation["remaining"]

        def recommend(self, observation: Any) -> Any:
            return np.zeros(len(observation["pulls"]), np.int64)

    keywords = {"preferences": CLEAR.tolist()}
    error = evaluate(First, ID, budget=5, runs=2000, seed=1, env_kwargs=keywords).error_probability
    assert abs(error - 0.8) < 3 * np.sqrt(0.16 / 2000)
    assert (
        evaluate(First, ID, budget=5, runs=20, seed=1, env_kwargs={**keywords, "shuffle": False}).error_probability == 0
    )
    env = gym.make(ID, budget=3, **keywords)
    right, seen = [], []
    for seed in range(600):
        observation, _ = env.reset(seed=seed)
        for _ in range(3):
            observation, *_ = env.step(0)
        *_, info = env.step(0)
        right.append(info["correct"])
        seen.append(observation["means"][0])
    assert abs(np.mean(right) - 0.2) < 3 * np.sqrt(0.16 / 600) and abs(np.mean(seen) - 0.5) < 3 * 0.5 / np.sqrt(1800)


def savage(preferences: np.ndarray, delta: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return the number of duels of SAVAGE, and its answer: the rule of the paper, with sets of pairs."""
    items = len(preferences)
    left, right = pairs(items)
    open_pairs, wins, pulls = [*range(left.size)], np.zeros(left.size), np.zeros(left.size)
    while open_pairs:
        for k in open_pairs:
            wins[k] += rng.random() < preferences[left[k], right[k]]
            pulls[k] += 1
        sure = np.abs(wins / pulls - 0.5) > np.sqrt(np.log(np.pi**2 * left.size * pulls**2 / (3 * delta)) / (2 * pulls))
        ahead = wins > pulls / 2
        winner, loser = np.where(ahead, left, right)[sure], np.where(ahead, right, left)[sure]
        least, most = np.bincount(winner, minlength=items), items - 1 - np.bincount(loser, minlength=items)
        open_pairs = [k for k in open_pairs if not sure[k] and max(most[left[k]], most[right[k]]) > least.max()]
    return int(pulls.sum()), int(Condorcet().correct_recommendation(wins / pulls))


def knockout(preferences: np.ndarray, delta: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return the number of duels of Knockout, and its answer: Algorithms 1 to 3 of the paper, with epsilon = .2."""
    items, duels = [*range(len(preferences))], 0
    for i in range(1, len(items)):
        if len(items) == 1:
            break
        epsilon, level = (2 ** (1 / 3) - 1) * 0.2 / 2 ** (i / 3), delta / 2**i
        rng.shuffle(items)
        winners = items[len(items) // 2 * 2 :]
        for one, other in zip(items[::2], items[1::2], strict=False):
            r, wins, mean, width = 0, 0, 0.5, 0.5
            while abs(mean - 0.5) <= width - epsilon and r <= np.log(2 / level) / (2 * epsilon**2):
                r, wins = r + 1, wins + int(rng.random() < preferences[one, other])
                mean, width = wins / r, np.sqrt(np.log(4 * r**2 / level) / (2 * r))
            duels, winners = duels + r, [*winners, other if mean <= 0.5 else one]
        items = winners
    return duels, items[0]


def test_published_agents_have_the_law_of_a_simulation() -> None:
    for name, rule in (("SAVAGE", savage), ("Knockout(epsilon=0.2)", knockout)):
        keywords = {"preferences": CLEAR.tolist(), "fixed_confidence": True, "budget": 100_000}
        result = evaluate(name, ID, runs=400, seed=1, env_kwargs=keywords)
        rng = np.random.default_rng(0)
        played = np.array([rule(CLEAR, 0.1, rng) for _ in range(200)])
        assert result.error_probability <= 0.01 and (played[:, 1] == 0).mean() >= 0.99, name
        apart = float(np.sum(result.mean_pulls)) - played[:, 0].mean()
        assert abs(apart) < 4 * played[:, 0].std() * np.sqrt(1 / 400 + 1 / 200), (name, apart)


def test_a_tournament_and_a_count_by_hand() -> None:
    keywords = {"preferences": [[0.5, 0.6, 0.65], [0.4, 0.5, 0.9], [0.35, 0.1, 0.5]]}  # 0 beats all, 1 wins most
    right = (0.9 * 0.6 + 0.1 * 0.65 + 2 * 0.6 * 0.65) / 3  # 0 meets the winner of the others, or one after the other
    for budget, made in ((2, 2), (5, 4)):  # a match of two duels has the chances of one, since draws are decided
        result = evaluate("SELECT", ID, budget=budget, runs=5000, env_kwargs=keywords)
        assert abs(1 - result.error_probability - right) < 4 * 0.5 / np.sqrt(5000)
        assert float(np.sum(result.mean_pulls)) == made
    counted = evaluate("Borda-Counting", ID, budget=40_000, runs=100, env_kwargs=keywords)
    assert counted.error_probability == 1 and "most wins" in str(counted.notes)
    assert not evaluate("Borda-Counting", ID, runs=2, env_kwargs={"preferences": CLEAR.tolist()}).notes


def test_draws_are_decided_whatever_the_numbers_of_items() -> None:
    close = 0.5 + 0.02 * np.sign(STRENGTHS[:, None] - STRENGTHS)
    one, other = (
        evaluate(
            "Knockout(delta=0.9, epsilon=0.9)",
            ID,
            runs=2000,
            env_kwargs={"preferences": table.tolist(), "fixed_confidence": True},
        ).error_probability
        for table in (close, close[::-1, ::-1])
    )
    assert abs(one - other) < 4 * np.sqrt(0.5 / 2000)


def test_knockout_says_where_it_may_be_wrong() -> None:
    transitive, triangle = "transitivity", "less than epsilon=0.05"
    for preferences, said in (
        (CLEAR, ""),
        (np.array([[0.5, 0.9, 0.6], [0.1, 0.5, 0.9], [0.4, 0.1, 0.5]]), transitive),  # .6 is less than .9 and .9
        (np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.1, 0.4, 0.5]]), transitive),  # .4 is more than .1 + .1
        (np.array([[0.5, 0.54, 0.6], [0.46, 0.5, 0.56], [0.4, 0.44, 0.5]]), triangle),
    ):
        keywords = {"preferences": preferences.tolist(), "fixed_confidence": True, "budget": 100}
        (note,) = evaluate("Knockout", ID, runs=2, env_kwargs=keywords).notes or ("",)
        assert (said in note) if said else (note == ""), (preferences, note)


def test_general_agents_stop_with_the_winner() -> None:
    keywords = {"preferences": CLEAR.tolist(), "fixed_confidence": True, "budget": 100_000}
    pulls = {}
    for agent in ("SE", "LUCB", "EB-TCI", "SAVAGE"):
        result = evaluate(agent, ID, runs=100, seed=2, env_kwargs=keywords)
        assert result.error_probability <= 0.03, agent
        pulls[agent] = float(np.sum(result.mean_pulls))
    assert max(pulls["LUCB"], pulls["EB-TCI"], pulls["SE"]) < pulls["SAVAGE"]


def test_strengths_are_worth_duels() -> None:
    errors = {
        agent: evaluate(agent, "BAI-Condorcet-BradleyTerry8-v0", budget=100, runs=400, seed=1)
        for agent in ("Uniform", "BT-EB")
    }
    assert errors["BT-EB"].error_probability < 0.6 * errors["Uniform"].error_probability
    assert not errors["BT-EB"].notes and "Bradley-Terry" in str(evaluate("BT-EB", ID, budget=20, runs=2).notes)


def test_problems_by_hand(tmp_path: Path) -> None:
    log = tmp_path / "battles.csv"
    log.write_text("model_a,model_b,winner\na,b,model_a\nb,a,tie\na,c,a\nc,b,model_b\nc,b,model_a\nb,c,model_a\n")
    bandit = battles_problem(log).draw(1, np.random.default_rng())
    np.testing.assert_allclose(bandit.wins, [[0.5, 1.0, 2 / 3]])  # type: ignore[attr-defined]
    np.testing.assert_allclose(bandit.means, [[0.75, 1.0, 2 / 3]])
    scores = {"model": [*"aabbcc"], "question": [*"121212"], "score": [1, 1, 1, 0, 0, 0]}
    np.testing.assert_allclose(verdicts_problem(scores).draw(1, np.random.default_rng()).means, [[0.75, 1.0, 0.75]])
    borda = duels_problem(CLEAR, question="borda")
    np.testing.assert_allclose(borda.draw(1, np.random.default_rng()).means[0], (CLEAR.sum(axis=1) - 0.5) / 4)
    assert borda.task is None and borda.num_arms == 5
    drawn = BradleyTerry(5).draw(200, np.random.default_rng(0))
    assert Condorcet().correct(drawn.means, Condorcet().correct_recommendation(drawn.means)).all()


def test_a_ranking_says_who_is_the_strongest_and_how_sure_that_is(
    tmp_path: Path, outcome: Callable[..., tuple[object, str, str]]
) -> None:
    rng, names, (left, right) = np.random.default_rng(0), np.array([*"vwxyz"]), pairs(5)
    one, other = np.repeat(left, 60), np.repeat(right, 60)
    won = np.where(rng.random(one.size) < CLEAR[one, other], names[one], names[other])
    log = {"model_a": names[one], "model_b": names[other], "winner": won}
    found = ranking(log)
    assert [item.name for item in found.items] == [*"vwxyz"] and found.items[0].best > 0.99 > found.misfit > 0.01
    assert [item.duels for item in found.items] == [240] * 5 and sum(item.wins for item in found.items) == 600
    for item, strength in zip(found.items, STRENGTHS - STRENGTHS.mean(), strict=True):
        assert abs(item.strength - strength) < 2 * item.half < 0.9, item
    wins = np.array([[(won[(one == i) & (other == j)] == names[i]).mean() for i, j in zip(left, right, strict=True)]])
    strengths, covariance = fitted(np.full((1, 10), 60.0), wins)
    slope = (60.0 * (wins - expit(strengths @ differences(5).T))) @ differences(5) - strengths / 1.5**2
    np.testing.assert_allclose(slope, 0.0, atol=1e-8)
    np.testing.assert_allclose(np.diff([item.strength for item in found.items]), np.diff(strengths[0]), atol=1e-12)
    cycle = {"model_a": [*"abc"] * 40, "model_b": [*"bca"] * 40, "winner": ["model_a"] * 120}
    assert ranking(cycle).misfit < 1e-6 and len(ranking(cycle).sentences()) == 4

    file = tmp_path / "log.csv"
    file.write_text(
        "a,b,won\n" + "\n".join(f"{i},{j},{k}" for i, j, k in zip(names[one], names[other], won, strict=True))
    )
    code, out, err = outcome("rank", str(file), "--first", "a", "--second", "b", "--winner", "won")
    assert (code, err) == (0, "") and out.startswith("v is the strongest with probability")
    file.write_text("model_a,model_b,winner\nx,y,x\n")
    code, out, err = outcome("rank", str(file))
    assert (code, out) == (2, "") and "three or more sides" in err


def test_a_judge_is_asked_until_the_winner_is_known(tmp_path: Path) -> None:
    rng, asked = np.random.default_rng(0), []

    def judge(one: str, other: str) -> str:
        asked.append((one, other))
        if len(asked) == 15:
            raise KeyboardInterrupt
        won = rng.random() < 0.75 + 0.2 * CLEAR["vwxyz".index(one), "vwxyz".index(other)] - 0.1  # it likes the first
        return one if won and "v" not in (one, other) else min(one, other)

    given: dict[str, Any] = {"budget": 2000, "ties": False, "journal": tmp_path / "duels.jsonl"}
    with pytest.raises(KeyboardInterrupt):
        identify_duels([*"vwxyz"], judge, **given)
    found = identify_duels([*"vwxyz"], judge, **given)
    assert found.name == "v" == found.ranking.items[0].name and found.confident
    assert len(asked) == len(found.duels) + 1  # the interrupted duel is asked again, and no other
    assert [duel[:2] for duel in found.duels] == [*asked[:14], *asked[15:]]
    assert 0.3 < np.mean([one < other for one, other in asked]) < 0.7  # sides are swapped
    again = identify_duels([*"vwxyz"], lambda one, other: 1 / 0, **given)
    assert again == found and str(found).startswith("v wins, after")
    for said, match in ((2, "number from 0 to 1"), ("u", "not 'u'"), (1j, "not 1j")):
        with pytest.raises(PullError, match=match):
            identify_duels([*"vwxyz"], lambda one, other, said=said: said, 50)
    with pytest.raises(PullError, match="0 or 1, not None"):
        identify_duels([*"vwxyz"], lambda one, other: None, 50, ties=False)
    with pytest.raises(ParameterError, match="three or more"):
        identify_duels([*"ab"], judge, 50)
    with pytest.raises(AgentError, match="SHVar"):
        identify_duels([*"abc"], judge, 50, agent="SHVar")

    class Own:
        def allocate(self, observation: Any) -> Any:
            return np.eye(3, dtype=np.int64)[[0]] * min(1, int(observation["remaining"].max()))

        def recommend(self, observation: Any) -> Any:
            return np.array([1])

    assert identify_duels([*"abc"], lambda one, other: min(one, other), 7, agent=Own).name == "b"
    draw = identify_duels([*"abc"], lambda one, other: None, 30, agent="BT-EB")
    assert (
        not draw.confident
        and len(draw.duels) == 30
        and {item.wins / item.duels for item in draw.ranking.items} == {0.5}
    )


def test_mistakes_have_one_line(tmp_path: Path) -> None:
    cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    battles = {"model_a": [*"aab"], "model_b": [*"bcc"], "winner": [*"aa?"]}
    cases: tuple[tuple[Any, type[BaiGymError], str], ...] = (
        (lambda: duels_problem(cycle), InstanceError, "question='borda'"),
        (lambda: duels_problem([[0.5, 0.6, 0.4]] * 3), InstanceError, "items 0 and 1 must sum to 1"),
        (lambda: duels_problem(CLEAR, question="best"), ParameterError, "question"),
        (lambda: battles_problem(battles), DataError, r"row 3: '\?' is no outcome"),
        (lambda: battles_problem({**battles, "winner": [*"aab"], "model_b": [*"bca"]}), DataError, "b and c never met"),
        (lambda: BradleyTerry(2), InstanceError, "at least 3"),
        (lambda: gym.make("BAI-Bernoulli3-v0", task="condorcet"), ParameterError, "about items, and here are none"),
        (lambda: gym.make(ID, task="top-m", m=2), ParameterError, "top-m"),
        (lambda: evaluate("SAVAGE", "BAI-Gaussian8-v0", runs=2), BaiGymError, "SAVAGE"),
    )
    for call, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
