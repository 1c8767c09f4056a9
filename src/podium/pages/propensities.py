"""Propensities as one HTML page that needs no network and no script: the curve with its interval, and its numbers."""

from __future__ import annotations

from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from podium.clicks.propensity import Propensities, click_rates
from podium.data.click_log import ClickLog
from podium.errors import counted
from podium.version import version

Array = NDArray[np.float64]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 720.0, 320.0, 44.0, 40.0, 12.0, 12.0
_MOST = 2.0
"""The largest value that the picture shows; intervals that go further are cut."""


def page(found: Propensities, log: ClickLog) -> str:
    """The whole page."""
    style = (files("podium.evaluation") / "page" / "report.css").read_text("utf-8")
    rates = click_rates(log, found.ranks)
    views = f"{log.n_page_views:.0f} pages of {counted(log.n_queries, 'query', 'queries')}"
    where = f" of {escape(log.source)}" if log.source else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>How likely each rank is to be looked at</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>How likely each rank is to be looked at</h1>
<p>Estimated by {escape(found.how)} from {views}{where}.</p>
</header>
<main>
<section aria-labelledby="h-curve">
<h2 id="h-curve">Examination relative to rank 1</h2>
<p class="note keys"><span><span class="key" style="background: var(--c0)"></span>examination, with its 95 % interval
</span><span><span class="key" style="background: var(--c1)"></span>click rate, which mixes examination with relevance
</span></p>
<figure>{picture(found, rates)}</figure>
</section>
<section aria-labelledby="h-numbers">
<h2 id="h-numbers">Numbers</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Propensities by rank">{_table(found, rates)}</div>
</section>
</main>
<footer><p>podium {version()}</p></footer>
</body>
</html>
"""


def picture(found: Propensities, rates: Array) -> str:
    """The curve as SVG; ranks on the horizontal axis."""
    shown = np.concatenate((found.theta, rates, found.high))
    top = min(max(1.05, float(np.nanmax(shown))), _MOST)
    last = max(float(found.ranks[-1]), 2.0)

    def x(rank: float) -> str:
        return f"{_LEFT + (rank - 1) / (last - 1) * (_WIDTH - _LEFT - _RIGHT):.1f}"

    def y(value: float) -> str:
        return f"{_TOP + (1 - min(value, top) / top) * (_HEIGHT - _TOP - _BOTTOM):.1f}"

    def line(values: Array) -> str:
        return " ".join(f"{x(k)},{y(v)}" for k, v in zip(found.ranks, values, strict=True) if np.isfinite(v))

    parts = [
        f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(v)}" y2="{y(v)}"/>'
        f'<text x="{_LEFT - 6}" y="{y(v)}" dy="4" text-anchor="end">{v:g}</text>'
        for v in np.arange(0, top + 1e-9, 0.25)
    ]
    step = max(1, int(np.ceil(len(found.ranks) / 20)))
    parts += [
        f'<text x="{x(k)}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{k}</text>' for k in found.ranks[::step]
    ]
    parts.append(f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 4}" text-anchor="middle">rank</text>')
    known = np.isfinite(found.low) & np.isfinite(found.high)
    if known.any():
        upper = [f"{x(k)},{y(v)}" for k, v in zip(found.ranks[known], found.high[known], strict=True)]
        lower = [f"{x(k)},{y(v)}" for k, v in zip(found.ranks[known], found.low[known], strict=True)]
        points = " ".join([*upper, *reversed(lower)])
        parts.append(f'<polygon points="{points}" style="fill: var(--c0); opacity: .2"/>')
    parts.append(
        f'<polyline points="{line(rates)}" fill="none" style="stroke: var(--c1)" stroke-width="2" '
        'stroke-dasharray="5 4"/>'
    )
    parts.append(f'<polyline points="{line(found.theta)}" fill="none" style="stroke: var(--c0)" stroke-width="2"/>')
    parts += [
        f'<circle cx="{x(k)}" cy="{y(v)}" r="3.5" style="fill: var(--c0)"><title>rank {k}: {v:.4f}, '
        f"{_shown(low)} to {_shown(high)}</title></circle>"
        for k, v, low, high in zip(found.ranks, found.theta, found.low, found.high, strict=True)
    ]
    label = f"Examination by rank, from 1 at rank 1 to {found.theta[-1]:.2f} at rank {found.ranks[-1]}"
    body = "\n".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{label}">\n{body}\n</svg>'


def _table(found: Propensities, rates: Array) -> str:
    columns = {"rank": found.ranks, "examination": found.theta, "from": found.low, "to": found.high}
    if found.has_trust_bias:
        columns |= {"alpha": found.alpha, "beta": found.beta}
    columns |= {"click rate": rates}
    heads = "".join(f'<th scope="col" class="number">{name}</th>' for name in columns)
    rows = "".join(
        f'<tr><td class="number">{int(row[0])}</td>'
        + "".join(f'<td class="number">{_shown(value)}</td>' for value in row[1:])
        + "</tr>\n"
        for row in zip(*columns.values(), strict=True)
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>"


def _shown(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else "–"
