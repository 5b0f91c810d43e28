"""The page of an official run: one file in the look of the report, which loads nothing and runs no script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from bai_gym.analysis.intervals import Estimate
from bai_gym.isolation.process import MOST_LOG
from bai_gym.report.page.bundle import read_asset
from bai_gym.results.layout import format_knowledge, group_notes, with_interval
from bai_gym.results.leaderboard import Leaderboard, Standing
from bai_gym.submissions.official import LEVEL, Official, Place

__all__ = ["leaderboard_page"]

SHARE = f"{100 * LEVEL:g} %"
WRAPPED = ".wrapped { display: block; min-width: 16rem; white-space: normal; overflow-wrap: anywhere; }"
DARK = re.compile(r':root\[data-theme="dark"\] (\{[^}]*\})')
WIDTH, HEIGHT = 160, 14  # of the pictures of intervals, in pixels
RECALLS = "does far better with the public seed than with the fresh one: read its code"


def leaderboard_page(official: Official) -> str:
    """Return the page: the same bytes for the same results, whenever and wherever they were played.

    Args:
        official: The official run.
    """
    evaluation = official.evaluation
    facts = {
        "Submissions": len(official.fresh),
        "Tasks": len(evaluation.tasks),
        "Episodes of each task and seed": f"{evaluation.runs:,}",
        "Public seed": evaluation.public_seed,
        "Fresh seed": official.fresh_seed,
        "Evaluation": evaluation.digest,
        "Version": version("bai-gym"),
    }
    shown = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts.items())
    sections = [
        _section("Standings", _standings(official)),
        _section("Verdicts", _verdicts(official)),
        _section("Errors by task", _errors(official.boards)),
        _section("Ranks by task", _tasks(official.boards)),
        _section("What was in force", _force(official)),
    ]
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
<h1>Verified leaderboard</h1>
<dl class="facts">{shown}</dl>
</header>
<main>
{"".join(sections)}</main>
<footer>
<p>Made by <code>bai-gym leaderboard run</code>. Everything is in this one file: it needs no network.</p>
</footer>
</body>
</html>
"""


def _standings(official: Official) -> str:
    if not official.places:
        return _reading("No submission has played all tasks.")
    best = official.places[0]
    tied = [place.card.name for place in official.places[1:] if place.rank_interval[0] == 1]
    first = f"{best.card.name} has the highest score" + (
        f", but cannot be told apart from {', '.join(tied)}." if tied else "."
    )
    reading = (
        "The score is the probability of a correct recommendation, the mean over all tasks, with instances and rewards "
        f"drawn from the fresh seed; intervals are bootstrap intervals of {SHARE}. All submissions played the same "
        f"instances. Rank intervals hold jointly with a confidence of {SHARE}: tests of all pairs by random signs, "
        "corrected for their number (Holm)."
    )
    headings = [
        f"Rank [{SHARE}]",
        "Submission",
        f"Score [{SHARE}]",
        "",
        f"Interquartile mean [{SHARE}]",
        "Score with the public seed",
        "Oracle knowledge",
    ]
    rows = [
        [
            _rank(place.rank, place.rank_interval),
            f"<b>{_text(place.card.name)}</b>",
            _estimate(place.score),
            _picture(place.score, official.places),
            _estimate(place.iqm),
            _estimate(place.public),
            _knowledge(place.knows),
        ]
        for place in official.places
    ]
    return f'<p class="answer">{_text(first)}</p>' + _reading(reading) + _table("Standings", headings, rows, named=1)


def _verdicts(official: Official) -> str:
    remarks = {place.card.name: place.recalls for place in official.places}
    rows = []
    for played in official.fresh:
        card = played.card
        failure = official.failures.get(card.name)
        words = failure or (f"Plays by the rules, but {RECALLS}." if remarks[card.name] else "Plays by the rules.")
        kind, verdict = ("refuted", "not ranked") if failure else ("confirmed", "ranked")
        rows.append(
            [
                _text(card.name),
                f'<span class="{kind}"><span class="verdict">{verdict}</span></span>',
                f'<span class="wrapped">{_text(words)}</span>',
                f'<span class="wrapped">{_text(card.about)}</span>',
                _text(card.author),
            ]
        )
    return _table("Verdicts", ["Submission", "", "Verdict", "About", "Author"], rows, named=0)


