"""`podium compare QRELS RUN RUN …`: runs against the same judgments, or scores of the same labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.base.errors import ParameterError
from podium.cli import console
from podium.cli.judged import Columns, say_metrics
from podium.cli.judged_files import evaluate_files, read_segments

if TYPE_CHECKING:
    from podium.evaluation.compare_runs import RunComparison


def compare_runs(
    judged: str,
    ranked: list[str],
    metrics: list[str],
    *,
    preset: str | None,
    seed: int,
    baseline: str | None,
    test: str | None,
    correction: str | None,
    by: str | None,
    queries: str | None,
    columns: Columns,
    output: str | None,
    as_json: bool,
) -> None:
    """Print a table per metric, best run first, with a verdict; with an output folder, write the report too."""
    from podium.evaluation.compare_runs import compare_evaluations
    from podium.evaluation.evaluate import read_metrics

    if output is not None:
        console.check_output(output)
    names = ranked if baseline is None or baseline in ranked else [baseline, *ranked]
    twice = next((name for name in names if names.count(name) > 1), None)
    if len(names) < 2 or twice is not None:
        got = f"{twice} twice" if twice is not None else f"{len(names)} beside {judged}"
        raise ParameterError(f"Two different runs are needed, podium compare QRELS RUN RUN; got {got}.")
    say_metrics(metrics, preset)
    how: dict[str, Any] = {"test": test or "randomisation", "correction": correction or "holm", "seed": seed}
    texts = queries if by is None else None
    evaluations = evaluate_files(judged, names, read_metrics(metrics, preset), columns=columns, queries=texts)
    places = None if by is None else read_segments(judged, queries, by)
    comparison = compare_evaluations(evaluations, baseline=baseline, dataset=Path(judged).name, by=places, **how)
    if output is not None:
        from podium.pages.report import write_report

        Path(output).mkdir(parents=True, exist_ok=True)
        write_report(comparison, output)
    if as_json:
        tests = {metric: tested.to_dict() for metric, tested in comparison.items()}
        parts = {metric: part.to_dict() for metric, part in comparison.segments.items()}
        console.print_json(tests | ({"segments": parts} if parts else {}))
        return
    print_runs(comparison)
    if output is not None:
        console.say(f"wrote {output}: report.html, results.json, table.md, table.tex, per_query.tsv")


def print_runs(comparison: RunComparison) -> None:
    """Print a table per metric, and the verdicts."""
    from podium.evaluation.report_texts import ranked
    from podium.evaluation.segment_texts import segment_table

    for metric, tested in comparison.items():
        (word, _, *heads), rows = ranked(comparison, metric)
        console.print_table([word, metric, *heads], rows)
        console.say(tested.verdict(comparison.word))
        if metric in comparison.segments:
            console.out("")
            console.print_table(*segment_table(comparison.segments[metric]))
            console.say(f"by segment: {comparison.segments[metric].verdict()}")
    first = next(iter(comparison.values()))
    shared = "" if comparison.baseline else "; runs that share a letter do not differ significantly"
    console.say(f"from, to: 95 % intervals{shared} ({first.how})")
    if comparison.segments:
        against = next(iter(comparison.segments.values())).baseline
        console.say(f"segments: differences from {against}; p-values are corrected for all segments together")
