"""`podium judges queries`: a sample of the queries of a log, with weights."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Literal

import typer

from podium.cli import click_logs, console, options


def queries_(
    log: click_logs.Log,
    n: Annotated[int, typer.Option("-n", help="The number of queries.", min=1)] = 200,
    how: Annotated[
        Literal["frequency", "top", "random"],
        typer.Option(help="In proportion to their frequency, the most frequent, or all alike."),
    ] = "frequency",
    human: Annotated[
        int | None, typer.Option(help="Draw so many of them for human judges; a machine judges all.", min=1)
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", help="Write queries, weights, frequencies and chances to this CSV.")
    ] = "-",
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
) -> None:
    """Draw a sample of the queries of a log to judge, with weights: weighted means estimate those over the traffic.

    Judge the sample, then podium evaluate QRELS RUN --weights FILE. Means of --how top say nothing of rare queries.
    """
    import numpy as np

    from podium.base.files import writing
    from podium.judgments.query_sample import drawn_queries

    if output != "-":
        console.check_file(output, what="the sample")
    pages = click_logs.read_log(log, repeated=repeated)
    counts = np.bincount(pages.page_query, pages.page_counts, len(pages.query_ids))
    frequencies = {str(q): float(c) for q, c in zip(pages.query_ids, counts, strict=True) if c > 0.0}
    sample = drawn_queries(frequencies, n, human=human, how=how, seed=seed)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*_COLUMNS, *(() if human is None else _HUMAN_COLUMNS)])
    for query, drawn in sample.items():
        of_human = [] if human is None else [drawn.human_weight, drawn.human_chance]
        numbers = [drawn.weight, drawn.chance, *of_human]
        weight, *others = (repr(value) if value else "" for value in numbers)
        rows.writerow([query, weight, f"{frequencies[query]:g}", *others])
    with writing(output) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))
    covered = sum(frequencies[query] for query in sample) / sum(frequencies.values())
    judges = "" if human is None else f"; {human} of them for human judges"
    console.say(f"{len(sample)} of {len(frequencies)} queries, {100 * covered:.1f} % of the pages{judges}")


_COLUMNS = ("query", "weight", "frequency", "chance")
_HUMAN_COLUMNS = ("human_weight", "human_chance")
