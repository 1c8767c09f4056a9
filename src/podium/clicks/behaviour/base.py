"""Behaviour feature: a number about a document on a results page, from what users did before the page.

    >>> from podium.clicks.behaviour import read_behaviour
    >>> read_behaviour("clicks(days=7),rate(by=query-document,prior=2)")
    [clicks(days=7), rate(by=query-document,prior=2.0)]

All of them are formulas of counts of events. Counts are by day (UTC), of the last `days` days up to the page's own, in
which only events before the page count: an event at the page's time t or later changes nothing. With a `half_life` in
days, an event of j days ago counts 2^(−j/half_life).

Events of a results page at t: each document is shown at t; a clicked one is clicked at the time of its first click, or
at t if that is not known or earlier. Its dwell time is an event at its end, known exactly to the day only, and counts
from the next day on. A page without a query is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.base.registry import Named, param, split_list

By = Literal["document", "query-document", "query", "user", "user-document"]
"""Whose events count: of this document, of it for this query, of all documents for the query, of this user, …"""
Measure = Literal["shown", "clicks", "dwells", "dwell"]
"""What is counted: impressions, clicks, clicks with a dwell time, milliseconds of dwell time."""
EVERYTHING = "everything"
"""Events of all documents, queries and users."""
DAY = 86_400_000
"""Milliseconds of a day."""
RANKS = 20
"""Ranks that are counted apart; those below share the last one."""
MOST_DAYS = 1000


class Counts(Protocol):
    """Counts of the events before each document of some results pages."""

    def count(self, measure: Measure, by: str, *, days: int, half_life: float = 0.0, rank: int | None = None) -> Array:
        """Events of the last days, weighted by their age; at one rank if given. NaN if the page has no such user."""
        ...

    def last(self, by: str, *, days: int) -> Array:
        """Days since the last click: 0 on the same day; NaN if there was none in the last days."""
        ...


@dataclass(frozen=True, repr=False)
class BehaviourFeature(Named):
    """A number for each document of a results page, from the events before it; NaN if it is missing."""

    kind: ClassVar[str] = "behaviour feature"
    home: ClassVar[str] = "podium.clicks.behaviour"
    by_rank: ClassVar[bool] = False
    """Whether events are counted by rank."""

    by: By = "document"
    """Whose events count: the document's, the query's or this user's, or those of two of them together."""
    days: int = param(30, least=1, most=MOST_DAYS)
    """Days before the page within which events count."""

    def values(self, counts: Counts) -> Array:
        """The feature of each document."""  # (n,)
        raise NotImplementedError

    def cells(self) -> set[str]:
        """Names of the counts that it needs."""
        return {cell(self.by, self.by_rank)}


def is_late(measure: Measure) -> bool:
    """Whether events count from the next day on."""
    return measure in ("dwells", "dwell")


def cell(by: str, by_rank: bool) -> str:
    """Name of the counts of one kind of key."""
    return f"{by}/rank" if by_rank else by


def decay(days: int, half_life: float) -> Iterator[float]:
    """Weight of an event by its age in days: of 0, 1, …, `days` − 1."""
    for age in range(days):
        yield 0.5 ** (age / half_life) if half_life > 0 else 1.0


def read_behaviour(features: str | Sequence[str | BehaviourFeature]) -> list[BehaviourFeature]:
    """Behaviour features from their names: a text with commas between them, or a list."""
    names = split_list(features, features) if isinstance(features, str) else list(features)
    wanted = [name if isinstance(name, BehaviourFeature) else BehaviourFeature.parse(name) for name in names]
    if not wanted:
        raise ParameterError(f"no behaviour feature is named; there are {', '.join(BehaviourFeature.catalogue())}.")
    twice = next((feature for at, feature in enumerate(wanted) if feature in wanted[:at]), None)
    if twice is not None:
        raise ParameterError(f"{twice} is named twice.")
    return wanted
