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
    output: Annotated[str, typer.Option("-o", "--output", help="Write query, weight and frequency to this CSV.")] = "-",
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
) -> None:
    """Draw a sample of the queries of a log to judge, with weights: weighted means estimate those over the traffic.

    Judge the sample, then podium evaluate QRELS RUN --weights FILE. Means of --how top say nothing of rare queries.
    """
    import numpy as np

    from podium.base.files import writing
    from podium.judgments.query_sample import sample_queries

    if output != "-":
        console.check_file(output, what="the sample")
    pages = click_logs.read_log(log, repeated=repeated)
    counts = np.bincount(pages.page_query, pages.page_counts, len(pages.query_ids))
    frequencies = {str(q): float(c) for q, c in zip(pages.query_ids, counts, strict=True) if c > 0.0}
    sample = sample_queries(frequencies, n, how=how, seed=seed)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["query", "weight", "frequency"])
    rows.writerows([query, repr(weight), f"{frequencies[query]:g}"] for query, weight in sample.items())
    with writing(output) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))
    covered = sum(frequencies[query] for query in sample) / sum(frequencies.values())
    console.say(f"{len(sample)} of {len(frequencies)} queries, {100 * covered:.1f} % of the pages")
