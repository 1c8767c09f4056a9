"""Caches: data larger than memory in a folder of plain arrays; features are read in blocks when they are needed.

    podium cache train.txt -o train.pod        read_data("train.pod")

train.pod/
├── head.json       format, sizes, names, where it came from, and each array's type, shape and SHA-256
├── features.f4     (N, d) float32, and feature-sums.u4, the CRC-32 of every 256 KiB of it
│                   or csr-data.f4, csr-indices.i4 and csr-indptr.i8 of sparse data
├── labels.f8, offsets.i8, order.i8, weights, edges
└── query-ids, document-ids, comments: .txt, all texts joined, and .i8, the start of each

Rows keep the order of the original file. Numbers are little-endian, arrays are not compressed, and there is no code in
it: reading a cache from strangers is safe. Sizes and checksums are checked when it is opened, those of dense features
block by block, when each is first read; `verify` checks all of them at once. A cache on a store that fsspec supports,
e.g. s3://bucket/train.pod, is read by ranges of bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Ints
from podium.base.errors import DataError
from podium.base.matrix_on_disk import SUM_BLOCK, FileRows
from podium.data.dataset import table_of
from podium.data.preferences import Preferences
from podium.data.table import Table
from podium.data.triples import Triples
from podium.formats.remote import UrlRows, chunks, file_size, is_url, read_bytes
from podium.parsing.ids import Ids
from podium.parsing.words import SPARE

FORMAT = 2
KIND = "podium cache"
HEAD = "head.json"
_MOST_HEAD = 2**28  # bytes
_LARGE = ("features", "csr-data", "csr-indices", "document-ids.text", "comments.text")
"""Arrays that may be larger than memory, and are read when they are needed."""
TYPES = {
    "features": "<f4", "feature-sums": "<u4",
    "csr-data": "<f4", "csr-indices": "<i4", "csr-indptr": "<i8", "labels": "<f8", "offsets": "<i8",
    "order": "<i8", "query-weights": "<f8", "document-weights": "<f8", "score-offsets": "<f8", "row-weights": "<f8",
    "base-scores": "<f8", "positions": "<i8",
    "edges": "<f8", "edge-offsets": "<i8", "topics": "<f8", "topic-offsets": "<i8",
    "relations": "<f8", "relation-offsets": "<i8", "query-features": "<f8",
    "query-ids.text": "|u1", "query-ids": "<i8", "document-ids.text": "|u1", "document-ids": "<i8",
    "comments.text": "|u1", "comments": "<i8",
}  # fmt: skip
"""The arrays that a cache may have, and their types."""


@dataclass(frozen=True)
class Stored:
    """An array of a cache, as its head describes it."""

    shape: tuple[int, ...]
    sha256: str


def is_cache(path: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path or URL of a cache: a folder with a head."""
    if is_url(path):
        return file_size(_joined(path, HEAD)) is not None
    return isinstance(path, str | os.PathLike) and os.path.isfile(os.path.join(path, HEAD))


def is_only_cache(folder: Path) -> bool:
    """Whether a folder is a cache and holds nothing else."""
    names = {HEAD, *map(file_name, TYPES)}
    return is_cache(folder) and names.issuperset(os.listdir(folder))


def file_name(array: str) -> str:
    """File name of an array."""
    kind = TYPES[array]
    return array.removesuffix(".text") + ".txt" if kind == "|u1" else f"{array}.{kind[1:]}"


def open_cache(path: str | os.PathLike[str]) -> Table:
    """Open a cache as a table. Features, document ids and comments stay on disk until they are needed."""
    folder = os.fspath(path)
    try:
        head, arrays = _read_head(folder)
        return _dataset(folder, head, arrays)
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"the cache cannot be read: {error.strerror}.", where=os.fspath(path)) from error
    except Exception as error:  # damaged or foreign bytes may raise anything
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def verify(path: str | os.PathLike[str]) -> None:
    """Raise a clear error if an array of a cache does not match its checksum."""
    for name, about in _read_head(os.fspath(path))[1].items():
        _check_file(os.fspath(path), name, about)


def _check_file(folder: str, name: str, about: Stored) -> None:
    digest = hashlib.sha256()
    for chunk in chunks(_joined(folder, file_name(name))):
        digest.update(chunk)
    if digest.hexdigest() != about.sha256:
        raise _damaged(folder, f"{file_name(name)} does not match its checksum")


