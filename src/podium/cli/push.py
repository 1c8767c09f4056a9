"""`podium push`: models, feature sets and search pipelines into the stores of a live search engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from podium.base.errors import ParameterError
from podium.cli import console
from podium.cli.ask import KEY, Retries, Timeout, Url


def push(
    url: Url,
    to: Annotated[
        Literal["elasticsearch-ltr", "opensearch-ltr", "solr", "opensearch-hybrid"],
        typer.Option("--to", metavar="TARGET", help="The target for which podium export wrote the file."),
    ],
    model: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="What podium export wrote: a model, or a search pipeline."),
    ] = None,
    feature_set: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Feature definitions that podium export --feature-set wrote."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The name of the feature set (LTR plugins) or of the search pipeline.", show_default="podium"
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what is there under the same name and differs.")
    ] = False,
    timeout: Timeout = 30.0,
    retries: Retries = 3,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the requests, and send nothing.")] = False,
) -> None:
    """Put a model and its feature set into a live search engine.

    What is there already stays as it is, so that the command can be run again; what differs is replaced only with
    --replace.
    """
    from podium.base.http_requests import Server, authorization, check_base_url
    from podium.engines.stores import plan
    from podium.engines.stores import push as put

    url = check_base_url(url)
    items = plan(to, _read(model), _read(feature_set), name=name)
    server = Server(url, authorization(os.environ.get(KEY)), timeout, retries)
    if dry_run:
        for item in items:
            console.out(f"GET {server.url}{item.look}")
            replaced = f"; replaced only with --replace, after DELETE {item.delete}" if item.delete else ""
            size = "" if item.body is None else f", {len(item.body)} bytes"
            console.out(f"  unless {item.what} is there: {item.method} {server.url}{item.path}{size}{replaced}")
        return
    for line in put(server, items, replace=replace):
        console.out(line)


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    if path.endswith(".unproven"):
        raise ParameterError(f"{path} is unproven: the engine would not score as the model does. See podium export.")
    from podium.base.errors import DataError

    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError("no such file.", where=path) from None
