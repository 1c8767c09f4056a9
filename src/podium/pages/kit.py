"""Building blocks of HTML reports: document, tables and SVG charts in one style; the files need no network.

Charts carry a label for screen readers. All text is escaped; NaN leaves a gap.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from podium.base.version import version

if TYPE_CHECKING:
    from podium.evaluation.paired import Interval

WIDTH, HEIGHT = 640.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 28.0, 36.0
_COLOURS = 12
"""Number of colours of the style."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_NAMES, _LONGEST = 240.0, 32
"""Width and number of letters of names beside bars."""
_LABELS = 20
"""Largest number of labels below a chart."""


def document(title: str, body: str, *, scripts: bool = False) -> str:
    """An HTML document that loads nothing; its scripts run only if `scripts` allows them."""
    allowed = "style-src 'unsafe-inline'; " + ("script-src 'unsafe-inline'; " if scripts else "") + "img-src data:"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {allowed}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{part("style.css")}</style>
</head>
<body>
{body}</body>
</html>
"""


def part(name: str) -> str:
    """A file of this package: the style, the script or the body of an HTML report."""
    return (files("podium.pages") / name).read_text("utf-8")


def static_page(title: str, summary: str, sections: Mapping[str, str]) -> str:
    """HTML report without a script: a title, a line below it, and HTML under headings."""
    body = "\n".join(
        f'<section aria-labelledby="h{k}">\n<h2 id="h{k}">{escape(heading)}</h2>\n{content}\n</section>'
        for k, (heading, content) in enumerate(sections.items())
    )
    header = f"<header>\n<h1>{escape(title)}</h1>\n<p>{escape(summary)}</p>\n</header>\n"
    footer = f"<footer><p>podium {escape(version())}</p></footer>\n"
    return document(title, f"{header}<main>\n{body}\n</main>\n{footer}")


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    label: str,
    chosen: Collection[int] = (),
    words: int = 1,
    links: Mapping[int, str] | None = None,
) -> str:
    """HTML table; its first columns are words and the others numbers.

    Chosen rows are shaded; `links` are the addresses of heads, by column.
    """
    kinds = ["" if c < words else ' class="number"' for c in range(len(heads))]
    head = ""
    for c, name in enumerate(heads):
        text = f'<a href="{escape(links[c])}">{escape(name)}</a>' if links and c in links else escape(name)
        head += f'<th scope="col"{kinds[c]}>{text}</th>'
    body = []
    for r, row in enumerate(rows):
        cells = [f'<th scope="row"{kinds[0]}>{escape(row[0])}</th>']
        cells += [f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row[1:], kinds[1:], strict=True)]
        shade = ' class="chosen"' if r in chosen else ""
        body.append(f"<tr{shade}>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def paragraph(text: str, *, note: bool = False) -> str:
    """A paragraph of text; a note is smaller."""
    kind = ' class="note"' if note else ""
    return f"<p{kind}>{escape(text)}</p>"


def bars(values: Sequence[float], *, label: str, x_name: str, y_name: str) -> str:
    """Bar chart of the values of 1, 2, …"""
    y = _Axis(0.0, max([value for value in values if math.isfinite(value)], default=1.0) or 1.0)
    step = (WIDTH - _LEFT - _RIGHT) / max(len(values), 1)
    parts = [y.rules(y_name), _numbers(len(values), _LEFT + step / 2, step)]
    for k, value in enumerate(values):
        if math.isfinite(value):
            top = y(value)
            parts.append(
                f'<rect x="{_LEFT + (k + 0.15) * step:.1f}" y="{top:.1f}" width="{0.7 * step:.1f}" '
                f'height="{y(0.0) - top:.1f}" rx="2" fill="var(--c0)"><title>{k + 1}: {value:.4f}</title></rect>'
            )
    return _svg(parts, label, x_name)


def lines(
    series: Mapping[str, Sequence[float]],
    *,
    label: str,
    x_name: str,
    y_name: str,
    low: float = 0.0,
    high: float = math.inf,
    band: tuple[Sequence[float], Sequence[float]] | None = None,
    dashed: Collection[str] = (),
    ticks: Sequence[str] | None = None,
) -> str:
    """Line chart: a line for each series over 1, 2, … (or `ticks`), named in a legend below.

    The axis of values begins at `low`; values above `high` are drawn there. `band` shades the interval from its first
    to its second values around the first series. Dashed series have no dots.
    """
    finite = [value for values in [*series.values(), *(band or ())] for value in values if math.isfinite(value)]
    y = _Axis(min([low, *finite]), min(max(finite, default=1.0), high) or 1.0)
    n = max([len(values) for values in series.values()], default=1)
    step = (WIDTH - _LEFT - _RIGHT) / max(n - 1, 1)

    def places(values: Sequence[float]) -> list[tuple[float, float]]:
        return [(_LEFT + k * step, y(min(v, high))) for k, v in enumerate(values) if math.isfinite(v)]

    parts, legend = [y.rules(y_name), _numbers(n, _LEFT, step, ticks)], []
    if band is not None:
        outline = _path([*places(band[0]), *reversed(places(band[1]))])
        parts.append(f'<polygon points="{outline}" fill="var(--c0)" fill-opacity="0.2"/>')
    for number, (name, values) in enumerate(series.items()):
        dash = _DASHES[1] if name in dashed else _DASHES[number // _COLOURS % len(_DASHES)]
        colour, dots = f"var(--c{number % _COLOURS})", places(values)
        parts.append(
            f'<polyline points="{_path(dots)}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"><title>{escape(name)}</title></polyline>'
        )
        if name not in dashed:
            parts += [f'<circle cx="{x:.1f}" cy="{height:.1f}" r="2.5" fill="{colour}"/>' for x, height in dots]
        legend.append(f'<span><span class="key" style="background:{colour}"></span>{escape(name)}</span>')
    return _svg(parts, label, x_name) + f'<p class="note keys">{" ".join(legend)}</p>'


def points(values: Mapping[str, tuple[float, Interval]], *, label: str, x_name: str) -> str:
    """Interval chart: a point with its confidence interval for each name, one below the other."""
    finite = [v for value, span in values.values() for v in (value, *span) if math.isfinite(v)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    room = _room(values)
    scale = (WIDTH - room - _RIGHT) / ((high - low) or 1.0)
    height = 24.0 * len(values) + 44.0
    parts = []
    for k in range(5):
        value = low + k * (high - low) / 4
        x = room + (value - low) * scale
        parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height - 40:.1f}"/>')
        parts.append(_text(x, height - 24, f"{value:.3f}" if high - low < 100 else f"{value:.0f}"))
    for k, (name, (value, span)) in enumerate(values.items()):
        y = 18.0 + 24.0 * k
        parts.append(_text(room - 10, y + 4, _short(name), anchor="end"))
        if not all(map(math.isfinite, (value, *span))):
            continue
        x1, x, x2 = (room + (v - low) * scale for v in (span.low, value, span.high))
        parts.append(
            f"<g><title>{escape(name)}: {value:.4f}, from {span.low:.4f} to {span.high:.4f}</title>"
            f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}" stroke="var(--c0)" stroke-width="2"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="var(--c0)"/></g>'
        )
    return _svg(parts, label, x_name, height=height)


def ranges(values: Mapping[str, tuple[int, int, int]], *, label: str, x_name: str) -> str:
    """Chart of whole numbers, each with an interval: a dot on a bar from the least to the most, one below the other."""
    last = max([most for _, _, most in values.values()], default=1)
    room = _room(values)
    scale = (WIDTH - room - _RIGHT) / max(last - 1, 1)
    height = 24.0 * len(values) + 44.0
    parts = []
    for value in range(1, last + 1, max(1, math.ceil(last / _LABELS))):
        x = room + (value - 1) * scale
        parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height - 40:.1f}"/>')
        parts.append(_text(x, height - 24, str(value)))
    for k, (name, (value, least, most)) in enumerate(values.items()):
        y = 18.0 + 24.0 * k
        x1, x, x2 = (room + (v - 1) * scale for v in (least, value, most))
        parts.append(_text(room - 10, y + 4, _short(name), anchor="end"))
        parts.append(
            f"<g><title>{escape(name)}: {value}, from {least} to {most}</title>"
            f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}" stroke="var(--c0)" stroke-width="8" '
            f'stroke-opacity="0.3" stroke-linecap="round"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="var(--c0)"/></g>'
        )
    return _svg(parts, label, x_name, height=height)


def _room(names: Collection[str]) -> float:
    """The width of names on the left of a chart."""
    return min(max([110.0, *(7.0 * len(_short(name)) + 20.0 for name in names)]), 230.0)


def _short(name: str) -> str:
    return name if len(name) <= _LONG else f"{name[: _LONG - 12]}…{name[-11:]}"


_LONG = 30
"""Characters of a name in a chart."""


def shades(counts: Sequence[Sequence[float]], *, label: str, x_name: str, y_name: str) -> str:
    """Heat map: a square for each cell of a matrix, darker for more, on a logarithmic scale; a dot for none."""
    n = len(counts)
    side = min(34.0, (WIDTH - _LEFT - _RIGHT) / max(n, 1))
    most = max([math.log1p(value) for row in counts for value in row], default=0.0) or 1.0
    parts = [f'<text x="4" y="12">{escape(y_name)}</text>']
    for i, row in enumerate(counts):
        parts.append(_text(_LEFT - 8, _TOP + (i + 0.65) * side, str(i + 1), anchor="end"))
        parts.append(_text(_LEFT + (i + 0.5) * side, _TOP + n * side + 14, str(i + 1)))
        for j, value in enumerate(row):
            x, y = _LEFT + j * side, _TOP + i * side
            title = f"<title>ranks {i + 1} and {j + 1}: {value:.0f}</title>"
            if value:
                strength = 0.15 + 0.85 * math.log1p(value) / most
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{side - 2:.1f}" height="{side - 2:.1f}" rx="3" '
                    f'fill="var(--c0)" fill-opacity="{strength:.2f}">{title}</rect>'
                )
            else:
                centre = f'cx="{x + side / 2:.1f}" cy="{y + side / 2:.1f}"'
                parts.append(f'<circle {centre} r="1.5" fill="var(--bad)">{title}</circle>')
    return _svg(parts, label, x_name, height=_TOP + n * side + _BOTTOM)


def named_bars(values: Mapping[str, float], *, label: str, x_name: str) -> str:
    """Bar chart of named values of at least 0, one below the other."""
    most = max([value for value in values.values() if math.isfinite(value)], default=0.0) or 1.0
    room = min(30.0 + 6.5 * max(map(len, values), default=0), _NAMES)
    height = 22.0 * len(values) + 24.0
    parts = []
    for k, (name, value) in enumerate(values.items()):
        y, wide = 4.0 + 22.0 * k, (WIDTH - room - 60.0) * max(value, 0.0) / most
        shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        parts.append(_text(room - 8, y + 13, shown, anchor="end"))
        parts.append(
            f'<rect x="{room:.1f}" y="{y:.1f}" width="{wide:.1f}" height="16" rx="2" fill="var(--c0)">'
            f"<title>{escape(name)}: {value:.4f}</title></rect>"
        )
        parts.append(_text(room + wide + 6, y + 13, f"{value:.3f}", anchor="start"))
    return _svg(parts, label, x_name, height=height)


def round_step(least: float) -> float:
    """The smallest round number, such as 0.2 or 25, that is at least this one."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= 0.999 * least)


