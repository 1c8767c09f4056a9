"""Proof that a target scores as the model does; part of every export, and available for existing files.

1. Decisions: every split as the engine evaluates it compared with the model's, for all float32 inputs.
2. Sums: a bound on the change of a score by rounding of leaves and sums, and the largest change seen.
3. Orders: the number of queries in your data whose order changes.
4. Vectors: rows at and next to thresholds, with podium's scores, to replay in the engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import counted
from podium.base.shown import Shown, ShownTable
from podium.base.version import version
from podium.export.exported_forms import Difference

_SHOWN = 5


@dataclass(frozen=True)
class Orders:
    """Changes of the rankings of a dataset."""

    queries: int
    documents: int
    changed: int  # queries with a pair of documents the other way round
    tied: int  # adjacent pairs whose different scores became equal
    near: int  # adjacent pairs whose scores differ by less than twice the bound
    ndcg: float | None  # ndcg@10 of the target minus podium's; None without grades
    touched: int  # documents with a value for which a decision differs
    refused: int  # documents with missing values, which the target does not take as podium does


@dataclass(frozen=True, eq=False, repr=False)
class Proof(Shown):
    """Result of proving one exported file."""

    target: str
    form: str
    n_splits: int
    differences: tuple[Difference, ...]
    missing: str
    inputs: str
    bound: float  # on the score's error, for finite inputs (trees) or the rows looked at (others)
    seen: float  # the largest error there
    engine: str  # "emulated", or the engine that ran, with its version
    rows: Singles  # (n, d) the vectors
    scores: Array  # (n,) podium's scores of them
    orders: Orders | None
    names: tuple[str, ...]
    sha256: str  # of the file

    @property
    def holds(self) -> bool:
        """Whether sums keep to the bound, and decisions agree for all inputs that matter.

        Two kinds of values do not matter: those next to 0 (`Difference.is_tiny`), unless a document of the data has
        one, and those that no document of the data has.
        """
        if self.orders is not None and (self.orders.touched or self.orders.refused):
            return False
        tiny = all(difference.is_tiny for difference in self.differences)
        return self.seen <= self.bound and (tiny or (self.orders is not None and self._by_values))

    @property
    def state(self) -> str:
        """Verdict in words: proven, proven except on some intervals, or not proven."""
        if not self.holds:
            return "NOT PROVEN"
        places = self._places()
        return f"proven except on {counted(len(places), 'interval')}, below" if places else "proven"

    @property
    def _by_values(self) -> bool:
        """Whether decisions differ only for certain values of features."""
        return {difference.kind for difference in self.differences} <= {"threshold", "missing"}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        seen = self.seen if np.isfinite(self.seen) else None
        return {
            "holds": self.holds,
            "state": self.state,
            "target": self.target,
            "podium": version(),
            "file_sha256": self.sha256,
            "form": self.form,
            "engine": self.engine,
            "decisions": {
                "splits": self.n_splits,
                "inputs": self.inputs,
                "missing": self.missing,
                "differences": [difference.to_dict() for difference in self.differences],
            },
            "sums": {
                "bound": self.bound,
                "seen": seen,
                "vectors": len(self.scores),
            },
            "orders": None if self.orders is None else vars(self.orders),
        }

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _shown(self) -> ShownTable:
        """A row per line; lines that continue another one have no name."""
        title, *lines = self._lines()
        cuts = [(line[:10].strip(), line[10:].strip()) for line in lines]
        return ShownTable(title, ["", "proof"], cuts)

    def _lines(self) -> list[str]:
        lines = [f"{self.state}: {self.form} for {self.target}, {self.engine}"]
        if self.n_splits:
            splits, n = counted(self.n_splits, "split"), len(self.differences)
            lines.append(
                f"decisions  {counted(n, 'difference')} in {splits}, for {self.inputs}"
                if n
                else f"decisions  {self.n_splits} of {splits} the same for {self.inputs}"
            )
        places, word = self._places(), "except " if self.holds else "differs"
        lines += [f"  {word}  {place}, {counted(splits, 'split')}" for place, splits in places[:_SHOWN]]
        if len(places) > _SHOWN:
            lines.append(f"  {word}  … and {len(places) - _SHOWN} more")
        lines.append(f"missing    {self.missing}")
        lines.append(
            f"scores     within {self.bound:.2g}; seen {self.seen:.2g} in {counted(len(self.scores), 'vector')}"
        )
        if self.orders is not None:
            lines += self._of_orders(self.orders)
        elif self.holds and self.differences:
            lines.append("next       nothing: numbers that near to 0 are 0 in any data; --data shows it of yours")
        elif self.differences and self._by_values:
            lines.append("next       give data (--data) to see whether a document has such values")
        if not self._by_values:
            lines.append("next       the file is of another model, or was changed: export the model again")
        return lines

    def _places(self) -> list[tuple[str, int]]:
        """Differences of decisions in words, with their numbers of splits; the most frequent first."""
        return Counter(map(self._words, self.differences)).most_common()

    def _words(self, difference: Difference) -> str:
        name = self.names[difference.feature] if difference.feature >= 0 else ""
        if difference.kind == "threshold":
            return f"{name} in ({difference.low!r}, {difference.high!r}]"
        words = {"missing": f"{name} where it is missing", "feature": f"a split on another feature than {name}"}
        return words.get(difference.kind, f"another {difference.kind}")

    def _of_orders(self, orders: Orders) -> list[str]:
        lines = [
            f"orders     {orders.changed} of {counted(orders.queries, 'query', 'queries')} changed"
            f"{', by rounding alone' if orders.changed and self.holds else ''}; "
            f"{counted(orders.near, 'pair')} of neighbours within twice the bound, {orders.tied} became equal"
        ]
        if orders.ndcg is not None:
            lines.append(f"ndcg@10    {orders.ndcg:+.6f}")
        if self.differences:
            lines.append(
                f"touched    {orders.touched} of {counted(orders.documents, 'document')} have a value that differs"
            )
        if orders.refused:
            lines.append(
                f"missing    {counted(orders.refused, 'document')} have missing values: fill them before scoring"
            )
        return lines
