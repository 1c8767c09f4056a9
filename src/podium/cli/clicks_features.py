"""`podium clicks features`: training data of results pages, with behaviour features as of each page."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.base.errors import counted
from podium.cli import click_logs, console


def features(
    log: click_logs.Log,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Other features of the documents, joined by query and document ids; without it, there are none.",
            show_default=False,
        ),
    ] = None,
    set: Annotated[
        str,
        typer.Option(
            "--set",
            help="Behaviour features, separated by commas: shown, clicks, rate, coec, dwell, last, each with "
            "by=document, query-document, query, user, user-document or field:NAME, and days=30; seen(field=NAME), "
            "age(field=NAME), from_median(field=NAME), hour.",
        ),
    ] = "clicks,rate,coec,rate(by=query-document)",
    documents: click_logs.StoredDocuments = None,
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[str, typer.Option("-o", "--output", help="A .parquet file, or LETOR text.")] = "train.txt",
) -> None:
    """Count what users did before each results page, as features of its documents: popularity, click rates, recency.

    Each page is a query whose clicks are the labels. An event at the time of the page or later counts nothing there, so
    that nothing leaks. A model trained on it is served with the same features by podium serve --store.
    """
    from podium.clicks.behaviour import behaviour_data, read_behaviour
    from podium.formats.described_data import write_described

    wanted = read_behaviour(set)
    if output != "-":
        console.check_file(output, what="training data")
    joined = None if data is None else click_logs.read_documents(data)
    pages = click_logs.read_log(log, repeated=repeated, queries=queries)
    table = behaviour_data(pages, wanted, joined, documents=documents)
    write_described(table, output)
    left = pages.n_impressions - table.n_documents
    console.say(
        f"{output}: {counted(table.n_queries, 'page')}, {counted(table.n_documents, 'document')}, "
        f"{counted(table.n_features, 'feature')}, {len(wanted)} of them of behaviour"
    )
    if left:
        console.say(f"{counted(left, 'impression')} of documents that {data} lacks left out")
