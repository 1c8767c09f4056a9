"""Tables of text: numbers with few digits, and Markdown.

>>> print(markdown_table(["run", "map"], [["a|b", format_value(0.25)]]))
| run | map |
| --- | ---: |
| a\\|b | 0.2500 |
<BLANKLINE>
"""

from __future__ import annotations

import html
import re

from podium.evaluation.evaluate import plain

Table = tuple[list[str], list[list[str]]]
"""The heads of the columns, and the rows."""


def format_value(value: float, digits: int = 4) -> str:
    """A number with four decimals; a dash for NaN."""
    return "–" if plain(value) is None else f"{value:.{digits}f}"


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    rule = ["---"] + ["---:" if is_number(cell) else "---" for cell in (rows[0][1:] if rows else [])]
    lines = [list(map(markdown_text, heads)), rule, *(list(map(markdown_text, row)) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_text(text: str) -> str:
    """Text for a cell: on one line, with HTML and the marks of Markdown escaped."""
    return re.sub(r"([\\|`*]|(?<=\])\()", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("+-").isdigit() or text == "–"
