"""`podium evaluate --weights` and `--machine`: means over weighted queries, and with machine labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from podium.base.errors import ParameterError
from podium.cli import console
from podium.cli.judged import Columns, read_judged, read_judgments

if TYPE_CHECKING:
    from podium.evaluation.evaluate import Evaluation
    from podium.metrics import Metric


def evaluate_machine(
    judged: str,
    ranked: list[str],
    machine: str,
    metrics: tuple[Metric, ...],
    *,
    weights: str | None,
    columns: Columns,
    queries: str | None,
    chosen: dict[str, Any],
    as_json: bool,
) -> None:
    """Print means by human labels with the help of machine labels, and differences from the first run."""
    from podium.evaluation.judging.machine_labels import HEADS, evaluate_with_machine
    from podium.formats.query_weights import read_query_weights

    qrels, runs = read_judged(judged, ranked, columns, queries)
    _check_one_judge(machine, columns)
    labels = read_judgments(machine, columns)
    by_query = None if weights is None else read_query_weights(weights)
    powered = evaluate_with_machine(qrels, labels, runs, metrics, weights=by_query, **chosen)
    if as_json:
        console.print_json(powered.to_dict())
        return
    cells = [
        [*map(str, row[:2]), *(f"{value:.4f}" for value in row[2:9]), *("–" if v is None else str(v) for v in row[9:])]
        for row in powered.rows()
    ]
    console.print_table(HEADS, cells)
    for sentence in powered.sentences():
        console.say(sentence)


def _check_one_judge(machine: str, columns: Columns) -> None:
    """Refuse grades of several judges: one version of a prompt mixed with another is no judge."""
    from podium.formats.sniff import is_rows
    from podium.judgments.judgment_files import judgments_from

    judges = judgments_from(machine, **columns).judges if is_rows(machine) else ()
    if len(judges) > 1:
        raise ParameterError(
            f"--machine {machine} has grades of {len(judges)} judges ({', '.join(judges[:3])}): keep one model, prompt "
            "and temperature."
        )


def print_weighted(evaluations: Mapping[str, Evaluation], weights: str, *, as_json: bool) -> None:
    """Print the means over weighted queries with their intervals."""
    from podium.evaluation.evaluate import all_plain
    from podium.evaluation.judging.sampling import unequal_words
    from podium.evaluation.judging.weighted_means import weighted_means
    from podium.evaluation.text_tables import format_value
    from podium.formats.query_weights import read_query_weights

    by_query = read_query_weights(weights)
    means = {name: weighted_means(evaluation, by_query) for name, evaluation in evaluations.items()}
    if as_json:
        report = {
            run: {metric: {**mean._asdict(), "interval": list(mean.interval)} for metric, mean in parts.items()}
            for run, parts in means.items()
        }
        console.print_json(all_plain(report))
        return
    rows = [
        [metric, run, *(format_value(v, 4) for v in (mean.value, *mean.interval)), str(mean.queries), str(mean.skipped)]
        for run, parts in means.items()
        for metric, mean in parts.items()
    ]
    console.print_table(["metric", "run", "weighted mean", "from", "to", "queries", "skipped"], rows)
    console.say(f"queries weighted by {weights}; from, to: 95 % intervals")
    first = next(iter(next(iter(means.values())).values()))
    unequal = unequal_words(first.drawn, first.equal)
    if unequal is not None:
        console.say(f"warning: {unequal}")


def check_alone(**options: object) -> None:
    """Refuse options that do not go with weights or machine labels."""
    others = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if others:
        raise ParameterError(f"--weights and --machine do not go with {', '.join(others)}.")
