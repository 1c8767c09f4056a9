"""`podium clicks compare`: compare click models on held-out pages of a log."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, options, progress

if TYPE_CHECKING:
    from podium.evaluation.compare_clicks import ClickComparison


def compare(
    log: click_logs.Log,
    models: Annotated[
        list[str] | None,
        typer.Option(help="Click models, e.g. pbm,'ubm(prior=0.01)'; repeat it.", show_default="all ten"),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Folds of the pages, each held out in turn.", min=2, show_default="5")
    ] = None,
    held_out: Annotated[
        str | None, typer.Option(help="Evaluate on the pages of this log instead.", show_default=False)
    ] = None,
    report: Annotated[str | None, typer.Option(help="Write an HTML report with charts to this file.")] = None,
    repeated: click_logs.RepeatedOption = "refuse",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare click models on held-out pages: log-likelihood and perplexity, with intervals over queries.

    Best first by the log-likelihood of an impression; models marked "ties" may be as good as the best.
    """
    from podium.clicks import ClickModel
    from podium.evaluation.compare_clicks import compare_click_models

    if folds is not None and held_out is not None:
        raise ParameterError("--folds and --held-out: give one of them.")
    if report is not None:
        click_logs.check_target(report, what="a report")
    chosen = [ClickModel.parse(name) for name in console.split_option(models, list(ClickModel.catalogue()))]
    pages = click_logs.read_log(log, repeated=repeated)
    tested = None if held_out is None else click_logs.read_log(held_out, repeated=repeated)
    with progress.progress_bar(len(chosen)) as bar, console.printed_warnings():
        comparison = compare_click_models(
            pages, chosen, folds=folds or 5, held_out=tested, seed=seed, progress=bar.progress()
        )
    if report is not None:
        from podium.base.files import write_aside
        from podium.pages.clicks import comparison_page

        with write_aside(report) as file:
            file.write(comparison_page(comparison).encode("utf-8", "backslashreplace"))
    if as_json:
        console.print_json(_summary(comparison))
    else:
        _print(comparison)
    if report is not None:
        console.say(f"wrote {report}")


def _print(comparison: ClickComparison) -> None:
    from podium.pages.clicks import leaderboard

    heads, rows = leaderboard(comparison)
    styles = {
        (r, 0): "bold" if model is comparison.best else "italic"
        for r, model in enumerate(comparison.models)
        if model.ties
    }
    console.print_table(heads, rows, styles=styles)
    skipped = f"; {comparison.skipped} of unknown queries left out" if comparison.skipped else ""
    console.say(
        f"{counted(comparison.pages, 'held-out page')} of {counted(comparison.queries, 'query', 'queries')}{skipped}. "
        "In brackets: 95 % intervals over queries."
    )
    for model in comparison.models:
        if not model.comparable:
            console.say(
                f"{model.name}: {counted(model.measures.ignored_clicks, 'click')} that it holds impossible left out, "
                "so its figures cannot be compared."
            )


def _summary(comparison: ClickComparison) -> dict[str, Any]:
    models = [
        {
            "model": model.name,
            "best": model is comparison.best,
            "ties": model.ties,
            **{key: _plain(value) for key, value in vars(model.measures).items()},
            "intervals": {
                name: [_plain(bound) for bound in getattr(model, name)]
                for name in ("log_likelihood", "perplexity", "conditional_perplexity", "rmse", "behind")
            },
            "examination": _plain(model.examined),
        }
        for model in comparison.models
    ]
    return {"pages": comparison.pages, "skipped": comparison.skipped, "queries": comparison.queries, "models": models}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
