"""Protocols of other servers: re-ranking requests of Cohere, Jina and TEI, and KServe's inference protocol, version 2.

Documents are texts or objects with the fields of the index, for a model that was trained on features of the service's
index; or they hold features: objects with `features` (and `id`), or texts with such an object as JSON, since some
clients send nothing else. Other fields are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import NDArray

from podium.base.arrays import Array, Singles
from podium.base.errors import counted
from podium.base.version import version
from podium.data.dataset import Dataset
from podium.service.bodies import check_count
from podium.service.domain_errors import RequestError, TooLargeError
from podium.service.models.model_store import Entry
from podium.service.problems import decoded
from podium.service.rank_request import json_matrix
from podium.service.schemas import Count, Id, Name, RankAnswer, RankRows, Row


class RerankRequest(Struct, kw_only=True):
    """Re-ranking request of Cohere, Jina, vLLM or LiteLLM (`documents`), or of TEI (`texts`)."""

    query: Annotated[str, Meta(max_length=4096)]
    documents: list[str | dict[str, Any]] | UnsetType = UNSET
    texts: list[str] | UnsetType = UNSET
    model: Name | None = None
    top_n: Count | None = None
    return_documents: bool | None = None
    return_text: bool | None = None
    raw_scores: bool | None = None
    calibrated: bool | None = None
    """Whether to answer with probabilities of the best grade, from models that fit one, and not with scores."""


class RerankRows(RerankRequest, kw_only=True):
    """A re-ranking request whose documents are still raw JSON."""

    documents: list[msgspec.Raw] | UnsetType = UNSET  # type: ignore[assignment]
    texts: list[msgspec.Raw] | UnsetType = UNSET  # type: ignore[assignment]

    @property
    def items(self) -> list[msgspec.Raw]:
        """The documents, sent as `documents` or as `texts`."""
        if self.documents is not UNSET:
            return self.documents
        if self.texts is not UNSET:
            return self.texts
        raise RequestError("documents are needed (or texts, as TEI calls them).")


class RerankResult(Struct, omit_defaults=True):
    """A document: its index in the request, and its score, or if asked for the probability of the best grade."""

    index: int
    relevance_score: float
    document: dict[str, Any] | UnsetType = UNSET


class RerankAnswer(Struct):
    """Documents, best first."""

    id: str
    results: list[RerankResult]
    meta: dict[str, str]


class TeiResult(Struct, omit_defaults=True):
    """A text: its index in the request and its score."""

    index: int
    score: float
    text: str | UnsetType = UNSET


class Tensor(Struct, kw_only=True):
    """An array: its shape, and flat or nested numbers."""

    name: Annotated[str, Meta(max_length=256)]
    shape: list[Annotated[int, Meta(ge=0, le=2**31)]]
    datatype: Annotated[str, Meta(max_length=16)]
    data: list[Any]


class TensorRead(Struct, kw_only=True):
    """An array whose numbers are still raw JSON."""

    name: Annotated[str, Meta(max_length=256)]
    shape: msgspec.Raw
    datatype: Annotated[str, Meta(max_length=16)]
    data: msgspec.Raw


class InferRequest(Struct, kw_only=True):
    """Features of documents, and the query of each (`qid`); without it, all are of one query."""

    inputs: list[Tensor]
    id: Annotated[str, Meta(max_length=256)] | None = None


class InferRows(Struct, kw_only=True):
    """An inference request whose numbers are still raw JSON."""

    inputs: list[TensorRead]
    id: Annotated[str, Meta(max_length=256)] | None = None


class InferAnswer(Struct, kw_only=True, omit_defaults=True):
    """Scores of the documents, in the order of the request."""

    model_name: str
    model_version: str
    id: str | None = None
    outputs: list[Tensor]


class ServerAbout(Struct):
    """Server metadata of KServe."""

    name: str
    version: str
    extensions: list[str]


class TensorAbout(Struct):
    """Name, type and shape of an array."""

    name: str
    datatype: str
    shape: list[int]


class InferAbout(Struct):
    """Model metadata of KServe."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorAbout]
    outputs: list[TensorAbout]


def rank_request(request: RerankRows) -> RankRows:
    """Convert a re-ranking request to a rank request."""
    documents = [_document(raw, place) for place, raw in enumerate(request.items)]
    return RankRows(documents=documents, query=request.query, model=request.model or "default", k=request.top_n)


