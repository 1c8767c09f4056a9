"""`podium clicks propensity`: estimate examination probabilities (position bias) from a click log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import click_logs, console, options

if TYPE_CHECKING:
    from podium.clicks import ClickLog, Propensities


def propensity(
    log: click_logs.Log,
    how: Annotated[
        str,
        typer.Option(
            help="randomised, swap, harvest, a click model such as pbm, ubm or dbn, trust, regression-em, dual or "
            "pairwise; with parameters, e.g. 'harvest(by=pivot)'."
        ),
    ] = "harvest",
    data: Annotated[
        str | None,
        typer.Option(
            help="The data of the log's queries, for estimators that use features or grades.", show_default=False
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(help="Leave out ranks below this one.", min=1, show_default=False)
    ] = None,
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write the propensities to this JSON file.", show_default=False)
    ] = None,
    report: Annotated[
        str | None, typer.Option(help="Write an HTML report with the curve to this file.", show_default=False)
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Estimate the examination probability of each rank (position bias), relative to rank 1, with 95 % intervals.

    The file is for `podium train --clicks LOG --propensities FILE`. Click rates fall with the rank because users look
    less far down and because better documents are above; documents shown at several ranks tell the two apart.
    """
    from podium.propensities import propensities

    for file, what in ((output, "the propensities"), (report, "the report")):
        if file is not None:
            console.check_file(file, what=what)
    read = click_logs.read_log(log, repeated=repeated, queries=queries)
    with console.printed_warnings():
        curve = propensities(
            read, how, None if data is None else click_logs.read_documents(data), depth=depth, seed=seed
        )
    if output is not None:
        curve.write(output)
    if report is not None:
        from pathlib import Path

        from podium.base.files import write_texts
        from podium.pages.propensities import page

        write_texts(Path(report).parent, {Path(report).name: page(curve, read)})
    if as_json:
        console.print_json(curve.to_dict())
        return
    _print(curve, read)
    for file in (output, report):
        if file is not None:
            console.say(f"wrote {file}")


def _print(curve: Propensities, log: ClickLog) -> None:
    from podium.clicks.propensity_file import click_rates

    rates = click_rates(log, curve.ranks)
    columns = {"rank": curve.ranks, "theta": curve.theta, "low": curve.low, "high": curve.high}
    if curve.has_trust_bias:
        columns |= {"alpha": curve.alpha, "beta": curve.beta}
    columns |= {"click rate": rates}
    rows = [
        [str(int(row[0])), *("–" if value != value else f"{value:.4f}" for value in row[1:])]
        for row in zip(*columns.values(), strict=True)
    ]
    console.print_table(list(columns), rows)
    console.say(
        f"{curve.how}: theta is examination relative to rank 1, low to high its 95 % interval; the click rate, also "
        "relative to rank 1, mixes it with relevance"
    )
