"""HTML report on a rating: strengths and ranks with their intervals, expected and seen results, and what fits worst."""

from __future__ import annotations

from html import escape

import numpy as np

from podium.arena.rating import Rating
from podium.base.arrays import Array
from podium.base.errors import counted
from podium.evaluation.paired import Interval
from podium.pages.kit import paragraph, points, ranges, static_page, table

MOST_SHOWN = 30
"""Players in the charts and the matrix."""


def page(rating: Rating) -> str:
    """HTML report on a rating."""
    source = f" of {rating.source}" if rating.source else ""
    summary = f"{rating.method} on {counted(rating.n_battles, 'battle')} of {len(rating.players)} players{source}."
    sections = _sections(rating)
    for name, part in rating.groups.items():
        sections |= {f"{name}: {counted(part.n_battles, 'battle')}": _strengths(part) + _table(part)}
    return static_page("Rating", summary, sections)


def _sections(rating: Rating) -> dict[str, str]:
    sections = {
        "Strengths and ranks": f'<div class="two">{_strengths(rating)}{_ranks(rating)}</div>' + _left_out(rating),
        "Numbers": _table(rating) + "".join(paragraph(note, note=True) for note in rating.notes),
        "Expected and seen results": _matrix(rating),
        "Pairs that fit worst": _misfits(rating),
    }
    if rating.judges is not None:
        sections["Judges"] = _judges(rating)
    return sections


def _strengths(rating: Rating) -> str:
    words = f"Strengths, each with its {100 * rating.level:g} % interval."
    return _figure(points(_spans(rating), label="Strengths with their intervals", x_name=_scale(rating)), words)


def _figure(chart: str, words: str) -> str:
    return f'<figure><div class="scroll chart" tabindex="0">{chart}</div>{paragraph(words, note=True)}</figure>'


def _scale(rating: Rating) -> str:
    return "Elo scale, the average player at 1000" if rating.scale == "elo" else "log-strength, the average player at 0"


def _spans(rating: Rating) -> dict[str, tuple[float, Interval]]:
    low, high = rating.intervals
    return {
        rating.players[i]: (float(rating.values[i]), Interval(float(low[i]), float(high[i])))
        for i in rating.order[:MOST_SHOWN].tolist()
    }


def _left_out(rating: Rating) -> str:
    left = len(rating.players) - MOST_SHOWN
    return paragraph(f"The {MOST_SHOWN} strongest; {left} more are in the table.", note=True) if left > 0 else ""


def _ranks(rating: Rating) -> str:
    best, worst = rating.rank_intervals
    spans = {
        rating.players[i]: (place + 1, int(best[i]), int(worst[i]))
        for place, i in enumerate(rating.order[:MOST_SHOWN].tolist())
    }
    words = f"Ranks: with {100 * rating.level:g} % confidence every rank is within its interval, all at once."
    return _figure(ranges(spans, label="Ranks with their simultaneous intervals", x_name="rank"), words)


def _table(rating: Rating) -> str:
    digits = 0 if rating.scale == "elo" else 3
    rows = [
        [
            str(row[1]), str(row[0]), *(f"{value:.{digits}f}" for value in row[2:5]), f"{row[5]} to {row[6]}",
            f"{row[7]:g}", f"{row[8]:.3f}",
        ]
        for row in rating.rows()
    ]  # fmt: skip
    heads = ["player", "rank", "strength", "from", "to", "rank within", "battles", "won"]
    return f'<div class="tall">{table(heads, rows, label="Players")}</div>'


def _matrix(rating: Rating) -> str:
    """Share won by the row against the column: seen, and expected below it, shaded by the expected."""
    few = rating.order[:MOST_SHOWN].tolist()
    seen, battles = _seen(rating)
    s = rating.strengths
    head = "".join(f'<th scope="col" class="number">{k + 1}</th>' for k in range(len(few)))
    body = []
    for place, i in enumerate(few):
        expected = rating.law.expected_score(s[i] - s[few], rating.tie)
        cells = [
            _cell(None if i == j else float(seen[i, j]), float(battles[i, j]), float(p))
            for j, p in zip(few, expected.tolist(), strict=True)
        ]
        body.append(f'<tr><th scope="row">{place + 1}. {escape(rating.players[i])}</th>{"".join(cells)}</tr>')
    note = "Share of the battles that the row won against the column, ties as half; below it the share expected."
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Expected and seen results"><table>'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    ) + paragraph(note, note=True)


def _cell(seen: float | None, battles: float, expected: float) -> str:
    if seen is None:
        return "<td></td>"
    shade = f"background:color-mix(in srgb, var(--c0) {60 * expected:.0f}%, transparent)"
    text = f"{seen:.2f}" if battles else "–"
    return (
        f'<td class="number" style="{shade}" title="{battles:g} battles">{text}<br>'
        f'<span class="note">{expected:.2f}</span></td>'
    )


def _seen(rating: Rating) -> tuple[Array, Array]:
    """Share won, and battles, of each player against each other."""
    m, pairs = len(rating.players), rating.pairs
    won, battles = np.zeros((m, m)), np.zeros((m, m))
    c = pairs.counts
    won[pairs.first, pairs.second], won[pairs.second, pairs.first] = c.wins + 0.5 * c.ties, c.losses + 0.5 * c.ties
    battles[pairs.first, pairs.second] = battles[pairs.second, pairs.first] = pairs.battles
    return won / np.maximum(battles, 1e-300), battles


def _misfits(rating: Rating) -> str:
    rows = [
        [misfit.a, misfit.b, f"{misfit.battles:g}", f"{misfit.seen:.3f}", f"{misfit.expected:.3f}", f"{misfit.z:+.1f}"]
        for misfit in rating.misfits()
    ]
    note = (
        "z is the difference in standard deviations. A few beyond 2 are chance, one beyond 4 is not: strengths on one "
        "line do not explain that pair."
    )
    heads = ["a", "b", "battles", "a won", "expected", "z"]
    return table(heads, rows, label="Pairs that fit worst", words=2) + paragraph(note, note=True)


def _judges(rating: Rating) -> str:
    assert rating.judges is not None, "checked by the caller"
    e = rating.judges
    columns = e.battles.tolist(), e.ties.tolist(), e.slope.tolist(), e.slope_error.tolist(), e.shift.tolist()
    rows = [
        [judge, f"{battles:g}", f"{ties:.3f}", f"{slope:.2f} ± {1.96 * error:.2f}", f"{shift:+.2f}"]
        for judge, battles, ties, slope, error, shift in zip(e.judges, *columns, strict=True)
    ]
    heads = ["judge", "battles", "ties", "slope, 95 %", "tie shift"]
    note = "Slope: 1 tells players apart as all judges together, 0 by chance. Tie shift: above 0 calls more ties."
    return f'<div class="tall">{table(heads, rows, label="Judges")}</div>' + paragraph(note, note=True)