def head_bytes(head: Mapping[str, Any]) -> bytes:
    """Content of head.json: the head with its checksum."""
    text = json.dumps(head, ensure_ascii=True, sort_keys=True)
    return json.dumps({"head": head, "sha256": hashlib.sha256(text.encode()).hexdigest()}, indent=1).encode()


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else os.path.join(folder, name)


def _read_head(folder: str) -> tuple[dict[str, Any], dict[str, Stored]]:
    """Read the head of a cache and check the sizes of its arrays."""
    place = _joined(folder, HEAD)
    size = file_size(place)
    if size is None:
        raise DataError("no such cache. `podium cache DATA -o NAME.pod` makes one.", where=folder)
    if size > _MOST_HEAD:
        raise _damaged(folder, f"its head has {size} bytes")
    try:
        whole = json.loads(read_bytes(place))
        head, text = whole["head"], json.dumps(whole["head"], ensure_ascii=True, sort_keys=True)
        if hashlib.sha256(text.encode()).hexdigest() != whole["sha256"]:
            raise _damaged(folder, "its head does not match its checksum")
        if head["format"] != KIND:
            raise _damaged(folder, "it is something else")
        if head["version"] > FORMAT:
            raise DataError(
                f"it was written by a newer podium (format {head['version']}; this one reads {FORMAT}). Upgrade "
                "podium, or make it again.",
                where=folder,
            )
        arrays = {str(name): _stored(folder, name, about) for name, about in head["arrays"].items()}
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        raise _damaged(folder, f"its head cannot be read ({error})") from None
    return head, arrays


def _stored(folder: str, name: str, about: dict[str, Any]) -> Stored:
    if name not in TYPES:
        raise _damaged(folder, f"it has an array {name!r}, which is not known")
    shape = tuple(int(n) for n in about["shape"])
    size, expected = file_size(_joined(folder, file_name(name))), math.prod(shape) * np.dtype(TYPES[name]).itemsize
    if min(shape, default=0) < 0 or size != expected:
        got = "no file" if size is None else f"{size} bytes"
        raise _damaged(folder, f"{file_name(name)} should have {expected} bytes; got {got}")
    return Stored(shape, str(about["sha256"]))


def _dataset(folder: str, head: dict[str, Any], arrays: dict[str, Stored]) -> Table:
    small = {name: _loaded(folder, name, about) for name, about in arrays.items() if name not in _LARGE}
    n, d = (int(head[key]) for key in ("n_documents", "n_features"))
    offsets: Any = small["offsets"]
    if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        raise _damaged(folder, f"offsets do not rise from 0 to the {n} rows")
    if "order" in small:
        order = small["order"]
        if order.shape != (n,) or (n and (order.min() < 0 or order.max() >= n)) or (np.bincount(order) != 1).any():
            raise _damaged(folder, "the order of rows does not name each row once")
    labels = small.get("labels")
    if labels is not None and np.isinf(labels).any():
        raise _damaged(folder, "a label is infinite")
    names = head["feature_names"]
    return table_of(
        offsets,
        small.get("order"),
        features=_features(folder, arrays, small, (n, d)),
        labels=labels,
        query_ids=None if "query-ids" not in small else np.asarray(_texts(folder, "query-ids", arrays, small)),
        document_ids=cast(Any, _texts(folder, "document-ids", arrays, small)),
        feature_names=None if names is None else tuple(map(str, names)),
        query_weights=small.get("query-weights"),
        document_weights=small.get("document-weights"),
        row_weights=small.get("row-weights"),
        score_offsets=small.get("score-offsets"),
        base_scores=small.get("base-scores"),
        positions=small.get("positions"),
        preferences=_preferences(folder, small, np.diff(small["offsets"])),
        topics=_triples(folder, small, "topic", np.diff(small["offsets"])),
        relations=_triples(folder, small, "relation", np.diff(small["offsets"])),
        query_features=small.get("query-features"),
        query_feature_names=tuple(map(str, head.get("query_feature_names") or ())) or None,
        comments=cast(Any, _texts(folder, "comments", arrays, small)),
        info=None if head["info"] is None else dict(head["info"]),
        source=folder,
    )


def _loaded(folder: str, name: str, about: Stored) -> NDArray[Any]:
    """Load an array and check its checksum."""
    array = _whole(folder, name)
    if hashlib.sha256(array.data if array.size else b"").hexdigest() != about.sha256:
        raise _damaged(folder, f"{file_name(name)} does not match its checksum")
    return array.reshape(about.shape)


