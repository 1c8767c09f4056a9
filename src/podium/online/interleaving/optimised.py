"""Optimised interleaving (Radlinski and Craswell, 2013): a fair distribution over all merges, by a linear program."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.online.interleaving.base import Interleaving

_LONGEST = 10


@register
class Optimised(Interleaving):
    """Every merge in which each next document is the best one left of one ranker, drawn with fair probabilities.

    Credit: δ(d) = rank_B(d) − rank_A(d) (`linear`), or 1/rank_A(d) − 1/rank_B(d) (`inverse`); a document that a list
        lacks has the rank after its last. A page is no longer than the shorter list: beyond it, one ranker alone
        would choose, and no distribution would be fair.
    Formula: minimise Σ_L p_L·ties(L) subject to p ≥ 0, Σ p = 1, and for every k Σ_L p_L Σ_{j≤k} δ(L_j) = 0: whoever
        clicks at random down to any depth prefers neither. ties(L) is the probability that a click, which falls on
        position r with P ∝ 1/r, falls on a document of credit 0.
    Cost: up to 2^k lists of k positions, k ≤ 10; the program is solved once for each pair of lists.
    Use it for: the most from few clicks, on short pages. Among equally good solutions, the one that scipy's solver
        finds is taken: pages are made again with the same version of scipy only.
    Reference: Radlinski and Craswell, Optimized interleaving for online retrieval evaluation, WSDM 2013. Their
        objective is another measure of sensitivity; the constraints are theirs.
    """

    credit: Literal["linear", "inverse"] = "inverse"

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
) -> tuple[list[tuple[str, ...]], NDArray[np.float64]]:
    """The merges of positive probability, and the running sum of their probabilities."""
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
    found: Any = linprog(ties, A_eq=fair, b_eq=np.eye(1, len(fair)).ravel(), bounds=(0, None))
    if not found.success:
        raise IncompatibleError(
            f"no distribution over the {len(merges)} merges of these lists is fair with credit={credit}: their first "
            f"documents are {first[:3]} and {second[:3]}. Use the other credit, or team-draft."
        )
    kept = np.flatnonzero(found.x > 1e-12)
    return [merges[k] for k in kept], np.cumsum(found.x[kept]) / found.x[kept].sum()


def merged_lists(first: Sequence[str], second: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """All lists whose every prefix is the union of a prefix of each: the next document is the best left of one."""
    merges: list[tuple[str, ...]] = [()]
    for _ in range(min(length, len({*first, *second}))):
        longer: dict[tuple[str, ...], None] = {}
        for merge in merges:
            for mine in (first, second):
                document = next((d for d in mine if d not in merge), None)
                if document is not None:
                    longer[(*merge, document)] = None
        merges = list(longer)
    return merges


def _credits(first: Sequence[str], second: Sequence[str], credit: str) -> dict[str, float]:
    """δ of every document."""
    ranks = [{document: rank for rank, document in enumerate(mine, 1)} for mine in (first, second)]
    found = {}
    for document in {**ranks[0], **ranks[1]}:
        a, b = (rank.get(document, len(rank) + 1) for rank in ranks)
        found[document] = float(b - a) if credit == "linear" else 1.0 / a - 1.0 / b
    return found
