"""Rank aggregation (rank fusion) of several rankings into one, by any method.

>>> aggregate([["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]], "borda").order(0)
['A', 'B', 'C']
"""

from __future__ import annotations

from collections.abc import Sequence

from podium.aggregation.base import Aggregator, Consensus
from podium.aggregation.rankings.rankings import Order, Rankings
from podium.base.errors import DataError, ParameterError


def aggregate(rankings: Rankings | Sequence[Order], method: str | Aggregator = "rrf") -> Consensus:
    """Fuse rankings, or the voters' lists of one query's documents (best first), into a consensus.

    `method`: an aggregator or its text, such as `rrf` or `kemeny`; `podium methods aggregator` lists them.
    `rankings`: a `Rankings`, or one order per voter; a tuple or set in an order is a tie.
    """
    chosen = Aggregator.parse(method) if isinstance(method, str) else method
    if not isinstance(chosen, Aggregator):
        raise ParameterError(f"expected the name of a method or an Aggregator; got {type(method).__name__}.")
    if rankings is None:
        raise DataError("expected Rankings, or lists of documents; got None.")
    return chosen(rankings if isinstance(rankings, Rankings) else Rankings.from_orders([list(rankings)]))
