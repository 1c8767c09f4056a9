"""Optimised interleaving (Radlinski and Craswell, 2013): a fair distribution over all merges, by a linear program."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.online.interleaving.base import Interleaving

_LONGEST = 10


@register
class Optimised(Interleaving):
    """Optimised interleaving: merges of prefixes of both lists, drawn with fair probabilities.

    Credit: δ(d) = rank_B(d) − rank_A(d) (`linear`), or 1/rank_A(d) − 1/rank_B(d) (`inverse`); a document that a list
        lacks has the rank after its last. A page is no longer than the shorter list: beyond it, one ranker alone
        would choose, and no distribution would be fair.
    Formula: minimise Σ_L p_L·ties(L) subject to p ≥ 0, Σ p = 1, and for every k Σ_L p_L Σ_{j≤k} δ(L_j) = 0: a user who
        clicks at random down to any depth prefers neither. ties(L) is the probability that a click, which is at
        position r with P ∝ 1/r, is on a document of credit 0.
    Cost: up to 2^k lists of k positions, k ≤ 10; the program is solved once for each pair of lists.
    Use it for: high sensitivity with few clicks, on short pages. Among equally good solutions, that of scipy's solver
        is taken: pages can be made again with the same version of scipy only.
    Reference: Radlinski and Craswell, Optimized interleaving for online retrieval evaluation, WSDM 2013. Their
        objective is another measure of sensitivity; the constraints are theirs.
    """

    credit: Literal["linear", "inverse"] = "inverse"
    """Credit of a click: the difference of the document's ranks, or of their inverses."""

    def merge(
        self, first: Sequence[str], second: Sequence[str], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[float]]:
        length = min(length, len(first), len(second))
        merges, heights = _distribution(tuple(first), tuple(second), length, self.credit)
        chosen = merges[min(int(np.searchsorted(heights, rng.random(), side="right")), len(merges) - 1)]
        of = _credits(first, second, self.credit)
        return list(chosen), [of[document] for document in chosen]


@functools.lru_cache(maxsize=4096)
def _distribution(
    first: tuple[str, ...], second: tuple[str, ...], length: int, credit: str
) -> tuple[list[tuple[str, ...]], Array]:
    """Merges of positive probability, and the cumulative sum of their probabilities."""
    from scipy.optimize import linprog

    if length > _LONGEST:
        raise IncompatibleError(
            f"optimised interleaving tries up to 2^k lists of k documents, for k up to {_LONGEST}; got {length}. "
            "Use a shorter page, or team-draft."
        )
    merges = merged_lists(first, second, length)
    of = _credits(first, second, credit)
    deltas = np.array([[of[document] for document in merge] for merge in merges]).reshape(len(merges), -1)  # (M, k)
    clicks = 1.0 / np.arange(1, deltas.shape[1] + 1)
    ties = (deltas == 0.0) @ clicks
    fair = np.vstack([np.ones(len(merges)), np.cumsum(deltas, axis=1).T])
    solution: Any = linprog(ties, A_eq=fair, b_eq=np.eye(1, len(fair)).ravel(), bounds=(0, None))
    if not solution.success:
        raise IncompatibleError(
            f"no distribution over the {len(merges)} merges of these lists is fair with credit={credit}: their first "
            f"documents are {first[:3]} and {second[:3]}. Use the other credit, or team-draft."
        )
    kept = np.flatnonzero(solution.x > 1e-12)
    return [merges[k] for k in kept], np.cumsum(solution.x[kept]) / solution.x[kept].sum()


def merged_lists(first: Sequence[str], second: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """All merges in which the next document is the best one left of one of the lists."""
    merges: list[tuple[str, ...]] = [()]
    for _ in range(min(length, len({*first, *second}))):
        longer: dict[tuple[str, ...], None] = {}
        for merge in merges:
            for ranked in (first, second):
                document = next((d for d in ranked if d not in merge), None)
                if document is not None:
                    longer[(*merge, document)] = None
        merges = list(longer)
    return merges


def _credits(first: Sequence[str], second: Sequence[str], credit: str) -> dict[str, float]:
    """δ of every document."""
    ranks = [{document: rank for rank, document in enumerate(ranked, 1)} for ranked in (first, second)]
    deltas = {}
    for document in {**ranks[0], **ranks[1]}:
        a, b = (rank.get(document, len(rank) + 1) for rank in ranks)
        deltas[document] = float(b - a) if credit == "linear" else 1.0 / a - 1.0 / b
    return deltas
