"""`podium evaluate`: metrics of scores against labels, or of a TREC run against qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options

if TYPE_CHECKING:
    from podium.evaluation import Evaluation


def evaluate(
    judged: Annotated[str, typer.Argument(metavar="DATA|QRELS", help="Labelled data, or TREC qrels.")],
    ranked: Annotated[
        str, typer.Argument(metavar="SCORES|RUN", help="Scores for the data, or a TREC run; - is standard input.")
    ],
    metric: options.Metrics = None,
    preset: options.Preset = None,
    per_query: Annotated[bool, typer.Option("--per-query", "-q", help="Also print every query's values.")] = False,
    as_json: options.Json = False,
) -> None:
    """Evaluate scores on labelled data, or a TREC run against its judgements.

    Scores are one number per line of the data, or RankLib's `qid index score`. Without -m: ndcg@10 and map.
    """
    from podium.data import read_data
    from podium.errors import ParameterError
    from podium.evaluation import evaluate as measure
    from podium.evaluation import evaluate_run, read_metrics, read_scores

    if judged == "-":
        raise ParameterError("Only the second file can be standard input: podium evaluate DATA -")
    metrics = read_metrics(console.split_option(metric, ["ndcg@10", "map"]), preset)
    if is_qrels(judged):
        from podium.data.trec import read_qrels, read_run

        found = evaluate_run(read_qrels(judged), read_run(ranked), metrics)
    else:
        data = read_data(judged)
        found = measure(data, read_scores(ranked, data), metrics)
    if as_json:
        console.print_json(found.to_dict(per_query=per_query))
    else:
        _print(found, per_query=per_query)


def is_qrels(path: str) -> bool:
    """Whether the first line that says something has the four columns of qrels, none of them LETOR's `qid:…`."""
    from podium.files import reading

    with reading(path) as file:
        for line in file:
            words = line.partition(b"#")[0].split()
            if words:
                return len(words) == 4 and b":" not in words[1] and b"," not in line
    return False


def _print(found: Evaluation, *, per_query: bool) -> None:
    from podium.evaluation.report import format_value

    if per_query:
        for metric, row in zip(found.metrics, found.values, strict=True):
            for query, value in zip(found.query_ids, row, strict=True):
                console.out(f"{metric}\t{query}\t{format_value(value)}")
    rows = [
        [str(metric), format_value(average.value), str(average.queries), str(average.skipped), metric.tag()]
        for metric, average in zip(found.metrics, found.means().values(), strict=True)
    ]
    console.print_table(["metric", "mean", "queries", "skipped", "convention"], rows)
    if found.n_both is not None:
        console.say(f"queries: {found.n_qrels} judged, {found.n_run} in the run, {found.n_both} in both")
