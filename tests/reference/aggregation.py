"""Rank aggregation in the slow and obvious way: lists are dicts of document → rank, orders are tried one by one."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from hypothesis import strategies as st

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings

NAMES = "ABCDEFG"


def as_dicts(query: QueryRankings) -> list[dict[int, int]]:
    """Each voter's ranks by document number."""
    return [{j: int(r) for j, r in enumerate(row) if not np.isnan(r)} for row in query.matrix()]


def with_absent_last(ranks: dict[int, int], n: int) -> dict[int, int]:
    return {j: ranks.get(j, n + 1) for j in range(n)} if ranks else {}


def place(ranks: dict[int, int], j: int) -> float:
    """The place of a document, the mean over its ties."""
    before = sum(r < ranks[j] for r in ranks.values())
    tied = sum(r == ranks[j] for r in ranks.values())
    return before + (tied + 1) / 2


def kemeny_cost(order: tuple[int, ...], lists: list[dict[int, int]], weights: list[float]) -> float:
    """Σ w over the pairs that a voter ranks the other way round."""
    return sum(
        w
        for ranks, w in zip(lists, weights, strict=True)
        for i, j in combinations(order, 2)
        if i in ranks and j in ranks and ranks[j] < ranks[i]
    )


def footrule_cost(order: tuple[int, ...], lists: list[dict[int, int]], weights: list[float]) -> float:
    """Σ w |σ·n/n_k − π| over the documents of each list."""
    n = len(order)
    return sum(
        w * abs(place(ranks, j) * n / len(ranks) - (order.index(j) + 1))
        for ranks, w in zip(lists, weights, strict=True)
        for j in ranks
    )


def cheapest(cost, n: int, *given) -> float:
    """The least cost of any order of n documents."""
    return min(cost(order, *given) for order in permutations(range(n)))


@st.composite
def votes(draw, *, most: int = 6, voters: int = 5, partial: bool = True, ties: bool = True, weighted: bool = False):
    """Rankings of one query by a few voters, all documents ranked by the first of them."""
    n = draw(st.integers(1, most))
    orders = []
    for v in range(draw(st.integers(1, voters))):
        documents = draw(st.permutations(list(NAMES[:n])))
        if partial and v:
            documents = documents[: draw(st.integers(1, n))]
        orders.append(draw(grouped(documents)) if ties else documents)
    weights = draw(st.lists(st.integers(1, 4), min_size=len(orders), max_size=len(orders))) if weighted else None
    return Rankings.from_orders([orders], weights=weights)


@st.composite
def grouped(draw, documents: list[str]):
    """An order with some neighbours tied."""
    groups = [[documents[0]]]
    for document in documents[1:]:
        if draw(st.booleans()):
            groups.append([document])
        else:
            groups[-1].append(document)
    return groups


def orders_within(ranks: dict[int, int]):
    """Every strict order that a list with ties may stand for, best first."""
    groups = [[j for j in ranks if ranks[j] == r] for r in sorted(set(ranks.values()))]
    ways = [()]
    for group in groups:
        ways = [way + more for way in ways for more in permutations(group)]
    return ways


def plackett_luce(order: tuple[int, ...], s: np.ndarray) -> float:
    """Π φ of a place / Σ φ of what remains."""
    return float(np.prod([np.exp(s[j]) / sum(np.exp(s[i]) for i in order[p:]) for p, j in enumerate(order)]))


def davidson_luce(ranks: dict[int, int], s: np.ndarray, delta: dict[int, float], absent: tuple[int, ...] = ()) -> float:
    """Π f(S) / Σ_T f(T) over the subsets T of what remains whose size has a δ; f(S) = δ·exp(mean of s)."""
    chance = 1.0
    for r in sorted(set(ranks.values())):
        left = [*(j for j in ranks if ranks[j] >= r), *absent]
        first = [j for j in left if ranks.get(j) == r]
        sets = [subset for d in delta for subset in combinations(left, d)]
        total = sum(delta[len(subset)] * np.exp(np.mean(s[list(subset)])) for subset in sets)
        chance *= delta[len(first)] * np.exp(np.mean(s[first])) / total
    return float(chance)


def ordered_partition(ranks: dict[int, int], s: np.ndarray) -> float:
    """Π Φ(X) / Σ_S Φ(S) over the subsets S of what remains, Φ the exponential of the mean."""
    chance = 1.0
    for r in sorted(set(ranks.values())):
        left = [j for j in ranks if ranks[j] >= r]
        subsets = [set(c) for m in range(1, len(left) + 1) for c in combinations(left, m)]
        total = sum(np.exp(np.mean([s[j] for j in subset])) for subset in subsets)
        chance *= np.exp(np.mean([s[j] for j in left if ranks[j] == r])) / total
    return float(chance)
