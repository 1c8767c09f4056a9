"""`podium clicks fit`: fit a click model to a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import counted
from podium.cli import click_logs, console, options, progress

if TYPE_CHECKING:
    from podium.clicks import Fitted

_RANKS = 10
"""Number of ranks whose examination probability is printed."""


def fit(
    log: click_logs.Log,
    model: Annotated[str, typer.Option(help="A click model, e.g. pbm, dbn or 'ubm(prior=0.01)'.")] = "ubm",
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[str, typer.Option("-o", "--output", help="The file to write.")] = "clicks.podium",
    as_json: options.Json = False,
) -> None:
    """Fit a click model: how attractive each document is for its query, and the examination probability of each rank.

    Models: gctr, rctr and dctr (click rates), pbm, ubm, cascade, dcm, ccm, dbn, sdbn. The file is read by
    podium.clicks.Fitted.load.
    """
    from podium.clicks import ClickModel

    click_logs.check_target(output, what="a click model")
    chosen = ClickModel.parse(model)
    pages = click_logs.read_log(log, repeated=repeated, queries=queries)
    with progress.progress_bar(1) as bar, console.printed_warnings():
        fitted = chosen.fit(pages, progress=bar.progress(model))
        examined = fitted.examination().tolist()
    fitted.save(output)
    if as_json:
        console.print_json(_summary(fitted, examined))
        return
    console.out(f"fitted     {fitted.model}")
    console.out(
        f"log        {log}: {counted(pages.n_pages, 'page')}, {counted(pages.n_queries, 'query', 'queries')}, "
        f"{counted(pages.n_pairs, 'pair')}, {counted(int(pages.clicks.sum()), 'click')}"
    )
    if fitted.info["ignored_clicks"]:
        console.out(f"ignored    {counted(fitted.info['ignored_clicks'], 'click')} that the model cannot explain")
    words = " ".join("–" if value != value else f"{value:.3f}" for value in examined[:_RANKS])
    console.out(f"examined   {words}{' …' if len(examined) > _RANKS else ''}  (ranks 1, 2, …; rank 1 = 1)")
    console.out(f"model      {output}")


def _summary(fitted: Fitted, examined: list[float]) -> dict[str, object]:
    return {
        "model": repr(fitted.model),
        "pairs": fitted.n_pairs,
        "ignored_clicks": fitted.info["ignored_clicks"],
        "examination": [None if value != value else value for value in examined],
        "objective": fitted.history[-1],
    }
