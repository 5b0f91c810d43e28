"""Experiments as data, well-formed all of them, and verdicts on claims worked out by hand."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import names
from bai_gym.api import agent_source, make_cells, parse_agent
from bai_gym.benchmark.optima import known_optima
from bai_gym.benchmark.protocol import describe, least_budget
from bai_gym.benchmark.sources import EnvSource
from bai_gym.data import registry
from bai_gym.envs.registration import IDS
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.papers import EXPERIMENTS, Claim, Experiment, Judged, Panel, Setting, find, judge
from bai_gym.papers.augucb import PUBLISHED, PUBLISHED_UCBEV
from bai_gym.papers.model import Above, Below, BestOf, Close, Falls, Fewer, Lower, LowerRegret, Statement
from bai_gym.papers.verdicts import Verdict
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Checkpoint, Result, Runs, summarize

CONFIRMED, REFUTED, UNDECIDED = Verdict.CONFIRMED, Verdict.REFUTED, Verdict.UNDECIDED
ENTRIES = {entry.id: entry for entry in IDS}

# ------------------------------------------------------------------------------------------------ the figures


def is_played_here(experiment: Experiment) -> bool:
    """Return whether no environment or agent belongs to a wing that is left out."""
    envs = {setting.env for panel in experiment.panels for setting in panel.settings}
    return envs <= set(ENTRIES) and all(parse_agent(agent)[0] in names() for agent in experiment.agents)


PLAYED = [experiment for experiment in EXPERIMENTS.values() if is_played_here(experiment)]
ALL = pytest.mark.each("experiment", PLAYED, ids=lambda each: str(each.id))


@cache
def label_of(agent: str) -> str:
    """Return the name that an agent gives itself in results."""
    return describe(agent_source(agent).make())


def labels_of(agents: Iterable[str]) -> set[str]:
    return {label_of(agent) for agent in agents}


def agents_of(statement: Statement) -> set[str]:
    if isinstance(statement, Lower | LowerRegret | Fewer):
        sides = {statement.better, statement.worse}
    elif isinstance(statement, Close):
        sides = {statement.agent, statement.reference}
    else:
        sides = {statement.agent}
    return {agent for side in sides for agent in (side.agents if isinstance(side, BestOf) else (side,))}


def test_experiments_are_found_by_their_figures() -> None:
    for prefix, figures in (("shvar", 6), ("gse", 7), ("bayesgap", 4)):
        for number in range(1, figures + 1):
            assert find(f"{prefix}-{number}").source.endswith(f"figure {number}")
    with pytest.raises(UnknownNameError, match=r"'shvar_2'. Did you mean shvar-2"):
        find("shvar_2")


@ALL
def test_what_is_played_exists(experiment: Experiment) -> None:
    titles = [panel.name for panel in experiment.panels]
    assert len(set(titles)) == len(titles)
    assert all(re.fullmatch("[a-z0-9-]*", name) for name in titles)  # they become parts of file names
    for panel in experiment.panels:
        points = [setting.x for setting in panel.settings]
        assert points and points == sorted(set(points))
        assert panel.picture == "errors" or len(panel.settings) == 1
        assert (panel.checkpoints > 0) == (panel.x == "checkpoint")
        for setting in panel.settings:
            entry = ENTRIES[setting.env]
            keywords = dict(setting.keywords)
            if keywords.get("data") in registry.names():
                del keywords["data"]  # as many arms as without, or fewer
            problem = EnvSource(setting.env, keywords).problem if entry.data is None else None  # others take their data
            arms = problem.num_arms if problem else {**entry.keywords, **setting.keywords}["num_arms"]
            axis = {"budget": setting.budget, "num_arms": arms, "setup": entry.keywords.get("setup")}
            axis |= {"checkpoint": setting.budget, **setting.keywords}
            assert setting.x == axis[panel.x]
            assert setting.without <= set(experiment.agents)
            for agent in experiment.agents_at(panel, setting):
                features = problem.num_features if problem else None
                assert least_budget(agent_source(agent).make(), arms, features) <= setting.budget


@ALL
def test_claims_speak_of_what_is_played(experiment: Experiment) -> None:
    # The names of the results are those that the agents give themselves.
    labels = labels_of(experiment.agents)
    assert len(labels) == len(experiment.agents)
    for panel in experiment.panels:
        assert set(panel.variants) <= set(experiment.agents) - {experiment.reference}
        assert labels_of(panel.variants.values()) == {*panel.variants.values()} - labels
    for claim in experiment.claims:
        assert claim.text.endswith(".") and claim.statements
        assert claim.panels is None or claim.panels <= {panel.name for panel in experiment.panels}
        caps = {setting.budget for panel in filter(claim.speaks_of, experiment.panels) for setting in panel.settings}
        assert "within a million pulls" not in claim.text or caps == {10**6}
        for statement in claim.statements:
            told = agents_of(statement)
            assert told <= labels
            assert not isinstance(statement, Lower | LowerRegret | Close | Fewer) or len(told) >= 2
            for panel in filter(claim.speaks_of, experiment.panels):
                points = {setting.x: experiment.agents_at(panel, setting) for setting in panel.settings}
                if panel.x == "checkpoint":
                    (last,) = panel.settings
                    points |= dict.fromkeys(range(panel.checkpoints, last.budget, panel.checkpoints), points[last.x])
                speaks_of = {panel.variants.get(agent, agent) for agent in told}
                judged = {x for x in statement.at or points if x in points and speaks_of <= labels_of(points[x])}
                assert judged and judged >= set(statement.at or ())
                assert not isinstance(statement, Falls) or statement.start in points
    texts = [claim.text for claim in experiment.claims]
    assert len(set(texts)) == len(texts)


@ALL
def test_a_figure_shows_instances_or_is_judged(experiment: Experiment) -> None:
    assert bool(experiment.instances) is not bool(experiment.agents)
    assert bool(experiment.claims) is bool(experiment.agents)
    assert experiment.reference in ("", *experiment.agents)
    few = {"bayesgap-3": 100, "bayesgap-4": 100}  # as in the papers
    few |= dict.fromkeys(("linear-fc-sphere", "linear-fc-transductive", "linear-fc-manyarms"), 20)
    assert experiment.runs >= few.get(experiment.id, 500)
    hypotheses = {claim.text.startswith("Our hypothesis: ") for claim in experiment.claims}
    own = experiment.id.startswith(("ab-", "bayes-", "bbai", "learned", "rue-", "savings", "tails"))
    one_kind = "Hypotheses of this library" if own else "Claims of the paper"
    both = "Claims of the paper, and hypotheses of this library"
    assert experiment.claims_are == (both if True in hypotheses else one_kind)
    assert hypotheses != {True}


@ALL
def test_the_optimum_is_shown_where_it_is_known(experiment: Experiment) -> None:
    if not experiment.optimum:
        return
    for setting in experiment.panels[0].settings:
        cells = make_cells(["Uniform"], setting.env, [setting.budget], 0, setting.keywords)
        assert known_optima(cells)[0]
    assert "BayesOptimal" in experiment.agents


def test_nobody_changes_an_experiment() -> None:
    keywords = {"num_arms": 4}
    setting = Setting("BAI-Custom-v0", 10, 10, keywords)
    keywords["num_arms"] = 5
    assert setting.keywords == {"num_arms": 4}
    for mapping in (setting.keywords, EXPERIMENTS):
        with pytest.raises(TypeError):
            mapping["mine"] = True  # type: ignore[index]


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


# ------------------------------------------------------------------------------------------------ verdicts

RUNS = 1000
LOWER = Lower("a", "b")


def panel_of(points: int, **others: Any) -> Panel:
    """A panel with the budgets 100, 200, ..."""
    return Panel("", "made up", tuple(Setting("E", 100 * x, 100 * x) for x in range(1, points + 1)), **others)


PANEL = panel_of(3)


ZEROS = np.zeros(RUNS, np.int64)
RIGHT = Runs(ZEROS, ZEROS, ZEROS == 0, ZEROS + 0.0, ZEROS, ZEROS > 0, np.zeros(2, np.int64))


def summarized(runs: dict[tuple[str, int], Runs]) -> Comparison:
    outcomes = {(agent, "E", budget): episodes for (agent, budget), episodes in runs.items()}
    results: list[Result] = []
    for key, episodes in outcomes.items():
        results += [summarize(*key, episodes, (), (), point) for point in (*episodes.checkpoints, None)]
    return Comparison(tuple(results), outcomes)


def comparison(panel: Panel, **errors: tuple[int, ...]) -> Comparison:
    """Agents with so many errors at each point; of two agents, the errors fall on different runs as far as possible."""
    runs = {}
    for number, (agent, counts) in enumerate(errors.items()):
        order = np.arange(RUNS) if number % 2 else np.arange(RUNS)[::-1]
        for setting, count in zip(panel.settings, counts, strict=True):
            runs[agent, setting.budget] = dataclasses.replace(RIGHT, correct=order >= count)
    return summarized(runs)


def claim(*statements: Statement, points: Any = "all") -> Claim:
    return Claim("It is so.", statements, points)


def judged_on(results: Comparison, claim: Claim, panel: Panel, more: Comparison | None = None) -> Judged:
    return judge(claim, panel, results, lambda setting: setting.env, more)


def verdict(claim: Claim, panel: Panel = PANEL, **errors: tuple[int, ...]) -> Judged:
    return judged_on(comparison(panel, **errors), claim, panel)


@pytest.mark.each(
    ("points", "a", "b", "expected"),
    [
        ("all", (10, 10, 10), (90, 90, 90), CONFIRMED),
        ("all", (10, 10, 90), (90, 90, 10), REFUTED),
        ("all", (10, 10, 50), (90, 90, 52), UNDECIDED),
        ("all", (10, 52, 90), (90, 50, 10), REFUTED),
        # Of three points: two confirmed are most; two refuted leave at most one.
        ("most", (10, 10, 90), (90, 90, 10), CONFIRMED),
        ("most", (10, 50, 90), (90, 52, 10), UNDECIDED),
        ("most", (50, 90, 90), (52, 10, 10), REFUTED),
        # Half is not most: of four points two refuted ones refute the claim.
        ("most", (10, 10, 90, 90), (90, 90, 10, 10), REFUTED),
        ("most", (10, 10, 50, 90), (90, 90, 52, 10), UNDECIDED),
        ("most", (10, 10, 10, 90), (90, 90, 90, 10), CONFIRMED),
    ],
)
def test_a_claim_on_all_or_most_points(points: str, a: tuple[int, ...], b: tuple[int, ...], expected: Verdict) -> None:
    assert verdict(claim(LOWER, points=points), panel_of(len(a)), a=a, b=b).verdict is expected


def test_more_runs_settle_what_is_undecided_and_nothing_else() -> None:
    first = {"a": (60, 0, 50), "b": (200, 0, 52)}
    question = claim(Lower("a", "b", (100, 300)), Falls("a", 100, (300,)))
    judged = verdict(question, **first)
    assert judged.open == ("a better than b at budget 300", "a lower than at 100, at budget 300")
    assert judged.settled == ()
    assert [(place.x, sorted(names)) for place, names in judged.unsettled] == [
        (300, ["a", "b"]),
        (300, ["a"]),
        (100, ["a"]),
    ]
    more = comparison(PANEL, a=(600, 0, 10), b=(10, 0, 90))  # at 100 the first verdict on a and b counts
    settled = judged_on(comparison(PANEL, **first), question, PANEL, more)
    assert (settled.verdict, settled.open) == (CONFIRMED, ())
    assert settled.settled == tuple(f"{statement}: confirmed" for statement in judged.open)


def test_at_a_point_every_statement_must_hold() -> None:
    # Each statement holds at two of three points, but both at one only.
    both = claim(LOWER, Lower("a", "c"), points="most")
    assert verdict(both, a=(50, 50, 50), b=(150, 150, 5), c=(5, 150, 150)).verdict is REFUTED
    assert verdict(both, a=(50, 50, 50), b=(150, 150, 5), c=(150, 150, 150)).verdict is CONFIRMED


def test_the_points_against_and_open_are_named() -> None:
    judged = verdict(claim(LOWER, Below("a", 0.03), Close("a", "b", 0.001, (300,))), a=(10, 50, 90), b=(90, 52, 10))
    assert judged.verdict is REFUTED
    assert judged.against == (
        "a better than b at budget 300",
        "a below 0.03 at budget 200",
        "a below 0.03 at budget 300",
        "a within 0.001 of b at budget 300",
    )
    assert judged.open == ("a better than b at budget 200",)
    judged = verdict(claim(Above("a", 0.06)), panel_of(1, x="num_arms"), a=(60,))
    assert judged.open == ("a above 0.06 at num_arms 100",)


def test_a_claim_is_judged_on_the_variants_of_its_panel() -> None:
    other = dataclasses.replace(PANEL, variants={"a": "a2"})
    errors = {"a": (10,) * 3, "b": (50,) * 3, "a2": (90,) * 3}
    statements = (LOWER, Below("a", 0.03), Close("a", "b", 0.0), Lower(BestOf("the best", ("a",)), "b"))
    for statement, name in zip(statements, ("a2", "a2", "a2", "the best"), strict=True):
        assert verdict(claim(statement), **errors).verdict is CONFIRMED
        judged = verdict(claim(statement), other, **errors)
        assert judged.verdict is REFUTED and judged.against[0].startswith(f"{name} ")


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
    assert verdict(claim(statement), panel_of(1), a=(a,), b=(b,)).verdict is CONFIRMED
    assert verdict(claim(statement), panel_of(10), a=(a,) * 10, b=(b,) * 10).verdict is UNDECIDED


def test_environments_are_found_by_their_labels() -> None:
    panel = Panel("", "arms", (Setting("F", 100, 2, {"k": "E"}), Setting("F", 200, 3, {"k": "E"})), "num_arms")
    results = comparison(panel_of(2), a=(10, 90), b=(90, 10))
    judged = judge(claim(LOWER), panel, results, lambda setting: str(setting.keywords["k"]))
    assert judged.against == ("a better than b at num_arms 3",)


WITHIN = Panel("", "a run", (Setting("E", 100, 100),), "checkpoint", 50)


def within_a_run() -> Comparison:
    """Agents after 50 pulls of 100, and at the end.

    Errors of a and b: 200 and 50, then 50 and 200, on different runs. Simple regrets: 0.04 and 0, then 1 and 1.04;
    that of b also has the run's parity, so that a difference has the standard error 0.5 / sqrt(999).
    """
    runs = {}
    for agent, errors, regrets, noise in (("a", (200, 50), (0.04, 1.0), 0), ("b", (50, 200), (0.0, 1.04), 1)):
        order = np.arange(RUNS)[:: 1 if noise else -1]
        half, end = (shift + noise * (np.arange(RUNS) % 2 - 0.5) for shift in regrets)
        point = Checkpoint(50, order >= errors[0], half, RIGHT.pulls)
        last = dataclasses.replace(RIGHT, correct=order >= errors[1], simple_regret=end, checkpoints=(point,))
        runs[agent, 100] = dataclasses.replace(last, recommendation=ZEROS + noise)
    return summarized(runs)


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
        (LowerRegret("a", "b"), CONFIRMED, ()),
        (LowerRegret("b", "a"), REFUTED, ("b of lower simple regret than a at pulls 100",)),
        (LowerRegret("a", "b", (50,)), REFUTED, ("a of lower simple regret than b at pulls 50",)),
        (LowerRegret("b", "b"), UNDECIDED, ()),
    ],
    ids=str,
)
def test_claims_within_a_run(statement: Statement, expected: Verdict, against: tuple[str, ...]) -> None:
    judged = judged_on(within_a_run(), claim(statement), WITHIN)
    assert (judged.verdict, judged.against) == (expected, against)


def test_the_best_of_several() -> None:
    best = BestOf("b or c", ("b", "c"))
    judged = verdict(claim(Lower("a", best)), a=(50, 50, 50), b=(150, 5, 50), c=(150, 150, 52))
    assert judged.against == ("a better than b or c at budget 200",)
    assert judged.open == ("a better than b or c at budget 300",)
    assert verdict(claim(Lower(best, "a")), b=(5, 50, 5), c=(50, 5, 6), a=(90, 90, 90)).verdict is CONFIRMED
    assert verdict(claim(Close("a", best, 0.01)), a=(80,) * 3, b=(5,) * 3, c=(50,) * 3).verdict is REFUTED
    # It counts as so many statements. Discordant runs 12 and 30: p = 0.008, enough for one statement and not for ten.
    ten = {name: (30 + number,) for number, name in enumerate("bcdefghijk")}
    judged = verdict(claim(Lower("a", BestOf("ten", tuple(ten)))), panel_of(1), a=(12,), **ten)
    assert judged.verdict is UNDECIDED


@pytest.mark.each(
    ("errors", "expected", "against"),
    # Of 1,000 runs each, 150 and 90 errors: z = 4.1; 100 and 90: 0.8.
    [
        ((150, 5, 90), CONFIRMED, ()),
        ((90, 5, 150), REFUTED, ("a lower than at 100, at budget 300",)),
        ((100, 5, 90), UNDECIDED, ()),
    ],
)
def test_an_error_probability_falls(errors: tuple[int, ...], expected: Verdict, against: tuple[str, ...]) -> None:
    judged = verdict(claim(Falls("a", 100, (300,))), a=errors)
    assert (judged.verdict, judged.against) == (expected, against)


def test_claims_on_points_that_are_not_there() -> None:
    for statement, words in ((Falls("a", 150, (300,)), "starts at a point"), (Below("a", 0.1, (50,)), "no point")):
        with pytest.raises(ParameterError, match=words):
            verdict(claim(statement), a=(1, 1, 1))


def test_a_claim_can_speak_of_some_panels_alone() -> None:
    some = Claim("It is so.", (LOWER,), panels=frozenset({"one"}))
    assert some.speaks_of(Panel("one", "one", PANEL.settings)) and not some.speaks_of(PANEL)
    assert claim(LOWER).speaks_of(PANEL)


def test_agents_can_be_left_out_at_points() -> None:
    """Where b is left out, nothing that is claimed of it is judged: there is no result of it."""
    first, *others = PANEL.settings
    without = dataclasses.replace(first, without=frozenset({"b"}))
    panel = dataclasses.replace(PANEL, settings=(without, *others), variants={"a": "a2"})
    experiment = Experiment("e", "E", "s", (panel,), ("a", "b"))
    assert [experiment.agents_at(panel, setting) for setting in panel.settings[:2]] == [("a2",), ("a2", "b")]
    errors = comparison(PANEL, a2=(60, 20, 10), b=(20, 60, 60))
    known = tuple(row for row in errors.results if (row.agent, row.budget) != ("b", first.budget))
    assert judged_on(dataclasses.replace(errors, results=known), claim(LOWER), panel).verdict is CONFIRMED


@pytest.mark.each(
    ("statement", "expected", "against"),
    [
        # Differences of +-10 around 1 and 0: standard error 0.316.
        (Fewer("a", "b"), CONFIRMED, ()),
        (Fewer("b", "a"), REFUTED, ("b in fewer pulls than a at cap 100",)),
        (Fewer("a", "c"), UNDECIDED, ()),
    ],
    ids=str,
)
def test_claims_about_stopping(statement: Statement, expected: Verdict, against: tuple[str, ...]) -> None:
    runs = {
        (agent, 100): dataclasses.replace(RIGHT, spent=np.tile(pulls, RUNS // 2))
        for agent, pulls in {"a": (50, 50), "b": (41, 61), "c": (40, 60)}.items()
    }
    judged = judged_on(summarized(runs), claim(statement), panel_of(1, picture="stopping"))
    assert (judged.verdict, judged.against) == (expected, against)
