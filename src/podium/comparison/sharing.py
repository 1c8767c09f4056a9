"""Shared memory for the datasets of several processes: their arrays in one memory-mapped file, without a copy each.

The temporary file has no name, so the operating system deletes it with the last process that has it open. Each array
starts at a page boundary, and is mapped copy-on-write: a process that writes into it changes its own copy only.
"""

from __future__ import annotations

import json
import mmap
import os
import tempfile
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from podium.base.arrays import is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import FileRows, Rows, in_blocks
from podium.data.dataset import Dataset
from podium.data.fold import Fold
from podium.data.preferences import Preferences
from podium.data.triples import Triples
from podium.parsing.ids import Ids

_PARTS = ("train", "valid", "test")
_ARRAYS = (
    "labels",
    "offsets",
    "query_weights",
    "document_weights",
    "row_weights",
    "score_offsets",
    "base_scores",
    "positions",
    "query_features",
    "rows",
)
_TEXTS = ("query_ids", "document_ids")


@dataclass(frozen=True)
class Place:
    """Position of an array in the file; a list of texts is there as JSON. Arrays with `rows` are read on demand."""

    start: int
    shape: tuple[int, ...]
    type: str
    text: bool = False
    rows: bool = False


def share(fold: Fold, file: BinaryIO) -> dict[str, Any]:
    """Write the data of a fold to a file. Returns the argument of `open_shared`, a JSON value."""
    about: dict[str, Any] = {"name": fold.name, "parts": {}}
    try:
        for part in _PARTS:
            data: Dataset | None = getattr(fold, part)
            if data is not None:
                places = {name: asdict(_put(file, value)) for name, value in _arrays(data).items()}
                about["parts"][part] = {"places": places, "source": data.source, "feature_names": data.feature_names,
                                        "query_feature_names": data.query_feature_names,
                                        "categories": sorted((data.categories or {}).items())}  # fmt: skip
        file.flush()
    except OSError as error:
        raise DataError(
            f"the data of {fold.name} does not fit there: {error.strerror}. Set TMPDIR to a folder with more room, or "
            "use one job.",
            where=tempfile.gettempdir(),
        ) from error
    return about


def open_shared(descriptor: int, about: dict[str, Any]) -> Fold:
    """Open the fold that `share` wrote to a file."""
    size = os.fstat(descriptor).st_size
    memory = mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY) if size else b""
    parts = {name: _dataset(descriptor, memory, part) for name, part in about["parts"].items()}
    return Fold(parts["train"], parts.get("valid"), parts.get("test"), about["name"])


def _arrays(data: Dataset) -> dict[str, Any]:
    """Arrays of a dataset for training and evaluation, by name."""
    X = data.features
    arrays: dict[str, Any] = {name: getattr(data, name) for name in (*_ARRAYS, *_TEXTS)}
    if not is_sparse(X):
        arrays["features"] = X
    else:
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "width": np.array([X.shape[1]])}
    if data.preferences is not None:
        arrays |= {"edges": data.preferences.edges, "edge_offsets": data.preferences.offsets}
    for name, triples in {"topics": data.topics, "relations": data.relations}.items():
        if triples is not None:
            arrays |= {name: triples.values, f"{name}_offsets": triples.offsets}
    return {name: value for name, value in arrays.items() if value is not None}


def _put(file: BinaryIO, value: Any) -> Place:
    start = -(-file.tell() // mmap.PAGESIZE) * mmap.PAGESIZE
    file.seek(start)
    if isinstance(value, Rows):
        for block in in_blocks(value):
            file.write(np.ascontiguousarray(block).data)
        return Place(start, value.shape, value.dtype.str, rows=True)
    text = isinstance(value, Ids) or value.dtype.kind in "OU"
    if text:
        value = np.frombuffer(json.dumps(list(map(str, value))).encode(), np.uint8)
    file.write(np.ascontiguousarray(value).data if value.size else b"")
    return Place(start, value.shape, value.dtype.str, text)


def _dataset(descriptor: int, memory: mmap.mmap | bytes, about: dict[str, Any]) -> Dataset:
    fields = {name: _get(descriptor, memory, Place(**place)) for name, place in about["places"].items()}
    if "features" not in fields:
        import scipy.sparse as sp

        shape = (len(fields["indptr"]) - 1, int(fields.pop("width")[0]))
        fields["features"] = sp.csr_array(tuple(fields.pop(name) for name in ("data", "indices", "indptr")), shape)
    if "edges" in fields:
        fields["preferences"] = Preferences(fields.pop("edges"), fields.pop("edge_offsets"))
    for name in ("topics", "relations"):
        if name in fields:
            fields[name] = Triples(fields[name], fields.pop(f"{name}_offsets"))
    for name in ("feature_names", "query_feature_names"):
        fields[name] = None if about[name] is None else tuple(about[name])
    categories = {int(column): tuple(kept) for column, kept in about["categories"]} or None
    return Dataset(**{"labels": None, **fields}, categories=categories, source=about["source"])


def _get(descriptor: int, memory: mmap.mmap | bytes, place: Place) -> Any:
    if place.rows:
        return FileRows(descriptor, (place.shape[0], place.shape[1]), start=place.start)
    count = int(np.prod(place.shape))
    if count == 0:
        return np.empty(place.shape, place.type)
    array = np.frombuffer(memory, place.type, count, place.start).reshape(place.shape)
    return np.array(json.loads(array.tobytes()), dtype=object) if place.text else array
