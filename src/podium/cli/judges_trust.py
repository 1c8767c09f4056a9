"""`podium judges trust`: how far to trust a judge, such as a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import DataError
from podium.cli import console, options

if TYPE_CHECKING:
    from podium.evaluation.judging.judge_trust import Trust


def trust_(
    votes: Annotated[
        list[str],
        typer.Argument(
            metavar="VOTES…", help="Tables of query, document, judge and grade, e.g. of people and a machine."
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="The judge to examine; by default the only one whose name begins with machine:."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", help="A run, for bias by rank and system; of two or more, whether their order holds."),
    ] = None,
    documents: Annotated[
        str | None, typer.Option(help="Texts of documents, with ids, for bias by length.", show_default=False)
    ] = None,
    metric: Annotated[str, typer.Option("-m", "--metric", help="The metric that orders the runs.")] = "ndcg@10",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare a judge, such as a machine, with the others: agreement, bias, and whether the order of systems holds.

    The others' label is their majority. Bias by rank, length and system is at equal labels. Intervals are by bootstrap,
    over documents for agreement, over queries otherwise.
    """
    from podium.cli.document_texts import document_texts
    from podium.cli.judged import read_ranked
    from podium.evaluation.judging.judge_trust import trust
    from podium.judgments.labelling import judgments_of_files

    judgments = judgments_of_files(votes)
    runs = {name: read_ranked(name) for name in run or []}
    lengths = None
    if documents is not None:
        lengths = {document: len(text.split()) for document, text in document_texts(documents).items()}
    name = judge or _machine(judgments.judges)
    examined = trust(judgments, name, runs=runs, lengths=lengths, metric=metric, seed=seed)
    if as_json:
        from podium.evaluation.evaluate import all_plain

        console.print_json(all_plain(examined.to_dict()))
        return
    _print(examined)


def _machine(judges: tuple[str, ...]) -> str:
    machines = [judge for judge in judges if judge.startswith("machine:")]
    if len(machines) != 1:
        raise DataError(
            f"{len(machines)} judges are machines (machine:…): say which to examine, --judge NAME; there are: "
            f"{', '.join(judges[:10])}."
        )
    return machines[0]


def _print(examined: Trust) -> None:
    grades = [f"{grade:g}" for grade in examined.grades]
    console.print_table(
        ["label of the others", *grades],
        [[grade, *map(str, row)] for grade, row in zip(grades, examined.confusion.tolist(), strict=True)],
    )
    console.out("")
    rows = [["same grade", f"{examined.same:.4f}", "", ""]]
    rows += [[part.name, f"{part.value:.4f}", f"{part.low:.4f}", f"{part.high:.4f}"] for part in examined.agreement]
    higher = examined.higher
    rows.append(["grade less the others'", f"{higher.bias:+.4f}", f"{higher.low:+.4f}", f"{higher.high:+.4f}"])
    console.print_table(["agreement", "value", "low", "high"], rows)
    if examined.biases:
        console.out("")
        console.print_table(
            ["bias by", "", "documents", "bias", "low", "high"],
            [
                [bias.by, bias.value, str(bias.documents), *(f"{v:+.4f}" for v in (bias.bias, bias.low, bias.high))]
                for bias in examined.biases
            ],
        )
    if examined.order is not None:
        order = examined.order
        console.out("")
        systems = [[name, f"{a:.4f}", f"{b:.4f}"] for name, (a, b) in order.systems.items()]
        console.print_table(["run", f"{order.metric} by the others", "by the judge"], systems)
        console.out(f"τ of the order of runs: {order.tau:.4f}, from {order.low:.4f} to {order.high:.4f}")
    console.say(f"{examined.judge}: {examined.documents} documents that others judged too")
    for warning in examined.warnings:
        console.say(f"warning: {warning}")
