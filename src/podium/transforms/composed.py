"""Base of transforms that are composed with another transform, `of`."""

from __future__ import annotations

from dataclasses import dataclass

from podium.transforms.base import State, Transform
from podium.transforms.zscore import ZScore

PREFIX = "of."
"""Names of the state of `of` begin with it."""


@dataclass(frozen=True, repr=False)
class Composed(Transform):
    """Transform that is composed with `of`: what `of` does to queries and features, both do."""

    of: Transform = ZScore()  # noqa: RUF009  (a frozen value)
    """Transform that this one is composed with."""

    @property
    def per_query(self) -> bool:  # type: ignore[override]
        """Whether a document's features depend on its query."""
        return self.of.per_query

    @property
    def mixes(self) -> bool:  # type: ignore[override]
        """Whether a transformed feature depends on several features."""
        return self.of.mixes

    @property
    def why_not_trees(self) -> str:  # type: ignore[override]
        """Why trees cannot use its features; empty if they can."""
        return self.of.why_not_trees

    def query_columns(self, state: State) -> tuple[str, ...]:
        return self.of.query_columns(self.state_below(state))

    def state_below(self, state: State) -> State:
        """State of `of`, under its own names."""
        return {name.removeprefix(PREFIX): array for name, array in state.items() if name.startswith(PREFIX)}
