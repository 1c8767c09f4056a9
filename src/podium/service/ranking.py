"""Ranking: a request to a matrix of features, scores, odds and an answer. No HTTP in it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.data.dataset import Dataset
from podium.errors import DataError, UnknownNameError, counted
from podium.evaluation.attribution import shares_over_mean
from podium.evaluation.explain import explain as explain_pair
from podium.ranking import order
from podium.service.number_rows import read_rows
from podium.service.problems import ServiceError
from podium.service.schemas import Document, ExplainAnswer, ExplainRequest, Features, RankAnswer, RankRequest, Result
from podium.service.shelf import Entry

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    """Documents of one query, ready to be scored."""

    X: Matrix  # (n, d) in the order of the model's features
    ids: Sequence[str] | None  # (n,) None: their places, from 0
    query: str = ""
    user: str | None = None
    k: int | None = None
    odds: bool = False
    explain: bool = False
    log: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """An answer, and what it was made from."""

    answer: RankAnswer
    asked: Asked
    rows: list[int]  # of the documents in the answer, best first
    score_seconds: float
    entry: Entry
    scores: NDArray[np.float64]  # (n,) of all documents of the request
    arms: list[float] | None = None  # in an experiment, of each document in the answer: above 0 is the candidate's


def asked_of(request: RankRequest, X: Matrix) -> Asked:
    """A request with its documents' features."""
    ids = ids_of(request.documents)
    return Asked(X, ids, request.query, request.user, request.k, request.odds, request.explain, request.log)


def rank(entry: Entry, asked: Asked, request: str) -> Ranked:
    """The answer to a request: documents best first; ties share a rank and keep the order of the request."""
    start = time.perf_counter()
    n = len(asked.X)
    data = _dataset(asked)
    scores = entry.model.score(data) if n else np.empty(0)
    best = order(scores)
    ordered = scores[best]
    ranks = [1, *(1 + np.cumsum(ordered[1:] != ordered[:-1])).tolist()][: min(n, asked.k or n)]
    best = best[: asked.k]
    rows, ids = best.tolist(), asked.ids
    names = list(map(str, rows)) if ids is None else [ids[row] for row in rows]
    results = [Result(*one) for one in zip(names, rows, ranks, ordered[: asked.k].tolist(), strict=True)]
    answer = RankAnswer(request=request, model=entry.key, results=results, took_ms=0.0)
    if asked.odds and n:
        found = entry.model.distribution(data, scores=scores)
        summary, answer.odds = found.summary(), found.how
        first, low, high = (getattr(summary, key)[best].tolist() for key in ("first", "low", "high"))
        for one, p, a, b in zip(results, first, low, high, strict=True):
            one.p_first, one.rank_interval = p, (a, b)
    if asked.explain and n:
        _explain(entry, data, best, answer)
    return Ranked(answer, asked, rows, time.perf_counter() - start, entry, scores)


def explain(entry: Entry, request: ExplainRequest, name: str) -> ExplainAnswer:
    """Why one document of a request is above another."""
    X = matrix_of([document.features for document in request.documents], request.features, entry)
    asked = Asked(X, ids_of(request.documents), request.query)
    data = _dataset(asked)
    if not len(asked.X):
        raise ServiceError(422, "documents: two of them are needed to compare; got none.")
    import msgspec

    found = explain_pair(entry.model, data, query=data.query_name(0), documents=request.pair).to_dict()
    return msgspec.convert({**found, "request": name, "model": entry.key, "query": request.query}, ExplainAnswer)


def ids_of(documents: Sequence[Document]) -> list[str] | None:
    """The ids of documents: None where none has one, and their place where only some have."""
    ids: list[Any] = [document.id for document in documents]
    kinds = set(map(type, ids))
    if kinds <= {type(None)}:
        return None
    texts = ids if kinds == {str} else [str(place) if id is None else str(id) for place, id in enumerate(ids)]
    if len(set(texts)) < len(texts):
        seen: set[str] = set()
        twice = next(id for id in texts if id in seen or seen.add(id))  # type: ignore[func-returns-value]
        raise ServiceError(422, f"two documents have the id {twice!r}. Give each its own, or none.", where="documents")
    return texts


