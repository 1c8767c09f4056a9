"""Results that show themselves: a few lines of text, a table in a notebook, a data frame, a LaTeX table.

    >>> table = ShownTable("Two runs", ["run", "ndcg@10"], [["bm25", 0.41], ["model", 0.43]], bold={(1, 1)})
    >>> print(table.text())
    Two runs
    run    ndcg@10
    bm25    0.4100
    model   0.4300

A class derives from `Shown` and says in `_shown` what its table is. Names and ids come from files of strangers: every
text is escaped, control characters too. HTML has no colours of its own, so that it fits light and dark notebooks.
"""

from __future__ import annotations

import html
import importlib.util
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from podium.base.errors import MissingPackageError

Backend = Literal["pandas", "polars", "pyarrow"]
Value = str | int | float | None
Cell = tuple[int, int]
"""Row and column, from 0."""


@dataclass(frozen=True)
class ShownTable:
    """A table with a title and notes; its first column names the row. None and NaN are shown as a dash."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
    bold: Collection[Cell] = ()
    italic: Collection[Cell] = ()
    marks: Mapping[Cell, str] = field(default_factory=dict)  # superscripts, e.g. letters of significance
    bars: int | None = None  # the column that HTML also draws as bars
    digits: int = 4
    latex_heads: Sequence[str] | None = None
    columns: Sequence[str] | None = None  # of a data frame, if heads hold names from files, which need not be unique
    comments: Sequence[str] = ()  # only in LaTeX

    def text(self, *, most: int = 10) -> str:
        """The title, aligned columns of at most `most` rows, and the notes."""
        rows = range(min(len(self.rows), most))
        cells = [[self._cell(value) for value in self.rows[r]] for r in rows]
        for c in range(len(self.heads)):
            marks = [clean(self.marks.get((r, c), "")) for r in rows]
            wide = max(map(len, marks), default=0)
            for r in rows if wide else ():
                cells[r][c] += f" {marks[r]:{wide}}"
        lines = [list(map(clean, self.heads)), *cells]
        widths = [max(len(line[c]) for line in lines) for c in range(len(self.heads))]
        numeric = [self._is_numeric(c) for c in range(len(self.heads))]
        aligned = [
            "  ".join(
                cell.rjust(wide) if number else cell.ljust(wide)
                for cell, wide, number in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*([clean(self.title, _LONG)] if self.title else []), *aligned, *self._end(most)])

    def html(self, *, most: int = 30) -> str:
        """A table for notebooks, with at most `most` rows."""
        head = "".join(
            f'<th scope="col" style="{self._align(c)}">{html.escape(clean(name))}</th>'
            for c, name in enumerate(self.heads)
        )
        body = "".join(f"<tr>{self._html_row(r)}</tr>" for r in range(min(len(self.rows), most)))
        title = f'<div style="font-weight:600">{html.escape(clean(self.title, _LONG))}</div>' if self.title else ""
        notes = "".join(f'<div style="font-size:90%;opacity:.75">{html.escape(line)}</div>' for line in self._end(most))
        return (
            f'<div>{title}<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">'
            f"{f'<thead><tr>{head}</tr></thead>' if any(self.heads) else ''}<tbody>{body}</tbody></table>{notes}</div>"
        )

    def latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """A tabular of booktabs; with a caption or a label, in a table environment."""
        heads = self.latex_heads or self.heads
        kinds = "".join("r" if self._is_numeric(c) else "l" for c in range(len(heads)))
        lines = [f"% {tex_comment(line)}" for line in (*self.comments, r"needs \usepackage{booktabs}")]
        tabular = [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule", " & ".join(map(tex, heads)) + r" \\", "\\midrule"]
        tabular += [self._latex_row(r) for r in range(len(self.rows))]
        tabular += ["\\bottomrule", "\\end{tabular}"]
        if caption is not None or label is not None:
            above = [f"\\caption{{{caption}}}"] if caption is not None else []
            above += [f"\\label{{{label}}}"] if label is not None else []
            tabular = ["\\begin{table}", "\\centering", *above, *tabular, "\\end{table}"]
        return "\n".join([*lines, *tabular, ""])

    def frame(self, backend: Backend = "pandas") -> Any:
        """A data frame with all rows and the numbers in full."""
        names = self.columns or self.heads
        return frame_of({name: [row[c] for row in self.rows] for c, name in enumerate(names)}, backend)

    def _cell(self, value: Value) -> str:
        if isinstance(value, float):
            return f"{value:.{self.digits}f}" if math.isfinite(value) else "–"
        return "–" if value is None else clean(str(value))

    def _is_numeric(self, c: int) -> bool:
        values = [row[c] for row in self.rows]
        return bool(values) and not any(isinstance(value, str) for value in values)

    def _align(self, c: int) -> str:
        return f"padding:.15em .7em;text-align:{'right' if self._is_numeric(c) else 'left'}"

    def _html_row(self, r: int) -> str:
        cells = []
        for c, value in enumerate(self.rows[r]):
            text = html.escape(self._cell(value))
            text = f"<b>{text}</b>" if (r, c) in self.bold else f"<i>{text}</i>" if (r, c) in self.italic else text
            mark = f"<sup>{html.escape(clean(self.marks[r, c]))}</sup>" if self.marks.get((r, c)) else ""
            bar = self._bar(value) if c == self.bars else ""
            kind = 'th scope="row"' if c == 0 else "td"
            cells.append(f'<{kind} style="{self._align(c)}">{text}{mark}{bar}</{kind[:2]}>')
        return "".join(cells)

    def _bar(self, value: Value) -> str:
        """A bar as long as the value, in the text's own colour: filled if it is positive, an outline otherwise."""
        assert self.bars is not None
        sizes = [abs(row[self.bars]) for row in self.rows if isinstance(row[self.bars], int | float)]  # type: ignore[arg-type]
        longest = max((size for size in sizes if math.isfinite(size)), default=0.0)
        if not isinstance(value, int | float) or not math.isfinite(value) or not longest:
            return ""
        fill = "background:currentColor" if value > 0 else "border:1px solid currentColor;box-sizing:border-box"
        wide = f"{6 * abs(value) / longest:.2f}em"
        return (
            '<span style="display:inline-block;width:6em;margin-left:.5em;text-align:left">'
            f'<span style="display:inline-block;height:.6em;width:{wide};opacity:.5;{fill}"></span></span>'
        )

    def _latex_row(self, r: int) -> str:
        cells = []
        for c, value in enumerate(self.rows[r]):
            text = tex(self._cell(value))
            style = r"\textbf" if (r, c) in self.bold else r"\textit" if (r, c) in self.italic else ""
            text = f"{style}{{{text}}}" if style else text
            mark = self.marks.get((r, c))
            cells.append(text + (f"\\textsuperscript{{{tex(mark)}}}" if mark else ""))
        return " & ".join(cells) + r" \\"

    def _end(self, most: int) -> list[str]:
        left = len(self.rows) - most
        return [*([f"… and {left} more"] if left > 0 else []), *(clean(note, _LONG) for note in self.notes)]


