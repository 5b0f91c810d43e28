"""The page of the leaderboard: one file in the look of the report, which loads nothing and runs no script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from bai_gym.analysis.intervals import Estimate
from bai_gym.leaderboard.official import LEVEL, Official, Place
from bai_gym.page.bundle import read_asset
from bai_gym.results.layout import format_knowledge, with_interval

__all__ = ["RECALLS", "leaderboard_page"]

SHARE = f"{100 * LEVEL:g} %"
RECALLS = "does far better with the public seed than with the fresh one: read its code"
WRAPPED = ".wrapped { display: block; min-width: 16rem; white-space: normal; overflow-wrap: anywhere; }"
DARK = re.compile(r':root\[data-theme="dark"\] (\{[^}]*\})')


def leaderboard_page(official: Official) -> str:
    """Return the page: the same bytes for the same results, whenever and wherever they were played.

    Args:
        official: What was played.
    """
    evaluation = official.evaluation
    facts = {
        "Submissions": len(official.played),
        "Tasks": len(evaluation.tasks),
        "Episodes of each task and seed": f"{evaluation.runs:,}",
        "Public seed": evaluation.public_seed,
        "Fresh seed": official.fresh_seed,
        "Evaluation": evaluation.digest,
        "Version": version("bai-gym"),
    }
    shown = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts.items())
    # Without a script, only the system can ask for dark colours.
    style = DARK.sub(r"@media (prefers-color-scheme: dark) { :root \1 }", read_asset("page.css")) + WRAPPED
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>bai-gym leaderboard</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header class="top">
<p class="brand">bai-gym <span>best-arm identification</span></p>
<h1>Leaderboard</h1>
<dl class="facts">{shown}</dl>
</header>
<main>
<section><h2>Standings</h2>{_standings(official)}</section>
<section><h2>Errors by task</h2>{_errors(official)}</section>
<section><h2>To repeat this page</h2>
<p class="reading">Instances, rewards and budgets stay in another process, which shows an agent what it may see, with
the arms of every episode in a random order. It has {evaluation.seconds:g} seconds for all its answers in a task.</p>
<div class="command"><code>bai-gym leaderboard run --fresh-seed {official.fresh_seed}</code></div></section>
</main>
</body>
</html>
"""


def _standings(official: Official) -> str:
    rows = [_standing(place) for place in official.places]
    for one, reason in official.failures.items():
        about = f"not ranked: {reason}"
        rows.append(
            ["", _text(one.name), "", "", "", f'<span class="wrapped">{_text(about)}</span>', _text(one.author)]
        )
    reading = (
        "The score is the probability of a correct recommendation, the mean over all tasks, with instances and rewards "
        f"drawn from the fresh seed; intervals are bootstrap intervals of {SHARE}. All submissions played the same "
        f"instances. Rank intervals hold jointly with a confidence of {SHARE}: tests of all pairs by random signs, "
        "corrected for their number (Holm)."
    )
    share = f"[{SHARE}]"
    headings = [f"Rank {share}", "Submission", f"Score {share}", f"With the public seed {share}", "Oracle knowledge"]
    return f'<p class="reading">{reading}</p>' + _table("Standings", [*headings, "About", "Author"], rows, named=1)


def _standing(place: Place) -> list[str]:
    about = place.submission.about + (f" It {RECALLS}." if place.recalls else "")
    return [
        f'{place.rank} <span class="range">[{place.rank_interval[0]}, {place.rank_interval[1]}]</span>',
        f"<b>{_text(place.submission.name)}</b>",
        _estimate(place.score),
        _estimate(place.public),
        "".join(f'<span class="chip">{word}</span>' for word in place.knows) or format_knowledge(place.knows),
        f'<span class="wrapped">{_text(about)}</span>',
        _text(place.submission.author),
    ]


def _errors(official: Official) -> str:
    names = [place.submission.name for place in official.places]
    rows = []
    for board in official.boards:
        by_name = {row.agent: row for row in board.standings}
        cells = [f"{by_name[name].error_probability:.3f}" for name in names]
        marked = [
            f"<b>{cell}</b>" if by_name[name].rank_interval[0] == 1 else cell
            for name, cell in zip(names, cells, strict=True)
        ]
        rows.append([_text(f"{board.env} with {board.budgets[0]:,} pulls"), *marked])
    return (
        '<p class="reading">Error probabilities with the fresh seed; the table beside this page has intervals and '
        f"ranks. Bold: cannot be told apart from the first, jointly at {SHARE}.</p>"
    ) + _table("Errors by task", ["Task", *map(_text, names)], rows, named=0)


def _table(caption: str, headings: Iterable[str], rows: Iterable[Sequence[str]], named: int) -> str:
    """Return a table of cells in HTML; the cell ``named`` is the heading of its row."""
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    lines = []
    for cells in rows:
        line = (
            f'<th scope="row">{cell}</th>' if number == named else f"<td>{cell}</td>"
            for number, cell in enumerate(cells)
        )
        lines.append(f"<tr>{''.join(line)}</tr>")
    return (
        f'<div class="scroll" role="region" aria-label="{caption}" tabindex="0"><table>'
        f'<caption class="hidden">{caption}</caption><thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def _estimate(estimate: Estimate) -> str:
    value, bracket, rest = with_interval(estimate.value, estimate.lower, estimate.upper).partition(" [")
    return f'{value} <span class="range">{bracket.strip()}{rest}</span>'


def _text(words: object) -> str:
    return html.escape(str(words))
