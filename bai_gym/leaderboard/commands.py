"""``bai-gym leaderboard``: play the submissions to the leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bai_gym.cli.console import ERR, OUT
from bai_gym.cli.options import FOLDER, WHOLE

__all__ = ["app"]

app = typer.Typer(help="Check a submission, or play all of them.", add_completion=False, rich_markup_mode=None)

PAGE = "leaderboard.html"
TABLE = "leaderboard.csv"
FAILED = 1
"""The exit code of a check that a submission has failed."""

_Evaluation = Annotated[Path, typer.Option(metavar="<path>", help="The frozen evaluation.")]
_EVALUATION = Path("leaderboard/evaluation.toml")


@app.command("check")
def check(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="A name, or <path>.py:<class>.")],
    evaluation: _Evaluation = _EVALUATION,
) -> None:
    """Play a submission with the public seed.

    It is played as in the official run, and the exit code is 1 if it fails.
    """
    from bai_gym.leaderboard.official import Submission, play, read_evaluation
    from bai_gym.report.tables import results_table

    what = read_evaluation(evaluation)
    played = play(Submission(agent, agent), what, what.public_seed, on_task=lambda task: _say(f"playing {task}"))
    if played.results:
        OUT.print(results_table([row for comparison in played.results for row in comparison]).rich())
    OUT.print(f"{agent}: {played.failure or 'plays by the rules.'}", soft_wrap=True)
    if played.failure:
        raise typer.Exit(FAILED)


@app.command("run")
def run(
    submissions: Annotated[Path, typer.Option(metavar="<path>", help="The list of submissions.")] = Path(
        "leaderboard/submissions.toml"
    ),
    evaluation: _Evaluation = _EVALUATION,
    fresh_seed: Annotated[
        int | None,
        typer.Option(**WHOLE, help="Seed of the ranks, to repeat an official run. [default: drawn now]"),
    ] = None,
    out: Annotated[Path, typer.Option(**FOLDER, help="Folder for the page and the table.")] = Path(
        "results/leaderboard"
    ),
) -> None:
    """Play all submissions, and write the page.

    Each is played with the public seed and with a fresh one, which decides the ranks.
    """
    from bai_gym.cli.output import check_files, print_paths
    from bai_gym.common.seeding import check_seed
    from bai_gym.leaderboard.official import draw_seed, play_all, read_evaluation, read_submissions
    from bai_gym.leaderboard.page import leaderboard_page
    from bai_gym.report.standings import leaderboards_table
    from bai_gym.results.writer import write_atomically

    check_files(out, [PAGE, TABLE])
    who, what = read_submissions(submissions), read_evaluation(evaluation)
    official = play_all(
        who,
        what,
        draw_seed() if fresh_seed is None else check_seed(fresh_seed),
        on_task=lambda one, seed, task: _say(f"{one.name}, {seed} seed: playing {task}"),
    )
    for name, text in ((PAGE, leaderboard_page(official)), (TABLE, leaderboards_table(official.boards).csv())):
        with write_atomically(out / name) as draft:
            draft.write_text(text, encoding="utf-8", newline="\n")
    for place in official.places:
        OUT.print(f"{place.rank}. {place.submission.name}: {place.score.value:.3f}", soft_wrap=True)
    for one, reason in official.failures.items():
        OUT.print(f"not ranked: {one.name}: {reason}", soft_wrap=True)
    print_paths([out / PAGE, out / TABLE])


def _say(words: str) -> None:
    ERR.print(words, soft_wrap=True)
