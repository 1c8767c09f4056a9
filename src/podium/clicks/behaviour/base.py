"""Behaviour feature: a number about a document on a results page, from what users did before the page.

    >>> from podium.clicks.behaviour import read_behaviour
    >>> read_behaviour("clicks(days=7),rate(by=query-document,prior=2)")
    [clicks(days=7), rate(by=query-document,prior=2.0)]

Most are formulas of counts of events. Counts are by day (UTC), of the last `days` days up to the page's own, in which
only events before the page count: an event at the page's time t or later changes nothing. With a `half_life` in days,
an event of j days ago counts 2^(−j/half_life). Others compare what is stored of the document, such as its brand, its
date or its price, with what the user clicked, with the page's time, or with the other documents of the page.

Events of a results page at t: each document is shown at t; a clicked one is clicked at the time of its first click, or
at t if that is not known or earlier. Its dwell time is an event at its end, known exactly to the day only, and counts
from the next day on. A page without a query is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import Named, param, split_list
from podium.text.collection.field_kinds import can_be_searched

BY = ("document", "query-document", "query", "user", "user-document")
"""Whose events count: of this document, of it for this query, of all documents for the query, of this user, …"""
FIELD = "field:"
"""Before the name of a stored field: events of all documents with the same value count."""
Measure = Literal["shown", "clicks", "dwells", "dwell"]
"""What is counted: impressions, clicks, clicks with a dwell time, milliseconds of dwell time."""
_SEEN = "seen:"
EVERYTHING = "everything"
"""Events of all documents, queries and users."""
DAY = 86_400_000
"""Milliseconds of a day."""
RANKS = 20
"""Ranks that are counted apart; those below share the last one."""
MOST_DAYS = 1000


class Counts(Protocol):
    """Documents of some results pages: counts of the events before each, and what is stored of it."""

    @property
    def times(self) -> Ints:
        """Time of each document's page, in ms since 1970."""

    @property
    def pages(self) -> Ints:
        """Number of each document's page; documents of a page follow each other."""

    def count(self, measure: Measure, by: str, *, days: int, half_life: float = 0.0, rank: int | None = None) -> Array:
        """Events of the last days, weighted by their age; at one rank if given. NaN if the page has no such user."""
        ...

    def last(self, by: str, *, days: int) -> Array:
        """Days since the last click: 0 on the same day; NaN if there was none in the last days."""
        ...

    def share(self, field: str, *, clicks: int, days: int) -> Array:
        """Share of the document's value of a field among those of the user's last clicks; NaN if there were none."""
        ...

    def numbers(self, field: str) -> Array:
        """Stored number of each document; NaN if it has none."""
        ...

    def dates(self, field: str) -> Array:
        """Stored date of each document, in days since 1970; NaN if it has none."""
        ...


class BehaviourFeature(Named):
    """A number for each document of a results page, as of the page's time; NaN if it is missing."""

    kind: ClassVar[str] = "behaviour feature"
    home: ClassVar[str] = "podium.clicks.behaviour"

    def values(self, counts: Counts) -> Array:
        """The feature of each document."""  # (n,)
        raise NotImplementedError

    def cells(self) -> dict[str, int]:
        """Days of each kind of counts that it needs, by its name."""
        return {}

    def stored_fields(self) -> set[str]:
        """Stored fields of documents that it needs."""
        return set()

    def of_users(self) -> bool:
        """Whether it is about the user of a page, and missing without one."""
        return False


@dataclass(frozen=True, repr=False)
class EventFeature(BehaviourFeature):
    """A formula of counts of events."""

    by_rank: ClassVar[bool] = False
    """Whether events are counted by rank."""

    by: str = "document"
    """Whose events count: the document's, the query's or this user's, or those of two of them together (document,
    query, user, query-document, user-document); or field:brand, those of all documents of the same brand."""
    days: int = param(30, least=1, most=MOST_DAYS)
    """Days before the page within which events count."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by.startswith(FIELD):
            check_field(self.name, self.by.removeprefix(FIELD))
        elif self.by not in BY:
            raise ParameterError(
                f"{self.name}: by must be one of {', '.join(BY)}, or field:NAME of a stored field; got {self.by!r}."
            )

    def cells(self) -> dict[str, int]:
        return {cell(self.by, self.by_rank): self.days}

    def stored_fields(self) -> set[str]:
        return {self.by.removeprefix(FIELD)} if self.by.startswith(FIELD) else set()

    def of_users(self) -> bool:
        return self.by.startswith("user")


def check_field(feature: str, field: str) -> None:
    """Raise a clear error if a stored field of this name cannot be in the name of a feature."""
    if not can_be_searched(field):
        raise ParameterError(
            f"{feature}: a stored field is named by letters, digits, _ - . and blanks between words, from a letter on; "
            f"got {field!r}. Rename the field."
        )


def is_late(measure: Measure) -> bool:
    """Whether events count from the next day on."""
    return measure in ("dwells", "dwell")


def cell(by: str, by_rank: bool) -> str:
    """Name of the counts of one kind of key."""
    return f"{by}/rank" if by_rank else by


def seen_cell(field: str) -> str:
    """Name of the users' last clicks on documents with a field."""
    return f"{_SEEN}{field}"


def is_seen(cell: str) -> bool:
    """Whether a name is that of users' last clicks, not of counts."""
    return cell.startswith(_SEEN)


def field_of(cell: str) -> str | None:
    """Stored field that counts or clicks of this name need."""
    _, colon, rest = cell.partition(":")
    return rest.removesuffix("/rank") if colon else None


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
