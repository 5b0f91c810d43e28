"""A web page with the evidence for a recommendation: one file of HTML, which loads nothing and runs no script.

It is written for those who decide, so it says "observation" where the library says pull.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bai_gym.results.page import html_page

__all__ = ["Growth", "Page", "PageRow", "amount", "evidence_page"]

_WIDTH, _MARGIN = 320.0, 8.0  # of a drawing, in pixels
_WIDE, _HIGH = 640.0, 160.0  # of the figure
_DASHES = ("", "9 4", "2 4", "9 4 2 4")  # of its lines, so that they differ without colours

_STYLE = """
:root { --best: #0072b2; --other: #888; --line-0: #0072b2; --line-1: #d55e00; --line-2: #009e73; --line-3: #cc79a7; }
.decision { border-left: .3rem solid var(--best); padding-left: .75rem; font-size: 1.1rem; }
tr.best { font-weight: 600; }
th:first-child, td:first-child { overflow-wrap: break-word; min-width: 8rem; max-width: 20rem; }
svg { display: block; width: 100%; }
td svg { min-width: 12rem; height: 1.25rem; }
td svg * { stroke: var(--other); fill: var(--other); }
tr.best td svg * { stroke: var(--best); fill: var(--best); }
td svg .share { opacity: .25; stroke: none; }
figure { margin: 1.5rem 0; }
figure svg { border: solid var(--line); border-width: 0 0 1px 1px; }
figure path, figure i { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
.ends { display: flex; justify-content: space-between; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 0; list-style: none; overflow-wrap: anywhere; }
.legend svg { display: inline-block; width: 2rem; height: .75rem; border: 0; }
@media (max-width: 48rem) {
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tr { padding: .5rem 0; border-bottom: 2px solid var(--line); }
  td, td:first-child { display: flex; justify-content: space-between; gap: 1rem; padding: .1rem 0; border: 0; }
  td:first-child { font-weight: 600; max-width: none; overflow-wrap: anywhere; }
  td[data-head]::before { content: attr(data-head); font-weight: 400; text-align: left; }
}
"""


@dataclass(frozen=True, slots=True)
class PageRow:
    """What the page shows of one arm.

    Attributes:
        name: Name of the arm.
        cells: What the table says of it, one text for each heading.
        pulls: Pulls of the arm, earlier ones included.
        mean: Mean reward; NaN without a pull.
        interval: Ends of its 95 % interval; NaN where nothing can be estimated.
        recommended: Whether the agent recommends the arm.
    """

    name: str
    cells: tuple[str, ...]
    pulls: int
    mean: float
    interval: tuple[float, float]
    recommended: bool


@dataclass(frozen=True, slots=True)
class Growth:
    """How the probability of being best changed while observations arrived.

    Attributes:
        counts: Numbers of observations, ascending, N of them.
        names: Names of the arms shown, at most four.
        lines: For each of them, N probabilities; NaN where nothing can be estimated.
        now: For each of them, the last probability as text.
    """

    counts: tuple[int, ...]
    names: tuple[str, ...]
    lines: tuple[tuple[float, ...], ...]
    now: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The content.

    Attributes:
        title: Title and first heading.
        decision: What to do, above all else; empty: nothing can be said.
        sentences: Paragraphs above the table.
        headings: Headings of the table, between the name and the drawing.
        rows: The arms, in the order of the table; at least one has been pulled.
        rates: Whether all rewards are 0 or 1, so that means are shown in per cent.
        growth: A figure below the table; None: there is none.
        lasting: What the intervals at all times promise, and what they assume.
        details: Items of a list for those who know the library.
    """

    title: str
    decision: str
    sentences: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[PageRow]
    rates: bool
    growth: Growth | None
    lasting: str
    details: Sequence[str]


def evidence_page(page: Page) -> str:
    """Return the page as HTML."""
    scale = _Scale(page.rows)
    decision = f'<p class="decision">{html.escape(page.decision)}</p>' if page.decision else ""
    above = "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in page.sentences)
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in ("alternative", *page.headings, "drawing"))
    table = "\n".join(_row(row, page.headings, scale) for row in page.rows)
    details = "".join(f"<li>{html.escape(detail)}</li>" for detail in page.details)
    body = f"""{decision}
{above}
<table>
<thead><tr>{heads}</tr></thead>
<tbody>
{table}
</tbody>
</table>
<p>The drawings go from {amount(scale.low, page.rates)} to {amount(scale.high, page.rates)}: dots are averages, lines
their 95 % intervals, and bars behind them the share of the observations.</p>
{"" if page.growth is None else _figure(page.growth)}
<p>Where more observations were made of the alternatives that did well, the averages of the others are slightly too low,
so intervals of one look and probabilities are a guide, not a proof. {html.escape(page.lasting)}</p>
<details><summary>Details for analysts</summary><ul>{details}</ul></details>"""
    return html_page(page.title, body, _STYLE)


def amount(value: float, rate: bool) -> str:
    """Return a mean as text, a rate in per cent."""
    return f"{100.0 * value:.3g} %" if rate else f"{value:.4g}"


class _Scale:
    """The horizontal scale of the drawings, the same for all arms."""

    def __init__(self, rows: Sequence[PageRow]) -> None:
        shown = [value for row in rows for value in (row.mean, *row.interval) if math.isfinite(value)]
        self.low, self.high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        self.pulls = sum(row.pulls for row in rows)

    def place(self, reward: float) -> float:
        share = (reward - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return _MARGIN + share * (_WIDTH - 2.0 * _MARGIN)


def _row(row: PageRow, headings: Sequence[str], scale: _Scale) -> str:
    low, high = row.interval
    share = row.pulls / scale.pulls * _WIDTH
    drawing = f'<rect class="share" x="0" y="2" width="{share:.1f}" height="16"/>'
    if math.isfinite(low):
        drawing += f'<path stroke-width="2" d="M{scale.place(low):.1f} 10H{scale.place(high):.1f}"/>'
    if math.isfinite(row.mean):
        drawing += f'<circle cx="{scale.place(row.mean):.1f}" cy="10" r="4"/>'
    cells = [f"<td>{html.escape(row.name)}</td>"]
    for heading, cell in zip(headings, row.cells, strict=True):
        cells.append(f'<td data-head="{html.escape(heading)}">{html.escape(cell).replace(" %", chr(160) + "%")}</td>')
    cells.append(
        f'<td><svg viewBox="0 0 {_WIDTH:g} 20" preserveAspectRatio="xMinYMid" aria-hidden="true">{drawing}</svg></td>'
    )
    best = ' class="best"' if row.recommended else ""
    return f"<tr{best}>{''.join(cells)}</tr>"


def _figure(growth: Growth) -> str:
    """Return the probabilities of being best over the number of observations, as a line for each arm."""
    first, last = growth.counts[0], growth.counts[-1]
    drawn, legend = [], []
    for number, (name, line) in enumerate(zip(growth.names, growth.lines, strict=True)):
        style = f'stroke="var(--line-{number})" stroke-dasharray="{_DASHES[number]}"'
        points = [
            f"{(count - first) / max(last - first, 1) * _WIDE:.1f} {(1.0 - value) * _HIGH:.1f}"
            for count, value in zip(growth.counts, line, strict=True)
            if math.isfinite(value)
        ]
        drawn.append(f'<path {style} d="M{" L".join(points)}"/>')
        key = f'<svg viewBox="0 0 32 12" aria-hidden="true"><path {style} d="M0 6H32"/></svg>'
        legend.append(f"<li>{key} {html.escape(name)}: {growth.now[number]} now</li>")
    return f"""<figure>
<figcaption><h2>How the evidence grew</h2>Probability of being the best, from 0 % (bottom) to 100 % (top), while
observations came in. A line that has settled near the top is a decision; lines that still cross are none.</figcaption>
<svg viewBox="0 0 {_WIDE:g} {_HIGH:g}" role="img" aria-label="Probability of being the best over time">
{"".join(drawn)}</svg>
<div class="ends"><span>{first:,} observations</span><span>{last:,}</span></div>
<ul class="legend">{"".join(legend)}</ul>
</figure>"""
