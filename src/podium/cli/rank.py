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
    from podium.files import writing
    from podium.model import Model

    if output != "-":
        console.check_file(output, what="a ranking")
    fitted = Model.load(model)
    documents = read_data(data, n_features=fitted.n_features)
    scores = fitted.score(documents)
    if format is Format.SCORES:
        lines: Iterator[str] = (f"{score!r}\n" for score in documents.input_order(scores).tolist())
    else:
        lines = _lines(documents, scores, format)
    with writing(output) as file:
        file.writelines(line.encode() for line in lines)


def _lines(data: Dataset, scores: NDArray[np.float64], format: Format) -> Iterator[str]:
    """A line per document, query by query, best first; documents of equal score as in the data."""
    from podium.ranking import order

    for q in range(data.n_queries):
        first, query = int(data.offsets[q]), data.query_name(q)
        for place, k in enumerate(order(scores[first : data.offsets[q + 1]]).tolist(), 1):
            document, score = data.document_name(first + k), float(scores[first + k])
            if format is Format.TREC:
                yield f"{query} Q0 {document} {place} {score!r} podium\n"
            else:
                found = {"query": query, "document": document, "rank": place, "score": score}
                yield json.dumps(found, ensure_ascii=False) + "\n"