def holds_features(request: RerankRows) -> bool:
    """Whether the first document holds features, and so all must."""
    if not request.items or len(bytes(request.items[0])) > _LONGEST:  # which is refused later
        return True
    try:
        _features(request.items[0])
    except msgspec.MsgspecError:
        return False
    return True


def texts_of(request: RerankRows) -> list[str | dict[str, Any]]:
    """The documents as texts, or as dicts with fields; an object with nothing but `text` is a text."""
    texts: list[str | dict[str, Any]] = []
    if sum(len(bytes(raw)) for raw in request.items) > _ALL_TEXTS:
        raise TooLargeError(f"documents of more than {_ALL_TEXTS} bytes in all. Send less at once.")
    for place, raw in enumerate(request.items):
        _check_size(raw, f"documents[{place}]")
        document = decoded(_any, raw)
        if not isinstance(document, str | dict):
            raise RequestError("a document is a text or an object with fields.", where=f"documents[{place}]")
        plain = isinstance(document, dict) and set(document) == {"text"} and isinstance(document["text"], str)
        texts.append(document["text"] if plain and isinstance(document, dict) else document)
    return texts


def rerank_answer(request: RerankRows, answer: RankAnswer, chances: Array | None = None) -> RerankAnswer:
    """Answer in Cohere's format; `chances` are the probabilities of the best grade of all documents, if asked for."""
    results = []
    for ranked in answer.results:
        result = RerankResult(ranked.index, ranked.score if chances is None else float(chances[ranked.index]))
        if request.return_documents:
            document = decoded(_any, request.items[ranked.index])
            result.document = {"text": document} if isinstance(document, str) else document
        results.append(result)
    return RerankAnswer(answer.request, results, {"model": answer.model})


def tei_answer(request: RerankRows, answer: RankAnswer, chances: Array | None = None) -> list[TeiResult]:
    """Answer in TEI's format; `chances` as for `rerank_answer`."""
    results = []
    for ranked in answer.results:
        text = decoded(_any, request.items[ranked.index]) if request.return_text else UNSET
        score = ranked.score if request.raw_scores else squashed(ranked.score)
        score = score if chances is None else float(chances[ranked.index])
        results.append(TeiResult(ranked.index, score, text))
    return results


def squashed(score: float) -> float:
    """Sigmoid 1/(1 + e^−score): from 0 to 1, in the order of the scores."""
    return 0.5 * (1.0 + math.tanh(0.5 * score))


def infer(entry: Entry, request: InferRows, *, most: int) -> InferAnswer:
    """Score the documents of a KServe inference request."""
    inputs = {tensor.name: tensor for tensor in request.inputs}
    qid = inputs.pop("qid", None)
    if len(inputs) != 1 or len(request.inputs) != 1 + (qid is not None):
        raise RequestError("one input of features is needed, and also qid if there are several queries.")
    X = _matrix(next(iter(inputs.values())), entry, most)
    queries = None if qid is None else _queries(qid, most)
    scores = entry.model.score(Dataset.from_arrays(X, qid=queries)) if len(X) else np.empty(0)
    output = Tensor(name="score", shape=[len(scores)], datatype="FP64", data=scores.tolist())
    return InferAnswer(model_name=entry.name, model_version=str(entry.version), id=request.id, outputs=[output])


def about_server() -> ServerAbout:
    """Server metadata, for `GET /v2`."""
    return ServerAbout("podium", version(), [])


def about_model(name: str, entry: Entry, versions: Sequence[Entry]) -> InferAbout:
    """Model metadata, for `GET /v2/models/NAME`; -1 is any number of documents."""
    return InferAbout(
        name,
        [str(other.version) for other in versions] or [str(entry.version)],
        "podium",
        [TensorAbout("features", "FP32", [-1, entry.model.n_features]), TensorAbout("qid", "INT64", [-1])],
        [TensorAbout("score", "FP64", [-1])],
    )


class _Text(Struct):
    """A document of another protocol: only the fields that podium uses."""

    features: msgspec.Raw
    id: Id | int | None = None


