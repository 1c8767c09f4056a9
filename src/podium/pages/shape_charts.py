"""HTML report on shapes: a small chart for each feature, of what the model does with it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape

from podium.base.errors import counted
from podium.explanation.shapes import Shape, Shapes
from podium.pages.kit import paragraph, round_step, static_page

_MOST = 60
"""Largest number of charts."""
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 320.0, 190.0, 44.0, 44.0, 12.0, 24.0
_TICKS, _NAMES, _LONGEST = 4, 5, 10


def page(shapes: Shapes, *, model: str) -> str:
    """HTML report on the shapes of a model's features, those that matter most first."""
    drawn = shapes.by_size
    axes = _axes(drawn)
    cards = "".join(_card(shape, *axes) for shape in drawn[:_MOST])
    flat = len(shapes.shapes) - len(drawn)
    notes = [f"{shapes.how[0].upper()}{shapes.how[1:]}. All charts have the same scales."]
    if any(shape.rank is not None for shape in drawn):
        notes.append("Dashed, on the right: the mean change of the rank; upwards is towards the first rank.")
    if len(drawn) > _MOST:
        notes.append(f"The {_MOST} features of the largest differences, of {len(drawn)}.")
    if flat:
        notes.append(f"{counted(flat, 'feature')} without any influence {'is' if flat == 1 else 'are'} left out.")
    body = "".join(paragraph(note, note=True) for note in notes) + f'<div class="grid">{cards}</div>'
    return static_page("What each feature does to the score", model, {"Change of the score": body})


def _axes(shapes: Sequence[Shape]) -> tuple[_Scale, _Scale]:
    """Scales of scores and of ranks, whose zeros are at the same height; a smaller rank is higher."""
    scores = [0.0, *(float(value) for shape in shapes for value in shape.score)]
    ranks = [0.0, *(-float(value) for shape in shapes if shape.rank is not None for value in shape.rank)]
    low, high = min(scores), max(scores)
    unit = max([one / other for one, other in ((max(ranks), high), (min(ranks), low)) if other != 0], default=1.0)
    bottom, top = _HEIGHT - _BOTTOM, _TOP
    return _Scale(low, high, bottom, top), _Scale(-low * unit, -high * unit, bottom, top)


def _card(shape: Shape, y: _Scale, rank: _Scale) -> str:
    missing = "" if shape.missing is None else paragraph(f"missing: {shape.missing:+.4g}", note=True)
    return f'<div class="card"><h3>{escape(shape.feature)}</h3>{_chart(shape, y, rank)}{missing}</div>'


def _chart(shape: Shape, y: _Scale, rank: _Scale) -> str:
    """The change of the score over the feature's values, and of the rank on an axis of its own."""
    x = _Scale(float(shape.at[0]), float(shape.at[-1]), _LEFT, _WIDTH - _RIGHT)
    parts = []
    for value in y.ticks():
        kind, height = "axis" if value == 0 else "rule", y(value)
        parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>')
        parts.append(_label(_LEFT - 6, height + 4, f"{value:.3g}", "end"))
    parts += [_label(x(value), _HEIGHT - 6, text, "middle") for value, text in _ticks(shape, x)]
    places = [(x(at), y(value)) for at, value in zip(shape.at, shape.score, strict=True)]
    parts.append(_line(_stairs(places) if shape.steps else places, "var(--c0)", "change of the score"))
    if shape.rank is not None:
        ranks = [(x(at), rank(value)) for at, value in zip(shape.at, shape.rank, strict=True)]
        parts.append(_line(ranks, "var(--c1)", "change of the rank", dash="5 3"))
        parts += [
            _label(_WIDTH - _RIGHT + 6, rank(value) + 4, f"{value:+.3g}" if value else "0", "start")
            for value in rank.ticks()
        ]
    label = f"{shape.feature}: the score changes from {shape.score.min():+.4g} to {shape.score.max():+.4g}"
    view = f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"
    return f'<svg viewBox="{view}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _ticks(shape: Shape, x: _Scale) -> list[tuple[float, str]]:
    """Round values of the feature, or some of its categories."""
    if shape.categories is None:
        return [(value, f"{value:.3g}") for value in x.ticks()]
    every = math.ceil(len(shape.categories) / _NAMES)
    return [(float(k), escape(name[:_LONGEST])) for k, name in enumerate(shape.categories) if k % every == 0]


def _stairs(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of steps: a level holds up to its place, from the one before."""
    corners = list(places[:1])
    for (before, _), (x, y) in itertools.pairwise(places):
        corners += [(before, y), (x, y)]
    return corners


def _line(places: Sequence[tuple[float, float]], colour: str, name: str, *, dash: str = "") -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}">'
        f"<title>{name}</title></polyline>"
    )


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


class _Scale:
    """Values from `low` to `high` between two places of a chart."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.span, self.start, self.length = low, (high - low) or 1.0, start, end - start

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / self.span * self.length

    def ticks(self) -> list[float]:
        """Round values within the scale."""
        step, ends = round_step(abs(self.span) / _TICKS), sorted((self.low, self.low + self.span))
        first, last = math.ceil(ends[0] / step - 1e-9), math.floor(ends[1] / step + 1e-9)
        return [k * step for k in range(first, last + 1)]
