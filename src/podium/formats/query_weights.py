"""Weights of queries: a table of query and weight, and of chances, as `podium judges queries` writes it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import Source
from podium.formats.tables.records import Records, read_records
from podium.formats.trec.judged_rows import ids, numbers
from podium.formats.usual_columns import usual_columns


class QueryWeight(NamedTuple):
    """Weight of a query of a sample, and the chance with which it was drawn."""

    weight: float
    chance: float = 0.0  # 0 if it is not known, or tiny
    human_weight: float | None = None  # as one of the queries drawn for human judges; None if it is not one of them
    human_chance: float = 0.0


def read_query_weights(source: Source) -> dict[str, QueryWeight]:
    """The weight of each query, above 0; chances and human weights if there are such columns."""
    records = read_records(source)
    roles = usual_columns(list(records.columns), ("query", "weight"), source=records.source)
    weights = numbers(records, roles["weight"], "weight")
    queries = ids(records, roles["query"], "query", np.arange(len(weights)))
    chances, human, human_chances = (
        _optional(records, column, len(weights)) for column in ("chance", "human_weight", "human_chance")
    )
    by_query: dict[str, QueryWeight] = {}
    for row, query in enumerate(queries.tolist()):
        for name, value in (("weight", weights[row]), ("human weight", human[row])):
            if not value > 0.0 and (name == "weight" or not math.isnan(value)):
                raise DataError(f"the {name} must be a number above 0; got {value:g}.", where=records.where(row))
        for chance in (chances[row], human_chances[row]):
            if not 0.0 < chance <= 1.0 and not math.isnan(chance):
                raise DataError(f"the chance must be above 0 and at most 1; got {chance:g}.", where=records.where(row))
        if query in by_query:
            raise DataError(f"query {query!r} has two weights. Keep one.", where=records.where(row))
        own = None if math.isnan(human[row]) else float(human[row])
        chance, human_chance = (float(np.nan_to_num(column[row])) for column in (chances, human_chances))
        by_query[query] = QueryWeight(float(weights[row]), chance, own, human_chance)
    return by_query


def _optional(records: Records, column: str, n: int) -> Array:
    """A column, NaN where it is empty or not there."""
    return numbers(records, column, column.replace("_", " ")) if column in records.columns else np.full(n, np.nan)
