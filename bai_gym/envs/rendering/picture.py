"""An episode as an image: the render mode ``rgb_array``."""

from __future__ import annotations

import math
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bai_gym.envs.rendering.snapshot import Snapshot, headline, share, shown_means
from bai_gym.errors import MissingPackageError, ParameterError

__all__ = ["import_pygame", "to_rgb"]

# Okabe and Ito's colours, distinct for colour-blind readers too, and some greys.
WHITE, INK, GREY, RAIL, STRIPE = (255, 255, 255), (34, 34, 34), (110, 110, 110), (232, 232, 232), (252, 236, 205)
BAR, LAST, RIGHT, WRONG, PULLS = (86, 140, 190), (230, 159, 0), (0, 158, 115), (213, 94, 0), (150, 150, 150)
Colour = tuple[int, int, int]


def to_rgb(snapshot: Snapshot, size: tuple[int, int] = (960, 540)) -> NDArray[np.uint8]:
    """Draw an episode as an image, without opening a window.

    From top to bottom: the phase and the pulls spent, the budget as a bar, the means with their 95 % intervals, the
    pulls of each arm. Arms never pulled have a small cross in place of a mean. The arm pulled last is orange, on a
    pale stripe; a recommended one carries a triangle, green if correct (or not judged) and red if wrong. A
    threshold in the range of the means is a line across them.

    Args:
        snapshot: The episode.
        size: Width and height in pixels, at least 320 by 240.

    Returns:
        The image, shape (height, width, 3), uint8; the same shape at every moment of an episode.

    Raises:
        ParameterError: If the size is too small to draw on.
        MissingPackageError: If pygame is not installed.
    """
    width, height = size
    if width < 320 or height < 240:
        raise ParameterError(f"size {size} is too small for a picture; give at least (320, 240) pixels")
    pygame = import_pygame()
    pygame.font.init()
    surface = pygame.Surface(size, depth=32)  # plain memory: no display is needed
    surface.fill(WHITE)
    canvas = _Canvas(pygame, surface, font_size=max(15, height // 26))
    line = canvas.line_height
    left = max(round(0.085 * width), canvas.text_width("100,000") + 12)
    right = width - round(0.03 * width)
    top = _draw_header(canvas, snapshot, left, right)
    bottom = height - 2 * line
    split = top + round(0.66 * (bottom - top))
    _draw_means(canvas, snapshot, (left, top + round(1.6 * line), right, split - round(0.8 * line)))
    _draw_pulls(canvas, snapshot, (left, split + line, right, bottom))
    _draw_arm_numbers(canvas, len(snapshot.pulls), left, right, bottom)
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).transpose(1, 0, 2))  # (W, H, 3) -> (H, W, 3)


class _Canvas:
    """A pygame surface with the few strokes that the drawings need."""

    def __init__(self, pygame: Any, surface: Any, font_size: int) -> None:
        self.pygame, self.surface = pygame, surface
        self.font = pygame.font.Font(None, round(1.25 * font_size))
        self.line_height: int = self.font.get_linesize()

    def rect(self, colour: Colour, left: float, top: float, right: float, bottom: float) -> None:
        """Fill a rectangle, at least one pixel each way."""
        x, y = round(left), round(top)
        box = (x, y, max(round(right) - x, 1), max(round(bottom) - y, 1))
        self.pygame.draw.rect(self.surface, colour, box)

    def triangle(self, colour: Colour, x: float, y: float, radius: float) -> None:
        """Fill a triangle that points down to (x, y)."""
        points = [(x, y), (x - radius, y - 1.6 * radius), (x + radius, y - 1.6 * radius)]
        self.pygame.draw.polygon(self.surface, colour, points)

    def cross(self, colour: Colour, x: float, y: float, radius: float) -> None:
        """Draw an x centred at (x, y)."""
        for sign in (-1, 1):
            self.pygame.draw.line(
                self.surface, colour, (x - radius, y - sign * radius), (x + radius, y + sign * radius)
            )

    def text(self, text: str, x: float, y: float, colour: Colour = INK, align: float = 0.0) -> None:
        """Write text with its top at y, and its left edge (align 0), middle (0.5) or right edge (1) at x."""
        image = self.font.render(text, True, colour)
        self.surface.blit(image, (round(x - align * image.get_width()), round(y)))

    def text_width(self, text: str) -> int:
        """Width of text in pixels."""
        return int(self.font.size(text)[0])


def _draw_header(canvas: _Canvas, snapshot: Snapshot, left: int, right: int) -> int:
    """Phase, pulls spent, and the budget as a bar; returns the y where the rest may begin."""
    line = canvas.line_height
    wrong = snapshot.correct is False or snapshot.truncated
    colour = {"explore": INK, "recommend": LAST, "done": WRONG if wrong else RIGHT}[snapshot.phase]
    spent = snapshot.budget - snapshot.remaining
    canvas.text(headline(snapshot), left, 0.6 * line, colour)
    canvas.text(f"{spent:,.10g} of {snapshot.budget:,.10g} {snapshot.unit}", right, 0.6 * line, align=1.0)
    top, bottom = 1.9 * line, 2.3 * line
    canvas.rect(RAIL, left, top, right, bottom)
    if spent > 0:
        canvas.rect(BAR, left, top, left + (right - left) * share(spent, snapshot.budget), bottom)
    return round(2.6 * line)


