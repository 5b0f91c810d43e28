"""Pictures of one episode: as text, as an RGB array, and in a window.

Each is a function of a :class:`Snapshot`, what the learner may see of an episode plus its outcome, so rendering can
never disturb an environment. :func:`to_text` serves the render mode ``ansi``, :func:`to_rgb` serves ``rgb_array``
(and video recording), :class:`Window` serves ``human``.
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bai_gym.errors import MissingPackageError, ParameterError

__all__ = ["Snapshot", "Window", "half_widths", "to_rgb", "to_text"]

Z95 = 1.96  # two-sided 95 % critical value of the normal law
MIN_BAR, MAX_BAR = 8, 40  # characters of a bar in the text form


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """What there is to see of one episode at one moment.

    Attributes:
        pulls: Number of pulls of each arm, shape (K,), integers.
        means: Sample means, shape (K,); not read where `pulls` is 0.
        variances: Unbiased sample variances, shape (K,); not read where `pulls` is below 2.
        remaining: Pulls left.
        budget: Total pulls over all arms.
        last_arm: Arm of the last pull, from 0; None before the first.
        recommendation: The recommended arm, or arms where the answer is a set; None before the recommendation.
        correct: Whether the recommendation was right; None before it, or where that is not to be shown.

    Raises:
        ParameterError: If the three arrays do not have one common shape (K,) with K at least 1.
    """

    pulls: NDArray[np.integer[Any]]
    means: NDArray[np.floating[Any]]
    variances: NDArray[np.floating[Any]]
    remaining: int
    budget: int
    last_arm: int | None = None
    recommendation: int | tuple[int, ...] | None = None
    correct: bool | None = None

    def __post_init__(self) -> None:
        shapes = (np.shape(self.pulls), np.shape(self.means), np.shape(self.variances))
        if len(shapes[0]) != 1 or shapes[0] == (0,) or len(set(shapes)) > 1:
            raise ParameterError(f"pulls, means and variances have shapes {shapes}; they must share one shape (K,)")

    @property
    def phase(self) -> Literal["explore", "recommend", "done"]:
        """Phase of the episode: pulls to make, a recommendation to make, or nothing."""
        if self.recommendation is not None:
            return "done"
        return "explore" if self.remaining > 0 else "recommend"

    @property
    def recommended(self) -> tuple[int, ...]:
        """The recommended arms, none before the recommendation."""
        if self.recommendation is None:
            return ()
        return self.recommendation if isinstance(self.recommendation, tuple) else (self.recommendation,)


def half_widths(snapshot: Snapshot) -> NDArray[np.float64]:
    """Half widths of the 95 % confidence intervals of the means, ``1.96 sqrt(variance / pulls)``.

    Args:
        snapshot: The episode.

    Returns:
        Half widths in units of the reward, shape (K,); 0 for arms below two pulls, whose variance is unknown.
    """
    known = snapshot.pulls >= 2
    variances = np.where(known, np.nan_to_num(np.asarray(snapshot.variances, np.float64)), 0.0)
    halves: NDArray[np.float64] = Z95 * np.sqrt(np.maximum(variances, 0.0) / np.maximum(snapshot.pulls, 1))
    return halves


# --------------------------------------------------------------------------------------------------------- text


def to_text(snapshot: Snapshot, width: int = 100) -> str:
    """Draw an episode as an aligned table of ASCII characters.

    Each arm shows its number (from 0; ``>`` marks the last pull, ``*`` the recommendation), its pulls, its mean, the
    half width of its 95 % interval, and a bar on which ``o`` is the mean, ``-`` the interval and ``|`` zero.

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
    room = (width + len(gap)) // columns - len(gap) - len(numbers[0]) - 2
    bar_width = min(max(room, MIN_BAR), MAX_BAR)
    bars = ["", *_text_bars(snapshot, bar_width)]
    heading, *rows = (f"{cells}  {bar:<{bar_width}}" for cells, bar in zip(numbers, bars, strict=True))
    height = math.ceil(num_arms / columns)
    lines = [gap.join([heading] * columns)]
    lines += [gap.join(rows[i::height]) for i in range(height)]  # arms run down the first column, then the next
    spent = snapshot.budget - snapshot.remaining
    filled = round(20 * _share(spent, snapshot.budget))
    header = f"{_headline(snapshot)}\npulls {spent}/{snapshot.budget} [{'#' * filled}{'.' * (20 - filled)}]"
    return "\n".join([header, *(line.rstrip() for line in lines)])


