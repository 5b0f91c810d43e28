"""The picture of a trade-off: the reward against a guarded metric, with the region that the limit allows."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from bai_gym.live.estimates import Estimates
from bai_gym.live.page import WIDTH, Scale

__all__ = ["trade_off"]


def trade_off(
    names: Sequence[str], reward: Estimates, metric: Estimates, guardrail: tuple[str, str], answer: int
) -> str:
    """Return a figure as HTML: means with 95 % intervals, where there are any, and what the limit allows, shaded.

    Args:
        names: Names of the arms.
        reward: Estimates of the reward, upwards.
        metric: Estimates of the metric, to the right.
        guardrail: Its name and limit, such as ``"<= 300"``.
        answer: The arm that stands out.
    """
    name, limit = map(html.escape, guardrail)
    border = float(guardrail[1][2:])
    across, up = Scale([*metric.means, *metric.intervals.flat, border]), Scale([*reward.means, *reward.intervals.flat])
    edge = across.place(border)
    left, right = (0.0, edge) if guardrail[1][0] == "<" else (edge, WIDTH)
    drawn = [f'<rect x="{left:.1f}" width="{right - left:.1f}" height="{WIDTH}" fill="var(--best)" opacity=".1"/>']
    drawn.append(f'<path stroke="var(--other)" stroke-dasharray="9 4" d="M{edge:.1f} 0V{WIDTH}"/>')
    for arm in range(metric.pulls.size):
        x, *sides = (across.place(value) for value in (metric.means[arm], *metric.intervals[arm]))
        y, *ends = (WIDTH - up.place(value) for value in (reward.means[arm], *reward.intervals[arm]))
        if math.isfinite(sum(sides) + sum(ends)):
            colour = f"var(--{'best' if arm == answer else 'other'})"
            lines = "M{:.1f} {y:.1f}H{:.1f}M{x:.1f} {:.1f}V{:.1f}".format(*sides, *ends, x=x, y=y)
            drawn.append(f'<path stroke="{colour}" d="{lines}"/>')
            drawn.append(f'<text x="{x + 2.0:.1f}" y="{y - 2.0:.1f}" fill="{colour}">{html.escape(names[arm])}</text>')
    return f"""<figure>
<figcaption><h2>The trade-off: {name}</h2>The reward (upwards) against {name} (to the right), averages with their 95 %
intervals. In the shaded region {name} is {limit}.</figcaption>
<svg viewBox="0 0 {WIDTH:g} {WIDTH:g}" role="img" aria-label="Trade-off of the reward and {name}">
{"".join(drawn)}</svg>
</figure>"""