class _Axis:
    """Values from low to high on the height of a chart."""

    def __init__(self, low: float, high: float) -> None:
        self.step = round_step((high - low) / 4 if high > low else 0.25)
        self.first, self.last = math.floor(low / self.step + 1e-9), math.ceil(high / self.step - 1e-9)
        self.last = max(self.last, self.first + 1)
        self.low, self.high = self.first * self.step, self.last * self.step

    def __call__(self, value: float) -> float:
        return HEIGHT - _BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - _BOTTOM - _TOP)

    def rules(self, name: str) -> str:
        """Lines at round values, with their numbers and the name of the axis."""
        parts = [f'<text x="4" y="12">{escape(name)}</text>']
        for k in range(self.first, self.last + 1):
            value = k * self.step
            y = self(value)
            kind = "axis" if k == self.first else "rule"
            parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(_text(_LEFT - 8, y + 4, f"{value:.3g}", anchor="end"))
        return "".join(parts)


def _numbers(n: int, first: float, step: float, ticks: Sequence[str] | None = None) -> str:
    """The numbers 1 to n, or `ticks`, below a chart, or some of them."""
    every, words = max(1, math.ceil(n / _LABELS)), ticks or [str(k + 1) for k in range(n)]
    return "".join(_text(first + k * step, HEIGHT - _BOTTOM + 16, words[k]) for k in range(0, n, every))


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _text(x: float, y: float, text: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Sequence[str], label: str, x_name: str, *, height: float = HEIGHT) -> str:
    name = _text((_LEFT + WIDTH - _RIGHT) / 2, height - 4, x_name)
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}{name}</svg>"
    )
