"""`podium clicks check`: the data doctor of click logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, options
from podium.cli.check import print_findings

if TYPE_CHECKING:
    from podium.clicks import ClickLog

_ALL = "odd"
_CELLS = 30


def check(
    log: click_logs.Log,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out pages: odd (all kinds), robots, all-clicked or fast-clicks; repeat it or separate by "
            "commas. The rest goes to -o.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Write the log without these pages.")] = None,
    report: Annotated[str | None, typer.Option(help="Write a page with pictures to this HTML file.")] = None,
    repeated: click_logs.RepeatedOption = "refuse",
    as_json: options.Json = False,
) -> None:
    """Look for what is wrong with a click log before it spoils a model; exit 1 where there is an error.

    Reports clicks by rank, ranks that cannot be compared, and odd pages: of visits with more than 100 pages (robots),
    with every document clicked (all-clicked), with clicks within 0.2 s (fast-clicks).
    """
    import numpy as np

    from podium.base.files import write_aside
    from podium.clicks import check_clicks, odd_pages, write_clicks
    from podium.pages.clicks import check_page

    if (drop is None) != (output is None):
        raise ParameterError("--drop and -o go together: which pages to leave out, and where the rest goes.")
    for path, what in ((output, "a log"), (report, "a page")):
        if path is not None:
            click_logs.check_target(path, what=what)
    pages = click_logs.read_log(log, repeated=repeated)
    odd = odd_pages(pages)
    chosen = _chosen(console.split_option(drop, []), list(odd))
    findings = check_clicks(pages)
    if as_json:
        console.print_json([vars(found) for found in findings])
    else:
        table = [found for found in findings if found.code != "clicks-by-rank"]
        console.out(_sizes(log, pages))
        _print_rates(pages)
        if not table:
            console.out("")
        print_findings(table)
    if report is not None:
        with write_aside(report) as file:
            file.write(check_page(pages, findings).encode("utf-8", "backslashreplace"))
        console.say(f"wrote {report}")
    if output is not None:
        bad = np.any([odd[code] for code in chosen], axis=0)
        write_clicks(pages.select(~bad), output)
        console.say(f"wrote {output}: {counted(int((~bad).sum()), 'page')}, without {counted(int(bad.sum()), 'page')}")
    if any(found.level == "error" for found in findings):
        raise typer.Exit(1)


def _chosen(words: list[str], kinds: list[str]) -> list[str]:
    for word in words:
        if word not in (_ALL, *kinds):
            raise ParameterError(f"--drop: expected {', '.join([_ALL, *kinds])}; got {word!r}.")
    return kinds if _ALL in words else list(dict.fromkeys(words))


def _sizes(name: str, log: ClickLog) -> str:
    return (
        f"{name}: {counted(log.n_pages, 'page')}, {counted(log.n_queries, 'query', 'queries')}, "
        f"{counted(log.n_pairs, 'pair')}, {counted(int(log.clicks.sum()), 'click')}"
    )


def _print_rates(log: ClickLog) -> None:
    """Click rates by rank, with bars."""
    from podium.pages.clicks import clicks_by_rank

    if log.n_impressions == 0:
        return
    shown, clicked = (values[:10] for values in clicks_by_rank(log))
    rates = [c / s if s else 0.0 for s, c in zip(shown, clicked, strict=True)]
    top = max(rates) or 1.0
    rows = [
        [str(k + 1), f"{s:.0f}", f"{rate:.4f}", "■" * round(_CELLS * rate / top)]
        for k, (s, rate) in enumerate(zip(shown, rates, strict=True))
    ]
    console.out("")
    console.print_table(["rank", "shown", "clicked", ""], rows)
