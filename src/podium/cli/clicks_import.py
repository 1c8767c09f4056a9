"""`podium clicks import`: convert logs of other systems to click logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import click_logs, console, progress

if TYPE_CHECKING:
    from podium.clicks import ClickLog

Format = Literal["ubi", "metarank", "yandex", "tiangong", "open-bandit", "baidu-ultr"]


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
    repeated: click_logs.RepeatedOption = "refuse",
    output: Annotated[
        str, typer.Option("-o", "--output", help="The log to write: .jsonl, .jsonl.gz or .parquet.")
    ] = "log.parquet",
) -> None:
    """Import a log of another system: OpenSearch's, Elasticsearch's or Solr's UBI, Metarank, or a public data set.

    ubi: queries and events as JSON Lines, bulk files, search responses or Parquet. metarank: its events as JSON Lines.
    yandex: the relevance prediction challenge. tiangong: TianGong-ST, XML or with tabs. open-bandit: the CSV of the
    Open Bandit Dataset. baidu-ultr: Parquet from Hugging Face.
    """
    from podium.clicks import write_clicks

    if output != "-":
        console.check_file(output, what="a log")
    clicks, grades = _actions(form, action)
    if query_field is not None and form != "metarank":
        raise ParameterError(f"--query-field is for metarank; got {form}.")
    if form != "ubi" and len(files) > 1:
        raise ParameterError(f"{form} is one file; got {len(files)}. Import them one by one.")
    same = next((file for file in files if _is(file, output)), None)
    if same is not None:
        raise ParameterError(f"-o {output} would replace the file that is read.")
    with progress.reading(files[0] if len(files) == 1 else f"{len(files)} files"):
        log = _read(form, files, clicks=clicks, grades=grades, query=query_field or "query", repeated=repeated)
    write_clicks(log, output)
    click_logs.say_dropped(log)
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
    repeated: click_logs.Repeated,
) -> ClickLog:
    from podium.clicks import importers

    readers: dict[str, Any] = {
        "yandex": importers.read_yandex, "tiangong": importers.read_tiangong, "baidu-ultr": importers.read_baidu_ultr,
    }  # fmt: skip
    if form == "ubi":
        return importers.read_ubi(*files, actions=clicks, grades=grades, repeated=repeated)
    if form == "metarank":
        return importers.read_metarank(files[0], actions=clicks, query=query, repeated=repeated)
    if form == "open-bandit":
        return importers.read_open_bandit(files[0])
    log: ClickLog = readers[form](files[0], repeated=repeated)
    return log


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
