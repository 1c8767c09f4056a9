"""`podium judges label`: put judgments into data."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.base.errors import counted
from podium.cli import console, options
from podium.cli.judges_next import read_pool


def label_(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Documents with features, whose ids the judgments have.")],
    votes: Annotated[
        list[str], typer.Argument(metavar="VOTES…", help="Filled sheets, or other tables of judgments; or qrels.")
    ],
    how: Annotated[
        options.HowConsensus,
        typer.Option(help="How votes of several judges become one label."),
    ] = "majority",
    label: options.Label = None,
    qid: options.Qid = None,
    output: Annotated[
        str, typer.Option("-o", "--output", help="The data to write: a table if it is .csv, otherwise LETOR's format.")
    ] = "-",
) -> None:
    """Put judgments into data as labels, to train on. Documents without a judgment keep their label, or get nan.

    The next round leaves them to `podium judges next`, and training leaves them out.
    """
    from podium.judgments.labelling import judgments_of_files, labelled, write_labelled

    if output != "-":
        console.check_file(output, what="the data")
    judgments = judgments_of_files(votes)
    table = labelled(read_pool(data, label=label, qid=qid), judgments, how)
    write_labelled(table.data, output)
    words = [f"{counted(table.judged, 'document')} judged in {counted(len(judgments.query_ids), 'query', 'queries')}"]
    if table.changed:
        words.append(f"{table.changed} of them had another label")
    if table.absent:
        words.append(f"{counted(table.absent, 'judgment')} of documents that are not in {data}")
    words.append(f"{counted(table.data.n_unjudged, 'document')} without a label")
    console.say("; ".join(words))
