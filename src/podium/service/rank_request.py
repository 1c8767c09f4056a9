"""Rank request: from documents to a feature matrix, scores, odds (probabilities of ranks) and an answer; no HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from podium.base.arrays import Array, Ints, Singles
from podium.base.errors import DataError, IncompatibleError, UnknownNameError, counted
from podium.data.dataset import Dataset
from podium.jit.sorting import order
from podium.parsing.ids import first_repeated
from podium.service.domain_errors import RequestError
from podium.service.models.model_store import Entry
from podium.service.problems import decoded
from podium.service.query_features import with_query_features
from podium.service.schemas import ExplainAnswer, ExplainRows, Features, RankAnswer, RankRows, Result, Row

EXPLAINED = 20
"""Largest number of documents whose scores are explained at once: trees take some 60 ms each."""
_names: msgspec.json.Decoder[list[str] | None] = msgspec.json.Decoder(list[str] | None)
_features: msgspec.json.Decoder[Features] = msgspec.json.Decoder(Features)


@dataclass(frozen=True, slots=True)
class Asked:
    """Documents of one query, ready to be scored."""

    X: Singles  # (n, d) in the order of the model's features
    ids: Sequence[str] | None  # (n,) None: indices, from 0
    query: str = ""
    user: str | None = None
    k: int | None = None
    odds: bool = False
    explain: bool = False
    log: bool = True
    query_features: Mapping[str, float | str] | None = None
    at: int | None = None
    """Time of the page in ms, if its behaviour features were filled in."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An answer, with the request, the model and the scores behind it."""

    answer: RankAnswer
    asked: Asked
    rows: list[int]  # of the documents in the answer, best first
    score_seconds: float
    entry: Entry
    scores: Array  # (n,) of all documents of the request
    arms: list[float] | None = None  # in an experiment, credit of each document in the answer: candidate > 0


def asked_of(request: RankRows, entry: Entry) -> Asked:
    """Documents of a request, as input of a model."""
    X = json_matrix([document.features for document in request.documents], request.features, entry)
    ids = ids_of(request.documents)
    return Asked(
        X, ids, request.query, request.user, request.k, request.odds, request.explain, request.log,
        request.query_features,
    )  # fmt: skip


def rank(entry: Entry, asked: Asked, request: str) -> Ranked:
    """Rank the documents of a request, best first; ties share a rank and keep the order of the request."""
    start = time.perf_counter()
    n = len(asked.X)
    data = _dataset(asked, entry)
    scores = entry.model.score(data) if n else np.empty(0)
    best = order(scores)
    ordered = scores[best]
    ranks = [1, *(1 + np.cumsum(ordered[1:] != ordered[:-1])).tolist()][: min(n, asked.k or n)]
    best = best[: asked.k]
    rows, ids = best.tolist(), asked.ids
    names = list(map(str, rows)) if ids is None else [ids[row] for row in rows]
    results = list(map(Result, names, rows, ranks, ordered[: asked.k].tolist()))
    answer = RankAnswer(request=request, model=entry.key, results=results, took_ms=0.0)
    if asked.odds and n:
        _add_odds(entry, data, scores, best, answer)
    if asked.explain and n:
        _explain(entry, data, best, answer)
    return Ranked(answer, asked, rows, time.perf_counter() - start, entry, scores)


def explain(entry: Entry, request: ExplainRows, name: str, *, fill: Callable[[Entry, Asked], Asked]) -> ExplainAnswer:
    """Explain why one document of a request is above another, after `fill` has completed the features."""
    from podium.explanation.explain import explain as explain_pair

    X = json_matrix([document.features for document in request.documents], request.features, entry)
    asked = Asked(X, ids_of(request.documents), request.query, query_features=request.query_features)
    data = _dataset(fill(entry, asked), entry)
    if not len(asked.X):
        raise RequestError("documents: two of them are needed to compare; got none.")
    reasons = explain_pair(entry.model, data, query=data.query_name(0), documents=request.pair).to_dict()
    return msgspec.convert({**reasons, "request": name, "model": entry.key, "query": request.query}, ExplainAnswer)


def ids_of(documents: Sequence[Row]) -> list[str] | None:
    """Ids of documents: None if none has one; if some have, the others get their index."""
    ids: list[Any] = [document.id for document in documents]
    kinds = set(map(type, ids))
    if kinds <= {type(None)}:
        return None
    texts = ids if kinds == {str} else [str(place) if id is None else str(id) for place, id in enumerate(ids)]
    repeated = first_repeated(texts)
    if repeated is not None:
        raise RequestError(f"two documents have the id {repeated!r}. Give each its own, or none.", where="documents")
    return texts


