"""Schemas of experiments: requests and answers for A/B tests, interleaving and shadows."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from podium.service.schemas import Name

Kind = Literal["shadow", "split", "interleave"]
Why = Literal["asked", "decided", "harm"]


class ExperimentRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Start of an experiment: a candidate against the control, which answers now.

    Each is a model or, for searches, a first stage such as `bm25`.
    """

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    kind: Kind
    candidate: Name
    control: Name = "default"
    method: Annotated[str, Meta(min_length=1, max_length=64)] = "team-draft"
    """Method of interleaving: team-draft or probabilistic."""
    min_pages: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 400
    """Results pages (split: users) before the candidate can be called better."""
    confidence: Annotated[float, Meta(ge=0.5, lt=1)] = 0.95


class Preference(Struct, kw_only=True):
    """Preference of users, by the first results page of each user; without a user, by every page."""

    pages: int
    wins: int
    """Pages in favour of the candidate; losses for the control, ties for neither. The verdict does not use them."""
    losses: int
    ties: int
    credit: float
    """Mean outcome of a page, from -1 to 1: above 0, users prefer the candidate."""
    interval: tuple[float, float] | None
    """Always-valid interval of the credit, at any time. Null if no credit agrees with all pages so far."""
    always_valid_p: float
    """Always-valid p-value of credit 0; at most 1 - confidence if the interval excludes 0."""
    p: float
    """p-value of Student's t test of the credit, valid for one look that was planned before."""


class SplitArm(Struct):
    """Number of users of an arm, and of those who clicked on their first results page."""

    users: int
    clicked: int


class ShadowAbout(Struct, kw_only=True):
    """Candidate compared with the control on the same requests: means."""

    requests: int
    kendall: float | None
    top10_overlap: float | None
    difference: float | None
    """Absolute difference of the scores."""
    ms: float | None
    """Milliseconds of the candidate to score a request."""


class ExperimentAnswer(Struct, kw_only=True):
    """Experiment with its results so far. Times are in ms since 1970."""

    name: str
    kind: Kind
    control: str
    candidate: str
    method: str | None
    min_pages: int
    confidence: float
    started: int
    ended: int | None
    why: Why | None
    """Why it ended: on request, since the candidate is better, or since it is worse."""
    better: Literal["candidate", "control"] | None
    verdict: str
    preference: Preference | None
    arms: dict[str, SplitArm] | None
    shadow: ShadowAbout | None


class ExperimentList(Struct):
    """All experiments, newest first."""

    experiments: list[ExperimentAnswer]
