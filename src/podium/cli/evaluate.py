"""`podium evaluate`: metrics of scores against labels, or of TREC runs against qrels."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import DataError, ParameterError
from podium.cli import console, options
from podium.cli.judged import Columns, holds_qrels, read_judged, say_metrics

if TYPE_CHECKING:
    from podium.evaluation.evaluate import Evaluation
    from podium.evaluation.significance import SystemComparison
    from podium.metrics import Metric


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
    queries: options.QueryFile = None,
    per_query: Annotated[bool, typer.Option("--per-query", "-q", help="Also print every query's values.")] = False,
    as_json: options.Json = False,
) -> None:
    """Evaluate scores on labelled data, or TREC runs against relevance judgments (qrels).

    Scores are one number per line of the data, or RankLib's `qid index score`. Without -m: ndcg@10 and map. Of several
    runs, those that share a letter do not differ significantly.
    """
    from podium.evaluation.evaluate import read_metrics

    spelled = console.split_option(metric, ["ndcg@10", "map"])
    metrics = read_metrics(spelled, preset)
    say_metrics(spelled, preset)
    names = check_files(judged, ranked, command="evaluate")
    chosen = {"all_queries": all_queries, "max_documents": max_documents, "judged_only": judged_only}
    columns = {"query": query, "document": document, "grade": grade}
    evaluations = _evaluated(judged, names, metrics, chosen, columns=columns, queries=queries)
    if len(evaluations) == 1:
        (evaluation,) = evaluations.values()
        if as_json:
            console.print_json(evaluation.to_dict(per_query=per_query))
        else:
            _print(evaluation, per_query=per_query)
        return
    tests = _tests(evaluations)
    if as_json:
        runs = {"runs": {name: evaluation.to_dict(per_query=per_query) for name, evaluation in evaluations.items()}}
        console.print_json({**runs, "significance": {m: test.to_dict() for m, test in tests.items()}})
    else:
        _print_several(evaluations, tests, per_query=per_query)


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


def _evaluated(
    judged: str,
    ranked: list[str],
    metrics: tuple[Metric, ...],
    chosen: dict[str, bool | int | None],
    *,
    columns: Columns,
    queries: str | None,
) -> dict[str, Evaluation]:
    """Evaluate each file of scores, or each run."""
    if queries is not None or holds_qrels(judged, ranked[0], columns):
        qrels, runs = read_judged(judged, ranked, columns, queries)
        if len(runs) > 1:
            from podium.evaluation.compare_runs import evaluate_runs

            return evaluate_runs(qrels, runs, metrics, **chosen)  # type: ignore[arg-type]
        from podium.evaluation.evaluate import evaluate_run

        return {name: evaluate_run(qrels, run, metrics, **chosen) for name, run in runs.items()}  # type: ignore[arg-type]
    if any(chosen.values()):
        raise ParameterError("-c, -M and -J are for runs against qrels; with labelled data every document has a label.")
    from podium.evaluation.evaluate import evaluate as measure
    from podium.formats import read_data
    from podium.formats.scores_file import read_scores

    data = read_data(judged)
    return {name: measure(data, read_scores(name, data), metrics) for name in ranked}


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
    from podium.evaluation.report_texts import format_value

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
    from podium.evaluation.report_texts import format_value

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
