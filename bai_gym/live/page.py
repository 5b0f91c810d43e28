"""A web page with the evidence for a recommendation: one file of HTML, which loads nothing and runs no script.

It is written for those who decide, so it says "observation" where the library says pull.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.errors import OutputError
from bai_gym.results.page import html_page
from bai_gym.statistics import FloatArray
from bai_gym.validation import AnyPath

__all__ = ["Growth", "Numbers", "Page", "PageRow", "trade_off", "write_page"]

_WIDTH, _MARGIN = 240.0, 16.0  # of an axis, in pixels
_TICKS = 6  # at most, of an axis
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
tr td svg .tick { stroke: var(--line); }
td svg text { stroke: none; fill: currentColor; font-size: 14px; text-anchor: middle; }
tfoot td { border: 0; }
figure { margin: 1.5rem 0; }
figure svg { border: solid var(--line); border-width: 0 0 1px 1px; }
figure text { stroke: none; fill: currentColor; font-size: 8px; }
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
class Numbers:
    """How means are written: all with the same decimals, so that columns can be compared.

    Attributes:
        rates: Whether all rewards are 0 or 1, so that means are shown in per cent.
        decimals: Digits behind the point, of per cent for rates; None: four significant digits.
    """

    rates: bool
    decimals: int | None

    @classmethod
    def of(cls, means: FloatArray, intervals: FloatArray, *, rates: bool) -> Numbers:
        """Choose the decimals that show two digits of a typical standard error, ``(K,)`` means and ``(K, 2)`` ends."""
        factor, widths = 100.0 if rates else 1.0, np.diff(intervals).ravel()
        widths, known = widths[widths > 0.0] * factor, means[np.isfinite(means)] * factor
        if not widths.size:
            return cls(rates, None)
        decimals = max(0, 1 - math.floor(math.log10(float(np.median(widths)) / 4.0)))
        return cls(rates, decimals if decimals <= 6 and float(np.abs(known).max()) < 1e7 else None)

    def mean(self, value: float, *, unit: bool = True) -> str:
        """Return a mean as text, a rate in per cent."""
        shown = self._number(value)
        return f"{shown} %" if self.rates and unit else shown

    def change(self, value: float) -> str:
        """Return a difference of means, with its sign."""
        return f"{self._number(value, '+')}{' points' if self.rates else ''}"

    def range(self, low: float, high: float, *, points: bool = True) -> str:
        """Return an interval, of differences where rates are in points."""
        unit = "" if not self.rates else " points" if points else " %"
        return f"{self._number(low)} to {self._number(high)}{unit}"

    def _number(self, value: float, sign: str = "-") -> str:
        shown = 100.0 * value if self.rates else value
        return f"{shown:{sign}.4g}" if self.decimals is None else f"{shown:{sign}.{self.decimals}f}"


@dataclass(frozen=True, slots=True)
class PageRow:
    """What the page shows of one arm.

    Attributes:
        name: Name of the arm.
        cells: What the table says of it, one text for each heading.
        mean: Mean reward; NaN without a pull.
        interval: Ends of its 95 % interval; NaN where nothing can be estimated.
        recommended: Whether the agent recommends the arm.
    """

    name: str
    cells: tuple[str, ...]
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
        headings: Headings of the table, between the name and the intervals drawn.
        rows: The arms, in the order of the table; at least one has been pulled.
        numbers: How means are written.
        growth: A figure below the table; None: there is none.
        lasting: What the intervals at all times promise, and what they assume.
        details: Items of a list for those who know the library.
        figures: Further figures, as HTML.
    """

    title: str
    decision: str
    sentences: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[PageRow]
    numbers: Numbers
    growth: Growth | None
    lasting: str
    details: Sequence[str]
    figures: Sequence[str] = ()


