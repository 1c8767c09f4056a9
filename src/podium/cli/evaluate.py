"""`podium evaluate`: metrics of scores against labels, or of TREC runs against qrels."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import DataError, ParameterError
from podium.cli import console, options
from podium.cli.judged import say_metrics
from podium.cli.judged_files import evaluate_files, read_segments

if TYPE_CHECKING:
    from podium.evaluation.by_segment import Segments
    from podium.evaluation.evaluate import Evaluation
    from podium.evaluation.gate import GateCheck
    from podium.evaluation.significance import SystemComparison


def evaluate(
    judged: Annotated[
        str,
        typer.Argument(
            metavar="DATA|QRELS",
            help="Labelled data; or judgments: TREC qrels, CSV, TSV, JSON, Parquet, a BEIR folder.",
        ),
    ],
    ranked: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES|RUN...",
            help="Scores for the data; or a run: TREC, CSV, JSON, Parquet; - is standard input. Several are compared.",
        ),
    ],
    metric: options.Metrics = None,
    preset: options.Preset = None,
    all_queries: Annotated[
        bool,
        typer.Option(
            "--all-queries", "-c", help="Average over all queries of the qrels; unanswered ones are failures."
        ),
    ] = False,
    max_documents: Annotated[
        int | None,
        typer.Option("--max-documents", "-M", help="Evaluate the first M documents of each query only.", min=1),
    ] = None,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", "-J", help="Drop documents without a judgment from the run.")
    ] = False,
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    grade: options.GradeColumn = None,
    grades: Annotated[
        bool,
        typer.Option(
            "--grades",
            help="The files hold predicted grades, not scores: mean absolute error, accuracy, quadratic kappa.",
        ),
    ] = False,
    per_query: Annotated[bool, typer.Option("--per-query", "-q", help="Also print every query's values.")] = False,
    by: options.By = None,
    queries: Annotated[
        str | None,
        typer.Option(help=f"{options.QUERIES} With --by: its columns.", metavar="FILE", show_default=False),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            help="Fail, with exit code 1, if the mean of a metric is below a limit, e.g. ndcg@10=0.42; repeat it.",
            metavar="METRIC=LIMIT",
            show_default=False,
        ),
    ] = None,
    not_worse_than: Annotated[
        str | None,
        typer.Option(
            help="Fail, with exit code 1, if the run is significantly worse than this one by any of the metrics.",
            metavar="RUN",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="With --not-worse-than: fail unless the loss is shown to be smaller than this (non-inferiority).",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="The level of the test of --not-worse-than.")] = 0.05,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Judgments by a machine, of the judged queries and many others: intervals from few human and many "
            "machine labels (prediction-powered inference).",
            metavar="QRELS",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="Weigh queries: a table of query and weight, as podium judges queries writes it.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            help="Write precision–recall curves, and the AUC over the documents of all queries, as an HTML report.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(
            help="Append the results to this file in Markdown, e.g. $GITHUB_STEP_SUMMARY.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Evaluate scores on labelled data, or TREC runs against relevance judgments (qrels).

    Scores are one number per line of the data, or RankLib's `qid index score`. Without -m: ndcg@10 and map. Of several
    runs, those that share a letter do not differ significantly. --at-least and --not-worse-than are gates for changes:
    they fail with exit code 1 and the reason.
    """
    from podium.cli.gate import Gate, fail_if_not_passed, write_summary
    from podium.evaluation.evaluate import read_metrics

    if grades:
        from podium.cli.grades import evaluate_grades

        for_runs = (all_queries, max_documents, judged_only, query, document, grade, queries)
        others = any((metric, preset, per_query, by, at_least, not_worse_than, margin, summary, curve, *for_runs))
        evaluate_grades(judged, check_files(judged, ranked, command="evaluate"), others=others, as_json=as_json)
        return
    spelled = console.split_option(metric, ["ndcg@10", "map"])
    metrics = read_metrics(spelled, preset)
    say_metrics(spelled, preset)
    gate = Gate.read(at_least, not_worse_than, margin=margin, alpha=alpha, preset=preset)
    names = check_files(judged, ranked, command="evaluate")
    gate.check_options(names)
    chosen = {"all_queries": all_queries, "max_documents": max_documents, "judged_only": judged_only}
    columns = {"query": query, "document": document, "grade": grade}
    if curve is not None:
        console.check_output(curve)
    if machine is not None or weights is not None:
        from podium.cli.evaluate_weighted import check_alone, evaluate_machine, print_weighted

        check_alone(
            per_query=per_query, by=by, at_least=at_least, not_worse_than=not_worse_than, summary=summary, curve=curve
        )
    if machine is not None:
        evaluate_machine(
            judged, names, machine, metrics, weights=weights, columns=columns, queries=queries, chosen=chosen,
            as_json=as_json,
        )  # fmt: skip
        return
    evaluated = partial(evaluate_files, judged, chosen=chosen, columns=columns, queries=queries)
    evaluations = evaluated(names, gate.with_metrics(metrics))
    if weights is not None:
        print_weighted(evaluations, weights, as_json=as_json)
        return
    checks = gate.checks(evaluated, evaluations, metrics)
    places = None if by is None else read_segments(judged, queries, by)
    segments = None if places is None else {name: part.by(places) for name, part in evaluations.items()}
    report = _report(evaluations, segments, checks, per_query=per_query)
    if curve is not None:
        from podium.cli.evaluate_curve import write_curve

        drawn = write_curve(curve, judged, names, preset, chosen=chosen, columns=columns, queries=queries)
        report["curve"] = drawn.to_dict()
    if as_json:
        console.print_json(report)
    elif len(evaluations) == 1:
        (evaluation,) = evaluations.values()
        _print(evaluation, per_query=per_query)
    else:
        _print_several(evaluations, _tests(evaluations), per_query=per_query)
    if not as_json:
        _print_segments(segments or {})
    if summary is not None:
        write_summary(summary, evaluations, segments or {}, checks)
    fail_if_not_passed(checks)


