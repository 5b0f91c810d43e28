"""The web page: what goes into it, how it is packed, and that it is the same for the same results."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import zlib
from functools import partial
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.analysis.intervals import wilson
from bai_gym.errors import MissingPackageError
from bai_gym.page import build, build_page, bundle, collect, standings
from bai_gym.page.episodes import facts, pack
from bai_gym.page.files import save_tables
from bai_gym.page.summary import summary
from bai_gym.report import canvas
from bai_gym.report.canvas import places
from bai_gym.results.reader import Judgement, ResultTable
from bai_gym.results.recording import Recording, Stage
from bai_gym.results.result import Result, Runs

pytest.importorskip("plotly")

result = partial(
    run_path(str(Path(__file__).parents[1] / "report" / "rows.py"))["result"],
    env="BAI-A-v0",
    budget=100,
    runs=20,
    simple_regret=0.1,
    simple_regret_se=0.01,
    mean_pulls=np.array([60.0, 40.0]),
    sample_complexity=100.0,
    sample_quantiles=(100.0,) * 7,
    seconds=0.0,
    rerun="bai-gym run BAI-A-v0",
)
EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def table(*results: Result, title: str | None = None, **others: Any) -> ResultTable:
    return ResultTable(Path("results.parquet"), results, title=results[0].env if title is None else title, **others)


def recording(agent: str = "SH", budget: int = 4, run: int = 0, rewards: Any = None, **others: Any) -> Recording:
    values = np.arange(float(budget)) if rewards is None else np.asarray(rewards, float)
    arms = others.pop("arms", np.arange(values.size) % 2)
    return Recording(
        agent=agent,
        env=others.pop("env", "BAI-A-v0"),
        budget=budget,
        run=run,
        seed=others.pop("seed", 0),
        knows=(),
        task="the best arm",
        arms=arms,
        rewards=values,
        stages=others.pop("stages", (Stage(0, None),)),
        means=others.pop("means", np.array([0.5, 0.25])),
        variances=np.array([1.0, 1.0]),
        recommendation=(0,),
        correct_recommendation=(0,),
        correct=True,
        simple_regret=0.0,
    )


def page_of(*tables: ResultTable, recordings: Any = (), **others: Any) -> build.Page:
    content = collect(tables, recordings)
    return build_page(content, [standings(group, {}) for group in content.groups], **others)


def data_of(page: build.Page) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    assert found
    return json.loads(found[1])


def unpack(form: dict[str, Any], text: str, pulls: int) -> tuple[np.ndarray, np.ndarray]:
    """What the page's script does, said once more."""
    data = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)

    def wide(start: int) -> np.ndarray:
        return data[start : start + pulls] * 256.0 + data[start + pulls : start + 2 * pulls]

    arms = wide(0) if form["wide"] else data[:pulls]
    start = 2 * pulls if form["wide"] else pulls
    if "levels" in form:
        return arms, np.array(form["levels"])[data[start : start + pulls]]
    low, high = form["range"]
    return arms, low + (high - low) * wide(start) / 65535


# ------------------------------------------------------------------------------------------------ what is looked at


def test_files_of_one_seed_are_one_sweep_and_panels_stay_alone() -> None:
    runs = [table(result(env="BAI-A-v0")), table(result(env="BAI-B-v0"))]
    panel = table(result(env="BAI-A-v0"), result(env="BAI-B-v0"), title="Figure 1: (a)")
    other = table(result(env="BAI-A-v0", seed=7))
    content = collect([panel, *runs, other])
    assert [(group.title, group.envs) for group in content.groups] == [
        ("2 environments, seed 0", ["BAI-A-v0", "BAI-B-v0"]),
        ("BAI-A-v0, seed 7", ["BAI-A-v0"]),
        ("Figure 1: (a)", ["BAI-A-v0", "BAI-B-v0"]),
    ]


def test_several_environments_and_seeds_in_one_file_are_sweeps() -> None:
    rows = [result(env="BAI-A-v0"), result(env="BAI-B-v0"), result(env="BAI-A-v0", seed=7)]
    commands = ["bai-gym run BAI-A-v0 --seed 0", "bai-gym run BAI-A-v0 --seed 7"]
    groups = data_of(page_of(table(*rows, title="BAI-A-v0, BAI-B-v0", command="\n".join(commands))))["groups"]
    assert [(group["title"], group["envs"], group["commands"]) for group in groups] == [
        ("2 environments, seed 0", ["BAI-A-v0", "BAI-B-v0"], commands[:1]),
        ("BAI-A-v0, seed 7", ["BAI-A-v0"], commands[1:]),
    ]