def matrix_of(rows: Sequence[Features], names: Sequence[str] | None, entry: Entry) -> Matrix:
    """The features of documents in the order of the model's; NaN where one is missing."""  # (n, d)
    d = entry.model.n_features
    columns = None if names is None else _places(names, entry)
    width = d if columns is None else len(columns)
    if set(map(type, rows)) <= {list} and set(map(len, rows)) <= {width}:
        X = _numbers(rows, width)
        return _checked(X if columns is None else _spread(X, columns, d), entry)
    X = np.full((len(rows), d), np.nan, np.float32)
    for place, row in enumerate(rows):
        where = f"documents[{place}].features"
        if isinstance(row, dict):
            try:
                at = [entry.columns[name] for name in row]
            except KeyError as error:
                raise _unknown(error.args[0], entry, where) from None
            X[place, at] = _numbers([list(row.values())], len(row))[0]
        elif len(row) != width:
            expected = f"{entry.key} has {width}" if columns is None else f"'features' names {width}"
            raise ServiceError(422, f"{counted(len(row), 'number')}, but {expected}.", where=where)
        else:
            X[place, slice(None) if columns is None else columns] = _numbers([row], width)[0]
    return _checked(X, entry)


def rows_matrix(rows: Sequence[Any], names: Sequence[str] | None, entry: Entry) -> Matrix | None:
    """As `matrix_of`, of lists that are still JSON; None where one is not a list of as many numbers as it should be."""
    columns = None if names is None else _places(names, entry)
    X = read_rows(rows, entry.model.n_features if columns is None else len(columns))
    if X is None or columns is None:
        return None if X is None else _checked(X, entry)
    return _checked(_spread(X, columns, entry.model.n_features), entry)


def checked_matrix(X: Any, entry: Entry) -> Matrix:
    """A matrix from a binary body, as the model takes it."""
    if X.ndim != 2:
        raise ServiceError(422, f"a matrix (documents × features) is needed; got shape {X.shape}.")
    if X.shape[1] != entry.model.n_features:
        raise ServiceError(422, f"{X.shape[1]} features, but {entry.key} was trained with {entry.model.n_features}.")
    with np.errstate(over="ignore"):
        return _checked(np.require(X, np.float32, ["C", "W"]), entry)  # compiled code takes no read-only arrays


def named_matrix(columns: dict[str, Any], n: int, entry: Entry) -> Matrix:
    """Columns by name as the model's matrix; NaN where it misses one."""
    X = np.full((n, entry.model.n_features), np.nan, np.float32)
    with np.errstate(over="ignore"):
        for name, values in columns.items():
            if name not in entry.columns:
                raise _unknown(name, entry, "columns")
            X[:, entry.columns[name]] = values
    return _checked(X, entry)


def _dataset(asked: Asked) -> Dataset:
    n = len(asked.X)
    ids = None if asked.ids is None else np.array(asked.ids, dtype=object)
    return Dataset(asked.X, None, np.array([0, n]), np.array([asked.query], object), ids)


def _numbers(rows: Sequence[Any], width: int) -> Matrix:
    n = len(rows) * width
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is an error below
        try:
            flat = np.fromiter(itertools.chain.from_iterable(rows), np.float32, n)
        except TypeError:  # null is a missing value
            every = itertools.chain.from_iterable(rows)
            flat = np.fromiter((np.nan if value is None else value for value in every), np.float32, n)
    return flat.reshape(len(rows), width)


def _checked(X: Matrix, entry: Entry) -> Matrix:
    if np.isinf(X).any():
        row, column = (int(one[0]) for one in np.nonzero(np.isinf(X)))
        raise ServiceError(
            422,
            f"feature {entry.feature_names[column]!r} of document {row} is infinite, or too large for a number of 32 "
            "bits. Send null where a value is missing.",
            where=f"documents[{row}].features",
        )
    return X


def _places(names: Sequence[str], entry: Entry) -> list[int]:
    places = [entry.columns.get(name, -1) for name in names]
    if -1 in places:
        raise _unknown(names[places.index(-1)], entry, "features")
    if len(set(places)) < len(places):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ServiceError(422, f"feature {twice!r} is named twice.", where="features")
    return places


def _spread(X: Matrix, columns: list[int], width: int) -> Matrix:
    if columns == list(range(width)):
        return X
    wide = np.full((len(X), width), np.nan, np.float32)
    wide[:, columns] = X
    return wide


def _unknown(name: str, entry: Entry, where: str) -> ServiceError:
    error = UnknownNameError("feature", name[:100], entry.columns, see=f"GET /v1/models/{entry.name}")
    return ServiceError(422, str(error), where=where)


def _explain(entry: Entry, data: Dataset, best: NDArray[np.int64], answer: RankAnswer) -> None:
    """What each feature adds to a document's score over that of the mean of the request."""
    found = shares_over_mean(entry.model, data, best)
    if found is None:
        raise DataError(f"the scores of {entry.key} cannot be taken apart by feature. Ask without explain.")
    answer.shares = f"{found.how}, to the mean of the documents"
    for result, shares in zip(answer.results, found.shares.tolist(), strict=True):
        result.shares = {name: share for name, share in zip(entry.feature_names, shares, strict=True) if share != 0}
