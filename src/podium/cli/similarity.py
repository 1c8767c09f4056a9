"""`podium similarity`: how far runs show the same documents in the same order, without judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from podium.base.errors import ParameterError
from podium.cli import console, options


def similarity(
    files: Annotated[list[str], typer.Argument(metavar="RUN", help="Two or more runs (TREC, CSV, JSON …).")],
    k: Annotated[int, typer.Option("-k", "--top", help="The first documents for overlap and Jaccard.", min=1)] = 10,
    p: Annotated[float, typer.Option(help="Of rank-biased overlap: the chance to look one rank deeper.")] = 0.9,
    matrix: Annotated[
        str | None,
        typer.Option(help="Print one similarity of all runs as a matrix: rbo, rbo-min, overlap, jaccard or tau-ap."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compare what runs show, query by query: rank-biased overlap, overlap and Jaccard index of the tops, τ_AP."""
    from podium.evaluation.overlap.run_similarity import compare_rankings
    from podium.formats.trec.trec import read_run

    if len(set(files)) != len(files) or len(files) < 2:
        raise ParameterError("Two different runs are needed: podium similarity RUN RUN.")
    stems = [Path(file).stem for file in files]
    names = stems if len(set(stems)) == len(stems) else files
    result = compare_rankings({name: read_run(file) for name, file in zip(names, files, strict=True)}, p=p, k=k)
    if as_json:
        pairs = [{"a": pair.a, "b": pair.b, **pair.means, "queries": pair.queries} for pair in result.pairs]
        console.print_json([{key: None if value != value else value for key, value in pair.items()} for pair in pairs])
        return
    if matrix is None:
        console.out(str(result))
        return
    known = {name.partition("@")[0]: name for name in result.pairs[0].means}
    if matrix.partition("@")[0] not in known:
        raise ParameterError(f"--matrix: expected one of {', '.join(known)}; got {matrix!r}.")
    table = result.matrix(known[matrix.partition("@")[0]])
    console.print_table(
        [known[matrix.partition("@")[0]], *result.runs],
        [[name, *(f"{value:.4f}" for value in row)] for name, row in zip(result.runs, table, strict=True)],
    )
