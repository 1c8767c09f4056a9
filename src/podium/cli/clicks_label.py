"""`podium clicks label` and `prefer`: training data from clicks."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, progress

Data = Annotated[str, typer.Argument(metavar="DATA", help="Documents with features, whose ids the log has.")]


def label(
    data: Data,
    log: click_logs.Log,
    how: Annotated[
        str,
        typer.Option(help="A click model, or ctr, coec, click-rate-grades, graph; e.g. 'coec(preset=opensearch)'."),
    ] = "ubm",
    grades: Annotated[
        str, typer.Option(help="Turn numbers into grades: a number of equal parts, quantiles (five), or none.")
    ] = "none",
    least: Annotated[float, typer.Option(help="Impressions that a document needs for a label.", min=0.0)] = 1.0,
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[str, typer.Option("-o", "--output", help="The data to write, in LETOR's format.")] = "-",
) -> None:
    """Label data by clicks (implicit feedback). Documents without enough clicks or impressions are left out.

    Click models correct for position bias; ctr does not.
    """
    from podium.clicks import label_pairs
    from podium.clicks.labellings.base import labelling
    from podium.formats import write_letor

    if output != "-":
        console.check_file(output, what="the data")
    labelling(how)
    cut = _grades(grades)
    documents = click_logs.read_documents(data)
    pages = click_logs.read_log(log, repeated=repeated, queries=queries)
    with progress.progress_bar(1) as bar, console.printed_warnings():
        labels = label_pairs(pages, how, grades=cut, least=least, progress=bar.progress(how))
        labelled = labels.join(documents)
    write_letor(labelled, output)
    _say_rows(documents.document_ids is None)
    console.say(
        f"labelled {labelled.n_documents} of {counted(documents.n_documents, 'document')} in "
        f"{labelled.n_queries} of {counted(documents.n_queries, 'query', 'queries')}; "
        f"{labels.n_labelled} of {counted(pages.n_pairs, 'pair')} of the log have a label"
    )
    assert labelled.labels is not None
    values = labelled.labels
    if cut is None and (values % 1 != 0).any():
        console.say("labels are not whole numbers: measure with linear gains, e.g. -m 'ndcg@10[gain=linear]'")


def prefer(
    data: Data,
    log: click_logs.Log,
    rule: Annotated[
        str,
        typer.Option(
            help="click-rates, click-above, last-click-above, click-earlier-click, click-previous, click-next or "
            "query-chains."
        ),
    ] = "click-rates",
    gap: Annotated[
        float | None,
        typer.Option(help="query-chains: most minutes between two pages, if the log has times.", show_default="30"),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="click-rates: keep a difference only if chance has at most this probability."),
    ] = None,
    least: Annotated[float, typer.Option(help="Events that two documents need.", min=0.0)] = 1.0,
    prior: Annotated[float, typer.Option(help="Pseudo-events on either side.", min=0.0)] = 0.0,
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[str, typer.Option("-o", "--output", help="The preferences to write.")] = "-",
) -> None:
    """Derive pairwise preferences of users from what they clicked and what they skipped.

    The output has query, winner, loser, the share of events for the winner and their number. Training reads it from a
    file with the name of the data and .preferences added.
    """
    from podium.clicks import click_preferences
    from podium.formats import write_preferences

    if output != "-":
        console.check_file(output, what="the preferences")
    documents = click_logs.read_documents(data)
    pages = click_logs.read_log(log, repeated=repeated, queries=queries)
    with console.printed_warnings():
        preferences = click_preferences(pages, rule, gap=gap, level=level, least=least, prior=prior)
        joined = preferences.join(documents)
    write_preferences(joined, output)
    _say_rows(documents.document_ids is None)
    assert joined.preferences is not None
    edges = joined.preferences.edges
    console.say(f"{counted(len(edges), 'preference')} of {edges[:, 3].sum():.0f} events")


def _grades(text: str) -> int | Literal["quantiles"] | None:
    if text == "none":
        return None
    if text == "quantiles":
        return "quantiles"
    if not (text.isascii() and text.isdigit()):
        raise ParameterError(f"--grades: expected a number of grades, quantiles or none; got {text!r}.")
    return int(text)


def _say_rows(unnamed: bool) -> None:
    if unnamed:
        console.say("the data has no document ids: documents of the log are taken as numbers of rows, from 0")
