"""A web page with the evidence for a recommendation: one file of HTML, which loads nothing and runs no script."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bai_gym.results.page import html_page

__all__ = ["PageRow", "evidence_page"]

_WIDTH, _MARGIN = 320.0, 8.0  # of a drawing, in pixels

_STYLE = """
:root { --best: #0072b2; --other: #888; }
tr.best { font-weight: 600; }
svg { display: block; width: 100%; min-width: 12rem; height: 1.25rem; }
svg * { stroke: var(--other); fill: var(--other); }
tr.best svg * { stroke: var(--best); fill: var(--best); }
svg .share { opacity: .25; stroke: none; }
"""


@dataclass(frozen=True, slots=True)
class PageRow:
    """What the page shows of one arm.

    Attributes:
        name: Name of the arm.
        pulls: Pulls of the arm.
        mean: Mean reward; NaN without a pull.
        interval: Ends of its 95 % interval; NaN where nothing can be estimated.
        recommended: Whether the agent recommends the arm.
    """

    name: str
    pulls: int
    mean: float
    interval: tuple[float, float]
    recommended: bool


def evidence_page(title: str, sentences: Sequence[str], rows: Sequence[PageRow], notes: Sequence[str]) -> str:
    """Return the page.

    Args:
        title: Title and first heading.
        sentences: Paragraphs above the table.
        rows: The arms, in the order of the table; at least one has been pulled.
        notes: Items of a list below the table.
    """
    scale = _Scale(rows)
    above = "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    table = "\n".join(_row(row, scale) for row in rows)
    below = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    body = f"""{above}
<table>
<thead><tr><th>arm</th><th>pulls</th><th>mean</th><th>95 % interval</th><th>{scale.heading}</th></tr></thead>
<tbody>
{table}
</tbody>
</table>
<p>Dots are mean rewards, lines their 95 % intervals, and bars behind them the share of the pulls. The agent chose the
samples adaptively, so means are slightly biased, and the intervals are a guide, not a proof.</p>
{f"<ul>{below}</ul>" if below else ""}"""
    return html_page(title, body, _STYLE)


class _Scale:
    """The horizontal scale of the drawings, the same for all arms."""

    def __init__(self, rows: Sequence[PageRow]) -> None:
        shown = [value for row in rows for value in (row.mean, *row.interval) if math.isfinite(value)]
        self.low, self.high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        self.heading = f"{self.low:.4g} to {self.high:.4g}"
        self.pulls = sum(row.pulls for row in rows)

    def place(self, reward: float) -> float:
        share = (reward - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return _MARGIN + share * (_WIDTH - 2.0 * _MARGIN)


def _row(row: PageRow, scale: _Scale) -> str:
    low, high = row.interval
    share = row.pulls / scale.pulls * _WIDTH
    drawing = f'<rect class="share" x="0" y="2" width="{share:.1f}" height="16"/>'
    if math.isfinite(low):
        drawing += f'<path stroke-width="2" d="M{scale.place(low):.1f} 10H{scale.place(high):.1f}"/>'
    if math.isfinite(row.mean):
        drawing += f'<circle cx="{scale.place(row.mean):.1f}" cy="10" r="4"/>'
    cells = [
        html.escape(row.name),
        f"{row.pulls}",
        f"{row.mean:.6g}" if math.isfinite(row.mean) else "-",
        "not estimable" if math.isnan(low) else f"{low:.4g} to {high:.4g}",
        f'<svg viewBox="0 0 {_WIDTH:g} 20" aria-hidden="true">{drawing}</svg>',
    ]
    best = ' class="best"' if row.recommended else ""
    return f"<tr{best}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
