"""`podium rank`: scores and rankings from a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from podium.data import Dataset


class Format(StrEnum):
    """How a ranking is written."""

    SCORES = "scores"
    TREC = "trec"
    JSONL = "jsonl"


def rank(
    model: Annotated[str, typer.Argument(help="A model that podium train wrote.")],
    data: Annotated[str, typer.Argument(help="The documents to rank: a file, or - for standard input.")],
    output: Annotated[str, typer.Option("-o", "--output", help="The file to write; - is standard output.")] = "-",
    format: Annotated[
        Format,
        typer.Option(
            help="scores: one number per document, in the order of the data. trec: a TREC run. "
            "jsonl: a JSON object per document, best first in each query."
        ),
    ] = Format.SCORES,
) -> None:
    """Score and rank documents with a model."""
    from podium.data import read_data
    from podium.data.trec import Run, write_run
    from podium.files import writing
    from podium.model import Model

    if output != "-":
        console.check_file(output, what="a ranking")
    fitted = Model.load(model)
    documents = read_data(data, n_features=fitted.n_features)
    scores = fitted.score(documents)
    if format is Format.TREC:
        write_run(Run.from_scores(documents, scores), output)
        return
    if format is Format.SCORES:
        lines: Iterator[str] = (f"{score!r}\n" for score in documents.input_order(scores).tolist())
    else:
        lines = _objects(documents, scores)
    with writing(output) as file:
        file.writelines(line.encode() for line in lines)


def _objects(data: Dataset, scores: NDArray[np.float64]) -> Iterator[str]:
    """A line per document, query by query, best first; documents of equal score as in the data."""
    from podium.ranking import order

    for q in range(data.n_queries):
        first, query = int(data.offsets[q]), data.query_name(q)
        for place, k in enumerate(order(scores[first : data.offsets[q + 1]]).tolist(), 1):
            found = {
                "query": query,
                "document": data.document_name(first + k),
                "rank": place,
                "score": float(scores[first + k]),
            }
            yield json.dumps(found, ensure_ascii=False) + "\n"
