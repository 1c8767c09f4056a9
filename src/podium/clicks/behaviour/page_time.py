"""The time of a page as features: the hour, and the age of documents at that time."""

from __future__ import annotations

from podium.base.arrays import Array
from podium.base.registry import register
from podium.clicks.behaviour.base import DAY, BehaviourFeature, Counts, check_field

_HOUR = 3_600_000


@register
class Age(BehaviourFeature):
    """Age of the document: days between a stored date and the time of the page; missing if it has no date.

    Formula: (t − date)/86,400,000 ms, below 0 if the date is after the page. Dates are ISO 8601, in UTC if they have
    no time zone: 2024-06-30, 2024-06-30T12:30:00+02:00.
    """

    name = "age"
    field: str
    """Stored field with the date."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field(self.name, self.field)

    def values(self, counts: Counts) -> Array:
        age: Array = counts.times / DAY - counts.dates(self.field)
        return age

    def stored_fields(self) -> set[str]:
        return {self.field}


@register
class Hour(BehaviourFeature):
    """Hour of the day (UTC) at which the page was shown, with its fraction: 13.5 is half past one in the afternoon."""

    name = "hour"

    def values(self, counts: Counts) -> Array:
        hour: Array = counts.times % DAY / _HOUR
        return hour
