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

QueriesOption = Annotated[
    str | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="A file of queries with id and text, if the log names queries by their text and the data by their id.",
        show_default=False,
    ),
]

StoredDocuments = Annotated[
    str | None,
    typer.Option(
        "--documents",
        metavar="INDEX|FILE",
        help="For features of stored fields: an index that podium index made, or documents, such as a table with an id "
        "and the fields.",
        show_default=False,
    ),
]


def read_log(path: str, *, repeated: Repeated, queries: str | None = None) -> ClickLog:
    """Read a click log, with its queries named as in a file of `queries`, and say what was dropped."""
    from podium.clicks import read_clicks

    with progress.reading(path):
        log = read_clicks(path, repeated=repeated)
    say_dropped(log)
    return named_queries(log, queries)


def named_queries(log: ClickLog, queries: str | None) -> ClickLog:
    """The log with its queries named as in a file, if there is one; says how many pages were joined."""
    if queries is None:
        return log
    from podium.clicks import name_queries
    from podium.formats.query_texts import QueryTexts

    named = name_queries(log, QueryTexts.read(queries))
    console.say(str(named))
    return named.log


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
