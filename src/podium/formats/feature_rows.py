"""Rows of queries as training data: written query by query to LETOR text or Parquet, with the names of their features.

The names, and how the features were computed, go to `<file>.features` for LETOR text, to the metadata for Parquet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import MissingPackageError
from podium.base.files import writing
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.letor.letor import check_document_id, check_query_id, write_letor
from podium.formats.sniff import table_kind
from podium.formats.trec.trec import AnyQrels, as_qrels


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Documents of a query with their features and grades."""

    query: str
    ids: list[str]
    features: Singles  # (n, d)
    grades: Array | None  # (n,); None: not judged, written as 0


def write_rows(parts: Iterable[QueryRows], target: str, *, names: Sequence[str], about: dict[str, Any]) -> int:
    """Write the rows of queries to a LETOR or a Parquet file, query by query, and return their number."""
    if table_kind(target) == "parquet":
        return _write_parquet(parts, target, names, about)
    written = 0
    with writing(target) as file:
        for rows in parts:
            if rows.ids:
                write_letor(_dataset(rows, names), file)
                written += len(rows.ids)
    if target != "-":
        with writing(f"{target}.features") as file:
            file.write(json.dumps({"features": list(names), "info": about}, indent=1).encode())
    return written


def check_ids(target: str, queries: Iterable[str], documents: Iterable[str]) -> None:
    """Raise a clear error, before work starts, if the file to write cannot hold these ids.

    `target`: the file. `queries`, `documents`: ids.
    """
    if table_kind(target) == "parquet":
        return
    for name in queries:
        check_query_id(name, None)
    for name in documents:
        check_document_id(name, None)


def grades_of(qrels: AnyQrels) -> dict[str, dict[str, float]]:
    """Judgments as dictionaries; a grade below 0, which marks a document as not judged, counts 0."""
    qrels = as_qrels(qrels)
    names, judged = qrels.document_ids.tolist(), {}
    for query, a, b in zip(
        qrels.query_ids.tolist(), qrels.offsets[:-1].tolist(), qrels.offsets[1:].tolist(), strict=True
    ):
        judged[str(query)] = dict(zip(names[a:b], np.maximum(qrels.labels[a:b], 0.0).tolist(), strict=True))
    return judged


def _grades(rows: QueryRows) -> Array:
    return np.zeros(len(rows.ids)) if rows.grades is None else rows.grades


def _dataset(rows: QueryRows, names: Sequence[str]) -> Table:
    return Dataset.from_arrays(
        rows.features, _grades(rows), qid=np.full(len(rows.ids), rows.query, object), document_ids=rows.ids,
        feature_names=names,
    )  # fmt: skip


def _write_parquet(parts: Iterable[QueryRows], target: str, names: Sequence[str], about: dict[str, Any]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("pyarrow", f"Writing {target}", "frames") from None

    columns = [("qid", pa.string()), ("label", pa.float64()), ("document_id", pa.string())]
    schema = pa.schema([*columns, *((name, pa.float32()) for name in names)], {"podium": json.dumps(about)})
    written, waiting, rest = 0, list[QueryRows](), iter(parts)
    with writing(target) as file, pyarrow.parquet.ParquetWriter(file, schema) as writer:
        while waiting := list(_up_to(rest, _GROUP)):
            heads = [
                [rows.query for rows in waiting for _ in rows.ids],
                np.concatenate([_grades(rows) for rows in waiting]),
                [id for rows in waiting for id in rows.ids],
            ]
            arrays = [pa.array(x, kind) for x, (_, kind) in zip(heads, columns, strict=True)]
            X = np.concatenate([rows.features for rows in waiting])
            writer.write_table(pa.table([*arrays, *map(pa.array, X.T)], schema=schema))
            written += len(X)
    return written


_GROUP = 20_000
"""Rows per group of a Parquet file."""


def _up_to(parts: Iterator[QueryRows], size: int) -> Iterator[QueryRows]:
    """The next queries, until they have `size` rows."""
    for rows in parts:
        yield rows
        size -= len(rows.ids)
        if size <= 0:
            return
