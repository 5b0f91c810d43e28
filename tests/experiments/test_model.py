"""Experiments as data, well-formed all of them, and verdicts on claims worked out by hand."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import make, names
from bai_gym.api import agent_source, make_cells
from bai_gym.benchmark.optima import known_optima
from bai_gym.benchmark.protocol import describe, least_budget
from bai_gym.benchmark.sources import EnvSource
from bai_gym.datasets import registry
from bai_gym.envs.registration import IDS
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.experiments import EXPERIMENTS, Claim, Experiment, Judged, Panel, Setting, find, judge
from bai_gym.experiments.augucb import PUBLISHED, PUBLISHED_UCBEV
from bai_gym.experiments.model import Above, Below, BestOf, Close, Falls, Fewer, Lower, LowerRegret, Statement, Stops
from bai_gym.experiments.verdicts import Verdict
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Checkpoint, Result, Runs, summarize

CONFIRMED, REFUTED, UNDECIDED = Verdict.CONFIRMED, Verdict.REFUTED, Verdict.UNDECIDED
RAGE = ["linear-fc-sphere", "linear-fc-transductive", "linear-fc-manyarms"]
ALL = pytest.mark.each("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)

# ------------------------------------------------------------------------------------------------ the figures


def agents_of(statement: Statement) -> set[str]:
    if isinstance(statement, Lower | LowerRegret | Fewer):
        sides = {statement.better, statement.worse}
    elif isinstance(statement, Close):
        sides = {statement.agent, statement.reference}
    else:
        sides = {statement.agent}
    return {agent for side in sides for agent in (side.agents if isinstance(side, BestOf) else (side,))}


def test_there_is_an_experiment_for_each_figure() -> None:
    figures = [f"shvar-{figure}" for figure in range(1, 7)]
    structured = [f"gse-{figure}" for figure in range(1, 8)]
    linear = ["linear-fb-soare", "linear-fb-multi", "linear-fb-drift"]
    bayesian = [f"bayesgap-{figure}" for figure in range(1, 5)]
    own = [f"ugape-{number}" for number in range(1, 6)] + [f"learned-{number}" for number in range(1, 12)]
    thresholding = [f"augucb-1{letter}" for letter in "abcdef"]
    rejects = [f"cr-{number}" for number in range(1, 7)]
    others = ["ab-1", "tas-1", "tas-2", "tails-1", "linear-fc-soare", *RAGE, "ash-1", "bbai", "savings"]
    priors = ["bayes-mab", "bayes-linear", "bayes-hierarchical", "rue-40-80"]
    papers = [*structured, *linear, *bayesian, *priors, *thresholding, *rejects]
    assert list(EXPERIMENTS) == [*figures, *own[:5], *papers, *others, *own[5:]]
    assert all(EXPERIMENTS[name].source.endswith(f"experiment {n}") for n, name in enumerate(thresholding, start=1))
    for names_of in (figures, structured, bayesian):
        for number, name in enumerate(names_of, start=1):
            assert EXPERIMENTS[name].source.endswith(f"figure {number}")
    assert all(find(name) is experiment for name, experiment in EXPERIMENTS.items())


def test_unknown_experiments_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown experiment 'shvar_2'. Did you mean shvar-2"):
        find("shvar_2")


@cache
def label_of(agent: str) -> str:
    """The name that an agent gives itself in results."""
    return describe(agent_source(agent).make())


@ALL
def test_what_is_played_exists(experiment: Experiment) -> None:
    ids = {entry.id: entry for entry in IDS}
    for panel in experiment.panels:
        for setting in panel.settings:
            entry = ids[setting.env]
            # Building the others takes their data.
            if entry.data is None:
                keywords = dict(setting.keywords)
                if keywords.get("data") in registry.names():
                    del keywords["data"]  # as many arms as without, or fewer
                problem = EnvSource(setting.env, keywords).problem
                arms = problem.num_arms
            else:
                arms = {**entry.keywords, **setting.keywords}["num_arms"]
            axis = {"budget": setting.budget, "num_arms": arms, "setup": entry.keywords.get("setup")}
            axis["checkpoint"] = setting.budget
            axis |= {name: setting.keywords.get(name) for name in ("gap", "magnitude")}
            assert setting.x == axis[panel.x]
            assert panel.picture == "errors" or len(panel.settings) == 1
            assert (panel.checkpoints > 0) == (panel.x == "checkpoint")
            assert setting.without <= set(experiment.agents)
            for agent in experiment.agents_at(panel, setting):
                made = agent_source(agent).make()
                assert least_budget(made, arms, None if entry.data else problem.num_features) <= setting.budget


@ALL
def test_panels_are_told_apart_and_ascend(experiment: Experiment) -> None:
    names = [panel.name for panel in experiment.panels]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9-]*", name) for name in names)  # they become parts of file names
    for panel in experiment.panels:
        points = [setting.x for setting in panel.settings]
        assert points and points == sorted(set(points))


@ALL
def test_claims_speak_of_what_is_played(experiment: Experiment) -> None:
    # The names of the results are those that the agents give themselves.
    labels = {label_of(agent) for agent in experiment.agents}
    assert len(labels) == len(experiment.agents)
    for panel in experiment.panels:
        assert set(panel.variants) <= set(experiment.agents) - {experiment.reference}
        assert all(label_of(name) == name for name in panel.variants.values())
        assert not set(panel.variants.values()) & labels
    for claim in experiment.claims:
        assert claim.text.endswith(".") and claim.statements
        for statement in claim.statements:
            assert agents_of(statement) <= labels
            assert not isinstance(statement, Lower | LowerRegret | Close | Fewer) or len(agents_of(statement)) >= 2
            for panel in filter(claim.speaks_of, experiment.panels):
                points = {setting.x: experiment.agents_at(panel, setting) for setting in panel.settings}
                if panel.x == "checkpoint":
                    last = panel.settings[0]
                    points |= dict.fromkeys(
                        range(panel.checkpoints, last.budget, panel.checkpoints), experiment.agents_at(panel, last)
                    )
                assert set(statement.at or ()) <= set(points)
                speaks_of = {panel.variants.get(agent, agent) for agent in agents_of(statement)}
                judged = {x for x in statement.at or points if speaks_of <= {label_of(a) for a in points[x]}}
                assert judged and judged >= set(statement.at or ())
                assert not isinstance(statement, Falls) or statement.start in points
        assert claim.panels is None or claim.panels <= {panel.name for panel in experiment.panels}
    texts = [claim.text for claim in experiment.claims]
    assert len(set(texts)) == len(texts)


@ALL
def test_all_play_where_the_reference_plays(experiment: Experiment) -> None:
    assert experiment.reference in ("", *experiment.agents)
    hypotheses = [claim.text.startswith("Our hypothesis: ") for claim in experiment.claims]
    if any(hypotheses):
        assert not all(hypotheses)
        assert experiment.claims_are == "Claims of the paper, and hypotheses of this library"
    else:
        own = experiment.id.startswith(("ab-", "bayes-", "bbai", "learned", "rue-", "savings"))
        assert experiment.claims_are == ("Hypotheses of this library" if own else "Claims of the paper")


LEARNED = [EXPERIMENTS[f"learned-{number}"] for number in range(1, 6)]


@pytest.mark.each("experiment", LEARNED, ids=lambda experiment: str(experiment.id))
def test_a_learned_agent_plays_20_000_episodes_beside_analytic_ones(experiment: Experiment) -> None:
    assert experiment.runs == 20_000
    assert sum(agent.startswith("Learned(") for agent in experiment.agents) == 1
    assert "Uniform" in experiment.agents
    for agent in experiment.agents:
        declared = set(agent_source(agent).make().knows) - {"prior"}
        assert not declared or any(agent in note and " given " in note for note in experiment.notes)


def test_the_optimum_plays_where_it_is_known() -> None:
    for experiment in LEARNED:
        known = []
        for setting in experiment.panels[0].settings:
            cells = make_cells(["Uniform"], setting.env, [setting.budget], 0, setting.keywords)
            known.append(bool(known_optima(cells)[0]))
        assert known == [experiment.optimum] * len(known)
        assert ("BayesOptimal" in experiment.agents) is experiment.optimum


def test_every_agent_that_knows_no_more_than_the_prior_is_held_against_the_optimum() -> None:
    experiments = (EXPERIMENTS["learned-5"], EXPERIMENTS["learned-10"])
    playing = {name.partition("(")[0] for experiment in experiments for name in experiment.agents}
    smallest = min(setting.budget for setting in experiments[0].panels[0].settings)  # of two arms
    for name in names():
        # Told the range as a parameter, A-GapE and A-GapE-V know nothing of the instance.
        agent = make(name, b=1.0) if make(name).knows == {"range"} else make(name)
        other = agent.stops or agent.needs_features or agent.uses_pairs or "best-arm" not in agent.tasks
        other |= agent.minimum_budget(2) > smallest
        other |= name.endswith("-Reuse")  # with two arms there is one stage: these are SH and SHAdaVar
        other |= name in ("ASH", "BatchSH")  # so are these, where every reward arrives at once
        assert (name in playing) is (set(agent.knows) <= {"prior"} and not other), name


def test_one_network_plays_with_several_numbers_of_arms() -> None:
    (panel,) = EXPERIMENTS["learned-4"].panels
    assert panel.x == "num_arms"
    assert [setting.x for setting in panel.settings] == [4, 16, 64]
    assert {setting.env for setting in panel.settings} == {"BAI-Gaussian8-v0"}


@ALL
def test_a_figure_shows_instances_or_is_judged(experiment: Experiment) -> None:
    assert bool(experiment.instances) is not bool(experiment.agents)
    assert bool(experiment.claims) is bool(experiment.agents)
    few = {"bayesgap-3": 100, "bayesgap-4": 100, **dict.fromkeys(RAGE, 20)}  # as in the papers
    assert experiment.runs >= few.get(experiment.id, 500)


def test_nobody_changes_an_experiment() -> None:
    setting = EXPERIMENTS["shvar-3"].panels[1].settings[0]
    with pytest.raises(TypeError):
        setting.keywords["noisy_best"] = True  # type: ignore[index]
    with pytest.raises(TypeError):
        EXPERIMENTS["mine"] = EXPERIMENTS["shvar-3"]  # type: ignore[index]
    keywords = {"num_arms": 4}
    own = Setting("BAI-Custom-v0", 10, 10, keywords)
    keywords["num_arms"] = 5
    assert own.keywords == {"num_arms": 4}


# ------------------------------------------------------------------------------------------------ verdicts

RUNS = 1000
PANEL = Panel("", "three budgets", tuple(Setting("E", x, x) for x in (100, 200, 300)))


def comparison(panel: Panel = PANEL, **errors: tuple[int, ...]) -> Comparison:
    """Agents with so many errors at each point; of two agents, the errors fall on different runs as far as possible."""
    results: list[Result] = []
    runs: dict[tuple[str, str, int], Runs] = {}
    for number, (agent, counts) in enumerate(errors.items()):
        for setting, count in zip(panel.settings, counts, strict=True):
            order = np.arange(RUNS) if number % 2 else np.arange(RUNS)[::-1]
            correct = order >= count
            zeros = np.zeros(RUNS, np.int64)
            episodes = Runs(zeros, zeros, correct, np.zeros(RUNS), zeros, zeros > 0, np.zeros(2, np.int64))
            results.append(summarize(agent, setting.env, setting.budget, episodes, (), ()))
            runs[agent, setting.env, setting.budget] = episodes
    return Comparison(tuple(results), runs)


def verdict(claim: Claim, panel: Panel = PANEL, **errors: tuple[int, ...]) -> Judged:
    return judge(claim, panel, comparison(panel, **errors), lambda setting: setting.env)


def claim(*statements: Statement, points: Any = "all") -> Claim:
    return Claim("It is so.", statements, points)


LOWER = Lower("a", "b")


@pytest.mark.each(
    ("a", "b", "expected"),
    [
        ((10, 10, 10), (90, 90, 90), CONFIRMED),
        ((10, 10, 90), (90, 90, 10), REFUTED),
        ((10, 10, 50), (90, 90, 52), UNDECIDED),
        ((10, 52, 90), (90, 50, 10), REFUTED),
    ],
)
def test_a_claim_on_all_points(a: tuple[int, ...], b: tuple[int, ...], expected: Verdict) -> None:
    assert verdict(claim(LOWER), a=a, b=b).verdict is expected


def test_more_runs_settle_what_is_undecided_and_nothing_else() -> None:
    points = Panel("", "two of them", PANEL.settings[:1] + PANEL.settings[2:])
    judged = verdict(claim(LOWER, Falls("a", 100, (300,))), points, a=(60, 50), b=(200, 52))
    assert judged.open == ("a better than b at budget 300", "a lower than at 100, at budget 300")
    assert judged.settled == ()
    assert [(place.x, sorted(names)) for place, names in judged.unsettled] == [
        (300, ["a", "b"]),
        (300, ["a"]),
        (100, ["a"]),
    ]
    more = comparison(points, a=(600, 10), b=(10, 90))  # at 100 the first verdict on a and b counts
    settled = judge(judged.claim, points, comparison(points, a=(60, 50), b=(200, 52)), lambda s: s.env, more)
    assert (settled.verdict, settled.open) == (CONFIRMED, ())
    assert settled.settled == tuple(f"{statement}: confirmed" for statement in judged.open)


@pytest.mark.each(
    ("a", "b", "expected"),
    [
        # Of three points: two confirmed are most; two refuted leave at most one.
        ((10, 10, 90), (90, 90, 10), CONFIRMED),
        ((10, 10, 50), (90, 90, 52), CONFIRMED),
        ((10, 50, 50), (90, 52, 52), UNDECIDED),
        ((10, 50, 90), (90, 52, 10), UNDECIDED),
        ((10, 90, 90), (90, 10, 10), REFUTED),
        ((50, 90, 90), (52, 10, 10), REFUTED),
    ],
)
def test_a_claim_on_most_points(a: tuple[int, ...], b: tuple[int, ...], expected: Verdict) -> None:
    assert verdict(claim(LOWER, points="most"), a=a, b=b).verdict is expected


@pytest.mark.each(
    ("a", "b", "expected"),
    [
        # Half is not most: of four points two refuted ones refute the claim.
        ((10, 10, 90, 90), (90, 90, 10, 10), REFUTED),
        ((10, 10, 50, 90), (90, 90, 52, 10), UNDECIDED),
        ((10, 10, 10, 90), (90, 90, 90, 10), CONFIRMED),
    ],
)
def test_half_of_the_points_are_not_most(a: tuple[int, ...], b: tuple[int, ...], expected: Verdict) -> None:
    four = Panel("", "four", tuple(Setting("E", x, x) for x in (1, 2, 3, 4)))
    assert verdict(claim(LOWER, points="most"), four, a=a, b=b).verdict is expected


def test_at_a_point_every_statement_must_hold() -> None:
    # Each statement holds at two of three points, but both at one only.
    both = claim(LOWER, Lower("a", "c"), points="most")
    assert verdict(both, a=(50, 50, 50), b=(150, 150, 5), c=(5, 150, 150)).verdict is REFUTED
    assert verdict(both, a=(50, 50, 50), b=(150, 150, 5), c=(150, 150, 150)).verdict is CONFIRMED


def test_the_points_against_and_open_are_named() -> None:
    judged = verdict(claim(LOWER, Below("a", 0.03)), a=(10, 50, 90), b=(90, 52, 10))
    assert judged.verdict is REFUTED
    assert judged.against == (
        "a better than b at budget 300",
        "a below 0.03 at budget 200",
        "a below 0.03 at budget 300",
    )
    assert judged.open == ("a better than b at budget 200",)
    assert judged.claim.text == "It is so."


def test_a_claim_is_judged_on_the_variants_of_its_panel() -> None:
    other = dataclasses.replace(PANEL, variants={"a": "a2"})
    errors = {"a": (10,) * 3, "b": (50,) * 3, "a2": (90,) * 3}
    statements = (LOWER, Below("a", 0.03), Close("a", "b", 0.0), Lower(BestOf("the best", ("a",)), "b"))
    for statement, name in zip(statements, ("a2", "a2", "a2", "the best"), strict=True):
        assert verdict(claim(statement), **errors).verdict is CONFIRMED
        judged = verdict(claim(statement), other, **errors)
        assert judged.verdict is REFUTED and judged.against[0].startswith(f"{name} ")
    experiment = Experiment("e", "t", "s", (PANEL, other), agents=("a", "b"))
    assert [experiment.agents_at(panel, panel.settings[0]) for panel in experiment.panels] == [("a", "b"), ("a2", "b")]


def test_the_published_errors_are_those_of_the_data_files() -> None:
    # 500 runs: multiples of 0.2 %. The exploration of UCBE-T by hand: 9900 / (10 / 0.05^2), as the program computes it.
    for errors in (*PUBLISHED.values(), PUBLISHED_UCBEV):
        assert all(round(5 * percent, 9) == int(round(5 * percent)) for percent in errors.values())
    panel = EXPERIMENTS["augucb-1d"].panels[-1]
    assert panel.variants["UCBE-T"] == "UCBE-T(a=2.475)"
    # 5 (sqrt s + sqrt(s + 0.8/3))^2 / 0.05^2 of s = 0.5, and of 0.6: 2000 (2.5049 + 2.9089) = 10827.7.
    assert panel.variants["UCBEV-T"] == "UCBEV-T(index=bernstein, a=0.8045)"
    (as_published,) = [one for one in EXPERIMENTS["augucb-1d"].claims if one.panels == {"code"}]
    assert {Above("UCBEV-T", 0.414), Below("UCBEV-T", 0.514)} <= set(as_published.statements)


def test_a_confirmed_claim_has_nothing_against_it() -> None:
    judged = verdict(claim(LOWER), a=(10, 10, 10), b=(90, 90, 90))
    assert (judged.against, judged.open) == ((), ())


@pytest.mark.each(
    ("statement", "errors", "expected"),
    [
        # 100 errors in 1,000 runs: the exact interval at level 1 - 0.05 / 3 is about (0.079, 0.125).
        *((Below("a", threshold), 100, v) for threshold, v in ((0.13, CONFIRMED), (0.1, UNDECIDED), (0.07, REFUTED))),
        *((Above("a", threshold), 100, v) for threshold, v in ((0.13, REFUTED), (0.1, UNDECIDED), (0.07, CONFIRMED))),
        # a errs 0.03 more often than b, on other runs: the interval is about 0.03 +- 2.4 sqrt(0.13 / 1000) = +- 0.027.
        *((Close("a", "b", m), 80, v) for m, v in ((0.07, CONFIRMED), (0.04, UNDECIDED), (0.001, REFUTED))),
        # One that errs less is within any margin.
        (Close("a", "b", 0.0), 5, CONFIRMED),
    ],
    ids=str,
)
def test_thresholds_and_margins(statement: Statement, errors: int, expected: Verdict) -> None:
    judged = verdict(claim(statement), a=(errors,) * 3, b=(50,) * 3)
    assert judged.verdict is expected
    assert len(judged.against) == 3 * (expected is REFUTED)
    assert len(judged.open) == 3 * (expected is UNDECIDED)


@pytest.mark.each(
    ("statement", "words"),
    [
        (LOWER, "a better than b"),
        (Close("a", "b", 0.01), "a within 0.01 of b"),
        (Below("a", 0.06), "a below 0.06"),
        (Above("a", 0.06), "a above 0.06"),
    ],
)
def test_statements_in_words(statement: Statement, words: str) -> None:
    panel = Panel("", "arms", (Setting("E", 5000, 1024),), "num_arms")
    assert verdict(claim(statement), panel, a=(60,), b=(55,)).open == (f"{words} at num_arms 1,024",)


@pytest.mark.each("statement", [Lower("a", "b", (100, 300)), Close("a", "b", 0.001, (100, 300))])
def test_only_the_named_points_count(statement: Statement) -> None:
    assert verdict(claim(statement), a=(5, 200, 5), b=(90, 10, 90)).verdict is CONFIRMED
    assert verdict(claim(statement), a=(5, 5, 200), b=(90, 90, 10)).against[0].endswith(" at budget 300")


@pytest.mark.each(
    ("statement", "a", "b"),
    [
        (LOWER, 12, 30),  # discordant runs: p = 0.008, and ten statements ask for 0.005
        (Close("a", "b", 0.055), 80, 50),  # 0.03 +- 1.96 sqrt(0.129 / 1000) ends at 0.052; with 2.81 at 0.062
        (Below("a", 0.07), 54, 0),  # the exact interval ends at 0.0699, then at 0.077
        (Above("a", 0.04), 54, 0),  # it begins at 0.0408, then at 0.036
    ],
    ids=str,
)
def test_more_statements_ask_for_more_evidence(statement: Statement, a: int, b: int) -> None:
    one = Panel("", "one", PANEL.settings[:1])
    ten = Panel("", "ten", tuple(Setting("E", x, x) for x in range(1, 11)))
    assert verdict(claim(statement), one, a=(a,), b=(b,)).verdict is CONFIRMED
    assert verdict(claim(statement), ten, a=(a,) * 10, b=(b,) * 10).verdict is UNDECIDED


def test_environments_are_found_by_their_labels() -> None:
    panel = Panel("", "arms", (Setting("E", 10, 2, {"k": 2}), Setting("E", 10, 3, {"k": 3})), "num_arms")
    labelled = Panel("", "arms", (Setting("E(2)", 10, 2), Setting("E(3)", 10, 3)), "num_arms")
    results = comparison(labelled, a=(10, 90), b=(90, 10))
    judged = judge(claim(LOWER), panel, results, lambda setting: f"E({setting.keywords['k']})")
    assert judged.against == ("a better than b at num_arms 3",)


def within_a_run(**errors: tuple[int, int]) -> Comparison:
    """Agents with so many errors after 50 pulls of 100, and at the end."""
    results: list[Result] = []
    runs: dict[tuple[str, str, int], Runs] = {}
    for number, (agent, counts) in enumerate(errors.items()):
        order = np.arange(RUNS) if number % 2 else np.arange(RUNS)[::-1]
        zeros, none = np.zeros(RUNS, np.int64), np.zeros(2, np.int64)
        half, end = (order >= count for count in counts)
        point = Checkpoint(50, half, np.zeros(RUNS), none)
        episodes = Runs(zeros, zeros, end, np.zeros(RUNS), zeros, zeros > 0, none, checkpoints=(point,))
        for at in (point, None):
            results.append(summarize(agent, "E", 100, episodes, (), (), at))
        runs[agent, "E", 100] = episodes
    return Comparison(tuple(results), runs)


@pytest.mark.each(
    ("statement", "expected", "against"),
    [
        (LOWER, CONFIRMED, ()),  # at the end, unless it says otherwise
        (Lower("a", "b", (50,)), REFUTED, ("a better than b at pulls 50",)),
        (Lower("a", "b", (50, 100)), REFUTED, ("a better than b at pulls 50",)),
        (Close("a", "b", 0.2, (50,)), CONFIRMED, ()),
        (Close("a", "b", 0.05, (50,)), REFUTED, ("a within 0.05 of b at pulls 50",)),
        (Below("a", 0.1), CONFIRMED, ()),
        (Below("a", 0.1, (50,)), REFUTED, ("a below 0.1 at pulls 50",)),
    ],
    ids=str,
)
def test_claims_about_answers_within_a_run(statement: Statement, expected: Verdict, against: tuple[str, ...]) -> None:
    panel = Panel("", "one", (Setting("E", 100, 100),), "checkpoint", 50)
    judged = judge(claim(statement), panel, within_a_run(a=(200, 10), b=(90, 90)), lambda setting: setting.env)
    assert (judged.verdict, judged.against) == (expected, against)


def test_a_claim_about_no_point_of_the_panel() -> None:
    with pytest.raises(ParameterError, match="the claim 'It is so.' refers to no point of 'three budgets'"):
        verdict(claim(Lower("a", "b", (150,))), a=(1, 1, 1), b=(1, 1, 1))


def test_a_claim_about_an_agent_that_did_not_play() -> None:
    with pytest.raises(UnknownNameError, match="unknown result 'c'"):
        verdict(claim(Lower("a", "c")), a=(1, 1, 1), b=(1, 1, 1))


def test_the_best_of_several_is_the_one_that_erred_least_at_the_point() -> None:
    best = BestOf("b or c", ("b", "c"))
    judged = verdict(claim(Lower("a", best)), a=(50, 50, 50), b=(150, 5, 50), c=(150, 150, 52))
    assert judged.against == ("a better than b or c at budget 200",)
    assert judged.open == ("a better than b or c at budget 300",)
    assert verdict(claim(Lower(best, "a")), b=(5, 50, 5), c=(50, 5, 6), a=(90, 90, 90)).verdict is CONFIRMED
    # a errs 0.03 more often than the better of the two, but for rounding as above.
    assert verdict(claim(Close("a", best, 0.01)), a=(80,) * 3, b=(5,) * 3, c=(50,) * 3).verdict is REFUTED


def test_the_best_of_several_counts_as_so_many_statements() -> None:
    # Discordant runs 12 and 30: p = 0.008, enough for one statement and not for ten.
    one = Panel("", "one", PANEL.settings[:1])
    ten = {name: (30 + number,) for number, name in enumerate("bcdefghijk")}
    assert verdict(claim(LOWER), one, a=(12,), b=(30,)).verdict is CONFIRMED
    judged = verdict(claim(Lower("a", BestOf("ten", tuple(ten)))), one, a=(12,), **ten)
    assert judged.verdict is UNDECIDED


@pytest.mark.each(
    ("errors", "expected"),
    # Of 1,000 runs each, 150 and 90 errors: z = 4.1; 100 and 90: 0.8.
    [((150, 5, 90), CONFIRMED), ((90, 5, 150), REFUTED), ((100, 5, 90), UNDECIDED)],
)
def test_an_error_probability_falls(errors: tuple[int, ...], expected: Verdict) -> None:
    judged = verdict(claim(Falls("a", 100, (300,))), a=errors)
    assert judged.verdict is expected
    if expected is REFUTED:
        assert judged.against == ("a lower than at 100, at budget 300",)


def test_a_fall_from_a_point_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="starts at a point that 'three budgets' does not have"):
        verdict(claim(Falls("a", 150, (300,))), a=(1, 1, 1))


def test_a_claim_can_speak_of_some_panels_alone() -> None:
    some = Claim("It is so.", (LOWER,), panels=frozenset({"one"}))
    assert some.speaks_of(Panel("one", "one", PANEL.settings)) and not some.speaks_of(PANEL)
    assert claim(LOWER).speaks_of(PANEL)


def test_agents_can_be_left_out_at_points() -> None:
    slow = Setting("E", 10, 10, without=frozenset({"b"}))
    experiment = Experiment("e", "E", "s", (Panel("", "p", (PANEL.settings[0], slow)),), ("a", "b"))
    assert experiment.agents_at(PANEL, PANEL.settings[0]) == ("a", "b")
    assert experiment.agents_at(PANEL, slow) == ("a",)
    # Where b is left out, nothing that is claimed of it is judged: there is no result of it.
    first, *others = PANEL.settings
    panel = dataclasses.replace(PANEL, settings=(dataclasses.replace(first, without=frozenset({"b"})), *others))
    errors = comparison(a=(60, 20, 10), b=(20, 60, 60))
    known = tuple(row for row in errors.results if (row.agent, row.budget) != ("b", first.budget))
    less = dataclasses.replace(errors, results=known)
    assert judge(claim(LOWER), PANEL, errors, lambda setting: setting.env).verdict is not CONFIRMED
    assert judge(claim(LOWER), panel, less, lambda setting: setting.env).verdict is CONFIRMED


def regrets(half: tuple[float, float], end: tuple[float, float]) -> Comparison:
    """Agents a and b with these simple regrets after 50 pulls of 100 and at the end; b also has the run's parity."""
    zeros, none, right = np.zeros(RUNS, np.int64), np.zeros(2, np.int64), np.ones(RUNS, np.bool_)
    results: list[Result] = []
    runs: dict[tuple[str, str, int], Runs] = {}
    for number, agent in enumerate("ab"):
        noise = number * (np.arange(RUNS) % 2 - 0.5)
        point = Checkpoint(50, right, half[number] + noise, none)
        episodes = Runs(zeros + number, zeros, right, end[number] + noise, zeros, zeros > 0, none, checkpoints=(point,))
        for at in (point, None):
            results.append(summarize(agent, "E", 100, episodes, (), (), at))
        runs[agent, "E", 100] = episodes
    return Comparison(tuple(results), runs)


