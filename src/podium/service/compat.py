"""Dialects of other servers: the rerank requests of Cohere, Jina and TEI, and KServe's inference protocol, version 2.

Their documents are texts; podium ranks features. A document is an object with `features` (and `id`), or a text that
holds such an object as JSON, since some clients send nothing else. Fields that mean nothing here are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import NDArray

from podium.data.dataset import Dataset
from podium.errors import counted
from podium.service.bodies import check_count, decoded
from podium.service.problems import ServiceError
from podium.service.ranking import checked_matrix
from podium.service.schemas import Count, Document, Name, RankAnswer, RankRequest
from podium.service.shelf import Entry
from podium.version import version


class RerankRequest(Struct, kw_only=True):
    """A rerank request of Cohere, Jina, vLLM or LiteLLM (`documents`), or of TEI (`texts`)."""

    query: Annotated[str, Meta(max_length=4096)]
    documents: list[str | dict[str, Any]] | UnsetType = UNSET
    texts: list[str] | UnsetType = UNSET
    model: Name | None = None
    top_n: Count | None = None
    return_documents: bool | None = None
    return_text: bool | None = None
    raw_scores: bool | None = None

    @property
    def given(self) -> Sequence[str | dict[str, Any]]:
        """The documents, under whichever name."""
        if self.documents is not UNSET:
            return self.documents
        if self.texts is not UNSET:
            return self.texts
        raise ServiceError(422, "documents are needed (or texts, as TEI calls them).")


class RerankResult(Struct, omit_defaults=True):
    """A document: its place in the request, and 1/(1 + e^−score), which is not a probability."""

    index: int
    relevance_score: float
    score: float
    document: dict[str, Any] | UnsetType = UNSET


class RerankAnswer(Struct):
    """Documents, best first."""

    id: str
    results: list[RerankResult]
    meta: dict[str, str]


class TeiResult(Struct, omit_defaults=True):
    """A text: its place in the request and its score."""

    index: int
    score: float
    text: str | UnsetType = UNSET


class Tensor(Struct, kw_only=True):
    """An array: flat or nested numbers, and its shape."""

    name: Annotated[str, Meta(max_length=256)]
    shape: list[Annotated[int, Meta(ge=0, le=2**31)]]
    datatype: Annotated[str, Meta(max_length=16)]
    data: list[Any]


class InferRequest(Struct, kw_only=True):
    """Features of documents, and which query each belongs to (`qid`); without, they are one query."""

    inputs: list[Tensor]
    id: Annotated[str, Meta(max_length=256)] | None = None


class InferAnswer(Struct, kw_only=True, omit_defaults=True):
    """The score of each document, in the order of the request."""

    model_name: str
    model_version: str
    id: str | None = None
    outputs: list[Tensor]


class ServerAbout(Struct):
    """The server, as the protocol describes it."""

    name: str
    version: str
    extensions: list[str]


class TensorAbout(Struct):
    """The name, type and shape of an array."""

    name: str
    datatype: str
    shape: list[int]


class InferAbout(Struct):
    """A model, as the protocol describes it."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorAbout]
    outputs: list[TensorAbout]


def rank_request(request: RerankRequest) -> RankRequest:
    """A request to rerank as one to rank."""
    documents = [_document(one, place) for place, one in enumerate(request.given)]
    return RankRequest(documents=documents, query=request.query, model=request.model or "default", k=request.top_n)


def rerank_answer(request: RerankRequest, answer: RankAnswer) -> RerankAnswer:
    """The answer as Cohere gives it."""
    results = []
    for one in answer.results:
        found = RerankResult(one.index, squashed(one.score), one.score)
        if request.return_documents:
            given = request.given[one.index]
            found.document = {"text": given} if isinstance(given, str) else given
        results.append(found)
    return RerankAnswer(answer.request, results, {"model": answer.model})


def tei_answer(request: RerankRequest, answer: RankAnswer) -> list[TeiResult]:
    """The answer as TEI gives it."""
    found = []
    for one in answer.results:
        text = request.given[one.index] if request.return_text else UNSET
        assert not isinstance(text, dict)
        found.append(TeiResult(one.index, one.score if request.raw_scores else squashed(one.score), text))
    return found


