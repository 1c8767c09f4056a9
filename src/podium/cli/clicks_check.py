"""`podium clicks check`: check a click log for errors and odd pages."""

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
    report: Annotated[str | None, typer.Option(help="Write an HTML report with charts to this file.")] = None,
    repeated: click_logs.RepeatedOption = "refuse",
    as_json: options.Json = False,
) -> None:
    """Check a click log for errors that spoil a model; exit 1 if there is an error.

    Reports click rates by rank, ranks that cannot be compared, and odd results pages: of visits with more than 100
    pages (robots), with every document clicked (all-clicked), with clicks within 0.2 s (fast-clicks).
    """
    import numpy as np

    from podium.clicks import check_clicks, odd_pages, write_clicks

    if (drop is None) != (output is None):
        raise ParameterError("--drop and -o go together: which pages to leave out, and where the rest goes.")
    for path, what in ((output, "a log"), (report, "a report")):
        if path is not None:
            click_logs.check_target(path, what=what)
    pages = click_logs.read_log(log, repeated=repeated)
    odd = odd_pages(pages)
    chosen = _chosen(console.split_option(drop, []), list(odd))
    findings = check_clicks(pages)
    if as_json:
        console.print_json([vars(finding) for finding in findings])
    else:
        table = [finding for finding in findings if finding.code != "clicks-by-rank"]
        console.out(_sizes(log, pages))
        _print_rates(pages)
        if not table:
            console.out("")
        print_findings(table)
    if report is not None:
        from podium.base.files import write_aside
        from podium.pages.clicks import check_page

        with write_aside(report) as file:
            file.write(check_page(pages, findings).encode("utf-8", "backslashreplace"))
        console.say(f"wrote {report}")
    if output is not None:
        bad = np.any([odd[code] for code in chosen], axis=0)
        write_clicks(pages.select(~bad), output)
        console.say(f"wrote {output}: {counted(int((~bad).sum()), 'page')}, without {counted(int(bad.sum()), 'page')}")
    if any(finding.level == "error" for finding in findings):
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
    """Print click rates by rank, with bars."""
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
