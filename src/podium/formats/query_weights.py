"""Weights of queries: a table of query and weight, as `podium judges queries` writes it."""

from __future__ import annotations

import numpy as np

from podium.base.errors import DataError
from podium.base.files import Source
from podium.formats.tables.records import read_records
from podium.formats.trec.judged_rows import ids, numbers
from podium.formats.usual_columns import usual_columns


def read_query_weights(source: Source) -> dict[str, float]:
    """The weight of each query, above 0."""
    records = read_records(source)
    roles = usual_columns(list(records.columns), ("query", "weight"), source=records.source)
    weights = numbers(records, roles["weight"], "weight")
    queries = ids(records, roles["query"], "query", np.arange(len(weights)))
    by_query: dict[str, float] = {}
    for row, (query, weight) in enumerate(zip(queries.tolist(), weights.tolist(), strict=True)):
        if not weight > 0.0:
            raise DataError(f"the weight must be a number above 0; got {weight:g}.", where=records.where(row))
        if query in by_query:
            raise DataError(f"query {query!r} has two weights. Keep one.", where=records.where(row))
        by_query[query] = weight
    return by_query
