"""A web page with the evidence for a recommendation: one file of HTML, which loads nothing and runs no script."""

from __future__ import annotations

import html
import math

import numpy as np

from bai_gym.live.evidence import Identification
from bai_gym.results.page import html_page
from bai_gym.statistics import FloatArray

__all__ = ["page_of"]

_WIDTH, _MARGIN = 320.0, 8.0  # of a drawing, in pixels

_STYLE = """
:root { --best: #0072b2; --other: #888; }
tr.best { font-weight: 600; }
svg { display: block; width: 100%; min-width: 12rem; height: 1.25rem; }
svg * { stroke: var(--other); fill: var(--other); }
tr.best svg * { stroke: var(--best); fill: var(--best); }
svg .share { opacity: .25; stroke: none; }
"""


def page_of(found: Identification) -> str:
    """Return the page: the recommendation, its lead over the runner-up, and a table with a drawing of each arm."""
    scale = _Scale(found)
    title = f"{found.name} is recommended"
    rows = "\n".join(_row(found, int(arm), scale) for arm in found.order)
    notes = "".join(f"<li>{_text(note)}</li>" for note in found.notes)
    body = f"""<p>{_text(_lead(found))}</p>
<p>{_text(f"{found.agent} has made {len(found.log)} of {found.budget} pulls; its seed is {found.seed}.")}</p>
<table>
<thead><tr><th>arm</th><th>pulls</th><th>mean</th><th>95 % interval</th><th>{scale.words}</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p>Dots are mean rewards, lines their 95 % intervals, and bars behind them the share of the pulls. The agent chose the
samples adaptively, so means are slightly biased, and the intervals are a guide, not a proof.</p>
{f"<ul>{notes}</ul>" if notes else ""}"""
    return html_page(title, body, _STYLE)


class _Scale:
    """Places of rewards in the drawings, the same for all arms."""

    def __init__(self, found: Identification) -> None:
        shown: FloatArray = np.concatenate([found.means, found.intervals.ravel()])
        shown = shown[np.isfinite(shown)]
        self.low, self.high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
        self.words = f"{self.low:.4g} to {self.high:.4g}"

    def place(self, reward: float) -> float:
        share = (reward - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return _MARGIN + share * (_WIDTH - 2.0 * _MARGIN)


def _lead(found: Identification) -> str:
    difference, low, high = found.lead
    runner_up = found.runner_up
    if runner_up is None:
        return "No other arm has been pulled, so there is no runner-up."
    name = found.names[runner_up]
    if math.isnan(low):
        return f"Its mean is {difference:.4g} above that of the runner-up, {name}; that has no interval."
    words = f"Its mean is {difference:.4g} above that of the runner-up, {name} (95 % interval {low:.4g} to {high:.4g})."
    if low > 0.0:
        return words
    return f"{words} The interval includes 0: the two may be equally good."


def _row(found: Identification, arm: int, scale: _Scale) -> str:
    mean, (low, high) = found.means[arm], found.intervals[arm]
    share = found.pulls[arm] / found.pulls.sum() * _WIDTH
    drawing = f'<rect class="share" x="0" y="2" width="{share:.1f}" height="16"/>'
    if math.isfinite(low):
        drawing += f'<path stroke-width="2" d="M{scale.place(low):.1f} 10H{scale.place(high):.1f}"/>'
    if math.isfinite(mean):
        drawing += f'<circle cx="{scale.place(mean):.1f}" cy="10" r="4"/>'
    interval = "not estimable" if math.isnan(low) else f"{low:.4g} to {high:.4g}"
    cells = [
        _text(found.names[arm]),
        f"{found.pulls[arm]}",
        f"{mean:.6g}" if math.isfinite(mean) else "-",
        interval,
        f'<svg viewBox="0 0 {_WIDTH:g} 20" aria-hidden="true">{drawing}</svg>',
    ]
    best = ' class="best"' if arm == found.recommendation else ""
    return f"<tr{best}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _text(words: str) -> str:
    return html.escape(words)