def test_what_is_there_twice_is_shown_once() -> None:
    """Of two evaluations, the one with more runs; a recording."""
    content = collect([table(result(runs=20, errors=3)), table(result(runs=50, errors=4)), table(result(runs=30))])
    assert [row.runs for row in content.groups[0].results] == [50]
    assert "2 rows stand in several of the folders" in content.notes[0]
    twice = [recording("SH"), recording("SH"), recording("SR"), recording("SH", run=1)]
    content = collect([table(result()), table(result())], twice)
    assert content.notes == ()  # the same file twice is no news
    assert [(r.agent, r.run) for r in content.recordings] == [("SH", 0), ("SR", 0), ("SH", 1)]


def test_the_end_of_the_runs_is_one_row_with_checkpoints_and_without() -> None:
    later = [result(checkpoint=50, errors=5), result(checkpoint=100)]
    for tables in ([table(result(), result("SR")), table(*later)], [table(*later), table(result(), result("SR"))]):
        (group,) = collect(tables).groups
        rows = sorted((row.agent, row.checkpoint or 0) for row in group.results)
        assert rows == [("SH", 50), ("SH", 100), ("SR", 0)]  # the curve of SH within its runs has its end
        assert [row.agent for row in standings(group, {}).boards[0].standings] == ["SH", "SR"]
    (group,) = collect([table(*later), table(result(runs=50))]).groups
    assert [(row.runs, row.checkpoint) for row in group.results] == [(20, 50), (50, None)]


def test_the_page_holds_the_numbers() -> None:
    rows = [
        result("SH", budget=50, errors=8),
        result("SH", errors=3, knows=("variances",), notes=("mind the gap",)),
        result("SR", errors=5, simple_regret_se=float("nan")),
    ]
    claims = (Judgement("SH errs less.", "refuted", ("SR",), ()),)
    page = page_of(
        table(
            *rows, optima={("BAI-A-v0", 100): 0.95}, claims=claims, claims_are="Claims", command="bai-gym run BAI-A-v0"
        )
    )
    (group,) = data_of(page)["groups"]
    columns = group["rows"]
    assert group["agents"] == ["SH", "SR"] and group["envs"] == ["BAI-A-v0"] and group["arms"] == [2]
    assert columns["errors"] == [8, 3, 5] and columns["budget"] == [50, 100, 100]
    assert columns["rank"] == [1, 1, 2]
    # 3 and 5 errors in 20 runs are not told apart, so each of the two may be first or second.
    assert columns["rankLow"] == [1, 1, 1] and columns["rankHigh"] == [1, 2, 2]
    assert columns["gap"] == [None, pytest.approx(0.15 - 0.05), pytest.approx(0.25 - 0.05)]
    assert [columns[name][1:] for name in ("gapLow", "gapHigh")] == [
        [pytest.approx(end - 0.05) for end in ends] for ends in zip(wilson(3, 20), wilson(5, 20), strict=True)
    ]
    assert columns["regretSe"] == [0.01, 0.01, None]
    assert columns["share"] == [[6000, 4000]] * 3
    assert [group["knows"][i] for i in columns["knows"]] == [[], ["variances"], []]
    assert [group["reruns"][i] for i in columns["rerun"]] == ["bai-gym run BAI-A-v0"] * 3
    assert group["commands"] == ["bai-gym run BAI-A-v0"]
    assert group["claims"][0]["list"] == [
        {"text": "SH errs less.", "verdict": "refuted", "against": ["SR"], "open": []}
    ]
    assert group["scores"] is None


def test_shares_are_of_the_end_and_of_true_ranks_where_these_are_known() -> None:
    rows = [result(checkpoint=50, errors=9), result(checkpoint=100, mean_pulls_by_rank=(90.0, 10.0))]
    rows += [result("SR", errors=5)]
    columns = data_of(page_of(table(*rows)))["groups"][0]["rows"]
    assert columns["rank"] == [None, 1, 2] and columns["share"] == [None, [9000, 1000], [6000, 4000]]
    assert columns["byRank"][1:] == [True, False]


