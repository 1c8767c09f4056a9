"""Evaluations and segments of queries as tables and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from podium.evaluation.metric_names import short_names
from podium.evaluation.text_tables import Table, format_value, markdown_table, markdown_text

if TYPE_CHECKING:
    from podium.evaluation.by_segment import SegmentComparison, Segments
    from podium.evaluation.evaluate import Evaluation
    from podium.evaluation.gate import GateCheck


def evaluation_markdown(
    evaluations: Mapping[str, Evaluation], segments: Mapping[str, Segments], checks: Sequence[GateCheck]
) -> str:
    """Results of runs in Markdown: means with intervals, conditions of a gate, and segments."""
    parts = []
    for name, evaluation in evaluations.items():
        rows, intervals = [], evaluation.intervals()
        for metric, average in evaluation.means().items():
            values = map(format_value, (average.value, *intervals[metric]))
            rows.append([metric, *values, str(average.queries), str(average.skipped)])
        table = markdown_table(["metric", "mean", "from", "to", "queries", "skipped"], rows)
        parts.append(f"**{markdown_text(name)}**\n\n{table}")
        parts += [markdown_table(*segments_table(segments[name]))] if name in segments else []
    if checks:
        rows = [["passed" if check.passed else "**failed**", check.words] for check in checks]
        marked = [[cell if c == 0 else markdown_text(cell) for c, cell in enumerate(row)] for row in rows]
        lines = "".join(f"| {' | '.join(row)} |\n" for row in (["gate", ""], ["---", "---"], *marked))
        parts.append(lines)
    return "\n".join(parts) + "\n"


def segments_table(segments: Segments) -> Table:
    """A row per segment: the number of its queries, and each metric's mean with its interval."""
    metrics = next(iter(segments.values())).metrics
    rows = []
    for name, part in segments.items():
        means, intervals = part.means(), part.intervals()
        cells = [(means[str(metric)].value, *intervals[str(metric)]) for metric in metrics]
        rows.append([name, str(len(part.query_ids)), *(format_value(value) for cell in cells for value in cell)])
    heads = [head for name in short_names(metrics) for head in (name, "from", "to")]
    return ["segment", "queries", *heads], rows


def segment_table(comparison: SegmentComparison, word: str = "run") -> Table:
    """A row per segment and run, or other `word`: mean, interval, difference from the baseline, corrected p-value."""
    rows = [
        [
            row.segment,
            str(row.queries),
            row.system,
            *map(format_value, (row.mean, *row.interval)),
            "–" if row.difference is None else f"{row.difference:+.4f}",
            "–" if row.p is None else f"{row.p:.4f}",
        ]
        for row in comparison.rows
    ]
    return ["segment", "queries", word, str(comparison.metric), "from", "to", "difference", "p"], rows


def segments_markdown(segments: Mapping[str, SegmentComparison], word: str = "run") -> str:
    """Results by segment in Markdown, by metric; empty if there are none."""
    return "".join(
        f"\n{metric} by segment: {markdown_text(part.verdict())}.\n\n" + markdown_table(*segment_table(part, word))
        for metric, part in segments.items()
    )
