"""Experiment schemas: what goes over the wire for experiments."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from podium.service.schemas import Name

Kind = Literal["shadow", "split", "interleave"]
Why = Literal["asked", "decided", "harm"]


class ExperimentRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Try a candidate against the control: the model that answers now."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    kind: Kind
    candidate: Name
    control: Name = "default"
    method: Annotated[str, Meta(min_length=1, max_length=64)] = "team-draft"
    """Of interleaving: team-draft or probabilistic."""
    min_pages: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 400
    """Pages (split: users) before the candidate can be called better."""
    confidence: Annotated[float, Meta(ge=0.5, lt=1)] = 0.95


class Preference(Struct, kw_only=True):
    """What people prefer, by the first page of each user; without a user, by every page."""

    pages: int
    wins: int
    """Pages that speak for the candidate; losses for the control, ties for neither. No verdict is made of them."""
    losses: int
    ties: int
    credit: float
    """The mean outcome of a page, from -1 to 1: above 0 people prefer the candidate."""
    interval: tuple[float, float] | None
    """Of the credit, always valid: it may be looked at any time. Null if no credit agrees with all pages so far."""
    always_valid_p: float
    """That the credit is 0, always valid. It is at most 1 - confidence if the interval leaves out 0."""
    p: float
    """Of Student's t of the credit, valid for one look that was planned before."""


class SplitArm(Struct):
    """Users of an arm, and how many of them clicked on their first page."""

    users: int
    clicked: int


class ShadowAbout(Struct, kw_only=True):
    """The candidate beside the control on the same requests: means."""

    requests: int
    kendall: float | None
    top10_overlap: float | None
    difference: float | None
    """Of the scores, without sign."""
    ms: float | None
    """That the candidate took to score a request."""


class ExperimentAnswer(Struct, kw_only=True):
    """An experiment, and what it says so far. Times are in ms since 1970."""

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
    """Why it ended: someone asked for it, the candidate is better, or it does harm."""
    better: Literal["candidate", "control"] | None
    verdict: str
    preference: Preference | None
    arms: dict[str, SplitArm] | None
    shadow: ShadowAbout | None


class ExperimentList(Struct):
    """All experiments, the newest first."""

    experiments: list[ExperimentAnswer]
