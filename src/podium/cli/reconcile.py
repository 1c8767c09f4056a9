"""`podium reconcile`: why two tools give different numbers for the same ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options
from podium.cli.evaluate import check_files
from podium.cli.judged import holds_qrels, read_judged

if TYPE_CHECKING:
    from podium.evaluation.reconcile import Reconciliation
    from podium.metrics import Metric

Side = Annotated[
    str | None,
    typer.Option(
        help="A preset, e.g. lightgbm, trec, sklearn, or fields of a convention, e.g. gain=linear,empty=zero. "
        "By default podium's own convention.",
        show_default=False,
    ),
]


def reconcile(
    judged: Annotated[str, typer.Argument(metavar="DATA|QRELS", help="Labelled data, or judgments (qrels).")],
    ranked: Annotated[
        str, typer.Argument(metavar="SCORES|RUN", help="Scores for the data, or a run; - is standard input.")
    ],
    a: Side = None,
    b: Side = None,
    metric: Annotated[str, typer.Option("-m", "--metric", help="The metric that both sides compute.")] = "ndcg@10",
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    grade: options.GradeColumn = None,
    queries: options.QueryFile = None,
    as_json: options.Json = False,
) -> None:
    """Explain why two tools report different metrics for the same ranking, convention by convention.

    Prints both numbers, the contribution of each convention to the difference, and the queries that matter most.
    """
    from podium.base.errors import ParameterError
    from podium.evaluation.reconcile import reconcile as explain
    from podium.evaluation.reconcile import reconcile_run

    check_files(judged, [ranked], command="reconcile")
    if a is None and b is None:
        raise ParameterError("Two conventions are needed: name at least one of them with --a or --b, e.g. --b trec.")
    first, second = _side(metric, a), _side(metric, b)
    columns = {"query": query, "document": document, "grade": grade}
    if queries is not None or holds_qrels(judged, ranked, columns):
        qrels, runs = read_judged(judged, [ranked], columns, queries)
        result = reconcile_run(qrels, runs[ranked], first, second)
    else:
        from podium.formats import read_data
        from podium.formats.scores_file import read_scores

        data = read_data(judged)
        result = explain(data, read_scores(ranked, data), first, second)
    if as_json:
        console.print_json(result.to_dict())
    else:
        _print(result)


def _side(metric: str, convention: str | None) -> Metric:
    from podium.base.errors import ParameterError
    from podium.metrics import Metric

    if "[" in metric:
        raise ParameterError(f"-m {metric}: give the conventions with --a and --b, and the metric alone with -m.")
    return Metric.parse(metric if convention is None else f"{metric}[{convention}]")


def _print(result: Reconciliation) -> None:
    from podium.evaluation.text_tables import format_value

    names, averages = result.names, result.averages
    rows = [
        [name, format_value(average.value), str(average.queries), str(average.skipped), metric.tag()]
        for name, average, metric in zip(names, averages, (result.a, result.b), strict=True)
    ]
    console.print_table(["", "mean", "queries", "skipped", "convention"], rows)
    console.out(f"\n{names[1]} − {names[0]} = {result.difference:+.6f}")
    moving = [term for term in result.terms if term.queries]
    if moving:
        console.out("")
        lines = [[f"{term.amount:+.6f}", str(term.queries), term.words] for term in moving]
        console.print_table(["adds", "queries", "because"], lines)
    idle = [" and ".join(term.fields) for term in result.terms if not term.queries]
    if idle:
        console.out(f"\nDiffer too, without effect on this ranking: {', '.join(idle)}.")
    if moving:
        _print_queries(result)


def _print_queries(result: Reconciliation) -> None:
    from podium.evaluation.text_tables import format_value

    rows = []
    for q in result.top_queries():
        most = max(range(len(result.terms)), key=lambda k: abs(result.shares[k, q]))
        first, second = result.values[:, q]
        share = f"{result.shares[:, q].sum():+.6f}"
        rows.append(
            [
                result.query_ids[q],
                format_value(first),
                format_value(second),
                share,
                " and ".join(result.terms[most].fields),
            ]
        )
    console.out("")
    console.print_table(["query", *result.names, "adds", "mostly by"], rows)
