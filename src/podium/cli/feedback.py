"""`podium feedback`: what `podium serve --store` kept, as a click log and as training data."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

from podium.base.errors import counted
from podium.cli import console, options

app = typer.Typer(
    name="feedback",
    help="What podium serve --store kept: clicks, training data, judgments; deletion and backup.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Store = Annotated[str, typer.Argument(metavar="STORE", help="The file of podium serve --store.")]


@app.command()
def status(store: Store, as_json: options.Json = False) -> None:
    """Say how much a store holds."""
    from dataclasses import asdict

    from podium.service.feedback.feedback_export import totals

    found = totals(store)
    if as_json:
        console.print_json(asdict(found))
        return
    rows = [["impressions", str(found.impressions)], *([kind, str(n)] for kind, n in found.events.items())]
    if found.unknown:
        rows.append(["of unknown requests", str(found.unknown)])
    if found.out_of_range:
        rows.append(["grades out of range, in no export", str(found.out_of_range)])
    console.print_table(["what", "number"], rows)
    if found.first is not None and found.last is not None:
        first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(at / 1000)) for at in (found.first, found.last))
        console.out(f"shown from {first} to {last} UTC; {found.bytes / 1e6:.1f} MB")


@app.command()
def clicks(
    store: Store,
    output: Annotated[str, typer.Option("-o", "--output", help="JSON lines, or .parquet; - is standard output.")] = "-",
    action: Annotated[
        list[str] | None, typer.Option(help="What counts as a click; repeat it.", show_default="click")
    ] = None,
    by: Annotated[
        Literal["query", "request"],
        typer.Option(help="What a page is a page of: its query, or its request, as in podium feedback letor."),
    ] = "query",
) -> None:
    """Write the pages that were shown, with what was clicked, as a click log.

    `podium clicks` and `podium interleave` read it. With --by request, `podium train train.txt --clicks` joins it to
    what `podium feedback letor` wrote. Each page has the id of its request.
    """
    from podium.clicks import write_clicks
    from podium.service.feedback.feedback_export import click_log

    if output != "-":
        console.check_file(output, what="a click log")
    log = click_log(store, actions=action or ["click"], by=by)
    write_clicks(log, output)
    console.say(f"{log!r}")
    if log.dropped_pages or log.dropped_clicks:
        console.say(
            f"left out: {counted(log.dropped_pages, 'page')} without a query or a document, "
            f"{counted(log.dropped_clicks, 'click')} on what was not shown."
        )


@app.command()
def letor(
    store: Store,
    output: Annotated[str, typer.Option("-o", "--output", help="The LETOR file to write; - is standard output.")] = "-",
    label: Annotated[
        Literal["click", "purchase", "judgment"],
        typer.Option(help="What makes a label: 1 where there was such an event, or the mean grade of the judges."),
    ] = "click",
    model: Annotated[str | None, typer.Option(help="Only what this model ranked.", show_default=False)] = None,
) -> None:
    """Write training data: documents with the features that they were ranked by when they were shown.

    Each impression is a query, called like its request, as with `podium feedback clicks --by request`.
    With --label judgment, the last impression of each query is one.
    """
    import json

    from podium.base.files import writing
    from podium.formats import write_letor
    from podium.service.feedback.feedback_export import shown_left_out, training_data

    if output != "-":
        console.check_file(output, what="training data")
    data, left_out = training_data(store, label=label, model=model)
    write_letor(data, output)
    if output != "-" and data.feature_names is not None:
        with writing(f"{output}.features") as file:
            file.write(json.dumps({"features": data.feature_names}, indent=1).encode())
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
    """Delete what a user was shown and did."""
    from podium.service.feedback.events import Feedback
    from podium.service.feedback.feedback_export import totals

    totals(store)  # raises a clear error where the file is no store
    kept = Feedback(store)
    try:
        impressions, events = kept.forget(user).result()
    finally:
        kept.close()
    console.out(f"deleted {counted(impressions, 'impression')} and {counted(events, 'event')}")


@app.command()
def backup(store: Store, output: Annotated[str, typer.Option("-o", "--output", help="The file to write.")]) -> None:
    """Copy a store as it is at this moment, while it is written to."""
    from podium.service.feedback.feedback_export import backup as copy

    console.check_file(output, what="a backup")
    copy(store, output)