def outcomes(*rows: Result) -> dict[tuple[str, str, int], Runs]:
    """Return single runs; errors are in the first ones, so those of few errors are among those of many."""
    found = {}
    for row in rows:
        correct = np.arange(row.runs) >= row.errors
        arms, spent = np.where(correct, 0, 1), np.full(row.runs, row.budget)
        found[row.agent, row.env, row.budget] = Runs(
            arms, np.zeros_like(arms), correct, 0.1 * ~correct, spent, spent < 0, np.array([60, 40])
        )
    return found


def test_scores_are_over_the_tasks_that_most_agents_share() -> None:
    rows = [result(agent, env=env, errors=e) for env in ("BAI-A-v0", "BAI-B-v0") for agent, e in (("SH", 3), ("SR", 5))]
    alone = result("Loner")
    (group,) = collect([table(*rows[:2], alone), table(*rows[2:])]).groups
    scores = standings(group, outcomes(*rows, alone)).scores(group.agents)
    assert scores is not None
    assert scores["tasks"] == 2 and scores["without"] == ["Loner"]
    # Two tasks: no quarter to leave out, so the interquartile mean is the mean share of right runs.
    assert [(row["agent"], row["iqm"][0]) for row in scores["rows"]] == [(0, 0.85), (1, 0.75)]
    assert {profile["of"] for profile in scores["profiles"]} == {"tasks", "runs"}
    scores = standings(group, {}).scores(group.agents)
    assert scores is not None and "only counts are known" in scores["reason"]


# ------------------------------------------------------------------------------------------------ the answer


def answer(*rows: Result, counts_only: bool = False, **others: Any) -> str:
    """Return the sentences."""
    (group,) = collect([table(*rows, title=", ".join(dict.fromkeys(row.env for row in rows)), **others)]).groups
    return summary(group, standings(group, {} if counts_only else outcomes(*rows)))


def rows_of(**errors: list[int]) -> list[Result]:
    """Return the results of agents: their errors in 200 runs on environments A, B, ..."""
    return [
        result(agent, env=f"BAI-{env}-v0", errors=wrong, runs=200)
        for agent, all_wrong in errors.items()
        for env, wrong in zip("ABC", all_wrong, strict=False)
    ]


@pytest.mark.each(
    ("errors", "said"),
    [
        (([20, 20], [80, 90], [90, 80]), r"SH is the best agent overall, with a score of 0\.900 \[.*\] over 2 tasks\."),
        (
            ([20, 20], [21, 20], [90, 80]),
            r".*cannot be told apart from SR\. It cannot be told apart from others on any single environment.*",
        ),
        (([20, 20, 20], [21, 150, 150], [90, 80, 70]), r".*It cannot be told apart from others on BAI-A-v0 \(SR\)\."),
        (
            ([60, 20, 20], [20, 150, 150], [190, 80, 70]),
            r".*best agent overall.*Others are better on BAI-A-v0 \(SR\)\.",
        ),
    ],
)
def test_the_answer_names_the_best_agent_of_several_environments(errors: tuple[list[int], ...], said: str) -> None:
    assert re.fullmatch(said, answer(*rows_of(**dict(zip(("SH", "SR", "Uniform"), errors, strict=True)))))


def test_the_best_of_many_agents_needs_more_evidence() -> None:
    # SR errs in six runs more of 400, sqrt(6) standard errors: beyond 1.96 for one rival, not beyond 2.73 for eight.
    far = {f"Uniform{number}": [150, 150] for number in range(7)}
    for others, best in (({}, True), (far, False)):
        said = answer(*rows_of(SH=[20, 20], SR=[23, 23], **others))
        assert ("SH is the best agent overall" in said) is best


def test_the_answer_of_one_environment_is_the_lowest_error() -> None:
    better, worse = result("SHVar", errors=20, runs=200, knows=("variances",)), result("SH", errors=90, runs=200)
    assert answer(better, worse, result("SR", errors=95, runs=200)) == (
        "SHVar (oracle knowledge: variances) has the lowest error probability, 0.100 [0.066, 0.149]. "
        "Of those without oracle knowledge, SH is first."
    )
    budgets = [
        result(a, budget=n, errors=e, runs=200)
        for n, gap in ((100, 90), (400, 1))
        for a, e in (("SH", 9), ("SR", 9 + gap))
    ]
    text = answer(*budgets)
    assert ", averaged over 2 budgets. It cannot be told apart from others with 400 pulls (SR)." in text
    reversed_ = [
        result(a, budget=n, errors=e, runs=200)
        for n, a, e in ((100, "SH", 9), (100, "SR", 99), (400, "SH", 9), (400, "SR", 8))
    ]
    assert "over 2 budgets. With the largest budget, 400 pulls, SR has the lowest, 0.040. It" in answer(*reversed_)
    # Three runs that only one of them loses: p = 0.25.
    assert "but cannot be told apart from SR." in answer(*rows_of(SH=[20], SR=[23]))


