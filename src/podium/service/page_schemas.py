"""Requests and answers of the web interface: judgments, metrics, and facts about the service."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from podium.service.schemas import Id


class JudgmentGiven(Struct, forbid_unknown_fields=True, kw_only=True):
    """A grade for a document of a query; null takes the judge's grade back."""

    query: Annotated[str, Meta(min_length=1, max_length=4096)]
    id: Id
    grade: Annotated[float, Meta(ge=0, le=1000)] | None
    who: Annotated[str, Meta(max_length=256)] = ""
    """The judge; by default the name of the key."""


class JudgmentRequest(Struct, forbid_unknown_fields=True):
    """Judgments, written all or none."""

    judgments: Annotated[list[JudgmentGiven], Meta(max_length=1000)]


class JudgmentAnswer(Struct):
    """Number of judgments written to disk, and the time, in ms since 1970."""

    accepted: int
    time: int


class JudgmentKept(Struct):
    """Judgment: the grade that a judge gave."""

    query: str
    id: str
    who: str
    grade: float
    time: int


class DisagreementAnswer(Struct):
    """A document that judges graded differently."""

    query: str
    id: str
    grades: dict[str, float]


class AgreementAnswer(Struct):
    """Agreement of judges beyond chance: 1 is always, 0 is by chance."""

    name: str
    value: float | None
    interval: tuple[float | None, float | None]
    documents: int


class JudgmentList(Struct, kw_only=True):
    """Judgments, newest last, at most 10,000; disagreements, at most 100; agreement of the judges."""

    judgments: list[JudgmentKept]
    total: int
    judges: dict[str, int]
    disagreements: list[DisagreementAnswer]
    agreement: AgreementAnswer | None
    """Null for one query, and if no document has two grades."""


class MeasuredModel(Struct):
    """Mean of a metric over the queries that count, with a 95 % interval if there are two or more."""

    model: str
    mean: float | None
    interval: tuple[float, float] | None
    queries: int


class Difference(Struct, kw_only=True):
    """Paired comparison of two models: mean difference with a 95 % interval, and p of a randomisation test."""

    better: str
    worse: str
    difference: float
    interval: tuple[float, float]
    p: float
    significant: bool
    wins: int
    ties: int
    losses: int
    on_training_data: bool
    """Whether one of the two is measured on its own training data, so that the difference is no verdict."""


class Measured(Struct):
    """A metric of each model."""

    metric: str
    convention: str
    models: list[MeasuredModel]
    difference: Difference | None


class MeasuredQuery(Struct):
    """A query: its number of judged documents, and the value of each metric for each model."""

    query: str
    graded: int
    values: list[list[float | None]]


Grades = Literal["judges", "data"]


class MeasuresAnswer(Struct):
    """Metrics of models on the judged queries; `left_out` queries cannot be ranked by them."""

    grades: Grades
    models: list[str]
    metrics: list[Measured]
    queries: list[MeasuredQuery]
    left_out: int
    on_training_data: list[str]
    """Models that were trained on queries that they are measured on; their metrics are too good."""
    notes: list[str]
    """What to know before reading the metrics, a sentence each."""


class Caller(Struct):
    """Name and role of the caller's key."""

    name: str
    role: str


class AboutAnswer(Struct, kw_only=True):
    """Data and index of the service, and its caller."""

    podium: str
    caller: Caller
    queries: int | None
    """Number of queries of the data; null if there is none."""
    graded: bool
    """Whether the data has grades."""
    documents: int | None
    """Number of documents of the index; null if there is none."""
    store: bool
    """Whether feedback and judgments are stored."""
    scale: int
    """Highest grade that judges give; the lowest is 0."""
    guidelines: str
    """Guidelines for judges; empty if there are none."""