def _features(folder: str, arrays: dict[str, Stored], small: dict[str, Any], shape: tuple[int, int]) -> Any:
    if "features" in arrays:
        if arrays["features"].shape != shape:
            raise _damaged(folder, f"features of shape {arrays['features'].shape}, not {shape}")
        place, sums = _joined(folder, file_name("features")), small.get("feature-sums")
        if sums is None:  # of a cache without checksums of blocks (format 1)
            _check_file(folder, "features", arrays["features"])
        elif sums.shape != (-(-4 * shape[0] * shape[1] // SUM_BLOCK),):
            raise _damaged(folder, "checksums of features of another number")
        return UrlRows(place, shape, sums) if is_url(folder) else FileRows(os.path.abspath(place), shape, sums=sums)
    import scipy.sparse as sp

    values, columns = (_mapped(folder, name, arrays[name]) for name in ("csr-data", "csr-indices"))
    ends = small["csr-indptr"]
    if len(ends) != shape[0] + 1 or ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] != len(values):
        raise _damaged(folder, "rows of sparse features do not follow each other")
    if len(columns) != len(values) or (len(columns) and (columns.min() < 0 or columns.max() >= shape[1])):
        raise _damaged(folder, "sparse features are beyond the last one")
    return sp.csr_array((values, columns, ends), shape)


def _whole(folder: str, name: str) -> NDArray[Any]:
    place = _joined(folder, file_name(name))
    return (
        np.frombuffer(bytearray(read_bytes(place)), TYPES[name]) if is_url(folder) else np.fromfile(place, TYPES[name])
    )


def _mapped(folder: str, name: str, about: Stored) -> NDArray[Any]:
    """Map an array into memory copy-on-write; load it if it is on a remote store."""
    if is_url(folder):
        return _loaded(folder, name, about)
    _check_file(folder, name, about)
    place = _joined(folder, file_name(name))
    return np.memmap(place, TYPES[name], mode="c") if os.path.getsize(place) else np.empty(0, TYPES[name])


def _texts(folder: str, name: str, arrays: dict[str, Stored], small: dict[str, Any]) -> Ids | None:
    if name not in arrays:
        return None
    text, bounds = _mapped(folder, name + ".text", arrays[name + ".text"]), small[name]
    if not len(bounds) or bounds[0] != 0 or (np.diff(bounds) < 0).any() or bounds[-1] + SPARE != len(text):
        raise _damaged(folder, f"{name} do not follow each other")
    return Ids(text, bounds[:-1], bounds[1:])


def _preferences(folder: str, small: dict[str, Any], sizes: Ints) -> Preferences | None:
    if "edges" not in small:
        return None
    edges, offsets = small["edges"], small["edge-offsets"]
    _check_rows(folder, "preferences", edges, offsets, sizes, columns=4)
    return Preferences(edges, offsets)


def _triples(folder: str, small: dict[str, Any], what: str, sizes: Ints) -> Triples | None:
    """Topics or relations; the second column of relations is a document too."""
    if f"{what}s" not in small:
        return None
    values, offsets = small[f"{what}s"], small[f"{what}-offsets"]
    _check_rows(folder, f"{what}s", values, offsets, sizes, documents=2 if what == "relation" else 1)
    return Triples(values, offsets)


def _check_rows(
    folder: str, what: str, values: Any, offsets: Any, sizes: Ints, *, columns: int | None = None, documents: int = 2
) -> None:
    """Raise a clear error if rows of a cache do not follow the queries, or name documents that are not there."""
    width = values.shape[1] if values.ndim == 2 else 0
    if width < 3 or (columns or width) != width or len(offsets) != len(sizes) + 1 or offsets[0] != 0:
        raise _damaged(folder, f"{what} of another shape")
    if (np.diff(offsets) < 0).any() or offsets[-1] != len(values) or not np.isfinite(values).all():
        raise _damaged(folder, f"{what} do not follow each other")
    most = np.repeat(sizes, np.diff(offsets))
    for k, ends in enumerate(values[:, :2].T):
        if (ends < 0).any() or (k < documents and (ends >= most).any()) or (ends != np.rint(ends)).any():
            raise _damaged(folder, f"{what} name documents that are not there")


def _damaged(path: str | os.PathLike[str], why: str) -> DataError:
    return DataError(f"not a podium cache, or damaged: {why}. Make it again with podium cache.", where=os.fspath(path))