def test_the_answer_without_single_runs_counts_the_cases() -> None:
    assert answer(*rows_of(SH=[20, 20, 60], SR=[90, 21, 20]), counts_only=True) == (
        "SH has the lowest error probability in 2 of 3 cases; it can be told apart from all others in 1 of these."
    )


def test_the_answer_of_agents_that_stop_is_about_pulls() -> None:
    often = {"sample_quantiles": (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0)}
    rows = [result(agent, sample_complexity=pulls, **often) for agent, pulls in (("LUCB", 30.0), ("UGapEc", 25.0))]
    assert answer(*rows) == "UGapEc stops earliest, after 25 pulls on average."


def test_the_answer_begins_with_claims_and_one_agent_has_none() -> None:
    claims = tuple(Judgement("A claim.", word) for word in ("confirmed", "confirmed", "undecided"))
    text = answer(result(errors=2), result("SR", errors=3), claims=claims)
    assert text.startswith("Of 3 claims, 2 confirmed and 1 undecided. SH has the lowest error probability, ")
    assert answer(result()) == ""


# ------------------------------------------------------------------------------------------------ recordings


def test_few_different_rewards_are_exact() -> None:
    rewards = [0.1, 0.7, 0.1, -3.0]
    form, text = pack(recording(rewards=rewards))
    arms, read = unpack(form, text, 4)
    assert arms.tolist() == [0, 1, 0, 1] and read.tolist() == rewards
    assert form["levels"] == [-3.0, 0.1, 0.7]


