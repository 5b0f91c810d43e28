"""Typesets formulas when the pages are built: TeX between dollars becomes a drawing in the text, to be read offline."""

from __future__ import annotations

import functools
import html
import re

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path

__all__ = ["drawing", "typeset"]

SIZE = 10.0  # of the font, of which lengths are multiples
FONT = FontProperties(size=SIZE, math_fontfamily="cm")
CODE = r"^```.*?^```$|`[^`]*`"
INLINE = r"\$(?P<inline>[^$\s](?:[^$]*[^$\s])?)\$(?!\d)"  # amounts of dollars are none
FORMULA = re.compile(rf"{CODE}|\$\$(?P<display>[^$]+)\$\$|{INLINE}", re.DOTALL | re.MULTILINE)
WORDS = re.compile(r"\\text\{([^}]*)\}")
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
MATPLOTLIB = {r"\dfrac": r"\frac", r"\le ": r"\leq ", r"\top": r"{\top}", r"\dots": r"\ldots"}


def typeset(text: str) -> str:
    r"""Return Markdown with drawings in place of formulas, ``$...$`` in a line and ``$$...$$`` in lines of their own.

    Code stays as it is.

    Raises:
        ValueError: A formula is not TeX that matplotlib knows.
    """

    def replace(match: re.Match[str]) -> str:
        if match["inline"]:
            return drawing(match["inline"])
        if match["display"]:
            return "\n".join(f'<p class="formula">{drawing(line)}</p>' for line in match["display"].split(r"\qquad"))
        return match[0]

    return FORMULA.sub(replace, text)


@functools.cache
def drawing(tex: str) -> str:
    """Return a formula as one line of SVG in the colour and size of the text around it; TeX is its name for readers."""
    source = " ".join(tex.split())
    shown = WORDS.sub(lambda words: rf"\mathrm{{{words[1].replace(' ', '~')}}}", source)
    for theirs, ours in MATPLOTLIB.items():
        shown = shown.replace(theirs, ours)
    shown = f"${shown}$"
    width, height, depth = text_to_path.get_text_width_height_descent(shown, FONT, ismath=True)
    path = TextPath((0, 0), shown, prop=FONT)
    parts = []
    for points, code in path.iter_segments(simplify=False):
        letter = LETTERS[code]
        numbers = [] if letter == "Z" else [f"{x:.2f}" for x in (points.reshape(-1, 2) * [1, -1]).flat]
        parts.append(letter + " ".join(numbers))
    return (
        f'<svg class="formula" role="img" aria-label="{html.escape(source)}" '
        f'viewBox="0 {depth - height:.2f} {width:.2f} {height:.2f}" '
        f'style="width: {width / SIZE:.3f}em; height: {height / SIZE:.3f}em; vertical-align: {-depth / SIZE:.3f}em">'
        f'<path d="{"".join(parts)}"/></svg>'
    )