_any, _text, _shape = msgspec.json.Decoder(), msgspec.json.Decoder(_Text), msgspec.json.Decoder(list[int])
_rows, _queries_of = msgspec.json.Decoder(list[msgspec.Raw]), msgspec.json.Decoder(list[int | str])
_LONGEST = 1_000_000
"""Largest size in bytes of a document of another protocol, and of all queries of a request."""
_ALL_TEXTS = 4_000_000
"""Largest size in bytes of all texts of a request: searches wait while they are read."""
_NUMBERS = ("FP16", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64")
_WHOLE = ("INT64", "INT32", "BYTES")


def _document(raw: msgspec.Raw, place: int) -> Row:
    where = f"documents[{place}]"
    _check_size(raw, where)
    try:
        document = _features(raw)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise RequestError(
            "a document is an object with features, or a text that holds one as JSON, e.g. "
            f'{{"id": "D1", "features": [1.5, 0.2]}}: this model ranks features, not texts ({error}). Texts are ranked '
            "by a model that was trained on features of the service's index: podium serve my.index MODEL",
            where=where,
        ) from None
    return Row(document.features, document.id)


def _features(raw: msgspec.Raw) -> _Text:
    """The features of a document; raises an error of msgspec if it holds none."""
    document = decoded(_text, decoded(_any, raw) if bytes(raw)[:1] == b'"' else raw)
    if bytes(document.features)[:1] not in (b"[", b"{"):
        raise msgspec.ValidationError("its features are neither a list nor an object")
    return document


def _check_size(raw: msgspec.Raw, where: str) -> None:
    if len(bytes(raw)) > _LONGEST:
        raise TooLargeError(f"a document of more than {_LONGEST} bytes.", where=where)


def _matrix(tensor: TensorRead, entry: Entry, most: int) -> Singles:
    """Features of documents, from flat numbers or numbers nested as the shape."""  # (n, d)
    shape, where = _shape_of(tensor, _NUMBERS), f"inputs {tensor.name[:100]!r}"
    d = entry.model.n_features
    if len(shape) != 2 or shape[1] != d:
        raise RequestError(f"shape [documents, {d}] is needed for {entry.key}; got {shape}.", where=where)
    check_count(shape[0], most)
    if bytes(tensor.data).count(b",") > max(0, shape[0] * d - 1):
        raise RequestError(f"more numbers than shape {shape} has.", where=where)
    try:
        rows = decoded(_rows, tensor.data)
        if rows and bytes(rows[0])[:1] != b"[" and len(rows) == shape[0] * d:
            rows = [msgspec.Raw(b"[%b]" % b",".join(map(bytes, rows[k * d : k * d + d]))) for k in range(shape[0])]
        if len(rows) != shape[0]:
            raise RequestError(f"{len(rows)} numbers or rows for shape {shape}.", where=where)
        return json_matrix(rows, UNSET, entry)
    except msgspec.MsgspecError as error:
        words = str(error).partition(" - at ")[0]
        raise RequestError(f"data must be numbers, flat or nested as the shape ({words}).", where=where) from None


def _queries(tensor: TensorRead, most: int) -> NDArray[Any]:
    """Query of each document, as text."""
    shape, where = _shape_of(tensor, _WHOLE), f"inputs {tensor.name[:100]!r}"
    if math.prod(shape) > most or len(bytes(tensor.data)) > _LONGEST:
        raise TooLargeError(f"shape {shape}; at most {most} documents are ranked at once.", where=where)
    try:
        values = decoded(_queries_of, tensor.data)
    except msgspec.MsgspecError:
        raise RequestError("data must be a list of whole numbers or texts.", where=where) from None
    if math.prod(shape) != len(values) or len(set(map(type, values))) > 1:
        raise RequestError(f"{counted(len(values), 'value')} of one kind for shape {shape}.", where=where)
    return np.array(list(map(str, values)), object)


def _shape_of(tensor: TensorRead, kinds: Sequence[str]) -> list[int]:
    where = f"inputs {tensor.name[:100]!r}"
    if tensor.datatype not in kinds:
        raise RequestError(f"datatype {tensor.datatype}; {' or '.join(kinds)} is needed.", where=where)
    try:
        shape = decoded(_shape, tensor.shape) if len(bytes(tensor.shape)) <= 100 else []
    except msgspec.MsgspecError:
        shape = []
    if not 1 <= len(shape) <= 2 or min(shape) < 0:
        raise RequestError("a shape has one or two whole numbers from 0.", where=where)
    return shape