def write_page(page: Page, path: AnyPath) -> None:
    """Write the page as a file of HTML.

    Raises:
        OutputError: If it cannot be written.
    """
    scale = _Scale(value for row in page.rows for value in (row.mean, *row.interval))
    decision = f'<p class="decision">{html.escape(page.decision)}</p>' if page.decision else ""
    above = "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in page.sentences)
    drawn = "rate, with its 95 % interval" if page.numbers.rates else "average, with its 95 % interval"
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in ("alternative", *page.headings, drawn))
    table = "\n".join(_row(row, page.headings, scale) for row in page.rows)
    details = "".join(f"<li>{html.escape(detail)}</li>" for detail in page.details)
    body = f"""{decision}
{above}
<table>
<thead><tr>{heads}</tr></thead>
<tbody>
{table}
</tbody>
<tfoot><tr><td colspan="{len(page.headings) + 1}"></td><td>{scale.axis(page.numbers)}</td></tr></tfoot>
</table>
{"".join(page.figures)}{"" if page.growth is None else _figure(page.growth)}
<p>Where more observations were made of the alternatives that did well, the averages of the others are slightly too low,
so intervals of one look and probabilities are a guide, not a proof. {html.escape(page.lasting)}</p>
<details><summary>Details for analysts</summary><ul>{details}</ul></details>"""
    try:
        Path(path).write_text(html_page(page.title, body, _STYLE), encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None


class _Scale:
    """A scale that shows some values, with ticks."""

    def __init__(self, values: Iterable[float]) -> None:
        shown = [value for value in values if math.isfinite(value)]
        self.low, self.high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        if self.low == self.high:
            pad = 0.5 * abs(self.low) or 0.5
            self.low, self.high = self.low - pad, self.high + pad
        least = (self.high - self.low) / _TICKS
        unit = 10.0 ** math.floor(math.log10(least))
        step = next(step for step in (unit, 2 * unit, 5 * unit, 10 * unit, 20 * unit) if step >= least)
        self.ticks = [step * number for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]

    def place(self, reward: Any) -> Any:
        return _MARGIN + (reward - self.low) / (self.high - self.low) * (_WIDTH - 2.0 * _MARGIN)

    def drawing(self, content: str, down: int = 20) -> str:
        """Return a drawing with a line at each tick, from above down to some pixel."""
        lines = "".join(f'<path class="tick" d="M{self.place(tick):.1f} 0V{down}"/>' for tick in self.ticks)
        return (
            f'<svg viewBox="0 0 {_WIDTH:g} 20" preserveAspectRatio="xMinYMid" aria-hidden="true">{lines}{content}</svg>'
        )

    def axis(self, numbers: Numbers) -> str:
        """Return the labels of the ticks."""
        factor, unit = (100.0, "&#160;%") if numbers.rates else (1.0, "")
        texts = (f'<text x="{self.place(tick):.1f}" y="17">{factor * tick:.6g}{unit}</text>' for tick in self.ticks)
        return self.drawing("".join(texts), down=4)


def _row(row: PageRow, headings: Sequence[str], scale: _Scale) -> str:
    low, high = row.interval
    drawing = ""
    if math.isfinite(low):
        drawing += f'<path stroke-width="2" d="M{scale.place(low):.1f} 10H{scale.place(high):.1f}"/>'
    if math.isfinite(row.mean):
        drawing += f'<circle cx="{scale.place(row.mean):.1f}" cy="10" r="4"/>'
    cells = [f"<td>{html.escape(row.name)}</td>"]
    for heading, cell in zip(headings, row.cells, strict=True):
        cells.append(f'<td data-head="{html.escape(heading)}">{html.escape(cell).replace(" %", chr(160) + "%")}</td>')
    cells.append(f"<td>{scale.drawing(drawing)}</td>")
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


def trade_off(names: Sequence[str], reward: Any, metric: Any, guardrail: tuple[str, str], answer: int) -> str:
    """Return a figure as HTML: means with 95 % intervals, where there are any, and what the limit allows, shaded.

    Args:
        names: Names of the arms.
        reward: :class:`~bai_gym.live.estimates.Estimates` of the reward, upwards.
        metric: Those of the metric, to the right.
        guardrail: Its name and limit, such as ``"<= 300"``.
        answer: The arm that stands out.
    """
    points = [np.column_stack([one.means, one.intervals]) for one in (metric, reward)]
    (name, limit), border = map(html.escape, guardrail), float(guardrail[1][2:])
    across, up = _Scale([*points[0].flat, border]), _Scale(points[1].flat)
    arms = zip(names, across.place(points[0]), _WIDTH - up.place(points[1]), strict=False)
    drawn = "".join(
        f"""<g stroke="var(--{"best" if arm == names[answer] else "other"})">
<path d="M{x_low:.1f} {y:.1f}H{x_high:.1f}M{x:.1f} {y_low:.1f}V{y_high:.1f}"/>
<text x="{x:.1f}" y="{y - 3.0:.1f}" text-anchor="{"start" if x < 120.0 else "end"}">{html.escape(arm)}</text></g>"""
        for arm, (x, x_low, x_high), (y, y_low, y_high) in arms
        if math.isfinite(x_low + y_low)
    )
    return f"""<figure style="max-width: 30rem">
<figcaption><h2>The trade-off: {name}</h2>The reward (upwards, from {up.low:.4g} to {up.high:.4g}) against {name} (to
the right), averages with their 95 % intervals. The shaded region: {name} {limit}.</figcaption>
<svg viewBox="0 0 {_WIDTH:g} {_WIDTH:g}" role="img" aria-label="Trade-off of the reward and {name}">
<path style="fill: var(--best); fill-opacity: .1" stroke="var(--other)" stroke-dasharray="9 4"
 d="M{across.place(border):.1f} 0V{_WIDTH:g}H{0 if limit[:3] == "&lt" else _WIDTH:g}V0Z"/>
{drawn}</svg>
<div class="ends"><span>{across.low:.4g}</span><span>{across.high:.4g}</span></div>
</figure>"""
