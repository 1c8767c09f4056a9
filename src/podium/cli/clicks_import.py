"""`podium clicks import`: convert logs of other systems to click logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, progress

if TYPE_CHECKING:
    from podium.clicks import ClickLog

Format = Literal["ubi", "csv", "metarank", "yandex", "tiangong", "open-bandit", "baidu-ultr"]


def import_(
    form: Annotated[Format, typer.Argument(metavar="FORMAT", help="The format of the files.")],
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="One file; of ubi several: queries and events.")
    ],
    action: Annotated[
        list[str] | None,
        typer.Option(
            help="ubi and metarank: the name of an action that is a click; of ubi also name=grade, which gives a "
            "document a grade, e.g. add_to_cart=2. Repeat it.",
            show_default="click",
        ),
    ] = None,
    query_field: Annotated[
        str | None, typer.Option(help="metarank: the field of a ranking that holds the query.", show_default="query")
    ] = None,
    ranker: Annotated[
        str | None,
        typer.Option(
            help="ubi: the attribute that names the ranker of a page, e.g. query_attributes.experiment; csv: its "
            "column. Default: a usual one, if there is one.",
            show_default=False,
        ),
    ] = None,
    query: Annotated[str | None, typer.Option(help="csv: the column of queries.", show_default="a usual name")] = None,
    document: Annotated[
        str | None, typer.Option(help="csv: the column of documents.", show_default="a usual name")
    ] = None,
    rank: Annotated[str | None, typer.Option(help="csv: the column of ranks.", show_default="a usual name")] = None,
    clicked: Annotated[
        str | None, typer.Option(help="csv: the column of clicks, 0 or 1.", show_default="a usual name")
    ] = None,
    queries: click_logs.QueriesOption = None,
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[
        str, typer.Option("-o", "--output", help="The log to write: .jsonl, .jsonl.gz or .parquet.")
    ] = "log.parquet",
) -> None:
    """Import a log of another system: UBI (OpenSearch, Elasticsearch, Solr), a table, Metarank, a public data set.

    ubi: queries and events as JSON Lines, bulk files, search responses or Parquet. csv: a table (CSV, TSV, JSON Lines,
    Parquet) with a row for each document that was shown. metarank: its events as JSON Lines. yandex: the relevance
    prediction challenge. tiangong: TianGong-ST, XML or with tabs. open-bandit: the CSV of the Open Bandit Dataset.
    baidu-ultr: Parquet from Hugging Face.
    """
    from podium.clicks import write_clicks

    if output != "-":
        console.check_file(output, what="a log")
    clicks, grades = _actions(form, action)
    columns = {"query": query, "document": document, "position": rank, "click": clicked, "ranker": ranker}
    _check_options(form, query_field, columns)
    if form != "ubi" and len(files) > 1:
        raise ParameterError(f"{form} is one file; got {len(files)}. Import them one by one.")
    same = next((file for file in files if _is(file, output)), None)
    if same is not None:
        raise ParameterError(f"-o {output} would replace the file that is read.")
    with progress.reading(files[0] if len(files) == 1 else f"{len(files)} files"):
        log, place = _read(
            form, files, clicks=clicks, grades=grades, query=query_field or "query", columns=columns, repeated=repeated
        )
    click_logs.say_dropped(log)
    log = click_logs.named_queries(log, queries)
    write_clicks(log, output)
    if log.rankers is not None:
        names = ", ".join(log.ranker_names[:5]) + (" …" if len(log.ranker_names) > 5 else "")
        console.say(f"rankers {names}" + (f", from {place}" if place else ""))
    console.say(
        f"wrote {output}: {counted(log.n_pages, 'page')} of {counted(log.n_queries, 'query', 'queries')}, "
        f"{counted(log.n_pairs, 'pair')}, {counted(int(log.clicks.sum()), 'click')}"
    )


def _read(
    form: Format,
    files: list[str],
    *,
    clicks: list[str],
    grades: dict[str, float],
    query: str,
    columns: dict[str, str | None],
    repeated: click_logs.Repeated,
) -> tuple[ClickLog, str | None]:
    """The log of the files, and where its rankers are from, if that is known."""
    from podium.clicks import importers

    readers: dict[str, Any] = {
        "yandex": importers.read_yandex, "tiangong": importers.read_tiangong, "baidu-ultr": importers.read_baidu_ultr,
    }  # fmt: skip
    if form == "ubi":
        ubi = importers.import_ubi(*files, actions=clicks, grades=grades, repeated=repeated, ranker=columns["ranker"])
        return ubi.log, ubi.ranker
    if form == "csv":
        return importers.read_click_table(files[0], columns=columns, repeated=repeated), columns["ranker"]
    if form == "metarank":
        return importers.read_metarank(files[0], actions=clicks, query=query, repeated=repeated), None
    if form == "open-bandit":
        return importers.read_open_bandit(files[0]), None
    return readers[form](files[0], repeated=repeated), None


def _check_options(form: Format, query_field: str | None, columns: dict[str, str | None]) -> None:
    """Raise a clear error for an option of another format."""
    if query_field is not None and form != "metarank":
        raise ParameterError(f"--query-field is for metarank; got {form}.")
    options = {"query": "--query", "document": "--document", "position": "--rank", "click": "--clicked"}
    for role, option in options.items():
        if columns[role] is not None and form != "csv":
            raise ParameterError(f"{option} names a column, for csv; got {form}.")
    if columns["ranker"] is not None and form not in ("ubi", "csv"):
        raise ParameterError(f"--ranker is for ubi and csv; got {form}.")


def _actions(form: Format, words: list[str] | None) -> tuple[list[str], dict[str, float]]:
    """Actions that count as clicks, and the grades of others."""
    if words is not None and form not in ("ubi", "metarank"):
        raise ParameterError(f"--action is for ubi and metarank; {form} has clicks only.")
    clicks, grades = [], {}
    for word in words or ():
        name, sign, grade = word.partition("=")
        if not sign:
            clicks.append(name)
            continue
        if form != "ubi":
            raise ParameterError(f"--action {word}: grades of actions are for ubi; got {form}.")
        try:
            grades[name] = float(grade)
        except ValueError:
            raise ParameterError(f"--action {word}: expected a number after =; got {grade!r}.") from None
    return clicks or ["click"], grades


def _is(file: str, output: str) -> bool:
    """Whether a file that is read is the one to be written."""
    return "-" not in (file, output) and Path(output).exists() and Path(file).exists() and Path(file).samefile(output)