class Shown:
    """A result that shows itself. A dataclass that derives from it needs `repr=False`."""

    def _shown(self) -> ShownTable:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._shown().text()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return self._shown().html()

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """The table as a data frame of pandas, polars or pyarrow.

        `backend`: pandas, polars or pyarrow.
        """
        return self._shown().frame(backend)

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """The table in LaTeX, for the package booktabs; `caption` is LaTeX, `label` is for references to it."""
        return self._shown().latex(caption=caption, label=label)


def facts_html(title: str, facts: Mapping[str, str]) -> str:
    """What notebooks show of a thing that is no table: names and values; empty values are left out."""
    return ShownTable(title, ["", ""], [[name, value] for name, value in facts.items() if value]).html()


def frame_of(columns: Mapping[str, Any], backend: Backend = "pandas") -> Any:
    """A data frame with these columns."""
    import narwhals as nw

    if importlib.util.find_spec(backend) is None:
        raise MissingPackageError(backend, "A data frame", "frames")
    return nw.from_dict(dict(columns), backend=backend).to_native()


def clean(text: str, limit: int = 100) -> str:
    """Text on one line, its control characters escaped, its middle cut out if it is long."""
    line = "".join(letter if letter.isprintable() else _escaped(letter) for letter in " ".join(text.split()))
    return line if len(line) <= limit else f"{line[: limit // 2]}…{line[-limit // 2 + 1 :]}"


def some_names(names: Sequence[str], most: int = 5) -> str:
    """Names for a sentence; of many, the first ones and the number of the others."""
    few = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return ", ".join(few)


def tex(text: str) -> str:
    """Text with the special characters of TeX escaped."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def tex_comment(text: str) -> str:
    """Text that stays within one line of comment."""
    return clean(text, 10 * _LONG)


_LONG = 200
_TEX = {letter: f"\\{letter}" for letter in "&%$#_{}"}
_TEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}


def _escaped(letter: str) -> str:
    return letter.encode("ascii", "backslashreplace").decode() if ord(letter) > 0x9F else f"\\x{ord(letter):02x}"