def _text_numbers(snapshot: Snapshot) -> list[str]:
    """The heading and each arm's mark and numbers, all of one width."""
    played, means = _played_means(snapshot)
    widths = half_widths(snapshot)
    low, high = _mean_range(means, widths, played)
    # Four significant digits of the whole range, and the same decimals for all arms, so that the points align.
    places = min(max(3 - math.floor(math.log10(high - low)), 0), 9)
    columns = [
        ["arm", *(f"{arm}" for arm in range(len(means)))],
        ["pulls", *(f"{n}" for n in snapshot.pulls)],
        ["mean", *(f"{mean:z.{places}f}" if seen else "-" for mean, seen in zip(means, played, strict=True))],
        ["+-95%", *(f"{h:.{places}f}" if n >= 2 else "-" for h, n in zip(widths, snapshot.pulls, strict=True))],
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
    played, means = _played_means(snapshot)
    widths = half_widths(snapshot)
    low, high = _mean_range(means, widths, played)
    return [
        _text_bar(mean, half, low, high, size) if seen else ""
        for mean, half, seen in zip(means, widths, played, strict=True)
    ]


def _text_bar(mean: float, half_width: float, low: float, high: float, size: int) -> str:
    """One line of characters over [low, high]: the mean, its interval, and zero."""

    def cell(value: float) -> int:
        return min(max(round((value - low) / (high - low) * (size - 1)), 0), size - 1)

    bar = [" "] * size
    if low <= 0.0 <= high:
        bar[cell(0.0)] = "|"
    for i in range(cell(mean - half_width), cell(mean + half_width) + 1):
        bar[i] = "-"
    bar[cell(mean)] = "o"
    return "".join(bar)


def _headline(snapshot: Snapshot) -> str:
    """The phase and, at the end, the recommendation and whether it was right."""
    if snapshot.phase != "done":
        return f"phase: {snapshot.phase}"
    arms = snapshot.recommended
    named = ", ".join(map(str, arms[:6])) + (f", ... ({len(arms)} arms)" if len(arms) > 6 else "")
    outcome = {None: "", True: " (correct)", False: " (wrong)"}[snapshot.correct]
    return f"phase: done, recommended arm{'s' if len(arms) != 1 else ''} {named or 'none'}{outcome}"


# ---------------------------------------------------------------------------------------------------- RGB array

# Okabe and Ito's colours, told apart by colour-blind readers too, and some greys.
WHITE, INK, GREY, RAIL, STRIPE = (255, 255, 255), (34, 34, 34), (110, 110, 110), (232, 232, 232), (252, 236, 205)
BAR, LAST, RIGHT, WRONG, PULLS = (86, 140, 190), (230, 159, 0), (0, 158, 115), (213, 94, 0), (150, 150, 150)
Colour = tuple[int, int, int]


def to_rgb(snapshot: Snapshot, size: tuple[int, int] = (960, 540)) -> NDArray[np.uint8]:
    """Draw an episode as an image, without opening a window.

    From top to bottom: the phase and the pulls spent, the budget as a bar, the means with their 95 % intervals, the
    pulls of each arm. Arms never pulled have a small cross in place of a mean. The arm pulled last is orange, on a
    pale stripe; a recommended one carries a triangle, green where right (or not judged) and red where wrong.

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
    pygame = _pygame()
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

    def text(self, words: str, x: float, y: float, colour: Colour = INK, align: float = 0.0) -> None:
        """Write words with their top at y, and their left edge (align 0), middle (0.5) or right edge (1) at x."""
        image = self.font.render(words, True, colour)
        self.surface.blit(image, (round(x - align * image.get_width()), round(y)))

    def text_width(self, words: str) -> int:
        """Width of words in pixels."""
        return int(self.font.size(words)[0])


def _draw_header(canvas: _Canvas, snapshot: Snapshot, left: int, right: int) -> int:
    """Phase, pulls spent, and the budget as a bar; returns the y where the rest may begin."""
    line = canvas.line_height
    colour = {"explore": INK, "recommend": LAST, "done": WRONG if snapshot.correct is False else RIGHT}[snapshot.phase]
    spent = snapshot.budget - snapshot.remaining
    canvas.text(_headline(snapshot), left, 0.6 * line, colour)
    canvas.text(f"{spent:,} of {snapshot.budget:,} pulls", right, 0.6 * line, align=1.0)
    top, bottom = 1.9 * line, 2.3 * line
    canvas.rect(RAIL, left, top, right, bottom)
    if spent > 0:
        canvas.rect(BAR, left, top, left + (right - left) * _share(spent, snapshot.budget), bottom)
    return round(2.6 * line)


def _draw_means(canvas: _Canvas, snapshot: Snapshot, box: tuple[int, int, int, int]) -> None:
    """Bars of the means from the zero line, with whiskers for their intervals."""
    left, top, right, bottom = box
    played, means = _played_means(snapshot)
    widths = half_widths(snapshot)
    low, high = _mean_range(means, widths, played)
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
        if snapshot.pulls[arm] >= 2:
            upper, lower = y_of(means[arm] + widths[arm]), y_of(means[arm] - widths[arm])
            canvas.rect(INK, x - whisker / 2, upper, x - whisker / 2 + whisker, lower)
            if cap:
                canvas.rect(INK, x - cap, upper, x + cap, upper)
                canvas.rect(INK, x - cap, lower, x + cap, lower)
    canvas.rect(INK, left, y_of(0.0), right, y_of(0.0))
    for arm in snapshot.recommended:
        peak = max(means[arm] + widths[arm], means[arm], 0.0) if played[arm] else 0.0
        canvas.triangle(_answer_colour(snapshot), centres[arm], y_of(peak) - 4, min(max(bar / 2, 5), 10))


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
    room = 1.8 * canvas.text_width(str(num_arms - 1))
    step = next(s for s in (1, 2, 4, 8, 16, 32, 64, num_arms) if s * (right - left) / num_arms >= room or s == num_arms)
    for arm in range(0, num_arms, step):
        canvas.text(f"{arm}", centres[arm], top + 4, GREY, align=0.5)
    canvas.text("arm", left - 8, top + 4, GREY, align=1.0)


def _bar_colour(snapshot: Snapshot, arm: int, usual: Colour) -> Colour:
    """Colour of an arm's bars: recommended, pulled last, or neither."""
    if arm in snapshot.recommended:
        return _answer_colour(snapshot)
    return LAST if arm == snapshot.last_arm and snapshot.phase != "done" else usual


def _answer_colour(snapshot: Snapshot) -> Colour:
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


# ------------------------------------------------------------------------------------------------------- shared


def _played_means(snapshot: Snapshot) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which arms were pulled, and their means, 0 elsewhere."""
    played = np.asarray(snapshot.pulls) > 0
    return played, np.where(played, np.nan_to_num(np.asarray(snapshot.means, np.float64)), 0.0)


def _mean_range(
    means: NDArray[np.float64], widths: NDArray[np.float64], played: NDArray[np.bool_]
) -> tuple[float, float]:
    """Range of the mean axis: zero, all means, and their intervals as far as these do not dwarf the means."""
    if not played.any():
        return 0.0, 1.0
    span = max(float(means.max()), 0.0) - min(float(means.min()), 0.0)
    shown = np.minimum(widths, span) if span > 0 else widths
    low, high = min(float((means - shown).min()), 0.0), max(float((means + shown).max()), 0.0)
    return (low, high) if high > low else (0.0, 1.0)


def _share(part: float, whole: float) -> float:
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else 1.0


# ------------------------------------------------------------------------------------------------------- window


class Window:
    """A window that shows one image after another, at a steady pace.

    It opens at the first image. Closing it by hand is final: later images are then ignored, so that a training loop
    goes on undisturbed. Works without a screen under ``SDL_VIDEODRIVER=dummy``.

    Args:
        fps: Images per second at most; :meth:`show` waits where it is called faster. At least 1.
        title: What the window's title bar says.

    Raises:
        ParameterError: If `fps` is below 1.
    """

    def __init__(self, fps: int = 30, title: str = "best-arm identification") -> None:
        if fps < 1:
            raise ParameterError(f"fps is {fps}; a window shows at least 1 image per second")
        self.fps = fps
        self.title = title
        self.closed = False
        self._screen: Any = None
        self._clock: Any = None

    def show(self, image: Snapshot | NDArray[np.uint8]) -> None:
        """Show an image, waiting as long as the pace asks.

        Args:
            image: An episode, or an image of shape (height, width, 3), uint8.

        Raises:
            MissingPackageError: If pygame is not installed.
        """
        if self.closed:
            return
        pygame = _pygame()
        frame = to_rgb(image) if isinstance(image, Snapshot) else np.asarray(image)
        size = (frame.shape[1], frame.shape[0])
        if self._screen is None or self._screen.get_size() != size:
            pygame.display.init()
            pygame.display.set_caption(self.title)
            self._screen = pygame.display.set_mode(size)
            self._clock = self._clock or pygame.time.Clock()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return
        pygame.surfarray.blit_array(self._screen, frame.transpose(1, 0, 2))
        pygame.display.flip()
        self._clock.tick(self.fps)

    def close(self) -> None:
        """Close the window, once and for all; a second call does nothing."""
        if self._screen is not None:
            _pygame().display.quit()
            self._screen = None
        self.closed = True


def _pygame() -> Any:
    """Import pygame quietly, or say which extra brings it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pygame imports a deprecated part of setuptools where that is present
            import pygame
            import pygame.surfarray
    except ImportError as error:
        raise MissingPackageError('drawing an episode needs pygame; pip install "bai-gym[render]"') from error
    return pygame
