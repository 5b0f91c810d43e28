"""What the commands print and write."""

from __future__ import annotations

import csv
import dataclasses
import io
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from bai_gym import agents, compare
from bai_gym.api import agent_source
from bai_gym.auditing import GALLERY, Plan
from bai_gym.benchmark import sources
from bai_gym.cli import audits, console, reproduce
from bai_gym.cli.defaults import default_agents
from bai_gym.cli.main import app
from bai_gym.datasets import CompletedRatings, registry
from bai_gym.envs.registration import IDS
from bai_gym.errors import ParameterError
from bai_gym.experiments import EXPERIMENTS, Claim, Experiment, Panel, Setting
from bai_gym.experiments.model import Fewer, Stops
from bai_gym.problems import movielens
from bai_gym.sampling import compiler
from bai_gym.theory import optimal_value

SMALL = ("run", "BAI-Custom-v0", "--budget", "40", "--runs", "30")
BERNOULLI = {"means": [0.9, 0.3, 0.1], "distribution": "bernoulli"}
Command = Callable[..., tuple[str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Run a command in this process, in an empty folder and without data, and return what it printed."""
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "derived"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(console.OUT, "width", console.FILE_WIDTH)
    monkeypatch.setattr(compiler, "NOTE_AFTER", 600.0)  # what is compiled depends on what ran before on this machine
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[str, str]:
        assert not app(list(words), standalone_mode=False)
        return capsys.readouterr()

    return run


# ------------------------------------------------------------------------------------------------ plan


def test_a_plan_is_a_page_tables_and_a_figure(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("plan", "BAI-Pilot-v0", "--regret", "0.05", "--certainty", "0.5", "--agent", "Uniform")
    out, _ = command(*words, "--out", "plans", "--curve")
    page, table, curve = (
        (tmp_path / "plans" / name).read_text(encoding="utf-8") for name in ("plan.html", "plan.csv", "plan-curves.csv")
    )
    rows, points = list(csv.DictReader(io.StringIO(table))), list(csv.DictReader(io.StringIO(curve)))
    assert "<svg" in page and "The target is met without further pulls: decide now, for " in page
    assert [(row["agent"], row["budget"]) for row in rows][:1] == [("decide now", "0")] and rows[1][
        "agent"
    ] == "Uniform"
    assert all(float(row["value"]) <= float(row["upper"]) <= 0.05 and row["reached"] == "yes" for row in rows)
    assert float(rows[0]["quantile_80"]) <= float(rows[0]["quantile_95"])
    assert all(float(row["lower"]) <= float(row["value"]) <= float(row["upper"]) for row in points)
    assert "50 % quantile of the simple regret" in " ".join(out.split()) and "page: plans/plan.html" in out
    bare, _ = command(*words)
    assert "[90 %]" in out and "[90 %]" not in bare


# ------------------------------------------------------------------------------------------------ audit


def test_an_audit_prints_its_verdict_and_leaves_what_repeats_it(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("audit", "gk16-plugin", "--cap", "60", "--arms", "2", "--out", "found")
    out, _ = command(*words)
    assert out.startswith("gk16-plugin: refuted (delta 0.05, bounded rewards, cap 60)")
    assert [line for line in out.splitlines() if "found/" in line] == [
        "verdict: found/audit.json",
        "script: found/counterexample.py",
        "table: found/counterexample.csv",
        "page: found/audit.html",
        "figure: found/audit.png",
    ]
    again, _ = command(*words)
    assert again == out
    with pytest.raises(ParameterError, match="--arms 'few'"):
        command("audit", "gk16-plugin", "--arms", "few")


def test_all_rules_of_the_gallery_and_all_thresholds_are_audited(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = list(audits.audited_rules())
    others = {
        "LUCB",
        "T3C(family=student, threshold=gk16)",
        "PairedRace",
        "FRace(test=t)",
        "SR",
        "UCB-E(a=theory, b=1.0)",
    }
    assert {name for name, _ in rules} >= {*GALLERY, *others}
    monkeypatch.setattr(
        audits, "audited_rules", lambda: [("pocock", "gaussian"), ("z-peek", "gaussian"), ("UCB-E", "bounded")]
    )
    monkeypatch.setattr(audits, "Plan", lambda: Plan(8, 2, 10, 20))
    out, _ = command("reproduce", "audit", "--runs", "300", "--workers", "1", "--out", "all")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all" / "audit" / "audits.csv").read_text(encoding="utf-8"))))
    assert [(row["rule"], row["verdict"]) for row in rows] == [("pocock", "not refuted"), ("z-peek", "refuted")]
    assert (
        "left out: UCB-E: " in out and (tmp_path / "all" / "audit" / "z-peek-gaussian" / "counterexample.py").is_file()
    )


# ------------------------------------------------------------------------------------------------ run


def test_run_prints_what_it_found_and_where(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, err = command(*SMALL, "--agent", "GapE", "--agent", "SH", "--out", "results", "--set", "means=[1, 0, 0]")
    assert err == ""  # no progress where nobody watches
    header, *rows = [line for line in out.splitlines() if line[:1] in "┃│"]
    assert header.split("┃")[-3].strip() == "oracle knowledge"
    knows = {row.split("│")[1].strip(): row.split("│")[-3].strip() for row in rows}
    assert knows == {"GapE [1]": "complexity, range", "SH [2]": "none"}
    assert "BAI-Custom-v0(means=[1, 0, 0])" in out
    written = [tmp_path / "results" / name for name in ("results.parquet", "results.csv", "results.md", "figure.png")]
    for path in written:
        assert f": {path.relative_to(tmp_path)}\n" in out
        assert path.stat().st_size > 0
    found = sorted(path for path in (tmp_path / "results").iterdir() if path.name != "chunks")
    assert found == sorted(written)
    assert (tmp_path / "results" / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_run_writes_the_numbers_of_compare(command: Command) -> None:
    command(*SMALL, "--budget", "50", "--agent", "VBR", "--agent", "SH(tie=first)", "--seed", "3", "--out", "results")
    expected = compare(["VBR", "SH(tie=first)"], "BAI-Custom-v0", budgets=[40, 50], runs=30, seed=3)
    rows = pq.read_table("results/results.parquet").to_pylist()
    assert [(row["agent"], row["budget"], row["runs"], row["errors"]) for row in rows] == [
        (result.agent, result.budget, 30, result.errors) for result in expected
    ]
    assert [row["mean_pulls"] for row in rows] == [result.mean_pulls.tolist() for result in expected]
    assert all("seconds" not in Path(name).read_text() for name in ("results/results.csv", "results/results.md"))


def test_run_takes_costs_and_shows_money(command: Command, tmp_path: Path) -> None:
    arms = ("--set", "means=[0.5,0.0,0.0]", "--costs", "2.5,1,1", "--budget", "90.5")
    out, _ = command("run", "BAI-Custom-v0", "--agent", "SH", "--agent", "SR", *arms, "--runs", "30", "--out", "found")
    assert "money spent" in out and "90.5" in out and "against the one with the fewest" not in out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "found" / "results.csv").read_text(encoding="utf-8"))))
    assert all(float(row["budget"]) == 90.5 and 80.0 < float(row["money_spent"]) <= 90.5 for row in rows)


def test_costs_are_read_by_name_in_order_and_from_a_log(command: Command, tmp_path: Path) -> None:
    rows = [("A", 1, 0.5), ("B", 0, 2), ("A", 0, 1.5), ("B", 1, 3), ("A", 1, 1)]
    lines = ["page,sale,dollars", *(f"{page},{sale},{price}" for page, sale, price in rows)]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    words = ("BAI-Pilot-v0", *(f"--set={pair}" for pair in ("path=log.csv", "arm_column=page", "reward_column=sale")))
    plans = []
    for costs in ("B=2.5,A=1", "1,2.5", "dollars"):
        out, _ = command("plan", *words, "--agent", "Uniform", "--error", "0.3", "--most", "5000", "--costs", costs)
        plans.append(out.partition("│")[2])  # without the title
        assert "mean pulls" in out
    assert plans[0] == plans[1] == plans[2]
    out, _ = command("advise", *words, "--costs", "dollars", "--budget", "20.5", "--runs", "400")
    assert "20.5" in out and "mean pulls" in out and "TTTS" not in out
    verdict = min(out.find(words) for words in ("Use ", "More pulls") if words in out)
    assert verdict < out.index("against the chosen one")


def test_run_shows_the_gap_to_the_optimum(command: Command, tmp_path: Path) -> None:
    words = ("run", "BAI-Bernoulli3-v0", "--runs", "50", "--agent", "Uniform", "--agent", "BayesOptimal", "--optimum")
    out, err = command(*words, "--budget", "9", "--out", "results")
    assert err == "" and "excess error [95 %]" in out and "\nExcess error: error probability minus" in out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "results" / "results.csv").read_text())))
    assert {row["agent"] for row in rows} == {"Uniform", "BayesOptimal"}
    for row in rows:
        assert float(row["optimum"]) == optimal_value(3, 9)
        gap = float(row["error_probability"]) - (1 - optimal_value(3, 9))
        assert float(row["excess_error"]) == pytest.approx(gap)
        assert f" {gap:.2f} [" in out
    assert "excess error" in (tmp_path / "results" / "results.md").read_text()


def test_run_says_why_there_is_no_optimum(command: Command) -> None:
    out, _ = command(*SMALL, "--agent", "SH", "--optimum")
    assert "\nNo optimum of BAI-Custom-v0 with budget 40: it is known for Bernoulli arms" in out
    assert "excess error" not in out.lower()


def test_run_shows_pulls_where_agents_decide_when_to_stop(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("run", "BAI-FC-Custom-v0", "--set", "means=[0.9, 0.3, 0.1]", "--set", "distribution=bernoulli")
    agents = ("--agent", "UGapEc", "--agent", "UGapEc(delta=0.001)")
    out, _ = command(*words, *agents, "--runs", "40", "--budget", "5000", "--out", "results")
    played = compare(agents[1::2], "BAI-FC-Custom-v0", budgets=[5000], runs=40, env_kwargs=BERNOULLI)
    assert f" {played[0].sample_complexity:,.0f} / {played[0].sample_quantiles[2]:,.0f} / " in out
    test = played.paired_pulls("UGapEc(delta=0.001)", "UGapEc")
    assert f" {test.difference:+,.0f} [{test.interval[0]:+,.0f}, {test.interval[1]:+,.0f}] │" in out
    assert (tmp_path / "results" / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_run_without_a_folder_writes_nothing(command: Command, tmp_path: Path) -> None:
    out, err = command(*SMALL)
    assert list(tmp_path.iterdir()) == []
    assert err == ""
    assert all(f"│ {name} " in out for name in ("Uniform", "SH-Reuse", "SR", "SHAdaVar-Reuse"))


def test_run_takes_several_environments(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    envs = ["BAI-Bernoulli3-v0", "BAI-Custom-v0"]
    command("run", *envs, "--budget", "40", "--runs", "30", "--agent", "SH", "--agent", "Uniform", "--out", "results")
    expected = compare(["SH", "Uniform"], envs, budgets=[40], runs=30)
    rows = pq.read_table("results/results.parquet").to_pylist()
    found = {(row["agent"], row["env"]): row["errors"] for row in rows}
    assert found == {(row.agent, row.env): row.errors for row in expected}
    figures = {path.name for path in (tmp_path / "results").glob("*.png")}
    assert figures == {f"figure-{number}-{env}.png" for number, env in enumerate(envs, start=1)}


@pytest.mark.each("env", [entry.id for entry in IDS if entry.data is None and entry.family != "function"])
def test_agents_that_are_not_named_fit_the_task_and_know_nothing(env: str) -> None:
    found = default_agents([env], None, 0, {})
    assert 1 <= len(found) <= 4
    assert all(not agent_source(name).make().knows for name in found)


def test_agents_that_are_not_named_play_everywhere() -> None:
    assert default_agents(["BAI-Custom-v0", "BAI-TopM-Custom-v0"], None, 0, {}) == ["Uniform", "SAR", "A-UGapEb"]
    with pytest.raises(ParameterError, match="--agent"):
        default_agents(["BAI-FC-Custom-v0", "BAI-Custom-v0"], None, 0, {})


def test_run_without_matplotlib_says_how_to_install_it(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out, err = command(*SMALL, "--agent", "SH", "--out", "results")
    assert err == 'no figure: drawing figures needs matplotlib; pip install "bai-gym[plots]"\n'
    assert "results.csv" in out and "figure" not in out
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        "chunks",
        "results.csv",
        "results.md",
        "results.parquet",
    ]


def test_brackets_in_names_are_shown_as_they_are(command: Command) -> None:
    out, _ = command(*SMALL, "--agent", "SH", "--out", "[red] :smile:")
    assert f": {Path('[red] :smile:') / 'results.csv'}\n" in out


class Terminal(io.StringIO):
    """A stderr that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_to_who_watches_and_only_there(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(console, "ERR", console.make_console(stderr=True))
    out, _ = command(*SMALL, "--agent", "SH")
    assert "playing" in terminal.getvalue() and "1/1" in terminal.getvalue()
    assert "playing" not in out


# ------------------------------------------------------------------------------------------------ listings


def first_column(table: str) -> list[str]:
    cells = [line.split("│")[1].strip() for line in table.splitlines() if line.startswith("│")]
    return cells


@pytest.mark.each(
    ("what", "names"),
    [
        ("envs", [entry.id for entry in IDS]),
        ("agents", list(agents.names())),
        ("experiments", [*EXPERIMENTS, "audit"]),
    ],
)
def test_listings_are_complete(command: Command, what: str, names: list[str]) -> None:
    out, err = command("list", what)
    assert first_column(out) == names
    assert err == ""


def test_list_envs_says_what_is_missing(command: Command, tmp_path: Path) -> None:
    missing = "missing: bai-gym data fetch movielens-1m"
    assert command("list", "envs")[0].count(missing) == 2
    ratings = tmp_path / "data" / "ml-1m" / "ratings.dat"
    ratings.parent.mkdir(parents=True)
    ratings.write_text("1::1::5::0\n")
    out, _ = command("list", "envs")
    assert missing not in out
    assert sum("MovieLens" in line and "│ here" in line for line in out.splitlines()) == 2


def test_list_agents_says_what_they_know(command: Command) -> None:
    rows = [line.split("│") for line in command("list", "agents")[0].splitlines() if line.startswith("│")]
    found = {row[1].strip(): [cell.strip() for cell in row[3:6]] for row in rows if row[1].strip()}
    groups, knows, needs = ({name: cells[column] for name, cells in found.items()} for column in range(3))
    assert knows["SHVar"] == "variances"
    assert knows["GapE"] == "complexity, range"
    assert knows["SHAdaVar"] == "none"
    assert groups["APT"] == "Thresholding"
    assert (needs["SHAdaVar"], needs["GSE-Lin"], needs["NA-AIPW"]) == ("", "features", "2 arms")


def test_data_says_where_and_how(command: Command, tmp_path: Path) -> None:
    out, _ = command("data")
    assert set(first_column(out)) == set(registry.names())
    assert f"data directory: {tmp_path / 'data'} " in out
    assert f"derived files:  {tmp_path / 'derived'} " in out
    for name in registry.names():
        entry = registry.get(name)
        by_hand = f"download {Path(entry.archive_path).name} from" if name == "los-loop" else "download measures_v2.csv"
        way_out = f"run `bai-gym data fetch {name}`" if entry.archive is not None else by_hand
        assert f"missing: data set '{name}' is not in {tmp_path / 'data'}: {way_out}" in out


def test_data_that_is_there(command: Command, tmp_path: Path) -> None:
    for colour in ("red", "white"):
        file = tmp_path / "data" / "wine-quality" / f"winequality-{colour}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("12345")
    out, _ = command("data")
    assert "missing: data set 'wine-quality'" not in out
    assert [line.split("│")[4].strip() for line in out.splitlines() if line.startswith("│ wine")] == ["5", "5"]
    # What is there is not fetched again.
    assert command("data", "fetch", "wine-quality")[0] == f"wine-quality: {file.with_stem('winequality-red')}\n"


def test_version(command: Command) -> None:
    assert command("--version") == (f"{version('bai-gym')}\n", "")


@pytest.mark.each(
    ("words", "shown"),
    [(("run",), "--set"), (("reproduce",), "[default: results]"), (("list",), "experiments"), (("data",), "fetch")],
)
def test_every_command_has_help(command: Command, words: tuple[str, ...], shown: str) -> None:
    out, _ = command(*words, "--help")
    assert out.startswith("Usage: ") and shown in out


def test_run_scores_answers_within_a_run(command: Command) -> None:
    pytest.importorskip("matplotlib")
    words = ("run", "BAI-CustomThresholding-v0", "--budget", "60", "--runs", "40", "--agent", "APT", "--agent", "CSAR")
    out, err = command(*words, "--checkpoints", "25", "--out", "results")
    assert err == "" and "error probability at intermediate budgets" in out
    rows = pq.read_table("results/results.parquet").to_pylist()
    assert [(row["agent"], row["checkpoint"]) for row in rows] == [
        (a, t) for a in ("APT", "CSAR") for t in (25, 50, 60)
    ]
    again, _ = command(*words, "--checkpoints", "50,25", "--out", "other")
    assert pq.read_table("other/results.parquet").to_pylist() == rows  # the budget always is one
    assert again.partition("Intervals")[0].count("│") == out.partition("Intervals")[0].count("│")
    plain, _ = command(*words)
    assert "after" not in plain
    line = compare(["APT"], "BAI-CustomThresholding-v0", budgets=[60], runs=40, checkpoints=[25, 50])
    assert [row["errors"] for row in rows[:3]] == [result.errors for result in line]


# ------------------------------------------------------------------------------------------------ reproduce


def at_points(monkeypatch: pytest.MonkeyPatch, name: str, points: tuple[int, ...]) -> Experiment:
    """Keep few points of a figure's axis, to save time."""
    full = EXPERIMENTS[name]
    panels = tuple(
        dataclasses.replace(panel, settings=tuple(s for s in panel.settings if s.x in points)) for panel in full.panels
    )
    assert all(len(panel.settings) == len(points) for panel in panels)
    short = dataclasses.replace(full, panels=panels)
    monkeypatch.setattr(reproduce, "find", {name: short}.__getitem__)
    return short


@pytest.fixture
def little_look_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put 80 movies and a few users in the place of the synthetic ratings, whose completion takes long."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(rng.uniform(1, 5, (80, 1)), rng.uniform(0.2, 1, (80, 1)), (80, 20))
    source = CompletedRatings(matrix.astype(np.float32), np.arange(80), matrix.mean(axis=-1), matrix.var(axis=-1))
    monkeypatch.setattr(movielens, "look_alike_source", lambda: source)
    monkeypatch.setattr(sources, "_MADE", {})


def verdicts(text: str, experiment: Experiment) -> list[str]:
    """The verdict on each claim of the experiment, in the order of the text."""
    claims = {claim.text for claim in experiment.claims}
    lines = [line.strip().partition(" ") for line in text.splitlines()]
    return [word for word, _, rest in lines if rest.strip() in claims]


def test_reproduce_settles_what_is_undecided(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    full = at_points(monkeypatch, "shvar-3", (32, 64))
    experiment = dataclasses.replace(full, panels=full.panels[:1])
    monkeypatch.setattr(reproduce, "find", {"shvar-3": experiment}.__getitem__)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # figures would take most of the time
    words = ("reproduce", "shvar-3", "--runs", "20", "--workers", "1")
    before = verdicts(command(*words)[0], experiment)
    out, _ = command(*words, "--settle", "20")
    after = verdicts(out, experiment)
    changed = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert changed and all(one == "undecided" for one, _ in changed)
    assert out.count("with 400 runs: ") >= len(changed)
    assert command(*words, "--settle", "20")[0] == out  # all of it is there already
    assert (tmp_path / "results" / "shvar-3" / "settled" / "chunks").is_dir()


def test_reproduce_judges_every_claim(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    experiment = at_points(monkeypatch, "shvar-3", (32, 64))
    out, err = command("reproduce", "shvar-3", "--runs", "20", "--workers", "1")
    assert err == ""
    assert experiment.title in out and experiment.source in out
    assert all(note in out for note in experiment.notes)
    given = verdicts(out, experiment)
    assert len(given) == 3 * len(experiment.claims)
    assert set(given) <= {"confirmed", "refuted", "undecided"}
    folder = tmp_path / "results" / "shvar-3"
    panels = ("shvar-3", "shvar-3-literal", "shvar-3-wide-gape")
    names = {f"{panel}{end}" for panel in panels for end in (".parquet", ".csv", ".md", ".png")}
    names |= {f"{panel}-claims.txt" for panel in panels}
    assert {path.name for path in folder.iterdir()} == {"chunks", *names}
    assert [name for name in names if f": {Path('results', 'shvar-3', name)}\n" not in out] == []
    # The file says the same as the terminal, and what it was computed from.
    said = [(folder / f"{panel}-claims.txt").read_text() for panel in panels]
    assert [word for text in said for word in verdicts(text, experiment)] == given
    assert all("20 runs, seed 0" in text for text in said)
    results = pq.read_table(folder / "shvar-3-literal.parquet").to_pylist()
    assert len(results) == 2 * len(experiment.agents)
    assert {row["env"] for row in results} == {f"BAI-Gaussian{k}-v0(noisy_best=false)" for k in (32, 64)}
    # The second reading of GapE: the results of all other agents are those of the first panel.
    one, other = (
        {(row["agent"], row["env"]): row["errors"] for row in pq.read_table(folder / f"{panel}.parquet").to_pylist()}
        for panel in (panels[0], panels[2])
    )
    wide = {"GapE(b_in_complexity=False)", "GapE-V(b_in_complexity=False)"}
    assert {agent for agent, _ in set(other) - set(one)} == wide
    assert [key for key in set(one) & set(other) if one[key] != other[key]] == []
    # Every verdict but a confirmation comes with the points that it is due to.
    lines = out.splitlines()
    due = [lines[i + 1].split()[0] for i, line in enumerate(lines) if line.startswith(("  refuted ", "  undecided "))]
    assert len(due) == len(given) - given.count("confirmed") > 0
    assert set(due) <= {"against", "undecided:"}


def test_reproduce_holds_agents_against_the_optimum_and_each_other(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    experiment = at_points(monkeypatch, "learned-5", (10,))
    out, err = command("reproduce", "learned-5", "--runs", "30", "--workers", "1")
    assert err == ""
    assert "excess error [95 %]" in out and "\nHypotheses of this library, at joint level 95 % each:" in out
    assert "Claims of the paper" not in out
    assert "BayesOptimal against each other agent, on the same instances" in out
    folder = tmp_path / "results" / "learned-5"
    results = list(csv.DictReader(io.StringIO((folder / "learned-5.csv").read_text())))
    assert {float(row["optimum"]) for row in results} == {optimal_value(2, 10)}
    pairs = list(csv.DictReader(io.StringIO((folder / "learned-5-paired.csv").read_text())))
    assert {row["agent"] for row in pairs} == {*experiment.agents} - {"BayesOptimal"}
    errors = {row["agent"]: float(row["error_probability"]) for row in results}
    for row in pairs:
        assert row["reference"] == "BayesOptimal"
        assert float(row["difference"]) == pytest.approx(errors["BayesOptimal"] - errors[row["agent"]])
    assert (folder / "learned-5-paired.md").read_text().startswith("BayesOptimal against each other agent")
    for name in ("learned-5-paired.csv", "learned-5-paired.md"):
        assert f"table: {Path('results', 'learned-5', name)}\n" in out


def test_reproduce_draws_stopping_times(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    setting = Setting("BAI-FC-Custom-v0", 5000, 5000, BERNOULLI)
    panels = (
        Panel("delta0-1", "delta = 0.1", (setting,), picture="stopping"),
        Panel("delta0-01", "delta = 0.01", (setting,), picture="stopping", variants={"LUCB": "LUCB(delta=0.01)"}),
    )
    claims = (Claim("It stops.", (Stops("LUCB", 0.5), Fewer("LUCB", "UGapEc"))),)
    short = Experiment("fc-1", "Two agents", "nowhere", panels, ("UGapEc", "LUCB"), claims)
    monkeypatch.setattr(reproduce, "find", {short.id: short}.__getitem__)
    out, err = command("reproduce", "fc-1", "--runs", "30", "--workers", "1")
    assert err == "" and len(verdicts(out, short)) == 2
    assert "at cap 5,000" in out and "Lower bound: kl(delta" in out
    rows = pq.read_table("results/fc-1/fc-1-delta0-01.parquet").to_pylist()
    assert [(row["agent"], row["delta"]) for row in rows] == [("UGapEc", 0.1), ("LUCB(delta=0.01)", 0.01)]
    assert len({row["lower_bound"] for row in rows}) == 2
    assert (tmp_path / "results/fc-1/fc-1-delta0-1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.usefixtures("little_look_alike")
def test_reproduce_draws_curves_over_the_pulls_of_a_run(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    full = EXPERIMENTS["augucb-1f"]
    panel = dataclasses.replace(full.panels[0], checkpoints=5000)
    agents = ("AugUCB", "UCBEV-T(c=0.25)", "UCBEV-T(c=256)")
    short = dataclasses.replace(full, panels=(panel,), agents=agents, claims=full.claims[:1])
    monkeypatch.setattr(reproduce, "find", {short.id: short}.__getitem__)
    out, err = command("reproduce", "augucb-1f", "--runs", "3", "--workers", "1")
    assert err == "" and "error probability at intermediate budgets" in out
    assert len(verdicts(out, short)) == len(short.claims) == 1
    rows = pq.read_table("results/augucb-1f/augucb-1f.parquet").to_pylist()
    assert [row["checkpoint"] for row in rows] == [5000, 10000] * 3
    assert (tmp_path / "results/augucb-1f/augucb-1f.png").exists()


@pytest.mark.slow
def test_reproduce_without_data_says_that_it_uses_the_look_alike(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    experiment = at_points(monkeypatch, "shvar-5", (1000, 10000))
    out, _ = command("reproduce", "shvar-5", "--runs", "4", "--workers", "1", "--out", "here")
    (data,) = {line for line in out.splitlines() if line.startswith("Data: ")}  # one for all panels
    assert "synthetic look-alike BAI-MovieLensLike64-v0, NOT the real data" in data
    assert "bai-gym data fetch movielens-1m" in data
    assert "64 movies (synthetic look-alike)\n" in out
    assert len(verdicts(out, experiment)) == 2 * len(experiment.claims)
    folder = tmp_path / "here" / "shvar-5"
    assert data in (folder / "shvar-5-claims.txt").read_text().splitlines()
    assert "BAI-MovieLensLike64-v0" in (folder / "shvar-5.csv").read_text()


@pytest.mark.usefixtures("little_look_alike")
def test_reproduce_draws_instances(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, err = command("reproduce", "shvar-4", "shvar-1")
    assert err == ""
    assert out.index("shvar-4: ") < out.index("shvar-1: ")
    assert "NOT the real data" in out
    for name in ("shvar-4", "shvar-1", "shvar-1-literal"):
        path = Path("results", name[:7], f"{name}.png")
        assert f": {path}\n" in out
        assert (tmp_path / path).read_bytes().startswith(b"\x89PNG")
    assert "best arm of the first run" in out


def test_reproduce_draws_a_posterior(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    out, err = command("reproduce", "bayesgap-1")
    assert err == ""
    path = Path("results", "bayesgap-1", "bayesgap-1.png")
    assert f": {path}\n" in out and (tmp_path / path).read_bytes().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out, err = command("reproduce", "bayesgap-1")
    assert err.startswith("no figure: drawing figures needs matplotlib")


@pytest.mark.slow
def test_reproduce_without_data_takes_those_of_the_library(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, err = command("reproduce", "bayesgap-3", "bayesgap-4", "--runs", "5", "--workers", "1")
    assert err == ""
    for name, budget in (("bayesgap-3", 10), ("bayesgap-4", 40)):
        experiment = EXPERIMENTS[name]
        assert all(agent in out for agent in experiment.agents)
        assert f"160 models on wine quality, budget {budget} (data: diabetes)\n" in out
        folder = tmp_path / "results" / name
        said = (folder / f"{name}-claims.txt").read_text()
        assert "Data: the real data 'diabetes' that come with the library, NOT 'wine-quality'. data set" in said
        assert len(verdicts(said, experiment)) == len(experiment.claims)
        assert "BAI-AutoML160-v0(data=diabetes)" in (folder / f"{name}.csv").read_text()
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_reproduce_says_that_named_data_are_real(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    full = EXPERIMENTS["bayesgap-2"]
    short = dataclasses.replace(full, panels=full.panels[1:], agents=("A-UCB-E", "A-UGapEb"), claims=())
    monkeypatch.setattr(reproduce, "find", {short.id: short}.__getitem__)
    out, _ = command("reproduce", "bayesgap-2", "--runs", "5", "--workers", "1")
    assert "Left out: Los Angeles, K = 207, budget 400. data set 'los-loop' is not in" in out
    readings = np.random.default_rng(0).normal(60.0, 5.0, (2016, 5))
    (tmp_path / "data" / "los-loop").mkdir(parents=True)
    np.savetxt(
        tmp_path / "data" / "los-loop" / "los_speed.csv", readings, delimiter=",", header="1,2,3,4,5", comments=""
    )
    out, err = command("reproduce", "bayesgap-2", "--runs", "5", "--workers", "1")
    assert err == ""
    assert "Data: the real data 'los-loop' of BAI-Traffic357-v0.\n" in out
    assert "BAI-Traffic357-v0(data=los-loop)" in out


def test_reproduce_without_matplotlib(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out, err = command("reproduce", "shvar-1")
    assert err.count('no figure: drawing figures needs matplotlib; pip install "bai-gym[plots]"\n') == 2
    assert out.count("best arm of the first run") == 2