def squashed(score: float) -> float:
    """1/(1 + e^−score), from 0 to 1 and in the order of the scores."""
    return 0.5 * (1.0 + math.tanh(0.5 * score))


def infer(entry: Entry, request: InferRequest, *, most: int) -> InferAnswer:
    """The scores of a request of KServe's protocol."""
    named = {one.name: one for one in request.inputs}
    qid = named.pop("qid", None)
    if len(named) != 1 or len(request.inputs) != 1 + (qid is not None):
        raise ServiceError(422, "one input of features is needed, and qid beside it where there are several queries.")
    X = checked_matrix(_array(next(iter(named.values())), "f", most=most * entry.model.n_features), entry)
    check_count(len(X), most)
    queries = None if qid is None else _array(qid, "i", most=most)
    scores = entry.model.score(Dataset.from_arrays(X, qid=queries)) if len(X) else np.empty(0)
    output = Tensor(name="score", shape=[len(scores)], datatype="FP64", data=scores.tolist())
    return InferAnswer(model_name=entry.name, model_version=str(entry.version), id=request.id, outputs=[output])


def about_server() -> ServerAbout:
    """What `GET /v2` says."""
    return ServerAbout("podium", version(), [])


def about_model(name: str, entry: Entry, versions: Sequence[Entry]) -> InferAbout:
    """What `GET /v2/models/NAME` says; -1 is any number of documents."""
    return InferAbout(
        name,
        [str(one.version) for one in versions] or [str(entry.version)],
        "podium",
        [TensorAbout("features", "FP32", [-1, entry.model.n_features]), TensorAbout("qid", "INT64", [-1])],
        [TensorAbout("score", "FP64", [-1])],
    )


_any = msgspec.json.Decoder()


def _document(given: str | dict[str, Any], place: int) -> Document:
    where = f"documents[{place}]"
    try:
        if isinstance(given, dict):
            known = {key: given[key] for key in ("id", "features") if key in given}
            return msgspec.convert(known, Document)
        found = decoded(_any, given)
        return msgspec.convert({key: found[key] for key in ("id", "features") if key in found}, Document)
    except (msgspec.DecodeError, msgspec.ValidationError, TypeError) as error:
        raise ServiceError(
            422,
            "a document is an object with features, or a text that holds one as JSON, e.g. "
            f'{{"id": "D1", "features": [1.5, 0.2]}}: models here rank features, not texts ({error}).',
            where=where,
        ) from None


_TYPES = {"f": ("FP16", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64"), "i": ("INT64", "INT32", "BYTES")}


def _array(tensor: Tensor, kind: str, *, most: int) -> NDArray[Any]:
    """The numbers of a tensor; of whole numbers and texts, the texts."""
    where = f"inputs {tensor.name[:100]!r}"
    if tensor.datatype not in _TYPES[kind]:
        raise ServiceError(422, f"datatype {tensor.datatype}; {' or '.join(_TYPES[kind])} is needed.", where=where)
    if not 1 <= len(tensor.shape) <= 2:
        raise ServiceError(422, f"a shape of {counted(len(tensor.shape), 'dimension')}; 1 or 2 are read.", where=where)
    if math.prod(tensor.shape) > most:
        raise ServiceError(
            413, f"shape {tensor.shape} has more than {most} numbers. Send fewer documents.", where=where
        )
    nested = bool(tensor.data) and isinstance(tensor.data[0], list)
    rows = tensor.data if nested else [tensor.data]
    try:
        values: list[Any] = [value for row in rows for value in _values(row, kind)]
    except msgspec.ValidationError as error:
        words = str(error).partition(" - at ")[0]
        raise ServiceError(422, f"data must be numbers, flat or nested as the shape ({words}).", where=where) from None
    if math.prod(tensor.shape) != len(values) or (nested and len({len(row) for row in rows}) > 1):
        raise ServiceError(422, f"{counted(len(values), 'number')} for shape {tensor.shape}.", where=where)
    if kind == "f":
        return np.array(values, np.float64).reshape(tensor.shape)
    return np.array(list(map(str, values)), object)


def _values(row: Any, kind: str) -> list[Any]:
    if kind == "f":
        return msgspec.convert(row, list[float | None])
    try:
        return msgspec.convert(row, list[int])
    except msgspec.ValidationError:
        return msgspec.convert(row, list[str])
