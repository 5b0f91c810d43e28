"""Shared parts of all figures: :class:`Drawing`, the decorator of functions that draw, and colours and markers.

The ending of the path decides the format: ``.png``, ``.svg`` or ``.pdf``, or ``.*`` for all three. In the last two text
is text, so that it can be searched, read aloud and edited. The same input gives the same bytes: files hold no date, no
version and no random id, and matplotlib's user settings have no effect.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bai_gym.errors import MissingPackageError, OutputError, ParameterError

__all__ = [
    "ALL_FORMATS",
    "COLOURS",
    "DASHES",
    "FORMATS",
    "INLINE_STYLE",
    "MARKERS",
    "Caption",
    "Drawing",
    "look",
    "named",
    "places",
    "slug",
    "style",
]

# M. Okabe and K. Ito's colours, distinct for colour-blind readers too, without their yellow, which is too pale for
# lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# One more marker than colours: the pairs repeat after 56 agents only; and with dashes, after 28.
MARKERS = ("o", "s", "^", "D", "v", "p", "X", "<")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))  # each round of colours has its own

STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 100,
    "font.size": 11,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "pdf.fonttype": 42,  # letters, not outlines: the text of a figure can be searched and edited
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # letters here, too
    "svg.hashsalt": "bai-gym",
    "text.parse_math": False,  # names of agents and files may contain dollars, but no formulas
}
# What matplotlib would write into the file and what differs between two days or two versions.
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Creator": None, "Date": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}
FORMATS = tuple(METADATA)
ALL_FORMATS = ".*"


def look(index: int) -> tuple[str, str, Any]:
    """Return colour, marker and dashes of an agent.

    Of 28 agents no two have the same colour and dashes, nor the same colour and marker: pictures of lines without
    markers can be read as those of points.
    """
    return (
        COLOURS[index % len(COLOURS)],
        MARKERS[index % len(MARKERS)],
        DASHES[index // len(COLOURS) % len(DASHES)],
    )


def style(index: int, knows: Sequence[str], size: float = 6.5) -> dict[str, Any]:
    """Return the properties of an agent's line: with oracle knowledge, its markers are hollow.

    Args:
        index: Number of the agent.
        knows: Its oracle knowledge.
        size: Size of its markers in points.
    """
    colour, marker, dashes = look(index)
    return {
        "color": colour,
        "linestyle": dashes,
        "linewidth": 1.6,
        "marker": marker,
        "markerfacecolor": "white" if knows else colour,
        "markeredgewidth": 1.4,
        "markersize": size,
    }


def places(names: Iterable[str], agents: Sequence[str] | None) -> dict[str, int]:
    """Return the number of each agent for :func:`look`.

    Args:
        names: The agents of a figure.
        agents: All agents of a report, so that an agent looks the same in all its figures; None: those of the figure.
    """
    return {name: number for number, name in enumerate(dict.fromkeys((*(agents or ()), *names)))}


def named(agent: str, knows: Sequence[str]) -> str:
    """Return the name of an agent in a legend, with its oracle knowledge."""
    return f"{agent} (oracle knowledge: {', '.join(knows)})" if knows else agent


INLINE_STYLE = """
svg { display: block; width: 100%; height: auto; background: #fff; }
@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg); } }
"""
"""Rules of CSS for a page with a figure in it."""


class Caption(NamedTuple):
    """What is written around a figure.

    Attributes:
        title: Above; None: none.
        sentence: Below: how to read the figure.
    """

    title: str | None
    sentence: str


class Drawing:
    """Decorator of a function that draws: a figure, with what all figures share, that is drawn when it is written.

    Args:
        draw: Adds axes to the figure that it is given, of 8 x 4.5 inches unless it sets another size, and draws.
            Matplotlib has the settings of all figures meanwhile, whatever the user's are.
    """

    def __init__(self, draw: Callable[[Any], Caption]) -> None:
        self._draw = draw

    def save(self, path: str | Path) -> Path:
        """Draw, write the figure to a file, or to one of each format, and return the path, of the first one.

        Raises:
            ParameterError: If the file's ending is unknown.
            MissingPackageError: If matplotlib is not installed.
            OutputError: If the file cannot be written.
        """
        target = Path(path)
        if target.suffix.lower() not in (*FORMATS, ALL_FORMATS):
            raise ParameterError(
                f"cannot draw a {target.suffix or 'file without ending'}; use .png, .svg or .pdf, or .* for all three"
            )
        with _settings():
            return write(self._figure(), target)

    def html(self, name: str) -> str:
        """Return the figure as HTML, for a page of its own; empty if matplotlib is not installed.

        Args:
            name: What it shows, for those who cannot see it.
        """
        try:
            with _settings():
                svg = _contents(self._figure(), ".svg").decode()
        except MissingPackageError:
            return ""
        return svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{html.escape(name)}"', 1)

    def _figure(self) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.0, 4.5), layout="constrained")
        caption = self._draw(figure)
        if caption.title and len(figure.axes) == 1:
            figure.axes[0].set_title(caption.title, loc="left", fontweight="bold", fontsize=12)
        elif caption.title:
            figure.suptitle(caption.title, x=0.01, ha="left", fontweight="bold", fontsize=12)
        characters = round(figure.get_figwidth() * 14.5)  # of a line
        figure.supxlabel(textwrap.fill(caption.sentence, characters), x=0.01, ha="left", fontsize=9, color="#444444")
        return figure


@contextlib.contextmanager
def _settings() -> Iterator[None]:
    """Matplotlib's defaults and the style above; the user's settings are restored afterwards."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingPackageError('drawing figures needs matplotlib; pip install "bai-gym[plots]"') from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        parameters: Any = matplotlib.rcParams  # newer versions type each key
        parameters.update(STYLE)
        yield


def _contents(figure: Any, suffix: str) -> bytes:
    """Return a figure as the contents of a file with that ending."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], metadata=METADATA[suffix])
    return buffer.getvalue()


def write(figure: Any, target: Path) -> Path:
    """Write a figure to a file, or to one of each format; return the path, of the first one."""
    paths = [target.with_suffix(suffix) for suffix in FORMATS] if target.suffix == ALL_FORMATS else [target]
    for path in paths:
        contents = _contents(figure, path.suffix.lower())
        figure.set_layout_engine("none")  # all formats have the layout of the first one, which takes time
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        except OSError as error:
            raise OutputError(f"cannot write the figure {path}: {error.strerror or error}") from error
    return paths[0]


def slug(text: str) -> str:
    """Return a name that is valid on any file system."""
    return re.sub(r"[^A-Za-z0-9.=]+", "-", text)[:80].strip("-.") or "results"