def json_matrix(rows: Sequence[msgspec.Raw], names: msgspec.Raw | UnsetType, entry: Entry) -> Singles:
    """Decode the features of documents from raw JSON lists or objects, in the model's order; NaN if one is missing.

    Documents are decoded one by one, so that other threads can work in between.
    """  # (n, d)
    d = entry.model.n_features
    columns = _named_columns(names, entry)
    width = d if columns is None else len(columns)
    X = np.full((len(rows), d), np.nan, np.float32)
    with np.errstate(over="ignore"):  # a number that is too large becomes infinite, and is refused below
        for place, row in enumerate(rows):
            features = _features_of(row, place, entry)
            if isinstance(features, list) and len(features) == width:
                X[place, slice(None) if columns is None else columns] = features
                continue
            where = f"documents[{place}].features"
            if isinstance(features, list):
                expected = f"{entry.key} has {width}" if columns is None else f"'features' names {width}"
                raise RequestError(f"{counted(len(features), 'number')}, but {expected}.", where=where)
            X[place, _columns(features, entry, where)] = list(features.values())
    return _checked(X, entry)


def array_matrix(X: Any, entry: Entry, names: Sequence[str] | None = None) -> Singles:
    """Order the columns of an array, named by `names`, as the model's features; by default they are in that order."""
    if X.ndim != 2:
        raise RequestError(f"a matrix (documents × features) is needed; got shape {X.shape}.")
    d = entry.model.n_features
    with np.errstate(over="ignore"):
        if names is not None:
            named, X = X, np.full((len(X), d), np.nan, np.float32)
            X[:, _columns(names, entry, "columns")] = named
        if X.shape[1] != d:
            raise RequestError(f"{X.shape[1]} features, but {entry.key} was trained with {d}.")
        return _checked(np.require(X, np.float32, ["C", "W"]), entry)  # compiled code takes no read-only arrays


def _features_of(row: msgspec.Raw, place: int, entry: Entry) -> Features:
    """Decode the features of a document, after counting them."""
    if bytes(row).count(b",") > entry.commas:
        raise RequestError(
            f"more values than {entry.key} has features ({entry.model.n_features}).",
            where=f"documents[{place}].features",
        )
    try:
        return decoded(_features, row)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        raise msgspec.ValidationError(f"{what} - at `$.documents[{place}].features{where or '`'}") from None


def _named_columns(raw: msgspec.Raw | UnsetType, entry: Entry) -> list[int] | None:
    """Columns of the features that a request names for all its documents; None if it names none."""
    if raw is UNSET:
        return None
    if bytes(raw).count(b",") > entry.commas:
        raise RequestError(f"more names than {entry.key} has features.", where="features")
    names = decoded(_names, raw)
    if names is None:
        return None
    columns = _columns(names, entry, "features")
    repeated = first_repeated(names)
    if repeated is not None:
        raise RequestError(f"feature {repeated!r} is named twice.", where="features")
    return columns


def _columns(names: Iterable[str], entry: Entry, where: str) -> list[int]:
    """Columns of features, by name."""
    try:
        return [entry.columns[name] for name in names]
    except KeyError as error:
        unknown = UnknownNameError("feature", error.args[0][:100], entry.columns, see=f"GET /v1/models/{entry.name}")
        raise RequestError(str(unknown), where=where) from None


def _checked(X: Singles, entry: Entry) -> Singles:
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0].tolist()
        raise RequestError(
            f"feature {entry.feature_names[column]!r} of document {row} is infinite, or too large for a number of 32 "
            "bits. Send null if a value is missing.",
            where=f"documents[{row}].features",
        )
    return X


def _dataset(asked: Asked, entry: Entry) -> Dataset:
    n = len(asked.X)
    ids = None if asked.ids is None else np.array(asked.ids, dtype=object)
    data = Dataset(asked.X, None, np.array([0, n]), query_ids=np.array([asked.query], object), document_ids=ids)
    return with_query_features(data, asked.query_features, entry)


def _add_odds(entry: Entry, data: Dataset, scores: Array, best: Ints, answer: RankAnswer) -> None:
    """Add probabilities of ranks; if the model has none, `odds` is null and `odds_note` says why."""
    try:
        odds = entry.model.distribution(data, scores=scores)
    except IncompatibleError as error:
        answer.odds, answer.odds_note = None, str(error)
        return
    summary, answer.odds = odds.summary(), odds.how
    first, low, high = (getattr(summary, key)[best].tolist() for key in ("first", "low", "high"))
    for result, p, a, b in zip(answer.results, first, low, high, strict=True):
        result.p_first, result.rank_interval = p, (a, b)


def _explain(entry: Entry, data: Dataset, best: Ints, answer: RankAnswer) -> None:
    """Add each feature's share of a document's score, compared with the mean document of the request."""
    from podium.explanation.attribution import shares_over_mean

    attribution = shares_over_mean(entry.model, data, best)
    if attribution is None:
        raise DataError(f"the scores of {entry.key} cannot be taken apart by feature. Ask without explain.")
    answer.shares = f"{attribution.how}, to the mean of the documents"
    for result, shares in zip(answer.results, attribution.shares.tolist(), strict=True):
        result.shares = {name: share for name, share in zip(entry.feature_names, shares, strict=True) if share != 0}
