"""Shared parts of the commands about click logs: their arguments, and reading a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from podium.base.errors import ParameterError
from podium.cli import console, progress

if TYPE_CHECKING:
    from podium.clicks import ClickLog
    from podium.data.table import Table

Repeated = Literal["refuse", "keep"]
Log = Annotated[str, typer.Argument(metavar="LOG", help="A click log: JSON Lines (.jsonl, .jsonl.gz) or .parquet.")]
RepeatedOption = Annotated[
    Repeated,
    typer.Option(help="A document twice on a results page: an error (refuse), or two impressions (keep)."),
]


def read_log(path: str, *, repeated: Repeated) -> ClickLog:
    """Read a click log, and say what was dropped."""
    from podium.clicks import read_clicks

    with progress.reading(path):
        log = read_clicks(path, repeated=repeated)
    say_dropped(log)
    return log


def read_documents(path: str) -> Table:
    """Read the data that clicks are joined to."""
    from podium.formats import read_data

    with progress.reading(path):
        return read_data(path)


def say_dropped(log: ClickLog) -> None:
    """Say how many pages and clicks could not be used."""
    from podium.base.errors import counted

    if log.dropped_pages:
        console.say(f"dropped {counted(log.dropped_pages, 'page')} without a list of documents or a query")
    if log.dropped_clicks:
        console.say(f"dropped {counted(log.dropped_clicks, 'click')} on documents that were not on their page")


def check_target(path: str, *, what: str) -> None:
    """Raise a clear error, before work starts, if a file that is not text cannot be written."""
    if path == "-":
        raise ParameterError(f"-o -: {what} is not text for standard output. Give it a file name.")
    console.check_file(path, what=what)
