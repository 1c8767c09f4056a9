"""`podium cache`: data larger than memory, as a folder that is read in blocks."""

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
    """Write data as a cache, for data that does not fit into memory.

    Every command takes the folder in place of the file, with the same results to the bit, and reads its features in
    blocks: podium train train.pod. LETOR, Parquet and Arrow files are converted as they stream in.
    """
    from podium.base.errors import ParameterError
    from podium.formats.cache.cache_writer import write_cache

    if output == "-":
        raise ParameterError("-o -: a cache is a folder. Give it a name, e.g. train.pod.")
    roles: dict[str, Any] = {k: v for k, v in (("label", label), ("qid", qid)) if v is not None}
    made = write_cache(data, output, **roles)
    size = sum(entry.stat().st_size for entry in os.scandir(output))
    console.out(
        f"{output}: {counted(made.n_queries, 'query', 'queries')}, {counted(made.n_documents, 'document')}, "
        f"{counted(made.n_features, 'feature')}, {size / 1e6:.0f} MB"
    )
