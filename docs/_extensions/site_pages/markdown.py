"""Markdown that reads as it was meant: escaped words, tables, literal blocks, lists of pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"[\\*_<>\[\]$~^|#{}]")
_CODE = re.compile(r"(`+)(?:(?!`).)+?\1(?!`)", re.DOTALL)


def escaped(text: str) -> str:
    """Plain text with code between backticks, so that Markdown shows its letters as they are."""
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_SPECIAL.sub(r"\\\g<0>", text[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, _SPECIAL.sub(r"\\\g<0>", text[end:])])


def code(text: str) -> str:
    """Text as code within a line."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}" if text else ""


def block(text: str, language: str = "text") -> str:
    """Text as a literal block."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def toctree(paths: Iterable[str], *, depth: int = 1) -> str:
    """Hidden list of pages, which puts them in the navigation."""
    return "\n".join(["```{toctree}", ":hidden:", f":maxdepth: {depth}", "", *paths, "```"])


def page(*parts: str) -> str:
    """Paragraphs, with blank lines between them."""
    return "\n\n".join(part for part in parts if part) + "\n"