def _draw_means(canvas: _Canvas, snapshot: Snapshot, box: tuple[int, int, int, int]) -> None:
    """Bars of the means from the zero line, with whiskers for their intervals."""
    left, top, right, bottom = box
    played, means, below, above, (low, high) = shown_means(snapshot)
    centres, bar = _slots(len(means), left, right)

    def y_of(value: float) -> float:
        return bottom - (min(max(value, low), high) - low) / (high - low) * (bottom - top)

    unseen = "" if played.all() else "    x: not pulled yet"
    canvas.text("mean, 95 % interval" + unseen, left, top - 1.4 * canvas.line_height, GREY)
    _draw_stripe(canvas, snapshot, box)
    for tick in _ticks(low, high):
        canvas.rect(RAIL, left, y_of(tick), right, y_of(tick))
        canvas.text(f"{tick:g}", left - 8, y_of(tick) - canvas.line_height / 2, GREY, align=1.0)
    whisker = 1 if bar < 12 else 2
    cap = min(max(bar / 4, 0), 7) if bar >= 5 else 0
    for arm, x in enumerate(centres):
        if not played[arm]:
            canvas.cross(GREY, x, y_of(0.0), min(max(bar / 3, 2), 6))
            continue
        base, tip = sorted((y_of(0.0), y_of(means[arm])))
        canvas.rect(_bar_colour(snapshot, arm, BAR), x - bar / 2, base, x + bar / 2, tip)
        if below[arm] + above[arm] > 0.0:
            upper, lower = y_of(means[arm] + above[arm]), y_of(means[arm] - below[arm])
            canvas.rect(INK, x - whisker / 2, upper, x - whisker / 2 + whisker, lower)
            if cap:
                canvas.rect(INK, x - cap, upper, x + cap, upper)
                canvas.rect(INK, x - cap, lower, x + cap, lower)
    canvas.rect(INK, left, y_of(0.0), right, y_of(0.0))
    if snapshot.threshold is not None and low <= snapshot.threshold <= high:
        canvas.rect(WRONG, left, y_of(snapshot.threshold), right, y_of(snapshot.threshold))
    for arm in snapshot.recommended:
        peak = max(means[arm] + above[arm], 0.0) if played[arm] else 0.0
        canvas.triangle(_recommendation_colour(snapshot), centres[arm], y_of(peak) - 4, min(max(bar / 2, 5), 10))


def _draw_pulls(canvas: _Canvas, snapshot: Snapshot, box: tuple[int, int, int, int]) -> None:
    """Bars of the pulls of each arm."""
    left, top, right, bottom = box
    most = max(int(snapshot.pulls.max()), 1)
    centres, bar = _slots(len(snapshot.pulls), left, right)
    canvas.text("pulls", left, top - 1.1 * canvas.line_height, GREY)
    _draw_stripe(canvas, snapshot, box)
    canvas.rect(RAIL, left, top, right, top)
    canvas.text(f"{most:,}", left - 8, top - canvas.line_height / 2, GREY, align=1.0)
    canvas.text("0", left - 8, bottom - canvas.line_height / 2, GREY, align=1.0)
    for arm, x in enumerate(centres):
        if snapshot.pulls[arm] > 0:
            tip = bottom - snapshot.pulls[arm] / most * (bottom - top)
            canvas.rect(_bar_colour(snapshot, arm, PULLS), x - bar / 2, tip, x + bar / 2, bottom)
    canvas.rect(INK, left, bottom, right, bottom)


def _draw_stripe(canvas: _Canvas, snapshot: Snapshot, box: tuple[int, int, int, int]) -> None:
    """A pale stripe behind the arm pulled last, which shows it even where its bar has no height."""
    left, top, right, bottom = box
    if snapshot.last_arm is not None and snapshot.phase != "done":
        centres, bar = _slots(len(snapshot.pulls), left, right)
        reach = 0.7 * bar
        canvas.rect(STRIPE, centres[snapshot.last_arm] - reach, top, centres[snapshot.last_arm] + reach, bottom)


def _draw_arm_numbers(canvas: _Canvas, num_arms: int, left: int, right: int, top: int) -> None:
    """Numbers of the arms, from 0, at a spacing at which they can be read."""
    centres, _ = _slots(num_arms, left, right)
    width = 1.8 * canvas.text_width(str(num_arms - 1))
    step = next(
        s for s in (1, 2, 4, 8, 16, 32, 64, num_arms) if s * (right - left) / num_arms >= width or s == num_arms
    )
    for arm in range(0, num_arms, step):
        canvas.text(f"{arm}", centres[arm], top + 4, GREY, align=0.5)
    canvas.text("arm", left - 8, top + 4, GREY, align=1.0)


def _bar_colour(snapshot: Snapshot, arm: int, usual: Colour) -> Colour:
    """Colour of an arm's bars: recommended, pulled last, or neither."""
    if arm in snapshot.recommended:
        return _recommendation_colour(snapshot)
    return LAST if arm == snapshot.last_arm and snapshot.phase != "done" else usual


def _recommendation_colour(snapshot: Snapshot) -> Colour:
    return WRONG if snapshot.correct is False else RIGHT


def _slots(num_arms: int, left: float, right: float) -> tuple[list[float], float]:
    """Centres of the arms' bars in pixels, and the width of a bar, at most 90."""
    slot = (right - left) / num_arms
    return [left + (arm + 0.5) * slot for arm in range(num_arms)], min(max(0.72 * slot, 1.0), 90.0)


def _ticks(low: float, high: float) -> list[float]:
    """Round values within [low, high], about four of them, zero among them where it lies inside."""
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def import_pygame() -> Any:
    """Import pygame quietly, or say which extra brings it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pygame imports a deprecated part of setuptools if installed
            import pygame
            import pygame.surfarray
    except ImportError as error:
        raise MissingPackageError('drawing an episode needs pygame; pip install "bai-gym[render]"') from error
    return pygame
