"""Page schemas: what goes over the wire for judgments, measures, and the page itself."""

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
    """The judge; the name of the key if not given."""


class JudgmentRequest(Struct, forbid_unknown_fields=True):
    """Judgments, written all or none."""

    judgments: Annotated[list[JudgmentGiven], Meta(max_length=1000)]


class JudgmentAnswer(Struct):
    """How many judgments are on disk now, and when that was, in ms since 1970."""

    accepted: int
    time: int


class JudgmentKept(Struct):
    """The grade that a judge gave."""

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
    """How far judges agree beyond chance: 1 is always, 0 is by chance."""

    name: str
    value: float | None
    interval: tuple[float | None, float | None]
    documents: int


class JudgmentList(Struct, kw_only=True):
    """Judgments, the newest last, at most 10,000; where judges differ, at most 100; how far they agree."""

    judgments: list[JudgmentKept]
    total: int
    judges: dict[str, int]
    disagreements: list[DisagreementAnswer]
    agreement: AgreementAnswer | None
    """Null for one query, and where no document has two grades."""


class MeasuredModel(Struct):
    """The mean of a metric over the queries that count, with a 95 % interval where there are two or more."""

    model: str
    mean: float | None
    interval: tuple[float, float] | None
    queries: int


class Difference(Struct, kw_only=True):
    """Two models, paired by query: the mean difference with a 95 % interval, and p of a randomisation test."""

    better: str
    worse: str
    difference: float
    interval: tuple[float, float]
    p: float
    significant: bool
    wins: int
    ties: int
    losses: int


class Measured(Struct):
    """A metric of each model."""

    metric: str
    convention: str
    models: list[MeasuredModel]
    difference: Difference | None


class MeasuredQuery(Struct):
    """A query: how many of its documents have a grade, and the values of each metric for each model."""

    query: str
    graded: int
    values: list[list[float | None]]


Grades = Literal["judges", "data"]


class MeasuresAnswer(Struct):
    """How well models rank the queries that have grades; `left_out` queries cannot be ranked by them."""

    grades: Grades
    models: list[str]
    metrics: list[Measured]
    queries: list[MeasuredQuery]
    left_out: int


class Caller(Struct):
    """Whose key it is."""

    name: str
    role: str


class AboutAnswer(Struct, kw_only=True):
    """What the service was started with, and who asks."""

    podium: str
    caller: Caller
    queries: int | None
    """Of the data; null where there is none."""
    graded: bool
    """Whether the data has grades."""
    documents: int | None
    """Of the index; null where there is none."""
    store: bool
    """Whether feedback and judgments are kept."""
