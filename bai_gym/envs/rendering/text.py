"""An episode as a table of ASCII characters: the render mode ``ansi``."""

from __future__ import annotations

import math

from bai_gym.envs.rendering.snapshot import Snapshot, headline, share, shown_means

__all__ = ["to_text"]

MIN_BAR, MAX_BAR = 8, 40  # characters of a bar


def to_text(snapshot: Snapshot, width: int = 100) -> str:
    """Draw an episode as an aligned table of ASCII characters.

    Each arm shows its number (from 0; ``>`` marks the last pull, ``*`` the recommendation), its pulls, its mean, half
    the length of its 95 % interval (``-`` where none can be estimated), and a bar on which ``o`` is the mean, ``-`` the
    interval and ``|`` zero; ``:`` is the threshold, where there is one in the range.

    Args:
        snapshot: The episode.
        width: Characters per line. Above 32 arms the table is folded into as many columns as fit.

    Returns:
        The drawing: two header lines and the table, without a final line break.
    """
    num_arms = len(snapshot.pulls)
    numbers = _text_numbers(snapshot)
    gap = "    "
    least = len(numbers[0]) + 2 + MIN_BAR
    columns = max(1, min(math.ceil(num_arms / 32), (width + len(gap)) // (least + len(gap))))
    space = (width + len(gap)) // columns - len(gap) - len(numbers[0]) - 2
    bar_width = min(max(space, MIN_BAR), MAX_BAR)
    bars = ["", *_text_bars(snapshot, bar_width)]
    heading, *rows = (f"{cells}  {bar:<{bar_width}}" for cells, bar in zip(numbers, bars, strict=True))
    height = math.ceil(num_arms / columns)
    lines = [gap.join([heading] * columns)]
    lines += [gap.join(rows[i::height]) for i in range(height)]  # arms run down the first column, then the next
    spent = snapshot.budget - snapshot.remaining
    filled = round(20 * share(spent, snapshot.budget))
    border = "" if snapshot.threshold is None else f", threshold {snapshot.threshold:g}"
    part = f"{snapshot.unit} {spent:.10g}/{snapshot.budget:.10g}"
    header = f"{headline(snapshot)}{border}\n{part} [{'#' * filled}{'.' * (20 - filled)}]"
    return "\n".join([header, *(line.rstrip() for line in lines)])


def _text_numbers(snapshot: Snapshot) -> list[str]:
    """The heading and each arm's mark and numbers, all of one width."""
    played, means, below, above, (low, high) = shown_means(snapshot)
    # Four significant digits of the whole range, and the same decimals for all arms, so that the points align.
    places = min(max(3 - math.floor(math.log10(high - low)), 0), 9)
    columns = [
        ["arm", *(f"{arm}" for arm in range(len(means)))],
        ["pulls", *(f"{n}" for n in snapshot.pulls)],
        ["mean", *(f"{mean:z.{places}f}" if seen else "-" for mean, seen in zip(means, played, strict=True))],
        ["+-95%", *(f"{half:.{places}f}" if half > 0.0 else "-" for half in (below + above) / 2.0)],
    ]
    sizes = [max(map(len, column)) for column in columns]
    marks = [" "] * (len(means) + 1)
    if snapshot.last_arm is not None and snapshot.phase != "done":
        marks[snapshot.last_arm + 1] = ">"
    for arm in snapshot.recommended:
        marks[arm + 1] = "*"
    return [
        mark + "  ".join(cell.rjust(size) for cell, size in zip(cells, sizes, strict=True))
        for mark, *cells in zip(marks, *columns, strict=True)
    ]


def _text_bars(snapshot: Snapshot, size: int) -> list[str]:
    """Each arm's interval on a common axis of `size` characters; empty for arms never pulled."""
    played, means, below, above, (low, high) = shown_means(snapshot)
    return [
        _text_bar(mean, under, over, low, high, size, snapshot.threshold) if seen else ""
        for mean, under, over, seen in zip(means, below, above, played, strict=True)
    ]


def _text_bar(
    mean: float, below: float, above: float, low: float, high: float, size: int, threshold: float | None = None
) -> str:
    """One line of characters over [low, high]: the mean, its interval, zero, and the threshold."""

    def cell(value: float) -> int:
        return min(max(round((value - low) / (high - low) * (size - 1)), 0), size - 1)

    bar = [" "] * size
    if low <= 0.0 <= high:
        bar[cell(0.0)] = "|"
    for i in range(cell(mean - below), cell(mean + above) + 1):
        bar[i] = "-"
    if threshold is not None and low <= threshold <= high:
        bar[cell(threshold)] = ":"
    bar[cell(mean)] = "o"
    return "".join(bar)
