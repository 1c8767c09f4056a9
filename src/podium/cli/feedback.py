"""`podium feedback`: feedback that `podium serve --store` kept, as a click log and as training data."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, options

app = typer.Typer(
    name="feedback",
    help="Feedback that podium serve --store kept: clicks, training data, judgments; deletion and backup.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Store = Annotated[str, typer.Argument(metavar="STORE", help="The file of podium serve --store.")]


@app.command()
def status(store: Store, as_json: options.Json = False) -> None:
    """Count impressions and events of a store."""
    from dataclasses import asdict

    from podium.service.feedback.feedback_export import totals

    counts = totals(store)
    if as_json:
        console.print_json(asdict(counts))
        return
    rows = [["impressions", str(counts.impressions)], *([kind, str(n)] for kind, n in counts.events.items())]
    if counts.unknown:
        rows.append(["of unknown requests", str(counts.unknown)])
    if counts.out_of_range:
        rows.append(["grades out of range, in no export", str(counts.out_of_range)])
    console.print_table(["what", "number"], rows)
    if counts.first is not None and counts.last is not None:
        first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(at / 1000)) for at in (counts.first, counts.last))
        console.out(f"shown from {first} to {last} UTC; {counts.bytes / 1e6:.1f} MB")


@app.command()
def clicks(
    store: Store,
    output: Annotated[str, typer.Option("-o", "--output", help="JSON lines, or .parquet; - is standard output.")] = "-",
    action: Annotated[
        list[str] | None, typer.Option(help="An event that counts as a click; repeat it.", show_default="click")
    ] = None,
    by: Annotated[
        Literal["query", "request"],
        typer.Option(help="The query id of a page: that of its query, or of its request, as in podium feedback letor."),
    ] = "query",
    queries: click_logs.QueriesOption = None,
) -> None:
    """Write the results pages that were shown, with their clicks, as a click log.

    `podium clicks` and `podium interleave` read it. With --by request, `podium train train.txt --clicks` joins it to
    the data of `podium feedback letor`. Each page has the id of its request.
    """
    from podium.clicks import write_clicks
    from podium.service.feedback.feedback_export import click_log

    if output != "-":
        console.check_file(output, what="a click log")
    if queries is not None and by == "request":
        raise ParameterError("--queries names pages by their query; --by request by their request. Give one of them.")
    log = click_logs.named_queries(click_log(store, actions=action or ["click"], by=by), queries)
    write_clicks(log, output)
    console.say(f"{log!r}")
    if log.dropped_pages or log.dropped_clicks:
        console.say(
            f"left out: {counted(log.dropped_pages, 'page')} without a query or a document, "
            f"{counted(log.dropped_clicks, 'click')} on documents that were not shown."
        )


@app.command()
def letor(
    store: Store,
    output: Annotated[str, typer.Option("-o", "--output", help="The LETOR file to write; - is standard output.")] = "-",
    label: Annotated[
        Literal["click", "purchase", "judgment"],
        typer.Option(help="The source of labels: 1 if there was such an event, or the mean grade of the judges."),
    ] = "click",
    model: Annotated[str | None, typer.Option(help="Only rankings of this model.", show_default=False)] = None,
) -> None:
    """Write training data: documents with the features they had when they were shown.

    Each impression is a query with the id of its request, as with `podium feedback clicks --by request`.
    With --label judgment, only the last impression of each query is used.
    """
    from podium.formats.described_data import write_described
    from podium.service.feedback.feedback_export import shown_left_out, training_data

    if output != "-":
        console.check_file(output, what="training data")
    data, left_out = training_data(store, label=label, model=model)
    write_described(data, output)
    console.say(f"{data!r}. {shown_left_out(left_out)}".rstrip())


@app.command()
def votes(
    store: Store,
    output: Annotated[str, typer.Option("-o", "--output", help="The table to write (.csv).")] = "-",
) -> None:
    """Write all judgments as a table that `podium judges` reads: query, document, judge, grade."""
    import csv
    import io

    from podium.base.files import writing
    from podium.service.feedback.feedback_export import judgments

    rows = judgments(store)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("query", "document", "judge", "grade"), *rows])
    with writing(output) as file:
        file.write(text.getvalue().encode())
    console.say(counted(len(rows), "judgment"))


@app.command()
def forget(store: Store, user: Annotated[str, typer.Argument(help="The user's id.")]) -> None:
    """Delete all impressions and events of a user."""
    from podium.service.feedback.events import Feedback
    from podium.service.feedback.feedback_export import totals

    totals(store)  # raises a clear error if the file is no store
    kept = Feedback(store)
    try:
        impressions, events = kept.forget(user).result()
    finally:
        kept.close()
    console.out(f"deleted {counted(impressions, 'impression')} and {counted(events, 'event')}")


@app.command()
def backup(store: Store, output: Annotated[str, typer.Option("-o", "--output", help="The file to write.")]) -> None:
    """Copy a store, also while a service writes to it."""
    from podium.service.feedback.feedback_export import backup as copy

    console.check_file(output, what="a backup")
    copy(store, output)
