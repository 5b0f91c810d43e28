"""The web page: what goes into it, how it is packed, and that it is the same for the same results."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.analysis.intervals import wilson
from bai_gym.errors import MissingPackageError, ParameterError
from bai_gym.report.canvas import places
from bai_gym.report.page import build, build_page, bundle, collect, standings
from bai_gym.report.page.episodes import facts, pack
from bai_gym.report.page.files import save_tables
from bai_gym.report.page.summary import summary
from bai_gym.results.reader import Judgement, ResultTable
from bai_gym.results.recording import Recording, Stage
from bai_gym.results.result import Result, Runs

pytest.importorskip("plotly")

EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def result(agent: str = "SH", env: str = "BAI-A-v0", budget: int = 100, errors: int = 3, **others: Any) -> Result:
    runs = others.pop("runs", 20)
    values = {
        "error_probability": errors / runs,
        "interval": wilson(errors, runs),
        "simple_regret": 0.1,
        "simple_regret_se": 0.01,
        "mean_pulls": np.array([60.0, 40.0]),
        "unspent": 0.0,
        "sample_complexity": 100.0,
        "sample_quantiles": (100.0,) * 7,
        "truncated": 0,
        "seconds": 0.0,
        "seed": 0,
        "rerun": f"bai-gym run {env}",
    }
    return Result(agent=agent, env=env, budget=budget, runs=runs, errors=errors, **{**values, **others})


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
    several = table(*rows, title="BAI-A-v0, BAI-B-v0", command="\n".join(commands))
    content = collect([several])
    assert [(group.title, group.envs) for group in content.groups] == [
        ("2 environments, seed 0", ["BAI-A-v0", "BAI-B-v0"]),
        ("BAI-A-v0, seed 7", ["BAI-A-v0"]),
    ]
    data = data_of(page_of(several))
    assert [group["commands"] for group in data["groups"]] == [[line] for line in commands]


def test_of_two_evaluations_the_one_with_more_runs_is_shown() -> None:
    content = collect([table(result(runs=20, errors=3)), table(result(runs=50, errors=4)), table(result(runs=30))])
    assert [row.runs for row in content.groups[0].results] == [50]
    assert "2 rows stand in several of the folders" in content.notes[0]
    assert collect([table(result()), table(result())]).notes == ()  # the same file twice is no news


def test_the_end_of_the_runs_is_one_row_with_checkpoints_and_without() -> None:
    later = [result(checkpoint=50, errors=5), result(checkpoint=100)]
    for tables in ([table(result(), result("SR")), table(*later)], [table(*later), table(result(), result("SR"))]):
        (group,) = collect(tables).groups
        rows = sorted((row.agent, row.checkpoint or 0) for row in group.results)
        assert rows == [("SH", 50), ("SH", 100), ("SR", 0)]  # the curve of SH within its runs has its end
        assert [row.agent for row in standings(group, {}).boards[0].standings] == ["SH", "SR"]
    (group,) = collect([table(*later), table(result(runs=50))]).groups
    assert [(row.runs, row.checkpoint) for row in group.results] == [(20, 50), (50, None)]


def test_a_recording_is_shown_once() -> None:
    twice = [recording("SH"), recording("SH"), recording("SR"), recording("SH", run=1)]
    assert [(r.agent, r.run) for r in collect([table(result())], twice).recordings] == [("SH", 0), ("SR", 0), ("SH", 1)]


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
    assert columns["regretSe"] == [0.01, 0.01, None]
    assert columns["share"] == [[6000, 4000]] * 3
    assert [group["knows"][i] for i in columns["knows"]] == [[], ["variances"], []]
    assert [group["reruns"][i] for i in columns["rerun"]] == ["bai-gym run BAI-A-v0"] * 3
    assert group["commands"] == ["bai-gym run BAI-A-v0"]
    assert group["claims"][0]["list"] == [
        {"text": "SH errs less.", "verdict": "refuted", "against": ["SR"], "open": []}
    ]
    assert group["scores"] is None


def test_checkpoints_have_no_rank_and_no_shares() -> None:
    page = page_of(table(result(checkpoint=50, errors=9), result(checkpoint=100)))
    columns = data_of(page)["groups"][0]["rows"]
    assert columns["rank"] == [None, 1] and columns["share"] == [None, [6000, 4000]]


def outcomes(result: Result, rng: np.random.Generator) -> Runs:
    correct = np.ones(result.runs, bool)
    correct[rng.permutation(result.runs)[: result.errors]] = False
    arms = np.where(correct, 0, 1)
    spent = np.full(result.runs, result.budget)
    return Runs(arms, np.zeros_like(arms), correct, 0.1 * ~correct, spent, spent < 0, np.array([60, 40]))


def test_scores_are_over_the_tasks_that_most_agents_share() -> None:
    rng = np.random.default_rng(0)
    rows = [result(agent, env, errors=e) for env in ("BAI-A-v0", "BAI-B-v0") for agent, e in (("SH", 3), ("SR", 5))]
    alone = result("Loner", "BAI-A-v0")
    runs = {(row.agent, row.env, row.budget): outcomes(row, rng) for row in (*rows, alone)}
    (group,) = collect([table(*rows[:2], alone), table(*rows[2:])]).groups
    scores = standings(group, runs).scores(group.agents)
    assert scores is not None
    assert scores["tasks"] == 2 and scores["without"] == ["Loner"]
    # Two tasks: no quarter to leave out, so the interquartile mean is the mean share of right runs.
    assert [(row["agent"], row["iqm"][0]) for row in scores["rows"]] == [(0, 0.85), (1, 0.75)]
    assert {profile["of"] for profile in scores["profiles"]} == {"tasks", "runs"}


def test_without_single_runs_there_is_a_reason_instead_of_scores() -> None:
    (group,) = collect([table(result(env=env), result("SR", env)) for env in ("BAI-A-v0", "BAI-B-v0")]).groups
    scores = standings(group, {}).scores(group.agents)
    assert scores is not None and "only counts are known" in scores["reason"]


# ------------------------------------------------------------------------------------------------ the answer


def answer(*rows: Result, counts_only: bool = False, **others: Any) -> str:
    """Return the sentences; errors are in the first runs, so those of few errors are among those of many."""

    def runs(row: Result) -> Runs:
        correct = np.arange(row.runs) >= row.errors
        arms, spent = np.where(correct, 0, 1), np.full(row.runs, row.budget)
        return Runs(arms, np.zeros_like(arms), correct, 0.1 * ~correct, spent, spent < 0, np.array([60, 40]))

    (group,) = collect([table(*rows, title=", ".join(dict.fromkeys(row.env for row in rows)), **others)]).groups
    outcomes = {} if counts_only else {(row.agent, row.env, row.budget): runs(row) for row in rows}
    return summary(group, standings(group, outcomes))


def rows_of(**errors: list[int]) -> list[Result]:
    """Return the results of agents: their errors in 200 runs on environments A, B, ..."""
    return [
        result(agent, f"BAI-{env}-v0", errors=wrong, runs=200)
        for agent, all_wrong in errors.items()
        for env, wrong in zip("ABC", all_wrong, strict=False)
    ]


def test_the_answer_names_the_best_agent_of_several_environments() -> None:
    text = answer(*rows_of(SH=[20, 20], SR=[80, 90], Uniform=[90, 80]))
    assert re.fullmatch(r"SH is the best agent overall, with a score of 0\.900 \[[0-9., ]*\] over 2 tasks\.", text)


def test_the_answer_says_where_agents_cannot_be_told_apart() -> None:
    text = answer(*rows_of(SH=[20, 20], SR=[21, 20], Uniform=[90, 80]))
    assert "but cannot be told apart from SR. It cannot be told apart from others on any single environment." in text
    text = answer(*rows_of(SH=[20, 20, 20], SR=[21, 150, 150], Uniform=[90, 80, 70]))
    assert "best agent overall" in text and text.endswith("It cannot be told apart from others on BAI-A-v0 (SR).")
    text = answer(*rows_of(SH=[60, 20, 20], SR=[20, 150, 150], Uniform=[190, 80, 70]))
    assert "best agent overall" in text and text.endswith("Others are better on BAI-A-v0 (SR).")


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


def test_stages_are_told_where_the_candidates_change() -> None:
    stages = (Stage(0, (0, 1, 2)), Stage(3, (0, 1, 2)), Stage(6, (0, 2)), Stage(9, (0, 2)))
    told = facts(recording(budget=12, means=np.zeros(3), stages=stages))
    assert told["stages"] == [[6, [1], []]]


def test_arms_that_are_candidates_again_are_told() -> None:
    stages = (Stage(0, (0, 1)), Stage(4, (2,)), Stage(8, None))
    told = facts(recording(budget=12, means=np.zeros(3), stages=stages))
    assert told["stages"] == [[0, [2], []], [4, [0, 1], [2]], [8, [], [0, 1]]]


def test_an_agent_that_asks_for_single_pulls_has_no_stages() -> None:
    stages = tuple(Stage(pull, (pull % 2,)) for pull in range(4))
    assert facts(recording(budget=4, stages=stages))["stages"] == []


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
    assert page.size <= limit and kept > {(agent, 1000, run) for agent in ("SH", "SR") for run in range(3)}
    gone = 12 - len(kept)
    assert {run for agent, budget, run in kept if budget == 4000} == set(range(3 - gone // 2))
    assert ("SH", 4000, 0) in kept and ("SR", 4000, 0) in kept  # always both, to be compared
    assert page.left_out.startswith(f"{gone} of 12 recorded episodes are left out") and page.left_out in page.html
    assert "BAI-A-v0 with budget 4,000 and more" in page.left_out
    none = page_of(rows, recordings=episodes, size_limit=1)
    assert data_of(none)["recorded"]["episodes"] == [] and none.left_out.startswith("12 of 12")


def test_recordings_on_one_instance_share_it() -> None:
    page = page_of(table(result()), recordings=[recording("SH"), recording("SR"), recording("SH", run=1)])
    recorded = data_of(page)["recorded"]
    assert len(recorded["instances"]) == 1  # both runs happen to have the same means
    assert recorded["episodes"][0]["seed"] == "0"


def test_runs_of_one_number_on_different_instances_are_told_apart() -> None:
    """As of evaluations of 10 and of 20 runs: the instances of an evaluation are drawn together."""
    other = dataclasses.replace(recording("Uniform"), variances=np.array([1.0, 2.0]))
    page = page_of(table(result()), recordings=[recording("SH"), other, recording("SR"), recording("SH", run=1)])
    episodes = data_of(page)["recorded"]["episodes"]
    assert {(e["agent"], e["run"]): e["draw"] for e in episodes} == {
        ("SH", 0): 0,
        ("Uniform", 0): 1,
        ("SR", 0): 0,
        ("SH", 1): 0,
    }


# ------------------------------------------------------------------------------------------------ the file


def test_the_same_results_give_the_same_bytes() -> None:
    pages = [page_of(table(result(), result("SR")), recordings=[recording()]) for _ in range(2)]
    assert pages[0] == pages[1] and pages[0].size == len(pages[0].html.encode())


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


@pytest.mark.each("limit", [0, -1])
def test_an_impossible_size_limit_is_refused(limit: int) -> None:
    with pytest.raises(ParameterError, match="positive number of bytes"):
        page_of(table(result()), size_limit=limit)


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


def test_modules_in_a_circle_are_refused(assets: dict[str, str]) -> None:
    assets["a.js"] = 'import { b } from "./b.js";\nexport const a = 1;\n'
    assets["b.js"] = 'import { a } from "./a.js";\nexport const b = 1;\n'
    with pytest.raises(ValueError, match="a.js -> b.js -> a.js"):
        bundle.bundle("a.js")


def test_every_file_of_the_script_is_used() -> None:
    folder = Path(bundle.__file__).parent
    script = build.bundle("main.js")
    for path in folder.rglob("*.js"):
        name = str(path.relative_to(folder))
        assert f"const {bundle.variable_of(name)} = " in script, name
        assert path.read_text().startswith("/** "), f"{name} does not say what it is for"


# ------------------------------------------------------------------------------------------------ colours


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(a: str, b: str) -> float:
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.each("theme", ["light", "dark"])
def test_letters_stand_out(theme: str) -> None:
    css = bundle.read_asset("page.css")
    first, dark = css.index(":root {"), css.index(':root[data-theme="dark"]')
    blocks = [css[first : css.index("}", first)], *([css[dark : css.index("}", dark)]] if theme == "dark" else [])]
    colours: dict[str, str] = {}
    for block in blocks:
        colours.update(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
    pairs = [
        (ink, ground) for ink in ("text", "soft", "faint", "accent") for ground in ("page", "raised", "line-faint")
    ]
    pairs += [(word, f"{word}-wash") for word in ("good", "bad", "open")] + [("accent-text", "accent")]
    low = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: value for pair, value in low.items() if value < 4.5} == {}  # WCAG 2.2, 1.4.3
    assert contrast(colours["line-strong"], colours["raised"]) >= 3  # edges of controls: 1.4.11


def test_shares_are_those_of_true_ranks_where_these_are_known() -> None:
    rows = [result("SH", mean_pulls_by_rank=(90.0, 10.0)), result("SR")]
    (group,) = data_of(page_of(table(*rows)))["groups"]
    assert group["rows"]["share"] == [[9000, 1000], [6000, 4000]] and group["rows"]["byRank"] == [True, False]


def test_agents_that_stop_have_stopping_times_and_tests(tmp_path: Path) -> None:
    low, high = (20.0, 20.0, 25.0, 32.5, 38.5, 39.7, 40.0), (70.0, 90.0, 100.0, 100.0, 100.0, 100.0, 100.0)
    rows = [
        result("A", runs=4, errors=0, sample_complexity=27.5, sample_quantiles=low),
        result("B", runs=4, errors=1, sample_complexity=92.5, sample_quantiles=high, truncated=3),
        result("C", env="BAI-B-v0"),
    ]
    spent = {"A": [40, 20, 20, 30], "B": [100, 100, 100, 70]}
    zeros = np.zeros(4, int)
    runs = {
        (row.agent, row.env, row.budget): Runs(
            zeros, zeros, np.arange(4) >= row.errors, zeros + 0.0, np.array(spent[row.agent]), zeros > 0, row.mean_pulls
        )
        for row in rows[:2]
    }
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
    runs = {
        (row.agent, row.env, row.budget): dataclasses.replace(
            outcomes(row, np.random.default_rng(0)), correct=np.arange(row.runs) >= row.errors
        )
        for row in rows
    }
    content = collect([table(*rows)])
    paths = save_tables(content, [standings(content.groups[0], runs)], tmp_path)
    (text,) = (path.read_text() for path in paths if path.name.endswith("-paper.tex"))
    assert "agent & BAI-A-v0 & BAI-B-v0 \\\\" in text and "A & \\textbf{0.00" in text and "B & 1.00" in text
    del runs["A", "BAI-A-v0", 100]
    assert standings(content.groups[0], runs).paper is None
