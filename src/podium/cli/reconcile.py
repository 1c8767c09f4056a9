"""`podium reconcile`: why two tools give different numbers for the same ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options
from podium.cli.evaluate import check_files

if TYPE_CHECKING:
    from podium.evaluation.reconcile import Reconciliation
    from podium.metrics import Metric

Side = Annotated[
    str | None,
    typer.Option(
        help="A preset, e.g. lightgbm, trec, sklearn, or fields of a convention, e.g. gain=linear,empty=zero. "
        "Without it: podium's own convention.",
        show_default=False,
    ),
]


def reconcile(
    judged: Annotated[str, typer.Argument(metavar="DATA|QRELS", help="Labelled data, or TREC qrels.")],
    ranked: Annotated[
        str, typer.Argument(metavar="SCORES|RUN", help="Scores for the data, or a TREC run; - is standard input.")
    ],
    a: Side = None,
    b: Side = None,
    metric: Annotated[str, typer.Option("-m", "--metric", help="The measure that both sides compute.")] = "ndcg@10",
    as_json: options.Json = False,
) -> None:
    """Explain the difference between two tools' numbers for the same ranking, convention by convention.

    Prints both numbers, what each convention adds to the difference, and the queries that matter most.
    """
    from podium.base.errors import ParameterError
    from podium.evaluation.reconcile import reconcile as explain
    from podium.evaluation.reconcile import reconcile_run
    from podium.formats import read_data
    from podium.formats.scores_file import read_scores
    from podium.formats.sniff import sniff

    check_files(judged, [ranked], command="reconcile")
    if a is None and b is None:
        raise ParameterError("Two conventions are needed: name at least one of them with --a or --b, e.g. --b trec.")
    first, second = _side(metric, a), _side(metric, b)
    if sniff(judged) == "qrels":
        from podium.formats.trec.trec import read_qrels, read_run

        found = reconcile_run(read_qrels(judged), read_run(ranked), first, second)
    else:
        data = read_data(judged)
        found = explain(data, read_scores(ranked, data), first, second)
    if as_json:
        console.print_json(found.to_dict())
    else:
        _print(found)


def _side(metric: str, convention: str | None) -> Metric:
    from podium.base.errors import ParameterError
    from podium.metrics import Metric

    if "[" in metric:
        raise ParameterError(f"-m {metric}: give the conventions with --a and --b, and the measure alone with -m.")
    return Metric.parse(metric if convention is None else f"{metric}[{convention}]")


def _print(found: Reconciliation) -> None:
    from podium.evaluation.report_texts import format_value

    names, averages = found.names, found.averages
    rows = [
        [name, format_value(average.value), str(average.queries), str(average.skipped), metric.tag()]
        for name, average, metric in zip(names, averages, (found.a, found.b), strict=True)
    ]
    console.print_table(["", "mean", "queries", "skipped", "convention"], rows)
    console.out(f"\n{names[1]} − {names[0]} = {found.difference:+.6f}")
    moving = [term for term in found.terms if term.queries]
    if moving:
        console.out("")
        lines = [[f"{term.amount:+.6f}", str(term.queries), term.words] for term in moving]
        console.print_table(["adds", "queries", "because"], lines)
    idle = [" and ".join(term.fields) for term in found.terms if not term.queries]
    if idle:
        console.out(f"\nDiffer too, without effect on this ranking: {', '.join(idle)}.")
    if moving:
        _print_queries(found)


def _print_queries(found: Reconciliation) -> None:
    from podium.evaluation.report_texts import format_value

    rows = []
    for q in found.top_queries():
        most = max(range(len(found.terms)), key=lambda k: abs(found.shares[k, q]))
        first, second = found.values[:, q]
        share = f"{found.shares[:, q].sum():+.6f}"
        rows.append(
            [
                found.query_ids[q],
                format_value(first),
                format_value(second),
                share,
                " and ".join(found.terms[most].fields),
            ]
        )
    console.out("")
    console.print_table(["query", *found.names, "adds", "mostly by"], rows)
