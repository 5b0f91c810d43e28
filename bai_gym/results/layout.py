"""Layout of tables for the terminal, as text, as Markdown, as LaTeX, as HTML and as CSV.

The first five show the same rounded cells; CSV has every digit.
"""

from __future__ import annotations

import csv
import html
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from typing_extensions import override

from bai_gym.analysis.intervals import Estimate

if TYPE_CHECKING:
    import rich.table

__all__ = [
    "Column",
    "Table",
    "decimals",
    "escape_latex",
    "estimate_fields",
    "exact",
    "format_knowledge",
    "group_notes",
    "with_interval",
]

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
_CHOSEN = re.compile(r"(.+?): (.+), (chosen for .+ rewards)")  # a note of `bai_gym.benchmark.protocol.notes`


Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column for people.

    Attributes:
        heading: Its heading.
        cell: Returns the text of a row.
        numeric: Whether it is aligned to the right.
        terminal: Whether it is shown in the terminal alone.
        bold: Returns whether the cell of a row is in bold.
        group: A heading that it shares with its neighbours of the same group; empty: none.
    """

    heading: str
    cell: Callable[[Row], str]
    numeric: bool = True
    terminal: bool = False
    bold: Callable[[Row], bool] = lambda _: False
    group: str = ""

    @property
    def full_heading(self) -> str:
        """The heading, after that of the group."""
        return f"{self.group}, {self.heading}" if self.group else self.heading


@dataclass(frozen=True)
class Table(Generic[Row]):
    """A table that can be written in six forms.

    Attributes:
        rows: What it has a row for, in order.
        columns: The columns of all forms but CSV.
        fields: The columns of CSV, by their headings: each returns the field of a row. Without any, CSV has the cells.
        notes: Returns the footnotes of a row; those of several rows that :func:`group_notes` joins are one, with one
            number.
        marked: The column whose cells carry the numbers of footnotes, counted from 0.
        title: Title in the terminal; None: the sentence above, if there is one.
        above: A sentence above the table; empty: none.
        remarks: Sentences below it, without a number.
    """

    rows: Sequence[Row]
    columns: Sequence[Column[Row]]
    fields: Mapping[str, Callable[[Row], object]] = field(default_factory=dict)
    notes: Callable[[Row], Sequence[str]] = lambda _: ()
    marked: int = 0
    title: str | None = None
    above: str = ""
    remarks: Sequence[str] = ()

    @override
    def __str__(self) -> str:
        """The table as Markdown."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return self.html()

    def rich(self) -> rich.table.Table:
        """Lay it out for the terminal; footnotes and remarks become its caption."""
        from rich.table import Table
        from rich.text import Text

        heading = self.title or self.above
        below = [*(f"[{number}] {note}" for number, note in self._footnotes()), *self.remarks]
        # Text, not str: square brackets in a str would be read as markup.
        table = Table(
            title=Text(heading) if heading else None,
            caption=Text("\n".join(below)) if below else None,
            caption_justify="left",
        )
        for column in self.columns:
            table.add_column(Text(column.full_heading), justify="right" if column.numeric else "left")
        for cells, marks, bold in self._cells(self.columns):
            cells[self.marked] += "".join(f" [{number}]" for number in marks)
            table.add_row(*(Text(cell, "bold" if heavy else "") for cell, heavy in zip(cells, bold, strict=True)))
        return table

    def text(self) -> str:
        """Write what :meth:`rich` shows in columns, for any width of the terminal, ending in a line break."""
        columns = self._filed()
        rows = [[column.full_heading for column in columns]]
        for cells, marks, _ in self._cells(columns):
            cells[self.marked] += "".join(f" [{number}]" for number in marks)
            rows.append(cells)
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        lines = [heading] if (heading := self.title or self.above) else []
        for cells in rows:
            padded = (
                cell.rjust(width) if column.numeric else cell.ljust(width)
                for cell, width, column in zip(cells, widths, columns, strict=True)
            )
            lines.append("  ".join(padded).rstrip())
        lines += (f"[{number}] {note}" for number, note in self._footnotes())
        return "\n".join([*lines, *self.remarks]) + "\n"

    def markdown(self) -> str:
        """Write it as Markdown, ending in a line break."""
        columns = self._filed()
        lines = [self.above, ""] if self.above else []
        lines.append("| " + " | ".join(column.full_heading for column in columns) + " |")
        lines.append("| " + " | ".join("---:" if column.numeric else "---" for column in columns) + " |")
        for cells, marks, bold in self._cells(columns):
            cells = [cell.replace("|", "\\|") for cell in cells]
            cells = [f"**{cell}**" if heavy else cell for cell, heavy in zip(cells, bold, strict=True)]
            cells[self.marked] += f" <sup>{', '.join(map(str, marks))}</sup>" if marks else ""
            lines.append("| " + " | ".join(cells) + " |")
        if footnotes := self._footnotes():
            lines += ["", *(f"{number}. {note}" for number, note in footnotes)]
        for remark in self.remarks:
            lines += ["", remark]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        r"""Write it as LaTeX, to be read by ``\input``: a ``tabular`` with the rules of the package booktabs.

        Notes and remarks follow in a paragraph below. Everything is escaped; the preamble only needs
        ``\usepackage{booktabs}``.
        """
        columns = self._filed()
        lines = [r"% Needs \usepackage{booktabs} in the preamble."]
        if self.above:
            lines += [escape_latex(self.above), "", r"\medskip"]
        lines += [
            r"\begin{tabular}{" + "".join("r" if column.numeric else "l" for column in columns) + "}",
            r"\toprule",
            *_group_lines(columns),
            " & ".join(escape_latex(column.heading) for column in columns) + r" \\",
            r"\midrule",
        ]
        for cells, marks, bold in self._cells(columns):
            cells = [escape_latex(cell) for cell in cells]
            cells = [rf"\textbf{{{cell}}}" if heavy else cell for cell, heavy in zip(cells, bold, strict=True)]
            # An opening bracket or a star after the end of a row would be read as an argument of it.
            cells[0] = f"{{{cells[0]}}}" if cells[0].startswith(("[", "*")) else cells[0]
            cells[self.marked] += rf"\textsuperscript{{{','.join(map(str, marks))}}}" if marks else ""
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        below = [
            *(rf"\textsuperscript{{{number}}} {escape_latex(note)}" for number, note in self._footnotes()),
            *map(escape_latex, self.remarks),
        ]
        if below:
            lines += ["", r"\medskip", r"{\footnotesize\raggedright", *(line + r"\par" for line in below), "}"]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """Write it as HTML, for :func:`bai_gym.results.page.html_page`."""
        columns = self._filed()
        lines = [f"<p>{html.escape(self.above)}</p>"] if self.above else []
        heads = "".join(f"<th>{html.escape(column.full_heading)}</th>" for column in columns)
        lines += ["<table>", f"<thead><tr>{heads}</tr></thead>", "<tbody>"]
        for cells, marks, bold in self._cells(columns):
            cells = [html.escape(cell) for cell in cells]
            cells = [f"<b>{cell}</b>" if heavy else cell for cell, heavy in zip(cells, bold, strict=True)]
            cells[self.marked] += f"<sup>{', '.join(map(str, marks))}</sup>" if marks else ""
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        lines += ["</tbody>", "</table>"]
        if footnotes := self._footnotes():
            lines += ["<ol>", *(f"<li>{html.escape(note)}</li>" for _, note in footnotes), "</ol>"]
        lines += [f"<p>{html.escape(remark)}</p>" for remark in self.remarks]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Write it as CSV: a header line and a line for each row, each ending in a line feed.

        A name that a spreadsheet would take for a formula, such as ``=1+1``, has an apostrophe before it.
        """
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        fields = self.fields or {column.full_heading: column.cell for column in self.columns}
        writer.writerow(fields)
        writer.writerows([_no_formula(read(row)) for read in fields.values()] for row in self.rows)
        return buffer.getvalue()

    def _filed(self) -> list[Column[Row]]:
        return [column for column in self.columns if not column.terminal]

    def _grouped(self) -> dict[str, str]:
        """Return the footnote of each note."""
        return group_notes(note for row in self.rows for note in self.notes(row))

    def _footnotes(self) -> list[tuple[int, str]]:
        """Return the footnotes with their numbers, from 1, in order of appearance."""
        return list(enumerate(dict.fromkeys(self._grouped().values()), start=1))

    def _cells(self, columns: Sequence[Column[Row]]) -> Iterator[tuple[list[str], list[int], list[bool]]]:
        """Yield the cells of each row, the numbers of its footnotes, and which cells are in bold."""
        grouped, numbers = self._grouped(), {note: number for number, note in self._footnotes()}
        for row in self.rows:
            cells, bold = [column.cell(row) for column in columns], [column.bold(row) for column in columns]
            yield cells, sorted({numbers[grouped[note]] for note in self.notes(row)}), bold


def group_notes(notes: Iterable[str]) -> dict[str, str]:
    """Join notes that say the same of several agents.

    ``A: words`` and ``B: words`` become ``A, B: words``. Notes on what was chosen by the kind of rewards become one,
    whatever was chosen: ``chosen for binary rewards: b=1 (A, B); family='bernoulli' (C)``.

    Args:
        notes: Notes of all rows of a table.

    Returns:
        The joined note of each distinct note, in order of appearance; the note itself where it stands alone.
    """
    by_words: dict[str, dict[str, tuple[str, str]]] = {}  # what stands in place of single notes: notes, (name, values)
    for note in dict.fromkeys(notes):
        name, colon, rest = note.partition(": ")
        if chosen := _CHOSEN.fullmatch(note):
            by_words.setdefault(f"{chosen[3]}: ", {})[note] = chosen[1], chosen[2]
        else:
            by_words.setdefault(f"{colon}{rest}" if colon else note, {})[note] = name, ""
    joined: dict[str, str] = {}
    for rest, members in by_words.items():
        by_values: dict[str, list[str]] = {}
        for name, values in members.values():
            by_values.setdefault(values, []).append(name)
        lists = {values: ", ".join(names) for values, names in by_values.items()}
        if rest.endswith(": "):
            text = rest + "; ".join(f"{values} ({names})" for values, names in lists.items())
        else:
            text = f"{lists['']}{rest}"
        joined |= {note: text if len(members) > 1 else note for note in members}
    return joined


def _group_lines(columns: Sequence[Column[Row]]) -> list[str]:
    """Return the headings of groups of columns in LaTeX, with a line below each; nothing where there are none."""
    if not any(column.group for column in columns):
        return []
    cells, rules, first = [], [], 1
    for group, members in itertools.groupby(columns, key=lambda column: column.group):
        last = first + len(list(members)) - 1
        if group:
            cells.append(rf"\multicolumn{{{last - first + 1}}}{{c}}{{{escape_latex(group)}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        else:
            cells += [""] * (last - first + 1)
        first = last + 1
    return [" & ".join(cells) + r" \\", "".join(rules)]


def _no_formula(value: object) -> object:
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def escape_latex(text: str) -> str:
    """Escape text for LaTeX; a hyphen before a number, unless in a name, becomes a minus."""
    return "".join(_LATEX.get(letter, letter) for letter in _MINUS.sub("−", text))


def decimals(uncertainty: float) -> int:
    """Decimals that show two digits of the uncertainty, between 2 and 8; 4 where it is 0 or unknown."""
    if not (math.isfinite(uncertainty) and uncertainty > 0):
        return 4
    return min(max(1 - math.floor(math.log10(uncertainty)), 2), 8)


def with_interval(value: float, lower: float, upper: float, digits: int | None = None) -> str:
    """Write a number with its interval, rounded accordingly or to some decimals; without one if it is unknown."""
    places = decimals((upper - lower) / 2) if digits is None else digits
    if math.isnan(lower) or math.isnan(upper):
        return f"{value:.{places}f} [unknown]"
    return f"{value:.{places}f} [{lower:.{places}f}, {upper:.{places}f}]"


def format_knowledge(knows: Sequence[str]) -> str:
    """Write the oracle knowledge of an agent."""
    return ", ".join(knows) or "none"


def exact(value: float) -> str:
    """Write the shortest decimal form that reads back to the same float."""
    return repr(float(value))


def estimate_fields(name: str, read: Callable[[Row], Estimate | None]) -> dict[str, Callable[[Row], object]]:
    """Return the fields of an estimate and the ends of its interval; those of an unknown one are empty."""

    def field_of(end: str) -> Callable[[Row], object]:
        return lambda row: "" if (estimate := read(row)) is None else exact(getattr(estimate, end))

    return {name: field_of("value"), f"{name}_lower": field_of("lower"), f"{name}_upper": field_of("upper")}
