"""``bai-gym report``: what it writes, says and refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bai_gym import compare
from bai_gym.errors import MissingPackageError, OutputError, ParameterError
from bai_gym.page import files
from bai_gym.page.files import save_figures

pytestmark = pytest.mark.slow

pytest.importorskip("plotly")
Contents = Callable[[Path], dict[str, bytes]]
Command = Callable[..., tuple[str, str]]


@pytest.fixture
def command(command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Make a report, without figures, to save time."""
    monkeypatch.setattr(files, "save_figures", lambda *_: [])
    return partial(command, "report")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for env in ("BAI-Bernoulli3-v0", "BAI-Bernoulli2-v0"):
        compare(["SH", "Uniform"], env, budgets=[10, 20], runs=30, out=tmp_path / "results" / env, record=2)
    return tmp_path / "results"


def test_a_folder_becomes_a_page_with_tables_and_figures(
    command: Command, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(files, "save_figures", save_figures)
    out, err = command(str(results))
    assert err == ""
    written = {path.name for path in (tmp_path / "report").iterdir()}
    curves = [f"2-environments-{what}" for what in ("BAI-Bernoulli2-v0", "BAI-Bernoulli3-v0", "profile-runs", "scores")]
    tables = [f"2-environments{what}" for what in ("", "-leaderboard", "-scores")]
    assert written >= {f"{name}{suffix}" for name in curves for suffix in (".png", ".svg", ".pdf")}
    assert written >= {"report.html", *(f"{name}{suffix}" for name in tables for suffix in (".md", ".csv", ".tex"))}
    assert all(f": report/{name}\n" in out for name in written)
    assert "MB; open report/report.html with a browser, it needs no network\n" in out


def test_the_same_folders_give_the_same_bytes(command: Command, results: Path, contents: Contents) -> None:
    command(str(results), "--out", "a")
    (results / "report.txt").write_text("nothing of ours")
    moved = results.rename(results.with_name("moved"))
    command(str(moved), str(moved / "BAI-Bernoulli3-v0"), "--out", "b")  # one of them twice
    assert contents(Path("a")) == contents(Path("b"))


def test_agents_are_compared_run_by_run_whatever_else_the_folders_hold(command: Command, results: Path) -> None:
    """An earlier command with more runs in the same folder, and another folder with fewer runs of the same."""
    env = "BAI-Bernoulli3-v0"
    for runs, folder in ((90, env), (60, env), (20, "zzz")):
        compare(["SH", "Uniform"], env, budgets=[10, 20], runs=runs, out=results / folder)
    command(str(results))
    lines = [line.split(",") for line in Path("report/2-environments-leaderboard.csv").read_text().splitlines()]
    where = {name: lines[0].index(name) for name in ("runs", "paired", "env", "budgets")}
    found = {tuple(line[where[name]] for name in ("budgets", "runs", "paired")) for line in lines if env in line}
    assert found == {(budget, "90", "yes") for budget in ("10", "20", "10 20")}


def test_recordings_without_room_are_named(command: Command, results: Path) -> None:
    _, err = command(str(results), "--size-limit", "1")
    assert err.startswith("16 of 16 recorded episodes are left out to keep the page small")
    assert "a larger --size-limit brings them back" in Path("report/report.html").read_text()


def test_without_matplotlib_the_page_is_there_all_the_same(
    command: Command, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise MissingPackageError("drawing figures needs matplotlib")

    monkeypatch.setattr(files, "save_figures", missing)
    out, err = command(str(results))
    assert err == "no figures: drawing figures needs matplotlib\n"
    assert "page: report/report.html" in out and Path("report/report.html").exists()


def test_single_runs_are_found_among_those_of_other_commands(command: Command, tmp_path: Path) -> None:
    """Another seed in the same folder, and fewer runs in another folder, leave agents compared run by run."""
    for seed in (3, 4, 5, 0):
        compare(["SH", "Uniform"], "BAI-Bernoulli3-v0", budgets=[20], runs=60, seed=seed, out=tmp_path / "results")
    command("results")
    alone = Path("report/BAI-Bernoulli3-v0-seed-0-leaderboard.md").read_text()
    assert "Rank intervals" in alone and "not paired" not in alone
    compare(["SH", "Uniform"], "BAI-Bernoulli3-v0", budgets=[20], runs=20, seed=0, out=tmp_path / "short")
    command("results", "short", "--out", "both")
    assert Path("both/BAI-Bernoulli3-v0-seed-0-leaderboard.md").read_text() == alone


def test_folders_without_results_are_refused(command: Command, tmp_path: Path, results: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder nowhere"):
        command("nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(OutputError, match="empty"):
        command("empty")
    Path("report/report.html").mkdir(parents=True)
    with pytest.raises(OutputError, match="report/report.html"):
        command(str(results))


def test_an_impossible_size_is_refused_before_anything_is_written(command: Command, results: Path) -> None:
    for limit in ("0", "-1"):
        with pytest.raises(ParameterError, match=f"positive number of bytes, not {limit}"):
            command(str(results), "--size-limit", limit)
    assert not Path("report").exists()
