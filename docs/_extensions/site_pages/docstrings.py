"""Docstrings as Markdown: headings such as Formula and Ties, formulas as literal blocks, examples as code."""

from __future__ import annotations

import inspect
import re
import textwrap
from itertools import pairwise

from .markdown import block, escaped

HEADINGS = (
    *("Formula", "Ties", "Cost", "Use it for", "Empty", "Reference", "References", "Facts"),
    *("Gradient", "Curvature", "Distribution", "Proposals", "Credit"),
)
_PARAMETER = re.compile(r"^(?=`\w+`: )", re.MULTILINE)
_FULL = 85
"""Length from which a line of a formula is a sentence that goes on in the next."""
_HEADING = re.compile(rf"(?:^|(?<=[.;)] ))({'|'.join(HEADINGS)}): ", re.MULTILINE)


def as_markdown(text: str | None) -> str:
    """A docstring as Markdown."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", inspect.cleandoc(text or "")) if part.strip())


def first_sentence(text: str | None) -> str:
    """First sentence of a docstring, in one line of plain text."""
    paragraph = " ".join(re.split(r"\n\s*\n", inspect.cleandoc(text or ""))[0].split())
    return re.split(r"(?<=[a-z0-9)`”]\.) (?=[A-Z`])", _HEADING.split(paragraph)[0].strip())[0]


def _paragraph(text: str) -> str:
    if all(line.startswith("    ") or not line.strip() for line in text.splitlines()):
        plain = textwrap.dedent(text)
        return block(plain, "pycon" if ">>>" in plain else "text")
    if text.lstrip().startswith(("- ", "* ", "1. ")):
        return _listed(text)
    if _PARAMETER.match(text):
        return "\n".join(f"- {escaped(' '.join(item.split()))}" for item in _PARAMETER.split(text)[1:])
    pieces = _HEADING.split(text)
    lead = [escaped(pieces[0].strip())] if pieces[0].strip() else []
    return "\n\n".join(lead + [_headed(*pair) for pair in zip(pieces[1::2], pieces[2::2], strict=True)])


def _headed(heading: str, text: str) -> str:
    if heading == "Formula":
        return f"**Formula:**\n\n{block(_unfolded(text).replace('`', ''))}"
    return f"**{heading}:** {escaped(' '.join(text.split()))}"


def _unfolded(text: str) -> str:
    """Lines of a formula, the first of which stands behind its heading, without the indent of the others."""
    first, _, rest = text.strip().partition("\n")
    lines = [first.strip(), *textwrap.dedent(rest).splitlines()]
    ends = [" " if len(line) >= _FULL and not after.startswith(" ") else "\n" for line, after in pairwise(lines)]
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True)).rstrip()


def _listed(text: str) -> str:
    return "\n".join(re.sub(r"^(\s*(?:[-*]|\d+\.) )?(.*)$", _item, line) for line in text.splitlines())


def _item(match: re.Match[str]) -> str:
    return (match[1] or "") + (escaped(match[2]) if match[1] else re.sub(r"^\s*", "  ", escaped(match[2])))
