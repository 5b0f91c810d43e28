"""``bai-gym leaderboard``: play submissions to the verified leaderboard in isolation."""

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
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A card (TOML), or a file of Python that defines MyAgent.")
    ],
    evaluation: _Evaluation = _EVALUATION,
    log: Annotated[
        Path | None, typer.Option(metavar="<path>", help="Where the beginning of what the submission prints goes.")
    ] = None,
) -> None:
    """Play a submission with the public seed, as the official run will; exit code 1 if it fails."""
    import io

    from bai_gym.isolation.box import protect_memory, strongest
    from bai_gym.report.tables import results_table
    from bai_gym.submissions.cards import read_card
    from bai_gym.submissions.evaluation import read_evaluation
    from bai_gym.submissions.play import play

    protect_memory()
    card, what = read_card(file), read_evaluation(evaluation)
    prints = io.BytesIO()
    played = play(card, what, what.public_seed, log=prints, on_task=lambda task: _say(f"playing {task}"))
    if log is not None:
        log.write_bytes(prints.getvalue())
    if played.rows:
        OUT.print(results_table(played.rows).rich())
    OUT.print(strongest().words, soft_wrap=True)
    OUT.print(f"{card.name}: {played.failure or 'plays by the rules.'}", soft_wrap=True)
    if played.failure:
        raise typer.Exit(FAILED)


@app.command("run")
def run(
    submissions: Annotated[Path, typer.Option(**FOLDER, help="Folder of the cards.")] = Path("leaderboard/submissions"),
    evaluation: _Evaluation = _EVALUATION,
    fresh_seed: Annotated[
        int | None,
        typer.Option(**WHOLE, help="Seed of the ranks, to repeat an official run. [default: drawn after reading]"),
    ] = None,
    out: Annotated[Path, typer.Option(**FOLDER, help="Folder for the page and the table.")] = Path(
        "results/leaderboard"
    ),
) -> None:
    """Play all submissions with the public seed and with a fresh one, and write the page."""
    from bai_gym.cli.output import check_files, print_paths
    from bai_gym.isolation.box import protect_memory
    from bai_gym.report.standings import leaderboards_table
    from bai_gym.results.writer import write_atomically
    from bai_gym.seeding import check_seed
    from bai_gym.submissions.cards import read_cards
    from bai_gym.submissions.evaluation import read_evaluation
    from bai_gym.submissions.official import draw_seed, play_all
    from bai_gym.submissions.page import leaderboard_page

    check_files(out, [PAGE, TABLE])
    protect_memory()
    cards, what = read_cards(submissions), read_evaluation(evaluation)
    seed = draw_seed() if fresh_seed is None else check_seed(fresh_seed)
    official = play_all(
        cards, what, seed, on_task=lambda card, name, task: _say(f"{card.name}, {name} seed: playing {task}")
    )
    for name, text in ((PAGE, leaderboard_page(official)), (TABLE, leaderboards_table(official.boards).csv())):
        with write_atomically(out / name) as draft:
            draft.write_text(text, encoding="utf-8", newline="\n")
    for place in official.places:
        OUT.print(f"{place.rank}. {place.card.name}: {place.score.value:.3f}", soft_wrap=True)
    for name, reason in official.failures.items():
        OUT.print(f"not ranked: {name}: {reason}", soft_wrap=True)
    print_paths([out / PAGE, out / TABLE])


def _say(words: str) -> None:
    ERR.print(words, soft_wrap=True)
