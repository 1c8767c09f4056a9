"""Schemas of requests and answers; `/openapi.json` is generated from these structs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Id = Annotated[str, Meta(min_length=1, max_length=256)]
Name = Annotated[str, Meta(min_length=1, max_length=160, description="An alias, a model's name, or name@version.")]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Features = list[float | None] | dict[str, float | None]
"""In the order of the model's features, or by name; null is a missing value."""


class ProblemDetails(Struct, omit_defaults=True, kw_only=True):
    """Problem details of an error (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    where: str | None = None
    message: str | None = None
    """The detail, where Cohere's clients look for it."""
    error: str | None = None
    """The detail, where TEI's clients look for it."""
    error_type: str | None = None


class Document(Struct, forbid_unknown_fields=True):
    """A document to rank."""

    features: Features
    id: Id | int | None = None
    """By default its index in the request, from 0."""


class RankRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Documents of one query."""

    documents: list[Document]
    model: Name = "default"
    query: Annotated[str, Meta(max_length=4096)] = ""
    user: Annotated[str, Meta(max_length=256)] | None = None
    k: Count | None = None
    odds: bool = False
    explain: bool = False
    features: list[str] | None = None
    query_features: dict[str, float | str] | None = None
    """Numbers and words that describe the query, for models that were trained with them."""
    log: bool = True
    """Whether the answer is logged as an impression, if the service stores feedback; later pages never are."""


class Row(Struct, forbid_unknown_fields=True):
    """A document whose features are still raw JSON."""

    features: msgspec.Raw
    id: Id | int | None = None


class RankRows(RankRequest, forbid_unknown_fields=True, kw_only=True):
    """A rank request whose features are still raw JSON: decoded in a third of the time, without an object for each."""

    documents: list[Row]  # type: ignore[assignment]
    features: msgspec.Raw | UnsetType = UNSET  # type: ignore[assignment]


class BatchRequest(Struct, forbid_unknown_fields=True):
    """Batch of queries; each has its own answer."""

    queries: list[RankRequest]


class Result(Struct, omit_defaults=True):
    """A ranked document. Documents with equal scores share a rank (1, 2, 2, 3)."""

    id: str
    index: int
    rank: int
    score: float
    p_first: float | UnsetType = UNSET
    rank_interval: tuple[int, int] | UnsetType = UNSET
    shares: dict[str, float] | UnsetType = UNSET


class RankAnswer(Struct, omit_defaults=True, kw_only=True):
    """Ranked documents, best first."""

    request: str
    model: str
    results: list[Result]
    odds: str | UnsetType | None = UNSET
    """Distribution over rankings that probabilities are of, if asked for; null if the model has none."""
    odds_note: str | UnsetType = UNSET
    """Why the model has no odds."""
    shares: str | UnsetType = UNSET
    experiment: str | UnsetType = UNSET
    """Experiment that the answer is part of; in an interleaving, scores and odds are those of the control."""
    took_ms: float


class BatchAnswer(Struct):
    """Answers to a batch, in its order."""

    answers: list[RankAnswer]
    took_ms: float


class ExplainRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Question why one document is above another."""

    documents: list[Document]
    pair: tuple[Id, Id]
    model: Name = "default"
    query: Annotated[str, Meta(max_length=4096)] = ""
    features: list[str] | None = None
    query_features: dict[str, float | str] | None = None


class ExplainRows(ExplainRequest, forbid_unknown_fields=True, kw_only=True):
    """An explain request whose features are still raw JSON."""

    documents: list[Row]  # type: ignore[assignment]
    features: msgspec.Raw | UnsetType = UNSET  # type: ignore[assignment]


class ExplainedDocument(Struct):
    """One of the two explained documents."""

    document: str
    score: float
    rank: int
    grade: float | None = None


class Share(Struct):
    """Share of a feature in the difference of two scores."""

    feature: str
    share: float
    values: tuple[float | None, float | None]


class FlipAnswer(Struct, rename={"start": "from", "end": "to"}):
    """Smallest change of one feature that swaps the pair."""

    feature: str
    start: float
    end: float
    spreads: float
    range: tuple[float, float] | None = None


class ExplainAnswer(Struct, kw_only=True):
    """Share of each feature in the difference of two documents' scores."""

    request: str
    model: str
    query: str
    documents: list[ExplainedDocument]
    difference: float
    how: str
    features: list[Share]
    others: float
    rest: float
    flip: FlipAnswer | None


class SearchRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Search in the index of the service."""

    query: Annotated[str, Meta(max_length=4096)] | None = None
    like: Annotated[str, Meta(max_length=1024)] | None = None
    """The id of a document, in place of a query: documents like it are found."""
    k: Annotated[int, Meta(ge=1, le=1000)] = 10
    offset: Annotated[int, Meta(ge=0, le=10_000)] = 0
    where: Annotated[list[Annotated[str, Meta(max_length=1024)]], Meta(max_length=16)] = []
    """Filters on stored fields, such as `year>=1990`; documents satisfy all of them."""
    sort: Annotated[str, Meta(max_length=1024)] | None = None
    """A stored field by which results are ordered, in place of the score; `-price` is the highest first."""
    facets: Annotated[list[Annotated[str, Meta(max_length=1024)]], Meta(max_length=16)] = []
    """Stored fields whose most frequent values among all results are counted."""
    model: Name | None = None
    by: Annotated[str, Meta(max_length=256)] | None = None
    syntax: bool = False
    """Whether the query is in the query language: phrases, `+must -not title:word prefix* fuzzi~1`."""
    explain: bool = False
    user: Annotated[str, Meta(max_length=256)] | None = None
    log: bool = True
    """Whether the answer is logged as an impression, if the service stores feedback."""


class Found(Struct, omit_defaults=True, kw_only=True):
    """A document found by a search."""

    id: str
    rank: int
    score: float
    document: dict[str, Any]
    snippet: str
    marks: list[tuple[int, int]]
    first_stage: int | UnsetType = UNSET
    features: dict[str, float | None] | UnsetType = UNSET
    shares: dict[str, float] | UnsetType = UNSET


class FacetValue(Struct, kw_only=True):
    """A value of a stored field, and the number of results that have it."""

    value: str | float
    documents: int


class SearchAnswer(Struct, omit_defaults=True, kw_only=True):
    """Documents found, best first."""

    request: str
    model: str | None
    experiment: str | UnsetType = UNSET
    """The A/B test or interleaving that the search is part of."""
    results: list[Found]
    unknown: list[str]
    did_you_mean: str | UnsetType = UNSET
    """The query with its unknown words replaced by near ones."""
    facets: dict[str, list[FacetValue]] | UnsetType = UNSET
    shares: str | UnsetType = UNSET
    expanded: dict[str, float] | UnsetType = UNSET
    """With `explain`: the terms of the expanded query and their weights."""
    took_ms: float


class ModelAbout(Struct, kw_only=True):
    """A model of the model store."""

    model: str
    learner: str
    n_features: int
    feature_names: list[str] | None
    sha256: str
    bytes: int
    aliases: list[str]
    odds: bool
    """Whether its scores give probabilities of ranks: most models need validation data for that."""
    searches: bool
    """Whether it was trained on features of the service's index, so that it can search."""


class ModelList(Struct):
    """All models and aliases."""

    models: list[ModelAbout]
    aliases: dict[str, str]


class DeletedModels(Struct):
    """Models that were deleted from the model store."""

    deleted: list[str]


class AliasRequest(Struct, forbid_unknown_fields=True):
    """New model of an alias."""

    model: Name


class Comparison(Struct):
    """Comparison of two models on the last requests that were ranked."""

    requests: int
    kendall: float | None
    top10_overlap: float | None


class AliasAnswer(Struct, kw_only=True):
    """An alias and its model, before and after."""

    alias: str
    old: str | None
    new: str
    version: int
    tried: Comparison


Kind = Literal["click", "purchase", "dwell", "skip", "judgment"]


class Event(Struct, forbid_unknown_fields=True, kw_only=True):
    """Action of a user on a document that was shown, or a judge's grade."""

    kind: Kind
    id: Id
    request: Annotated[str, Meta(max_length=80)] = ""
    """The `request` of the answer; a judgment may name its query instead."""
    query: Annotated[str, Meta(max_length=4096)] = ""
    value: float | None = None
    """Seconds of a dwell, the worth of a purchase, the grade of a judgment."""
    who: Annotated[str, Meta(max_length=256)] = ""
    event: Annotated[str, Meta(max_length=128)] = ""
    """Distinguishes two events that are otherwise equal; without it, the second counts as a retry."""
    time: Annotated[int, Meta(ge=0, le=4_102_444_800_000)] | None = None
    """Milliseconds since 1970; by default now."""


class FeedbackRequest(Struct, forbid_unknown_fields=True):
    """Events, written all or none."""

    events: Annotated[list[Event], Meta(max_length=1000)]


class FeedbackAnswer(Struct):
    """Numbers of events: written to disk, repeated among them, and of an unknown request."""

    accepted: int
    repeated: int
    unknown: int


class DeletedAnswer(Struct):
    """Numbers of deleted rows."""

    impressions: int
    events: int


class QueryList(Struct):
    """Queries of the service's data, with their numbers of documents and their texts; null for a text not known."""

    queries: list[str]
    total: int
    documents: list[int]
    texts: list[str | None]


class QueryDocuments(Struct, kw_only=True):
    """Documents of a query, in the form of `POST /v1/rank`, with grades if there are any."""

    query: str
    features: list[str]
    documents: list[Document]
    grades: list[float] | None
    text: str | None
    """Text of the query, if it is known."""
    stored: dict[str, dict[str, Any]]
    """Fields of those documents that are in the service's index, by id."""


class Health(Struct, omit_defaults=True):
    """Whether the service is alive, or ready."""

    status: Literal["live", "ready"]


def to_json(value: Any) -> bytes:
    """Encode an answer as JSON."""
    return msgspec.json.encode(value)