# The differences have standard error 0.5 / sqrt(999), so that 0.031 is two of them.
@pytest.mark.each(
    ("half", "end", "at", "expected", "against"),
    [
        ((0.0, 0.0), (1.0, 1.04), None, CONFIRMED, ()),
        ((0.0, 0.0), (1.0, 1.02), None, UNDECIDED, ()),
        ((0.0, 0.0), (1.04, 1.0), None, REFUTED, ("a of lower simple regret than b at pulls 100",)),
        ((0.04, 0.0), (1.0, 1.04), (50,), REFUTED, ("a of lower simple regret than b at pulls 50",)),
        # Two statements, at level 97.5 % each: 2.245 standard errors are 0.0355.
        ((0.0, 0.034), (1.0, 1.04), (50, 100), UNDECIDED, ()),
    ],
)
def test_claims_about_simple_regret(
    half: tuple[float, float],
    end: tuple[float, float],
    at: tuple[float, ...] | None,
    expected: Verdict,
    against: tuple[str, ...],
) -> None:
    panel = Panel("", "a run", (Setting("E", 100, 100),), "checkpoint", 50)
    results = regrets(half, end)
    judged = judge(claim(LowerRegret("a", "b", at)), panel, results, lambda setting: setting.env)
    assert (judged.verdict, judged.against) == (expected, against)


