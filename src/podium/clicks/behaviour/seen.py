"""Interest of a user as a feature: how many of the last clicks share a stored value with the document."""

from __future__ import annotations

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.behaviour.base import MOST_DAYS, BehaviourFeature, Counts, check_field, seen_cell

MOST_CLICKS = 1000


@register
class Seen(BehaviourFeature):
    """Share of the user's last clicks that were on documents with the same stored value: interest in a brand.

    Formula: c/m with m = min(n, clicks of this user in the last `days` days on documents that have the field), n =
    `clicks`, and c those of these last m clicks whose document has the same value. Missing if the user is not known,
    has no such click, or the document has no value.

    Ties: clicks of the same millisecond are in an order that depends on their values alone.
    """

    name = "seen"
    field: str
    """Stored field, such as brand, with one value for each document."""
    clicks: int = param(10, least=1, most=MOST_CLICKS)
    """Number of last clicks that count."""
    days: int = param(30, least=1, most=MOST_DAYS)
    """Days before the page within which clicks count."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field(self.name, self.field)

    def values(self, counts: Counts) -> Array:
        return counts.share(self.field, clicks=self.clicks, days=self.days)

    def cells(self) -> dict[str, int]:
        return {seen_cell(self.field): self.days}

    def stored_fields(self) -> set[str]:
        return {self.field}

    def of_users(self) -> bool:
        return True
