"""Layout of tables for the terminal, as Markdown, as LaTeX and as CSV.

The first three show the same rounded cells; CSV has every digit.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Sheet", "csv_text", "decimals", "escape_latex", "exact", "knows_words", "number_notes", "with_interval"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "…": r"\ldots{}",
}
_MINUS = re.compile(r"(?<![\w.)])-(?=\d)")


@dataclass(frozen=True)
class Sheet:
    """A table, independent of its output format.

    Attributes:
        columns: Headings, each with whether its column is numeric.
        rows: Their cells.
        marks: Of each row, the numbers of its footnotes.
        notes: The footnotes, the first has number 1.
        marked: The cell of a row that carries its marks, counted from 0.
        above: A sentence above the table; empty: none.
        remarks: Sentences below it, without a number.
    """

    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    marks: tuple[tuple[int, ...], ...] = ()
    notes: tuple[str, ...] = ()
    marked: int = 0
    above: str = ""
    remarks: tuple[str, ...] = ()

    def terminal(self, title: str | None = None) -> Table:
        """Lay it out for the terminal; footnotes and remarks become its caption.

        Args:
            title: The title; None: the sentence above, if there is one.
        """
        from rich.table import Table
        from rich.text import Text

        heading = title or self.above
        below = [*(f"[{number}] {note}" for number, note in enumerate(self.notes, start=1)), *self.remarks]
        # Text, not str: square brackets in a str would be read as markup.
        table = Table(
            title=Text(heading) if heading else None,
            caption=Text("\n".join(below)) if below else None,
            caption_justify="left",
        )
        for name, numeric in self.columns:
            table.add_column(Text(name), justify="right" if numeric else "left")
        for row, marks in self._numbered():
            cells = list(row)
            cells[self.marked] += "".join(f" [{number}]" for number in marks)
            table.add_row(*map(Text, cells))
        return table

    def markdown(self) -> str:
        """Write it as Markdown, ending in a line break."""
        lines = [self.above, ""] if self.above else []
        lines.append("| " + " | ".join(heading for heading, _ in self.columns) + " |")
        lines.append("| " + " | ".join("---:" if numeric else "---" for _, numeric in self.columns) + " |")
        for row, marks in self._numbered():
            cells = [cell.replace("|", "\\|") for cell in row]
            cells[self.marked] += f" <sup>{', '.join(map(str, marks))}</sup>" if marks else ""
            lines.append("| " + " | ".join(cells) + " |")
        if self.notes:
            lines += ["", *(f"{number}. {note}" for number, note in enumerate(self.notes, start=1))]
        for remark in self.remarks:
            lines += ["", remark]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        r"""Write it as LaTeX, to be read by ``\input``: a ``tabular`` with the rules of the package booktabs.

        Notes and remarks follow in a paragraph below. Everything is escaped; the preamble only needs
        ``\usepackage{booktabs}``.
        """
        lines = [r"% Needs \usepackage{booktabs} in the preamble."]
        if self.above:
            lines += [escape_latex(self.above), "", r"\medskip"]
        lines += [
            r"\begin{tabular}{" + "".join("r" if numeric else "l" for _, numeric in self.columns) + "}",
            r"\toprule",
            " & ".join(escape_latex(heading) for heading, _ in self.columns) + r" \\",
            r"\midrule",
        ]
        for row, marks in self._numbered():
            cells = [escape_latex(cell) for cell in row]
            # An opening bracket or a star after the end of a row would be read as an argument of it.
            cells[0] = f"{{{cells[0]}}}" if cells[0].startswith(("[", "*")) else cells[0]
            cells[self.marked] += rf"\textsuperscript{{{','.join(map(str, marks))}}}" if marks else ""
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        below = [
            *(rf"\textsuperscript{{{number}}} {escape_latex(note)}" for number, note in enumerate(self.notes, start=1)),
            *map(escape_latex, self.remarks),
        ]
        if below:
            lines += ["", r"\medskip", r"{\footnotesize\raggedright", *(line + r"\par" for line in below), "}"]
        return "\n".join(lines) + "\n"

    def _numbered(self) -> Iterable[tuple[tuple[str, ...], tuple[int, ...]]]:
        return zip(self.rows, self.marks or ((),) * len(self.rows), strict=True)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a header line and a line for each row, each ending in a line feed."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue()


def escape_latex(text: str) -> str:
    """Escape text for LaTeX; a hyphen before a number, unless in a name, becomes a minus."""
    return "".join(_LATEX.get(letter, letter) for letter in _MINUS.sub("−", text))


def number_notes(groups: Iterable[Sequence[str]]) -> dict[str, int]:
    """Number each distinct note, from 1, in order of appearance."""
    notes = dict.fromkeys(note for group in groups for note in group)
    return {note: number for number, note in enumerate(notes, start=1)}


def decimals(uncertainty: float) -> int:
    """Decimals that show two digits of the uncertainty, between 2 and 8; 4 where it is 0 or unknown."""
    if not (math.isfinite(uncertainty) and uncertainty > 0):
        return 4
    return min(max(1 - math.floor(math.log10(uncertainty)), 2), 8)


def with_interval(value: float, lower: float, upper: float) -> str:
    """Write a number with its interval, rounded accordingly; without one if it is unknown."""
    places = decimals((upper - lower) / 2)
    if math.isnan(lower) or math.isnan(upper):
        return f"{value:.{places}f} [unknown]"
    return f"{value:.{places}f} [{lower:.{places}f}, {upper:.{places}f}]"


def knows_words(knows: Sequence[str] | None) -> str:
    """Write the oracle knowledge of an agent; None: unknown."""
    return "unknown" if knows is None else ", ".join(knows) or "none"


def exact(value: float) -> str:
    """Write the shortest decimal form that reads back to the same float."""
    return repr(float(value))
