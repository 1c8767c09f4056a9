"""`podium cache`: write data larger than memory to a folder that is read in blocks."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from podium.base.errors import counted
from podium.cli import console, options


def cache(
    data: Annotated[
        str, typer.Argument(help="A LETOR, Parquet, Arrow or CSV file, a folder of Parquet, or - for LETOR.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The folder to write.")] = "train.pod",
    label: options.Label = None,
    qid: options.Qid = None,
) -> None:
    """Write data that is larger than memory as a cache, which is read in blocks.

    Every command takes the folder in place of the file, with the same results to the bit: podium train train.pod.
    LETOR, Parquet and Arrow files are converted as a stream.
    """
    from podium.base.errors import ParameterError
    from podium.formats.cache.cache_writer import write_cache

    if output == "-":
        raise ParameterError("-o -: a cache is a folder. Give it a name, e.g. train.pod.")
    roles: dict[str, Any] = {k: v for k, v in (("label", label), ("qid", qid)) if v is not None}
    written = write_cache(data, output, **roles)
    size = sum(entry.stat().st_size for entry in os.scandir(output))
    console.out(
        f"{output}: {counted(written.n_queries, 'query', 'queries')}, {counted(written.n_documents, 'document')}, "
        f"{counted(written.n_features, 'feature')}, {size / 1e6:.0f} MB"
    )