def test_runs_of_a_comparison() -> None:
    results = regrets((0.0, 0.25), (1.0, 2.0))
    assert results.regrets("b")[:2].tolist() == [1.5, 2.5]
    assert results.regrets("b", checkpoint=50)[:2].tolist() == [-0.25, 0.75]
    assert results.recommendations("a").tolist() == [0] * RUNS and results.recommendations("b").tolist() == [1] * RUNS
    with pytest.raises(UnknownNameError, match="result"):
        results.regrets("c")


def stopping(pulls: dict[str, tuple[int, int]], capped: int = 0) -> Comparison:
    """Agents with these numbers of pulls in even and odd runs; the last runs of each are ended by the cap of 1,000."""
    results: list[Result] = []
    runs: dict[tuple[str, str, int], Runs] = {}
    zeros, none, right = np.zeros(RUNS, np.int64), np.zeros(2, np.int64), np.ones(RUNS, np.bool_)
    for agent, both in pulls.items():
        is_capped = np.arange(RUNS) >= RUNS - capped
        spent = np.where(is_capped, 1000, np.tile(both, RUNS // 2))
        episodes = Runs(zeros, zeros, right, np.zeros(RUNS), spent, is_capped, none)
        results.append(summarize(agent, "E", 1000, episodes, (), ()))
        runs[agent, "E", 1000] = episodes
    return Comparison(tuple(results), runs)


@pytest.mark.each(
    ("statement", "capped", "expected", "against"),
    [
        # Differences of +-10 around 1 and 0: standard error 0.316.
        (Fewer("a", "b"), 0, CONFIRMED, ()),
        (Fewer("b", "a"), 0, REFUTED, ("b in fewer pulls than a at cap 1,000",)),
        (Fewer("a", "c"), 0, UNDECIDED, ()),
        # 0 of 1,000 runs: at most 0.37 %; 20: 1.2 % to 3.1 %.
        (Stops("a", 0.99), 0, CONFIRMED, ()),
        (Stops("a", 0.99), 20, REFUTED, ("a stopping with probability above 0.99 at cap 1,000",)),
        (Stops("a", 0.98), 20, UNDECIDED, ()),
    ],
    ids=str,
)
def test_claims_about_stopping(statement: Statement, capped: int, expected: Verdict, against: tuple[str, ...]) -> None:
    panel = Panel("", "delta = 0.1", (Setting("E", 1000, 1000),), picture="stopping")
    results = stopping({"a": (100, 100), "b": (91, 111), "c": (90, 110)}, capped)
    judged = judge(claim(statement), panel, results, lambda setting: setting.env)
    assert (judged.verdict, judged.against) == (expected, against)
