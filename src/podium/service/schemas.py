"""Schemas: what goes over the wire, and nothing else. `/openapi.json` is made from these structs."""

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
    """What went wrong (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    where: str | None = None


class Document(Struct, forbid_unknown_fields=True):
    """A document to rank."""

    features: Features
    id: Id | int | None = None
    """Its place in the request, from 0, if not given."""


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
    log: bool = True
    """Whether what is shown is kept, where the service keeps feedback."""


class Row(Struct, forbid_unknown_fields=True):
    """A document whose features are still JSON."""

    features: msgspec.Raw
    id: Id | int | None = None


class RankRows(RankRequest, forbid_unknown_fields=True, kw_only=True):
    """A request whose features are still JSON: it is read in a third of the time, without an object for each."""

    documents: list[Row]  # type: ignore[assignment]
    features: msgspec.Raw | UnsetType = UNSET  # type: ignore[assignment]


class BatchRequest(Struct, forbid_unknown_fields=True):
    """Several queries at once; each has its own answer."""

    queries: list[RankRequest]


class Result(Struct, omit_defaults=True):
    """A document, ranked. Documents with equal scores share a rank (1, 2, 2, 3)."""

    id: str
    index: int
    rank: int
    score: float
    p_first: float | UnsetType = UNSET
    rank_interval: tuple[int, int] | UnsetType = UNSET
    shares: dict[str, float] | UnsetType = UNSET


class RankAnswer(Struct, omit_defaults=True, kw_only=True):
    """Documents, best first."""

    request: str
    model: str
    results: list[Result]
    odds: str | UnsetType = UNSET
    shares: str | UnsetType = UNSET
    experiment: str | UnsetType = UNSET
    """The experiment that the answer is part of. If it interleaves, scores and odds are the control's."""
    took_ms: float


class BatchAnswer(Struct):
    """The answers to a batch, in its order."""

    answers: list[RankAnswer]
    took_ms: float


class ExplainRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Why is one document above another?"""

    documents: list[Document]
    pair: tuple[Id, Id]
    model: Name = "default"
    query: Annotated[str, Meta(max_length=4096)] = ""
    features: list[str] | None = None


class ExplainRows(ExplainRequest, forbid_unknown_fields=True, kw_only=True):
    """A request whose features are still JSON."""

    documents: list[Row]  # type: ignore[assignment]
    features: msgspec.Raw | UnsetType = UNSET  # type: ignore[assignment]


class ExplainedDocument(Struct):
    """One of the two documents."""

    document: str
    score: float
    rank: int
    grade: float | None = None


class Share(Struct):
    """What a feature adds to the difference of two scores."""

    feature: str
    share: float
    values: tuple[float | None, float | None]


class FlipAnswer(Struct, rename={"start": "from", "end": "to"}):
    """The smallest change of one feature that turns the pair round."""

    feature: str
    start: float
    end: float
    spreads: float
    range: tuple[float, float] | None = None


class ExplainAnswer(Struct, kw_only=True):
    """What each feature adds to the difference of two documents' scores."""

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
    """A search of the index that the service was started with."""

    query: Annotated[str, Meta(max_length=4096)]
    k: Annotated[int, Meta(ge=1, le=1000)] = 10
    model: Name | None = None
    by: Annotated[str, Meta(max_length=256)] | None = None
    explain: bool = False
    user: Annotated[str, Meta(max_length=256)] | None = None
    log: bool = True
    """Whether what is shown is kept, where the service keeps feedback."""


class Found(Struct, omit_defaults=True, kw_only=True):
    """A document that was found."""

    id: str
    rank: int
    score: float
    document: dict[str, Any]
    snippet: str
    marks: list[tuple[int, int]]
    first_stage: int | UnsetType = UNSET
    features: dict[str, float | None] | UnsetType = UNSET
    shares: dict[str, float] | UnsetType = UNSET


class SearchAnswer(Struct, omit_defaults=True, kw_only=True):
    """Documents found, best first."""

    request: str
    model: str | None
    results: list[Found]
    unknown: list[str]
    shares: str | UnsetType = UNSET
    took_ms: float


class ModelAbout(Struct, kw_only=True):
    """A model on the shelf."""

    model: str
    learner: str
    n_features: int
    feature_names: list[str] | None
    sha256: str
    bytes: int
    aliases: list[str]


class ModelList(Struct):
    """All models and aliases."""

    models: list[ModelAbout]
    aliases: dict[str, str]


class DeletedModels(Struct):
    """The models that were taken off the shelf."""

    deleted: list[str]


class AliasRequest(Struct, forbid_unknown_fields=True):
    """The model that an alias is to name."""

    model: Name


class Comparison(Struct):
    """Two models on the last requests that were ranked."""

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
    """Something a person did with a document that was shown, or a judge's grade."""

    kind: Kind
    id: Id
    request: Annotated[str, Meta(max_length=80)] = ""
    """The `request` of the answer; a judgment may name its query instead."""
    query: Annotated[str, Meta(max_length=4096)] = ""
    value: float | None = None
    """Seconds of a dwell, the worth of a purchase, the grade of a judgment."""
    who: Annotated[str, Meta(max_length=256)] = ""
    event: Annotated[str, Meta(max_length=128)] = ""
    """Tells two events apart that are otherwise the same; without it, the second is taken as a retry."""
    time: Annotated[int, Meta(ge=0, le=4_102_444_800_000)] | None = None
    """Milliseconds since 1970; now if not given."""


class FeedbackRequest(Struct, forbid_unknown_fields=True):
    """Events, written all or none."""

    events: Annotated[list[Event], Meta(max_length=1000)]


class FeedbackAnswer(Struct):
    """How many events are on disk now, how many of them were there before, and how many name an unknown request."""

    accepted: int
    repeated: int
    unknown: int


class DeletedAnswer(Struct):
    """How many rows were deleted."""

    impressions: int
    events: int


class QueryList(Struct):
    """Queries of the data that the service was started with."""

    queries: list[str]
    total: int


class QueryDocuments(Struct, kw_only=True):
    """The documents of a query, as `POST /v1/rank` takes them, with grades where there are any."""

    query: str
    features: list[str]
    documents: list[Document]
    grades: list[float] | None


class Health(Struct, omit_defaults=True):
    """Whether the service is alive, or ready."""

    status: Literal["live", "ready"]


def to_json(value: Any) -> bytes:
    """A value of the wire as bytes."""
    return msgspec.json.encode(value)
