"""Shared parts of all figures: colours and markers, matplotlib's settings, the sentence below, and the file.

The ending of the path decides the format: ``.png``, ``.svg`` or ``.pdf``, or ``.*`` for all three. In the last two text
is text, so that it can be searched, read aloud and edited. The same input gives the same bytes: files hold no date, no
version and no random id, and matplotlib's user settings have no effect.
"""

from __future__ import annotations

import contextlib
import html
import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bai_gym.errors import MissingPackageError, OutputError, ParameterError

__all__ = [
    "ALL_FORMATS",
    "COLOURS",
    "DASHES",
    "FORMATS",
    "INLINE_STYLE",
    "MARKERS",
    "inline",
    "look",
    "named",
    "places",
    "save",
    "settings",
    "style",
    "target_of",
    "write_sentence",
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


def target_of(path: str | Path) -> Path:
    """The path of the file, if its ending is one that can be written."""
    target = Path(path)
    if target.suffix.lower() not in (*FORMATS, ALL_FORMATS):
        raise ParameterError(
            f"cannot draw a {target.suffix or 'file without ending'}; use .png, .svg or .pdf, or .* for all three"
        )
    return target


@contextlib.contextmanager
def settings() -> Iterator[None]:
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


def write_sentence(figure: Any, sentence: str) -> None:
    """Write a sentence below the axes, in lines that fit the figure."""
    characters = round(figure.get_figwidth() * 14.5)
    figure.supxlabel(textwrap.fill(sentence, characters), x=0.01, ha="left", fontsize=9, color="#444444")


INLINE_STYLE = """
svg { display: block; width: 100%; height: auto; background: #fff; }
@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg); } }
"""
"""Rules of CSS for a page with a figure in it."""


def inline(draw: Callable[[], Any], name: str) -> str:
    """Return a figure as HTML, for a page of its own; empty if matplotlib is not installed.

    Args:
        draw: Makes the figure.
        name: What it shows, for those who cannot see it.
    """
    try:
        with settings():
            drawing = _drawn(draw(), ".svg").decode()
    except MissingPackageError:
        return ""
    return drawing[drawing.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{html.escape(name)}"', 1)


def _drawn(figure: Any, suffix: str) -> bytes:
    """Return a figure as the contents of a file with that ending."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], metadata=METADATA[suffix])
    return buffer.getvalue()


def save(figure: Any, target: Path) -> Path:
    """Write a figure to a file, or to one of each format; return the path, of the first one."""
    paths = [target.with_suffix(suffix) for suffix in FORMATS] if target.suffix == ALL_FORMATS else [target]
    for path in paths:
        contents = _drawn(figure, path.suffix.lower())
        figure.set_layout_engine("none")  # all formats have the layout of the first one, which takes time
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        except OSError as error:
            raise OutputError(f"cannot write the figure {path}: {error.strerror or error}") from error
    return paths[0]