@given(
    scale=st.floats(1e-300, 1e300),
    shift=st.floats(-1.0, 1.0),
    arms=st.sampled_from([2, 256, 257, 60000]),
    seed=st.integers(0, 100),
)
def test_other_rewards_are_off_by_little(scale: float, shift: float, arms: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rewards = scale * (shift + rng.normal(size=400))
    chosen = rng.integers(arms, size=400)
    form, text = pack(recording(rewards=rewards, arms=chosen, means=np.zeros(arms)))
    read_arms, read = unpack(form, text, 400)
    assert (read_arms == chosen).all()
    # Half a step of 65,535 over the range, and rounding of the last digits.
    assert np.abs(read - rewards).max() <= np.ptp(rewards) / 131070 * (1 + 1e-6)


@pytest.mark.each(
    ("stages", "told"),
    [
        # Where candidates change: the pull, those that leave, those that come back.
        ((Stage(0, (0, 1, 2)), Stage(3, (0, 1, 2)), Stage(6, (0, 2)), Stage(9, (0, 2))), [[6, [1], []]]),
        ((Stage(0, (0, 1)), Stage(4, (2,)), Stage(8, None)), [[0, [2], []], [4, [0, 1], [2]], [8, [], [0, 1]]]),
        # An agent that asks for single pulls has no stages.
        (tuple(Stage(pull, (pull % 2,)) for pull in range(12)), []),
    ],
)
def test_stages_are_told_where_the_candidates_change(stages: tuple[Stage, ...], told: list[Any]) -> None:
    assert facts(recording(budget=12, means=np.zeros(3), stages=stages))["stages"] == told


def test_recordings_that_do_not_fit_are_left_out_largest_budgets_and_later_runs_first() -> None:
    rng = np.random.default_rng(0)
    episodes = [
        recording(agent, budget, run, rewards=rng.normal(size=budget), seed=2**60)
        for agent in ("SH", "SR")
        for budget in (1000, 4000)
        for run in (0, 1, 2)
    ]
    rows = table(result())
    bare, whole = page_of(rows), page_of(rows, recordings=episodes)
    assert whole.left_out == "" and len(data_of(whole)["recorded"]["episodes"]) == 12
    limit = bare.size + (whole.size - bare.size) * 2 // 3
    page = page_of(rows, recordings=episodes, size_limit=limit)
    kept = {(e["agent"], e["budget"], e["run"]) for e in data_of(page)["recorded"]["episodes"]}
    runs = range(3 - (12 - len(kept)) // 2)  # of the larger budget; always of both agents, to be compared
    assert page.size == len(page.html.encode()) <= limit and 0 < len(runs) < 3
    assert kept == {(a, n, run) for a in ("SH", "SR") for n, few in ((1000, range(3)), (4000, runs)) for run in few}
    assert f"{12 - len(kept)} of 12 recorded episodes" in page.left_out and "budget 4,000" in page.left_out
    assert page.left_out in page.html
    assert data_of(page_of(rows, recordings=episodes, size_limit=1))["recorded"]["episodes"] == []


def test_runs_of_one_number_on_different_instances_are_told_apart() -> None:
    """As of evaluations of 10 and of 20 runs: the instances of an evaluation are drawn together."""
    other = dataclasses.replace(recording("Uniform"), variances=np.array([1.0, 2.0]))
    played = [recording("SH"), other, recording("SR"), recording("SH", run=1)]
    recorded = data_of(page_of(table(result()), recordings=played))["recorded"]
    draws = [(episode["agent"], episode["run"], episode["draw"]) for episode in recorded["episodes"]]
    assert sorted(draws) == [("SH", 0, 0), ("SH", 1, 0), ("SR", 0, 0), ("Uniform", 0, 1)]
    assert len(recorded["instances"]) == 1  # all happen to have the same means
    assert recorded["episodes"][0]["seed"] == "0"


# ------------------------------------------------------------------------------------------------ the file


def test_names_are_data_and_never_markup() -> None:
    hostile = table(
        result(EVIL, knows=(EVIL,), notes=(EVIL, "{{ script }}"), rerun=EVIL),
        title=EVIL,
        command=EVIL,
        claims=(Judgement(EVIL, "confirmed", (EVIL,), (EVIL,)),),
    )
    page = page_of(hostile, recordings=[dataclasses.replace(recording(EVIL), arm_names=(EVIL, "\u2028"))])
    assert "<img" not in page.html and "alert(2)" not in re.sub(r'id="data">.*?</script>', "", page.html)
    harmless = page_of(table(result()))
    assert page.html.count("</script>") == harmless.html.count("</script>")
    assert data_of(page)["groups"][0]["agents"] == [EVIL]
    assert "{{ script }}" in data_of(page)["groups"][0]["notes"]


def test_nothing_is_asked_of_a_network() -> None:
    html = page_of(table(result())).html
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    assert "unsafe-inline" not in rules["script-src"] and "unsafe-eval" not in rules["script-src"]
    assert rules["img-src"] == "data: blob:"
    own = re.sub(r'<script type="(text/plain|application/json)".*?</script>', "", html, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\s\"']+", own)) == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_missing_plotly_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    build.plotly_source.cache_clear()
    build.plotly_text.cache_clear()

    def files(package: str) -> Path:
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(build.resources, "files", files)
    with pytest.raises(MissingPackageError, match=r'needs plotly.*pip install "bai-gym\[plots\]"'):
        build.plotly_text()


def test_tables_of_equal_titles_have_names_of_their_own(tmp_path: Path) -> None:
    panels = [table(result(), title=title) for title in ("A: b/c", "A: b c", "???")]
    content = collect(panels)
    paths = save_tables(content, [standings(group, {}) for group in content.groups], tmp_path)
    names = {"A-b-c", "A-b-c-2", "results"}
    assert {path.stem for path in paths} == names | {f"{name}-leaderboard" for name in names}
    assert {path.suffix for path in paths} == {".md", ".csv", ".tex"}
    assert all(path.exists() and "SH" in path.read_text() for path in paths)


# ------------------------------------------------------------------------------------------------ the script's files


@pytest.fixture
def assets(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Files of a made-up script."""
    files: dict[str, str] = {}
    monkeypatch.setattr(bundle, "read_asset", files.__getitem__)
    return files


def test_modules_become_one_script(assets: dict[str, str]) -> None:
    assets["main.js"] = 'import { b } from "./in/b.js";\n\nb();\n'
    assets["in/b.js"] = 'import { A } from "../a.js";\n\nexport function b() {\n  return A;\n}\n'
    assets["a.js"] = "const hidden = 1;\nexport const A = hidden;\n"
    script = bundle.bundle("main.js")
    assert "export" not in script and "import" not in script
    assert script.index("module_a =") < script.index("module_in_b =") < script.index("module_main =")
    assert "const { A } = module_a;" in script and "return { b };" in script
    assets["a.js"] = 'import { b } from "./in/b.js";\nexport const A = 1;\n'
    with pytest.raises(ValueError, match="a.js -> in/b.js -> a.js"):
        bundle.bundle("a.js")


# ------------------------------------------------------------------------------------------------ some numbers


def test_agents_that_stop_have_stopping_times_and_tests(tmp_path: Path) -> None:
    low, high = (20.0, 20.0, 25.0, 32.5, 38.5, 39.7, 40.0), (70.0, 90.0, 100.0, 100.0, 100.0, 100.0, 100.0)
    rows = [
        result("A", runs=4, errors=0, sample_complexity=27.5, sample_quantiles=low),
        result("B", runs=4, errors=1, sample_complexity=92.5, sample_quantiles=high, truncated=3),
        result("C", env="BAI-B-v0"),
    ]
    runs = outcomes(*rows[:2])
    for (agent, *_), spent in zip(runs, ([40, 20, 20, 30], [100, 100, 100, 70]), strict=True):
        key = agent, "BAI-A-v0", 100
        runs[key] = dataclasses.replace(runs[key], spent=np.array(spent))
    content = collect([table(*rows)])
    found = standings(content.groups[0], runs)
    (group,) = data_of(build_page(content, [found]))["groups"]
    assert group["rows"]["stopping"] == [[[20, 30, 40], [0.5, 0.25, 0]], [[70, 100], [0.75, 0.75]], None]
    less, more, other = group["rows"]["morePulls"]
    assert less is None and other is None
    # Differences 60, 80, 80, 40: mean 65, standard deviation 19.15, half width 3.182 x 19.15 / 2; p is that of 4 signs.
    assert more == [65.0, pytest.approx(34.53, abs=0.01), pytest.approx(95.47, abs=0.01), 0.125]
    assert group["rows"]["pullsMedian"][0] == 25.0
    (path,) = (path for path in save_tables(content, [found], tmp_path) if path.name.endswith("-pulls.md"))
    assert "| B | A | 100 | +65 [" in path.read_text()


def test_an_agent_looks_the_same_in_all_comparisons() -> None:
    """In palette.js and in canvas.py the number of an agent decides its look."""
    page = page_of(table(result("A"), result("B")), table(result("C"), result("B"), result("A"), title="figure 1"))
    groups = data_of(page)["groups"]
    assert [dict(zip(group["agents"], group["looks"], strict=True)) for group in groups] == [
        {"A": 0, "B": 1},
        {"C": 2, "B": 1, "A": 0},
    ]
    assert places(["B", "D"], ["A", "B"]) == {"A": 0, "B": 1, "D": 2}
    palette = (Path(bundle.__file__).parent / "palette.js").read_text(encoding="utf-8")

    def listed(name: str) -> list[str]:
        return [word.strip().strip('"') for word in re.search(rf"{name} = \[(.*?)\]", palette)[1].split(",")]  # type: ignore[index]

    # In place of black, the colour of the text.
    assert [colour.upper() for colour in listed("COLOURS")] == [*canvas.COLOURS[:-1], "NULL"]
    assert len(listed("MARKERS")) == len(canvas.MARKERS) and len(listed("DASHES")) == len(canvas.DASHES)


def test_named_arms_are_shown() -> None:
    named = {"arm_names": ("red", "blue"), "arm_means": (0.5, 0.25), "recommended": (15, 5), "rewards": "binary"}
    (group,) = data_of(page_of(table(result(**named), result(env="BAI-B-v0"))))["groups"]
    assert group["armNames"] == [["red", "blue"], []] and group["rewards"] == ["binary", ""]
    assert group["best"] == {"BAI-A-v0": "Best of BAI-A-v0: 'red', with a mean of 0.5; the next mean is 0.25."}
    assert group["rows"]["favourite"] == [["red", 0.75], None]


def test_the_table_of_a_paper_needs_paired_runs(tmp_path: Path) -> None:
    rows = [
        result(agent, env=env, errors=errors)
        for env in ("BAI-A-v0", "BAI-B-v0")
        for agent, errors in (("A", 0), ("B", 20))
    ]
    runs = outcomes(*rows)
    content = collect([table(*rows)])
    paths = save_tables(content, [standings(content.groups[0], runs)], tmp_path)
    (text,) = (path.read_text() for path in paths if path.name.endswith("-paper.tex"))
    assert "agent & BAI-A-v0 & BAI-B-v0 \\\\" in text and "A & \\textbf{0.00" in text and "B & 1.00" in text
    del runs["A", "BAI-A-v0", 100]
    assert standings(content.groups[0], runs).paper is None
