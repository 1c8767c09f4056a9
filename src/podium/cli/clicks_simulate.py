"""`podium clicks simulate`: a click log of simulated users."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, options, progress


def simulate(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Judged data, of which results pages are shown.")],
    scores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCORES]...",
            help="Rankers, as scores of the data (podium rank); each page is ranked by one of them, drawn at "
            "random. Without any, every page is shuffled.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="The click model of the users.")] = "pbm",
    pages: Annotated[int, typer.Option(help="The number of pages shown.", min=1)] = 100_000,
    eta: Annotated[float, typer.Option(help="The examination probability of rank k is k^−eta.", min=0.0)] = 1.0,
    curve: Annotated[
        str | None,
        typer.Option(
            help="Instead: the examination probabilities of ranks 1, 2, …, e.g. 1,0.6,0.4; the last is repeated."
        ),
    ] = None,
    noise: Annotated[float, typer.Option(help="The probability of a click on an examined document of grade 0.")] = 0.1,
    depth: Annotated[int | None, typer.Option(help="Documents on a page.", min=1, show_default="all")] = None,
    seed: options.Seed = 0,
    output: Annotated[str, typer.Option("-o", "--output", help="The log to write.")] = "log.parquet",
) -> None:
    """Simulate users who read results pages as a click model says, and write the log of their clicks.

    An examined document is clicked with probability noise + (1 − noise) · grade / largest grade.
    """
    from podium.clicks import simulate as simulated
    from podium.clicks import write_clicks
    from podium.formats.scores_file import read_scores

    console.check_file(output, what="a log")
    judged = click_logs.read_documents(data)
    rankers = [judged.to_grouped(read_scores(path, judged)) for path in scores or ()]
    with progress.progress_bar(1) as bar:
        bar.put("simulating", 0.0)
        log = simulated(
            judged, rankers, pages=pages, model=model, eta=eta, curve=_curve(curve), noise=noise, depth=depth, seed=seed
        )
        bar.put("writing", 0.5)
        write_clicks(log, output)
    console.say(
        f"wrote {output}: {counted(log.n_pages, 'page')} of {counted(log.n_queries, 'query', 'queries')}, "
        f"{counted(int(log.clicks.sum()), 'click')}"
    )


def _curve(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise ParameterError(f"--curve: expected probabilities separated by commas; got {text!r}.") from None
