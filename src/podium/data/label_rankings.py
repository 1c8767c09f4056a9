"""Label ranking: each instance x orders a fixed set of labels; as queries of which the labels are the documents.

    >>> data = label_rankings([[1.0, 2.0], [0.5, 0.0]], [["b", "a", "c"], ["a", ["b", "c"]]])
    >>> data.document_ids.tolist(), data.labels.tolist()
    (['a', 'b', 'c', 'a', 'b', 'c'], [1.0, 2.0, 0.0, 1.0, 0.0, 0.0])
    >>> data.features[[1]].toarray().tolist()  # of label b for the first x
    [[0.0, 0.0, 1.0, 2.0, 0.0, 0.0]]

The features of label l for x are e_l ⊗ x, so that a linear score is ⟨w_l, x⟩, with weights of its own for each label.
Reference: Dekel, Manning and Singer, Log-linear models for label ranking, NIPS 2003; Har-Peled, Roth and Zimak,
Constraint classification for multiclass classification and ranking, NIPS 2002.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.columns import text_ids
from podium.base.errors import DataError
from podium.data.array_parts import feature_array

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

Groups = list[list[str]]
"""Labels from the best; those of one group are tied."""


def label_rankings(
    features: object, rankings: Sequence[Any] | None = None, *, labels: Sequence[Any] | None = None
) -> Dataset:
    """Make a dataset of instances, a row of `features` each, that rank labels.

    A ranking is a list of labels from the best, in which a list or set of labels is tied; or a list of tuples (better,
    worse). `labels` are all labels, by default those that the rankings name, sorted. If every ranking is a list of all
    labels, they become grades, which any method learns from; otherwise every ranking becomes preferences. Without
    rankings the dataset is one to predict rankings for.
    """
    import scipy.sparse as sp

    from podium.data.dataset import Dataset

    X = feature_array(features, None)
    n = X.shape[0]
    read = None if rankings is None else [_read(ranking, row) for row, ranking in enumerate(rankings)]
    if read is not None and len(read) != n:
        raise DataError(f"{len(read)} rankings for {n} rows of features. Give one for each.")
    names = _names(read, labels)
    m, place = len(names), {name: l for l, name in enumerate(names)}
    rows = np.arange(n * m).reshape(m, n).T.ravel()  # (x, label) of rows that are (label, x)
    crossed: Any = sp.csr_array(sp.kron(sp.eye_array(m, dtype=np.float32), sp.csr_array(X), format="csr"))[rows]
    table: dict[str, Any] = {"group": np.full(n, m), "document_ids": names * n}
    if read is not None:
        table |= _judgments(read, place)
    return Dataset.from_arrays(crossed, **table).grouped()


def _read(ranking: Any, row: int) -> Groups | list[tuple[str, str]]:
    """The groups of a list of labels, or the pairs of a list of tuples; labels as text."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Iterable):
        raise DataError(f"ranking {row}: expected a list of labels from the best; got {ranking!r}.")
    entries = list(ranking)
    if entries and all(isinstance(entry, tuple) for entry in entries):
        return [_pair(entry, row) for entry in entries]
    groups = [
        _texts(sorted(entry, key=str) if isinstance(entry, set | frozenset) else entry, row)
        if isinstance(entry, list | set | frozenset)
        else _texts([entry], row)
        for entry in entries
    ]
    flat = [label for group in groups for label in group]
    twice = next((label for label in flat if flat.count(label) > 1), None)
    if twice is not None:
        raise DataError(f"ranking {row}: the label {twice!r} is there twice.")
    return groups


def _pair(entry: tuple[Any, ...], row: int) -> tuple[str, str]:
    if len(entry) != 2 or entry[0] == entry[1]:
        raise DataError(f"ranking {row}: expected pairs (better, worse) of two labels; got {entry!r}.")
    better, worse = _texts(list(entry), row)
    return better, worse


def _texts(labels: list[Any], row: int) -> list[str]:
    return [str(label) for label in text_ids(labels, f"label of ranking {row}")]


def _names(read: list[Any] | None, labels: Sequence[Any] | None) -> list[str]:
    """All labels, as text."""
    ranked = {label for ranking in read or [] for part in ranking for label in part}
    if labels is None:
        names = sorted(ranked)
    else:
        names = [str(label) for label in text_ids(list(labels), "label")]
        if len(set(names)) < len(names):
            raise DataError("a label is there twice in `labels`.")
        other = sorted(ranked - set(names))
        if other:
            raise DataError(f"the rankings have the label {other[0]!r}, and `labels` has not.")
    if not names:
        raise DataError("there are no labels: give rankings, or `labels` for data without rankings.")
    return names


def _judgments(read: list[Any], place: dict[str, int]) -> dict[str, Any]:
    """Grades if every ranking is a list of all labels, else preferences."""
    m = len(place)
    if all(sum(map(len, ranking)) == m and not _is_pairs(ranking) for ranking in read):
        grades = np.zeros((len(read), m))
        for row, groups in enumerate(read):
            for rank, group in enumerate(groups):
                grades[row, [place[label] for label in group]] = len(groups) - 1 - rank
        return {"labels": grades.ravel()}
    edges = [
        (row * m + place[better], row * m + place[worse])
        for row, ranking in enumerate(read)
        for better, worse in (ranking if _is_pairs(ranking) else _pairs(ranking))
    ]
    if not edges:
        raise DataError("the rankings order no two labels.")
    winners, losers = zip(*edges, strict=True)
    return {"preferences": (winners, losers)}


def _is_pairs(ranking: Sequence[Any]) -> bool:
    return bool(ranking) and isinstance(ranking[0], tuple)


def _pairs(groups: Groups) -> Iterable[tuple[str, str]]:
    """All pairs of labels of different groups."""
    for k, group in enumerate(groups):
        for better in group:
            for lower in groups[k + 1 :]:
                yield from ((better, worse) for worse in lower)
