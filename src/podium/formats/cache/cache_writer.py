"""Write caches from a dataset, or from a LETOR, Parquet or Arrow file without loading it into memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from podium.base.arrays import AnyArray, is_sparse
from podium.base.errors import DataError, ParameterError
from podium.base.files import folder_aside, source_name
from podium.base.matrix_on_disk import FileRows, Rows, block_sums, in_blocks
from podium.data.dataset import Ungrouped
from podium.data.table import Table
from podium.formats.cache.cache import FORMAT, HEAD, KIND, TYPES, file_name, head_bytes, is_only_cache, open_cache
from podium.formats.letor.letor import read_lines
from podium.formats.letor.letor_lines import SpooledLines
from podium.formats.remote import is_url
from podium.formats.sniff import table_kind
from podium.formats.tables.table_parts import is_parquet
from podium.formats.tables.table_spool import spool_table
from podium.formats.tables.tables import read_table
from podium.parsing.ids import Ids
from podium.parsing.words import SPARE

_CHUNK = 2**16  # texts at a time
_BYTES = 2**22


def write_cache(
    source: str | os.PathLike[str] | Table,
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    **roles: Any,
) -> Table:
    """Write a dataset or a data file as a cache, and open it: the same data as from `read_data`.

    `n_features` and `roles` are as for `read_data`. Memory: a few blocks of rows, and about 50 bytes a document; a CSV
    file is read into memory first.

    `source`: a path or a Dataset, and `path` the folder that is written.
    """
    for place in (path,) if is_parquet(source) else (source, path):
        if is_url(place):
            raise DataError(
                "caches are written from files of this machine or Parquet anywhere, and to folders of this machine. "
                "Copy the file here, and the finished cache to the store.",
                where=str(place),
            )
    if isinstance(source, Table):
        with folder_aside(path, replaces=is_only_cache) as folder:
            _write(source, folder, {"name": source.source})
        return open_cache(path)
    name = os.fspath(source)
    if os.path.isdir(source) and not is_parquet(source):
        raise DataError("is a folder; give one file of data, or a folder of Parquet files.", where=name)
    with folder_aside(path, replaces=is_only_cache) as folder:
        if is_parquet(source) or table_kind(name) == "arrow":
            data = spool_table(name, folder, **roles)
        elif table_kind(name) == "csv":
            data = read_table(name, **roles)
        elif roles:
            raise ParameterError(f"{min(roles)} names a column, which a LETOR file does not have. Leave it out.")
        else:
            data = read_lines(name, SpooledLines(source_name(name), folder, n_features=n_features))
        about = {"size": os.stat(name).st_size, "time": int(os.stat(name).st_mtime)} if os.path.isfile(name) else {}
        _write(data, folder, {"name": os.path.basename(name), **about})
    return open_cache(path)


def _write(data: Table, folder: Path, source: dict[str, Any]) -> None:
    if data.categories:
        raise DataError("a cache holds numbers, no categories yet. Write a frame instead: to_frame.", where=data.source)
    arrays = _features(data, folder)
    small: dict[str, Any] = {
        "labels": data.labels,
        "offsets": data.grouped_offsets,
        "order": data.order if isinstance(data, Ungrouped) else None,
        "query-weights": data.query_weights,
        "document-weights": data.document_weights,
        "row-weights": data.row_weights,
        "score-offsets": data.score_offsets,
        "base-scores": data.base_scores,
        "positions": data.positions,
        "edges": None if data.preferences is None else data.preferences.edges,
        "edge-offsets": None if data.preferences is None else data.preferences.offsets,
        "topics": None if data.topics is None else data.topics.values,
        "topic-offsets": None if data.topics is None else data.topics.offsets,
        "relations": None if data.relations is None else data.relations.values,
        "relation-offsets": None if data.relations is None else data.relations.offsets,
        "query-features": data.query_features,
    }
    for name, array in small.items():
        if array is not None:
            arrays[name] = _put(folder, name, [array], array.shape)
    texts = {"query-ids": data.query_ids, "document-ids": data.document_ids, "comments": data.comments}
    for name, words in texts.items():
        if words is not None:
            arrays |= _put_texts(folder, name, words)
    head = {
        "format": KIND, "version": FORMAT, "n_documents": data.n_documents, "n_queries": data.n_queries,
        "n_features": data.n_features, "feature_names": data.feature_names,
        "query_feature_names": data.query_feature_names,
        "info": None if data.info is None else dict(data.info), "source": source, "arrays": arrays,
    }  # fmt: skip
    for left in folder.glob("*.part"):
        left.unlink()
    with open(folder / HEAD, "xb") as file:
        file.write(head_bytes(head))
        file.flush()
        os.fsync(file.fileno())


def _features(data: Table, folder: Path) -> dict[str, Any]:
    X: Any = data.features
    if is_sparse(X):
        parts = {"csr-data": X.data, "csr-indices": X.indices, "csr-indptr": X.indptr}
        return {name: _put(folder, name, [array], array.shape) for name, array in parts.items()}
    place = folder / file_name("features")
    spooled = Path(X.file) if isinstance(X, FileRows) and isinstance(X.file, str) else None
    if spooled is not None and spooled.parent == folder:
        os.replace(spooled, place)
    else:
        _put(folder, "features", in_blocks(X) if isinstance(X, Rows) else [X], X.shape)
    whole, sums = hashlib.sha256(), list[int]()
    with open(place, "rb") as file:
        while chunk := file.read(_BYTES):
            whole.update(chunk)
            sums += block_sums(chunk)
        os.fsync(file.fileno())
    blocks = np.array(sums, np.uint32)
    return {
        "features": {"shape": X.shape, "sha256": whole.hexdigest()},
        "feature-sums": _put(folder, "feature-sums", [blocks], blocks.shape),
    }


def _put(folder: Path, name: str, parts: Iterable[Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Write an array, part by part; return its description for the head."""
    digest = hashlib.sha256()
    with open(folder / file_name(name), "xb") as file:
        for part in parts:
            whole = np.ascontiguousarray(part, TYPES[name])
            if whole.size:
                digest.update(whole.data)
                file.write(whole.data)
        file.flush()
        os.fsync(file.fileno())
    return {"shape": list(shape), "sha256": digest.hexdigest()}


def _put_texts(folder: Path, name: str, words: AnyArray | Ids) -> dict[str, Any]:
    ends: list[Any] = [np.zeros(1, np.int64)]

    def chunks() -> Iterable[Any]:
        for a in range(0, len(words), _CHUNK):
            ids = Ids.of(words[a : a + _CHUNK])
            packed = Ids.from_bytes([ids.text[x:y].tobytes() for x, y in zip(ids.starts, ids.ends, strict=True)])
            ends.append(ends[-1][-1] + packed.ends)
            yield packed.text[: len(packed.text) - SPARE]
        yield np.zeros(SPARE, np.uint8)

    text = _put(folder, name + ".text", chunks(), ())
    bounds = np.concatenate(ends)
    text["shape"] = [int(bounds[-1]) + SPARE]
    return {name + ".text": text, name: _put(folder, name, [bounds], bounds.shape)}
