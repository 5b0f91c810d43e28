"""What every registered agent promises, whatever its algorithm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bai_gym import agents, evaluate
from bai_gym.agents.registry import BUILT_IN
from bai_gym.agents.tools.halving import HalvingAgent, num_stages
from bai_gym.api import parse_agent
from bai_gym.bandits import Bandit, BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.errors import AgentError, BudgetError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import engine
from bai_gym.tasks import TASKS, BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM
from bai_gym.validation import LARGEST
from bai_gym.wings import ANY

pytestmark = pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
CASES = run_path(str(Path(__file__).with_name("cases.py")))
fit, usual_task = CASES["fit"], CASES["usual_task"]
Variant = tuple[str, dict[str, Any]]
LEVEL = 0.001
NAMES = agents.names()
VARIANTS: list[Variant] = [*((name, CASES["NEEDED"].get(name, {})) for name in NAMES), *CASES["VARIANTS"]]
# Agents whose stages of halving have equal budgets, rounded down.
HALVING = {name for name in NAMES if isinstance(agents.make(name), HalvingAgent)}
STOPPING = {name for name in NAMES if agents.make(name).stops}
DRAWING = {name for name in NAMES if BUILT_IN[name].draws_arms}
LEAVE_SOME = STOPPING | {name for name in NAMES if not BUILT_IN[name].spends_budget}
# Agents for one number of arms, and those that by default are for some rewards only. Worlds of other rewards or sizes,
# where they raise, leave them out or give them one of their own (`playable`). What is left out here,
# test_bayes_optimal has; and agents with a link for rewards in [0, 1] are everywhere with one for any rewards.
ONE_SIZE = {name for name in NAMES if BUILT_IN[name].arms is not None}
SOME_REWARDS = {name for name in NAMES if BUILT_IN[name].rewards != ANY}
FIND_ONE = [name for name in NAMES if BestArm.name in agents.make(name).tasks and name not in ONE_SIZE]
EVERY = [v for v in VARIANTS if (v[0] not in SOME_REWARDS or v[1]) and v[0] not in ONE_SIZE]
GENERAL = [variant for variant in EVERY if variant[0] in FIND_ONE]
# Agents of other tasks than one arm.
SEVERAL = [variant for variant in VARIANTS if agents.make(variant[0], **variant[1]).tasks - {BestArm.name}]


def variant_id(variant: Variant) -> str:
    return agents.make(variant[0], **variant[1]).label


def test_a_label_can_be_written_as_an_agent() -> None:
    for name, parameters in VARIANTS:
        agent = agents.make(name, **parameters)
        found, values = parse_agent(agent.label)
        assert agents.make(found, **values) == agent, agent.label


def play(agent: Any, bandit: Bandit, budget: int, seed: int = 0, task: Task | None = None) -> Rollout:
    bandit, task = fit(agent, bandit), task or usual_task(agent)
    info = ProblemInfo(bandit.num_arms, budget, bandit.batch, task=task, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng([seed, 1]))
    return play_blocks(agent, bandit, budget, np.random.default_rng([seed, 2]), task)


def tasks_of(agent: Any, num_arms: int) -> list[Task]:
    """The tasks of several arms that the agent declares, with sets of several sizes."""
    tasks: list[Task] = [TopM(1), TopM(num_arms - 1), BestOfEach(1), BestOfEach(num_arms // 2)]
    tasks += map(Thresholding, (-20.0, 0.5, 90.0))
    return [task for task in tasks if task.name in agent.tasks]


def repeated(bandit: Bandit, runs: int) -> Bandit:
    return bandit.select(np.zeros(runs, np.int64))


def spread(num_arms: int) -> GaussianBandit:
    return GaussianBandit(np.linspace(0.2, 0.9, num_arms), np.linspace(0.5, 2.0, num_arms))


def without_variance(num_arms: int) -> GaussianBandit:
    return GaussianBandit(np.linspace(0.9, 0.2, num_arms), 0.0)


def all_equal_and_certain(num_arms: int) -> BernoulliBandit:
    return BernoulliBandit(np.ones(num_arms))


def negative(num_arms: int) -> GaussianBandit:
    return GaussianBandit(np.linspace(-9.0, -4.0, num_arms), 0.01)


def playable(name: str, num_arms: int, budget: int) -> tuple[Bandit, int]:
    """A world of that size, or the largest below it that the agent can play in."""
    entry = BUILT_IN[name]
    num_arms, budget = entry.arms or num_arms, min(budget, entry.largest_budget or budget)
    if name in SOME_REWARDS:
        return BernoulliBandit(np.linspace(0.2, 0.9, num_arms)), budget
    return spread(num_arms), budget


# How pulls are divided depends on the number of arms: the least budget in every size, and larger ones in one.
WORLDS: list[tuple[int, Callable[[int], Bandit], tuple[int, ...]]] = [
    *((num_arms, spread, (1,)) for num_arms in (2, 3, 64)),
    (5, spread, (1, 2, 10)),
    *((5, world, (2,)) for world in (without_variance, all_equal_and_certain, negative)),
]


@pytest.mark.each("variant", GENERAL, ids=variant_id)
@pytest.mark.each(("num_arms", "make_bandit", "factors"), WORLDS)
def test_budgets_are_kept_and_arms_recommended(
    variant: Variant, num_arms: int, make_bandit: Callable[[int], Bandit], factors: tuple[int, ...]
) -> None:
    name, parameters = variant
    bandit = repeated(make_bandit(num_arms), 3)
    least = agents.make(name, **parameters).minimum_budget(num_arms)
    for budget in (factor * least + (factor > 1) for factor in factors):
        agent = agents.make(name, **parameters)
        rollout = play(agent, bandit, budget)
        spent = rollout.statistics.pulls.sum(axis=1)
        assert (spent <= budget).all()
        if name not in LEAVE_SOME or parameters.get("leftover") == "last":
            assert (spent == budget).all()
        elif name in HALVING and "rounding" not in parameters:
            assert (spent == budget - budget % num_stages(num_arms)).all()
        assert rollout.recommendation.shape == (3,)
        assert np.isin(rollout.recommendation, np.arange(num_arms)).all()
        assert np.isfinite(rollout.statistics.means).all()
        # Agents of a smaller budget do without a first pull of every arm.
        if least >= num_arms and name not in DRAWING:
            pulled = rollout.statistics.pulls[np.arange(3), rollout.recommendation]
            assert (pulled > 0).all()
            # At the cap, agents of fixed confidence recommend the set of smallest regret that they can vouch for. A
            # network promises nothing where it was not trained.
            unsure = {"Uniform", *STOPPING}
            if make_bandit is without_variance and name not in unsure and "prior" not in agent.knows:
                assert not rollout.recommendation.any()


@pytest.mark.each("name", FIND_ONE)
def test_relabelling_the_arms_relabels_the_recommendation(name: str) -> None:
    runs = 300 if agents.make(name).needs_features or name == "RHO" else 1000  # designs and plans take time
    order = np.array([3, 1, 4, 0, 2])
    # Two tied pairs, so that an index or a sort that prefers early arms would show.
    bandit = BernoulliBandit([0.6, 0.5, 0.6, 0.3, 0.5])
    budget = 2 * agents.make(name).minimum_budget(5) + 3
    one = play(agents.make(name), repeated(bandit, runs), budget)
    other = play(agents.make(name), repeated(BernoulliBandit(bandit.means[0, order]), runs), budget, seed=1)
    table = np.stack(
        [np.bincount(one.recommendation, minlength=5), np.bincount(order[other.recommendation], minlength=5)]
    )
    assert chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > LEVEL / len(NAMES)
    # The tied arms themselves are equally likely: 0 and 2, 1 and 4.
    for arm, twin in ((0, 2), (1, 4)):
        difference, total = table[:, arm].sum() - table[:, twin].sum(), table[:, [arm, twin]].sum()
        assert abs(difference) < 4.2 * np.sqrt(total)  # two-sided level 3e-5, below 0.001 over 18 pairs


@pytest.mark.each("name", FIND_ONE)
def test_equal_certain_arms_are_recommended_equally_often(name: str) -> None:
    runs, budget = 200, 2 * agents.make(name).minimum_budget(4) + 2
    counts = np.bincount(play(agents.make(name), repeated(all_equal_and_certain(4), runs), budget).recommendation)
    # 4.6 standard deviations of a binomial of 1/4: level 4e-6, below 0.001 over all agents and arms.
    assert counts.size == 4 and (abs(counts - runs / 4) < 4.6 * np.sqrt(runs * 0.25 * 0.75)).all()


@pytest.mark.each("variant", GENERAL, ids=variant_id)
def test_easy_worlds_are_solved_in_every_run(variant: Variant) -> None:
    # Gap 40 standard deviations of a single reward.
    num_arms, runs = 5, 20
    best = np.random.default_rng(0).integers(num_arms, size=runs)
    bandit = GaussianBandit(np.where(np.arange(num_arms) == best[:, None], 50.0, 10.0), 1.0)
    agent = agents.make(variant[0], **variant[1])
    # Uniform choice misses an arm of five in 120 pulls with probability 20 x 0.8^120 = 5e-11.
    rollout = play(agent, bandit, max(120, agent.minimum_budget(num_arms)))
    np.testing.assert_array_equal(rollout.recommendation, best)


@pytest.mark.each("make_bandit", [without_variance, all_equal_and_certain, negative])
@pytest.mark.each("variant", SEVERAL, ids=variant_id)
def test_every_declared_task_is_done_in_every_world(variant: Variant, make_bandit: Callable[[int], Bandit]) -> None:
    (name, parameters), num_arms = variant, 4
    bandit = repeated(make_bandit(num_arms), 3)
    least = agents.make(name, **parameters).minimum_budget(num_arms)
    for task in tasks_of(agents.make(name, **parameters), num_arms):
        for budget in (least, 2 * least + 1):
            rollout = play(agents.make(name, **parameters), bandit, budget, task=task)  # checks the recommendation
            spent = rollout.pulls.sum(axis=1)
            assert (spent <= budget).all() and (spent >= num_arms).all()
            if name not in LEAVE_SOME or parameters.get("leftover") == "last":
                assert (spent == budget).all()
            if make_bandit is without_variance and name not in STOPPING and parameters.get("mode") != "random":
                assert task.correct(bandit.means, rollout.recommendation).all()


@pytest.mark.each("name", sorted({name for name, _ in SEVERAL}))
def test_equal_certain_arms_are_in_sets_equally_often(name: str) -> None:
    runs, budget = 600, 2 * agents.make(name).minimum_budget(6) + 3
    for task in (TopM(2), BestOfEach(2)):
        if task.name in agents.make(name).tasks:
            found = play(agents.make(name), repeated(all_equal_and_certain(6), runs), budget, task=task).recommendation
            sets = found if isinstance(task, TopM) else np.hstack([np.eye(3)[found[:, 0]], np.eye(3)[found[:, 1]]])
            # 4.7 standard deviations of a binomial of 1/3.
            assert (abs(sets.sum(axis=0) - runs / 3) < 4.7 * np.sqrt(runs * 2 / 9)).all()


def begin(agent: Any, bandit: Bandit, budget: int = 500, task: Task | None = None, **more: Any) -> None:
    """Reset an agent for arms as they are, with all that it declares to know."""
    given = {"task": task or usual_task(agent), "truth": bandit, "knows": agent.knows, **more}
    agent.reset(ProblemInfo(bandit.num_arms, budget, bandit.batch, **given))


@pytest.mark.each("name", NAMES)
def test_what_an_agent_is_not_for_is_refused(name: str) -> None:
    def refused(message: str, bandit: Bandit, **more: Any) -> None:
        with pytest.raises(AgentError, match=f"^{name} {message}"):
            begin(agents.make(name), bandit, **more)

    agent, arms, plain = agents.make(name), BUILT_IN[name].arms, spread(4)
    assert set() < agent.tasks <= {*TASKS, "best-candidate", "best-row"}
    for task in (BestArm(), TopM(2), BestOfEach(2), Thresholding(0.5), GoodArm(0.5)):
        if not agent.plays(task):
            able = ", ".join(agent.known_tasks)
            refused(f"does not support the task '{task.name}'; it supports: {able}$", fit(agent, plain), task=task)
    if arms:
        refused(f"is for {arms} arms, and there are 4", plain)
    if agent.needs_features:
        refused("needs arms with features", plain)
    if agent.uses_pairs:
        refused("compares arms on common items", plain)
    if name in STOPPING:
        begin(agent, fit(agent, plain), fixed_confidence=True)
    else:
        refused("does not decide when to stop", fit(agent, plain), fixed_confidence=True)


@pytest.mark.each("name", sorted({name for name, _ in SEVERAL}))
def test_sets_have_the_requested_size_where_the_budget_is_too_small(name: str) -> None:
    bandit = repeated(spread(4), 3)
    for task in tasks_of(agents.make(name), 4):
        for budget in (1, 3, 5):
            rollout = play(agents.make(name, allow_small_budget=True), bandit, budget, task=task)
            assert (rollout.pulls.sum(axis=1) <= budget).all()


@pytest.mark.each("name", NAMES)
def test_the_same_seed_gives_the_same_episodes(name: str) -> None:
    world, budget = playable(name, 5, 60)
    bandit = repeated(world, 2)
    one, same, other = (play(agents.make(name), bandit, budget, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.statistics.means, same.statistics.means)
    np.testing.assert_array_equal(one.recommendation, same.recommendation)
    assert (one.statistics.means != other.statistics.means).any()
    assert agents.make(name).uses_variances or not one.statistics.variances.any()


@pytest.mark.each("variant", EVERY, ids=variant_id)
def test_small_budgets_are_refused_unless_allowed(variant: Variant) -> None:
    name, parameters = variant
    agent = agents.make(name, **parameters)
    num_arms = fit(agent, spread(5)).num_arms
    least = agent.minimum_budget(num_arms)
    with pytest.raises(BudgetError) as error:
        begin(agent, fit(agent, spread(num_arms)), least - 1)
    words = f"budget {least - 1} is below the minimum of {name} for {num_arms} arms: give at least {least}"
    assert str(error.value).startswith(words) and "allow_small_budget=True" in str(error.value)
    for budget in sorted({1, num_arms - 1, num_arms + 1, least - 1} - {0}):
        bandit = repeated(without_variance(num_arms), 3)
        rollout = play(agents.make(name, allow_small_budget=True, **parameters), bandit, budget)
        pulls = rollout.statistics.pulls
        assert (pulls.sum(axis=1) <= budget).all() and (pulls.sum(axis=1) > 0).all()
        seen = np.where(pulls > 0, bandit.means, -9.0)
        if usual_task(agent).answer != "arm":
            assert np.isin(rollout.recommendation, np.arange(*usual_task(agent).sizes(num_arms))).all()
            continue
        if name not in FIND_ONE:  # arms without a pull are in no set
            np.testing.assert_array_equal(rollout.recommendation, usual_task(agent).correct_recommendation(seen))
            continue
        assert np.isin(rollout.recommendation, np.arange(num_arms)).all()
        # Agents that do without a first pull of every arm choose those that they pull; with these features, any arms.
        chosen = least < num_arms and not agent.needs_features
        if budget < num_arms and parameters.get("mode") != "random" and not chosen and name not in DRAWING:
            # A random set of arms once each, and the best of them.
            assert (pulls.sum(axis=1) == budget).all() and pulls.max() == 1
            np.testing.assert_array_equal(rollout.recommendation, seen.argmax(axis=1))


@pytest.mark.each("name", NAMES)
def test_agents_know_only_what_they_declare(name: str) -> None:
    agent = agents.make(name)
    truth, budget = playable(name, 4, 500)
    truth = fit(agent, truth)
    for fact in agent.knows:
        with pytest.raises(AgentError, match=f"reads '{fact}' without declaring it"):
            begin(agent, truth, budget, knows=agent.knows - {fact})
    info = ProblemInfo(truth.num_arms, budget, task=usual_task(agent), knows=agent.knows)
    if agent.knows - {"prior"}:  # which does not say anything about the instance
        info.features = truth.features
        # Without a truth there is no prior either: agents that want one name what to give in its place.
        refusal = "has no prior here" if "prior" in agent.knows else "without the true instances"
        with pytest.raises(AgentError, match=refusal):
            agent.reset(info)
    elif not (agent.needs_features or agent.uses_pairs):
        agent.reset(info)


@pytest.mark.each(("name", "scale"), [("TTTS", LARGEST), ("A-UCB-E", LARGEST), ("A-UGapEb", 1e-300), ("OCBA", 1e-300)])
@pytest.mark.each("path", ["blocks", "steps"])
def test_means_of_extreme_scale(name: str, path: str, scale: float) -> None:
    # Warnings are errors here. Where gaps are far below the range 1 that A-UGapEb assumes, all its sets are equal.
    given = {"means": [scale, 0.0, scale / 2], "variances": 0.0}
    result = evaluate(name, "BAI-Custom-v0", budget=60, runs=10, path=path, env_kwargs=given)
    assert result.errors == 0 or name == "A-UGapEb"


@pytest.mark.each("name", [name for name in NAMES if name not in SOME_REWARDS])
def test_the_largest_rewards_do_not_overflow(name: str) -> None:
    # Warnings are errors here.
    num_arms = BUILT_IN[name].arms or 4
    means = LARGEST * np.array([1.0, -1.0, 0.5, 0.9][:num_arms])
    play(agents.make(name), repeated(GaussianBandit(means, (0.05 * LARGEST) ** 2), 5), 97)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_plain_python_plays_as_compiled_code_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    def results(name: str) -> list[list[float]]:
        arms, budget = BUILT_IN[name].arms, min(60, BUILT_IN[name].largest_budget or 60)
        bandit = BernoulliBandit([0.3, 0.6, 0.5] if arms is None else np.linspace(0.2, 0.6, arms))
        played = play(agents.make(name), repeated(bandit, 3), budget, seed=1)
        parts = (played.recommendation, played.pulls, played.statistics.means, played.statistics.variances)
        return [np.asarray(part, float).ravel().tolist() for part in parts]

    found = {name: results(name) for name in NAMES}
    monkeypatch.setattr(engine, "can_compile", lambda: False)
    assert not [name for name in NAMES if results(name) != found[name]]
