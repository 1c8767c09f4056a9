"""The data doctor on features: constant, duplicate, leaking, not finite; duplicate documents and queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Flags, Ints, Singles, column, dense
from podium.data.dataset import Dataset
from podium.data.doctor.check import Finding, examples
from podium.data.doctor.check_kernels import Summary, count_pairs

if TYPE_CHECKING:
    import scipy.sparse as sp

_QUERIES, _DOCUMENTS = 500, 60  # looked at for leaks, at most
_LEAK, _LEAST_PAIRS = 0.99, 100
_EXAMPLES = 5

Part = tuple[str, Dataset, Summary]


def feature_findings(name: str, data: Dataset, seen: Summary) -> Iterator[Finding]:
    """Problems of the features of one dataset."""
    yield from _not_finite(name, data, seen)
    constant = ~(seen.low < seen.high) & ((seen.missing == 0) | (seen.missing == data.n_documents))
    if constant.any():
        columns = np.flatnonzero(constant)
        yield Finding(
            "note",
            "constant-features",
            f"{len(columns)} of {data.n_features} features have one value throughout.",
            name,
            "They cannot tell documents apart; scaling by their range would divide by 0.",
            "Leave them out, or find out why they are empty.",
            _names(data, columns),
        )
    yield from _double_features(name, data, seen, constant)
    yield from _leaks(name, data)
    yield from _conflicts(name, data, seen)


def between_parts(first: Part, second: Part) -> Iterator[Finding]:
    """Problems between two datasets, such as train and test: different widths, shared queries."""
    (a, data, _), (b, other, _) = first, second
    if data.n_features != other.n_features:
        yield Finding(
            "error",
            "widths",
            f"{a} has {data.n_features} features, {b} has {other.n_features}.",
            f"{a}, {b}",
            "A model takes as many features as it was trained on.",
            "Make both with the same features; if only the last are never mentioned, read with n_features.",
        )
    same = _same_documents(first, second)
    if same.any():
        yield Finding(
            "error",
            "shared-queries",
            f"{int(same.sum())} queries of {a} are in {b} as well, with the same documents.",
            f"{a}, {b}",
            "What was seen in training is known in the test: results come out too good.",
            "Split by query, so that each is in one part only.",
            examples(data, np.flatnonzero(same)),
        )
    if data.query_ids is None or other.query_ids is None:
        return
    queries = set(other.query_ids)
    shared = np.flatnonzero(np.array([query in queries for query in data.query_ids], np.bool_) & ~same)
    if len(shared):
        yield Finding(
            "warning",
            "shared-query-ids",
            f"{len(shared)} query ids of {a} are in {b} as well, with other documents.",
            f"{a}, {b}",
            "If they are the same queries, the test asks what was taught, and results come out too good.",
            "Split by query. If each file numbers its own queries, nothing is wrong.",
            examples(data, shared),
        )


def _not_finite(name: str, data: Dataset, seen: Summary) -> Iterator[Finding]:
    for counts, level, what, why, todo in (
        (
            seen.infinite,
            "error",
            "infinite values",
            "No sum or product with them is a number.",
            "Cap them, or write nan if the value is unknown.",
        ),
        (
            seen.missing,
            "warning",
            "missing values (NaN)",
            "Trees take them as missing; linear models and networks cannot.",
            "Fill them (0, or the feature's mean), or use trees.",
        ),
    ):
        columns = np.flatnonzero(counts)
        if len(columns):
            yield Finding(
                level,  # type: ignore[arg-type]
                "infinite" if level == "error" else "missing",
                f"{len(columns)} features have {what}, {int(counts.sum())} in all.",
                name,
                why,
                todo,
                _names(data, columns),
            )


def _double_features(name: str, data: Dataset, seen: Summary, constant: Flags) -> Iterator[Finding]:
    first: dict[int, int] = {}
    pairs: list[tuple[int, int]] = []
    for at in np.flatnonzero(~constant).tolist():
        before = first.setdefault(int(seen.columns[at]), at)
        if before != at and _alike(data.features, before, at):
            pairs.append((before, at))
    if pairs:
        yield Finding(
            "note",
            "duplicate-features",
            f"{len(pairs)} features repeat another one.",
            name,
            "They add cost and no information; weights and importances are shared out among them arbitrarily.",
            "Leave the later ones out.",
            tuple(f"{_name(data, a)} = {_name(data, b)}" for a, b in pairs[:_EXAMPLES]),
        )


def _alike(X: Singles | sp.csr_array, a: int, b: int) -> bool:
    """Whether two features have the same value in every document."""
    return bool(np.array_equal(column(X, a), column(X, b), equal_nan=True))


def _leaks(name: str, data: Dataset) -> Iterator[Finding]:
    """Features that order most pairs, and nearly all of these like the label."""
    rows, offsets = _sample(data)
    if data.labels is None or len(offsets) < 6:
        return
    X = np.ascontiguousarray(dense(data.features[rows]))
    right, wrong = np.zeros((2, data.n_features), np.int64)
    pairs = count_pairs(X, data.labels[rows], offsets, right, wrong)
    ordered = right + wrong
    share = np.maximum(right, wrong) / np.maximum(ordered, 1)
    leaks = np.flatnonzero((share >= _LEAK) & (ordered >= max(_LEAST_PAIRS, pairs / 2)))
    if len(leaks):
        yield Finding(
            "warning",
            "label-leak",
            f"{len(leaks)} features order documents almost exactly like the label.",
            name,
            f"Of pairs with different labels they have {share[leaks].min():.1%} or more in one order. Real features "
            "do not: they were probably made from the label, or from what users did after the ranking.",
            "Find out how they are made; leave them out if they are not known when ranking.",
            tuple(f"{_name(data, c)} ({share[c]:.2%})" for c in leaks[:_EXAMPLES].tolist()),
        )


def _conflicts(name: str, data: Dataset, seen: Summary) -> Iterator[Finding]:
    """Documents of a query with the same features and different labels."""
    if data.labels is None:
        return
    query = data.query_index
    order = np.lexsort((seen.rows, query))
    a, b = order[:-1], order[1:]
    alike = (query[a] == query[b]) & (seen.rows[a] == seen.rows[b]) & (data.labels[a] != data.labels[b])
    pairs = list(zip(a[alike].tolist(), b[alike].tolist(), strict=True))
    if pairs:
        texts = [
            f"query {data.query_name(int(query[i]))}: documents {data.document_name(i)} and {data.document_name(j)} "
            f"have labels {data.labels[i]:g} and {data.labels[j]:g}"
            for i, j in pairs[:_EXAMPLES]
        ]
        queries = len(np.unique(query[a[alike]]))
        yield Finding(
            "warning",
            "conflicting-labels",
            f"{queries} queries have documents with the same features and different labels.",
            name,
            "No scorer can put such documents into the right order: they get the same score.",
            "Remove double documents; if they are different ones, more features are needed.",
            tuple(texts),
        )


def _sample(data: Dataset) -> tuple[Ints, Ints]:
    """A sample of rows from queries with two grades or more, and the offsets of these queries."""
    if data.labels is None or data.n_documents == 0:
        return np.empty(0, np.int64), np.zeros(1, np.int64)
    rng = np.random.default_rng(0)
    parts: list[Ints] = []
    for q in rng.permutation(data.n_queries).tolist():
        start, end = int(data.offsets[q]), int(data.offsets[q + 1])
        if end > start and data.labels[start:end].min() < data.labels[start:end].max():
            take = rng.permutation(end - start)[:_DOCUMENTS]
            parts.append(start + np.sort(take))
        if len(parts) == _QUERIES:
            break
    sizes = [len(part) for part in parts]
    return np.concatenate([np.empty(0, np.int64), *parts]), np.cumsum([0, *sizes], dtype=np.int64)


def _same_documents(first: Part, second: Part) -> Flags:
    """Which queries of the first part have a query with the same documents in the second.

    A few coarse features may agree by chance, so queries of less than five documents must have the same id as well.
    """
    (_, data, seen), (_, other, other_seen) = first, second
    names: dict[int, set[str]] = {}
    for q, code in enumerate(_query_hashes(other, other_seen)):
        names.setdefault(code, set()).add(other.query_name(q))
    return np.array(
        [
            code != 0 and code in names and (data.sizes[q] >= 5 or data.query_name(q) in names[code])
            for q, code in enumerate(_query_hashes(data, seen))
        ],
        dtype=np.bool_,
    )


def _query_hashes(data: Dataset, seen: Summary) -> list[int]:
    """A hash of each query's documents, independent of their order; 0 if all features are 0."""
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(seen.rows, dtype=np.uint64)])
    hashes: list[int] = (sums[data.offsets[1:]] - sums[data.offsets[:-1]]).tolist()
    return hashes


def _name(data: Dataset, column: int) -> str:
    return data.feature_names[column] if data.feature_names is not None else f"feature {column + 1}"


def _names(data: Dataset, columns: Ints) -> tuple[str, ...]:
    return tuple(_name(data, c) for c in columns[:_EXAMPLES].tolist())