def _report(
    evaluations: Mapping[str, Evaluation],
    segments: Mapping[str, Segments] | None,
    checks: list[GateCheck],
    *,
    per_query: bool,
) -> dict[str, Any]:
    """Everything as plain values for JSON."""
    runs = {name: evaluation.to_dict(per_query=per_query) for name, evaluation in evaluations.items()}
    if segments is not None:
        runs = {name: {**run, "segments": segments[name].to_dict()} for name, run in runs.items()}
    if len(runs) == 1:
        (report,) = runs.values()
    else:
        tests = _tests(evaluations)
        report = {"runs": runs, "significance": {metric: test.to_dict() for metric, test in tests.items()}}
    return report | ({"gate": [check.to_dict() for check in checks]} if checks else {})


def _print_segments(segments: Mapping[str, Segments]) -> None:
    """Print a table of segments for each file."""
    from podium.evaluation.segment_texts import segments_table

    for name, parts in segments.items():
        console.out("")
        if len(segments) > 1:
            console.out(name)
        console.print_table(*segments_table(parts))
    if segments:
        console.say("from, to: 95 % intervals of the means")


def check_files(judged: str, ranked: list[str], *, command: str) -> list[str]:
    """Files to evaluate; raises a clear error if one is given twice or the order is wrong."""
    from podium.formats.sniff import sniff

    if judged == "-":
        raise ParameterError(f"Only the second file can be standard input: podium {command} DATA -")
    if sniff(judged) == "run":
        raise ParameterError(
            f"{judged} looks like a TREC run, but labelled data or qrels are expected. Give the qrels first and the "
            f"run second: podium {command} QRELS {judged}"
        )
    twice = next((name for name in ranked if ranked.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"{twice} is given twice. Name each file once.")
    return ranked


def _tests(evaluations: Mapping[str, Evaluation]) -> dict[str, SystemComparison]:
    """Significance tests between the runs, by metric; none for a metric if too few queries count."""
    from podium.evaluation.compare_runs import compare_evaluations

    tests: dict[str, SystemComparison] = {}
    for m, metric in enumerate(next(iter(evaluations.values())).metrics):
        with suppress(DataError):
            tests |= compare_evaluations(
                {
                    name: replace(evaluation, metrics=(metric,), values=evaluation.values[[m]])
                    for name, evaluation in evaluations.items()
                }
            )
    return tests


def _print(evaluation: Evaluation, *, per_query: bool) -> None:
    from podium.evaluation.text_tables import format_value

    if per_query:
        for metric, row in zip(evaluation.metrics, evaluation.values, strict=True):
            for query, value in zip(evaluation.query_ids, row, strict=True):
                console.out(f"{metric}\t{query}\t{format_value(value, metric.digits)}")
    rows = [
        [
            str(metric),
            format_value(average.value, metric.digits),
            str(average.queries),
            str(average.skipped),
            metric.tag(),
        ]
        for metric, average in zip(evaluation.metrics, evaluation.means().values(), strict=True)
    ]
    console.print_table(["metric", "mean", "queries", "skipped", "convention"], rows)
    if evaluation.n_both is not None:
        console.say(f"queries: {evaluation.n_qrels} judged, {evaluation.n_run} in the run, {evaluation.n_both} in both")
    if any(not average.queries for average in evaluation.means().values()):
        console.say("–: no query counts; see the column skipped.")


def _print_several(
    evaluations: Mapping[str, Evaluation], tests: Mapping[str, SystemComparison], *, per_query: bool
) -> None:
    """Print a column per run, with letters if tests were possible."""
    from podium.evaluation.text_tables import format_value

    first = next(iter(evaluations.values()))
    if per_query:
        for m, metric in enumerate(first.metrics):
            for q, query in enumerate(first.query_ids):
                console.out(
                    "\t".join(
                        [
                            str(metric),
                            query,
                            *(
                                format_value(evaluation.values[m, q], metric.digits)
                                for evaluation in evaluations.values()
                            ),
                        ]
                    )
                )
    rows = []
    for metric in first.metrics:
        head = str(metric)
        letters = (tests[head].letters or {}) if head in tests else {}
        means = {name: evaluation.means()[head] for name, evaluation in evaluations.items()}
        cells = [
            f"{format_value(average.value, metric.digits)} {letters.get(name, '')}".rstrip()
            for name, average in means.items()
        ]
        rows.append([head, *cells, str(max(average.queries for average in means.values()))])
    console.print_table(["metric", *evaluations, "queries"], rows)
    console.say("means: " + ", ".join(metric.tag() for metric in first.metrics))
    if tests:
        console.say("runs that share a letter do not differ significantly (paired randomisation test, Holm, α = 0.05)")