def _errors(boards: Sequence[Leaderboard]) -> str:
    if not boards:
        return _reading("There are none.")
    agents = sorted(row.agent for row in boards[0].standings)
    rows = []
    for board in boards:
        by_agent = {row.agent: row for row in board.standings}
        rows.append([_task(board), *(_error(by_agent[agent]) for agent in agents)])
    return _reading(
        f"Error probabilities with the fresh seed. Bold: cannot be told apart from the first, jointly at {SHARE}."
    ) + _table("Errors by task", ["Task", *map(_text, agents)], rows, named=0)


def _tasks(boards: Sequence[Leaderboard]) -> str:
    headings = [f"Rank [{SHARE}]", "Submission", f"Error probability [{SHARE}]", "Oracle knowledge"]
    parts = []
    for board in boards:
        rows = [
            [
                _rank(row.rank, row.rank_interval),
                f"<b>{_text(row.agent)}</b>",
                _estimate(Estimate(row.error_probability, *row.interval)),
                _knowledge(row.knows),
            ]
            for row in board.standings
        ]
        notes = dict.fromkeys(group_notes(note for row in board.standings for note in row.notes).values())
        below = "".join(f'<p class="footnotes">{_text(note)}</p>' for note in notes)
        table = _table(board.env, headings, rows, named=1)
        parts.append(f"<details><summary>{_task(board)}</summary>{table}{below}</details>")
    return "".join(parts)


def _force(official: Official) -> str:
    limits = official.evaluation
    lines = [
        official.isolation,
        f"Limits of a submission: {limits.seconds:g} seconds for all answers in a task, {limits.answer_seconds:g} for "
        f"one answer, {limits.memory:g} GiB for each process (on POSIX systems), the first {MOST_LOG:,} bytes of "
        "prints.",
        "Instances, rewards and budgets stay in another process, which shows a submission what an agent may see, with "
        "the arms of every episode in a random order. Submissions play one after the other, each in a fresh process "
        "for each seed.",
        "The fresh seed was drawn after all submissions had been read. To repeat this page: ",
    ]
    command = f"bai-gym leaderboard run --fresh-seed {official.fresh_seed}"
    paragraphs = "".join(f'<p class="reading">{_text(line)}</p>' for line in lines)
    return f'{paragraphs}<div class="command"><code>{command}</code></div>'


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{_text(title)}</h2>\n{body}\n</section>\n"


def _reading(words: str) -> str:
    return f'<p class="reading">{_text(words)}</p>'


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
    label = html.escape(caption)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>'
        f'<caption class="hidden">{label}</caption><thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def _picture(score: Estimate, places: Sequence[Place]) -> str:
    """Return a score and its interval as a dot on a line, on the scale of all."""
    low = min(place.score.lower for place in places)
    high = max(place.score.upper for place in places)

    def at(value: float) -> str:
        return f"{5 + (WIDTH - 10) * (value - low) / ((high - low) or 1.0):.1f}"

    middle = HEIGHT / 2
    return (
        f'<svg class="bar" width="{WIDTH}" height="{HEIGHT}" aria-hidden="true">'
        f'<line x1="{at(score.lower)}" x2="{at(score.upper)}" y1="{middle:g}" y2="{middle:g}" '
        'style="stroke: var(--accent); stroke-width: 2"/>'
        f'<circle cx="{at(score.value)}" cy="{middle:g}" r="4" style="fill: var(--accent)"/></svg>'
    )


def _task(board: Leaderboard) -> str:
    return f"{_text(board.env)} with {board.budgets[0]:,} pulls"


def _error(row: Standing) -> str:
    share = f"{row.error_probability:.3f}"
    return f"<b>{share}</b>" if row.rank_interval[0] == 1 else share


def _rank(rank: int, interval: tuple[int, int]) -> str:
    return f'{rank} <span class="range">[{interval[0]}, {interval[1]}]</span>'


def _estimate(estimate: Estimate) -> str:
    value, bracket, rest = with_interval(estimate.value, estimate.lower, estimate.upper).partition(" [")
    return f'{value} <span class="range">{bracket.strip()}{rest}</span>'


def _knowledge(knows: Sequence[str]) -> str:
    return "".join(f'<span class="chip">{word}</span>' for word in knows) or format_knowledge(knows)


def _text(words: object) -> str:
    return html.escape(str(words))
